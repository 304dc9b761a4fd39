//! Texts in narrow columns: how wide they are, cut, and in lines.

/// How many terminal cells a text takes: wide East Asian characters take two, combining marks none.
#[must_use]
pub fn display_width(text: &str) -> usize {
    text.chars().map(char_width).sum()
}

/// East Asian Width by block, as far as company names, sectors and punctuation need it.
fn char_width(character: char) -> usize {
    match u32::from(character) {
        0x0300..=0x036F | 0x200B..=0x200F | 0xFE00..=0xFE0F => 0,
        0x1100..=0x115F
        | 0x2E80..=0x303E
        | 0x3041..=0x33FF
        | 0x3400..=0x4DBF
        | 0x4E00..=0x9FFF
        | 0xA000..=0xA4CF
        | 0xAC00..=0xD7A3
        | 0xF900..=0xFAFF
        | 0xFE30..=0xFE6F
        | 0xFF00..=0xFF60
        | 0xFFE0..=0xFFE6
        | 0x1F300..=0x1FAFF
        | 0x20000..=0x3FFFD => 2,
        _ => 1,
    }
}

/// A text cut to so many columns, wide characters counting two.
#[must_use]
pub fn fitted(text: &str, columns: usize) -> String {
    if display_width(text) <= columns {
        return text.to_owned();
    }
    let mut cut = String::new();
    for character in text.chars() {
        cut.push(character);
        if columns <= display_width(&cut) {
            cut.pop();
            break;
        }
    }
    cut.push('\u{2026}');
    cut
}

/// Parts with commas between them, of which the last are left out where a line has no room: a number is never cut.
#[must_use]
pub fn fitted_parts(text: &str, columns: usize) -> String {
    if display_width(text) <= columns {
        return text.to_owned();
    }
    let mut rest = text;
    while let Some((before, _)) = rest.rsplit_once(", ") {
        if display_width(before) + 2 < columns {
            return format!("{before}, \u{2026}");
        }
        rest = before;
    }
    fitted(rest, columns)
}

/// A text in lines of at most `width` terminal cells: broken at blanks, and inside a word that is longer than a line,
/// there beside wide characters first.
#[must_use]
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    wrapped_at(text, width, width)
}

/// The same, but words that are longer than a line stay whole: a path or a hash is copied as it is.
#[must_use]
pub fn wrapped_whole(text: &str, width: usize) -> Vec<String> {
    wrapped_at(text, width, usize::MAX)
}

/// What stands behind a number, and on its line.
const UNITS: [&str; 10] = ["%", "bp", "s", "ms", "kB", "MB", "GB", "MiB", "days", "steps"];

/// A text whose numbers stand before their units without a break.
pub(super) fn with_units(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for (place, word) in text.split(' ').enumerate() {
        let is_mark = |letter: char| matches!(letter, ',' | '.' | ';' | ':' | ')');
        let follows_number = joined.ends_with(|letter: char| letter.is_ascii_digit());
        if follows_number && UNITS.contains(&word.trim_end_matches(is_mark)) {
            joined.push(NO_BREAK);
        } else if 0 < place {
            joined.push(' ');
        }
        joined.push_str(word);
    }
    joined
}

const NO_BREAK: char = '\u{a0}';

/// Lines of at most `width` cells, of words in parts of at most `unit_width`; a number keeps its unit.
fn wrapped_at(text: &str, width: usize, unit_width: usize) -> Vec<String> {
    let lines = lines_of(&with_units(text), width, unit_width).into_iter();
    lines.map(|line| line.replace(NO_BREAK, " ")).collect()
}

fn lines_of(text: &str, width: usize, unit_width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let is_new_word = lines.last().is_some_and(|line| !line.is_empty());
        let mut gap = if is_new_word { " " } else { "" };
        // An argument with a column's Chinese name is pasted as one word.
        let parts = if display_width(word) <= width {
            vec![word]
        } else {
            units(word, unit_width)
        };
        for unit in parts {
            let Some(line) = lines.last_mut() else { continue };
            if line.is_empty() || display_width(line) + display_width(gap) + display_width(unit) <= width {
                line.push_str(gap);
                line.push_str(unit);
            } else {
                lines.push(unit.to_owned());
            }
            gap = "";
        }
    }
    lines
}

/// A word's parts that stay together: each wide character alone, the rest in runs of at most a line.
fn units(word: &str, width: usize) -> Vec<&str> {
    let mut units = Vec::new();
    let mut start = 0;
    let mut run = 0;
    for (at, character) in word.char_indices() {
        let own = display_width(character.encode_utf8(&mut [0; 4]));
        if at > start && (own > 1 || run > 1 && is_wide_at(word, start) || width < run + own) {
            units.extend(word.get(start..at));
            (start, run) = (at, 0);
        }
        run += own;
    }
    units.extend(word.get(start..));
    units
}

fn is_wide_at(word: &str, at: usize) -> bool {
    let first = word.get(at..).and_then(|rest| rest.chars().next());
    first.is_some_and(|first| display_width(first.encode_utf8(&mut [0; 4])) > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_to_their_width() {
        for (text, width, lines) in [
            ("strong momentum here", 9, vec!["strong", "momentum", "here"]),
            ("a b c", 80, vec!["a b c"]),
            ("看好贵州茅台", 6, vec!["看好贵", "州茅台"]),
            ("看好BYD的车", 7, vec!["看好BYD", "的车"]),
            ("fits: a=成交量:b", 12, vec!["fits:", "a=成交量:b"]),
            ("abcdefghij", 4, vec!["abcd", "efgh", "ij"]),
            ("at most 5.0 %, or", 12, vec!["at most", "5.0 %, or"]),
            ("", 4, vec![""]),
        ] {
            assert_eq!(wrapped(text, width), lines, "{text}");
        }
        let long = "看a".repeat(5_000);
        assert!(wrapped(&long, 20).iter().all(|line| display_width(line) <= 20));
        assert_eq!(wrapped(&long, 20).concat(), long);
    }

    #[test]
    fn wide_names_are_cut() {
        assert_eq!(
            fitted_parts("31 faults, 32 retries, 90 s left", 22),
            "31 faults, \u{2026}"
        );
        assert_eq!(fitted_parts("31 faults, 32 retries", 21), "31 faults, 32 retries");
        assert_eq!(fitted("abc", 3), "abc");
        assert_eq!(fitted("abcdef", 4), "abc\u{2026}");
        assert_eq!(
            fitted("\u{8d35}\u{5dde}\u{8305}\u{53f0}", 5),
            "\u{8d35}\u{5dde}\u{2026}"
        );
    }
}
