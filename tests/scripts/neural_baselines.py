#!/usr/bin/env python3
"""Trains neural networks on exported factors and writes score files that `control = "signals"` trades.

    ktd data factors csi300.ktdp --out factors.parquet
    python3 tests/scripts/neural_baselines.py factors.parquet OUT [mlp gru lstm alstm gats tcn tabnet transformer localformer]

Sizes, learning rates, batches and patience are those that Qlib publishes for the CSI300 (microsoft/qlib, examples/benchmarks/*/
workflow_config_*_Alpha158.yaml; for the transformers the defaults of qlib/contrib/model/pytorch_*_ts.py). What differs:

- features: the nine z-scores of the screen instead of Alpha158; a missing one is 0, the mean. As in Qlib's Alpha158 files a
  window is the last 20 trading days; days on which a stock is no member take its nearest earlier row of the window, or
  else the nearest later one. `mlp` reads the last day alone, as Qlib's does;
- an epoch is a twentieth of the training days, every twentieth one, and the next twentieth in the next epoch. Training stops
  after MOST_EPOCHS of them at the latest, which is one pass over all days (Qlib: 200 passes, transformers 100), for a
  processor is no graphics card. Early stopping looks at every third day of 2023; the IC is of all of them;
- `tabnet` reads the last day alone, and is trained before on the same rows without their labels, as Qlib's is: one pass at most
  there too, validated by what it finds of hidden features;
- `gats` begins with the weights of the `lstm` trained here, as Qlib begins with those of its own, and takes the days of an
  epoch in random order.

One thread a model and one seed: the same machine gives the same bytes, whatever else runs. Another processor may sum in
another order and differ in the last digits, and early stopping can make more of that. Spans, labels, scale: score_files.py.

Installs what it needs with pip into OUT/venv when a package is missing (JAX and Optax for processors, some 400 MB).
"""

import os
import time

from score_files import arguments, daily_ic, factor_columns, install, labelled_rows, write_scores

PACKAGES = {"jax": "jax[cpu]==0.10.2", "jaxlib": "jaxlib==0.10.2", "optax": "optax==0.2.8"}
WINDOW, EPOCH_PARTS, MOST_EPOCHS, VALIDATE_EVERY, SEED = 20, 20, 20, 3, 0
CLIP = 3.0
# Learning rate, rows a batch, epochs without gain before the stop, weight decay.
SETTINGS = {
    "mlp": {"rate": 2e-3, "batch": 8192, "patience": 50, "decay": 2e-4},
    "gru": {"rate": 2e-4, "batch": 800, "patience": 10, "decay": 0.0},
    "lstm": {"rate": 1e-3, "batch": 800, "patience": 10, "decay": 0.0},
    "alstm": {"rate": 1e-3, "batch": 800, "patience": 10, "decay": 0.0},
    "gats": {"rate": 1e-4, "batch": None, "patience": 10, "decay": 0.0},
    "tcn": {"rate": 1e-4, "batch": 2000, "patience": 20, "decay": 0.0},
    "tabnet": {"rate": 1e-2, "batch": 4096, "patience": 20, "decay": 0.0},
    "transformer": {"rate": 1e-4, "batch": 8192, "patience": 5, "decay": 1e-3},
    "localformer": {"rate": 1e-4, "batch": 8192, "patience": 5, "decay": 1e-3},
}
# The multilayer perceptron counts in batches, not in epochs: validated every 20, the rate halved after 10 without gain.
# The share of features that is hidden from tabnet while it is trained before.
TABNET_HIDDEN = 0.3
MLP_BATCHES, MLP_VALIDATE_EVERY, MLP_HALVE_AFTER, MLP_LEAST_RATE = 8000, 20, 10, 1e-5
# Rows predicted at once.
CHUNK = 4096


class Table:
    """Rows as arrays: features with a last row of nothing, windows of row numbers, labels and parts."""

    def __init__(self, rows):
        import numpy

        self.rows = rows
        features = rows[factor_columns(rows)].fillna(0.0).to_numpy(numpy.float32)
        self.features = numpy.vstack([features, numpy.zeros((1, features.shape[1]), numpy.float32)])
        self.windows = windows(rows)
        self.days = rows["date"].rank(method="dense").to_numpy().astype(int) - 1
        self.labels = {name: rows[name].to_numpy(numpy.float32) for name in ("label", "rank_label")}

    def part(self, name):
        return (self.rows["part"] == name).to_numpy().nonzero()[0]


