#!/usr/bin/env python3
"""Two invented stocks and a benchmark, ten days, as Qlib stores them. Needs nothing but Python.

    python3 examples/qlib/make_data.py results/qlib-example
"""
import struct
import sys
from pathlib import Path

DAYS = ["2024-01-02", "2024-01-03", "2024-01-04", "2024-01-05", "2024-01-08", "2024-01-09", "2024-01-10", "2024-01-11", "2024-01-12", "2024-01-15"]
# Closes as traded, in yuan; the second stock pays 2 yuan on its sixth day, and its factor grows by what that was worth.
CLOSES = {
    "SH600001": [10.00, 10.12, 10.05, 10.30, 11.33, 11.20, 11.05, 11.18, 11.42, 11.36],
    "SZ000002": [20.00, 19.80, 20.10, 20.40, 20.30, 18.35, 18.42, 18.20, 18.55, 18.60],
    "SH000300": [3400.0, 3391.5, 3402.0, 3421.4, 3418.0, 3399.9, 3411.2, 3408.3, 3426.0, 3423.8],
}
EX_DAY, CASH = 5, {"SZ000002": 2.0}


def bin_file(path: Path, values: list) -> None:
    """Single precision, little endian; the first number is the place of the first day in the calendar."""
    path.write_bytes(struct.pack(f"<{len(values) + 1}f", 0.0, *values))


def main() -> None:
    root = Path(sys.argv[1])
    for folder in ("calendars", "instruments"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "calendars" / "day.txt").write_text("\n".join(DAYS) + "\n")
    (root / "instruments" / "all.txt").write_text("".join(f"{symbol}\t{DAYS[0]}\t{DAYS[-1]}\n" for symbol in CLOSES))
    for symbol, closes in CLOSES.items():
        before = closes[EX_DAY - 1]
        grown = before / (before - CASH.get(symbol, 0.0))
        factor = [1.0 if day < EX_DAY else grown for day in range(len(DAYS))]
        adjusted = [close * by for close, by in zip(closes, factor)]
        opens = [adjusted[0]] + [0.5 * (adjusted[day - 1] + adjusted[day]) for day in range(1, len(DAYS))]
        fields = {
            "open": opens,
            "close": adjusted,
            "high": [max(pair) for pair in zip(opens, adjusted)],
            "low": [min(pair) for pair in zip(opens, adjusted)],
            "volume": [1_000_000 / by for by in factor],
            "factor": factor,
            "change": [0.0] + [adjusted[day] / adjusted[day - 1] - 1.0 for day in range(1, len(DAYS))],
        }
        folder = root / "features" / symbol.lower()
        folder.mkdir(parents=True, exist_ok=True)
        for field, values in fields.items():
            bin_file(folder / f"{field}.day.bin", values)


if __name__ == "__main__":
    main()
