#!/bin/sh
# Times Qlib and the profile `qlib` on the same panel and signal, one after the other on this machine.
#
# usage: tests/scripts/peer_qlib.sh [PYTHON]
# PYTHON (default python3) must have pyqlib 0.9.7: `python3 -m venv V && V/bin/pip install pyqlib==0.9.7`.
# The golden set's own scripts make the panel (300 instruments x 548 days) and time Qlib; they lie below KTD_GOLDEN,
# by default ../shared/golden. Compare CPU times where the machine is not idle.
set -eu
python=${1:-python3}
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
golden=$(cd "${KTD_GOLDEN:-../shared/golden}" 2>/dev/null && pwd || true)
scripts=$golden/qlib/scripts
if [ ! -f "$scripts/time_qlib.py" ]; then
    echo "skipped: no golden set of Qlib (set KTD_GOLDEN)"
    exit 0
fi
if ! "$python" -c 'import qlib' 2>/dev/null; then
    echo "skipped: $python has no pyqlib"
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$python" "$scripts/gen_panel.py" "$work/panel" 300 548 11 --nocsv
cargo bench --quiet -p ktd-tests --bench peer --no-run
for round in 1 2 3; do
    echo "round $round"
    # From the working directory, because Qlib leaves a folder `mlruns` where it runs.
    (cd "$work" && PYTHONHASHSEED=0 "$python" "$scripts/time_qlib.py" panel 20 2 2>"$work/qlib.log" || { cat "$work/qlib.log"; exit 1; })
    KTD_PEER_PANEL=$work/panel cargo bench --quiet -p ktd-tests --bench peer
done
