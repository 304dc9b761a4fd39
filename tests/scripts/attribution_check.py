"""A second implementation of `ktd attribute`, from the source data and a bundle's ledger alone (pandas and numpy).

    attribution_check.py DATA KTD BUNDLE...

DATA holds the daily prices, index members and index levels of real_panel.sh; KTD is the program; bundles are of the panel
of all years. Factors, exposures, regressions, parts on three bases, Carino's totals, excess, IR, turnover, HHI and the
calibration of stated confidences, timing and the benchmarks' first days are computed again and compared; the largest difference of
each is printed, and 1 is the exit code when one is not rounding, 77 without the data or the packages. `attribution.sh` makes panel and bundles.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings

try:
    import numpy as np
    import pandas as pd
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

STYLES = ["MOM_12_1", "RV_60", "ILLIQ", "REV_ON", "MOM_ID", "SKEW", "CORR_PV", "HIGH_52W", "CV_VOL"]
PARTS = ["common", *STYLES, "selection", "execution", "slip", "cost", "rounding", "unattributed"]
TOLERANCE = 1e-12
# Episodes record the index of concentration in billionths.
ROUNDED = {"hhi": 1e-8}
# Two years of history are more than any factor reads before the protocol's windows.
FIRST_DAY = "2022-01-01"


class Panel:
    """Prices as tables of days by names; a day without trade is missing."""

    def __init__(self, data):
        def table(name):
            return pd.read_parquet(data / name).astype({"symbol": str, "date": str})

        rows = table("cn_csi300ever_daily_2010_2026.parquet")
        self.days = pd.Index(sorted(rows.date.unique()))
        # A suspended row is a mark, and no price of a trade.
        mark = (rows.close * rows.factor).rename("mark")
        mark = pd.concat([rows[["date", "symbol"]], mark], axis=1).pivot(index="date", columns="symbol", values="mark")
        self.mark = mark.reindex(self.days).ffill()
        rows = rows[~rows.suspended & (rows.volume > 0)]
        wide = {
            column: rows.pivot(index="date", columns="symbol", values=column).reindex(self.days)
            for column in ("open", "high", "low", "close", "volume", "factor")
        }
        self.raw_open, self.factor = wide["open"], wide["factor"].ffill()
        self.amount = wide["volume"] * (wide["high"] + wide["low"] + wide["close"]) / 3
        self.open, self.high, self.close = (wide[c] * self.factor for c in ("open", "high", "close"))
        self.volume = wide["volume"] / self.factor
        self.traded = self.close.notna()
        self.member = pd.DataFrame(False, self.days, self.mark.columns)
        for row in pd.read_csv(data / "cn_csi300_members.csv", dtype=str).fillna("9999").to_dict("records"):
            if row["symbol"] in self.member:
                inside = (self.days >= row["from"]) & (self.days < row["until_excl"])
                self.member.loc[inside, row["symbol"]] = True
        for name in ("raw_open", "factor", "amount", "open", "high", "close", "volume", "traded", "mark", "member"):
            setattr(self, name, getattr(self, name).loc[FIRST_DAY:])
        self.days = self.traded.index
        # Total return of the members of the day before, in equal weights; a name without a price that day earns nothing.
        held = self.member.shift(fill_value=False) & self.mark.shift().notna()
        self.members_return = (self.mark / self.mark.shift() - 1).where(held).mean(axis=1)
        # Of a window's first day from its open, where accounts buy.
        by_day = (self.close / self.open - 1).fillna(0).where(held)
        levels = table("cn_index_daily_2010_2026.parquet")
        levels = levels[levels.symbol == "SH000300"].set_index("date").reindex(self.days)
        self.price_index = levels.close
        self.first_days = {"members": by_day.mean(axis=1), "index": levels.close / levels.open - 1}

    def factors(self):
        """Raw factors by style, each as of its day, and regression weights."""
        both = self.traded & self.traded.shift(fill_value=False)
        r = (self.close / self.close.shift() - 1).where(both)
        overnight = np.log(self.open / self.close.shift()).where(both)
        volume = np.log(self.volume).where(r.notna())
        seen = self.mark.notna().shift(252, fill_value=False)
        long = self.traded.astype(float).rolling(231, min_periods=1).sum().shift(21)
        found = {
            "MOM_12_1": (self.mark.shift(21) / self.mark.shift(252) - 1).where((long >= 154) & seen),
            "RV_60": windows(deviation, 60, 40, r) * np.sqrt(252),
            "ILLIQ": np.log((1e8 * windows(np.nanmean, 20, 14, r.abs() / self.amount)).where(lambda x: x > 1e-15)),
            "REV_ON": windows(np.nanmean, 20, 14, overnight),
            "MOM_ID": windows(np.nanmean, 20, 14, np.log(self.close / self.open)),
            "SKEW": -windows(skewness, 60, 40, r),
            "CORR_PV": windows(correlation, 20, 14, r, volume),
            "HIGH_52W": self.mark / self.high.rolling(252, 120).max(),
            "CV_VOL": windows(lambda a, axis: deviation(a, axis) / np.nanmean(a, axis), 60, 40, self.amount),
        }
        return found, np.sqrt(windows(np.nanmean, 60, 20, self.amount))


def windows(figure, days, least, *tables):
    """A figure of the values of each window, taken afresh: running sums lose digits."""
    views = [np.lib.stride_tricks.sliding_window_view(table.to_numpy(), days, axis=0) for table in tables]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = figure(*views, axis=-1)
    enough = np.isfinite(views[0]).sum(axis=-1) >= least
    head = np.full((days - 1, values.shape[1]), np.nan)
    return pd.DataFrame(np.vstack([head, np.where(enough, values, np.nan)]), tables[0].index, tables[0].columns)


def deviation(x, axis):
    return np.nanstd(x, axis=axis, ddof=1)


def skewness(x, axis):
    n = np.isfinite(x).sum(axis=axis)
    e = x - np.nanmean(x, axis=axis, keepdims=True)
    squares, cubes = np.nansum(e**2, axis=axis), np.nansum(e**3, axis=axis)
    found = n * (n - 1) ** 1.5 * cubes / ((n - 1) * (n - 2) * squares**1.5)
    return np.where(squares > 1e-15, found, np.nan)


def correlation(x, y, axis):
    a = x - np.nanmean(x, axis=axis, keepdims=True)
    b = y - np.nanmean(y, axis=axis, keepdims=True)
    squares = np.nansum(a**2, axis=axis), np.nansum(b**2, axis=axis)
    found = np.nansum(a * b, axis=axis) / np.sqrt(squares[0] * squares[1])
    return np.where((squares[0] > 1e-15) & (squares[1] > 1e-15), found, np.nan)


def fit(panel, factors, weights, day, styles):
    """Exposures, coverage, factor returns and residuals of a return day, for each leg."""
    before = panel.days[panel.days.get_loc(day) - 1]
    raw = pd.DataFrame({style: factors[style].loc[before] for style in STYLES})
    has = raw[styles].isna().sum(axis=1) <= 3
    moments = panel.member.loc[before] & panel.traded.loc[before] & weights.loc[before].notna() & has
    live = panel.traded.loc[before] & panel.traded.loc[day]
    exposures = {}
    for style in styles:
        own = raw.loc[moments, style].dropna()
        width = 3 * 1.4826 * (own - own.median()).abs().median()
        cut = raw[style].clip(own.median() - width, own.median() + width) if width > 0 else raw[style]
        known = cut[moments].dropna()
        exposures[style] = (cut.fillna(known.mean()) - known.mean()) / known.std(ddof=0)
    x = np.column_stack([np.ones(len(raw)), *exposures.values()])
    mark = panel.mark.loc[before]
    whole = (panel.mark.loc[day] / mark - 1).fillna(0)
    night = (panel.open.loc[day] / mark - 1).where(panel.traded.loc[day]).fillna(0)
    used, root = (moments & live).to_numpy(), np.sqrt(weights.loc[before].to_numpy())
    legs = {}
    for name, r in (("whole", whole), ("night", night), ("intraday", whole - night)):
        f = np.linalg.lstsq(x[used] * root[used, None], r[used] * root[used], rcond=None)[0]
        legs[name] = (r, f, r - x @ f)
    return pd.DataFrame(x, raw.index), has & live, legs


def parts(weights_before, weights_after, fitted, styles, other):
    """A day's parts on each basis."""
    x, covered, legs = fitted

    def leg(weights, name):
        r, f, u = legs[name]
        inside = weights[covered.reindex(weights.index, fill_value=False)]
        loading = inside.to_numpy() @ x.loc[inside.index].to_numpy() if len(inside) else np.zeros(len(f))
        outside = weights.drop(inside.index)
        return np.array([*(loading * f), inside @ u[inside.index], 0, 0, 0, 0, outside @ r[outside.index]])

    change = weights_after - weights_before
    execution = {
        "pre": change @ legs["intraday"][0][change.index],
        "post": -(change @ legs["night"][0][change.index]),
        "two": 0.0,
    }
    found = {
        "pre": leg(weights_before, "whole"),
        "post": leg(weights_after, "whole"),
        "two": leg(weights_before, "night") + leg(weights_after, "intraday"),
    }
    place = 1 + len(styles) + 1
    for basis, row in found.items():
        row[place] += execution[basis]
        row[place + 1 :] += other
    return found


