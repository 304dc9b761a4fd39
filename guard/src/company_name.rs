//! Names of companies in the spellings of lists and of people.

use crate::folded::half_width;
use aho_corasick::AhoCorasick;

/// Full-width letters and digits as ASCII, everything in lower case: one spelling to compare.
pub(crate) fn fold(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\u{3000}' => ' ',
            _ => half_width(character),
        })
        .flat_map(char::to_lowercase)
        .collect()
}

/// The text without the blanks beside Chinese characters, which set a name wider but not apart (`五 粮 液`).
pub(crate) fn closed_up(text: &str) -> String {
    let mut closed = String::with_capacity(text.len());
    let mut blanks = 0;
    for character in text.chars() {
        if character.is_whitespace() {
            blanks += 1;
            continue;
        }
        let is_beside_ascii = character.is_ascii() && closed.ends_with(|last: char| last.is_ascii());
        if blanks > 0 && is_beside_ascii {
            closed.push(' ');
        }
        blanks = 0;
        closed.push(character);
    }
    closed
}

/// A name as lists write it, without the blanks and zeros that fill it up, and the same without the marks of its state
/// and share class, as people spell it.
#[must_use]
pub fn spellings(name: &str) -> [String; 2] {
    const MARKS: [&str; 6] = ["*st", "s*st", "st", "xd", "xr", "dr"];
    let filled = fold(name);
    let listed =
        closed_up(filled.trim_matches(|character: char| character.is_whitespace() || character.is_control()));
    let unmarked = MARKS
        .iter()
        .find_map(|mark| listed.strip_prefix(mark))
        .filter(|rest| rest.chars().next().is_some_and(is_wide))
        .unwrap_or(&listed);
    // Only wide names bear marks and class letters: an English name may well begin or end with these letters.
    let bare = unmarked
        .strip_suffix('a')
        .filter(|bare| bare.chars().all(is_wide))
        .unwrap_or(unmarked)
        .to_owned();
    [listed, bare]
}

const fn is_wide(character: char) -> bool {
    !character.is_ascii()
}

/// Names so short that honest text contains them by chance are left to the types.
#[must_use]
pub fn is_telling(name: &str) -> bool {
    let wide = name.chars().filter(|character| !character.is_ascii()).count();
    wide >= 2 || name.chars().filter(char::is_ascii_alphabetic).count() >= 5
}

/// A name counts when it is not the inside of a longer ASCII word.
pub(crate) fn has_name(names: &AhoCorasick, text: &str) -> bool {
    names.find_overlapping_iter(text).any(|found| {
        let before = text
            .get(..found.start())
            .and_then(|before| before.chars().next_back());
        let after = text.get(found.end()..).and_then(|after| after.chars().next());
        let word =
            |character: Option<char>| character.is_some_and(|character| character.is_ascii_alphanumeric());
        let first = text.get(found.range()).and_then(|name| name.chars().next());
        let ascii = first.is_some_and(|character| character.is_ascii());
        !ascii || !(word(before) || word(after))
    })
}
