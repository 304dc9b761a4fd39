//! How much a function does beside what was asked: its operations against those of the golden code.

/// The operations of a function and of the golden code of its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourceSize {
    /// Operations of the function's source.
    pub own: usize,
    /// Operations of the golden code.
    pub golden: usize,
}

impl SourceSize {
    /// From so many times the golden code's operations on a function is over-engineered.
    pub const TIMES: usize = 2;
    /// At least so many operations more than the golden code has an over-engineered function.
    pub const MORE: usize = 6;

    /// The sizes of two sources.
    #[must_use]
    pub fn of(own: &str, golden: &str) -> Self {
        Self {
            own: source_operations(own),
            golden: source_operations(golden),
        }
    }

    /// Whether it does at least twice as much as the golden code, and six operations more: a rule of this project.
    #[must_use]
    pub const fn is_over_engineered(self) -> bool {
        Self::TIMES * self.golden <= self.own && self.golden + Self::MORE <= self.own
    }
}

/// The operations of a Python source: calls, binary operators, comparisons, changes in place, `and`, `or`, `not`, `is`, and
/// the words that begin a branch, a loop, a check or a guarded part. Names, numbers, texts, comments, subscripts and
/// attributes are none, so that neither long names nor a docstring make a function large. A text that is no Python is
/// counted as far as it reads like it.
fn source_operations(source: &str) -> usize {
    let mut counter = OperationCounter::default();
    let mut rest = source;
    while let Some((token, after)) = next_token(rest) {
        counter.take(token);
        rest = after;
    }
    counter.operations
}

/// Words that are operations.
const COUNTED_WORDS: [&str; 13] = [
    "and", "or", "not", "is", "if", "elif", "for", "while", "try", "except", "with", "assert", "raise",
];
/// Further words that are no values.
const OTHER_WORDS: [&str; 19] = [
    "in", "else", "return", "lambda", "yield", "import", "from", "as", "pass", "del", "global", "nonlocal",
    "break", "continue", "finally", "async", "await", "def", "class",
];
/// Signs of two and more characters, longer ones first.
const SIGNS: [&str; 23] = [
    "**=", "//=", "<<=", ">>=", "->", ":=", "!=", "<=", ">=", "==", "+=", "-=", "*=", "/=", "%=", "&=", "|=",
    "^=", "@=", "**", "//", "<<", ">>",
];
/// Signs that are operations wherever they stand.
const COMPARISONS_AND_CHANGES: [&str; 20] = [
    "<", ">", "<=", ">=", "==", "!=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "@=", "**=", "//=",
    "<<=", ">>=", "~",
];
/// Signs that are operations after a value.
const BINARY: [&str; 13] = [
    "+", "-", "*", "/", "//", "%", "**", "@", "&", "|", "^", "<<", ">>",
];

/// Part of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SourceToken<'s> {
    /// A number or a text.
    Value,
    Word(&'s str),
    Sign(&'s str),
    LineEnd,
    /// Blanks and comments.
    Nothing,
}

/// What stands before a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Before {
    /// The beginning of a line, or what is no value.
    #[default]
    Nothing,
    /// A value.
    Value,
    /// `def` or `class`.
    Definition,
    /// The name that is defined.
    DefinedName,
}

#[derive(Debug, Default)]
struct OperationCounter {
    operations: usize,
    before: Before,
    depth: usize,
}

