#!/usr/bin/env python3
"""Deals the orders of this example with Qlib itself and compares them with what `ktd simulate` wrote.

    pip install pyqlib==0.9.7
    python3 examples/qlib/compare.py results/qlib-example out

Exit code 1 where a float differs in its last bit.
"""
import csv
import json
import sys
from pathlib import Path

try:
    import qlib
except ImportError:
    sys.exit("Qlib is not installed, which deals these orders here: pip install pyqlib==0.9.7")
from qlib.backtest import backtest
from qlib.backtest.decision import Order, TradeDecisionWO
from qlib.backtest.exchange import Exchange
from qlib.backtest.executor import SimulatorExecutor
from qlib.strategy.base import BaseStrategy

HERE = Path(__file__).parent


class Noting(Exchange):
    """Qlib's exchange, which notes each deal: amount, value and cost."""

    deals: list = []

    def deal_order(self, order, *arguments, **named):
        value, cost, price = super().deal_order(order, *arguments, **named)
        self.deals.append([float(order.deal_amount), float(value), float(cost)])
        return value, cost, price


class Script(BaseStrategy):
    """Orders of a file, in shares as traded."""

    def __init__(self, orders: list, **named):
        super().__init__(**named)
        self.orders = orders

    def generate_trade_decision(self, execute_result=None):
        begin, end = self.trade_calendar.get_step_time()
        decided = []
        for row in self.orders:
            if row["date"] != str(begin.date()):
                continue
            symbol = row["symbol"]
            if row["shares"] == "ALL":
                amount = self.trade_position.get_stock_amount(symbol)
            else:
                amount = float(row["shares"]) / self.trade_exchange.get_factor(symbol, begin, end)
            direction = Order.BUY if row["side"] == "BUY" else Order.SELL
            decided.append(Order(stock_id=symbol, amount=amount, direction=direction, start_time=begin, end_time=end))
        return TradeDecisionWO(decided, self)


def main() -> int:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    data, out = (Path(argument) for argument in sys.argv[1:3])
    run = json.loads((HERE / "run.json").read_text())
    with open(HERE / "orders.csv", newline="") as file:
        orders = list(csv.DictReader(file))
    with open(out / "fills.csv", newline="") as file:
        ours = [[float(row[key]) for key in ("deal_amount_adj", "value", "cost")] for row in csv.DictReader(file)]
    qlib.init(provider_uri=str(data), region="cn", kernels=1, logging_level=50)
    exchange = Noting(
        freq="day", start_time=run["start"], end_time=run["end"], codes="all", deal_price="$" + run["deal_price"],
        limit_threshold=run["limit"], open_cost=run["open_cost"], close_cost=run["close_cost"], min_cost=run["min_cost"],
    )
    executor = SimulatorExecutor(time_per_step="day", generate_portfolio_metrics=True)
    backtest(
        start_time=run["start"], end_time=run["end"], strategy=Script(orders), executor=executor, benchmark=run["benchmark"],
        account=run["account"], exchange_kwargs={"exchange": exchange},
    )
    equal = sum(one == other for one, other in zip(ours, Noting.deals))
    print(f"{equal} of {len(orders)} orders are dealt alike, to the last bit")
    return 0 if equal == len(orders) == len(ours) == len(Noting.deals) else 1


if __name__ == "__main__":
    sys.exit(main())
