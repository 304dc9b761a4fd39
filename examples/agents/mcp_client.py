"""An MCP client that trades an episode, with the official Python SDK (`pip install "mcp>=2"`).

    python3 mcp_client.py ktd mcp mcp.toml

The arguments are the command that starts the server. An optional `--calls N` first makes the client leave after so
many tool calls, wherever the episode stands; the same command continues it.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters

import strategy

STEP = "ktd://step"


def text(result):
    return "\n\n".join(block.text for block in result.content)


class Limit(Exception):
    """The client was told to leave here."""


class Trader:
    def __init__(self, client, calls_left):
        self.client = client
        self.calls_left = calls_left

    async def call(self, name, arguments):
        if self.calls_left == 0:
            raise Limit
        self.calls_left -= 1
        result = await self.client.call_tool(name, arguments)
        return result.is_error, text(result)

    async def step(self, opening):
        """Trades one step and returns what was said of it, with the opening message of the next one behind it."""
        state, screen, refused = strategy.state_of(opening), None, []
        is_error, answer = await self.call("screen_candidates", strategy.SCREEN)
        if not is_error:
            screen = json.JSONDecoder().raw_decode(answer)[0]
        while True:
            if screen is None:
                action = {"orders": [], "overall_reason": "without a screen there is no view"}
            else:
                action = strategy.orders(state, screen, refused)
            is_error, answer = await self.call("submit_action", action)
            # An error without the next opening is feedback: the step goes on, and the list may be mended. The first call of
            # a step is answered so too: it ends research, and its orders do not count.
            if not is_error or "STATE:\n" in answer or "episode is over" in answer:
                return answer
            refused += strategy.refused_in(answer)


async def trade(server, calls_left):
    async with Client(StdioServerParameters(command=server[0], args=server[1:])) as client:
        print("protocol:", client.protocol_version)
        print("tools:", ", ".join(tool.name for tool in (await client.list_tools()).tools))
        print("instructions:", (client.instructions or "").splitlines()[0][:100])
        opening = (await client.read_resource(STEP)).contents[0].text
        trader = Trader(client, calls_left)
        while "STATE:\n" in opening:
            state = strategy.state_of(opening)
            print("step", state["step"])
            try:
                opening = await trader.step(opening)
            except Limit:
                print("leaving in the middle of it")
                return
        print(opening)


def main():
    arguments, calls_left = sys.argv[1:], -1
    if arguments[:1] == ["--calls"]:
        calls_left, arguments = int(arguments[1]), arguments[2:]
    if not arguments:
        sys.exit(__doc__)
    asyncio.run(trade(arguments, calls_left))


main()