def windows(rows):
    """Row numbers of each row's stock on the last WINDOW trading days."""
    import numpy

    days = rows["date"].rank(method="dense").to_numpy().astype(int) - 1
    codes = rows["code"].astype("category").cat.codes.to_numpy()
    places = numpy.full((days.max() + 1, codes.max() + 1), -1, numpy.int32)
    places[days, codes] = numpy.arange(len(rows))
    lags = numpy.arange(WINDOW - 1, -1, -1)
    found = numpy.where(days[:, None] >= lags, places[days[:, None] - lags, codes[:, None]], -1)
    for day in range(1, WINDOW):
        found[:, day] = numpy.where(found[:, day] < 0, found[:, day - 1], found[:, day])
    for day in range(WINDOW - 2, -1, -1):
        found[:, day] = numpy.where(found[:, day] < 0, found[:, day + 1], found[:, day])
    return found


class Training:
    """One network: its parameters, its optimiser, and what it takes from a table."""

    def __init__(self, name, table, start):
        import jax
        import numpy
        import optax

        self.settings, self.table, self.parameters = SETTINGS[name], table, start
        self.features = jax.numpy.asarray(table.features)
        self.random = numpy.random.default_rng(SEED)
        self.key = jax.random.key(SEED + 1)
        # Values of gradients are clipped, and decay is added to them, as PyTorch does.
        self.optimiser = optax.chain(
            *([] if name == "mlp" else [optax.clip(CLIP)]),
            optax.add_decayed_weights(self.settings["decay"]),
            optax.scale_by_adam(),
        )
        self.state = self.optimiser.init(start)

    def next_key(self):
        import jax

        self.key, key = jax.random.split(self.key)
        return key

    def updated(self, parameters, state, gradients, rate):
        import optax

        updates, state = self.optimiser.update(gradients, state, parameters)
        return optax.apply_updates(parameters, optax.tree_utils.tree_scale(-rate, updates)), state


def squared_error(predicted, labels):
    """The mean squared error of predictions."""
    import numpy

    return float(numpy.mean(((predicted - labels) ** 2).astype(numpy.float64)))


def trained(name, training, run_epoch, predict, loss_of=squared_error):
    """Epochs until validation finds no gain for as many as the patience: the best parameters, and how long it took."""
    import numpy

    validated = training.table.part("validate")
    validated = validated[training.table.days[validated] % VALIDATE_EVERY == 0]
    best_loss, best, best_epoch = numpy.inf, training.parameters, 0
    for epoch in range(1, MOST_EPOCHS + 1):
        begun = time.monotonic()
        run_epoch(epoch)
        loss = loss_of(predict(training.parameters, validated), training.table.labels["rank_label"][validated])
        print(f"  {name}: epoch {epoch}, validation loss {loss:.6f}, {time.monotonic() - begun:.0f} s", flush=True)
        if loss < best_loss:
            best_loss, best, best_epoch = loss, training.parameters, epoch
        elif training.settings["patience"] <= epoch - best_epoch:
            break
    return best, f"best after {best_epoch} of {epoch} twentieths of a pass"


def chunks(places, size):
    """Places in chunks of one size, so that one program is compiled; the last is filled up."""
    import numpy

    for begin in range(0, len(places), size):
        chunk = places[begin : begin + size]
        yield numpy.pad(chunk, (0, size - len(chunk)), mode="edge"), len(chunk)


def sequence(name, table, start, network):
    """Trains a network that reads the window of one stock: batches are drawn from all days of an epoch."""
    import jax
    import numpy

    training = Training(name, table, start)
    label = table.labels["rank_label"]

    @jax.jit
    def step(parameters, state, features, batch, target, key):
        def loss(parameters):
            return ((network(parameters, features[batch], key) - target) ** 2).mean()

        return training.updated(parameters, state, jax.grad(loss)(parameters), training.settings["rate"])

    forward = jax.jit(lambda parameters, features, batch: network(parameters, features[batch], None))

    def predict(parameters, places):
        read = [(forward(parameters, training.features, table.windows[some]), count) for some, count in chunks(places, CHUNK)]
        return numpy.concatenate([numpy.asarray(part)[:count] for part, count in read])

    train, size = table.part("train"), training.settings["batch"]

    def run_epoch(epoch):
        places = training.random.permutation(train[table.days[train] % EPOCH_PARTS == epoch % EPOCH_PARTS])
        for begin in range(0, len(places) - size + 1, size):
            batch = places[begin : begin + size]
            training.parameters, training.state = step(
                training.parameters, training.state, training.features, table.windows[batch], label[batch], training.next_key()
            )

    best, told = trained(name, training, run_epoch, predict)
    return lambda places: predict(best, places), told, best


