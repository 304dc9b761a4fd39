#!/usr/bin/env python3
"""The checks of `peers.sh`: what servers and libraries that are not ours say of what `ktd` sent, beside its own record.

    peers.py ports COUNT                          free ports of loopback, one a line
    peers.py fetch URL FILE [JSON]                what an address answers, into a file
    peers.py aimock JOURNAL.json RESULTS [CHAOS]  the journal of @copilotkit/aimock against the bundles of a run
    peers.py llmock REQUESTS.json RESULTS         the requests that llmock counted against the bundles of a run
    peers.py faults RESULTS KIND=COUNT...         the model faults of every bundle; ANY as COUNT is one or more
    peers.py whole RESULTS [calm]                 every step of every bundle is covered; with no fault on the way
    peers.py sdk REQUESTS.json                    our requests against the official SDKs' types and their own requests

Exit code 1 tells what differs. All but the last need Python's standard library alone, the last the three SDKs.
"""

import http.server
import json
import socket
import sys
import threading
import urllib.request
from collections import Counter
from pathlib import Path

TOOLS = {
    "get_market_context", "screen_candidates", "get_stock_snapshot", "compare_candidates", "portfolio_state",
    "risk_check", "submit_action",
}
# How each wire's address ends, by the id of the agent that speaks it.
WIRES = {
    "chat": "/chat/completions",
    "responses": "/responses",
    "messages": "/v1/messages",
    "gemini": ":generateContent",
}
# What aimock does to a request, and what it must be counted as.
CHAOS = {"drop": "server_error", "malformed": "not_json", "disconnect": "interrupted", "rateLimit": "rate_limited"}
STATUSES = {429: "rate_limited", 500: "server_error", 502: "bad_gateway", 503: "overloaded", 529: "overloaded"}


class Differs(Exception):
    """Something is not as it must be."""


def must(holds, what):
    if not holds:
        raise Differs(what)


def same(name, left, right):
    difference = first_difference(left, right)
    must(difference is None, f"{name}: {difference}")


