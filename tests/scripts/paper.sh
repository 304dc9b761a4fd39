#!/usr/bin/env bash
# Every command of docs/paper.md, in its short form: one line each with its seconds, and whether what it names is there.
#
#   tests/scripts/paper.sh [KTD] [DIR]     the program (default: the release build); works in DIR (default: a temporary folder,
#                                          removed at the end): some minutes, 500 MB
#   BLOCKS="plain box"                     blocks of these kinds alone: plain, data, box
#   KTD_DATA=DIR                           where the real prices lie (default: ../shared/data)
#
# A command stands in a block of the page that begins with ```sh, and what it makes after two blanks and a #, `-` where it prints.
# Exit code 1 when a command failed or made nothing, 77 when none did but something that it needs is not there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
project=$PWD
page=$project/docs/paper.md

ktd=$(realpath "${1:-${CARGO_TARGET_DIR:-target}/release/ktd}")
[[ -x "$ktd" ]] || { printf 'no program at %s: build it, or name it\n' "$ktd" >&2; exit 2; }
data=$(realpath -m "${KTD_DATA:-../shared/data}")
temporary=""
work=${2:-}
[[ -n "$work" ]] || { temporary=$(mktemp -d); work=$temporary; }
[[ ! -e "$work/clone" ]] || { printf '%s/clone is there: name another folder\n' "$work" >&2; exit 2; }

vendors=()
cleanup() {
  local status=$?
  trap - EXIT INT TERM HUP
  ((${#vendors[@]} == 0)) || kill "${vendors[@]}" 2>/dev/null || true
  [[ -z "$temporary" ]] || rm -rf -- "$temporary"
  exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# The commands are those of somebody in the root of the repository, with the data beside it and `ktd` on the path.
mkdir -p "$work/bin" "$work/clone/runs" "$work/clone/results" "$work/shared"
work=$(realpath "$work")
ln -sfn "$ktd" "$work/bin/ktd"
ln -sfn "$data" "$work/shared/data"
cp -r "$project/runs/configs" "$work/clone/runs/"
export PATH=$work/bin:$PATH
cd "$work/clone"
# The short form.
sed -i 's/^seeds = .*/seeds = [1]/; s/^windows = .*/windows = [{ id = "W8" }]/' runs/configs/baselines.toml
sed -i 's/^parallel = 1$/controls = 0\n&/' runs/configs/factor_code_local.toml
sed -i 's/^iterations = .*/iterations = 1/' runs/configs/strategy_code_local.toml

# What a kind of block lacks here; nothing where it can be run.
lacks() {
  case $1 in
    data) [[ -e "$data/cn_csi300ever_daily_2010_2026.parquet" ]] || printf 'no real prices in %s' "$data" ;;
    box) command -v bwrap >/dev/null && command -v python3 >/dev/null || printf 'no bubblewrap or python3 for a box' ;;
    *) ;;
  esac
}

# The endpoints of the files that ask models on loopback.
start_vendors() {
  local port
  for port in $(sed -n 's#^base_url = "http://127.0.0.1:\([0-9]*\)/v1"#\1#p' runs/configs/{factor,strategy}_code_local.toml); do
    python3 "$project/tests/scripts/scripted_vendor.py" "$port" >"vendor-$port.out" &
    vendors+=($!)
    until [[ -s "vendor-$port.out" ]]; do
      kill -0 $! 2>/dev/null || { printf 'the scripted vendor does not start on port %s: is it in use?\n' "$port" >&2; exit 2; }
      sleep 0.1
    done
  done
}

failed=0
skipped=0
run() {
  local kind=$1 command=$2 makes=$3 why status=0 began=$SECONDS ended="there is $3"
  why=$(lacks "$kind")
  if [[ -n "$why" ]]; then
    skipped=$((skipped + 1))
    printf '%5s  skipped: %s  %.90s\n' - "$why" "$command"
    return
  fi
  [[ "$kind" != box || ${#vendors[@]} -gt 0 ]] || start_vendors
  touch began
  bash -c "$command" >last.out 2>last.err </dev/null || status=$?
  if [[ "$makes" == - ]]; then
    makes=last.out
    ended="printed"
  fi
  if ((status)); then
    ended="FAILED ($status): $(grep -m1 . last.err | cut -c1-100)"
  elif [[ ! -s "$makes" || ! "$makes" -nt began ]]; then
    ended="FAILED: $makes is not made"
  fi
  case $ended in FAILED*) failed=$((failed + 1)) ;; esac
  printf '%4ss  %s  %.90s\n' $((SECONDS - began)) "$ended" "$command"
}

count=0
while IFS=$'\t' read -r kind command makes; do
  [[ -z "${BLOCKS:-}" || " $BLOCKS " == *" $kind "* ]] || continue
  count=$((count + 1))
  run "$kind" "$command" "$makes"
done < <(awk '
  /^```sh/ { kind = $2 == "" ? "plain" : $2; next }
  /^```/ { kind = "" }
  kind != "" {
    at = match($0, /  # [^ ]+$/)
    if (!at) { print kind "\tfalse # without what it makes: " $0 "\t-"; next }
    print kind "\t" substr($0, 1, at - 1) "\t" substr($0, at + 4)
  }' "$page")
((count)) || { printf 'no command in %s\n' "$page" >&2; exit 1; }
printf '%s of %s commands failed, %s were skipped\n' "$failed" "$count" "$skipped"
((failed == 0)) || exit 1
((skipped == 0)) || exit 77
