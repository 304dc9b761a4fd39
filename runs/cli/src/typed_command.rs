//! The command line as it was typed.

/// The command as it was typed.
pub(crate) fn this_command() -> String {
    let words = std::env::args_os().map(|word| quoted(&word.to_string_lossy()));
    words.collect::<Vec<_>>().join(" ")
}

/// A word as a shell takes it.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./=:,@%+".contains(letter);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_told_as_a_shell_takes_it() {
        assert_eq!(quoted("results/a-1.toml"), "results/a-1.toml");
        assert_eq!(quoted("it's $5"), r"'it'\''s $5'");
        assert_eq!(quoted(""), "''");
    }
}
