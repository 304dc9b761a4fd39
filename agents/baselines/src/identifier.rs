//! Real codes and real dates, by their form.

/// Whether a word is a real code, such as `SH600519`.
pub(crate) fn is_code(word: &str) -> bool {
    let digits = ["SH", "SZ", "BJ"]
        .iter()
        .find_map(|market| word.strip_prefix(market));
    digits.is_some_and(|digits| digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether a word is a real date: `YYYY-MM-DD`.
pub(crate) fn is_date(word: &str) -> bool {
    let fits = |byte: u8, place: usize| {
        if matches!(place, 4 | 7) {
            byte == b'-'
        } else {
            byte.is_ascii_digit()
        }
    };
    word.len() == 10 && word.bytes().enumerate().all(|(place, byte)| fits(byte, place))
}
