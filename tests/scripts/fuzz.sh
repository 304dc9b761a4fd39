#!/usr/bin/env bash
# Fuzzes the targets of tests/fuzz, one after the other, each from the inputs that the tests start from.
#
#   tests/scripts/fuzz.sh                     every target
#   tests/scripts/fuzz.sh events header       these
#   FUZZ_SECONDS=60 tests/scripts/fuzz.sh     so long each (default: 600)
#
# Needs a C++ compiler and `cargo install cargo-fuzz`; no nightly compiler. A finding is written to
# tests/fuzz/artifacts/TARGET and ends the script: CONTRIBUTING.md says what to do with it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly SECONDS_EACH="${FUZZ_SECONDS:-600}"
readonly MEMORY_MB=2048
readonly INPUT_SECONDS_MAX=10
readonly INPUT_BYTES_MAX=65536

need() {
  printf 'missing: %s\nhint: %s\n' "$1" "$2" >&2
  exit 2
}
cargo fuzz --version >/dev/null 2>&1 || need cargo-fuzz "cargo install cargo-fuzz"
command -v c++ >/dev/null || need "a C++ compiler" "install g++ or clang"

targets=("$@")
if ((${#targets[@]} == 0)); then
  for file in tests/fuzz/targets/*.rs; do
    targets+=("$(basename "$file" .rs)")
  done
fi

# The versions that are tested are those that are fuzzed; what the fuzzer needs besides is added to the copy.
cp Cargo.lock tests/fuzz/Cargo.lock
KTD_FUZZ_CORPUS=tests/fuzz/corpus cargo test --locked -q -p ktd-tests --test program fuzz::inputs

for target in "${targets[@]}"; do
  mkdir -p "tests/fuzz/artifacts/$target" "tests/fuzz/corpus/$target"
  # Nothing here is unsafe code of ours: without a sanitizer the stable compiler does, and twice as many inputs are tried.
  nice -n 19 cargo fuzz run --fuzz-dir tests/fuzz --sanitizer none "$target" "tests/fuzz/corpus/$target" -- \
    -max_total_time="$SECONDS_EACH" -rss_limit_mb="$MEMORY_MB" -timeout="$INPUT_SECONDS_MAX" \
    -max_len="$INPUT_BYTES_MAX" -artifact_prefix="tests/fuzz/artifacts/$target/" -print_final_stats=1 -verbosity=0
done