def daily(name, table, start, network):
    """Trains a network that reads all stocks of a day: a batch is a day."""
    import jax
    import numpy

    training = Training(name, table, start)
    label = table.labels["rank_label"]
    width = int(numpy.bincount(table.days).max())

    @jax.jit
    def step(parameters, state, features, batch, target, present, key):
        def loss(parameters):
            errors = (network(parameters, features[batch], key, present) - target) ** 2
            return (errors * present).sum() / present.sum()

        return training.updated(parameters, state, jax.grad(loss)(parameters), training.settings["rate"])

    @jax.jit
    def forward(parameters, features, batch, present):
        return network(parameters, features[batch], None, present)

    def by_day(places):
        borders = numpy.flatnonzero(numpy.diff(table.days[places])) + 1
        return [(next(chunks(day, width))[0], numpy.arange(width) < len(day)) for day in numpy.split(places, borders)]

    def predict(parameters, places):
        days = by_day(places)
        parts = [forward(parameters, training.features, table.windows[day], here) for day, here in days]
        return numpy.concatenate([numpy.asarray(part)[: here.sum()] for part, (_, here) in zip(parts, days)])

    train = by_day(table.part("train"))

    def run_epoch(epoch):
        days = train[epoch % EPOCH_PARTS :: EPOCH_PARTS]
        for place in training.random.permutation(len(days)):
            day, here = days[place]
            training.parameters, training.state = step(
                training.parameters, training.state, training.features, table.windows[day], label[day], here,
                training.next_key(),
            )

    best, told = trained(name, training, run_epoch, predict)
    return lambda places: predict(best, places), told, best


def perceptron(name, table, start, network):
    """Trains the multilayer perceptron on batches drawn from all training rows, with standardised labels."""
    import jax
    import numpy

    training = Training(name, table, start)
    label, width = table.labels["label"], start["scale"].shape[0]
    seen = (numpy.zeros(width, numpy.float32), numpy.ones(width, numpy.float32))

    @jax.jit
    def step(parameters, state, seen, features, target, key, rate):
        def loss(parameters):
            predicted, now = network(parameters, features, key, seen)
            return ((predicted - target) ** 2).mean(), now

        gradients, seen = jax.grad(loss, has_aux=True)(parameters)
        return *training.updated(parameters, state, gradients, rate), seen

    forward = jax.jit(lambda parameters, seen, features: network(parameters, features, None, seen)[0])

    def predict(parameters, seen, places):
        parts = [(forward(parameters, seen, table.features[chunk]), count) for chunk, count in chunks(places, CHUNK)]
        return numpy.concatenate([numpy.asarray(part)[:count] for part, count in parts])

    train, validated, rate = table.part("train"), table.part("validate"), training.settings["rate"]
    best_loss, best, since_gain, since_halving, lowest = numpy.inf, None, 0, 0, numpy.inf
    for count in range(MLP_BATCHES):
        batch = training.random.choice(train, training.settings["batch"])
        training.parameters, training.state, seen = step(
            training.parameters, training.state, seen, table.features[batch], label[batch], training.next_key(), rate
        )
        if count % MLP_VALIDATE_EVERY and count + 1 < MLP_BATCHES:
            continue
        errors = (predict(training.parameters, seen, validated) - label[validated]) ** 2
        loss = float(numpy.mean(errors.astype(numpy.float64)))
        if loss < best_loss:
            best_loss, best, best_count, since_gain = loss, (training.parameters, seen), count + 1, 0
        else:
            since_gain += 1
        since_halving, lowest = (0, loss) if loss < lowest * (1 - 1e-4) else (since_halving + 1, lowest)
        if MLP_HALVE_AFTER < since_halving:
            rate, since_halving = max(rate / 2, MLP_LEAST_RATE), 0
        if training.settings["patience"] <= since_gain:
            break
    return lambda places: predict(*best, places), f"best after {best_count} of {count + 1} batches", best


