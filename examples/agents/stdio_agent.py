"""An agent that speaks the line protocol of docs/own-agent.md. Python's standard library, nothing else.

`ktd run examples/agents/stdio.toml` starts it. It must write nothing but answers to standard output.
"""

import json
import sys

import strategy


def call(name, arguments):
    return {"type": "call", "name": name, "arguments": arguments}


def main():
    opening, screen, refused = None, None, []
    for line in sys.stdin:
        told = json.loads(line)
        if told["type"] == "end":
            print("the episode is over:", told["ended"], file=sys.stderr)
            return
        if told["whole"]:
            # A new step, or a step that another process had begun: everything said in it is here.
            opening, screen, refused = None, None, []
        for message in told["messages"]:
            if message["role"] == "user" and "STATE:\n" in message["content"]:
                opening = message["content"]
            elif message["role"] == "tool":
                try:
                    answer = json.loads(message["content"])
                except ValueError:
                    refused += strategy.refused_in(message["content"])
                else:
                    screen = answer if "candidates" in answer else screen
        if screen is None and told["required"] is None:
            word = call("screen_candidates", strategy.SCREEN)
        elif told["required"] is None:
            # Orders are heard once research is over: a word without a call ends it.
            word = {"type": "say", "text": "The screen is all I look at."}
        elif screen is None:
            word = call("submit_action", {"orders": [], "overall_reason": "without a screen there is no view"})
        else:
            word = call("submit_action", strategy.orders(strategy.state_of(opening), screen, refused))
        print(json.dumps(word), flush=True)


main()
