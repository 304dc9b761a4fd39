"""What a board of windows that are not opened would tell to whoever owns all prices.

Five agents hold one style group each: everybody can value a group on every day, and their orders are public. The attacker
compares their figures with those of every day on which a window may begin. Prints how often the day that it names lies within
twenty of the true one, by how many windows the figures are of and by their digits. Groups and residuals are the script's own.

    python3 -m venv venv && venv/bin/pip install numpy pandas pyarrow
    venv/bin/python tests/scripts/closed_board.py ../shared/data
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

DAYS, GROUPS, SHOWN, TRIALS = 43, 5, 50, 3000
FROM = pd.Timestamp("2022-01-05")


def panel(folder: Path):
    rows = pd.read_parquet(folder / "cn_csi300ever_daily_2010_2026.parquet")
    rows["date"] = pd.to_datetime(rows["date"])
    rows = rows[rows["date"] >= "2020-06-01"]
    rows = rows.assign(price=rows["close"] * rows["factor"].fillna(1), amount=rows["close"] * rows["volume"])
    price = rows.pivot(index="date", columns="symbol", values="price")
    amount = rows.pivot(index="date", columns="symbol", values="amount").replace(0, np.nan)
    member = pd.DataFrame(False, index=price.index, columns=price.columns)
    spans = pd.read_csv(folder / "cn_csi300_members.csv", parse_dates=["from", "until_excl"])
    for symbol, first, after in spans[["symbol", "from", "until_excl"]].itertuples(index=False):
        if symbol in member.columns:
            is_in = price.index >= first
            member.loc[is_in if pd.isna(after) else is_in & (price.index < after), symbol] = True
    returns = price.pct_change(fill_method=None).clip(-0.21, 0.21)
    styles = [
        np.log(amount.rolling(60, min_periods=20).mean()),
        price.shift(20) / price.shift(120) - 1,
        price / price.shift(5) - 1,
        returns.rolling(60, min_periods=20).std(),
        np.log(amount.rolling(5, min_periods=2).mean() / amount.rolling(60, min_periods=20).mean()),
        price / price.shift(20) - 1,
    ]
    return price.index, returns.to_numpy(), member.to_numpy(), [style.to_numpy() for style in styles]


def groups_of(styles: np.ndarray) -> np.ndarray:
    """Groups of equal size around fixed centres, the surest names first."""
    centres = np.zeros((GROUPS, styles.shape[1]))
    centres[0, 0], centres[1, 1], centres[2, 3], centres[4, 1] = 1.5, 1.5, 1.5, -1.5
    centres[3, 0] = centres[3, 3] = -1
    distance = ((styles[:, None, :] - centres) ** 2).sum(2)
    nearest = np.sort(distance, 1)
    room = np.full(GROUPS, -(-len(styles) // GROUPS))
    found = np.empty(len(styles), int)
    for name in np.argsort(nearest[:, 0] - nearest[:, 1]):
        group = next(group for group in np.argsort(distance[name]) if room[group])
        found[name] = group
        room[group] -= 1
    return found


def windows(folder: Path):
    """Mean residual a day of each group over each window, in basis points, and its deviation by the names that are not shown."""
    dates, returns, member, styles = panel(folder)
    first = int(np.searchsorted(dates, FROM))
    means, deviations, kept = [], [], {}
    for day in range(first, len(dates) - 1):
        names = np.flatnonzero(member[day])
        shown = np.column_stack([style[day, names] for style in styles])
        after = returns[day + 1, names]
        whole = np.isfinite(shown).all(1) & np.isfinite(after)
        names, shown, after = names[whole], shown[whole], after[whole]
        shown = ((shown - shown.mean(0)) / shown.std(0)).clip(-3, 3)
        if (day - first) % 5 == 0:
            kept = dict(zip(names, groups_of(shown)))
        design = np.column_stack([np.ones(len(shown)), shown])
        residual = after - design @ np.linalg.lstsq(design, after, rcond=None)[0]
        group = np.array([kept.get(name, -1) for name in names])
        parts = [residual[group == one] for one in range(GROUPS)]
        means.append([part.mean() for part in parts])
        deviations.append([part.std() * np.sqrt(max(0, 1 / SHOWN - 1 / len(part))) for part in parts])
    starts = len(means) - DAYS
    mean = np.array([np.mean(means[start : start + DAYS], 0) for start in range(starts)])
    deviation = np.mean(deviations, 0) / np.sqrt(DAYS)
    return mean * 1e4, deviation * 1e4


def found(mean, deviation, pooled: int, points: float, rng) -> float:
    """Share of draws in which the named day lies within twenty of that of one of the pooled windows."""
    spread = np.cov(mean.T)
    own = np.diag(deviation**2) / pooled + np.eye(GROUPS) * points**2 / 12
    inverse = np.linalg.inv(spread * (pooled - 1) / pooled**2 + own)
    hits = 0
    for _ in range(TRIALS):
        strata = np.array_split(np.arange(len(mean)), pooled)
        drawn = np.array([rng.choice(stratum) for stratum in strata])
        target = drawn[rng.integers(pooled)]
        figures = (mean[drawn] + rng.normal(size=(pooled, GROUPS)) * deviation).mean(0)
        figures = np.round(figures / points) * points
        apart = figures - (mean + (pooled - 1) * mean.mean(0)) / pooled
        likelihood = np.exp(-0.5 * np.einsum("ij,jk,ik->i", apart, inverse, apart))
        named = np.convolve(likelihood, np.ones(41), "same").argmax()
        hits += abs(named - target) <= 20
    return hits / TRIALS


def main() -> None:
    rng = np.random.default_rng(11)
    mean, deviation = windows(Path(sys.argv[1] if 1 < len(sys.argv) else "../shared/data"))
    print(f"{len(mean)} days may begin a window of {DAYS}; without a board {41 / len(mean):.1%} lie within twenty")
    print("| windows together | digits, basis points a day | day within twenty |")
    print("|---|---|---|")
    for pooled, points in [(1, 1), (1, 5), (1, 10), (3, 1), (5, 1), (10, 1), (10, 0.01)]:
        print(f"| {pooled} | {points:g} | {found(mean, deviation, pooled, points, rng):.1%} |")


if __name__ == "__main__":
    main()
