//! Taking secrets out of what a server sends: some repeat the key that they refused.

use secrecy::{ExposeSecret, SecretString};
use std::fmt;

/// Stands where a secret stood. It needs no escape in JSON.
const MARK: &[u8] = b"[redacted]";

/// Shortest text that is taken for a secret, in bytes. A shorter one would also stand in innocent words.
const SECRET_BYTES_MIN: usize = 8;

/// The secrets of one endpoint.
#[derive(Clone)]
pub(super) struct Redactor {
    secrets: Vec<SecretString>,
    /// For each byte, whether a secret may begin with it as it is written in a reply. Almost no byte of a reply does,
    /// so that looking for secrets costs a look-up a byte.
    starts: [bool; 256],
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Redactor").field(&self.secrets).finish()
    }
}

impl Redactor {
    /// Takes out `secrets` and their words: of `Bearer KEY` a server repeats `KEY` alone.
    pub(super) fn new<'a>(secrets: impl IntoIterator<Item = &'a SecretString>) -> Self {
        let mut texts: Vec<&str> = secrets
            .into_iter()
            .flat_map(|secret| {
                let text = secret.expose_secret();
                std::iter::once(text.trim()).chain(text.split_whitespace())
            })
            .filter(|text| SECRET_BYTES_MIN <= text.bytes().filter(|byte| *byte != b'\\').count())
            .collect();
        // The longest first, so that no part of one is left behind.
        texts.sort_by_key(|text| (std::cmp::Reverse(text.len()), *text));
        texts.dedup();
        let mut starts = [false; 256];
        for text in &texts {
            // As it is, or escaped by JSON or by a URL.
            let first = text.bytes().find(|byte| *byte != b'\\');
            for byte in first.into_iter().chain([b'\\', b'%']) {
                if let Some(start) = starts.get_mut(usize::from(byte)) {
                    *start = true;
                }
            }
        }
        Self {
            secrets: texts.into_iter().map(SecretString::from).collect(),
            starts,
        }
    }

    /// `bytes` with a mark in the place of every secret, however JSON or a URL escapes it.
    pub(super) fn bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        let is_clean = |at: usize| bytes.get(at..).is_none_or(|rest| self.found(rest).is_none());
        let Some(first) = (0..bytes.len()).find(|at| !is_clean(*at)) else {
            return bytes;
        };
        let (clean, mut rest) = bytes.split_at_checked(first).unwrap_or((&bytes, &[]));
        let mut redacted = clean.to_vec();
        while let [byte, tail @ ..] = rest {
            if let Some(after) = self.found(rest) {
                redacted.extend_from_slice(MARK);
                rest = after;
            } else {
                redacted.push(*byte);
                rest = tail;
            }
        }
        redacted
    }

    /// As [`Self::bytes`].
    pub(super) fn text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.bytes(text.as_bytes().to_vec())).into_owned()
    }

    /// What follows the secret that `bytes` begins with.
    fn found<'b>(&self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        let first = usize::from(*bytes.first()?);
        if !self.starts.get(first).is_some_and(|may_start| *may_start) {
            return None;
        }
        self.secrets
            .iter()
            .find_map(|secret| after(bytes, secret.expose_secret().as_bytes()))
    }
}

/// What follows `secret` at the beginning of `bytes`. Backslashes do not count, its own neither: JSON inside JSON
/// escapes escapes, and how deep a server nests them is its own affair.
fn after<'b>(bytes: &'b [u8], secret: &[u8]) -> Option<&'b [u8]> {
    let mut counted = secret.iter().filter(|byte| **byte != b'\\');
    counted.try_fold(bytes, |rest, byte| after_byte(rest, *byte))
}

/// What follows `byte` at the beginning of `bytes`: as it is, behind backslashes, as `\u002d` or as `%2D`.
fn after_byte(bytes: &[u8], byte: u8) -> Option<&[u8]> {
    let is_hex = |digits: &[u8]| {
        let digits = std::str::from_utf8(digits).ok();
        digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) == Some(byte)
    };
    let slashes = bytes.iter().take_while(|byte| **byte == b'\\').count();
    match bytes.get(slashes..)? {
        [b'u', b'0', b'0', high, low, rest @ ..] if 0 < slashes && is_hex(&[*high, *low]) => Some(rest),
        [first, rest @ ..] if *first == byte => Some(rest),
        [b'%', high, low, rest @ ..] if is_hex(&[*high, *low]) => Some(rest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor(secrets: &[&str]) -> Redactor {
        let secrets: Vec<SecretString> = secrets.iter().map(|text| SecretString::from(*text)).collect();
        Redactor::new(&secrets)
    }

    #[test]
    fn secrets_are_taken_out_however_they_are_escaped() {
        let redactor = redactor(&["sk-canary/01234", "Bearer tok\"en\\56789"]);
        for (text, clean) in [
            ("", ""),
            ("sk-canary/0123", "sk-canary/0123"),
            ("{\"k\":\"sk-canary/01234\"}", "{\"k\":\"[redacted]\"}"),
            ("sk-canary/01234sk-canary/01234!", "[redacted][redacted]!"),
            ("sk-sk-canary/01234", "sk-[redacted]"),
            ("sk-canary\\/01234", "[redacted]"),
            (r"sk\u002Dcanary\u002f01234", "[redacted]"),
            ("?key=sk-canary%2F01234&x", "?key=[redacted]&x"),
            (r#"tok\"en\\56789"#, "[redacted]"),
            (
                r#"{"a":"{\"k\":\"tok\\\"en\\\\56789\"}"}"#,
                r#"{"a":"{\"k\":\"[redacted]\"}"}"#,
            ),
            (
                r#"{"a":"{\"k\":\"sk-canary\\/01234\\n\"}"}"#,
                r#"{"a":"{\"k\":\"[redacted]\\n\"}"}"#,
            ),
            (r"\\u0073k\\u002dcanary/01234", "[redacted]"),
            ("Bearer tok\"en\\56789", "[redacted]"),
            ("Bearer x", "Bearer x"),
        ] {
            assert_eq!(redactor.text(text), clean, "{text}");
        }
    }

    #[test]
    fn a_short_text_is_no_secret_and_a_longer_secret_goes_first() {
        assert_eq!(redactor(&["red"]).text("redacted"), "redacted");
        assert_eq!(
            redactor(&["abcdefgh", "abcdefghij"]).text("abcdefghij"),
            "[redacted]"
        );
        assert!(!format!("{:?}", redactor(&["sk-canary-1"])).contains("canary"));
    }

    #[test]
    fn bytes_that_are_no_text_stay() {
        let bytes = vec![0xff, b's', b'k', 0x00];
        assert_eq!(redactor(&["sk-canary-1"]).bytes(bytes.clone()), bytes);
    }
}
