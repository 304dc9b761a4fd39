"""DoubleEnsemble (Zhang, Li, Chen, Xu and Li, ICDM 2020) over LightGBM.

Each member trains on rows weighted by how the losses of the member before fell, and on features whose shuffling hurts the
ensemble. Numbers are those of Qlib's workflow_config_doubleensemble_Alpha158.yaml.
"""

MEMBERS = 6
# The last members count a fifth of the first.
MEMBER_WEIGHTS = (1.0, 0.2, 0.2, 0.2, 0.2, 0.2)
ROUNDS = 28
# Weights of the two ranks of a row: its loss in the ensemble, and how much of it is left at the end of a training.
ALPHA_LOSS, ALPHA_CURVE = 1.0, 1.0
ROW_BINS, DECAY = 10, 0.5
# The share of features kept, from the bin of those that matter most to the bin of those that matter least.
FEATURE_SHARES = (0.8, 0.7, 0.6, 0.5, 0.4)
# A loss curve begins and ends with a tenth of its rounds.
CURVE_SHARE = 0.1


class DoubleEnsemble:
    def __init__(self, settings, seed):
        import numpy

        self.settings = settings
        self.random = numpy.random.default_rng(seed)
        self.members = []

    def fit(self, train, features):
        """Trains the members one after another; each sees the rows' weights and the features that the last ones left."""
        import lightgbm
        import numpy

        table, label = train[features].reset_index(drop=True), train["label"].to_numpy()
        weights, chosen = numpy.ones(len(label)), features
        for place in range(MEMBERS):
            data = lightgbm.Dataset(table[chosen], label, weight=weights)
            booster = lightgbm.train(self.settings, data, ROUNDS)
            self.members.append((booster, chosen))
            if place + 1 < MEMBERS:
                losses = (label - self.predict(table)) ** 2
                weights = self.row_weights(loss_curve(booster, table[chosen], label), losses, place + 1)
                chosen = self.feature_choice(table, label, losses)
        return self

    def predict(self, table):
        """The members' weighted mean."""
        weighed = list(zip(MEMBER_WEIGHTS, self.members))
        total = sum(weight * booster.predict(table[chosen]) for weight, (booster, chosen) in weighed)
        return total / sum(weight for weight, _ in weighed)

    def row_weights(self, curve, losses, place):
        """Weights of rows for the next member: more where the loss is large and yet fell in training: hard, but no noise."""
        import pandas

        ranks = pandas.DataFrame(curve).rank(pct=True)
        ends = max(int(curve.shape[1] * CURVE_SHARE), 1)
        left = (ranks.iloc[:, -ends:].mean(axis=1) / ranks.iloc[:, :ends].mean(axis=1)).rank(pct=True)
        value = ALPHA_LOSS * pandas.Series(-losses).rank(pct=True) + ALPHA_CURVE * left
        mean_of_bin = value.groupby(pandas.cut(value, ROW_BINS), observed=True).transform("mean")
        return (1.0 / (DECAY**place * mean_of_bin + 0.1)).to_numpy()

    def feature_choice(self, table, label, losses):
        """Features for the next member: bins by how much the loss grows when a feature is shuffled, a share of each."""
        import numpy
        import pandas

        growth = {}
        for feature in table.columns:
            shuffled = table.assign(**{feature: self.random.permutation(table[feature].to_numpy())})
            # The importance is judged by the plain mean of the members, as Qlib does.
            mean = sum(booster.predict(shuffled[chosen]) for booster, chosen in self.members) / len(self.members)
            change = (label - mean) ** 2 - losses
            growth[feature] = change.mean() / (change.std() + 1e-7)
        growth = pandas.Series(growth)
        bins = pandas.cut(growth, len(FEATURE_SHARES))
        chosen = []
        for share, best in zip(FEATURE_SHARES, sorted(bins.unique(), reverse=True)):
            of_bin = list(growth.index[bins == best])
            chosen += list(self.random.choice(of_bin, int(numpy.ceil(share * len(of_bin))), replace=False))
        return [feature for feature in table.columns if feature in set(chosen)]


def loss_curve(booster, table, label):
    """The squared error of every row after each round."""
    import numpy

    curve = numpy.zeros((len(label), booster.num_trees()), dtype=numpy.float32)
    predicted = numpy.zeros(len(label))
    for tree in range(booster.num_trees()):
        predicted += booster.predict(table, start_iteration=tree, num_iteration=1)
        curve[:, tree] = (label - predicted) ** 2
    return curve