def account(panel, lines, cash):
    """Yields each day, its NAVs, values before and after trades at the mark before, and what is no leg's."""
    held, nav = pd.Series(dtype=float), cash
    for line in lines:
        day = line["date"]
        before = panel.days[panel.days.get_loc(day) - 1]
        shares = held.copy()
        lieu = 0.0
        taxes = [event for event in line["events"] if event["kind"] == "dividend_tax"]
        for event in (event for event in line["events"] if event not in taxes):
            shares[event["symbol"]], lieu = event["shares_after"], lieu + event["cash_fen"] / 100
        after, slip, fees = shares.copy(), 0.0, -sum(event["cash_fen"] for event in taxes) / 100
        for fill in line["fills"]:
            filled = fill["execution"].get("filled")
            if not filled:
                continue
            quantity, value, fee = filled["shares"], filled["value_fen"], filled["fee_fen"]
            sign = 1 if fill["side"] == "BUY" else -1
            code = fill["symbol"]
            after[code] = after.get(code, 0.0) + sign * quantity
            slip += sign * (value / 100 - quantity * panel.raw_open.at[day, code])
            fees += fee / 100
        names = shares.index.union(after.index)
        # The mark of the day before in the day's own shares: the adjusted mark over the day's factor.
        today = panel.factor.loc[day, names]
        reference = panel.mark.loc[before, names] / today
        carried = held.reindex(names, fill_value=0.0) * panel.mark.loc[before, names] / panel.factor.loc[before, names]
        value_before = shares.reindex(names, fill_value=0.0) * reference
        rounding = value_before.sum() + lieu - carried.sum()
        other = np.array([-slip, -fees, rounding, 0.0]) / nav
        yield line, nav, value_before / nav, after.reindex(names, fill_value=0.0) * reference / nav, other
        nav = line["nav_fen"] / 100
        held = pd.Series({p["symbol"]: float(p["shares"]) for p in line["positions"]}, dtype=float)


