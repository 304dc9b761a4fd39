#!/usr/bin/env python3
"""Search the public part of run bundles for what their mask level hides.

It shares no code and no logic with the guard of `ktd`: it reads the finished files, and searches every string in them.

    scan_bundles.py --codes panel.parquet --codes members.csv --names meta.csv --names members.csv RESULTS...

`RESULTS` are bundles, or directories that hold bundles. `--codes` takes CSV or Parquet (needs pyarrow) with a `symbol`
column; `--names` takes CSV with a `symbol` column and columns that start with `name`. Give the files that the panel was
made of, or larger ones. Exit code 1 when something is found, 2 when there is nothing to scan.

What counts, at a level that hides stocks: a six-digit run that is a code, in a string, a key, or as a JSON number under
a key or table column of identifiers; a company's name. At a level that hides days: any date from 400 days before the
window to 400 after it, in the spellings of `date_patterns`. A JSON number elsewhere is honest (a volume may be 600519),
and so are digits that belong to a longer or a decimal number. Hashes and the model's own words are counted apart: a
model that guesses a code aloud is no leak of the harness, but it is told.
"""

import argparse
import csv
import datetime
import json
import re
import subprocess
import sys
import unicodedata
from collections import Counter
from pathlib import Path

MARGIN_DAYS = 400
HIDES_STOCKS = {"stock-blind", "blinded"}
HIDES_DAYS = {"date-blind", "blinded"}
IDENTIFIERS = {"stock_id", "symbol", "ticker", "code", "name", "date", "day", "as_of", "orders_of"}
HEX = re.compile(r"[0-9a-f]{64}")
SIX = re.compile(r"(?<![\d])(?<![\d][.,])\d{6}(?!\d)(?![.,]\d)")
MONTHS = "January February March April May June July August September October November December".split()


def flat(text):
    """One spelling: NFKC (full-width forms as ASCII), lower case, no control characters."""
    text = unicodedata.normalize("NFKC", text)
    return "".join(c for c in text if unicodedata.category(c) != "Cc" or c in "\n\t").lower()


def rows_of(path):
    if path.suffix == ".parquet":
        import pyarrow.parquet as parquet

        for symbol in parquet.read_table(path, columns=["symbol"])["symbol"].unique().to_pylist():
            yield {"symbol": symbol}
        return
    with open(path, encoding="utf-8-sig", newline="") as file:
        yield from csv.DictReader(line.replace("\0", "") for line in file)


def read_codes(paths):
    codes = set()
    for path in paths:
        for row in rows_of(path):
            found = re.search(r"\d{6}", row["symbol"])
            if found:
                codes.add(found.group())
    return codes


def read_names(paths):
    names = set()
    for path in paths:
        for row in rows_of(path):
            for column, cell in row.items():
                if column and column.startswith("name") and cell:
                    listed = flat(cell).strip()
                    dense = "".join(listed.split())
                    bare = re.sub(r"^(\*st|s\*st|st|xd|xr|dr)(?=[^\x00-\x7f])", "", dense)
                    for name in {listed, dense, bare, re.sub(r"(?<=[^\x00-\x7f])a$", "", bare)}:
                        # One sign, or a few ASCII letters, occur by chance in honest text.
                        if sum(ord(c) > 127 for c in name) >= 2 or len(name) >= 5:
                            names.add(name)
    return names


def date_patterns(first, last):
    """All spellings of all days around the window, as plain strings in flat form."""
    spelled = {}
    day = first - datetime.timedelta(days=MARGIN_DAYS)
    while day <= last + datetime.timedelta(days=MARGIN_DAYS):
        y, m, d = day.year, day.month, day.day
        month = MONTHS[m - 1]
        texts = [f"{y}{m:02}{d:02}", f"{d:02}.{m:02}.{y}", f"{m:02}/{d:02}/{y}", f"{d:02}/{m:02}/{y}"]
        texts += [f"{y}{s}{m:02}{s}{d:02}" for s in "-/._ "] + [f"{y}{s}{m}{s}{d}" for s in "-/."]
        texts += [f"{y}年{m}月{d}日", f"{y}年{m:02}月{d:02}日", f"{y}年{m}月", f"{y}年{m:02}月"]
        for name in (month, month[:3], "Sept" if m == 9 else month[:3]):
            for number in (str(d), f"{d:02}"):
                texts += [f"{number} {name} {y}", f"{name} {number}, {y}", f"{name} {number} {y}", f"{number}-{name}-{y}"]
            texts += [f"{name} {y}", f"{y} {name}", f"{name}-{y}"]
        for text in texts:
            spelled[flat(text)] = day
        day += datetime.timedelta(days=1)
    return spelled


