#!/usr/bin/env bash
# The split of accounts on the real CSI 300 panel against a second implementation in pandas: one window, three built-in agents.
#
#   KTD=PROGRAM tests/scripts/attribution.sh     KTD_DATA names the data (default ../shared/data)
#
# pandas and pyarrow come from a package index where `python3` lacks them. Exit code 77: passed over, for the reason above.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly SKIPPED=77 PACKAGES=(numpy==2.3.5 pandas==2.3.3 pyarrow==22.0.0)
ktd="$(realpath "${KTD:-${CARGO_TARGET_DIR:-target}/release/ktd}")"
data="${KTD_DATA:-../shared/data}"
all="$data/cn_csi300ever_daily_2010_2026.parquet"
if [[ ! -e "$all" ]]; then
  printf 'no data in %s: passed over\n' "$data"
  exit "$SKIPPED"
fi

python=python3
if ! "$python" -c 'import numpy, pandas, pyarrow' 2>/dev/null; then
  kept="${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ktd/attribution-python"
  python="$kept/bin/python"
  if ! "$python" -c 'import numpy, pandas, pyarrow' 2>/dev/null; then
    if ! { python3 -m venv "$kept" && "$python" -m pip install --quiet "${PACKAGES[@]}"; }; then
      printf 'pandas and pyarrow cannot be installed here: passed over\n'
      exit "$SKIPPED"
    fi
  fi
fi

work="$(mktemp -d)"
trap 'rm -rf -- "$work"' EXIT
index="$data/cn_index_daily_2010_2026.parquet"
"$ktd" --quiet data import "$all" --basis raw --universe "$data/cn_csi300_members.csv" --index "$index:SH000300" \
  --names "$data/cn_stock_meta.csv" --sectors "$data/cn_stock_meta.csv:sw_l1" --out "$work/csi300.ktdp"
cat >"$work/experiment.toml" <<'EXPERIMENT'
name = "attribution"
panel = "csi300.ktdp"
output = "results"
windows = [{ id = "W8" }]
masks = [{ level = "bright" }]
modes = ["open-research"]
seeds = [1]
agents = [
  { id = "random", builtin = "random" },
  { id = "equal-weight", builtin = "equal-weight" },
  { id = "momentum", builtin = "momentum" },
]
EXPERIMENT
"$ktd" --quiet run "$work/experiment.toml"
"$python" tests/scripts/attribution_check.py "$data" "$ktd" "$work"/results/cells/*
