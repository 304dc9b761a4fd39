import pandas as pd

TRADE_COLUMNS = ["trade_id", "symbol", "side", "entry_datetime", "exit_datetime", "entry_price", "exit_price",
                 "quantity", "pnl", "reason_entry", "reason_exit"]
BAR_COLUMNS = ["datetime", "close", "mb", "ub", "lb", "signal", "position_state", "exposure", "equity",
               "constraint_check"]


class Strategy:
    def __init__(self, config):
        self.window = int(config["N"])
        self.width = float(config["k"])
        self.stop = float(config["stop_loss_pct"])

    def run(self, market_data, initial_capital):
        closes = market_data["close"]
        windows = closes.rolling(self.window, min_periods=self.window)
        middle, deviation = windows.mean(), windows.std()
        lower, upper = middle - self.width * deviation, middle + self.width * deviation
        cash, held, paid, since = float(initial_capital), 0.0, 0.0, None
        trades, bars = [], []
        for bar in range(len(closes)):
            time, close, signal = market_data["datetime"].iloc[bar], closes.iloc[bar], "NONE"
            if held > 0.0:
                reason = None
                if close <= paid * (1.0 - self.stop):
                    reason = "STOP_LOSS"
                elif close >= middle.iloc[bar]:
                    reason = "MIDDLE_BAND"
                if reason is not None:
                    profit = held * (close - paid)
                    trades.append([len(trades) + 1, "A", "LONG", since, time, paid, close, held, profit,
                                   "LOWER_CROSS", reason])
                    cash, held, signal = cash + profit, 0.0, "EXIT"
            elif bar > 0 and close < lower.iloc[bar] and closes.iloc[bar - 1] >= lower.iloc[bar - 1]:
                held, paid, since, signal = cash / close, close, time, "LONG"
            equity = cash + held * (close - paid)
            bars.append([time, close, middle.iloc[bar], upper.iloc[bar], lower.iloc[bar], signal,
                         "LONG" if held > 0.0 else "FLAT", held * close / equity, equity, "OK"])
        return pd.DataFrame(trades, columns=TRADE_COLUMNS), pd.DataFrame(bars, columns=BAR_COLUMNS)
