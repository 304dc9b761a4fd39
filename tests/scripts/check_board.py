"""Checks a leaderboard of the built-in agents: contributions add up, the oracle is far above all, the cheater is caught, and
controls and references have no rank."""

import json
import sys

TOLERANCE = 1e-12

with open(sys.argv[1], encoding="utf-8") as file:
    board = json.load(file)

largest = 0.0
accounts = 0
for track in board["tracks"]:
    total = {leader["agent"]: leader["metrics"]["total_return"]["median"]["value"] for leader in track["leaders"]}
    if "oracle" in total:
        rest = max(value for agent, value in total.items() if agent not in ("oracle", "cheater"))
        assert total["oracle"] > 2.0 * max(rest, 1.0), (track["window"], total)
    for leader in track["leaders"]:
        for contribution in (leader["attribution"] or {}).values():
            accounts += 1
            # A gauge is told beside a return, and grows with it.
            scale = max(1.0, abs(contribution["carino"]["portfolio"]))
            gauges = [contribution[way]["gauge"] for way in ("carino", "pnl", "sum")]
            largest = max(largest, contribution["daily_gauge"], *(abs(gauge) / scale for gauge in gauges))
        if leader["cohort"] in ("control", "reference"):
            assert leader["alpha_rank"] is None and leader["return_rank"] is None, leader["agent"]
        if leader["agent"] == "cheater" and track["level"] == "blinded" and leader["memory_gap"]:
            assert leader["memory_gap"]["total_return"] > 1.0, (track["window"], leader["memory_gap"])
assert accounts > 0 and largest < TOLERANCE, largest
print(f"{accounts} accounts on three bases: every day adds up within {largest:.0e}")
