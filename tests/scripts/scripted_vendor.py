#!/usr/bin/env python3
"""A vendor on loopback that answers Chat Completions at once, so that shipped experiments can be run whole without a model.

usage: scripted_vendor.py PORT [SECONDS]          (standard library alone; it serves until it is stopped, each answer after so long)

An answer depends on the bytes of the request alone. In an episode it screens once, looks at a stock, and buys and sells a
few of those it saw; any other call that is asked for is made up from the schema of its arguments; else it answers in prose.
"""
import asyncio
import functools
import hashlib
import json
import random
import re
import sys

MOST_HELD = 15


def texts(messages):
    return [message["content"] for message in messages if isinstance(message.get("content"), str)]


def state(messages):
    for text in reversed(texts(messages)):
        if "STATE:" in text:
            found, _ = json.JSONDecoder().raw_decode(text.split("STATE:")[-1].strip())
            return found
    return {}


def column(table, name):
    table = table if isinstance(table, dict) else {}
    places = [place for place, title in enumerate(table.get("columns", [])) if title == name]
    return [row[places[0]] for row in table.get("rows", [])] if places else []


def seen_stocks(messages):
    words = re.findall(r'"((?:asset|stock)_(?!id\b)\w+|S[HZ]\d{6}|BJ\d{6})"', " ".join(texts(messages[1:])))
    return list(dict.fromkeys(words))


def trade(messages, draw):
    now = state(messages)
    held = column((now.get("account") or {}).get("holdings"), "stock_id")
    orders = []
    if held and draw.random() < 0.3:
        orders.append({"stock_id": held[0], "side": "SELL", "target_weight": 0.0, "confidence": 0.6, "reason": "It has run its course."})
    wanted = [stock for stock in seen_stocks(messages) if stock not in held]
    for stock in wanted[: max(0, min(3, MOST_HELD - len(held)))]:
        orders.append({"stock_id": stock, "side": "BUY", "target_weight": 0.05, "confidence": 0.6, "reason": "It ranks high."})
    return {"orders": orders, "overall_reason": "A scripted rotation."}


def made_up(schema, draw):
    """A value that a JSON Schema takes: the least of everything."""
    schema = (schema.get("anyOf") or schema.get("oneOf") or [schema])[0]
    if "const" in schema or "enum" in schema:
        return schema.get("const", (schema.get("enum") or [None])[0])
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: made_up(schema["properties"][name], draw) for name in schema.get("required", [])}
    if kind == "array":
        return [made_up(schema.get("items", {}), draw) for _ in range(max(1, schema.get("minItems", 0)))]
    if kind in ("integer", "number"):
        return schema.get("minimum", 0)
    if kind == "boolean":
        return draw.random() < 0.5
    return f"20{draw.randint(10, 25)}-0{draw.randint(1, 9)}-1{draw.randint(0, 9)}"


def call(body, draw):
    """The name and the arguments of the call that is made; none where it is enough to speak."""
    tools = {tool["function"]["name"]: tool["function"] for tool in body.get("tools") or []}
    choice = body.get("tool_choice")
    forced = choice["function"]["name"] if isinstance(choice, dict) else None
    if not forced and len(tools) == 1:
        forced = next(iter(tools))
    messages = body["messages"]
    if forced == "submit_action" and "orders" in tools[forced]["parameters"].get("properties", {}):
        return forced, trade(messages, draw)
    if forced:
        return forced, made_up(tools[forced].get("parameters", {}), draw)
    turns = sum(message["role"] == "assistant" for message in messages)
    if turns == 0 and "screen_candidates" in tools:
        return "screen_candidates", {"factors": [{"factor": "MOM_12_1", "direction": "high", "weight": 1.0}], "top_k": 10}
    stocks = seen_stocks(messages)
    if turns == 1 and stocks and "get_stock_snapshot" in tools:
        return "get_stock_snapshot", {"stock_id": stocks[0], "lookback": 5}
    return None


def answer(raw):
    body = json.loads(raw)
    digest = hashlib.sha256(raw).hexdigest()
    made = call(body, random.Random(digest))
    message = {"role": "assistant", "content": None if made else "I have seen enough."}
    if made:
        function = {"name": made[0], "arguments": json.dumps(made[1])}
        message["tool_calls"] = [{"id": "call_" + digest[:12], "type": "function", "function": function}]
    tokens = {"prompt_tokens": len(raw) // 4, "completion_tokens": 40, "total_tokens": len(raw) // 4 + 40}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if made else "stop"}
    return {"id": "made-" + digest[:12], "object": "chat.completion", "created": 0, "model": body["model"], "choices": [choice], "usage": tokens}


async def serve(seconds, answered, reader, writer):
    """A connection on which each request is answered after so many seconds with what `answered` makes of its bytes."""
    try:
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            length = re.search(r"(?im)^content-length: *(\d+)", head)
            raw = await reader.readexactly(int(length.group(1))) if length else b""
            await asyncio.sleep(seconds)
            reply = json.dumps(answered(raw) if head.startswith("POST") else {}).encode()
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(reply) + reply)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main():
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
    server = await asyncio.start_server(functools.partial(serve, seconds, answer), "127.0.0.1", int(sys.argv[1]), limit=1 << 24)
    # Whoever started it knows by this line that it can be asked, and at which port where 0 was asked for.
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
