"""Networks of Qlib's model zoo in JAX: what each computes, with the initial values that PyTorch gives such layers.

Every network is a pair of functions: `start(key, features)` makes its parameters, and `predict(parameters, windows, key)` maps
windows (rows, days, features) to one number a row. `key` is None where nothing is dropped: in validation and in use.
Only what reaches the last day is computed: it alone is read.
"""

import math

import jax
import jax.numpy as jnp

HIDDEN, LAYERS = 64, 2


def uniform(key, shape, fan):
    bound = 1 / math.sqrt(fan)
    return jax.random.uniform(key, shape, minval=-bound, maxval=bound)


def linear_start(key, inputs, outputs):
    weight, bias = jax.random.split(key)
    return {"weight": uniform(weight, (inputs, outputs), inputs), "bias": uniform(bias, (outputs,), inputs)}


def linear(layer, x):
    return x @ layer["weight"] + layer["bias"]


def dropped(x, share, key):
    """Dropout: a share of the numbers becomes 0, and the rest grows to the same mean."""
    if key is None or share == 0:
        return x
    return jnp.where(jax.random.bernoulli(key, 1 - share, x.shape), x / (1 - share), 0)


def keys(key, count):
    return [None] * count if key is None else jax.random.split(key, count)


# Recurrent networks


def recurrent_start(key, inputs, gates):
    """Layers of a GRU (3 gates) or an LSTM (4)."""
    layers = []
    for layer_key in jax.random.split(key, LAYERS):
        parts = jax.random.split(layer_key, 4)
        layers.append({
            "input": uniform(parts[0], (inputs, gates * HIDDEN), HIDDEN),
            "input_bias": uniform(parts[1], (gates * HIDDEN,), HIDDEN),
            "state": uniform(parts[2], (HIDDEN, gates * HIDDEN), HIDDEN),
            "state_bias": uniform(parts[3], (gates * HIDDEN,), HIDDEN),
        })
        inputs = HIDDEN
    return layers


def gru_step(layer, state, from_input):
    from_state = state @ layer["state"] + layer["state_bias"]
    reset_in, update_in, new_in = jnp.split(from_input, 3, axis=-1)
    reset_state, update_state, new_state = jnp.split(from_state, 3, axis=-1)
    update = jax.nn.sigmoid(update_in + update_state)
    new = jnp.tanh(new_in + jax.nn.sigmoid(reset_in + reset_state) * new_state)
    state = (1 - update) * new + update * state
    return state, state


def lstm_step(layer, states, from_input):
    state, cell = states
    gates = from_input + state @ layer["state"] + layer["state_bias"]
    enter, forget, new, leave = jnp.split(gates, 4, axis=-1)
    cell = jax.nn.sigmoid(forget) * cell + jax.nn.sigmoid(enter) * jnp.tanh(new)
    state = jax.nn.sigmoid(leave) * jnp.tanh(cell)
    return (state, cell), state


def recurrent(layers, x, dropout=0.0, key=None):
    """The last layer's state on every day: (days, rows, hidden)."""
    days = jnp.swapaxes(x, 0, 1)
    for place, (layer, layer_key) in enumerate(zip(layers, keys(key, len(layers)))):
        if place:
            days = dropped(days, dropout, layer_key)
        inputs = days @ layer["input"] + layer["input_bias"]
        nothing = jnp.zeros((x.shape[0], HIDDEN))
        is_gru = layer["state"].shape[1] == 3 * HIDDEN
        step, first = (gru_step, nothing) if is_gru else (lstm_step, (nothing, nothing))
        _, days = jax.lax.scan(lambda state, day, layer=layer, step=step: step(layer, state, day), first, inputs)
    return days


def last_state_start(gates):
    def start(key, features):
        layers, out = jax.random.split(key)
        return {"layers": recurrent_start(layers, features, gates), "out": linear_start(out, HIDDEN, 1)}

    return start


def last_state(parameters, x, key):
    """GRU and LSTM: a linear layer over the last day's state."""
    return linear(parameters["out"], recurrent(parameters["layers"], x, key=key)[-1])[:, 0]


