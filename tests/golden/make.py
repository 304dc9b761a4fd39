#!/usr/bin/env python3
"""Writes the small golden cases beside this file from the large sets and their generators.

    KTD_GOLDEN=DIR python tests/golden/make.py ktd | attribution | qlib

`ktd` needs nothing but Python; `attribution` needs numpy, scipy, statsmodels, empyrical-reloaded and arch; `qlib` needs
pyqlib 0.9.7. The generators are the large sets' own, made smaller by replacing text in them: a text that is not there
stops the script."""

import csv, gzip, io, json, os, shutil, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LARGE = os.path.abspath(os.environ.get("KTD_GOLDEN", os.path.join(HERE, "../../../shared/golden")))


def smaller(path, replacements):
    """The text of a generator with every replacement made."""
    text = open(path).read()
    for old, new in replacements:
        assert old in text, (path, old)
        text = text.replace(old, new)
    return text


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", newline="") as file:
        file.write(text if text.endswith("\n") else text + "\n")


def unzipped(path):
    return gzip.open(path, "rt", newline="").read()


# ---------------------------------------------------------------- ktd: cases taken from the large set
def features(case):
    """What a single step shows: codes of rejections, kinds of events, boards, keys of the configuration."""
    after, found = case["after"], {("config", key) for key in case["config"]}
    if "error" in after:
        rule = case["rule"].split()[0] if after["error"] == "data" else ""
        return found | {("error", after["error"], rule)}
    for fill in after["fills"]:
        found |= {("fill", fill[3], fill[9], fill[10])}
        if fill[9] != "rejected":
            found |= {("board", fill[2][:4])}
    found |= {("event", event[2]) for event in after["events"]}
    return found | {("identity", key, value != 0) for key, value in after["identity"].items()}


def ktd(days=7):
    source, out = f"{LARGE}/ktd", f"{HERE}/ktd"
    shutil.rmtree(out, ignore_errors=True)
    lines = open(f"{source}/micro.jsonl").read().splitlines()
    seen, kept = set(), []
    for place in sorted(range(len(lines)), key=lambda place: len(lines[place])):
        found = features(json.loads(lines[place]))
        if found - seen:
            seen |= found
            kept.append(place)
    write(f"{out}/micro.jsonl", "\n".join(lines[place] for place in sorted(kept)))
    first_days(f"{source}/20260401", f"{out}/first_days", days)


def first_days(source, out, days):
    """The first days of two runs: what a day brings does not depend on later ones."""
    header, *rows = csv.reader(io.StringIO(unzipped(f"{source}/panel.csv.gz")))
    dates = sorted({row[0] for row in rows})
    names, meta = set(), {"seed": 20260401, "runs": {}}
    for run in ("buffered", "exact"):
        config = json.load(open(f"{source}/config_{run}.json"))
        first = dates.index(config["window_start"])
        end = config["window_end"] = dates[first + days - 1]
        write(f"{out}/config_{run}.json", json.dumps(config, indent=1))
        orders = unzipped(f"{source}/orders_{run}.jsonl.gz").splitlines()
        orders = [line for line in orders if json.loads(line)["date"] <= end]
        names |= {order["symbol"] for line in orders for order in json.loads(line)["orders"]}
        write(f"{out}/orders_{run}.jsonl", "\n".join(orders))
        for table in ("fills", "daily", "positions", "events"):
            head, *lines = unzipped(f"{source}/expected_{run}/{table}.csv.gz").splitlines()
            kept = [head] + [line for line in lines if line.split(",")[0] <= end]
            write(f"{out}/expected_{run}/{table}.csv", "\n".join(kept))
        meta["runs"][run] = [f"config_{run}.json", f"orders_{run}.jsonl", f"expected_{run}"]
    # Every name needs a price before the window, and a day after it.
    start, by_name = first - 1, {name: {row[0] for row in rows if row[1] == name} for name in names}
    while any(not any(dates[start] <= day < dates[first] for day in held) for held in by_name.values()):
        start -= 1
    kept = [row for row in rows if row[1] in names and dates[start] <= row[0] <= dates[first + days]]
    write(f"{out}/panel.csv", "\n".join(",".join(row) for row in [header] + kept))
    head, *members = open(f"{source}/universe.csv").read().splitlines()
    write(f"{out}/universe.csv", "\n".join([head] + [line for line in members if line.split(",")[0] in names]))
    write(f"{out}/meta.json", json.dumps(meta, indent=1))