class Trie:
    """Set of strings, searched for at every position; `bounded` ones may not continue a word or a number."""

    def __init__(self, words, bounded):
        self.bounded = bounded
        self.by_head = {}
        for word in words:
            self.by_head.setdefault(word[:2], []).append(word)

    def search(self, text):
        heads = self.by_head
        for at in range(len(text) - 1):
            for word in heads.get(text[at : at + 2], ()):
                if text.startswith(word, at) and not (self.bounded and self.continues(text, at, at + len(word))):
                    yield word

    @staticmethod
    def continues(text, start, end):
        before, after = text[start - 1 : start], text[end : end + 1]
        left = before and before.isalnum() and before.isascii() and text[start].isascii()
        right = after and after.isalnum() and after.isascii() and text[end - 1].isascii()
        decimal = text[start].isdigit() and re.search(r"\d[.,]$", text[max(0, start - 2) : start])
        fraction = text[end - 1].isdigit() and re.match(r"[.,]\d", text[end : end + 2])
        return left or right or decimal or fraction


class Scan:
    def __init__(self, codes, names, dates):
        self.codes, self.names, self.dates = codes, names, dates
        self.found = []
        self.own_words = Counter()
        self.count = Counter()
        self.seen = {}

    def text(self, text, where, own):
        """JSON inside a string is read as JSON, so that its numbers stay numbers; the rest is searched as text."""
        plain, at = [], 0
        decoder = json.JSONDecoder()
        for match in re.finditer(r"[{\[]", text):
            if match.start() < at:
                continue
            try:
                value, end = decoder.raw_decode(text, match.start())
            except ValueError:
                continue
            plain.append(text[at : match.start()])
            at = end
            self.value(value, where + " > json", own)
        plain.append(text[at:])
        self.search(" ".join(plain), where, own)

    def search(self, text, where, own):
        self.count["strings"] += 1
        self.count["characters"] += len(text)
        for what in self.hits(HEX.sub(" ", text)):
            self.report(what, where, own)

    def hits(self, text):
        # The same prompt and schema come with every request.
        if text not in self.seen:
            folded = flat(text)
            hits = [("code", run) for run in SIX.findall(folded) if run in self.codes]
            hits += [("name", name) for name in self.names.search(folded)]
            hits += [("date", date) for date in self.dates.search(folded)]
            if len(self.seen) > 50_000:
                self.seen.clear()
            self.seen[text] = hits
        return self.seen[text]

    def report(self, what, where, own):
        if own:
            self.own_words[what[0]] += 1
        else:
            self.found.append((what, where))

    def value(self, value, where, own=False, identifies=False):
        if isinstance(value, dict):
            own = own or value.get("role") == "assistant"
            columns = value.get("columns")
            for key, inner in value.items():
                self.search(key, where, own)
                if key == "rows" and isinstance(columns, list) and isinstance(inner, list):
                    for row in inner:
                        for column, cell in zip(columns, row):
                            self.value(cell, f"{where}.{key}.{column}", own, column in IDENTIFIERS)
                else:
                    self.value(inner, f"{where}.{key}", own, key in IDENTIFIERS)
        elif isinstance(value, list):
            for inner in value:
                self.value(inner, where, own, identifies)
        elif isinstance(value, str):
            self.text(value, where, own)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            if identifies:
                self.search(str(value), where, own)
            else:
                self.count["honest numbers"] += 1


def decompressed(path):
    try:
        import zstandard

        with open(path, "rb") as file:
            return zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True).read()
    except ImportError:
        return subprocess.run(["zstd", "-dcq", str(path)], check=True, stdout=subprocess.PIPE).stdout


def records(data):
    decoder, text, at = json.JSONDecoder(), data.decode("utf-8"), 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        value, at = decoder.raw_decode(text, at)
        yield value


