#!/usr/bin/env bash
# Sets up the Python environment of boxes and looks whether a box holds on this machine, so that the tests of boxes can
# run. Exit code 77: they are passed over, for the reason above.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

cargo build --release --locked --bin ktd
readonly SKIPPED=77
ktd="${CARGO_TARGET_DIR:-target}/release/ktd"
if ! "$ktd" box setup; then
  printf 'the Python environment of boxes cannot be set up here: it needs CPython 3.11 to 3.13 and a package index\n' >&2
  exit "$SKIPPED"
fi
if ! "$ktd" box doctor; then
  printf 'no box holds on this machine: its tests are passed over\n' >&2
  exit "$SKIPPED"
fi

# `--whole`: the golden sets of strategies and of factor functions, every case. An hour of one core; the tests take a part.
if [[ "${1-}" == --whole ]]; then
  KTD_WHOLE=1 cargo test --release --locked -p ktd-tests --test golden systradebench::boxed
  golden="${KTD_GOLDEN:-../shared/golden}"
  if [[ -d "$golden/alpha_qt" ]]; then
    python3 tests/scripts/factor_code_golden.py "$ktd" "$golden"
  else
    printf 'no golden set of factor functions at %s\n' "$golden" >&2
  fi
fi
