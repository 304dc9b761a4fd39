//! Planted programs, of which it is known what they are: leaks, loops, and clean twins of both. They are drawn, and share no constant
//! with what judges them.

use ktd_env::KeyedStream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a planted program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PlantedKind {
    /// It reads later rows.
    Leak,
    /// The same without.
    CleanLeak,
    /// It takes one row after the other.
    Loop,
    /// It computes as much without.
    CleanLoop,
}

impl PlantedKind {
    /// All of them, in order.
    pub const ALL: [Self; 4] = [Self::Leak, Self::CleanLeak, Self::Loop, Self::CleanLoop];

    /// The words in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Leak => "leaks",
            Self::CleanLeak => "clean twins of leaks",
            Self::Loop => "loops",
            Self::CleanLoop => "clean twins of loops",
        }
    }

    /// Whether a gate must find something in it.
    #[must_use]
    pub const fn is_planted(self) -> bool {
        matches!(self, Self::Leak | Self::Loop)
    }
}

/// A program with what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlantedProgram {
    /// What it is.
    pub kind: PlantedKind,
    /// How it does it.
    pub family: &'static str,
    /// Its source: a factor function with a name like any other.
    pub source: String,
}

/// Names that tell nothing.
const NAMES: [&str; 6] = [
    "momentum",
    "reversion",
    "volatility",
    "volume",
    "pattern",
    "composite",
];

/// Causal values, as expressions over `o h l c v`; `{w}` is a window. The last ones are steps, of which there are few values.
const BASES: [&str; 11] = [
    "c / c.rolling({w}).mean() - 1",
    "c / c.shift({w}) - 1",
    "np.log(c).diff().rolling({w}).std()",
    "(c - l.rolling({w}).min()) / (h.rolling({w}).max() - l.rolling({w}).min())",
    "v / v.rolling({w}).mean()",
    "c.ewm(span={w}, adjust=False, min_periods={w}).mean() / c - 1",
    "(h - l).rolling({w}).mean() / c",
    "(np.sign(c.diff()) * v).rolling({w}).sum() / v.rolling({w}).sum()",
    "(c - o).rolling({w}).mean() / (h - l).rolling({w}).mean()",
    "(c > c.rolling({w}).mean()).astype(float).where(c.rolling({w}).mean().notna())",
    "np.sign(c.diff()).rolling({w}).sum()",
];
const CONTINUOUS_BASES: u64 = 9;

/// What a decision reads, `{s}` rows later (or earlier, in the twin).
const READS: [&str; 5] = [
    "c.shift({s}) / c - 1",
    "(c.shift({s}) - c) / (h - l)",
    "np.log(v.shift({s}) / v)",
    "h.shift({s}) / c - 1",
    "(o.shift({s}) - l) / c",
];

/// When a decision is taken, as a mask over rows.
const EVENTS: [&str; 8] = [
    "c > 0",
    "np.arange(len(df)) % {every} == {at}",
    "r.abs() > r.abs().rolling(120, min_periods=20).quantile(0.95)",
    "v > v.shift(1).rolling(40).max()",
    "c > h.shift(1).rolling(30).max()",
    "df.index.dayofweek == {day}",
    "(r.shift(1) > 0) & (r < 0) & (r.abs() > 0.01)",
    "pd.Series(df.index.month, index=df.index).diff() != 0",
];
/// Rows from one decision to the next, up to twice in the shortest series.
const EVERY: [u64; 6] = [2, 5, 20, 60, 120, 180];

/// What takes all of a sample, and the same of what came before.
const WHOLE_SAMPLE: [(&str, &str); 6] = [
    (
        "(y - y.mean()) / y.std()",
        "(y - y.expanding().mean()) / y.expanding().std()",
    ),
    ("y.rank(pct=True)", "y.expanding().rank(pct=True)"),
    ("y / y.abs().max()", "y / y.abs().cummax()"),
    (
        "y.clip(y.quantile(0.05), y.quantile(0.95))",
        "y.clip(y.expanding().quantile(0.05), y.expanding().quantile(0.95))",
    ),
    ("y - y.iloc[-1]", "y - y.shift(1)"),
    ("y.where(y > y.median())", "y.where(y > y.expanding().median())"),
];
/// What fills holes from behind, and the same from the front. `w` rows at the start have no value, and others are taken away.
const FILLS: [(&str, &str); 5] = [
    ("y.bfill()", "y.ffill()"),
    ("y.fillna(y.dropna().iloc[0])", "y.fillna(0.0)"),
    (
        "y.where(v > v.rolling(10).mean()).bfill()",
        "y.where(v > v.rolling(10).mean()).ffill()",
    ),
    (
        "y.where(r > 0).interpolate(limit_direction='both')",
        "y.where(r > 0).ffill()",
    ),
    ("y.fillna(y.mean())", "y.fillna(y.expanding().mean())"),
];
/// What looks at both sides of a row, and the same at one.
const CENTRED: [(&str, &str); 4] = [
    (
        "y.rolling(9, center=True, min_periods=1).mean()",
        "y.rolling(9, min_periods=1).mean()",
    ),
    (
        "pd.Series(np.gradient(y.fillna(0.0)), index=df.index)",
        "y.fillna(0.0).diff()",
    ),
    (
        "y.iloc[::-1].ewm(span=6).mean().iloc[::-1]",
        "y.ewm(span=6).mean()",
    ),
    (
        "y.groupby([df.index.year, df.index.month]).transform('mean')",
        "y.groupby([df.index.year, df.index.month]).cumsum()",
    ),
];