def calibration(panel, lines, decisions):
    """ECE over ten left-closed bins: a fill's confidence, and its name's open to the first later open."""
    pairs = []
    for line in lines:
        for place, fill in enumerate(line["fills"]):
            if "filled" not in fill["execution"]:
                continue
            opens = panel.open[fill["symbol"]].loc[line["date"] :].dropna()
            if len(opens) > 1:
                move = (opens.iloc[1] / opens.iloc[0] - 1) * (1 if fill["side"] == "BUY" else -1)
                pairs.append((decisions[line["step"]][place]["confidence"], float(move > 0)))
    if not pairs:
        return None
    table = pd.DataFrame(pairs, columns=["c", "y"])
    bins = table.groupby(np.minimum(np.floor(table.c * 10), 9))
    return sum(len(bin) / len(table) * abs(bin.c.mean() - bin.y.mean()) for _, bin in bins)


def bodies(path):
    return [json.loads(line)["body"] for line in path.read_text(encoding="utf-8").splitlines()]


def ours(ktd, bundle):
    """What the program says: the report, the days, and the agent's row of a board of this one bundle."""
    with tempfile.TemporaryDirectory() as folder:
        daily = pathlib.Path(folder) / "daily.csv"
        # This computes the regression's own residuals; names left out follow from them and are tested where they are made.
        settings = pathlib.Path(folder) / "settings.toml"
        settings.write_text('residuals = "fitted"\n')
        attribute = [ktd, "--quiet", "attribute", bundle, "--real", "--daily", daily, "--json", "--settings", settings]
        report = subprocess.check_output(attribute)
        days = pd.read_csv(daily, index_col="date")
        # Alone, so that the bundles beside it are not read as trials.
        alone = shutil.copytree(bundle, pathlib.Path(folder) / "results" / bundle.name)
        board = subprocess.check_output([ktd, "--quiet", "leaderboard", alone, "--json", "--replicates", "40"])
    row = json.loads(board)["tracks"][0]["leaders"][0]
    return json.loads(report)["attributions"][0], days, {k: v["median"]["value"] for k, v in row["metrics"].items()}