# ---------------------------------------------------------------- attribution: the generator with short windows
def attribution(names=19, days=35):
    out, t = f"{HERE}/attribution/gold", days
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    replacements = [
        ('OUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gold")', f"OUT = {out!r}"),
        ("mom_long=252, mom_skip=21, mom_min=154, rv_win=60, rv_min=40, short_win=20, short_min=14,",
         "mom_long=28, mom_skip=4, mom_min=16, rv_win=14, rv_min=9, short_win=8, short_min=6,"),
        ("skew_win=60, skew_min=40, high_win=252, high_min=120, cv_win=60, cv_min=40,",
         "skew_win=14, skew_min=9, high_win=28, high_min=13, cv_win=14, cv_min=9,"),
        ("weight_win=60, weight_min=20, min_cross_section=50", "weight_win=14, weight_min=5, min_cross_section=11"),
        ("def make_panel(N=80, T=320, seed=20260101)", f"def make_panel(N={names}, T={t}, seed=20260201)"),
        ("listed[70] = 150; listed[71] = 150; listed[72] = 300; listed[73] = 60",
         f"listed[N-7] = 16; listed[N-6] = {t}-4; listed[N-5] = 6"),
        ("susp[285:292, 5] = True; susp[300:, 6] = True; susp[262, 7] = True; susp[200:260, 8] = True; susp[305:308, 9] = True",
         f"susp[{t}-5:{t}-3, 5] = True; susp[{t}-3:, 6] = True; susp[{t}-6, 7] = True; susp[18:28, 8] = True; susp[{t}-2, 9] = True"),
        ("C[:, 74] = C[0, 74]; O[:, 74] = C[0, 74]; H[:, 74] = C[0, 74]; L[:, 74] = C[0, 74]",
         "q = N-4; C[:, q] = C[0, q]; O[:, q] = C[0, q]; H[:, q] = C[0, q]; L[:, q] = C[0, q]"),
        ("member[:, 76:80] = False; member[300:, 10] = False", f"member[:, N-2:] = False; member[{t}-3:, 10] = False"),
        ("t0, t1 = 253, T;", "t0, t1 = 29, T;"),
        ("s = 300; F = Fs[s]; x = r[s-59:s+1, 3]", f"s = {t}-3; F = Fs[s]; x = r[s-13:s+1, 3]"),
        ("x = r[s-19:s+1, 3]", "x = r[s-7:s+1, 3]"),
        ("np.log(V[s-19:s+1,3])", "np.log(V[s-7:s+1,3])"),
        ("sel_days = [253, 254, 262, 263, 270, 284, 285, 286, 292, 293, 299, 300, 301, 302, 305, 308, 309, 312, 318, 319]",
         f"sel_days = [29, {t}-4]"),
        ("g.choice(N, 6, replace=False)", "g.choice(N, 3, replace=False)"),
        ("math.floor(.04*nav", "math.floor(.09*nav"),
        ("math.floor(.98*nav/76/M[t-1,i]/100)*100 for i in range(76)",
         "math.floor(.98*nav/(N-2)/M[t-1,i]/100)*100 for i in range(N-2)"),
        ("{5: 5000, 6: 4000, 9: 3000, 77: 2000} if t == 280 else ({72: 3000} if t == 300 else ({5: -h[5]} if t == 293 else {}))",
         f"{{5: 5000, 6: 4000, 9: 3000, N-1: 2000}} if t == t0+1 else ({{N-6: 3000}} if t == {t}-4 else ({{5: -h[5]}} if t == {t}-2 else {{}}))"),
        ("range(t0, 291)], axis=0)", f"range(t0, {t}-2)], axis=0)"),
        ('Z = base[253]["Z"][base[253]["est"]]', 'Z = base[29]["Z"][base[29]["est"]]'),
        ("single_day_253=", "single_day_29="),
        ('jdump("vif.json", dict(', f'jdump("vif.json", dict(calibration_end={t}-2, '),
        ("n = 60; z1", "n = 16; z1"),
        ("for t in range(t0, t0+10)}", "for t in range(t0, t0+3)}"),
        ("run_ledger(P, M, t0, t0+10,", "run_ledger(P, M, t0, t0+3,"),
        ('"single": (lambda t, c_, h, nav: {0: math.floor(.99*nav/M[t-1,0]/100)*100} if t == t0 else {}, 0.0),', ""),
        ('plans = {"mom20": (p_mom, 0.0), ', "plans = {"),
        ('contrib["mom20"]', 'contrib["rand_slip"]'),
        ('mt["mom20"]', 'mt["rand_slip"]'),
        ("(256, 8)", "(128, 8)"), ("(256,1)", "(128,1)"), ("returns_8x256", "returns_8x128"), ("T=256", "T=128"),
        ("stationary_indices(256", "stationary_indices(128"), ("arange(1, 257)", "arange(1, 129)"),
        ("np.array([0.]*40+[1.]*20)", "np.array([0.]*16+[1.]*8)"),
        ("np.linspace(-1, 1, 59), [1e6]", "np.linspace(-1, 1, 23), [1e6]"),
        ("np.full(60, 3.3)", "np.full(24, 3.3)"), ("np.arange(60)", "np.arange(24)"),
        ("np.linspace(0, 1, 60)", "np.linspace(0, 1, 24)"), ("np.linspace(1, 2, 60)", "np.linspace(1, 2, 24)"),
        ("np.ones(60, bool), w, ce", "np.ones(24, bool), w, ce"),
    ]
    source = smaller(f"{LARGE}/attribution/gen_gold.py", replacements)
    # It ends the process, with an error where one of its checks failed.
    done = subprocess.run([sys.executable, "-c", source], stdout=subprocess.DEVNULL)
    assert done.returncode == 0, "a check of the generator failed"
    os.remove(f"{out}/checks.json")
    for file in os.listdir(out):
        write(f"{out}/{file}", open(f"{out}/{file}", newline="").read())


