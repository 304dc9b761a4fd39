//! A text in one spelling, with the way back to its own bytes.

use std::ops::Range;

/// A text with narrow letters and digits, single blanks and nothing invisible. Two versions, as written and in lower
/// case, share their places.
#[derive(Debug)]
pub struct Folded {
    plain: String,
    lower: String,
    /// For each byte of the folded text, where the character that it comes from begins.
    origin: Vec<usize>,
    end: usize,
}

impl Folded {
    /// The folded text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut folded = Self {
            plain: String::with_capacity(text.len()),
            lower: String::with_capacity(text.len()),
            origin: Vec::with_capacity(text.len()),
            end: text.len(),
        };
        for (at, character) in text.char_indices() {
            let character = narrow(character);
            let is_repeated_blank = character == ' ' && folded.plain.ends_with(' ');
            if is_repeated_blank || is_invisible(character) {
                continue;
            }
            folded.plain.push(character);
            folded.lower.push(lower(character));
            folded.origin.extend((0..character.len_utf8()).map(|_| at));
        }
        folded
    }

    /// The text as it was written.
    #[must_use]
    pub fn plain(&self) -> &str {
        &self.plain
    }

    /// The text in lower case.
    #[must_use]
    pub fn lower(&self) -> &str {
        &self.lower
    }

    /// The bytes of the text itself behind a part of the folded one.
    #[must_use]
    pub fn own_bytes(&self, part: &Range<usize>) -> Range<usize> {
        let place = |at: usize| self.origin.get(at).copied().unwrap_or(self.end);
        place(part.start)..place(part.end)
    }

    /// Whether a part is the inside of no longer word. Chinese characters stand beside a word without being of it.
    #[must_use]
    pub fn is_whole(&self, part: &Range<usize>) -> bool {
        let is_free = |inside: Option<char>, outside: Option<char>| {
            !(inside.is_some_and(is_of_word) && outside.is_some_and(is_of_word))
        };
        let (before, word, after) = self.around(part);
        is_free(word.chars().next(), before.chars().next_back())
            && is_free(word.chars().next_back(), after.chars().next())
    }

    /// What stands before a part, the part, and what stands after it.
    #[must_use]
    pub fn around(&self, part: &Range<usize>) -> (&str, &str, &str) {
        (
            self.plain.get(..part.start).unwrap_or_default(),
            self.plain.get(part.clone()).unwrap_or_default(),
            self.plain.get(part.end..).unwrap_or_default(),
        )
    }
}

/// A text as lists are compared: folded and in lower case.
#[must_use]
pub fn key(text: &str) -> String {
    Folded::of(text).lower
}

/// A text as it is compared where case counts.
#[must_use]
pub fn exact_key(text: &str) -> String {
    Folded::of(text).plain
}

/// A full-width letter, digit or sign as its ASCII one.
pub(crate) fn half_width(character: char) -> char {
    match character {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(character) - 0xfee0).unwrap_or(character),
        _ => character,
    }
}

fn narrow(character: char) -> char {
    match character {
        '\u{2019}' => '\'',
        '\u{2010}'..='\u{2015}' => '-',
        _ if character.is_whitespace() => ' ',
        _ => half_width(character),
    }
}

/// Characters that part a word for machines and not for the eye.
fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Lower case where it takes as many bytes, so that both versions share their places.
fn lower(character: char) -> char {
    let mut all = character.to_lowercase();
    match (all.next(), all.next()) {
        (Some(one), None) if one.len_utf8() == character.len_utf8() => one,
        _ => character,
    }
}

/// Whether a character makes a longer word of what it stands beside.
fn is_of_word(character: char) -> bool {
    character == '_' || (character.is_alphanumeric() && !is_chinese(character))
}

/// Han characters, and the kana that stand between them.
#[must_use]
pub const fn is_chinese(character: char) -> bool {
    matches!(character,
        '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_lead_back_to_the_text() {
        let text = "买\u{ff22}\u{ff39}\u{ff24}\u{0}  and\n\u{200b}Caf\u{c9}!";
        let folded = Folded::of(text);
        assert_eq!(folded.plain(), "买BYD and Caf\u{c9}!");
        assert_eq!(folded.lower(), "买byd and caf\u{e9}!");
        for (word, own) in [
            ("byd", "\u{ff22}\u{ff39}\u{ff24}\u{0}"),
            ("caf\u{e9}", "Caf\u{c9}"),
            ("买", "买"),
        ] {
            let at = folded.lower().find(word).unwrap();
            assert_eq!(&text[folded.own_bytes(&(at..at + word.len()))], own);
        }
    }

    #[test]
    fn a_word_is_whole_beside_chinese_and_signs() {
        for (text, word, is_whole) in [
            ("看好BYD的销量", "byd", true),
            ("BYD's sales", "byd", true),
            ("BYDs", "byd", false),
            ("x_byd", "byd", false),
            ("caf\u{e9}byd", "byd", false),
            ("招商银行股份", "银行", true),
        ] {
            let folded = Folded::of(text);
            let at = folded.lower().find(word).unwrap();
            assert_eq!(folded.is_whole(&(at..at + word.len())), is_whole, "{text}");
        }
    }
}
