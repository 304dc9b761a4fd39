class KtdSteps:
    """Hands a strategy one bar after the other, and makes the two logs of what it says."""

    def __init__(self, configuration, name):
        self.configuration, self.name = configuration, name

    def run(self, market_data, capital, columns):
        return self.logs(market_data, capital, columns, 0)

    def last(self, market_data, capital, columns):
        return self.logs(market_data, capital, columns, -1)

    def logs(self, market_data, capital, columns, first):
        import pandas

        if self.name not in globals():
            raise NameError("the source defines no " + self.name)
        strategy = globals()[self.name](self.configuration, capital)
        several = isinstance(market_data, dict)
        frames = market_data if several else {"": market_data}
        bars = {symbol: frame.to_dict("records") for symbol, frame in frames.items()}
        said = []
        for place in range(min(len(own) for own in bars.values())):
            bar = {symbol: own[place] for symbol, own in bars.items()}
            said.append(strategy.step(bar if several else bar[""]))
        said = said[first:]
        closed = [trade for trades, _ in said for trade in trades]
        trades = pandas.DataFrame(closed, columns=None if closed else columns)
        return trades, pandas.DataFrame([row for _, row in said])
