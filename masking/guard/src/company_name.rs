//! Names of companies in the spellings of lists and of people.

use crate::folded::half_width;
use aho_corasick::AhoCorasick;
use std::borrow::Cow;

/// Full-width letters and digits as ASCII, everything in lower case: one spelling to compare.
pub(crate) fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        let is_folded = !text.bytes().any(|byte| byte.is_ascii_uppercase());
        return if is_folded {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(text.to_ascii_lowercase())
        };
    }
    let mut folded = String::with_capacity(text.len());
    for character in text.chars() {
        match half_width(character) {
            ascii if ascii.is_ascii() => folded.push(ascii.to_ascii_lowercase()),
            '\u{3000}' => folded.push(' '),
            other => folded.extend(other.to_lowercase()),
        }
    }
    Cow::Owned(folded)
}

/// The text without the blanks beside Chinese characters, which set a name wider but not apart (`五 粮 液`).
pub(crate) fn closed_up(text: &str) -> Cow<'_, str> {
    if !text.contains(char::is_whitespace) {
        return Cow::Borrowed(text);
    }
    let mut closed = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if closed.ends_with(|last: char| last.is_ascii()) && word.starts_with(|first: char| first.is_ascii())
        {
            closed.push(' ');
        }
        closed.push_str(word);
    }
    Cow::Owned(closed)
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
        .unwrap_or(listed.as_ref());
    // Only wide names bear marks and class letters: an English name may well begin or end with these letters.
    let bare = unmarked
        .strip_suffix('a')
        .filter(|bare| bare.chars().all(is_wide))
        .unwrap_or(unmarked)
        .to_owned();
    [listed.into_owned(), bare]
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The two spellings by their definition, character by character.
    fn spelled_out(text: &str) -> (String, String) {
        let folded: String = text
            .chars()
            .map(|character| match character {
                '\u{3000}' => ' ',
                _ => half_width(character),
            })
            .flat_map(char::to_lowercase)
            .collect();
        let mut closed = String::new();
        let mut is_blank_before = false;
        for character in folded.chars() {
            if character.is_whitespace() {
                is_blank_before = true;
                continue;
            }
            if is_blank_before && character.is_ascii() && closed.ends_with(|last: char| last.is_ascii()) {
                closed.push(' ');
            }
            is_blank_before = false;
            closed.push(character);
        }
        (folded, closed)
    }

    #[test]
    fn every_short_text_is_folded_and_closed_up_by_definition() {
        const ALPHABET: [char; 10] = [
            'a', 'Z', '9', ' ', '\t', '\u{3000}', 'Ａ', '贵', '\u{212a}', '\u{130}',
        ];
        let mut texts = vec![String::new()];
        for length in 1..=5 {
            let longer = texts.iter().filter(|text| text.chars().count() == length - 1);
            let longer: Vec<String> = longer
                .flat_map(|text| ALPHABET.map(|character| format!("{text}{character}")))
                .collect();
            texts.extend(longer);
        }
        assert_eq!(texts.len(), 111_111);
        for text in texts {
            let folded = fold(&text);
            assert_eq!(
                (folded.to_string(), closed_up(&folded).into_owned()),
                spelled_out(&text),
                "{text:?}"
            );
        }
    }
}
