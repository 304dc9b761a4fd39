#!/usr/bin/env python3
"""How long the golden pandas code of all tasks takes on 5,000 rows, for the ratio to `cargo bench -p ktd-factor-code`.

    PYTHON tests/scripts/factor_code_speed.py [ROWS]

PYTHON is that of the box's environment (`ktd box doctor` names its folder). The least of three rounds, one thread.
"""

import json
import math
import os
import pathlib
import sys
import time
import warnings

os.environ.setdefault("OMP_NUM_THREADS", "1")
import numpy as np
import pandas as pd
import scipy
import scipy.stats
import talib

warnings.filterwarnings("ignore")


def bars(rows):
    random = np.random.default_rng(20260401)
    close = 20 * np.exp(np.cumsum(random.normal(0, 0.02, rows)))
    opened = close * np.exp(random.normal(0, 0.005, rows))
    high = np.maximum(opened, close) * (1 + abs(random.normal(0, 0.01, rows)))
    low = np.minimum(opened, close) * (1 - abs(random.normal(0, 0.01, rows)))
    columns = dict(day_open=opened, day_high=high, day_low=low, day_close=close)
    columns["day_volume"] = np.round(1e6 * np.exp(random.normal(0, 0.5, rows)))
    return pd.DataFrame(columns, index=pd.bdate_range("2000-01-03", periods=rows))


def main():
    frame = bars(int(sys.argv[1]) if len(sys.argv) > 1 else 5_000)
    tasks = pathlib.Path(__file__).resolve().parents[2] / "factor_code" / "tasks.jsonl"
    known = dict(pd=pd, np=np, talib=talib, math=math, scipy=scipy, stats=scipy.stats)
    functions = []
    for line in tasks.read_text().splitlines():
        task = json.loads(line)
        space = dict(known)
        exec(compile(task["golden"], task["id"], "exec"), space)
        functions.append(space[task["name"]])
    least = math.inf
    for _ in range(3):
        began = time.perf_counter()
        for function in functions:
            function(frame.copy())
        least = min(least, time.perf_counter() - began)
    print(f"{len(functions)} golden functions on {len(frame)} rows: {least:.2f} s")


main()
