#!/usr/bin/env python3
"""A season of vendors that misbehave, through `ktd run`: what was lost, paid, waited for and told.

    tests/scripts/season.py KTD                  # some two minutes
    tests/scripts/season.py KTD --processes 3    # three processes on the key whose rate is counted
    tests/scripts/season.py KTD --cut 1200 --seed 3    # the silent vendor hangs up for twenty minutes, from a drawn request on

Ten models behind endpoints on loopback: one calm, one slow, one whose vendor counts a rolling minute and refuses what is above, one
with errors and cut replies, one that hangs up for half a minute, one that is gone after a while, one that answers under another
name, one that answers in prose, one that refuses, one that calls what is not there. A seed and a window are added underway. Exit code 1
where a step was lost, a cell did not end, a rolling minute or second had more than its limit, a vendor's ledger is not ours to the
picodollar, the program had more than 2 GB, or the terminal did not say what happened, and a silence within ten seconds. The time against the bound of the rates is shown, and fails nothing.
"""

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

LIMIT, BURST, DAYS, SEEDS = 120, 10, 40, [1, 2]
INPUT_PICODOLLARS, OUTPUT_PICODOLLARS = 1_500_000, 7_250_000
PRICES = {"input": 1.5, "output": 7.25, "asof": "2026-11", "source": "test"}
MODELS = ["calm", "slow", "counted", "errors", "silent", "gone", "renamed", "prose", "refuses", "loops"]


class Season:
    """What the vendors saw."""

    def __init__(self, cut, seed):
        self.cut = cut
        self.lock = threading.Lock()
        self.arrivals = {model: [] for model in MODELS}
        self.billed = dict.fromkeys(MODELS, 0)
        self.refused = 0
        self.dice = random.Random(seed)
        self.silent_from = self.dice.randrange(3, 60)
        self.first_silent = None

    def deed(self, model):
        """What becomes of a request: a status, `cut`, `hang up` or an answer."""
        with self.lock:
            now, seen = time.monotonic(), self.arrivals[model]
            seen.append(now)
            if model == "counted" and LIMIT < sum(now - 60 < at for at in seen):
                self.refused += 1
                return 429
            if model == "errors":
                return self.dice.choices([500, "cut", "answer"], [5, 3, 92])[0]
            if model == "silent" and self.silent_from < len(seen):
                self.first_silent = self.first_silent or now
                return "hang up" if now - self.first_silent < self.cut else "answer"
            if model == "gone" and 20 < len(seen):
                return 404
            return "prose" if model in ("prose", "refuses") else "answer"

    def bill(self, model, prompt, completion):
        with self.lock:
            self.billed[model] += prompt * INPUT_PICODOLLARS + completion * OUTPUT_PICODOLLARS