impl OperationCounter {
    fn take(&mut self, token: SourceToken<'_>) {
        let was_value = self.before == Before::Value;
        let (is_operation, now) = match token {
            SourceToken::Nothing => return,
            SourceToken::LineEnd if 0 < self.depth => return,
            SourceToken::LineEnd => (false, Before::Nothing),
            SourceToken::Word(word) if COUNTED_WORDS.contains(&word) => (true, Before::Nothing),
            SourceToken::Word("def" | "class") => (false, Before::Definition),
            SourceToken::Word(word) if OTHER_WORDS.contains(&word) => (false, Before::Nothing),
            SourceToken::Word(_) if self.before == Before::Definition => (false, Before::DefinedName),
            SourceToken::Value | SourceToken::Word(_) => (false, Before::Value),
            SourceToken::Sign(sign @ ("(" | "[" | "{")) => {
                self.depth += 1;
                (sign == "(" && was_value, Before::Nothing)
            }
            SourceToken::Sign(")" | "]" | "}") => {
                self.depth = self.depth.saturating_sub(1);
                (false, Before::Value)
            }
            SourceToken::Sign(sign) => {
                let is_binary = was_value && BINARY.contains(&sign);
                (
                    is_binary || COMPARISONS_AND_CHANGES.contains(&sign),
                    Before::Nothing,
                )
            }
        };
        self.operations += usize::from(is_operation);
        self.before = now;
    }
}

/// The first token of a text, and what follows it; none of an empty one.
fn next_token(text: &str) -> Option<(SourceToken<'_>, &str)> {
    let first = text.chars().next()?;
    if first == '#' {
        let end = text.find('\n').unwrap_or(text.len());
        return Some((SourceToken::Nothing, text.get(end..)?));
    }
    if first.is_ascii_digit() {
        return Some((SourceToken::Value, after_number(text)));
    }
    let (word, after) = split_while(text, |character| character.is_alphanumeric() || character == '_');
    let is_prefix = word.len() <= 2 && word.chars().all(|letter| "rbfuRBFU".contains(letter));
    if is_prefix && after.starts_with(['"', '\'']) {
        return Some((SourceToken::Value, after_text(after)));
    }
    if !word.is_empty() {
        return Some((SourceToken::Word(word), after));
    }
    if let Some(sign) = SIGNS.into_iter().find(|sign| text.starts_with(sign)) {
        return Some((SourceToken::Sign(sign), text.get(sign.len()..)?));
    }
    let (own, after) = text.split_at_checked(first.len_utf8())?;
    let token = match first {
        '\n' => SourceToken::LineEnd,
        // A line that goes on.
        '\\' => return Some((SourceToken::Nothing, after.strip_prefix('\n').unwrap_or(after))),
        character if character.is_whitespace() => SourceToken::Nothing,
        _ => SourceToken::Sign(own),
    };
    Some((token, after))
}

