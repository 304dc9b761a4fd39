#!/usr/bin/env bash
# Sets up the Python environment of boxes and looks whether a box holds on this machine, so that the tests of boxes can
# run. Exit code 77: they are passed over, for the reason above.
#
#     tests/scripts/boxes.sh
#     tests/scripts/boxes.sh --battery                   # and programs that try to get out, as root and as an ordinary user
#     tests/scripts/boxes.sh --whole                     # and the golden sets of factor functions and strategies, every case
#     tests/scripts/boxes.sh --factors leaks --first 5   # a part of them: what factor_code_golden.py takes
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# `KTD` names a program that is built already.
ktd="${KTD-}"
if [[ -z "$ktd" ]]; then
  cargo build --release --locked --bin ktd
  ktd="${CARGO_TARGET_DIR:-target}/release/ktd"
fi
readonly SKIPPED=77 ORDINARY=1001
golden="${KTD_GOLDEN:-../shared/golden}"
if ! "$ktd" box setup; then
  printf 'the Python environment of boxes cannot be set up here: it needs CPython 3.11 to 3.13 and a package index\n' >&2
  exit "$SKIPPED"
fi
if ! "$ktd" box doctor; then
  printf 'no box holds on this machine: its tests are passed over\n' >&2
  exit "$SKIPPED"
fi

# The whole battery as each user that we may be: the golden set's programs, or those of the program where it is absent.
battery() {
  local cases=() scratch
  [[ -f "$golden/sandbox/cases.jsonl" ]] && cases=("$golden/sandbox/cases.jsonl")
  printf 'battery as user %s\n' "$(id -u)"
  "$ktd" box test "${cases[@]}"
  if [[ "$(id -u)" != 0 ]]; then
    printf 'battery as root: not run, we are user %s\n' "$(id -u)"
    return
  fi
  # A user that owns nothing must be able to read the program and the cases.
  scratch="$(mktemp -d)"
  chmod 755 "$scratch"
  install -m 755 "$ktd" "$scratch/ktd"
  for file in "${cases[@]}"; do install -m 644 "$file" "$scratch/cases.jsonl"; done
  printf 'battery as user %s\n' "$ORDINARY"
  local ended=0
  # The environment of root's boxes is below /var/lib, and open to everybody.
  (cd / && env -i PATH="$PATH" XDG_DATA_HOME="${XDG_DATA_HOME:-/var/lib}" PLANTED_API_KEY=planted \
    setpriv --reuid="$ORDINARY" --regid="$ORDINARY" --clear-groups "$scratch/ktd" box test \
    ${cases[0]+"$scratch/cases.jsonl"}) || ended=$?
  rm -rf "$scratch"
  return "$ended"
}

factors() {
  if [[ -d "$golden/alpha_qt" ]]; then
    python3 tests/scripts/factor_code_golden.py "$ktd" "$golden" "$@"
  else
    printf 'no golden set of factor functions at %s\n' "$golden" >&2
  fi
}

case "${1-}" in
  '') ;;
  --battery) battery ;;
  --factors) factors "${@:2}" ;;
  --whole)
    battery
    KTD_WHOLE=1 cargo test --release --locked -p ktd-tests --test golden systradebench::boxed
    factors
    ;;
  *)
    printf 'unknown option %s: --battery, --factors or --whole\n' "$1" >&2
    exit 2
    ;;
esac
