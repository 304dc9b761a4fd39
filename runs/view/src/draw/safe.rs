//! Text from files that others made: shown so that it commands neither a terminal nor a spreadsheet.

use std::borrow::Cow;
use std::fmt::Write;

/// Text for a terminal: control characters, and marks that turn the text round them, are spelled out as `\u{1b}`, so
/// that an id from a foreign file can neither colour, move nor overwrite what stands near it.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    let is_hidden = |character: char| character.is_control() || turns_text(character);
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_hidden(character) {
            // Writing to a string cannot fail.
            write!(shown, "\\u{{{:x}}}", u32::from(character)).ok();
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

/// Text for a cell of a CSV file: a spreadsheet would run what begins like a formula, so an apostrophe stands before it;
/// numbers stay as they are, and control characters are spelled out as in [`visible`].
#[must_use]
pub fn csv_text(text: &str) -> Cow<'_, str> {
    let is_number = text.parse::<f64>().is_ok();
    if text.starts_with(['=', '+', '-', '@', '\t', '\r']) && !is_number {
        Cow::Owned(format!("'{}", visible(text)))
    } else {
        visible(text)
    }
}

/// Whether a character is a mark that changes the direction of text.
pub(super) const fn turns_text(character: char) -> bool {
    matches!(character, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_commands_a_terminal() {
        for (text, shown) in [
            ("momentum", "momentum"),
            ("\u{8d35}\u{5dde} '$x'", "\u{8d35}\u{5dde} '$x'"),
            ("\u{1b}[2J\u{1b}]0;x\u{7}", "\\u{1b}[2J\\u{1b}]0;x\\u{7}"),
            ("a\r\n\tb\u{9b}31m", "a\\u{d}\\u{a}\\u{9}b\\u{9b}31m"),
            ("left\u{202e}right", "left\\u{202e}right"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }

    #[test]
    fn nothing_is_run_by_a_spreadsheet() {
        for (text, cell) in [
            ("=HYPERLINK(\"x\")", "'=HYPERLINK(\"x\")"),
            ("+1+cmd|' /C calc'!A0", "'+1+cmd|' /C calc'!A0"),
            ("-2+3", "'-2+3"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\\u{9}=1"),
            ("\r=1", "'\\u{d}=1"),
            ("-0.5", "-0.5"),
            ("+1e-3", "+1e-3"),
            ("gpt-5=x", "gpt-5=x"),
            ("", ""),
        ] {
            assert_eq!(csv_text(text), cell);
        }
    }
}
