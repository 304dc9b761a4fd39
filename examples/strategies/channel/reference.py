"""The channel follower as its document means it: what other programs are measured against."""

import pandas as pd

TRADES = [
    "trade_id", "symbol", "side", "entry_datetime", "exit_datetime", "entry_price", "exit_price",
    "quantity", "pnl", "reason_entry", "reason_exit",
]


class Strategy:
    def __init__(self, config):
        self.entry_bars = config["N"]
        self.exit_bars = config["M"]

    def run(self, market_data, initial_capital):
        bars = market_data
        upper = bars["high"].rolling(self.entry_bars, min_periods=self.entry_bars).max().shift(1)
        lower = bars["low"].rolling(self.exit_bars, min_periods=self.exit_bars).min().shift(1)
        capital = float(initial_capital)
        held = None
        trades, audit = [], []
        for bar in range(len(bars)):
            time, close = bars["datetime"].iloc[bar], float(bars["close"].iloc[bar])
            signal = "NONE"
            if held is not None and close < lower.iloc[bar]:
                quantity, price, since = held
                profit = quantity * (close - price)
                capital += profit
                trades.append([len(trades) + 1, "A", "LONG", since, time, price, close, quantity,
                               profit, "CHANNEL_UP", "CHANNEL_DOWN"])
                held, signal = None, "EXIT"
            elif held is None and close > upper.iloc[bar] and lower.iloc[bar] == lower.iloc[bar]:
                held, signal = (capital / close, close, time), "LONG"
            equity = capital + (held[0] * (close - held[1]) if held else 0.0)
            audit.append({
                "datetime": time,
                "close": close,
                "signal": signal,
                "position_state": "LONG" if held else "FLAT",
                "exposure": held[0] * close / equity if held else 0.0,
                "equity": equity,
                "constraint_check": "OK",
                "upper": upper.iloc[bar],
                "lower": lower.iloc[bar],
            })
        return pd.DataFrame(trades, columns=TRADES), pd.DataFrame(audit)
