#!/bin/sh
# Outside agents for real: a Python program that speaks lines, and MCP clients that are not ours, each trading three
# blinded days of the synthetic market; then verification and replay of every bundle, without them.
# Manual, not in CI: it installs the official Python SDK (and, with npm, the official TypeScript SDK) below a temporary
# directory.
#
# KTD names the program.
set -eu
cd "$(dirname "$0")/../.."
ktd=${KTD:-${CARGO_TARGET_DIR:-target}/release/ktd}
test -x "$ktd" || { echo "no program: cargo build --release -p ktd-cli, or set KTD" >&2; exit 2; }
ktd=$(cd "$(dirname "$ktd")" && pwd)/$(basename "$ktd")
agents=$PWD/examples/agents
scripts=$PWD/tests/scripts

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM

echo "== lines over pipes"
"$ktd" run "$agents/stdio.toml" --out "$scratch/lines"

echo "== MCP, the Python SDK: leaves after three calls, comes back"
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install -q --disable-pip-version-check "mcp>=2,<3"
client="$scratch/venv/bin/python $agents/mcp_client.py"
$client --calls 3 "$ktd" mcp "$agents/mcp.toml" --out "$scratch/python"
$client "$ktd" mcp "$agents/mcp.toml" --out "$scratch/python"

if command -v npm >/dev/null; then
    echo "== MCP, the TypeScript SDK: wrong calls first, then holds"
    cp "$scripts/own_agents_mcp.mjs" "$scratch/client.mjs"
    (cd "$scratch" && npm install --silent --no-fund --no-audit --ignore-scripts @modelcontextprotocol/sdk@1)
    node "$scratch/client.mjs" "$ktd" mcp "$agents/mcp.toml" --out "$scratch/typescript"
else
    echo "skipped: no npm for the TypeScript SDK"
fi

echo "== without the agents"
for bundle in "$scratch"/*/cells/*; do
    "$ktd" verify "$bundle"
    "$ktd" replay "$bundle"
done