fn split_while(text: &str, is: impl Fn(char) -> bool) -> (&str, &str) {
    let end = text.find(|character| !is(character)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// What follows a number, which may have an exponent with a sign.
fn after_number(text: &str) -> &str {
    let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '.');
    let (number, after) = split_while(text, is_part);
    let is_cut = number.ends_with(['e', 'E']) && !number.starts_with("0x");
    match after.strip_prefix(['+', '-']) {
        Some(exponent) if is_cut => split_while(exponent, is_part).1,
        _ => after,
    }
}

/// What follows a text that begins with its quotes; one that does not end goes to the end of its line, or of the source.
fn after_text(text: &str) -> &str {
    let long = ["\"\"\"", "'''"]
        .into_iter()
        .find(|quotes| text.starts_with(quotes));
    let quotes = long.or_else(|| text.get(..1)).unwrap_or_default();
    let mut rest = text.get(quotes.len()..).unwrap_or_default();
    while let Some(character) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix(quotes) {
            return after;
        }
        if character == '\n' && long.is_none() {
            return rest;
        }
        let mut left = rest.chars();
        left.next();
        if character == '\\' {
            left.next();
        }
        rest = left.as_str();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::casts::float;
    use crate::task::FactorTasks;

    #[test]
    fn operations_are_calls_operators_and_branches_and_nothing_else() {
        for (source, operations) in [
            ("", 0),
            (
                "def alpha(df: pd.DataFrame) -> pd.Series:\n    return df['day_close']\n",
                0,
            ),
            ("y = c / c.shift(10) - 1\n", 3),
            ("'''a + b(c)'''\nx = f\"{a + b}\"  # c(d) + e\n", 0),
            ("x = 1e-12 + a\n", 1),
            ("x = f(*a, **b)[-1](c)\n", 2),
            ("x = (a\n  - b)\n-c\n", 1),
            ("@decorated\ndef g(a=1):\n    pass\n", 0),
            ("if a is not None and b >= 1:\n    x += 1\n", 6),
            ("x = a if b else not c\n", 2),
            ("x = r'\\'' + '\\\\' + 'it''s'\n", 2),
            ("x = '''never ends + 1", 0),
            ("x = 'no end + 1\ny = 1 + 2\n", 1),
            ("z = 价 + 量.mean()\n", 2),
        ] {
            assert_eq!(source_operations(source), operations, "{source}");
        }
    }

    /// What nobody asked for, in the order of a function: before the factor is computed, and after.
    const UNASKED: [(bool, &str); 9] = [
        (
            true,
            "    if df is None or len(df) == 0:\n        return pd.Series(dtype=float)\n",
        ),
        (
            true,
            "    for column in ['day_open', 'day_close']:\n        if column not in df.columns:\n            raise ValueError(column)\n",
        ),
        (true, "    df = df.copy().astype(float).sort_index()\n"),
        (false, "    y = y.replace([np.inf, -np.inf], np.nan)\n"),
        (false, "    y = y.ffill().fillna(0.0)\n"),
        (
            false,
            "    low, high = y.rolling(252).quantile(0.01), y.rolling(252).quantile(0.99)\n    y = y.clip(lower=low, upper=high)\n",
        ),
        (
            false,
            "    y = (y - y.rolling(60).mean()) / (y.rolling(60).std() + 1e-12)\n",
        ),
        (false, "    y = y.ewm(span=5, adjust=False).mean()\n"),
        (false, "    y = np.tanh(y / 3.0)\n"),
    ];

    /// A golden function with so many unasked steps, from one of them on.
    fn with_unasked(golden: &str, (first, count): (usize, usize)) -> String {
        let steps = || (0..count).map(|step| UNASKED[(first + step) % UNASKED.len()]);
        let of = |wants_before: bool| -> String {
            let own = steps().filter(|(is_before, _)| *is_before == wants_before);
            own.map(|(_, step)| step).collect()
        };
        let (head, body) = golden.split_once("\"\"\"\n").unwrap();
        let (body, end) = body.rsplit_once("    y.name").unwrap();
        format!("{head}\"\"\"\n{}{body}{}    y.name{end}", of(true), of(false))
    }

    #[expect(clippy::print_stdout, reason = "the rates that the documentation names")]
    #[test]
    fn no_golden_function_is_over_engineered_and_more_unasked_steps_are_found_more_often() {
        let tasks = FactorTasks::compiled_in().unwrap();
        let golden: Vec<&str> = tasks
            .as_slice()
            .iter()
            .filter_map(|task| task.golden.as_deref())
            .collect();
        assert_eq!(golden.len(), 108);
        let found = (0..=UNASKED.len()).map(|count| {
            let firsts = golden
                .iter()
                .flat_map(|golden| (0..UNASKED.len()).map(move |first| (golden, first)));
            let found = firsts.filter(|(golden, first)| {
                SourceSize::of(&with_unasked(golden, (*first, count)), golden).is_over_engineered()
            });
            found.count()
        });
        let found: Vec<usize> = found.collect();
        let all = golden.len() * UNASKED.len();
        println!("unasked steps, found of {all}:");
        for (count, found) in found.iter().enumerate() {
            println!("{count}: {found} ({:.0} %)", 100.0 * float(*found) / float(all));
        }
        assert_eq!(found[0], 0);
        assert!(found.windows(2).all(|two| two[0] <= two[1]), "{found:?}");
        assert!(all * 9 / 10 < found[UNASKED.len()], "{found:?}");
    }
}
