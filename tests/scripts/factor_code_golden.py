#!/usr/bin/env python3
"""The golden set of factor functions in the box, whole: known leaks, golden functions, an invented model's replies.

    python3 tests/scripts/factor_code_golden.py KTD GOLDEN [leaks|golden|replies ...] [--first N] [--jobs N]

KTD is the program, GOLDEN the folder of golden sets. Each function is run hundreds of times, each time in a process of its
own. A function that stands in several places, as most golden ones do among the replies, is judged once; a word is printed
after every few functions. `--first N` takes the first N functions, `--jobs N` has as many boxes side by side (by default
one for each processor). Exit code 0: all is as the set says.
"""

import argparse
import gzip
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

PANEL_SEED = "20260401"
# Two replies whose warm-up is filled from later rows: the set calls them safe, and a prefix of panel R shows that they are not.
SEEN_BY_TRUNCATION = {"REV-3-04", "PAT-3-04"}
FORMAT_REASONS = {"not_series", "index", "dtype"}
LAYERS = ["Pass@1", "Safe", "Acc", "VAcc"]
PUBLISHED = ["pass1", "safe_paper", "acc_paper", "vacc_paper"]
STRICT = ["pass1", "safe_strict", "acc_strict", "vacc_strict"]
# Functions that one process judges before it says so.
PART = 12


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def source_of(reply):
    """The source of a reply: what stands inside the first fence, or all of it."""
    text = reply.replace("\r\n", "\n")
    if "```" in text:
        after = text.split("```", 1)[1]
        text = after.split("\n", 1)[1].split("```", 1)[0] if "\n" in after else text
    return text.strip("\n") + "\n"


class Judge:
    """Verdicts on functions, each judged once."""

    def __init__(self, ktd, golden, jobs):
        self.ktd, self.golden, self.jobs = ktd, golden, jobs
        self.known = {}

    def verdicts(self, what, asked):
        """The verdicts on pairs of a task's id and a reply, in their order."""
        keys = [(id, source_of(reply)) for id, reply in asked]
        new = {key: reply for key, (_, reply) in zip(keys, asked) if key not in self.known}
        began, done = time.monotonic(), 0
        while new:
            # one reply a task is what a file may hold in a round
            part = {}
            for id, source in new:
                if len(part) < PART and id not in part:
                    part[id] = source
            found = self.scored([(id, new[id, source]) for id, source in part.items()])
            for id, source in part.items():
                self.known[id, source] = found[id]
                del new[id, source]
            done += len(part)
            print(f"{what}: {done} functions judged, {len(new)} to go, {time.monotonic() - began:.0f} s", flush=True)
        return [self.known[key] for key in keys]

    def scored(self, pairs):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            for id, reply in pairs:
                file.write(json.dumps({"id": id, "round": 1, "reply": reply}) + "\n")
            file.flush()
            command = [self.ktd, "--json", "factor-code", "score", "--replies", file.name]
            command += ["--panels", str(self.golden), "--panel-seed", PANEL_SEED, "--jobs", str(self.jobs)]
            output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
        found = {entry["id"]: entry["verdict"] for entry in json.loads(output)["rounds"][0]["verdicts"]}
        lost = [id for id, _ in pairs if found[id] is None]
        if lost:
            sys.exit(f"the box failed on {', '.join(lost)}: see `ktd box doctor`")
        return found


def outcome(verdict):
    execution, safety = verdict["execution"], verdict["safety"]
    if execution != "ran":
        reason = execution.get("no_source") or execution["failed"]["failure"]["reason"]
        return "format" if reason in FORMAT_REASONS else reason
    return safety if isinstance(safety, str) else next(iter(safety))


def leaks(judge, first):
    """Every function with a known verdict, in the place of a task with a short warm-up."""
    tasks = [task["id"] for task in lines(judge.golden / "tasks.jsonl") if task["warmup"] <= 52]
    cases = lines(judge.golden / "leaks.jsonl")[:first]
    assert len(cases) <= len(tasks)
    verdicts = judge.verdicts("leaks", [(id, case["source"]) for id, case in zip(tasks, cases)])
    wrong = []
    for case, verdict in zip(cases, verdicts):
        structure = sorted((verdict["structure"] or {"violations": {}})["violations"])
        wanted = case["structure"]
        wanted = sorted(json.loads(wanted.replace("'", '"')) if isinstance(wanted, str) else wanted)
        if outcome(verdict) != case["want"] or structure != wanted:
            wrong.append((case["name"], outcome(verdict), case["want"], structure, wanted))
    return len(cases), wrong