def window_of(bundle, header):
    """The real window, from the owner's part; without it the days that a panel could have."""
    private = bundle / "private" / "episode.json"
    dates = header["window"].get("dates")
    dates = dates and [dates["first"], dates["last"]]
    if private.exists():
        episode = json.loads(private.read_text())
        dates = [episode["first_day"], episode["last_day"]]
    first, last = dates or ["2010-01-04", "2026-12-31"]
    return datetime.date.fromisoformat(first), datetime.date.fromisoformat(last)


def scan_bundle(bundle, codes, names, date_cache):
    header = json.loads((bundle / "header.json").read_text())
    level = header["mask"]["level"]
    if level not in HIDES_STOCKS | HIDES_DAYS:
        return None
    dates = Trie([], True)
    if level in HIDES_DAYS:
        window = window_of(bundle, header)
        if window not in date_cache:
            date_cache[window] = Trie(date_patterns(*window), True)
        dates = date_cache[window]
    stocks = level in HIDES_STOCKS
    scan = Scan(codes if stocks else set(), names if stocks else Trie([], True), dates)
    # The rules' own dates (when a board's limit changed) stand in every header alike.
    rules = header.pop("rules", {})
    scan.value({key: rule for key, rule in rules.items() if not key.endswith("_from")}, "header.json")
    scan.value(header, "header.json")
    summary = bundle / "summary.json"
    if summary.exists():
        scan.value(json.loads(summary.read_text()), "summary.json")
    for line in (bundle / "events.jsonl").read_text().splitlines():
        event = json.loads(line)
        body = event["body"]
        # Orders and reasons of a decision are the model's own words; so are the names of the tools it called.
        own = body.get("kind") in {"decision", "turn", "tool_call"}
        scan.value(body, f"events.jsonl {body.get('kind')} step {body.get('step')}", own)
        scan.count["events"] += 1
    for record in records(decompressed(bundle / "exchanges.jsonl.zst")):
        intent, outcome = record.get("intent"), record.get("outcome")
        where = "exchanges {step}/{ordinal}/{attempt}".format(**(intent or outcome)["at"])
        if intent:
            scan.value(intent.get("request", intent.get("request_text")), where + " request")
            continue
        reply = outcome.get("reply", {})
        body = reply.get("body", reply.get("body_text", ""))
        scan.text(body if isinstance(body, str) else json.dumps(body, ensure_ascii=False), where + " reply", True)
        scan.value({key: outcome[key] for key in ("failed", "refused") if key in outcome}, where)
        scan.count["exchanges"] += 1
    return scan


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--codes", type=Path, action="append", required=True)
    parser.add_argument("--names", type=Path, action="append", default=[])
    parser.add_argument("--show", type=int, default=10, help="how many findings to show a bundle")
    parser.add_argument("results", type=Path, nargs="+")
    options = parser.parse_args()
    codes, words = read_codes(options.codes), read_names(options.names)
    names, date_cache = Trie(words, True), {}
    print(f"looking for {len(codes)} codes and {len(words)} spellings of names")
    bundles = sorted({header.parent for root in options.results for header in root.rglob("header.json")})
    total, own, scanned, leaks = Counter(), Counter(), 0, 0
    for bundle in bundles:
        scan = scan_bundle(bundle, codes, names, date_cache)
        if scan is None:
            continue
        scanned += 1
        total += scan.count
        own += scan.own_words
        leaks += len(scan.found)
        for (kind, text), where in scan.found[: options.show]:
            print(f"LEAK {bundle.name}: {kind} {text!r} in {where}")
    for window, trie in date_cache.items():
        spellings = sum(map(len, trie.by_head.values()))
        print(f"window {window[0]}..{window[1]}: {spellings} spellings of dates")
    counts = ", ".join(f"{count:,} {what}" for what, count in sorted(total.items()))
    print(f"{scanned} of {len(bundles)} bundles hide something: {counts}")
    print(f"in the model's own words: {dict(own) or 'nothing'}")
    print(f"{leaks} leaks")
    sys.exit(1 if leaks else 0 if scanned else 2)


if __name__ == "__main__":
    main()
