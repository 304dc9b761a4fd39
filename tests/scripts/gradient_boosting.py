#!/usr/bin/env python3
"""Trains gradient-boosted trees on exported factors and writes score files that `control = "signals"` trades.

    ktd data factors csi300.ktdp --out factors.parquet
    python3 tests/scripts/gradient_boosting.py factors.parquet OUT [lightgbm xgboost catboost]

Trained up to 2022, stopped early on 2023, scored from the last close of 2023 on. Parameters are those that Qlib publishes for
its benchmarks on the CSI300 (examples/benchmarks, Alpha158); features are the nine z-scores of the screen instead of Alpha158.
The label is standardised over the stocks of each day, as Qlib's CSZScoreNorm does; a score is the prediction times the mean
daily standard deviation of the training labels, so that it is an expected return and costs can be held against it.

Installs what it needs with pip into OUT/venv when a package is missing.
"""

import subprocess
import sys
import time
import venv
from pathlib import Path

TRAIN_UNTIL, VALIDATE_UNTIL = "2022-12-31", "2023-12-31"
LABEL = "future_return"
# Trading days that a label looks ahead: rows whose label reaches into the next span are left out.
LABEL_DAYS = 2
PACKAGES = {"lightgbm": "lightgbm", "xgboost": "xgboost-cpu", "catboost": "catboost"}
SEED = 0


def install(out, models):
    """Runs this script again under OUT/venv, which has what the models need."""
    try:
        for module in ["numpy", "pandas", "pyarrow", *models]:
            __import__(module)
        return
    except ImportError as missing:
        home = out / "venv"
        if Path(sys.prefix) == home.resolve():
            raise SystemExit(f"cannot import {missing.name} after it was installed") from missing
    if not (home / "bin" / "python").exists():
        venv.create(home, with_pip=True)
    python = str(home.resolve() / "bin" / "python")
    packages = ["numpy", "pandas", "pyarrow", *(PACKAGES[model] for model in models)]
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    raise SystemExit(subprocess.run([python, *sys.argv], check=False).returncode)


def parts(rows):
    """Rows to train on, to validate on and to score, with features and standardised labels."""
    import pandas

    rows["date"] = pandas.to_datetime(rows["date"])
    days = rows["date"].drop_duplicates().sort_values().reset_index(drop=True)
    label_ends = days.shift(-LABEL_DAYS)
    ends = rows["date"].map(dict(zip(days, label_ends)))
    next_day = rows["date"].map(dict(zip(days, days.shift(-1)))).fillna(pandas.Timestamp("2200-01-01"))
    by_day = rows.groupby("date")[LABEL]
    spread = by_day.transform("std")
    rows["label"] = (rows[LABEL] - by_day.transform("mean")) / spread
    known = rows["label"].notna()
    train = known & (ends <= TRAIN_UNTIL)
    validate = known & (rows["date"] > TRAIN_UNTIL) & (ends <= VALIDATE_UNTIL)
    scored = next_day > VALIDATE_UNTIL
    scale = rows.loc[train, ["date", LABEL]].groupby("date")[LABEL].std().mean()
    return rows[train], rows[validate], rows[scored], scale


def lightgbm(train, validate, features):
    import lightgbm as library

    settings = {
        "objective": "mse", "colsample_bytree": 0.8879, "learning_rate": 0.2, "subsample": 0.8789, "lambda_l1": 205.6999,
        "lambda_l2": 580.9768, "max_depth": 8, "num_leaves": 210, "num_threads": 2, "seed": SEED, "deterministic": True,
        "verbosity": -1,
    }
    data = [library.Dataset(part[features], part["label"]) for part in (train, validate)]
    model = library.train(settings, data[0], 1000, valid_sets=[data[1]], callbacks=[library.early_stopping(50, verbose=False)])
    return lambda rows: model.predict(rows[features], num_iteration=model.best_iteration), model.best_iteration


def xgboost(train, validate, features):
    import xgboost as library

    # Qlib passes `n_estimators` into the parameters of `train`, which ignores it: 1000 rounds, stopped after 50 without gain.
    settings = {
        "eval_metric": "rmse", "colsample_bytree": 0.8879, "eta": 0.0421, "max_depth": 8, "subsample": 0.8789, "nthread": 2,
        "seed": SEED,
    }
    data = [library.DMatrix(part[features], part["label"]) for part in (train, validate)]
    model = library.train(
        settings, data[0], 1000, evals=[(data[1], "valid")], early_stopping_rounds=50, verbose_eval=False
    )
    rounds = model.best_iteration + 1
    return lambda rows: model.predict(library.DMatrix(rows[features]), iteration_range=(0, rounds)), rounds


def catboost(train, validate, features):
    import catboost as library

    # Qlib's `Poisson` bootstrap runs on graphics cards alone: `Bernoulli` with the same share stands for it.
    settings = {
        "loss_function": "RMSE", "learning_rate": 0.0421, "subsample": 0.8789, "max_depth": 6, "num_leaves": 100,
        "thread_count": 2, "grow_policy": "Lossguide", "bootstrap_type": "Bernoulli", "random_seed": SEED,
        "iterations": 1000, "early_stopping_rounds": 50, "allow_writing_files": False, "verbose": False,
    }
    model = library.CatBoost(settings)
    data = [library.Pool(part[features], part["label"]) for part in (train, validate)]
    model.fit(data[0], eval_set=data[1], use_best_model=True)
    return lambda rows: model.predict(rows[features]), model.tree_count_


def main():
    factors, out = Path(sys.argv[1]), Path(sys.argv[2])
    models = sys.argv[3:] or list(PACKAGES)
    unknown = [model for model in models if model not in PACKAGES]
    if unknown:
        raise SystemExit(f"unknown model {unknown[0]}: it is one of {', '.join(PACKAGES)}")
    out.mkdir(parents=True, exist_ok=True)
    install(out, models)
    import pandas

    rows = pandas.read_parquet(factors)
    features = [column for column in rows.columns if column.endswith("_Z")]
    train, validate, scored, scale = parts(rows)
    for model in models:
        begun = time.monotonic()
        predict, rounds = globals()[model](train, validate, features)
        checked = validate.assign(score=predict(validate))
        ic = checked.groupby("date")[["score", "label"]].apply(lambda day: day["score"].corr(day["label"])).mean()
        scores = pandas.DataFrame({
            "date": scored["date"].dt.strftime("%Y-%m-%d"), "code": scored["code"], "score": scale * predict(scored),
        })
        scores.to_csv(out / f"{model}.csv", index=False)
        seconds = time.monotonic() - begun
        print(f"{model}: {len(train)} rows, {rounds} rounds, mean daily IC of 2023 {ic:.4f}, {seconds:.0f} s, {len(scores)} scores")


if __name__ == "__main__":
    main()
