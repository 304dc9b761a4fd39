#!/usr/bin/env python3
"""What each rule of the exchange is worth: built-in agents and a trained baseline on `long` and on the ten windows, one key at a time
at its other value, in basis points a year against the default rules. Prints the table of docs/data-card.md.

    python3 tests/scripts/exchange_table.py KTD PANEL OUT [AGENT ...]

KTD is the program, PANEL a panel that covers the windows (`results/csi300.ktdp` of `real_panel.sh`), OUT a folder for the results: what
is finished in it is not run again. `linear` is `ktd baseline linear`, trained on the panel and traded by the strategy that is named."""

import json
import math
import pathlib
import statistics
import subprocess
import sys

DAYS_A_YEAR = 252
# `random` is none of them: its dice hang on the text of a prompt, which tells some of the rules.
AGENTS = ["equal-weight", "momentum", "composite", "linear-top20", "linear-topk-dropout"]
LEARNER = "linear"
SCORES = f"{LEARNER}.csv"
WINDOWS = [f"W{place}" for place in range(1, 11)] + ["long"]
# Name of the setting, and what it changes.
SETTINGS = [
    ("default", {}),
    ("bse_limits = half_up", {"bse_limits": "half_up"}),
    ("limit_open = blocked", {"limit_open": "blocked"}),
    ("no_limit_beyond = false", {"no_limit_beyond": False}),
    ("auction_cash = before", {"auction_cash": "before"}),
    ("fees = paper", {"fees": "paper"}),
    ("dividend_tax = none", {"dividend_tax": "none"}),
    ("commission_bps = 2.5", {"commission_bps": "2.5"}),
    ("max_volume_share = 0.01", {"max_volume_share": "0.01"}),
    (
        "all old values",
        {
            "bse_limits": "half_up",
            "limit_open": "blocked",
            "no_limit_beyond": False,
            "fees": "paper",
            "dividend_tax": "none",
        },
    ),
]


def experiment(name, rules, panel, out, agents):
    """An experiment file: every agent on every window, nothing masked."""
    keys = ", ".join(f"{key} = {json.dumps(value)}" for key, value in rules.items())
    windows = ", ".join(f'{{ id = "{window}" }}' for window in WINDOWS)
    rows = "\n".join(f'[[agents]]\nid = "{agent}"\n{player(agent, out.parent)}\n' for agent in agents)
    return (
        f'name = "{name}"\npanel = {json.dumps(str(panel))}\noutput = {json.dumps(str(out))}\n'
        f'windows = [{windows}]\nmasks = [{{ level = "bright" }}]\nmodes = ["open-research"]\nseeds = [1]\n'
        f"rules = {{ {keys} }}\n\n{rows}"
    )


def player(agent, folder):
    """The lines of an agent: a built-in one, or the scores of the baseline with a strategy."""
    if not agent.startswith(f"{LEARNER}-"):
        return f'builtin = "{agent}"'
    strategy = agent.removeprefix(f"{LEARNER}-")
    return f'control = "signals"\nscores = {json.dumps(str(folder / SCORES))}\nstrategy = "{strategy}"'


def yearly(folder, agents):
    """Log return a year by agent: on `long`, and the mean over the ten windows."""
    found = {}
    for summary in folder.glob("cells/*/summary.json"):
        header = json.loads((summary.parent / "header.json").read_text())
        total = json.loads(summary.read_text())["account"]["total_return"]["value"]
        years = header["window"]["steps"] / DAYS_A_YEAR
        found[header["agent"]["id"], header["window"]["id"]] = math.log1p(total) / years
    assert len(found) == len(agents) * len(WINDOWS), (folder, len(found))
    return {
        agent: (found[agent, "long"], statistics.fmean(found[agent, window] for window in WINDOWS[:-1]))
        for agent in agents
    }


def main(ktd, panel, out, *agents):
    agents = agents or AGENTS
    panel, out = pathlib.Path(panel).resolve(), pathlib.Path(out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    if not (out / SCORES).exists():
        command = [ktd, "baseline", LEARNER, str(panel), "--out", str(out / SCORES)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    rows = []
    for place, (setting, rules) in enumerate(SETTINGS):
        folder = out / f"setting-{place}"
        file = out / f"setting-{place}.toml"
        file.write_text(experiment(f"exchange-{place}", rules, panel, folder, agents))
        subprocess.run([ktd, "run", str(file)], check=True, stdout=subprocess.DEVNULL)
        rows.append((setting, yearly(folder, agents)))
    base = rows[0][1]
    heads = [f"{agent}, {part}" for agent in agents for part in ("`long`", "ten windows")]
    print("| setting | " + " | ".join(heads) + " |")
    print("|---" * (len(heads) + 1) + "|")
    print("| default, % a year | " + " | ".join(f"{100 * value:.2f}" for agent in agents for value in base[agent]) + " |")
    for setting, values in rows[1:]:
        changes = [
            f"{1e4 * (value - basis):+.0f}"
            for agent in agents
            for value, basis in zip(values[agent], base[agent])
        ]
        print(f"| `{setting}` | " + " | ".join(changes) + " |")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