def first_difference(left, right, pointer=""):
    """Where two JSON values differ first, as a sentence; None where they are the same."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted(left.keys() | right.keys()):
            if key not in left or key not in right:
                return f"{pointer}/{key} is only in the {'first' if key in left else 'second'}"
            if found := first_difference(left[key], right[key], f"{pointer}/{key}"):
                return found
        return None
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)) and len(left) == len(right):
        pairs = enumerate(zip(left, right))
        return next(filter(None, (first_difference(a, b, f"{pointer}/{n}") for n, (a, b) in pairs)), None)
    return None if left == right else f"{pointer}: {json.dumps(left)[:300]} is not {json.dumps(right)[:300]}"


def bundles(results):
    """(agent's id, counters) of every bundle."""
    found = {}
    for path in sorted(Path(results).glob("cells/*/summary.json")):
        agent = json.loads((path.parent / "header.json").read_text())["agent"]["id"]
        found[agent] = json.loads(path.read_text())["counters"]
    must(found, f"{results} holds no finished bundle")
    return found


def wire_of(path):
    return next(wire for wire, end in WIRES.items() if path.endswith(end))


def aimock(journal_file, results, chaos=None):
    entries = [entry for entry in json.loads(Path(journal_file).read_text()) if entry["method"] == "POST"]
    counters = bundles(results)
    conversations = {}
    for wire in WIRES:
        own = [entry for entry in entries if wire_of(entry["path"]) == wire]
        faults = Counter(CHAOS[entry["response"]["chaosAction"]] for entry in own if "chaosAction" in entry["response"])
        same(f"{wire}: infrastructure faults", counters[wire]["infrastructure_faults"], dict(faults))
        same(f"{wire}: requests", counters[wire]["turns"] + sum(faults.values()), len(own))
        same(f"{wire}: model faults", counters[wire]["model_faults"], {})
        answered = [entry for entry in own if "chaosAction" not in entry["response"]]
        must(all(entry["response"]["status"] == 200 for entry in answered), f"{wire}: a fixture did not match")
        conversations[wire] = [reading(entry["body"]) for entry in answered]
        for read in conversations[wire]:
            check_reading(wire, read)
    for wire, read in conversations.items():
        same(f"{wire}: conversations as aimock reads them, beside those of chat", read, conversations["chat"])
    if chaos:
        total = Counter(entry["response"].get("chaosAction") for entry in entries)
        must(all(total[action] for action in CHAOS), f"chaos did not come to all its deeds: {total}")
    return f"{len(entries)} requests on {len(conversations)} wires"


def reading(body):
    """A request as aimock understood it, without the ids that a server gives."""
    messages = []
    for message in body["messages"]:
        content = message.get("content") or ""
        if isinstance(content, list):
            content = "".join(part.get("text", "") for part in content)
        # Each cell has a mask of its own, so that the numbers of what is shown differ.
        if message["role"] == "tool":
            content = sorted(json.loads(content))
        content = content.split("STATE:")[0] if message["role"] == "user" else content
        calls = [
            (call["function"]["name"], json.loads(call["function"]["arguments"]))
            for call in message.get("tool_calls") or []
        ]
        messages.append([message["role"], content, calls])
    tools = sorted(tool["function"]["name"] for tool in body.get("tools") or [])
    return {"messages": messages, "tools": tools}


def check_reading(wire, read):
    roles = [role for role, _, _ in read["messages"]]
    must(roles[:2] == ["system", "user"], f"{wire}: begins with {roles[:2]}")
    same(f"{wire}: tools", set(read["tools"]) == TOOLS, True)
    for place, (role, _, calls) in enumerate(read["messages"]):
        if calls:
            after = roles[place + 1 : place + 1 + len(calls)]
            must(after == ["tool"] * len(calls), f"{wire}: after a call comes {after}")


def llmock(requests_file, results):
    requests = read_requests(requests_file)
    counters = bundles(results)
    for wire in WIRES:
        own = [request for request in requests if wire_of(request["path"]) == wire]
        faults = Counter(STATUSES[request["status"]] for request in own if request["status"] != 200)
        same(f"{wire}: infrastructure faults", counters[wire]["infrastructure_faults"], dict(faults))
        same(f"{wire}: requests", counters[wire]["turns"] + sum(faults.values()), len(own))
    must(any(request["status"] != 200 for request in requests), "the server made no fault")
    return f"{len(requests)} requests, {sum(request['status'] != 200 for request in requests)} of them refused"


def read_requests(path):
    requests = json.loads(Path(path).read_text())
    requests = requests if isinstance(requests, list) else requests["requests"]
    return [request for request in requests if request["method"] == "POST"]


def faults(results, *expected):
    wanted = dict(pair.split("=") for pair in expected)
    for agent, counters in bundles(results).items():
        found = counters["model_faults"]
        must(set(found) == set(wanted), f"{agent}: {found}")
        for kind, count in wanted.items():
            must(count == "ANY" or found[kind] == int(count), f"{agent}: {found}")
        same(f"{agent}: infrastructure faults", counters["infrastructure_faults"], {})
    return ", ".join(expected)


def whole(results, calm=None):
    steps = Counter()
    for agent, counters in bundles(results).items():
        must(not calm or not counters["infrastructure_faults"], f"{agent}: {counters['infrastructure_faults']}")
        must(counters["uncovered"] == 0, f"{agent}: {counters['uncovered']} steps are uncovered")
        steps.update({kind: counters[kind] for kind in ("submitted", "hold", "fallback")})
        steps["model faults"] += sum(counters["model_faults"].values())
    return ", ".join(f"{count} {kind}" for kind, count in steps.items())


def ports(count):
    sockets = [socket.socket() for _ in range(int(count))]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    return "\n".join(str(one.getsockname()[1]) for one in sockets)


def fetch(url, file, body=None):
    request = urllib.request.Request(url, body and body.encode(), {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as reply:
        answer = reply.read()
    Path(file).write_bytes(answer)
    return f"{len(answer)} bytes"


class Echo(http.server.BaseHTTPRequestHandler):
    """Keeps what it is sent, and answers with the least that an SDK takes."""

    kept = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        Echo.kept.append((self.path, dict(self.headers), json.loads(body)))
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def materialised(value):
    """What pydantic read of a TypedDict, its lazy lists as lists."""
    if isinstance(value, dict):
        return {key: materialised(member) for key, member in value.items()}
    if isinstance(value, (str, bytes, int, float, bool, type(None))):
        return value
    return [materialised(member) for member in value]


def as_documented(emitted):
    """What google-genai sends in the spelling of the documents: it also takes protobuf's, and an empty object."""
    for tool in emitted.get("tools", []):
        for declared in tool["functionDeclarations"]:
            declared["parametersJsonSchema"] = declared.pop("parameters_json_schema")
    return {name: value for name, value in emitted.items() if (name, value) != ("generationConfig", {})}


def sdk(requests_file):
    import anthropic
    import openai
    from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
    from google import genai
    from google.genai import types
    from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
    from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
    from pydantic import TypeAdapter

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}"
    key = "not-a-key"
    openai_client = openai.OpenAI(api_key=key, base_url=f"{base}/v1", max_retries=0)
    anthropic_client = anthropic.Anthropic(api_key=key, base_url=base, max_retries=0)
    options = types.HttpOptions(base_url=base, api_version="v1beta")
    google_client = genai.Client(api_key=key, http_options=options)

    def by_google(body):
        config = {name: body[name] for name in ("tools",) if name in body}
        config |= body.get("generationConfig", {})
        config |= {name: body[name] for name in ("systemInstruction", "toolConfig") if name in body}
        google_client.models.generate_content(
            model="gemini",
            contents=[types.Content.model_validate(content) for content in body["contents"]],
            config=types.GenerateContentConfig.model_validate(config),
        )

    # How each SDK is asked for the same, and the type that it documents.
    emit = {
        "chat": (lambda body: openai_client.chat.completions.create(**body), CompletionCreateParamsNonStreaming),
        "responses": (lambda body: openai_client.responses.create(**body), ResponseCreateParamsNonStreaming),
        "messages": (lambda body: anthropic_client.messages.create(**body), MessageCreateParamsNonStreaming),
        "gemini": (by_google, None),
    }
    # Its lazy lists are read with the adapter that made them.
    types_of = {wire: TypeAdapter(kind) for wire, (_, kind) in emit.items() if kind is not None}
    compared = Counter()
    for request in read_requests(requests_file):
        wire = wire_of(request["path"])
        if request["status"] != 200 or compared[wire] == 12:
            continue
        call, body = emit[wire][0], request["body"]
        if wire in types_of:
            same(f"{wire}: as the SDK's type reads it", materialised(types_of[wire].validate_python(body)), body)
        Echo.kept.clear()
        try:
            call(body)
        except Exception:  # The answer of the echo is none; what counts is what was sent.
            pass
        must(Echo.kept, f"{wire}: the SDK sent nothing for {json.dumps(body)[:300]}")
        path, headers, emitted = Echo.kept[0]
        must(path.endswith(WIRES[wire]), f"{wire}: the SDK asks {path}")
        if wire == "gemini":
            emitted = as_documented(emitted)
        same(f"{wire}: as the SDK sends it", emitted, body)
        must(key in json.dumps(headers), f"{wire}: {headers}")
        compared[wire] += 1
    must(all(compared[wire] for wire in WIRES), f"compared {dict(compared)}")
    server.shutdown()
    return ", ".join(f"{count} {wire}" for wire, count in compared.items())


def main():
    command, *arguments = sys.argv[1:]
    commands = {one.__name__: one for one in (ports, fetch, aimock, llmock, faults, whole, sdk)}
    try:
        print(commands[command](*arguments))
    except Differs as difference:
        print(f"differs: {difference}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
