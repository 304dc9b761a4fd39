#!/usr/bin/env bash
# Starts `ktd view` over results and drives every page in a headless browser as people will: filters, steps by key, a search,
# a comparison, certificate and board; an episode that appears while a page is open. Saves screenshots at three widths, light
# and dark, to look at, and fails on a console message, a request off this machine, a page wider than its screen, a planted
# script that ran, a page that is not there, a stream of events that a hidden page holds, a keyboard that loses its place or
# does not get everywhere, a report without its frame, and a serious finding of axe-core, where npm can fetch that package.
#
#   tests/scripts/viewer_shots.sh target/release/ktd results/demo OUT_DIR
#   CHROMIUM=/path/to/chrome tests/scripts/viewer_shots.sh ...    another browser of that family
#   STUDIES=DIR tests/scripts/viewer_shots.sh ...                 studies of other kinds that are there (default: two are run)
#
# Exits 0 when nothing was found, 1 when something was, 2 on bad arguments, 77 without a browser or Node.js.
set -euo pipefail

if (($# != 3)) || [[ ! -x $1 || ! -d $2 ]]; then
  printf 'usage: %s KTD RESULTS_DIR OUT_DIR\n' "$0" >&2
  exit 2
fi

browser="${CHROMIUM:-}"
for name in chromium chromium-browser google-chrome chrome; do
  [[ -n "$browser" ]] || browser="$(command -v "$name" || true)"
done
if [[ -z "$browser" ]] || ! command -v node >/dev/null; then
  printf 'skipped: no headless Chromium or no Node.js here\nhint: install the packages chromium and nodejs\n' >&2
  exit 77
fi

here="$(dirname "${BASH_SOURCE[0]}")"
profile="$(mktemp -d)"
# Beside the results lies a bundle whose every text is hostile.
header="$(find "$2" -name header.json -not -path '*/private/*' -print -quit)"
node "$here/viewer_planted.mjs" "$(dirname "$header")" "$profile/planted/cells/one"
studies="${STUDIES:-$profile/studies}"
if [[ -z "${STUDIES:-}" ]]; then
  for file in alpha_demo leak_demo; do
    "$1" run "$here/../../runs/configs/$file.toml" --out "$studies/$file" --quiet >/dev/null
  done
fi
axe=""
if npm install --prefix "$profile/axe" --no-save --no-audit --no-fund --ignore-scripts axe-core@4 >/dev/null 2>&1; then
  axe="$profile/axe/node_modules/axe-core/axe.min.js"
else
  printf 'skipped: npm could not fetch axe-core, so its rules were not tried\n' >&2
fi
address="$(mktemp)"
"$1" view "$2" "$profile/planted" "$studies" --no-open --port 0 >"$address" &
viewer=$!
# Helpers of the browser may outlive it for a moment.
trap 'kill "$viewer" 2>/dev/null || true; wait "$viewer" 2>/dev/null || true; rm -f -- "$address"; rm -rf -- "$profile" 2>/dev/null || { sleep 1; rm -rf -- "$profile"; }' EXIT
for _ in $(seq 100); do
  grep -q '^http' "$address" && break
  sleep 0.1
done
mkdir -p -- "$3"
node "$here/viewer_shots.mjs" "$browser" "$profile/browser" "$(grep -m1 '^http' "$address")" "$(realpath -- "$3")" "$profile/planted/cells" "$axe"