def vendor(season):
    class Vendor(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            model = json.loads(body)["model"]
            deed = season.deed(model)
            time.sleep(0.4 if model == "slow" else 0.02)
            if deed == "hang up":
                self.close_connection = True
                return
            if isinstance(deed, int):
                self.reply(deed, {"error": {"message": "no"}})
                return
            prompt, completion = len(body) // 4, 40
            usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
            arguments = json.dumps({"orders": [], "overall_reason": "Nothing is worth its fee on this day."})
            call = {"id": "c", "type": "function", "function": {"name": "submit_action", "arguments": arguments}}
            message, reason = {"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"
            if deed == "prose":
                words = {"prose": "I would rather not say.", "refuses": "I'm sorry, but I can't help with that."}[model]
                message, reason = {"role": "assistant", "content": words}, "stop"
            if model == "loops":
                call["function"] = {"name": "get_the_future", "arguments": "{}"}
            told = {"model": "renamed-2" if model == "renamed" else model, "choices": [{"message": message, "finish_reason": reason}], "usage": usage}
            if deed == "cut":
                self.reply(200, told, cut=True)
                return
            season.bill(model, prompt, completion)
            self.reply(200, told)

        def reply(self, status, told, cut=False):
            reply = json.dumps(told).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(reply)))
            sent = reply[: len(reply) // 2] if cut else reply
            self._headers_buffer.extend([b"\r\n", sent])
            self.flush_headers()
            self.close_connection = cut

        def log_message(self, *_):
            pass

    return Vendor


def experiment(name, models, port, more=0):
    def agent(model):
        rates = f", rates = {{ requests_per_minute = {LIMIT}, burst = {BURST} }}" if model == "counted" else ""
        return (
            f'    {{ id = "{model}", vendor = "vllm", model = "{model}", base_url = "http://127.0.0.1:{port}/{model}/v1",'
            f" max_output_tokens = 200{rates} }},"
        )

    windows = ", ".join(f'{{ id = "w{place}", last_days = {DAYS + place} }}' for place in range(2 + more))
    return "\n".join(
        [
            f'name = "{name}"',
            "synthetic = { seed = 5, names = 30, days = 330 }",
            'prices = "prices.json"',
            'masks = [{ level = "blinded" }]',
            'modes = ["fixed-candidate"]',
            f"seeds = {[*SEEDS, *range(3, 3 + more)]}",
            "session = { schema_retries = 0 }",
            "retries = { attempts = 6, first_wait_ms = 200, longest_wait_ms = 5000 }",
            "stop_after = { fallbacks_in_a_row = 5 }",
            f"windows = [{windows}]",
            "agents = [",
            *[agent(model) for model in models],
            "]",
        ]
    )


def run(command, home):
    """Exit code, standard error, and when it first said that an endpoint does not answer."""
    process = subprocess.Popen(command, cwd=home, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    told, silent_at = [], None
    for line in process.stderr:
        told.append(line)
        if silent_at is None and "does not answer" in line:
            silent_at = time.monotonic()
    return process.wait(), "".join(told), silent_at


def most_in(moments, seconds):
    moments, most, first = sorted(moments), 0, 0
    for last, moment in enumerate(moments):
        while seconds <= moment - moments[first]:
            first += 1
        most = max(most, last - first + 1)
    return most


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ktd")
    parser.add_argument("--processes", type=int, default=1, help="processes that use the counted key")
    parser.add_argument("--cut", type=float, default=30, help="seconds for which the silent vendor hangs up")
    parser.add_argument("--seed", type=int, default=7, help="of the faults, and of the request from which on one hangs up")
    given = parser.parse_args()
    season, wrong = Season(given.cut, given.seed), []
    server = ThreadingHTTPServer(("127.0.0.1", 0), vendor(season))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    ktd, port = str(Path(given.ktd).resolve()), server.server_address[1]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        rows = [{"model": model, **PRICES} for model in MODELS]
        (home / "prices.json").write_text(json.dumps({"rows": rows}))
        (home / "season.toml").write_text(experiment("season", MODELS, port))
        others = [f"other{place}" for place in range(1, given.processes)]
        for name in others:
            (home / f"{name}.toml").write_text(experiment(name, ["counted"], port))
        began = time.monotonic()
        beside = [
            subprocess.Popen([ktd, "--quiet", "run", f"{name}.toml", "--out", name], cwd=home, stdout=subprocess.DEVNULL)
            for name in others
        ]
        code, told, silent_at = run([ktd, "run", "season.toml", "--out", "season"], home)
        codes = [process.wait() for process in beside]
        took, asked = time.monotonic() - began, len(season.arrivals["counted"])
        if code != 2 or "--withdraw AGENT" not in told:
            wrong.append(f"the model that is gone was not told: {code} {told}")
        wrong.extend(f"{name} ended with {code}" for name, code in zip(others, codes) if code)
        for line in ["does not answer: all that ask it wait", "answers again, after"]:
            if line not in told:
                wrong.append(f"the terminal did not say {line!r}")
        after = None if silent_at is None else silent_at - season.first_silent
        if after is None or 10 < after:
            wrong.append(f"the silence was told after {after} s")
        else:
            print(f"the silence, from request {season.silent_from + 1} on, was told after {after:.1f} s")
        (home / "season.toml").write_text(experiment("season", MODELS, port, more=1))
        last = [ktd, "run", "season.toml", "--out", "season", "--withdraw", "gone"]
        last = subprocess.run(last, cwd=home, capture_output=True, text=True)
        if last.returncode != 0:
            wrong.append(f"the season did not end: {last.stderr}")
        paid, lost, ends = dict.fromkeys(MODELS, 0), 0, {}
        for summary in home.glob("*/cells/*/summary.json"):
            told = json.loads(summary.read_text())
            model = json.loads(summary.with_name("header.json").read_text())["agent"]["id"]
            paid[model] += told["money"]["cost"]["paid_picodollars"]
            lost += told["counters"]["uncovered"]
            ends.setdefault(model, []).append(told["reason"])
    if lost:
        wrong.append(f"{lost} steps were lost")
    cells = 3 * (len(SEEDS) + 1)
    stopped = "stopped: 5 steps in a row without a decision"
    wanted_ends = {"prose": stopped, "refuses": stopped, "loops": stopped, "gone": "withdrawn"}
    for model, reasons in sorted(ends.items()):
        wanted = wanted_ends.get(model, "completed")
        if set(reasons) != {wanted}:
            wrong.append(f"{model} ended as {set(reasons)}")
    for model in MODELS:
        if model != "gone" and len(ends.get(model, [])) < cells:
            wrong.append(f"{len(ends.get(model, []))} of {cells} cells of {model} ended")
    for model in MODELS:
        if paid[model] != season.billed[model]:
            wrong.append(f"{model}: {paid[model]} picodollars counted, {season.billed[model]} billed")
    counted = season.arrivals["counted"]
    for seconds, limit in [(60, LIMIT), (1, BURST)]:
        most = most_in(counted, seconds)
        print(f"most requests of the counted key in {seconds} s: {most} of {limit}")
        if limit < most:
            wrong.append(f"{most} requests in {seconds} s, at most {limit}")
    if season.refused:
        wrong.append(f"{season.refused} requests were refused with 429")
    # A burst of a minute's worth, then one each minute; the silent one waits as long as it hangs up.
    bound = max((asked - 1) // LIMIT * 60, given.cut)
    print(f"requests: {', '.join(f'{model} {len(season.arrivals[model])}' for model in MODELS)}")
    print(f"vendors' ledger and ours: {sum(season.billed.values())} picodollars")
    print(f"time: {took:.0f} s, {took / bound:.2f} of what rates and silence allow")
    megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    print(f"largest resident: {megabytes} MB, with {4 * len(MODELS)} cells")
    if 2_000 < megabytes:
        wrong.append(f"{megabytes} MB resident")
    for line in wrong:
        print(f"wrong: {line}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
