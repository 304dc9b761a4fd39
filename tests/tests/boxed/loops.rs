//! Loops by measure: whatever a loop is called costs a step a row, and what counts the steps cannot be taken away.

use crate::{prove, series, setup, source};
use ktd_boxed::{BoxLauncher, CodeRunner};
use ktd_kit::has_boxes;
use ktd_sandbox::{BoxJob, JobStatus, RunSteps};

const ROWS: [usize; 2] = [60, 160];

/// The steps of a function `f` of a series `c` for each row more, those in windows, and what else the longer run says; none where a
/// run did not end well.
fn counted(launcher: &BoxLauncher, body: &str) -> Option<(f64, f64, RunSteps)> {
    let text = format!(
        "import numpy as np, pandas as pd\ndef f(df):\n    c = df['day_close']\n    a = c.tolist()\n{body}"
    );
    let mut opened = launcher.open(source(&text), 0).unwrap();
    let runs = ROWS.map(|rows| {
        let closes: Vec<f64> = (0..rows)
            .map(|row| 50.0 + f64::from(u32::try_from(row % 7).unwrap()))
            .collect();
        let job = BoxJob {
            is_counted: true,
            ..series("f", &closes)
        };
        let outcome = opened.run(&job).unwrap();
        (outcome.status == JobStatus::Ok)
            .then_some(outcome.steps)
            .flatten()
    });
    let [short, long] = runs;
    let (short, long) = (short?, long?);
    let steps = |steps: u64| f64::from(u32::try_from(steps).unwrap());
    let slope = |one: u64, other: u64| (steps(other) - steps(one)) / 100.0;
    Some((
        slope(short.steps, long.steps),
        slope(short.window_steps, long.window_steps),
        long,
    ))
}

const DISGUISED: [(&str, &str); 16] = [
    (
        "for",
        "    z = []\n    for x in a:\n        z.append(x)\n    return pd.Series(z, index=df.index)\n",
    ),
    (
        "while without a call",
        "    i = 0\n    n = 0\n    n = len(a)\n    while i < n:\n        a[i] = a[i] * 2\n        i = i + 1\n    return pd.Series(a, index=df.index)\n",
    ),
    (
        "four rows a turn",
        "    for i in range(0, len(a), 4):\n        a[i] = a[i] * 2 + 1\n        a[i + 1] = a[i + 1] * 2 + 1\n        a[i + 2] = a[i + 2] * 2 + 1\n        a[i + 3] = a[i + 3] * 2 + 1\n    return pd.Series(a, index=df.index)\n",
    ),
    (
        "key of sorted",
        "    z = []\n    sorted(a, key=lambda x: z.append(x) or 0)\n    return pd.Series(z, index=df.index)\n",
    ),
    (
        "re.sub",
        "    import re\n    z = []\n    re.sub('q', lambda m: z.append(a[len(z)]) or '', 'q' * len(a))\n    return pd.Series(z, index=df.index)\n",
    ),
    (
        "starmap",
        "    from itertools import starmap\n    return pd.Series(list(starmap(lambda x, y: x + y, zip(a, a))), index=df.index)\n",
    ),
    ("combine", "    return c.combine(c, lambda x, y: x + y)\n"),
    (
        "__getitem__",
        "    class Rows:\n        def __len__(self):\n            return len(a)\n        def __getitem__(self, i):\n            return a[i]\n    return pd.Series(list(Rows()), index=df.index)\n",
    ),
    (
        "recursion",
        "    z = []\n    def go(i):\n        if i < len(a):\n            z.append(a[i])\n            go(i + 1)\n    go(0)\n    return pd.Series(z, index=df.index)\n",
    ),
    (
        "bound apply",
        "    each = c.apply\n    return each(lambda x: x * 2)\n",
    ),
    (
        "apply after a window",
        "    return c.rolling(3).mean().apply(lambda x: x * 2)\n",
    ),
    (
        "window of one row",
        "    return c.rolling(1).apply(lambda x: x[0] * 2, raw=True)\n",
    ),
    (
        "window that remembers",
        "    s = [0.0]\n    def step(x):\n        s[0] = s[0] * 0.9 + x[-1]\n        return s[0]\n    return c.rolling(2).apply(step, raw=True)\n",
    ),
    (
        "loop in a window",
        "    z = [0.0] * len(a)\n    def once(x):\n        i = 0\n        while i < len(a):\n            z.__setitem__(i, a[i])\n            i += 1\n        return 0.0\n    pd.Series([1.0, 2.0]).rolling(2).apply(once, raw=True)\n    return pd.Series(z, index=df.index)\n",
    ),
    (
        "accumulate",
        "    from itertools import accumulate\n    return pd.Series(list(accumulate(a, lambda s, x: s * 0.9 + x)), index=df.index)\n",
    ),
    (
        "rows of a frame",
        "    return df.apply(lambda row: row['day_close'] * 2, axis=1)\n",
    ),
];