/// Loops over `a`, a list of closes, that fill the list `z`; `{k}` is a number below 1.
const LOOPS: [(&str, &str); 16] = [
    (
        "for",
        "    s = 0.0\n    for x in a:\n        s = s * {k} + x\n        z.append(s)\n",
    ),
    (
        "while",
        "    i, s = 0, 0.0\n    while i < len(a):\n        s = s * {k} + a[i]\n        z.append(s)\n        i += 1\n",
    ),
    ("comprehension", "    z = [x * {k} for x in a]\n"),
    ("generator", "    z = list(x * {k} for x in a)\n"),
    (
        "key of sorted",
        "    sorted(a, key=lambda x: z.append(x * {k}) or 0)\n",
    ),
    (
        "re.sub",
        "    import re\n    re.sub('q', lambda m: z.append(a[len(z)] * {k}) or '', 'q' * len(a))\n",
    ),
    (
        "starmap",
        "    from itertools import starmap\n    z = list(starmap(lambda x, y: x * {k} + y, zip(a, a)))\n",
    ),
    (
        "combine",
        "    z = list(c.combine(o, lambda x, y: x * {k} + y))\n",
    ),
    (
        "__getitem__",
        "    class Rows:\n        def __len__(self):\n            return len(a)\n        def __getitem__(self, i):\n            return a[i] * {k}\n    z = list(Rows())\n",
    ),
    (
        "recursion",
        "    import sys\n    sys.setrecursionlimit(20000)\n    def go(i, s):\n        if i < len(a):\n            z.append(s * {k} + a[i])\n            go(i + 1, z[-1])\n    go(0, 0.0)\n",
    ),
    (
        "bound apply",
        "    each = c.apply\n    z = list(each(lambda x: x * {k}))\n",
    ),
    (
        "apply after a window",
        "    z = list(c.rolling(3, min_periods=1).mean().apply(lambda x: x * {k}))\n",
    ),
    (
        "window of one row",
        "    z = list(c.rolling(1).apply(lambda x: x[0] * {k}, raw=True))\n",
    ),
    (
        "window that remembers",
        "    s = [0.0]\n    def step(x):\n        s[0] = s[0] * {k} + x[-1]\n        return s[0]\n    z = list(c.rolling(2, min_periods=1).apply(step, raw=True))\n",
    ),
    (
        "accumulate",
        "    from itertools import accumulate\n    z = list(accumulate(a, lambda s, x: s * {k} + x))\n",
    ),
    (
        "unrolled",
        "    for i in range(0, len(a), 4):\n        z += [a[i] * {k}]\n        z += [x * {k} for x in a[i + 1:i + 2]]\n        z += a[i + 2:i + 3]\n        z += a[i + 3:i + 4]\n",
    ),
];
/// Vectorised values, some of them with what looks like a loop.
const VECTORISED: [(&str, &str); 6] = [
    ("plain", "    z = c.ewm(alpha={k}, adjust=False).mean()\n"),
    (
        "few turns",
        "    z = c * 0.0\n    for lag in range(12):\n        z = z + {k} ** lag * c.shift(lag)\n",
    ),
    (
        "window function",
        "    z = c.rolling(15).apply(lambda x: (x * {k}).sum() / x.max(), raw=True)\n",
    ),
    (
        "few names",
        "    z = pd.concat([x * {k} for x in (c, o, h, l)], axis=1).mean(axis=1)\n",
    ),
    (
        "groups",
        "    z = c.groupby(df.index.dayofweek).transform(lambda s: s.shift(1).expanding(5).mean() * {k})\n",
    ),
    (
        "weeks",
        "    z = c.resample('W').last().shift(1).reindex(df.index, method='ffill') * {k}\n",
    ),
];

struct Draw<'s>(&'s mut KeyedStream);

impl Draw<'_> {
    fn below(&mut self, bound: u64) -> usize {
        usize::try_from(self.0.below(bound)).unwrap_or(0)
    }

    fn one<T: Copy, const N: usize>(&mut self, of: &[T; N]) -> Option<T> {
        let place = self.below(u64::try_from(N).unwrap_or(1));
        of.get(place).copied()
    }
}

