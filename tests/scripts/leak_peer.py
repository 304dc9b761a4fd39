#!/usr/bin/env python3
"""Times parts of the one-switch benchmark beside Python in one run: pandas features, numpy graphs, scikit-learn ridge, LightGBM.

    python3 -m venv V && V/bin/pip install numpy pandas scikit-learn lightgbm
    cargo build --release -p ktd-leakage --example leak_parts
    V/bin/python tests/scripts/leak_peer.py target/release/examples/leak_parts

Processor seconds of one thread, each part three times in turns with its peer; the median and the range of the rounds. Of ours the
data's own making is taken off.
"""

import os
import resource
import statistics
import subprocess
import sys

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import lightgbm
import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge

NAMES, DAYS, ROWS, SCORED, WIDTH, ROUNDS = 300, 2000, 505_000, 76_000, 25, 3


def spent(who):
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def ours(part):
    before = spent(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.argv[1], part], check=True)
    return spent(resource.RUSAGE_CHILDREN) - before


def timed(work):
    before = spent(resource.RUSAGE_SELF)
    work()
    return spent(resource.RUSAGE_SELF) - before


random = np.random.default_rng(2)
days = pd.bdate_range("2014-01-01", periods=DAYS)
close = 20 * np.exp(np.cumsum(random.normal(0, 0.02, (DAYS, NAMES)), 0))
open_ = np.vstack([close[:1], close[:-1]]) * np.exp(random.normal(0, 0.005, (DAYS, NAMES)))
high, low = np.maximum(open_, close) * 1.004, np.minimum(open_, close) * 0.996
O, H, L, C, V = (pd.DataFrame(v, days) for v in (open_, high, low, close, np.exp(random.normal(13, 0.5, (DAYS, NAMES)))))


def graphs():
    returns = np.log(C / C.shift(1)).to_numpy()
    found = {}
    for first in np.flatnonzero(pd.Series(days.to_period("M")).ne(pd.Series(days.to_period("M")).shift(1))):
        window = returns[max(0, first - 252) : first]
        window = window[np.isfinite(window).all(1)]
        if len(window) < 60:
            continue
        strength = np.abs(np.corrcoef(window.T))
        np.fill_diagonal(strength, 0)
        peers = np.argsort(-strength, 1, kind="stable")[:, :5]
        weights = np.zeros_like(strength)
        np.put_along_axis(weights, peers, np.take_along_axis(strength, peers, 1), 1)
        found[first] = weights / weights.sum(1, keepdims=True)
    return found


PEERS = graphs()


def features():
    def rolled(frame, width, what):
        return getattr(frame.rolling(width, min_periods=-(-2 * width // 3)), what)()

    day = C / C.shift(1) - 1
    bar = (H - L) / C
    top, bottom = np.maximum(O, C), np.minimum(O, C)
    own = [C / C.shift(k) - 1 for k in (1, 5, 10, 20)]
    own += [O / C.shift(1) - 1, C / O - 1, bar, (H - top) / C, (bottom - L) / C]
    own += [C / rolled(C, w, "mean") - 1 for w in (5, 10, 20, 60)]
    own += [rolled(day, w, "std") for w in (5, 20, 60)]
    own += [rolled(day, 5, "mean"), V / rolled(V, 20, "mean"), rolled(bar, 5, "mean")]
    own += [C / rolled(H, 20, "max") - 1, C / rolled(L, 20, "min") - 1]
    table = np.stack([frame.to_numpy() for frame in own], -1)
    firsts = sorted(PEERS)
    peers = np.full((DAYS, NAMES, 4), np.nan)
    for first, end in zip(firsts, firsts[1:] + [DAYS]):
        chosen = table[first:end][:, :, [1, 3, 17, 18]]
        there = np.isfinite(chosen)
        weights = np.einsum("ij,tjf->tif", PEERS[first], there.astype(float))
        with np.errstate(invalid="ignore"):
            peers[first:end] = np.einsum("ij,tjf->tif", PEERS[first], np.where(there, chosen, 0)) / weights
    return np.concatenate([table, peers], -1)


X = random.normal(size=(ROWS, WIDTH))
y = 0.002 * X[:, 0] - 0.001 * X[:, 1] * X[:, 2] + 0.05 * random.normal(size=ROWS)


def ridge():
    Ridge(alpha=1.0, solver="cholesky").fit(X, y).predict(X[:SCORED])


def trees():
    model = lightgbm.LGBMRegressor(
        num_leaves=31, max_depth=6, learning_rate=0.05, n_estimators=150, colsample_bytree=0.8,
        reg_alpha=0.1, reg_lambda=0.1, verbose=-1, n_jobs=1, force_col_wise=True,
    )
    model.fit(X, y).predict(X[:SCORED])


# Our features are made with the graphs of both windows: two of them are taken off, and the market that three runs made.
PARTS = [
    ("graphs", graphs, lambda cost: cost["graphs"] - cost["market"]),
    ("features", features, lambda cost: cost["features"] - 2 * cost["graphs"] + cost["market"]),
    ("ridge", ridge, lambda cost: cost["ridge"] - cost["rows"]),
    ("trees", trees, lambda cost: cost["trees"] - cost["rows"]),
]
own, peer = {name: [] for name, _, _ in PARTS}, {name: [] for name, _, _ in PARTS}
for _ in range(ROUNDS):
    cost = {part: ours(part) for part in ("market", "rows")}
    for name, work, _ in PARTS:
        cost[name] = ours(name)
        peer[name].append(timed(work))
    for name, _, less in PARTS:
        own[name].append(less(cost))
print(f"LightGBM {lightgbm.__version__}, pandas {pd.__version__}, numpy {np.__version__}; processor seconds, median of {ROUNDS} (range)")
for name, _, _ in PARTS:
    text = [f"{statistics.median(t):7.3f} ({min(t):.3f} to {max(t):.3f})" for t in (own[name], peer[name])]
    ratio = statistics.median(own[name]) / statistics.median(peer[name])
    print(f"{name:9} ours {text[0]}  Python {text[1]}  ratio {ratio:.3f}")