const VECTORISED: [(&str, &str); 7] = [
    (
        "plain",
        "    return np.log(c).diff().rolling(20).std() / c.ewm(span=5).mean()\n",
    ),
    (
        "turns of a fixed number",
        "    z = c * 0.0\n    for lag in range(12):\n        z = z + c.shift(lag)\n    return z\n",
    ),
    (
        "function of a window",
        "    w = np.arange(20.0)\n    return c.rolling(20).apply(lambda x: (x * w).sum() / w.sum(), raw=True)\n",
    ),
    (
        "function of a window of series",
        "    return c.rolling(20).apply(lambda x: x.iloc[-1] - x.mean(), raw=False)\n",
    ),
    (
        "groups of a fixed number",
        "    return c.groupby(df.index.dayofweek).transform(lambda s: s.shift(1).expanding(3).mean())\n",
    ),
    (
        "weeks",
        "    return c.resample('W').last().shift(1).reindex(df.index, method='ffill')\n",
    ),
    (
        "a library imported late",
        "    from scipy import signal, optimize\n    return pd.Series(signal.lfilter([1], [1, -0.5], c), index=df.index)\n",
    ),
];

#[test]
fn a_loop_costs_a_step_a_row_whatever_it_is_called_and_vectorised_code_none() {
    if !has_boxes() {
        return;
    }
    let launcher = prove(setup());
    let each = |(name, body): &(&str, &str)| (name.to_string(), counted(&launcher, body));
    for (name, found) in DISGUISED.iter().map(each) {
        let (steps, _, long) = found.unwrap_or_else(|| panic!("{name} is not counted"));
        assert!(
            0.9 < steps && !long.has_tampered && !long.has_made_code,
            "{name}: {steps} {long:?}"
        );
    }
    for (name, found) in VECTORISED.iter().map(each) {
        let (steps, windows, long) = found.unwrap_or_else(|| panic!("{name} is not counted"));
        assert!(
            steps < 0.3 && !long.has_tampered && !long.has_made_code,
            "{name}: {steps} {long:?}"
        );
        assert_eq!(0.5 < windows, name.contains("of a window"), "{name}: {windows}");
    }
}

/// Each takes the counter away, closes its descriptor, puts another one in its place, or makes code that is not counted.
const EVASIONS: [(&str, &str); 8] = [
    (
        "setprofile",
        "    import sys\n    getattr(sys, 'setprofile')(None)\n    return c\n",
    ),
    (
        "its original",
        "    import importlib, sys\n    importlib.reload(sys)\n    sys.setprofile(None)\n    return c\n",
    ),
    (
        "ctypes",
        "    import ctypes\n    ctypes.pythonapi.PyEval_SetProfile(None, None)\n    return c\n",
    ),
    (
        "gc",
        "    import gc\n    found = [x for x in gc.get_objects() if type(x).__name__ == 'function' and x.__name__ == 'note']\n    return c\n",
    ),
    (
        "closed",
        "    import os\n    os.write(16, b'e')\n    os.close(16)\n    try:\n        len(a)\n    except OSError:\n        pass\n    return c\n",
    ),
    (
        "replaced",
        "    import os\n    other = os.open('/dev/null', os.O_WRONLY)\n    os.dup2(other, 16)\n    return c\n",
    ),
    (
        "code made",
        "    space = {'a': a}\n    exec('i = 0\\nwhile i < len(a):\\n    a[i] += 1\\n    i += 1', space)\n    return pd.Series(space['a'], index=df.index)\n",
    ),
    (
        "code changed",
        "    f.__code__ = (lambda df: df).__code__.replace(co_name='g')\n    return c\n",
    ),
];

#[test]
fn what_counts_cannot_be_taken_away_unseen() {
    if !has_boxes() {
        return;
    }
    let launcher = prove(setup());
    for (name, body) in EVASIONS {
        let seen = counted(&launcher, body).is_none_or(|(.., long)| long.has_tampered || long.has_made_code);
        assert!(seen, "{name}");
    }
}
