//! The sentence around a word, and texts that no terminal is turned upside down by.

use std::ops::Range;

/// Characters of a sentence kept on each side of the word.
const SIDE_CHARS: usize = 80;

/// A sentence in three parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quotation {
    /// What stands before the word.
    pub before: String,
    /// The word as it was written.
    pub word: String,
    /// What stands after it.
    pub after: String,
}

impl Quotation {
    /// The sentence around `bytes` of `text`; where it is long, `…` stands for its far ends.
    #[must_use]
    pub fn of(text: &str, bytes: &Range<usize>) -> Self {
        let before = text.get(..bytes.start).unwrap_or_default();
        let after = text.get(bytes.end..).unwrap_or_default();
        let start = ends(before).last().unwrap_or(0);
        let end = ends(after).next().unwrap_or(after.len());
        Self {
            before: tail(before.get(start..).unwrap_or_default().trim_start()),
            word: text.get(bytes.clone()).unwrap_or_default().to_owned(),
            after: head(after.get(..end).unwrap_or_default().trim_end()),
        }
    }

    /// The whole.
    #[must_use]
    pub fn sentence(&self) -> String {
        format!("{}{}{}", self.before, self.word, self.after)
    }

    /// The whole with the word in brackets, for a terminal.
    #[must_use]
    pub fn marked(&self) -> String {
        let Self { before, word, after } = self;
        shown(&format!("{before}«{word}»{after}"))
    }
}

/// Places after the ends of sentences: a Chinese stop, a line's end, or a Latin stop before a blank.
fn ends(text: &str) -> impl Iterator<Item = usize> {
    let mut characters = text.char_indices().peekable();
    std::iter::from_fn(move || {
        while let Some((at, character)) = characters.next() {
            let is_before_blank = characters.peek().is_none_or(|(_, next)| next.is_whitespace());
            let is_end = match character {
                '。' | '！' | '？' | '；' | '\n' | '!' | '?' => true,
                '.' | ';' => is_before_blank,
                _ => false,
            };
            if is_end {
                return Some(at + character.len_utf8());
            }
        }
        None
    })
}

fn tail(text: &str) -> String {
    let count = text.chars().count();
    if count <= SIDE_CHARS {
        return text.to_owned();
    }
    std::iter::once('…')
        .chain(text.chars().skip(count - SIDE_CHARS))
        .collect()
}

fn head(text: &str) -> String {
    let mut characters = text.chars();
    let mut kept: String = characters.by_ref().take(SIDE_CHARS).collect();
    if characters.next().is_some() {
        kept.push('…');
    }
    kept
}

/// A text for a terminal: one line, and nothing in it that moves the cursor or turns the text around.
#[must_use]
pub fn shown(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            _ if character.is_whitespace() => ' ',
            '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            _ if character.is_control() => '\u{fffd}',
            _ => character,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(text: &str, word: &str) -> String {
        let at = text.find(word).unwrap();
        Quotation::of(text, &(at..at + word.len())).marked()
    }

    #[test]
    fn the_sentence_is_that_of_the_word() {
        assert_eq!(
            around("It is cheap. Moutai rose 1.5 % today! Sell.", "Moutai"),
            "«Moutai» rose 1.5 % today!"
        );
        assert_eq!(around("低估。看好茅台的利润；卖出", "茅台"), "看好«茅台»的利润；");
        assert_eq!(around("a\nBYD\u{1b}[2J", "BYD"), "«BYD»\u{fffd}[2J");
    }

    #[test]
    fn long_sentences_are_cut() {
        let text = format!("{}茅台{}", "好".repeat(5_000), "x".repeat(5_000));
        let marked = around(&text, "茅台");
        assert_eq!(marked.chars().count(), 2 * SIDE_CHARS + 2 + 4);
        assert!(marked.starts_with('…') && marked.ends_with('…'));
    }
}