def check(panel, factors, weights, ktd, bundle):
    report, days, metrics = ours(ktd, bundle)
    styles = report["model"]["styles"]
    heads = ["common", *styles, *PARTS[1 + len(STYLES) :]]
    lines = bodies(bundle / "private/ledger.jsonl")
    events = bodies(bundle / "events.jsonl")
    cash = next(event["initial_cash_fen"] for event in events if event["kind"] == "episode_begin") / 100
    decisions = {event["step"]: event["orders"] for event in events if event["kind"] == "decision"}
    rows, returns, traded, hhi = {basis: [] for basis in ("pre", "post", "two")}, [], [], []
    loadings, factor_returns = {"night": [], "intraday": []}, {"night": [], "intraday": []}
    exposure = 0.0
    for line, nav, before, after, other in account(panel, lines, cash):
        day = fit(panel, factors, weights, line["date"], styles)
        for basis, row in parts(before, after, day, styles, other).items():
            rows[basis].append(row)
        for name, held in (("night", before), ("intraday", after)):
            inside = held[day[1].reindex(held.index, fill_value=False)]
            loadings[name].append(inside.to_numpy() @ day[0].loc[inside.index].to_numpy())
            factor_returns[name].append(day[2][name][1])
        returns.append(line["nav_fen"] / 100 / nav - 1)
        filled = (fill["execution"].get("filled", {"value_fen": 0}) for fill in line["fills"])
        traded.append(sum(fill["value_fen"] for fill in filled) / 100 / nav)
        hhi.append(sum((p["shares"] * p["mark_fen"] / line["nav_fen"]) ** 2 for p in line["positions"]))
        inside = before[day[1].reindex(before.index, fill_value=False)]
        own = inside.to_numpy() @ day[0].loc[inside.index].to_numpy()[:, 1:] if len(inside) else np.zeros(len(styles))
        theirs = days.loc[line["date"], [f"exposure:{style}" for style in styles]]
        exposure = max(exposure, np.abs(own - theirs.to_numpy(float)).max())
    r = np.array(returns)
    differences = {"exposures": exposure, "return": np.abs(r - days["return"]).max()}
    total = np.prod(1 + r) - 1
    scale = lambda x: np.where(x == 0, 1.0, np.log1p(x) / np.where(x == 0, 1.0, x))
    for basis, own in rows.items():
        own = np.array(own)
        theirs = days[[f"{basis}:{head}" for head in heads]].to_numpy()
        differences[f"{basis} daily"] = np.abs(own - theirs).max()
        linked = (own * (scale(r) / scale(total))[:, None]).sum(axis=0)
        told = report["parts"][basis]["carino"]
        others = ("selection", "execution", "slip", "cost", "corporate", "unattributed")
        told = [told["common"], *told["styles"], *(told[part] for part in others)]
        differences[f"{basis} linked"] = np.abs(linked - told).max() / max(1.0, abs(total))
        if basis == "two":
            timing = sum(
                (np.array(loadings[name]) - np.mean(loadings[name], axis=0)) * np.array(factor_returns[name])
                for name in loadings
            )
            sums = report["parts"][basis]["sum"]
            differences["market timing"] = abs(timing[:, 0].sum() - sums["market_timing"])
            differences["style timing"] = abs(timing[:, 1:].sum() - sums["style_timing"])
            differences["selection a day"] = abs(own[:, heads.index("selection")].mean() - report["selection_a_day"])
    dates = [line["date"] for line in lines]
    b = panel.members_return.loc[dates].to_numpy().copy()
    price = panel.price_index.pct_change(fill_method=None).loc[dates].to_numpy().copy()
    b[0], price[0] = (panel.first_days[series].loc[dates[0]] for series in ("members", "index"))
    wealth = np.concatenate([[1.0], np.cumprod(1 + r)])
    own = {
        "total_return": total,
        "excess_return": total - (np.prod(1 + b) - 1),
        "excess_return_price_index": total - (np.prod(1 + price) - 1),
        "sharpe_ratio": np.sqrt(252) * r.mean() / r.std(ddof=1) if r.std() > 0 else None,
        "information_ratio": np.sqrt(252) * (r - b).mean() / (r - b).std(ddof=1),
        "information_ratio_price_index": np.sqrt(252) * (r - price).mean() / (r - price).std(ddof=1),
        "max_drawdown": (1 - wealth / np.maximum.accumulate(wealth)).max(),
        "turnover": 252 / len(r) * sum(traded),
        "hhi": np.mean(hhi),
        "cash_ratio": np.mean([line["cash_fen"] / line["nav_fen"] for line in lines]),
        "abstention": np.mean([len(decisions.get(line["step"], [])) == 0 for line in lines]),
        "ece": calibration(panel, lines, decisions),
    }
    for name, value in own.items():
        told = metrics[name]
        differences[name] = 0.0 if value is None and told is None else abs(value - told) / max(1.0, abs(told))
    print(f"{bundle.name}: {len(lines)} days, largest differences")
    for name, value in differences.items():
        print(f"  {name:18} {value:.1e}")
    return all(value < ROUNDED.get(name, TOLERANCE) for name, value in differences.items())


def main(data, ktd, *bundles):
    data = pathlib.Path(data)
    if not (data / "cn_csi300ever_daily_2010_2026.parquet").exists():
        print(f"skipped: no data in {data}")
        sys.exit(77)
    panel = Panel(data)
    factors, weights = panel.factors()
    good = [check(panel, factors, weights, ktd, pathlib.Path(bundle)) for bundle in bundles]
    sys.exit(not all(good))


if __name__ == "__main__":
    main(*sys.argv[1:])
