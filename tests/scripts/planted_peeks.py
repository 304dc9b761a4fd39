#!/usr/bin/env python3
"""Programs that look ahead in one decision, and their twins that look back: what the gate on look-ahead is measured with.

    python planted_peeks.py SYSTRADEBENCH_GOLDEN SEED COUNT     # a JSON object a line; needs numpy and pandas

The reference programs of the golden set with one condition of theirs, drawn by chance, that asks a price, a volume or a range of
1 to 5 bars later: at every bar, at every few bars, or at two decisions of the whole run. A program is planted where its peek is
asked at least twice on the long run. Nothing here is taken from the gate: it knows no bar, no share, no size of what the gate does.
"""
import ast
import gzip
import json
import random
import sys

import pandas

LEAST_ASKED = 2
DRAWS = 40
HELPERS = '''
class _Seen:
    asked = 0
    events = 0


def _series(data, asset, column):
    frames = list(data.values()) if isinstance(data, dict) else [data]
    return frames[asset % len(frames)][column]


def _other(data, t, n, fallback, asset, ask):
    _Seen.asked += 1
    if not 0 <= t + n < len(_series(data, 0, "close")):
        return fallback
    return bool(ask(lambda column, at, shift=0: _series(data, asset + shift, column).iloc[at], t, t + n))


def _event(first, second):
    _Seen.events += 1
    return _Seen.events in (first, second)
'''
# What is asked of the bar `u`, as a reader of bar `t` would put it.
QUESTIONS = {
    "close": 'of("close", u) {op} of("close", t) * {f}',
    "open": 'of("open", u) {op} of("close", t) * {f}',
    "body": 'of("close", u) {op} of("open", u)',
    "high": 'of("high", u) {op} of("high", t) * {f}',
    "low": 'of("low", u) {op} of("low", t) * {f}',
    "volume": 'of("volume", u) {op} of("volume", t)',
    "range": 'of("high", u) - of("low", u) {op} of("high", t) - of("low", t)',
    "ratio": 'of("close", u) / of("close", u, 1) {op} of("close", t) / of("close", t, 1)',
}


def acts(body):
    """Whether a branch itself trades: its own statements, not those of branches within it."""
    own = [node for node in body if not isinstance(node, (ast.If, ast.For))]
    calls = [node for part in own for node in ast.walk(part) if isinstance(node, ast.Call)]
    traded = any(isinstance(call.func, ast.Attribute) and call.func.attr in ("set", "add") for call in calls)
    looped = [node for node in body if isinstance(node, ast.For)]
    return traded or any(acts(node.body) for node in looped)


def decisions(tree):
    """Conditions of the loop over bars that lead to a trade, with whether something is held there."""
    found = []

    def visit(body, held):
        for node in body:
            if isinstance(node, ast.If):
                if acts(node.body):
                    found.append((node, held))
                text = ast.unparse(node.test)
                # "Is something held?", in the words of these programs.
                asks = text.replace(" ", "") in ("q!=0", "side!=0", "b.qty('A')>0")
                visit(node.body, held or asks)
                visit(node.orelse, held)
            elif isinstance(node, (ast.For, ast.While)):
                visit(node.body, held)

    for strategy in tree.body:
        if isinstance(strategy, ast.ClassDef) and strategy.name == "Strategy":
            for function in strategy.body:
                if getattr(function, "name", "") == "run":
                    loops = [node for node in function.body if isinstance(node, ast.For)]
                    visit(loops[-1].body, False)
    return found


def planted(source, bars_away, draw):
    """The source with one condition that asks about a bar so many away, and what was drawn."""
    tree = ast.parse(source)
    node, held = draw.choice(decisions(tree))
    kinds = [kind for kind in QUESTIONS if kind != "ratio" or "market_data.items()" in source]
    kind = draw.choice(kinds)
    question = QUESTIONS[kind].format(op=draw.choice("<>"), f=draw.choice(["1", "1.004", "0.996"]))
    fallback, asset = draw.choice([True, False]), draw.randrange(4)
    ask = f"_other(market_data, t, {bars_away}, {fallback}, {asset}, lambda of, t, u: {question})"
    every = draw.choice([1, 1, draw.randint(2, 9), draw.randint(10, 60), 0])
    event = sorted(draw.sample(range(1, 6), 2))
    turn = f"t % {every} == {draw.randrange(every)}" if every else f"_event({event[0]}, {event[1]})"
    test = ast.unparse(node.test)
    if held and every and draw.random() < 0.4:
        way, text = "act", f"({test}) or ({turn} and {ask})"
    else:
        way, text = "refrain", f"({test}) and (not ({turn}) or {ask})"
    node.test = ast.parse(text, mode="eval").body
    line = node.lineno
    rate = f"every {every} bars" if every else "twice"
    drawn = {"asks": kind, "bars": bars_away, "rate": rate, "way": way, "line": line, "fallback": fallback}
    text = ast.unparse(ast.fix_missing_locations(tree))
    # Counts begin anew with each run.
    text = text.replace("def run(self, market_data, initial_capital):", "def run(self, market_data, initial_capital):\n        _Seen.asked = _Seen.events = 0", 1)
    return text + "\n" + HELPERS, drawn


def run(source, data, values):
    space = {}
    exec(compile(source, "planted", "exec"), space)
    trades, bars = space["Strategy"](values).run(data, 100000.0)
    return bars["signal"].tolist(), len(trades), space["_Seen"].asked


def frames(data):
    def frame(own):
        made = pandas.DataFrame(own["rows"], columns=own["columns"])
        made["datetime"] = pandas.to_datetime(made["datetime"])
        return made

    return frame(data) if "columns" in data else {symbol: frame(own) for symbol, own in data.items()}


def main(golden, seed, count):
    sys.path.insert(0, f"{golden}/scripts")
    import refs

    book = open(f"{golden}/scripts/book.txt").read()
    with gzip.open(f"{golden}/long.json.gz") as file:
        long = json.load(file)
    names = sorted(refs.REF)
    draw = random.Random(seed)
    for place in range(count):
        name = names[place % len(names)]
        source = refs.source(name, book)
        data = frames(long[name]["data"])
        with open(f"{golden}/specs/{name}.json") as file:
            values = {key: own["value"] for key, own in json.load(file)["params"].items()}
        for _ in range(DRAWS):
            ahead = draw.randint(1, 5)
            state = draw.getstate()
            peek, drawn = planted(source, ahead, draw)
            draw.setstate(state)
            twin, _ = planted(source, -ahead, draw)
            signals, trades, asked = run(peek, data, values)
            if LEAST_ASKED <= asked:
                break
        else:
            raise SystemExit(f"{name}: no draw asks {LEAST_ASKED} times")
        honest = run(twin, data, values)
        told = {"strategy": name, **drawn, "asked": asked, "trades": trades, "twin_trades": honest[1], "differs": signals != honest[0]}
        print(json.dumps({**told, "peek": peek, "twin": twin}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
