"""Times what Python does of the same work as the benches `fit` and `pipeline`, and prints milliseconds.

usage: attribution_peer.py fit|pipeline
Sizes and methods: 300 names x 548 days x 10 columns (intercept and nine styles), 800 days of prices for the factors.
Best and median of several rounds; one thread (set OMP_NUM_THREADS and OPENBLAS_NUM_THREADS to 1).
"""

import json
import sys
import time

import numpy as np
import pandas as pd
import statsmodels.api as sm

NAMES, DAYS, STYLES, PANEL_DAYS = 300, 548, 9, 800
draws = np.random.default_rng(0)


def timed(job, rounds):
    job()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        job()
        times.append(1e3 * (time.perf_counter() - start))
    return {"best": min(times), "median": float(np.median(times))}


def regressions():
    design = np.concatenate([np.ones((DAYS, NAMES, 1)), draws.normal(size=(DAYS, NAMES, STYLES))], 2)
    factors = draws.normal(0, 0.005, (DAYS, STYLES + 1))
    weights = np.sqrt(np.exp(draws.normal(18, 1, (DAYS, NAMES))))
    returns = np.einsum("tnk,tk->tn", design, factors) + draws.normal(0, 0.02, (DAYS, NAMES))
    held = np.zeros((DAYS, NAMES))
    for day in range(DAYS):
        held[day, draws.choice(NAMES, 20, replace=False)] = 0.05

    def attribute(fitted, residuals):
        common = np.einsum("tn,t->t", held, fitted[:, 0])
        style = np.einsum("tn,tnk,tk->tk", held, design[:, :, 1:], fitted[:, 1:])
        return common, style, np.einsum("tn,tn->t", held, residuals)

    def loop_of_statsmodels():
        fitted = np.empty((DAYS, STYLES + 1))
        errors, residuals = np.empty_like(fitted), np.empty((DAYS, NAMES))
        for day in range(DAYS):
            model = sm.WLS(returns[day], design[day], weights=weights[day]).fit()
            fitted[day], residuals[day], errors[day] = model.params, model.resid, model.bse
        return attribute(fitted, residuals), errors

    def batched(with_errors):
        weighted = (design * weights[:, :, None]).transpose(0, 2, 1)
        gram = weighted @ design
        fitted = np.linalg.solve(gram, weighted @ returns[:, :, None])[:, :, 0]
        residuals = returns - (design @ fitted[:, :, None])[:, :, 0]
        parts = attribute(fitted, residuals)
        if not with_errors:
            return parts
        variance = (weights * residuals * residuals).sum(1) / (NAMES - STYLES - 1)
        return parts, np.sqrt(variance[:, None] * np.linalg.inv(gram).diagonal(axis1=1, axis2=2))

    return {
        "statsmodels WLS, a loop over days": timed(loop_of_statsmodels, 7),
        "numpy, batched normal equations": timed(lambda: batched(False), 15),
        "numpy, the same with standard errors": timed(lambda: batched(True), 15),
    }


def factors_and_exposures():
    closes = 20 * np.exp(np.cumsum(draws.normal(0, 0.02, (PANEL_DAYS, NAMES)), 0))
    opens = closes * np.exp(draws.normal(0, 0.008, (PANEL_DAYS, NAMES)))
    volumes = np.exp(draws.normal(15, 0.5, (PANEL_DAYS, NAMES)))
    columns = (closes, opens, np.maximum(closes, opens) * 1.005, volumes, volumes * closes)
    close, open_, high, volume, amount = (pd.DataFrame(column) for column in columns)

    def factors():
        change = close / close.shift() - 1
        overnight, intraday = np.log(open_ / close.shift()), np.log(close / open_)
        return [
            close.shift(21) / close.shift(252) - 1,
            change.rolling(60, 40).std(),
            np.log((change.abs() / amount * 1e8).rolling(20, 14).mean()),
            overnight.rolling(20, 14).mean(),
            intraday.rolling(20, 14).mean(),
            -change.rolling(60, 40).skew(),
            change.rolling(20, 14).corr(np.log(volume)),
            close / high.rolling(252, 120).max(),
            amount.rolling(60, 40).std() / amount.rolling(60, 40).mean(),
        ]

    raw = factors()

    def exposures():
        scores = []
        for values in raw:
            values = values.iloc[252:]
            middle = values.median(axis=1)
            reach = 4.4478 * values.sub(middle, axis=0).abs().median(axis=1)
            values = values.clip(middle - reach, middle + reach, axis=0)
            scores.append(values.sub(values.mean(axis=1), axis=0).div(values.std(axis=1, ddof=0), axis=0))
        return scores

    return {"pandas, nine factors": timed(factors, 5), "pandas, limits and z-scores": timed(exposures, 5)}


if __name__ == "__main__":
    print(json.dumps(regressions() if sys.argv[1] == "fit" else factors_and_exposures()))
