#!/bin/sh
# Times the factor model beside Python on the same sizes, round by round on this machine, and prints ratios.
#
# usage: tests/scripts/attribution_peer.sh [PYTHON]
# PYTHON (default python3) must have numpy, pandas and statsmodels:
# `python3 -m venv V && V/bin/pip install numpy pandas statsmodels`. Ratios are of medians; each round times all of them
# one after the other, so that what else runs on the machine slows all alike. One thread each.
set -eu
python=${1:-python3}
cd "$(dirname "$0")/../.."
if ! "$python" -c 'import numpy, pandas, statsmodels' 2>/dev/null; then
    echo "skipped: $python has not all of numpy, pandas and statsmodels"
    exit 0
fi
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cargo bench --quiet -p ktd-attribution --bench fit --bench pipeline --no-run
for round in 1 2 3; do
    for bench in fit pipeline; do
        "$python" tests/scripts/attribution_peer.py "$bench" >"$work/$bench.$round.json"
        CRITERION_HOME=$work/$round cargo bench --quiet -p ktd-attribution --bench "$bench" -- --noplot >/dev/null 2>&1
    done
done
"$python" - "$work" <<'END'
import glob, json, pathlib, statistics, sys

work = pathlib.Path(sys.argv[1])


def ours(bench, round):
    estimates = glob.glob(str(work / str(round) / bench / "*" / "new" / "estimates.json"))
    return json.loads(pathlib.Path(estimates[0]).read_text())["median"]["point_estimate"] / 1e6


rounds = (1, 2, 3)
peers = {bench: [json.loads((work / f"{bench}.{round}.json").read_text()) for round in rounds] for bench in ("fit", "pipeline")}
own = {bench: [ours(bench, round) for round in rounds] for bench in peers}
whole = lambda round: sum(part["median"] for part in peers["pipeline"][round].values()) + peers["fit"][round]["statsmodels WLS, a loop over days"]["median"]
for bench in own:
    print(f"{bench}: ours {', '.join(f'{time:.2f}' for time in own[bench])} ms")
for name in peers["fit"][0]:
    times = [peer[name]["median"] for peer in peers["fit"]]
    ratio = statistics.median(time / ours for time, ours in zip(times, own["fit"]))
    print(f"fit: {name}: {', '.join(f'{time:.1f}' for time in times)} ms, ratio {ratio:.1f}")
for name in peers["pipeline"][0]:
    times = ", ".join(f"{peer[name]['median']:.1f}" for peer in peers["pipeline"])
    print(f"pipeline: {name}: {times} ms")
ratio = statistics.median(whole(round) / own["pipeline"][round] for round in range(3))
print(f"pipeline: pandas and statsmodels together, ratio {ratio:.1f}")
END
