#!/usr/bin/env python3
"""The golden set of factor functions in the box, whole: known leaks, golden functions, an invented model's replies.

    python3 tests/scripts/factor_code_golden.py KTD GOLDEN [leaks|golden|replies ...] [--first N]

KTD is the program, GOLDEN the folder of golden sets. Takes minutes: each function is run hundreds of times, each time in a
process of its own. `--first N` takes the first N functions alone. Exit code 0: all is as the set says.
"""

import argparse
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

PANEL_SEED = "20260401"
# Two replies whose warm-up is filled from later rows: the set calls them safe, and a prefix of panel R shows that they are not.
SEEN_BY_TRUNCATION = {"REV-3-04", "PAT-3-04"}
FORMAT_REASONS = {"not_series", "index", "dtype"}


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def scored(ktd, panels, replies):
    """The verdicts on replies, by id and round."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
        for reply in replies:
            file.write(json.dumps(reply) + "\n")
        file.flush()
        command = [ktd, "--json", "factor-code", "score", "--replies", file.name]
        command += ["--panels", str(panels), "--panel-seed", PANEL_SEED]
        output = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    return json.loads(output)["rounds"]


def outcome(verdict):
    execution = verdict["execution"]
    if execution != "ran":
        return "format" if execution["reason"] in FORMAT_REASONS else execution["reason"]
    return verdict["safety"]["verdict"]


def leaks(ktd, golden, first):
    """Every function with a known verdict, in the place of a task with a short warm-up."""
    tasks = [task["id"] for task in lines(golden / "tasks.jsonl") if task["warmup"] <= 52]
    cases = lines(golden / "leaks.jsonl")[:first]
    assert len(cases) <= len(tasks)
    replies = [{"id": id, "round": 1, "reply": case["source"]} for id, case in zip(tasks, cases)]
    found = {entry["id"]: entry["verdict"] for entry in scored(ktd, golden, replies)[0]["verdicts"]}
    wrong = []
    for id, case in zip(tasks, cases):
        verdict = found[id]
        structure = sorted((verdict["structure"] or {}).keys())
        wanted = case["structure"]
        wanted = sorted(json.loads(wanted.replace("'", '"')) if isinstance(wanted, str) else wanted)
        if outcome(verdict) != case["want"] or structure != wanted:
            wrong.append((case["name"], outcome(verdict), case["want"], structure, wanted))
    return len(cases), wrong


def golden_functions(ktd, golden, first):
    """Right code passes all layers by both rules, on degenerate bars too."""
    tasks = lines(golden / "tasks.jsonl")[:first]
    replies = [{"id": task["id"], "round": 1, "reply": task["golden"]} for task in tasks]
    wrong = []
    for entry in scored(ktd, golden, replies)[0]["verdicts"]:
        verdict = entry["verdict"]
        passes = (verdict["published"], verdict["strict"], verdict["robust"], verdict["date_dependent"])
        if passes[:3] != ("VAcc", "VAcc", True) or passes[3] or verdict["price_memory"]:
            wrong.append((entry["id"], passes))
    return len(tasks), wrong


def invented_replies(ktd, golden, first):
    """The replies of an invented model over three rounds, and its table."""
    with gzip.open(golden / "expected.json.gz") as file:
        expected = json.load(file)
    replies = lines(golden / "replies.jsonl")
    ids = [task["id"] for task in lines(golden / "tasks.jsonl")][:first]
    rounds = scored(ktd, golden, [reply for reply in replies if reply["id"] in set(ids)])
    wanted = {(row["round"], row["id"]): row for row in expected["replies"]}
    wrong, count = [], 0
    for scored_round in rounds:
        strict = {"Pass@1": 0, "Safe": 0, "Acc": 0, "VAcc": 0}
        layers = list(strict)
        for entry in scored_round["verdicts"]:
            row = wanted[(scored_round["round"], entry["id"])]
            verdict = entry["verdict"]
            count += 0 if entry["carried"] else 1
            for place, layer in enumerate(layers):
                strict[layer] += verdict["strict"] in layers[place:]
            truncated = entry["id"] in SEEN_BY_TRUNCATION and row["kind"] == "warm_fill"
            own = [
                verdict["strict"] != "nothing",
                verdict["published"] in layers[1:],
                verdict["strict"] in layers[1:],
                verdict["published"] in layers[2:],
                verdict["strict"] in layers[2:],
                verdict["published"] == "VAcc",
                verdict["strict"] == "VAcc",
                verdict["robust"],
                verdict["failure"] or "",
            ]
            keys = ["pass1", "safe_paper", "safe_strict", "acc_paper", "acc_strict", "vacc_paper", "vacc_strict", "robust"]
            want = [row[key] for key in keys] + [row["failure"]]
            if truncated:
                want[2], want[8] = False, "leak"
            if own != want:
                wrong.append((scored_round["round"], entry["id"], row["kind"], own, want))
        print(f"replies, round {scored_round['round']}, strict: {strict}", flush=True)
    return count, wrong


PARTS = {"leaks": leaks, "golden": golden_functions, "replies": invented_replies}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ktd")
    parser.add_argument("golden", type=pathlib.Path)
    parser.add_argument("parts", nargs="*", help="leaks, golden, replies; all without any")
    parser.add_argument("--first", type=int)
    args = parser.parse_args()
    failed = False
    for part in args.parts or PARTS:
        count, wrong = PARTS[part](args.ktd, args.golden / "alpha_qt", args.first)
        failed = failed or bool(wrong)
        print(f"{part}: {count - len(wrong)} of {count} as the set says", flush=True)
        for row in wrong:
            print("  ", *row)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
