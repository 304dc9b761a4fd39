#!/usr/bin/env python3
"""Boards of agents that throw dice, through `ktd run` and `ktd leaderboard`: how often each conclusion is wrong.

    tests/scripts/dice_boards.py KTD                      # 200 boards of 8 agents over 43 days
    tests/scripts/dice_boards.py KTD --boards 20 --agents 4

Each agent is a model behind an endpoint on loopback that buys and sells at random, with fees, on days that all share; nothing is
drawn by the program under test. Exit code 1 where a share lies outside the 99 % binomial range of its band: 4 to 6 % for the tests
of the best, 94 to 96 % for intervals (of the luck of what was traded) and rank sets, 9 to 11 % for pairs.
"""

import argparse
import json
import math
import random
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

NAMES, WEIGHT, KEPT = 8, 0.1, 2 / 3
REASON = "Traded at random, as the dice fell on this day."


class Vendor(BaseHTTPRequestHandler):
    """Models that throw dice: a screen by a factor in a random direction, then orders."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        asked = json.loads(body)
        dice = random.Random(body)
        opening, screen = None, None
        for message in asked["messages"]:
            if message["role"] == "user" and "STATE:\n" in message["content"]:
                opening, screen = message["content"], None
            elif message["role"] == "tool":
                try:
                    screen = json.loads(message["content"]).get("candidates", screen)
                except ValueError:  # what was wrong, in words
                    continue
        if screen is None:
            factor = {"factor": "MOM_12_1", "direction": dice.choice(["high", "low"]), "weight": 1.0}
            name, arguments = "screen_candidates", {"factors": [factor], "top_k": 30}
        else:
            name, arguments = "submit_action", {"orders": orders(dice, opening, screen), "overall_reason": REASON}
        call = {"id": "c", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        told = {"model": asked["model"], "choices": [{"message": message, "finish_reason": "tool_calls"}], "usage": usage}
        reply = json.dumps(told).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(reply)))
        # One write: a reply in two waits for the acknowledgement of the first.
        self._headers_buffer.extend([b"\r\n", reply])
        self.flush_headers()

    def log_message(self, *_):
        pass


def ids(table):
    if not table or not table["rows"]:
        return []
    place = table["columns"].index("stock_id")
    return [row[place] for row in table["rows"]]


def orders(dice, opening, screen):
    state = json.loads(opening.rsplit("STATE:\n", 1)[1].splitlines()[0])
    held = ids(state["account"]["holdings"])
    sold = [name for name in held if KEPT < dice.random()]
    free = [name for name in ids(screen) if name not in held]
    bought = dice.sample(free, min(len(free), max(NAMES - len(held) + len(sold), 0)))
    made = [("SELL", name, 0) for name in sold] + [("BUY", name, WEIGHT) for name in bought]
    rest = {"confidence": 0.5, "reason": REASON}
    return [{"stock_id": name, "side": side, "target_weight": weight, **rest} for side, name, weight in made]


def experiment(board, agents, days, port):
    rows = [
        f'    {{ id = "dice-{agent}", vendor = "vllm", model = "dice-{board}-{agent}", base_url = "http://127.0.0.1:{port}/v1" }},'
        for agent in range(agents)
    ]
    return "\n".join(
        [
            'name = "dice"',
            f"synthetic = {{ seed = {board + 1}, names = 90, days = {days + 300} }}",
            "parallel_cells = 2",
            'masks = [{ level = "bright" }]',
            'modes = ["open-research"]',
            f'windows = [{{ id = "w", last_days = {days} }}]',
            "agents = [",
            *rows,
            "]",
        ]
    )


def judged(ktd, board, agents, days, port):
    """White, Hansen, intervals that hold and all, pairs told apart and all, of one board."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "dice.toml").write_text(experiment(board, agents, days, port))
        quiet = {"cwd": folder, "check": True, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        subprocess.run([ktd, "--quiet", "run", "dice.toml", "--out", "out"], **quiet)
        shown = subprocess.run([ktd, "--json", "leaderboard", "out", "--replicates", "399"], **quiet)
    track = json.loads(shown.stdout)["tracks"][0]
    separation = track["separation"]
    rows = [row for row in track["leaders"] if row["agent"] in separation["agents"]]
    chosen = [row["selection"] for row in rows]
    holds = [own["interval"]["low"] <= own["null_mean"] <= own["interval"]["high"] for own in chosen]
    apart = [
        not is_open for place, row in enumerate(separation["open"]) for is_open in row[place + 1 :]
    ]
    return {
        "White p < .05": [separation["reality_check_p"]["value"] < 0.05],
        "Hansen p < .05": [separation["spa_p"]["consistent"] < 0.05],
        "95 % interval holds": holds,
        "equal pairs apart": apart,
        "every rank set whole": [
            all(row["rank_interval_default"] == {"low": 1, "high": len(rows)} for row in rows)
        ],
    }


BANDS = {
    "White p < .05": (0.04, 0.06),
    "Hansen p < .05": (0.04, 0.06),
    "95 % interval holds": (0.94, 0.96),
    "equal pairs apart": (0.09, 0.11),
    "every rank set whole": (0.94, 0.96),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ktd", help="the program")
    parser.add_argument("--boards", type=int, default=200)
    parser.add_argument("--agents", type=int, default=8)
    parser.add_argument("--days", type=int, default=43)
    parser.add_argument("--seed", type=int, default=0, help="the first board's number")
    options = parser.parse_args()
    ktd = str(Path(options.ktd).resolve())
    vendor = ThreadingHTTPServer(("127.0.0.1", 0), Vendor)
    vendor.daemon_threads = True
    threading.Thread(target=vendor.serve_forever, daemon=True).start()
    found = {name: [] for name in BANDS}
    for board in range(options.seed, options.seed + options.boards):
        for name, values in judged(ktd, board, options.agents, options.days, vendor.server_port).items():
            found[name].extend(values)
    bad = 0
    for name, (low, high) in BANDS.items():
        # Agents and pairs of a board share its days: the boards are what is counted.
        reach = {end: 2.576 * math.sqrt(end * (1 - end) / options.boards) for end in (low, high)}
        share = sum(found[name]) / max(len(found[name]), 1)
        is_within = low - reach[low] <= share <= high + reach[high]
        bad += not is_within
        print(f"{name:22} {share:7.2%} of {len(found[name])}{'' if is_within else '   OUTSIDE'}")
    return int(0 < bad)


if __name__ == "__main__":
    sys.exit(main())