/// A program of a kind.
#[must_use]
pub fn planted_program(kind: PlantedKind, stream: &mut KeyedStream) -> PlantedProgram {
    let mut draw = Draw(stream);
    let (family, body) = match kind {
        PlantedKind::Leak | PlantedKind::CleanLeak => value_body(kind == PlantedKind::Leak, &mut draw),
        PlantedKind::Loop => loop_body(&LOOPS, &mut draw),
        PlantedKind::CleanLoop => loop_body(&VECTORISED, &mut draw),
    };
    let name = draw.one(&NAMES).unwrap_or("momentum");
    let number = 2 + draw.below(90);
    let source = format!(
        "import numpy as np\nimport pandas as pd\n\n\ndef alpha_{name}_{number}(df: pd.DataFrame) -> pd.Series:\n    \
         \"\"\"A factor over {number} days.\"\"\"\n    o, h, l, c, v = (df[f'day_{{part}}'] for part in ('open', 'high', 'low', 'close', 'volume'))\n    \
         r = c.pct_change()\n{body}    return y.rename('alpha_{name}_{number}')\n"
    );
    PlantedProgram { kind, family, source }
}

/// Windows of planted programs, rows.
const WINDOWS: [u32; 7] = [3, 5, 8, 14, 20, 30, 45];

fn value_body(is_leak: bool, draw: &mut Draw<'_>) -> (&'static str, String) {
    // steps seldom show a rare change: their twins would be leaks by name alone
    let base = |draw: &mut Draw<'_>, bases: u64| {
        let place = draw.below(bases);
        let window = WINDOWS
            .get(draw.below(7))
            .copied()
            .unwrap_or(WINDOWS[0])
            .to_string();
        BASES
            .get(place)
            .copied()
            .unwrap_or_default()
            .replace("{w}", &window)
    };
    let all = u64::try_from(BASES.len()).unwrap_or(1);
    let pair = |draw: &mut Draw<'_>, family, (leak, clean): (&str, &str), bases| {
        let chosen = if is_leak { leak } else { clean };
        (
            family,
            format!("    y = {}\n    y = {chosen}\n", base(draw, bases)),
        )
    };
    match draw.below(10) {
        0 => {
            let chosen = draw.one(&WHOLE_SAMPLE).unwrap_or_default();
            pair(draw, "whole sample", chosen, CONTINUOUS_BASES)
        }
        1 => {
            let chosen = draw.one(&CENTRED).unwrap_or_default();
            pair(draw, "both sides", chosen, CONTINUOUS_BASES)
        }
        2 | 3 => {
            let chosen = draw.one(&FILLS).unwrap_or_default();
            pair(draw, "filled from behind", chosen, all)
        }
        _ => {
            let rows = 1 + draw.below(5);
            let shift = if is_leak {
                format!("-{rows}")
            } else {
                rows.to_string()
            };
            let read = draw.one(&READS).unwrap_or_default().replace("{s}", &shift);
            let every = draw.one(&EVERY).unwrap_or(2);
            let event = draw
                .one(&EVENTS)
                .unwrap_or_default()
                .replace("{every}", &every.to_string())
                .replace("{at}", &draw.below(every).to_string())
                .replace("{day}", &draw.below(5).to_string());
            let base = base(draw, CONTINUOUS_BASES);
            let mix = [
                "y.where(~on, ahead)",
                "y + ahead.where(on, 0.0)",
                "ahead.where(on, 0.0)",
            ];
            let mix = draw.one(&mix).unwrap_or_default();
            let body = format!(
                "    y = {base}\n    on = pd.Series({event}, index=df.index)\n    ahead = {read}\n    y = {mix}\n"
            );
            ("decision", body)
        }
    }
}

fn loop_body<const N: usize>(of: &[(&'static str, &str); N], draw: &mut Draw<'_>) -> (&'static str, String) {
    let (family, text) = draw.one(of).unwrap_or_default();
    let factor = format!("0.{}", 11 + draw.below(80));
    let text = text.replace("{k}", &factor);
    let made = format!(
        "    a, z = c.tolist(), []\n{text}    y = pd.Series(np.asarray(z, dtype=float), index=df.index)\n"
    );
    (family, made)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn programs_are_drawn_from_every_family_and_are_those_of_their_stream() {
        for kind in PlantedKind::ALL {
            let drawn = || {
                let mut stream = KeyedStream::new([5; 32]);
                (0..200)
                    .map(|_| planted_program(kind, &mut stream))
                    .collect::<Vec<_>>()
            };
            let programs = drawn();
            assert_eq!(programs, drawn());
            let families: BTreeSet<&str> = programs.iter().map(|program| program.family).collect();
            let wanted = match kind {
                PlantedKind::Leak | PlantedKind::CleanLeak => 4,
                PlantedKind::Loop => LOOPS.len(),
                PlantedKind::CleanLoop => VECTORISED.len(),
            };
            assert_eq!(families.len(), wanted);
            let sources: BTreeSet<&str> = programs.iter().map(|program| program.source.as_str()).collect();
            assert!(150 < sources.len());
            // nothing was left out, and no twin reads ahead
            let mut sources = sources.iter();
            let is_whole = |source: &&str| {
                !["{w}", "{s}", "{k}", "{every}", "{at}", "{day}"]
                    .iter()
                    .any(|hole| source.contains(hole))
            };
            assert!(
                sources
                    .all(|source| is_whole(source)
                        && (kind == PlantedKind::Leak || !source.contains("shift(-")))
            );
        }
    }
}
