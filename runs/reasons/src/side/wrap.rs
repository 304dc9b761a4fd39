//! Texts in narrow columns.

use ktd_view::table::display_width;

/// A text in lines of at most `width` terminal cells: broken at blanks and beside wide characters, and inside a word
/// that is longer than a line.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let is_new_word = lines.last().is_some_and(|line| !line.is_empty());
        let mut gap = if is_new_word { " " } else { "" };
        for unit in units(word, width) {
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
            ("abcdefghij", 4, vec!["abcd", "efgh", "ij"]),
            ("", 4, vec![""]),
        ] {
            assert_eq!(wrapped(text, width), lines, "{text}");
        }
        let long = "看a".repeat(5_000);
        assert!(wrapped(&long, 20).iter().all(|line| display_width(line) <= 20));
        assert_eq!(wrapped(&long, 20).concat(), long);
    }
}
