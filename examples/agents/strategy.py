"""What both example agents trade: the names with the strongest momentum, in equal weights."""

import json

SCREEN = {"factors": [{"factor": "MOM_12_1", "direction": "high", "weight": 1.0}], "top_k": 10}


def state_of(opening):
    """The STATE of the message that opens a step: the JSON on the line after `STATE:`."""
    return json.loads(opening.rsplit("STATE:\n", 1)[1].splitlines()[0])


def column(table, name):
    """One column of a {columns, rows} table; an empty table is an empty list, and columns without values are left out."""
    if not table or name not in table["columns"]:
        return []
    place = table["columns"].index(name)
    return [row[place] for row in table["rows"]]


def orders(state, screen, refused=()):
    """Sells what is held and no longer strong, buys what is strong and not held."""
    limits = state["limits"]
    held = column(state["account"]["holdings"], "stock_id")
    strong = [name for name in column(screen["candidates"], "stock_id") if name not in refused]
    strong = strong[: limits["max_positions"]]
    weight = round(min(0.9 / max(len(strong), 1), limits["max_single_weight"]), 4)
    order = {"confidence": 0.5, "reason": "rank by twelve-month momentum"}
    sells = [
        {"stock_id": name, "side": "SELL", "target_weight": 0, **order}
        for name in held
        if name not in strong and name not in refused
    ]
    buys = [
        {"stock_id": name, "side": "BUY", "target_weight": weight, **order}
        for name in strong
        if name not in held
    ]
    return {"orders": sells + buys, "overall_reason": "holding the names with the strongest momentum"}


def refused_in(feedback):
    """The names whose orders the feedback on a submission rejects; the JSON stands inside a sentence."""
    start = feedback.find("{")
    try:
        value, _ = json.JSONDecoder().raw_decode(feedback[max(start, 0):])
    except ValueError:
        return []
    table = value.get("orders")
    rows = zip(column(table, "stock_id"), column(table, "result"))
    return [name for name, result in rows if result == "rejected"]
