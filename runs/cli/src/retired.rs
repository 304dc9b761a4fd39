//! Names of commands that another one has taken over.

use crate::CliError;

/// What was typed, and what is typed now.
const RETIRED: [(&str, &str); 10] = [
    ("leak report", "ktd report DIR"),
    ("alpha report", "ktd report DIR"),
    ("factor-code report", "ktd report DIR"),
    ("strategy-code report", "ktd report DIR"),
    ("strategy-code replay", "ktd replay DIR --deep"),
    ("wire check", "ktd doctor --file FILE"),
    ("probe batch", "ktd probe FILE"),
    ("run --dry-run", "ktd plan FILE"),
    ("factor-code run --dry-run", "ktd plan FILE"),
    ("strategy-code run --dry-run", "ktd plan FILE"),
];

/// What to say of arguments that name a command which is no more.
pub(super) fn retired(arguments: &[String]) -> Option<CliError> {
    let words: Vec<&str> = arguments
        .iter()
        .map(String::as_str)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let is_typed = |old: &&(&str, &str)| {
        let (flags, names): (Vec<&str>, Vec<&str>) = old.0.split(' ').partition(|word| word.starts_with('-'));
        let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
        words.starts_with(&names) && flags.into_iter().all(has)
    };
    let (old, new) = RETIRED.iter().find(is_typed)?;
    Some(CliError::input(
        format_args!("`ktd {old}` is no command any more"),
        format_args!("type `{new}`"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_name_answers_with_the_new_one() {
        let hint = |line: &str| {
            let arguments: Vec<String> = line.split(' ').map(str::to_owned).collect();
            retired(&arguments).and_then(|error| error.hint().map(str::to_owned))
        };
        for (line, new) in [
            ("factor-code report results/x --all", "type `ktd report DIR`"),
            (
                "--json wire check recorded.jsonl",
                "type `ktd doctor --file FILE`",
            ),
            ("run --quiet try.toml --dry-run", "type `ktd plan FILE`"),
        ] {
            assert_eq!(hint(line).as_deref(), Some(new), "{line}");
        }
        assert_eq!(hint("run try.toml"), None);
        assert_eq!(hint("report results/x"), None);
    }
}
