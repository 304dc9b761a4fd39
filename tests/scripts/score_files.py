#!/usr/bin/env python3
"""What the scripts that train predictors share: packages, spans of training, labels, and the score file.

    python3 tests/scripts/score_files.py factors.parquet SCORES.csv ...      # the mean daily IC of score files

Spans are those of `ktd baseline linear`: trained up to 2022, validated on 2023, scored from the last close of 2023 on. Rows
whose label reaches into the next span are left out. A label is standardised over the stocks of its day, or their ranks are,
as Qlib does; a score is the prediction times the mean daily standard deviation of the training labels, so that it is an
expected return and costs can be held against it.
"""

import math
import subprocess
import sys
import venv
from pathlib import Path

TRAIN_UNTIL, VALIDATE_UNTIL = "2022-12-31", "2023-12-31"
LABEL = "future_return"
# Trading days that a label looks ahead.
LABEL_DAYS = 2
# Versions with which the table of docs/baselines.md was made; others may give other bytes.
TABLES = {"numpy": "numpy==2.4.6", "pandas": "pandas==3.1.1", "pyarrow": "pyarrow==26.0.1"}
# Qlib's CSRankNorm centres the ranks of a day, in shares of 1, and multiplies them by this: about unit variance.
RANK_SCALE = 3.46


def install(out, packages):
    """Runs the script again under OUT/venv, which has the packages: names of modules, and what pip calls each."""
    packages = {**TABLES, **packages}
    try:
        for module in packages:
            __import__(module)
        return
    except ImportError as missing:
        home = out / "venv"
        if Path(sys.prefix) == home.resolve():
            raise SystemExit(f"cannot import {missing.name} after it was installed") from missing
    if not (home / "bin" / "python").exists():
        venv.create(home, with_pip=True)
    python = str(home.resolve() / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages.values()], check=True)
    raise SystemExit(subprocess.run([python, *sys.argv], check=False).returncode)


def arguments(known, doc):
    """The factors' file, the folder to write to, and the models asked for, all of them by default."""
    if len(sys.argv) < 3:
        raise SystemExit(doc)
    factors, out = Path(sys.argv[1]), Path(sys.argv[2])
    models = sys.argv[3:] or list(known)
    unknown = [model for model in models if model not in known]
    if unknown:
        raise SystemExit(f"unknown model {unknown[0]}: it is one of {', '.join(known)}")
    out.mkdir(parents=True, exist_ok=True)
    return factors, out, models


def labelled_rows(factors):
    """All rows by date and code, with their part (train, validate, score or none) and their labels; and the scale of scores."""
    import pandas

    rows = pandas.read_parquet(factors).sort_values(["date", "code"], ignore_index=True)
    rows["date"] = pandas.to_datetime(rows["date"])
    days = rows["date"].drop_duplicates().reset_index(drop=True)
    ends = rows["date"].map(dict(zip(days, days.shift(-LABEL_DAYS))))
    next_day = rows["date"].map(dict(zip(days, days.shift(-1)))).fillna(pandas.Timestamp("2200-01-01"))
    by_day = rows.groupby("date")[LABEL]
    rows["label"] = (rows[LABEL] - by_day.transform("mean")) / by_day.transform("std")
    rows["rank_label"] = (by_day.rank(pct=True) - 0.5) * RANK_SCALE
    known = rows["label"].notna()
    rows["part"] = "none"
    rows.loc[known & (ends <= TRAIN_UNTIL), "part"] = "train"
    rows.loc[known & (rows["date"] > TRAIN_UNTIL) & (ends <= VALIDATE_UNTIL), "part"] = "validate"
    rows.loc[next_day > VALIDATE_UNTIL, "part"] = "score"
    scale = rows.loc[rows["part"] == "train", ["date", LABEL]].groupby("date")[LABEL].std().mean()
    return rows, scale


def factor_columns(rows):
    return [column for column in rows.columns if column.endswith("_Z")]


def daily_correlations(rows, predictions):
    """The correlation of prediction and return of each day on which predictions differ."""
    checked = rows.assign(prediction=predictions)
    varies = checked.groupby("date")["prediction"].transform("std") > 0
    days = checked[varies].groupby("date")[["prediction", LABEL]]
    return days.apply(lambda day: day["prediction"].corr(day[LABEL])).dropna()


def daily_ic(rows, predictions):
    """The mean daily correlation of prediction and return, as `ktd baseline linear` counts it."""
    return daily_correlations(rows, predictions).mean()


def write_scores(path, scored, predictions, scale):
    """Writes a score file, and refuses scores that are not finite numbers: a training that diverged trades nothing."""
    import numpy
    import pandas

    if not numpy.isfinite(predictions).all():
        raise SystemExit(f"{path.stem}: predictions are not finite, no score file is written")
    dates = scored["date"].dt.strftime("%Y-%m-%d")
    pandas.DataFrame({"date": dates, "code": scored["code"], "score": scale * predictions}).to_csv(path, index=False)


def main():
    """Prints the mean daily IC of score files over their own days, and its t value."""
    import pandas

    rows = pandas.read_parquet(sys.argv[1], columns=["date", "code", LABEL])
    rows["date"] = rows["date"].astype(str)
    for path in sys.argv[2:]:
        both = rows.merge(pandas.read_csv(path), on=["date", "code"])
        days = daily_correlations(both, both["score"])
        t = days.mean() / days.std() * math.sqrt(len(days))
        print(f"{path}: mean daily IC {days.mean():.4f}, t {t:.2f}, {len(days)} days")


if __name__ == "__main__":
    main()
