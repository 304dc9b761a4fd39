#!/usr/bin/env bash
# Opens a leaderboard's page in a headless browser as people will: light, dark, on a phone, with everything unfolded and
# printed; without scripts. Saves screenshots and the PDF to look at, and fails on a console message, a request for
# anything but the page itself, a page wider than its screen, and text that overlaps other text or leaves its picture.
#
#   tests/scripts/page_shots.sh board/index.html OUT_DIR
#   CHROMIUM=/path/to/chrome tests/scripts/page_shots.sh ...    another browser of that family
#
# Exits 0 when nothing was found, 1 when something was, 2 on bad arguments, 77 without a browser or Node.js.
set -euo pipefail

if (($# != 2)) || [[ ! -f $1 ]]; then
  printf 'usage: %s PAGE.html OUT_DIR\n' "$0" >&2
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

profile="$(mktemp -d)"
# Helpers of the browser may outlive it for a moment.
trap 'rm -rf -- "$profile" 2>/dev/null || { sleep 1; rm -rf -- "$profile"; }' EXIT
mkdir -p -- "$2"
node "$(dirname "${BASH_SOURCE[0]}")/page_shots.mjs" "$browser" "$profile" "$(realpath -- "$1")" "$(realpath -- "$2")"
