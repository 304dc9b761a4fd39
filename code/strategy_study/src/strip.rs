//! A scenario as a strip of letters, one a bar: what the reference does, and where a program does otherwise.

use std::fmt::Write;

/// Bars of one line.
const WIDTH: usize = 80;

/// The letters of a signal, and of a position.
const SIGNALS: [(&str, char); 6] = [
    ("NONE", '.'),
    ("LONG", 'L'),
    ("SHORT", 'S'),
    ("ADD", 'A'),
    ("REBALANCE", 'R'),
    ("EXIT", 'X'),
];
const POSITIONS: [(&str, char); 3] = [("FLAT", '_'), ("LONG", '+'), ("SHORT", '-')];

/// What the letters mean.
pub(crate) const LETTERS: &str =
    "signals: . none, L long, S short, A add, R rebalance, X exit; positions: _ flat, + long, - short";

/// Strips of the reference's tokens and, where given, of a program's; bars on which they differ are marked.
#[must_use]
pub fn scenario_strip(reference: &[String], program: Option<&[String]>) -> String {
    let bars = reference.len().max(program.map_or(0, <[String]>::len));
    let mut text = String::new();
    for first in (0..bars).step_by(WIDTH) {
        let rows = first..bars.min(first + WIDTH);
        let line = |name: &str, tokens: &[String], field: usize, letters: &[(&str, char)]| {
            let own: String = rows
                .clone()
                .map(|bar| letter(tokens.get(bar), field, letters))
                .collect();
            format!("{name:<18} {own}\n")
        };
        // Writing to a string cannot fail.
        writeln!(text, "bars {first} to {}", rows.end - 1).ok();
        text += &line("reference", reference, 1, &SIGNALS);
        text += &line("  position", reference, 2, &POSITIONS);
        if let Some(program) = program {
            text += &line("program", program, 1, &SIGNALS);
            text += &line("  position", program, 2, &POSITIONS);
            let marks: String = rows
                .clone()
                .map(|bar| {
                    if reference.get(bar) == program.get(bar) {
                        ' '
                    } else {
                        '^'
                    }
                })
                .collect();
            if marks.contains('^') {
                writeln!(text, "{:<18} {marks}", "  differ").ok();
            }
        }
    }
    text += LETTERS;
    text.push('\n');
    text
}

/// The letter of a token's field; a blank where there is no token.
fn letter(token: Option<&String>, field: usize, letters: &[(&str, char)]) -> char {
    let Some(token) = token else { return ' ' };
    letter_of(token.split('|').nth(field).unwrap_or(""), letters)
}

/// The letter of a word; `?` for what no document has.
fn letter_of(word: &str, letters: &[(&str, char)]) -> char {
    let known = letters.iter().find(|(name, _)| *name == word);
    known.map_or('?', |(_, letter)| *letter)
}

/// The letter of a signal; `?` for what no document has.
pub(crate) fn signal_letter(word: &str) -> char {
    letter_of(word, &SIGNALS)
}

/// The letter of a position; `?` for what no document has.
pub(crate) fn position_letter(word: &str) -> char {
    letter_of(word, &POSITIONS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_on_which_two_programs_differ_are_marked() {
        let tokens = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let reference = tokens(&["0|NONE|FLAT|0.0", "1|LONG|LONG|1.0", "2|EXIT|FLAT|0.0"]);
        let program = tokens(&["0|NONE|FLAT|0.0", "1|BUY|LONG|1.0", "2|EXIT|FLAT|0.0"]);
        let strip = scenario_strip(&reference, Some(&program));
        let lines: Vec<&str> = strip.lines().collect();
        assert_eq!(lines.first(), Some(&"bars 0 to 2"));
        assert_eq!(lines.get(1), Some(&"reference          .LX"));
        assert_eq!(lines.get(2), Some(&"  position         _+_"));
        assert_eq!(lines.get(3), Some(&"program            .?X"));
        assert_eq!(lines.get(5), Some(&"  differ            ^ "));
        assert!(!scenario_strip(&reference, Some(&reference)).contains('^'));
        assert_eq!(scenario_strip(&reference, None).lines().count(), 4);
    }
}
