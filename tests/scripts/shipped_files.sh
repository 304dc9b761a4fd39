#!/usr/bin/env bash
# Every file of runs/configs, run whole as it is shipped, then published, ranked and verified: each command must end with 0.
# Models are asked of a scripted vendor on loopback, which answers at once.
#
#   tests/scripts/shipped_files.sh [DIR]   works in DIR (default: a temporary folder, removed at the end): 3 GB, an hour
#   tests/scripts/shipped_files.sh --short [DIR]   one seed and no models in episodes, quick studies alone: two minutes
#   FILES="headline demo"                  these files alone
#   KTD=PROGRAM                            the program (default: the release build)
#   KTD_DATA=DIR                           where the real panels lie (default: ../shared/data); without them the files that
#                                          need one are skipped, and the table says so
#
# Exit code 1 when a command failed, 77 when none failed but something was skipped.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
project=$PWD

short=""
[[ "${1:-}" != --short ]] || { short=yes; shift; }
ktd=$(realpath "${KTD:-${CARGO_TARGET_DIR:-target}/release/ktd}")
[[ -x "$ktd" ]] || { printf 'no program at %s: build it, or name it in KTD\n' "$ktd" >&2; exit 2; }
data=$(realpath -m "${KTD_DATA:-../shared/data}")
temporary=""
if (($#)); then
  mkdir -p -- "$1"
  work=$(realpath "$1")
else
  temporary=$(mktemp -d)
  work=$temporary
fi

vendor=""
cleanup() {
  local status=$?
  trap - EXIT INT TERM HUP
  [[ -z "$vendor" ]] || { kill "$vendor" 2>/dev/null || true; wait "$vendor" 2>/dev/null || true; }
  [[ -z "$temporary" ]] || rm -rf -- "$temporary"
  exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
cd "$work"
python3 "$project/tests/scripts/scripted_vendor.py" 0 >port &
vendor=$!
until [[ -s port ]]; do
  kill -0 "$vendor" 2>/dev/null || { printf 'the scripted vendor does not start\n' >&2; exit 2; }
  sleep 0.1
done
port=$(<port)

failed=0
skipped=0
# try WHAT COMMAND...: how it ended, in a line of the table; what it printed lies in WHAT.out and WHAT.err.
try() {
  local what=$1 status=0 began=$SECONDS
  shift
  "$@" >"$what.out" 2>"$what.err" </dev/null || status=$?
  printf '%-44s %5ss  ' "$what" $((SECONDS - began))
  if ((status)); then
    failed=$((failed + 1))
    printf 'FAILED (%d): %s\n' "$status" "$(grep -m1 -iE 'panicked|error' "$what.err" | cut -c1-110)"
  else
    printf 'ended with 0\n'
  fi
}
skip() {
  skipped=$((skipped + 1))
  printf '%-44s         skipped: %s\n' "$1" "$2"
}

# A shipped file with this folder's panels and results and the vendor on loopback; for a short run one seed, no models in
# episodes and few probes.
turned() {
  sed -E -e "s#\.\./\.\./results/#results/#; s#\.\./\.\./\.\./shared/data/#$data/#; /^ *(vendor|api_key_env|base_url) = /d" \
    -e "s#http://127\.0\.0\.1:[0-9]+/v1#http://127.0.0.1:$port/v1#; s#^model = \"(.*)\"#&\nbase_url = \"http://127.0.0.1:$port/v1\"#" \
    "$project/runs/configs/$1.toml" >"$1.toml.all"
  if [[ -n "$short" ]]; then
    sed -E 's/^seeds = \[.*/seeds = [1]/' "$1.toml.all" |
      awk 'BEGIN { RS = "\n\\[\\["; ORS = "" } NR > 1 && /base_url/ { next } { print (NR > 1 ? "\n[[" : "") $0 }' >"$1.toml"
  else
    cp -- "$1.toml.all" "$1.toml"
  fi
}

episodes() {
  local results
  turned "$1"
  results=$(sed -n 's/^output = "\(.*\)"/\1/p' "$1.toml" | head -1)
  results=${results:-results/$1}
  try "$1: run" "$ktd" run "$1.toml" --out "$results"
  try "$1: publish" "$ktd" publish "$results" --key lab.pem --out "published-$1" --open-mask
  panel_of "$1"
  # What is published: controls alone on drawn windows have no board before their mask is opened.
  try "$1: leaderboard" "$ktd" leaderboard "published-$1" --out "board-$1" "${panel[@]}"
  try "$1: verify" "$ktd" verify "published-$1" --signer lab.pem.pub "${panel[@]}"
}

# The option that names the panel of a file; none for the synthetic market.
panel_of() {
  local named
  named=$(sed -n 's/^panel = "\(.*\)"/\1/p' "$1.toml")
  panel=(${named:+--panel "$named"})
}

# certified FILE: a certificate is made, and verified against the panel or market that it names.
certified() {
  turned "$1"
  try "$1: certify" "$ktd" certify "$1.toml" --key lab.pem --out "certified-$1"
  panel_of "$1"
  try "$1: verify" "$ktd" verify --certificate "certified-$1/certificate.json" "${panel[@]}"
}

# study FILE FOLDER COMMAND...: a study, whose record is made again.
study() {
  local file=$1 folder=$2
  shift 2
  turned "$file"
  try "$file: $*" "$ktd" "$@" "$file.toml" --out "results/$file"
  try "$file: verify" "$ktd" verify "$folder"
}

# Whether a file is run: not in a short run where it takes long or is about models alone, and not without what it needs.
is_run() {
  [[ -z "${FILES:-}" || " $FILES " == *" $1 "* ]] || return 1
  case $1 in
    headline | ktd_windows | real_w1 | demo | certify | demo_certify | alpha_demo | leak_demo) ;;
    *) [[ -z "$short" ]] || return 1 ;;
  esac
  if grep -q '^panel' "$project/runs/configs/$1.toml" && [[ ! -e results/csi300.ktdp ]]; then
    skip "$1" "no real panel in $data"
    return 1
  fi
  if grep -q '^prices' "$project/runs/configs/$1.toml" && [[ ! -d "$data" ]]; then
    skip "$1" "no real prices in $data"
    return 1
  fi
  if grep -Eq '^kind = "(factor|strategy)-code"' "$project/runs/configs/$1.toml" && ! "$ktd" box doctor >/dev/null 2>&1; then
    skip "$1" "no box for Python here: ktd box setup"
    return 1
  fi
}

rm -rf -- published-*
mkdir -p results
[[ -e lab.pem ]] || "$ktd" certify --new-key lab.pem >/dev/null
import() {
  try "import of $2" "$ktd" data import "$data/$1" --basis raw --universe "$data/cn_csi300_members.csv" \
    --index "$data/cn_index_daily_2010_2026.parquet:SH000300" --names "$data/cn_stock_meta.csv" \
    --sectors "$data/cn_stock_meta.csv:sw_l1" --out "results/$2" --force
}
if [[ -d "$data" ]]; then
  import cn_csi300ever_daily_2010_2026.parquet csi300.ktdp
  import cn_csi300_window_2023_2026.parquet csi300_window.ktdp
fi

for path in "$project"/runs/configs/*.toml; do
  file=$(basename -- "$path" .toml)
  is_run "$file" || continue
  [[ "$file" != baselines ]] || try "$file: linear" "$ktd" baseline linear results/csi300.ktdp --out results/linear.csv --force
  case $file in
    headline | anchor_depth_scan | baselines | ktd_windows | mask_sensitivity | real_w1 | real_long | local_llm | demo) episodes "$file" ;;
    attackers_* | local_attacker)
      turned "$file"
      try "$file: probe" "$ktd" probe "$file.toml"
      ;;
    certify | certify_real | demo_certify) certified "$file" ;;
    alpha_* | leak_* | factor_code_* | strategy_code_*) study "$file" "results/$file" run ;;
    *)
      failed=$((failed + 1))
      printf '%-44s         FAILED: nothing here runs this file\n' "$file"
      ;;
  esac
done
# What for-replication.md shows of Qlib, and Qlib itself where it is installed.
qlib=$project/examples/qlib
try "qlib example: data" python3 "$qlib/make_data.py" results/qlib-example
try "qlib example: simulate" "$ktd" simulate --config "$qlib/run.json" --panel results/qlib-example --orders "$qlib/orders.csv" --out results/qlib --force
if python3 -c 'import qlib' 2>/dev/null; then
  try "qlib example: compare" python3 "$qlib/compare.py" results/qlib-example results/qlib
fi
printf '%s of the commands failed, %s files were skipped\n' "$failed" "$skipped"
((failed == 0)) || exit 1
((skipped == 0)) || exit 77
