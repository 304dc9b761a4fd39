#!/usr/bin/env python3
"""Trains gradient-boosted trees on exported factors and writes score files that `control = "signals"` trades.

    ktd data factors csi300.ktdp --out factors.parquet
    python3 tests/scripts/gradient_boosting.py factors.parquet OUT [lightgbm xgboost catboost doubleensemble]

Parameters are those that Qlib publishes for its benchmarks on the CSI300 (microsoft/qlib, examples/benchmarks/*/
workflow_config_*_Alpha158.yaml, and the defaults of qlib/contrib/model); features are the nine z-scores of the screen instead
of Alpha158. Spans, labels and the scale of scores: score_files.py.

Installs what it needs with pip into OUT/venv when a package is missing.
"""

import time

from score_files import arguments, daily_ic, factor_columns, install, labelled_rows, write_scores

LIGHTGBM = {"lightgbm": "lightgbm==4.7.0"}
PACKAGES = {
    "lightgbm": LIGHTGBM,
    "xgboost": {"xgboost": "xgboost-cpu==3.2.0"},
    "catboost": {"catboost": "catboost==1.2.10"},
    "doubleensemble": LIGHTGBM,
}
SEED = 0
# Of workflow_config_lightgbm_Alpha158.yaml, and the same numbers in workflow_config_doubleensemble_Alpha158.yaml.
LIGHTGBM_SETTINGS = {
    "objective": "mse", "colsample_bytree": 0.8879, "learning_rate": 0.2, "subsample": 0.8789, "lambda_l1": 205.6999,
    "lambda_l2": 580.9768, "max_depth": 8, "num_leaves": 210, "num_threads": 2, "seed": SEED, "deterministic": True,
    "force_row_wise": True, "verbosity": -1,
}


def lightgbm(train, validate, features):
    import lightgbm as library

    data = [library.Dataset(part[features], part["label"]) for part in (train, validate)]
    stop = library.early_stopping(50, verbose=False)
    model = library.train(LIGHTGBM_SETTINGS, data[0], 1000, valid_sets=[data[1]], callbacks=[stop])
    rounds = model.best_iteration
    return lambda rows: model.predict(rows[features], num_iteration=rounds), f"{rounds} rounds"


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
    return lambda rows: model.predict(library.DMatrix(rows[features]), iteration_range=(0, rounds)), f"{rounds} rounds"


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
    return lambda rows: model.predict(rows[features]), f"{model.tree_count_} rounds"


def doubleensemble(train, validate, features):
    """DoubleEnsemble: the validation is not asked, for Qlib publishes 28 rounds without early stopping."""
    from double_ensemble import DoubleEnsemble

    del validate
    model = DoubleEnsemble(LIGHTGBM_SETTINGS, SEED).fit(train, features)
    return model.predict, f"{len(model.members)} models of 28 rounds"


def main():
    factors, out, models = arguments(PACKAGES, __doc__)
    install(out, {module: package for model in models for module, package in PACKAGES[model].items()})
    rows, scale = labelled_rows(factors)
    features = factor_columns(rows)
    train, validate, scored = (rows[rows["part"] == part] for part in ("train", "validate", "score"))
    for model in models:
        begun = time.monotonic()
        predict, size = globals()[model](train, validate, features)
        ic = daily_ic(validate, predict(validate))
        write_scores(out / f"{model}.csv", scored, predict(scored), scale)
        seconds = time.monotonic() - begun
        print(f"{model}: {len(train)} rows, {size}, mean daily IC of 2023 {ic:.4f}, {seconds:.0f} s, {len(scored)} scores")


if __name__ == "__main__":
    main()