def golden_functions(judge, first):
    """Right code passes all layers by both rules, on degenerate bars too."""
    tasks = lines(judge.golden / "tasks.jsonl")[:first]
    verdicts = judge.verdicts("golden", [(task["id"], task["golden"]) for task in tasks])
    wrong = []
    for task, verdict in zip(tasks, verdicts):
        passes = (verdict["published"], verdict["strict"], verdict["robust"], verdict["is_date_dependent"])
        if passes[:3] != ("VAcc", "VAcc", True) or passes[3] or verdict["price_memory"]:
            wrong.append((task["id"], passes))
    return len(tasks), wrong


def layers(verdict):
    """Which layers a verdict passes by each rule, under the names of the set."""
    found = {}
    for rule, keys in (("published", PUBLISHED), ("strict", STRICT)):
        for place, key in enumerate(keys):
            found[key] = verdict[rule] in LAYERS[place:]
    return found | {"robust": verdict["robust"], "failure": verdict["failure"] or ""}


def wanted_layers(row):
    """What the set says of a reply; none of the strict layers after the first where a prefix shows what it did not see."""
    wanted = {key: row[key] for key in dict.fromkeys(PUBLISHED + STRICT)}
    wanted |= {"robust": row["robust"], "failure": row["failure"]}
    if row["id"] in SEEN_BY_TRUNCATION and row["kind"] == "warm_fill":
        wanted |= {"safe_strict": False, "failure": "leak"}
    return wanted


def invented_replies(judge, first):
    """The replies of an invented model over three rounds, and its table by both rules."""
    with gzip.open(judge.golden / "expected.json.gz") as file:
        expected = json.load(file)
    ids = [task["id"] for task in lines(judge.golden / "tasks.jsonl")][:first]
    replies = [reply for reply in lines(judge.golden / "replies.jsonl") if reply["id"] in set(ids)]
    verdicts = judge.verdicts("replies", [(reply["id"], reply["reply"]) for reply in replies])
    by_place = {(reply["round"], reply["id"]): verdict for reply, verdict in zip(replies, verdicts)}
    rows = {(row["round"], row["id"]): row for row in expected["replies"]}
    wrong, count = [], len(replies)
    for place, verdict in by_place.items():
        own, wanted = layers(verdict), wanted_layers(rows[place])
        if own != wanted:
            wrong.append((*place, rows[place]["kind"], own, wanted))
    last = {}
    for round in range(1, 1 + max(reply["round"] for reply in replies)):
        # a task without a reply has passed before
        last |= {id: (verdict, rows[round, id]) for (at, id), verdict in by_place.items() if at == round}
        for rule, keys in (("published", PUBLISHED), ("strict", STRICT)):
            own = [sum(layers(verdict)[key] for verdict, _ in last.values()) for key in keys]
            table = [expected["table"][f"{round}/all"][key] for key in keys]
            # of these the set says otherwise, row by row
            for place, key in enumerate(keys):
                table[place] -= sum(row[key] and not wanted_layers(row)[key] for _, row in last.values())
            print(f"replies, round {round}, {rule}: {dict(zip(LAYERS, own))}", flush=True)
            if first is None and own != table:
                wrong.append((round, rule, own, table))
    return count, wrong


PARTS = {"leaks": leaks, "replies": invented_replies, "golden": golden_functions}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ktd")
    parser.add_argument("golden", type=pathlib.Path)
    parser.add_argument("parts", nargs="*", metavar="part", help="leaks, golden, replies; all without any")
    parser.add_argument("--first", type=int)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    args = parser.parse_args()
    unknown = [part for part in args.parts if part not in PARTS]
    if unknown:
        parser.error(f"unknown part {unknown[0]}: it is one of {', '.join(PARTS)}")
    judge = Judge(args.ktd, args.golden / "alpha_qt", args.jobs)
    failed = False
    for part in args.parts or PARTS:
        began = time.monotonic()
        count, wrong = PARTS[part](judge, args.first)
        failed = failed or bool(wrong)
        took = time.monotonic() - began
        print(f"{part}: {count} functions, {len(wrong)} otherwise than the set says, {took:.0f} s", flush=True)
        for row in wrong:
            print("  ", *row)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