def alstm_start(key, features):
    parts = jax.random.split(key, 5)
    return {
        "enter": linear_start(parts[0], features, HIDDEN),
        "layers": recurrent_start(parts[1], HIDDEN, 3),
        "attend": linear_start(parts[2], HIDDEN, HIDDEN // 2),
        "weigh": uniform(parts[3], (HIDDEN // 2, 1), HIDDEN // 2),
        "out": linear_start(parts[4], 2 * HIDDEN, 1),
    }


def alstm(parameters, x, key):
    """ALSTM: the last day's state beside the states of all days, weighed by attention; GRU cells, as Qlib publishes it."""
    del key
    days = recurrent(parameters["layers"], jnp.tanh(linear(parameters["enter"], x)))
    weights = jax.nn.softmax(jnp.tanh(linear(parameters["attend"], days)) @ parameters["weigh"], axis=0)
    both = jnp.concatenate([days[-1], (days * weights).sum(axis=0)], axis=-1)
    return linear(parameters["out"], both)[:, 0]


# Graph attention over the stocks of a day

GATS_DROPOUT = 0.7


def gats_start(key, features):
    parts = jax.random.split(key, 5)
    return {
        "layers": recurrent_start(parts[0], features, 4),
        "transform": linear_start(parts[1], HIDDEN, HIDDEN),
        "attend": jax.random.normal(parts[2], (2, HIDDEN)),
        "mix": linear_start(parts[3], HIDDEN, HIDDEN),
        "out": linear_start(parts[4], HIDDEN, 1),
    }


def gats(parameters, x, key, present):
    """GATs: the LSTM state of each stock of a day, plus those of all present stocks weighed by attention."""
    state = recurrent(parameters["layers"], x, GATS_DROPOUT, key)[-1]
    changed = linear(parameters["transform"], state)
    of_row, of_other = changed @ parameters["attend"][1], changed @ parameters["attend"][0]
    weights = jax.nn.leaky_relu(of_row[:, None] + of_other[None, :])
    weights = jax.nn.softmax(jnp.where(present[None, :], weights, -jnp.inf), axis=1)
    mixed = jax.nn.leaky_relu(linear(parameters["mix"], weights @ state + state))
    return linear(parameters["out"], mixed)[:, 0]


# Convolutions over days

TCN_CHANNELS, TCN_KERNEL, TCN_LEVELS, TCN_DROPOUT = 32, 7, 5, 0.5


def tcn_start(key, features):
    levels = []
    *level_keys, out = jax.random.split(key, TCN_LEVELS + 1)
    for level_key in level_keys:
        parts = jax.random.split(level_key, 6)
        level = {}
        for place, inputs in ((0, features), (1, TCN_CHANNELS)):
            level[f"weight{place}"] = 0.01 * jax.random.normal(parts[place], (TCN_KERNEL, inputs, TCN_CHANNELS))
            level[f"bias{place}"] = uniform(parts[2 + place], (TCN_CHANNELS,), inputs * TCN_KERNEL)
        if features != TCN_CHANNELS:
            level["skip"] = 0.01 * jax.random.normal(parts[4], (features, TCN_CHANNELS))
            level["skip_bias"] = uniform(parts[5], (TCN_CHANNELS,), features)
        levels.append(level)
        features = TCN_CHANNELS
    return {"levels": levels, "out": linear_start(out, TCN_CHANNELS, 1)}


def causal(weight, bias, x, dilation):
    """A convolution over the day and days before it; days before the window are 0, so that their taps are left out."""
    days = x.shape[1]
    taps = [tap for tap in range(TCN_KERNEL) if tap * dilation < days]
    shifted = [jnp.pad(x, ((0, 0), (tap * dilation, 0), (0, 0)))[:, :days] for tap in taps]
    flat = jnp.concatenate(shifted, axis=-1)
    return flat @ weight[: len(taps)].reshape(flat.shape[-1], -1) + bias


def tcn(parameters, x, key):
    """TCN: levels of two causal convolutions each, whose dilation doubles from level to level."""
    for place, (level, level_key) in enumerate(zip(parameters["levels"], keys(key, TCN_LEVELS))):
        inner = x
        for part, part_key in enumerate(keys(level_key, 2)):
            inner = jax.nn.relu(causal(level[f"weight{part}"], level[f"bias{part}"], inner, 2**place))
            inner = dropped(inner, TCN_DROPOUT, part_key)
        skip = x @ level["skip"] + level["skip_bias"] if "skip" in level else x
        x = jax.nn.relu(inner + skip)
    return linear(parameters["out"], x[:, -1])[:, 0]


# Attention over days

WIDE, HEADS = 2048, 2


def encoder_start(key, convolved=False):
    """A layer of PyTorch's TransformerEncoder, whose copies begin with the same numbers."""
    parts = jax.random.split(key, 5 + 2 * LAYERS)
    attention = jax.nn.initializers.glorot_uniform()(parts[0], (HIDDEN, 3 * HIDDEN))
    leave = {"weight": uniform(parts[1], (HIDDEN, HIDDEN), HIDDEN), "bias": jnp.zeros(HIDDEN)}
    one = {
        "attention": attention, "attention_bias": jnp.zeros(3 * HIDDEN), "leave": leave,
        "widen": linear_start(parts[2], HIDDEN, WIDE), "narrow": linear_start(parts[3], WIDE, HIDDEN),
        "norms": [{"scale": jnp.ones(HIDDEN), "shift": jnp.zeros(HIDDEN)} for _ in range(2)],
    }
    layers = [jax.tree.map(jnp.array, one) for _ in range(LAYERS)]
    if convolved:
        for place, layer in enumerate(layers):
            fan = 3 * HIDDEN
            layer["convolve"] = uniform(parts[5 + 2 * place], (3 * HIDDEN, HIDDEN), fan)
            layer["convolve_bias"] = uniform(parts[6 + 2 * place], (HIDDEN,), fan)
    return layers


def normed(norm, x):
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / jnp.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5) * norm["scale"] + norm["shift"]


def encoder_layer(layer, x, last_day):
    """Attention and a wide layer, each added to its input and normalised; of all days, or of the last one alone."""
    rows, days, _ = x.shape
    query, key, value = jnp.split(x @ layer["attention"] + layer["attention_bias"], 3, axis=-1)
    if last_day:
        query, x = query[:, -1:], x[:, -1:]
    heads = [part.reshape(rows, -1, HEADS, HIDDEN // HEADS) for part in (query, key, value)]
    weights = jax.nn.softmax(jnp.einsum("nqhd,nkhd->nhqk", *heads[:2]) / math.sqrt(HIDDEN // HEADS), axis=-1)
    attended = jnp.einsum("nhqk,nkhd->nqhd", weights, heads[2]).reshape(rows, -1, HIDDEN)
    x = normed(layer["norms"][0], x + linear(layer["leave"], attended))
    wide = jax.nn.relu(linear(layer["widen"], x))
    return normed(layer["norms"][1], x + linear(layer["narrow"], wide))


def positions(days):
    angle = jnp.arange(days)[:, None] * jnp.exp(jnp.arange(0, HIDDEN, 2) * (-math.log(10000.0) / HIDDEN))
    return jnp.stack([jnp.sin(angle), jnp.cos(angle)], axis=-1).reshape(days, HIDDEN)


def transformer_start(key, features):
    enter, layers, out = jax.random.split(key, 3)
    return {
        "enter": linear_start(enter, features, HIDDEN), "layers": encoder_start(layers), "out": linear_start(out, HIDDEN, 1),
    }


def transformer(parameters, x, key):
    """Transformer: an encoder over the days; the last day's output is read."""
    del key
    x = linear(parameters["enter"], x) + positions(x.shape[1])
    for place, layer in enumerate(parameters["layers"]):
        x = encoder_layer(layer, x, last_day=place + 1 == LAYERS)
    return linear(parameters["out"], x[:, -1])[:, 0]


def localformer_start(key, features):
    enter, layers, recur, out = jax.random.split(key, 4)
    return {
        "enter": linear_start(enter, features, HIDDEN), "layers": encoder_start(layers, convolved=True),
        "recur": recurrent_start(recur, HIDDEN, 3), "out": linear_start(out, HIDDEN, 1),
    }


def localformer(parameters, x, key):
    """Localformer: a convolution of three days before each layer of the encoder, and a GRU after the last."""
    del key
    days = x.shape[1]
    x = linear(parameters["enter"], x) + positions(days)
    for layer in parameters["layers"]:
        padded = jnp.pad(x, ((0, 0), (1, 1), (0, 0)))
        near = jnp.concatenate([padded[:, start : start + days] for start in range(3)], axis=-1)
        local = near @ layer["convolve"] + layer["convolve_bias"]
        x = encoder_layer(layer, x + local, last_day=False)
    return linear(parameters["out"], recurrent(parameters["recur"], x + local)[-1])[:, 0]


# A layer over one day

MLP_WIDTH, MLP_DROPOUT, MLP_SLOPE = 256, 0.05, 0.1


def mlp_start(key, features):
    enter, out = jax.random.split(key)
    layers = {}
    for name, part, inputs, outputs in (("enter", enter, features, MLP_WIDTH), ("out", out, MLP_WIDTH, 1)):
        weight, bias = jax.random.split(part)
        spread = math.sqrt(2 / (1 + MLP_SLOPE**2) / inputs)
        weight = spread * jax.random.normal(weight, (inputs, outputs))
        layers[name] = {"weight": weight, "bias": uniform(bias, (outputs,), inputs)}
    return {**layers, "scale": jnp.ones(MLP_WIDTH), "shift": jnp.zeros(MLP_WIDTH)}


def mlp(parameters, x, key, seen):
    """MLP: one wide layer, normalised over the batch in training and by what was seen of batches in use."""
    first, second = keys(key, 2)
    wide = linear(parameters["enter"], dropped(x, MLP_DROPOUT, first))
    if key is not None:
        mean, variance = wide.mean(axis=0), wide.var(axis=0)
        unbiased = variance * len(x) / (len(x) - 1)
        seen = (0.9 * seen[0] + 0.1 * mean, 0.9 * seen[1] + 0.1 * unbiased)
    else:
        mean, variance = seen
    wide = (wide - mean) / jnp.sqrt(variance + 1e-5) * parameters["scale"] + parameters["shift"]
    wide = jax.nn.leaky_relu(wide, MLP_SLOPE)
    return linear(parameters["out"], dropped(wide, MLP_DROPOUT, second))[:, 0], seen


# Steps that choose among the features of one day

TABNET_STEPS, TABNET_GHOSTS, TABNET_MOMENTUM = 5, 2, 0.01
GATE_SCALE = math.sqrt(0.5)


def tabnet_start(key, features):
    """TabNet's encoder with a linear layer behind it, the decoder that its training before needs, and what norms have seen."""
    count = iter(jax.random.split(key, 200))
    norms = {}

    def norm(name, width):
        norms[name] = {"scale": jnp.ones(width), "shift": jnp.zeros(width)}

    def own_gates(name, width):
        """The last two layers of a feature transformer: the first two belong to all steps, and each step has its own four norms."""
        for place in range(4):
            norm(f"{name}{place}", 2 * width)
        return [linear_start(next(count), width, 2 * width) for _ in range(2)]

    wide = 2 * HIDDEN
    shared = [linear_start(next(count), features, 2 * wide), linear_start(next(count), wide, 2 * wide)]
    back = [linear_start(next(count), HIDDEN, 2 * features), linear_start(next(count), features, 2 * features)]
    norm("enter", features)
    steps, decoder = [], []
    for step in range(TABNET_STEPS):
        norm(f"choose{step}", features)
        choose, leave = linear_start(next(count), HIDDEN, features), linear_start(next(count), features, features)
        steps.append({"choose": choose, "own": own_gates(f"step{step}.", wide)})
        decoder.append({"leave": leave, "own": own_gates(f"back{step}.", features)})
    parameters = {
        "norms": norms, "shared": shared, "steps": steps, "back": back, "decoder": decoder,
        "leave": linear_start(next(count), HIDDEN, HIDDEN), "out": linear_start(next(count), HIDDEN, 1),
    }
    seen = {name: (jnp.zeros(own["scale"].shape), jnp.ones(own["scale"].shape)) for name, own in norms.items()}
    return parameters, seen


def ghost_normed(parameters, name, x, seen, now):
    """Batch normalisation of each half of a batch by itself in training (`now` takes what is seen), and by what was seen in use."""
    mean, variance = seen[name]
    if now is None:
        x = (x - mean) / jnp.sqrt(variance + 1e-5)
    else:
        parts = x.reshape(1 if name == "enter" else TABNET_GHOSTS, -1, x.shape[-1])
        means, variances = parts.mean(axis=1, keepdims=True), parts.var(axis=1, keepdims=True)
        grown = parts.shape[1] / (parts.shape[1] - 1)
        for own_mean, own_variance in zip(means[:, 0], variances[:, 0]):
            mean = (1 - TABNET_MOMENTUM) * mean + TABNET_MOMENTUM * own_mean
            variance = (1 - TABNET_MOMENTUM) * variance + TABNET_MOMENTUM * grown * own_variance
        now[name] = (jax.lax.stop_gradient(mean), jax.lax.stop_gradient(variance))
        x = ((parts - means) / jnp.sqrt(variances + 1e-5)).reshape(x.shape)
    return x * parameters["norms"][name]["scale"] + parameters["norms"][name]["shift"]


def gated(parameters, name, layers, x, seen, now):
    """A feature transformer: gated layers, each but the first added to its input."""
    for place, layer in enumerate(layers):
        left, right = jnp.split(ghost_normed(parameters, f"{name}{place}", linear(layer, x), seen, now), 2, axis=-1)
        gate = left * jax.nn.sigmoid(right)
        x = gate if place == 0 else (x + gate) * GATE_SCALE
    return x


def sparsemax(x):
    """The nearest point of the simplex: weights of which most are 0."""
    ordered = -jnp.sort(-x, axis=-1)
    sums = jnp.cumsum(ordered, axis=-1) - 1
    support = (jnp.arange(1, x.shape[-1] + 1) * ordered > sums).sum(axis=-1, keepdims=True)
    return jnp.maximum(x - jnp.take_along_axis(sums, support - 1, axis=-1) / support, 0)


def tabnet_encoded(parameters, x, prior, seen, now):
    """What the steps make of a row; the first step chooses nothing yet. `prior` is 0 for features that may not be chosen."""
    x = ghost_normed(parameters, "enter", x, seen, now)
    layers = lambda place: [*parameters["shared"], *parameters["steps"][place]["own"]]
    attended = gated(parameters, "step0.", layers(0), x, seen, now)[:, HIDDEN:]
    out = 0
    for place in range(1, TABNET_STEPS):
        chosen = linear(parameters["steps"][place]["choose"], attended)
        mask = sparsemax(ghost_normed(parameters, f"choose{place}", chosen, seen, now) * prior)
        both = gated(parameters, f"step{place}.", layers(place), x * mask, seen, now)
        out, attended = out + jax.nn.relu(both[:, :HIDDEN]), both[:, HIDDEN:]
    return linear(parameters["leave"], out)


def tabnet(parameters, x, seen, is_training):
    """TabNet: a linear layer over what the steps make of the last day; and what its norms have seen."""
    now = {} if is_training else None
    out = linear(parameters["out"], tabnet_encoded(parameters, x, 1.0, seen, now))[:, 0]
    return out, {**seen, **(now or {})}


def tabnet_missing(parameters, x, hidden, seen, is_training):
    """How far TabNet is from the features that are hidden from it, in their deviations; and what its norms have seen."""
    now = {} if is_training else None
    encoded = tabnet_encoded(parameters, x * (1 - hidden), 1 - hidden, seen, now)
    found = 0
    for place, step in enumerate(parameters["decoder"]):
        layers = [*parameters["back"], *step["own"]]
        found = found + linear(step["leave"], gated(parameters, f"back{place}.", layers, encoded, seen, now))
    spread = jnp.sqrt(((found - found.mean(axis=0)) ** 2).sum(axis=0))
    return (((x * hidden - found) * hidden / spread) ** 2).sum(), {**seen, **(now or {})}
