#!/bin/sh
# The real CSI 300 panel, for people who have the data: import, check, the built-in agents, replay, verify, leak scan.
# KTD_DATA names the data (default ../shared/data), KTD the program. `real_panel.sh quick` leaves the long window out.
set -eu
cd "$(dirname "$0")/../.."
data=${KTD_DATA:-../shared/data}
ktd=${KTD:-${CARGO_TARGET_DIR:-target}/release/ktd}
window=$data/cn_csi300_window_2023_2026.parquet
all=$data/cn_csi300ever_daily_2010_2026.parquet
index=$data/cn_index_daily_2010_2026.parquet
test -e "$window" || { echo "no data in $data: skipped"; exit 0; }
test -x "$ktd" || cargo build --release -p ktd-cli
# The scan of bundles reads the tables of names; said before a minute of work, not after.
python3 -c 'import pyarrow' 2>/dev/null || { echo "python3 has no pyarrow, which the scan of bundles needs: python3 -m pip install pyarrow" >&2; exit 2; }

import() {
    "$ktd" data import "$1" --basis raw --universe "$data/cn_csi300_members.csv" \
        --index "$index:SH000300" --index "$index:SH000905" --index "$index:SH000852" \
        --names "$data/cn_stock_meta.csv" --sectors "$data/cn_stock_meta.csv:sw_l1" \
        --out "$2" --force
}
mkdir -p results
import "$window" results/csi300_window.ktdp
import "$all" results/csi300.ktdp

"$ktd" data check results/csi300_window.ktdp --start 2024-01-02 --end 2026-04-10 | tee results/check.txt
for defect in "SZ000002 *2025-01-09" "SZ302132 *2025-02-18" "163,749"; do
    grep -q "$defect" results/check.txt || { echo "the check misses $defect" >&2; exit 1; }
done
"$ktd" data check results/csi300.ktdp

experiments=real-w1
"$ktd" run runs/configs/real_w1.toml
if test "${1:-}" != quick; then
    "$ktd" run runs/configs/real_long.toml
    experiments="$experiments real-long"
fi

for experiment in $experiments; do
    for bundle in results/"$experiment"/cells/momentum__*__blinded-exact__open-research__s1 \
        results/"$experiment"/cells/cheater__*__bright-exact__memory-only__s1 \
        results/"$experiment"/cells/schema-breaker__*__blinded-rescaled__fixed-candidate__s1; do
        "$ktd" replay "$bundle"
        "$ktd" verify "$bundle"
    done
    python3 tests/scripts/scan_bundles.py --codes "$window" --codes "$data/cn_stock_meta.csv" \
        --names "$data/cn_stock_meta.csv" --names "$data/cn_csi300_members.csv" results/"$experiment"
    # Every day of every account adds up on every basis, and the board tells memory from skill.
    "$ktd" leaderboard results/"$experiment" --out results/"$experiment"-board --table all
    python3 tests/scripts/check_board.py results/"$experiment"-board/leaderboard.json
done

# The one-switch benchmark on the same names, against a second implementation where its table is.
"$ktd" leak run runs/configs/leak_real.toml --out results/leak-csi300
golden=${KTD_GOLDEN:-../shared/golden}/leakage/real_panel.csv
if test -e "$golden"; then
    python3 tests/scripts/check_leak.py results/leak-csi300/gains.csv "$golden"
fi

# The same on the S&P 500's members of April 2021, from a long file of bars.
if test -e "$data/us_sp500_daily_2010_2021.parquet" && test "$data" = ../shared/data; then
    "$ktd" leak run runs/configs/leak_sp500.toml --out results/leak-sp500
fi