# ---------------------------------------------------------------- qlib: the generators, and Qlib itself
FIELDS = ["open", "close", "volume", "factor", "change", "luopen", "ldopen"]
RUNS = ["script_flt095", "topk_openlimit", "topk_impact_vol"]


def qlib():
    source, out = f"{LARGE}/qlib", f"{HERE}/qlib"
    shutil.rmtree(out, ignore_errors=True)
    scripts = {
        "gen_panel.py": [
            ("start = 100 ", "start = 9 "), ("start = 120", "start = 11"), ("end = 250 if ND > 300 else ND-1", "end = 14"),
            ("200 <= t < 206", "13 <= t < 16"), ("rng.random() < 0.004", "rng.random() < 0.02"),
            ("rng.random() < 0.006:", "rng.random() < 0.03:"), ("t > start+10", "t > start+2"),
            ("u < 0.006: ret", "u < 0.03: ret"), ("elif u < 0.012: ret", "elif u < 0.05: ret"),
            ("if u < 0.012 and v", "if u < 0.05 and v"), ("if 0.012 <= u < 0.016", "if 0.05 <= u < 0.06"),
            ("elif 0.016 <= u < 0.020", "elif 0.06 <= u < 0.07"), ("t > start+5 and", "t > start+3 and"),
            ("if t >= 20: sc = 0.3*sc + 8*np.nan_to_num(px[t]/px[t-20]-1)",
             "if t >= 5: sc = 0.3*sc + 8*np.nan_to_num(px[t]/px[t-5]-1)"),
        ],
        "gen_orders.py": [("S = 25;", "S = 6;"), ("range(200,206)", "range(13,16)")],
        "run_qlib.py": [("cal[25]", "cal[6]"), ("topk=10, n_drop=2", "topk=6, n_drop=2"), ("hold_thresh=5", "hold_thresh=3")],
    }
    with tempfile.TemporaryDirectory() as folder:
        def run(script, *arguments):
            text = smaller(f"{source}/scripts/{script}", scripts[script])
            write(f"{folder}/{script}", text)
            environment = dict(os.environ, PYTHONHASHSEED="0")
            subprocess.run([sys.executable, script, *arguments], cwd=folder, env=environment, check=True)
        run("gen_panel.py", "panel", "16", "19", "20260501")
        run("gen_orders.py", "panel", "7")
        run("run_qlib.py", "panel", "golden", ",".join(RUNS))
        keep(source, folder, out)


def keep(source, made, out):
    for file in ("calendars/day.txt", "calendars/day_future.txt", "instruments/all.txt"):
        write(f"{out}/panel/qlib_bin/{file}", open(f"{made}/panel/qlib_bin/{file}").read())
    write(f"{out}/panel/bins.csv", "\n".join(bins(f"{made}/panel/qlib_bin/features")))
    for file in ("orders", "signal"):
        write(f"{out}/panel/{file}.csv", unzipped(f"{made}/panel/{file}.csv.gz"))
    days = open(f"{out}/panel/qlib_bin/calendars/day.txt").read().split()
    for run in RUNS:
        config = json.load(open(f"{source}/runs/{run}.json"))
        config.update(start=days[6], end=days[-1])
        if "topk" in config["strategy"]:
            config["strategy"]["topk"] = 6
        write(f"{out}/runs/{run}.json", json.dumps(config, indent=1))
        for table in ("fills", "daily"):
            write(f"{out}/golden/{run}_{table}.csv", unzipped(f"{made}/golden/{run}_{table}.csv.gz"))
        for file in ("final_positions.csv", "meta.json"):
            write(f"{out}/golden/{run}_{file}", open(f"{made}/golden/{run}_{file}").read())
    head, *cases = unzipped(f"{source}/golden/micro_cases.csv.gz").splitlines()
    write(f"{out}/golden/micro_cases.csv", "\n".join([head] + cases[:59] + cases[59::400]))


def bins(features):
    """Lines of symbol, field and the words of a bin, each in the fewest digits that read back as the same word."""
    import numpy as np
    for symbol in sorted(os.listdir(features)):
        for field in FIELDS:
            path = f"{features}/{symbol}/{field}.day.bin"
            if os.path.exists(path):
                yield ",".join([symbol, field] + [digits(np, word) for word in np.fromfile(path, "<f4")])


def digits(np, word):
    if np.isnan(word):
        return "NaN"
    plain = word == 0 or 1e-4 <= abs(word) < 1e7
    text = (np.format_float_positional if plain else np.format_float_scientific)(word, unique=True, trim="-")
    assert np.float32(text) == word, word
    return text


if __name__ == "__main__":
    {"ktd": ktd, "attribution": attribution, "qlib": qlib}[sys.argv[1]]()
