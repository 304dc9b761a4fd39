#!/usr/bin/env python3
"""What each open episode of 548 steps with 20 calls a step adds to the memory of `ktd run`, beyond panel and factors.

usage: open_cells.py KTD     (standard library alone)

The same experiment is run with 1, 4 and 16 places for open cells, against a vendor on loopback that answers at once, and ended when
the first has gone 100 of its 548 steps. What a cell adds is the difference of the largest resident sizes: panel, factors and program
are there once in each.
"""
import asyncio
import functools
import json
import pathlib
import subprocess
import sys
import tempfile

import scripted_vendor

CALLS = 20
STEPS = 100
PLACES = (1, 4, 16)
EXPERIMENT = """
name = "open"
output = "open"
parallel_cells = {places}
seeds = {seeds}
synthetic = {{ seed = 5, names = 300, days = 700 }}
masks = [{{ level = "bright" }}]
modes = ["open-research"]
windows = [{{ id = "w", last_days = 548 }}]
session = {{ max_tool_calls = {calls} }}
agents = [{{ id = "scripted", model = "m", base_url = "http://127.0.0.1:{port}/v1", max_output_tokens = 2000 }}]
"""


def reply_to(raw):
    """A call of the longest answer as often as a model may, with a sentence beside it; then a hold."""
    said = sum(message["role"] == "assistant" for message in json.loads(raw)["messages"])
    name, arguments = "get_market_context", {}
    if said >= CALLS:
        name, arguments = "submit_action", {"orders": [], "overall_reason": "Nothing is to be done."}
    call = {"id": f"call_{said}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    message = {"role": "assistant", "content": f"Look {said} at the market before anything is decided.", "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    tokens = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    return {"id": f"reply-{said}", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": tokens}


def resident_mb(process):
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def steps_of(folder):
    return [path.read_text().count('"step_begin"') for path in folder.glob("open/**/events.jsonl")]


async def largest(ktd, port, places):
    """The most that a run with so many open cells held, MB, and the steps that each of them began."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        seeds = list(range(1, max(PLACES) + 1))
        (folder / "open.toml").write_text(EXPERIMENT.format(places=places, seeds=seeds, calls=CALLS, port=port))
        run = await asyncio.create_subprocess_exec(
            ktd, "run", "open.toml", "--quiet", cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        while run.returncode is None and max(steps_of(folder), default=0) < STEPS:
            await asyncio.sleep(0.2)
        if run.returncode is not None:
            sys.exit(f"ktd run ended with {run.returncode}: {(await run.stderr.read()).decode()}")
        held = resident_mb(run.pid)
        run.kill()
        await run.wait()
        return held, steps_of(folder)


async def main():
    ktd = str(pathlib.Path(sys.argv[1]).resolve())
    server = await asyncio.start_server(functools.partial(scripted_vendor.serve, 0.0, reply_to), "127.0.0.1", 0, limit=1 << 24)
    port = server.sockets[0].getsockname()[1]
    first = None
    print("open cells     steps of each   largest resident, MB   a cell more, MB")
    for places in PLACES:
        held, steps = await largest(ktd, port, places)
        first = first or held
        more = f"{(held - first) / (places - 1):.1f}" if places > 1 else "-"
        print(f"{places:10}   {min(steps):6} to {max(steps):4}   {held:20.1f}   {more:>15}", flush=True)


if __name__ == "__main__":
    asyncio.run(main())
