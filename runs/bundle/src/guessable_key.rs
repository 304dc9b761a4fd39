//! Mask keys that can be guessed: whoever tries what people type finds them from the published commitment.
//!
//! Each bound is one that a drawn key breaks less than once in a hundred million. A hash of a word passes all of them: no
//! look at a key proves that it was drawn.

use ktd_masking::{MaskKey, MaskKeyError};

/// A text that is no key to hide anything behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// It is no key at all.
    #[error(transparent)]
    Invalid(#[from] MaskKeyError),
    /// It is one that can be guessed.
    #[error("this mask key can be guessed: {0}")]
    Guessable(&'static str),
}

/// How to fix a key file.
pub const HOW_TO_DRAW: &str =
    "draw a key with `ktd certify --new-mask-key FILE`, or leave `mask_key_file` out to have one drawn";

/// A drawn key has 30 different bytes or so.
const DISTINCT_BYTES_MIN: usize = 17;
/// The most times that one byte may stand in a key.
const SAME_BYTE_MAX: usize = 7;
/// The most equal bytes in a row.
const RUN_MAX: usize = 5;
/// The most equal steps from one byte to the next, and equal changes of these steps.
const SAME_STEP_MAX: usize = 9;

/// Reads a key that hides something: 64 hexadecimal digits that no pattern gives.
///
/// # Errors
/// [`KeyError`] for a text that is no key, and for a key that can be guessed.
pub fn parse_key(text: &str) -> Result<MaskKey, KeyError> {
    let key = MaskKey::parse(text)?;
    pattern(text.trim()).map_or(Ok(key), |pattern| Err(KeyError::Guessable(pattern)))
}

/// The pattern that 64 hexadecimal digits have; none where they look drawn.
fn pattern(digits: &str) -> Option<&'static str> {
    let bytes = bytes_of(digits);
    let steps = steps(&bytes);
    let patterns = [
        (SAME_BYTE_MAX < most_frequent(&bytes), "one byte fills much of it"),
        (longest_run(&bytes) > RUN_MAX, "it has a long run of one byte"),
        (distinct(&bytes) < DISTINCT_BYTES_MIN, "it repeats a few bytes"),
        (
            SAME_STEP_MAX < most_frequent(&steps) || SAME_STEP_MAX < most_frequent(&self::steps(&steps)),
            "its bytes count up, or down",
        ),
        (is_text(&bytes), "its bytes are text"),
        (
            digits.bytes().all(|digit| digit.is_ascii_digit())
                || digits.bytes().all(|digit| digit.is_ascii_alphabetic()),
            "its digits are all numerals, or all letters",
        ),
    ];
    patterns
        .into_iter()
        .find(|(is_so, _)| *is_so)
        .map(|(_, pattern)| pattern)
}

fn bytes_of(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect()
}

/// From each byte to the next, around the clock.
fn steps(bytes: &[u8]) -> Vec<u8> {
    let next = bytes.iter().skip(1);
    bytes
        .iter()
        .zip(next)
        .map(|(byte, next)| next.wrapping_sub(*byte))
        .collect()
}

fn sorted(bytes: &[u8]) -> Vec<u8> {
    let mut sorted = bytes.to_vec();
    sorted.sort_unstable();
    sorted
}

fn longest_run(bytes: &[u8]) -> usize {
    bytes
        .chunk_by(|left, right| left == right)
        .map(<[u8]>::len)
        .max()
        .unwrap_or(0)
}

fn most_frequent(bytes: &[u8]) -> usize {
    longest_run(&sorted(bytes))
}

fn distinct(bytes: &[u8]) -> usize {
    sorted(bytes).chunk_by(|left, right| left == right).count()
}

/// Whether all but one byte could be typed.
fn is_text(bytes: &[u8]) -> bool {
    let others = bytes.iter().filter(|byte| !(b' '..=b'~').contains(byte));
    others.count() <= 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::KeyedStream;

    fn hex_of(byte: impl Fn(u8) -> u8) -> String {
        ktd_masking::hex(&(0..32).map(byte).collect::<Vec<u8>>())
    }

    #[test]
    fn keys_that_people_type_are_refused() {
        let text = ktd_masking::hex(b"the quick brown fox jumps over t");
        let guessable = [
            format!("{:0>64}", "7"),
            "0".repeat(64),
            "f".repeat(64),
            "5a".repeat(32),
            "deadbeef".repeat(8),
            "0123456789abcdef".repeat(4),
            "0123456789abcdeffedcba9876543210".repeat(2),
            "3141592653589793238462643383279502884197169399375105820974944592".to_owned(),
            "abcdefabcdeffedcbaabcdabfecdadbcefabcdefacbdfeabdcefabcdeffedcba".to_owned(),
            hex_of(|place| place),
            hex_of(|place| 255 - place),
            hex_of(|place| 31 + 7 * place),
            hex_of(|place| place.wrapping_mul(place)),
            hex_of(|place| if place < 16 { 0 } else { place.wrapping_mul(37) }),
            hex_of(|place| {
                if place % 2 == 0 {
                    0
                } else {
                    place.wrapping_mul(53).rotate_left(3)
                }
            }),
            text,
        ];
        for key in guessable {
            let error = parse_key(&key).unwrap_err();
            assert!(matches!(error, KeyError::Guessable(_)), "{key}: {error}");
        }
        assert!(matches!(parse_key("7"), Err(KeyError::Invalid(_))));
    }

    #[test]
    fn drawn_keys_pass() {
        let mut stream = KeyedStream::for_purpose(1, "keys that pass");
        for _ in 0..20_000 {
            let drawn: Vec<u8> = (0..4).flat_map(|_| stream.next_u64().to_le_bytes()).collect();
            let drawn = ktd_masking::hex(&drawn);
            assert_eq!(pattern(&drawn), None, "{drawn}");
        }
    }
}
