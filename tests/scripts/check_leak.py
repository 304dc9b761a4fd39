#!/usr/bin/env python3
"""Compares the gains of `ktd leak run runs/configs/leak_real.toml` with a second implementation's.

    python3 tests/scripts/check_leak.py results/leak-csi300/gains.csv GOLDEN/leakage/real_panel.csv
"""

import csv
import sys

ours = {(row["model"], row["horizon"], row["protocol"]): row for row in csv.DictReader(open(sys.argv[1], encoding="utf-8"))}
compared, worst = 0, 0.0
for row in csv.DictReader(open(sys.argv[2], encoding="utf-8")):
    own = ours[row["model"].lower(), row["h"], row["variant"]]
    for found, wanted in ((own["gain"], row["LG-SR@5bps"]), (own["sharpe"], row["SR@5bps"]), (own["turnover"], row["turnover"])):
        worst = max(worst, abs(float(found) - float(wanted)))
    compared += 1
print(f"{compared} rows of the reference, largest difference {worst:.6f}")
sys.exit(0 if compared and worst <= 1e-3 else 1)