def choosing(name, table, start, networks):
    """Trains a network of the last day on rows without labels and then with them; its norms keep what they have seen."""
    import jax
    import numpy

    parameters, seen = start
    training = Training(name, table, parameters)
    label, size = table.labels["rank_label"], training.settings["batch"]
    train = table.part("train")

    def updating(loss):
        @jax.jit
        def step(parameters, state, features, batch, more, seen):
            gradients, seen = jax.grad(lambda parameters: loss(parameters, features[batch], more, seen), has_aux=True)(parameters)
            return *training.updated(parameters, state, gradients, training.settings["rate"]), seen

        return step

    def run_epochs(step, more):
        def run_epoch(epoch):
            places = training.random.permutation(train[table.days[train] % EPOCH_PARTS == epoch % EPOCH_PARTS])
            for begin in range(0, len(places) - size + 1, size):
                batch = places[begin : begin + size]
                (parameters, seen), state = training.parameters, training.state
                parameters, training.state, seen = step(parameters, state, training.features, batch, more(batch), seen)
                training.parameters = (parameters, seen)

        return run_epoch

    def hidden(batch):
        return (training.random.random((len(batch), training.features.shape[1])) < TABNET_HIDDEN).astype(numpy.float32)

    def error(parameters, features, target, seen):
        predicted, seen = networks.tabnet(parameters, features, seen, True)
        return ((predicted - target) ** 2).mean(), seen

    forward = jax.jit(lambda parameters, seen, features: networks.tabnet(parameters, features, seen, False)[0])
    missing = jax.jit(lambda parameters, seen, features, hidden: networks.tabnet_missing(parameters, features, hidden, seen, False)[0])

    def predict(parameters, places):
        parts = [(forward(*parameters, table.features[chunk]), count) for chunk, count in chunks(places, CHUNK)]
        return numpy.concatenate([numpy.asarray(part)[:count] for part, count in parts])

    def found_missing(parameters, places):
        whole = places[: len(places) // size * size].reshape(-1, size)
        return numpy.mean([missing(*parameters, table.features[batch], hidden(batch)) for batch in whole])

    training.parameters = (parameters, seen)
    before = updating(lambda *given: networks.tabnet_missing(given[0], given[1], given[2], given[3], True))
    training.parameters, told = trained(f"{name} before", training, run_epochs(before, hidden), found_missing, lambda loss, _: loss)
    print(f"{name} before: {told}", flush=True)
    training.state = training.optimiser.init(training.parameters[0])
    best, told = trained(name, training, run_epochs(updating(error), lambda batch: label[batch]), predict)
    return lambda places: predict(best, places), told, best


def fitted(name, table, lstm):
    """A trained network of a name: what it predicts, how long it trained, and its parameters."""
    import jax

    import networks

    key, features = jax.random.key(SEED), table.features.shape[1]
    if name == "mlp":
        return perceptron(name, table, networks.mlp_start(key, features), networks.mlp)
    if name == "tabnet":
        return choosing(name, table, networks.tabnet_start(key, features), networks)
    if name == "gats":
        start = networks.gats_start(key, features)
        return daily(name, table, {**start, "layers": lstm["layers"]}, networks.gats)
    if name in ("gru", "lstm"):
        start = networks.last_state_start(3 if name == "gru" else 4)
        return sequence(name, table, start(key, features), networks.last_state)
    return sequence(name, table, getattr(networks, f"{name}_start")(key, features), getattr(networks, name))


def main():
    factors, out, models = arguments(SETTINGS, __doc__)
    # One thread: sums have one order. It has to be said before JAX is loaded.
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    install(out, PACKAGES)
    if "gats" in models and "lstm" not in models[: models.index("gats")]:
        raise SystemExit("gats begins with the weights of lstm: name lstm before it")
    rows, scale = labelled_rows(factors)
    table = Table(rows)
    validated, scored = table.part("validate"), table.part("score")
    lstm = None
    for model in models:
        begun = time.monotonic()
        predict, told, best = fitted(model, table, lstm)
        lstm = best if model == "lstm" else lstm
        ic = daily_ic(rows.iloc[validated], predict(validated))
        write_scores(out / f"{model}.csv", rows.iloc[scored], predict(scored).astype(float), scale)
        seconds = time.monotonic() - begun
        print(f"{model}: {told}, mean daily IC of 2023 {ic:.4f}, {seconds:.0f} s, {len(scored)} scores", flush=True)


if __name__ == "__main__":
    main()
