//! The text of a program that a model wrote.

use sha2::{Digest, Sha256};
use std::fmt::Write as _;

const LINES_MAX: usize = 20_000;

/// A source that is refused before anything runs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SourceFault {
    /// Nothing but space.
    #[error("the source is empty")]
    Empty,
    /// Too many bytes.
    #[error("the source has {bytes} bytes, at most {most}")]
    Long {
        /// How many it has.
        bytes: usize,
        /// How many it may have.
        most: usize,
    },
    /// Too many lines.
    #[error("the source has {lines} lines, at most 20000")]
    Lines {
        /// How many it has.
        lines: usize,
    },
    /// A byte that is zero.
    #[error("byte {byte} of the source is zero: save it as UTF-8 text")]
    Zero {
        /// The first, counted from 0.
        byte: usize,
    },
    /// Text in another encoding.
    #[error("byte {byte} of the source is not UTF-8 text: save it as UTF-8")]
    Encoding {
        /// The first such byte, counted from 0.
        byte: usize,
    },
}

/// The source of one submission, fit to be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    text: String,
    had_mark: bool,
}

impl SourceText {
    /// The source in some bytes. A byte order mark of UTF-8 is dropped, line ends of any system are taken.
    ///
    /// # Errors
    /// [`SourceFault`] where it is empty, too long, or no text.
    pub fn read(bytes: &[u8], kilobytes_max: u32) -> Result<Self, SourceFault> {
        let most = usize::try_from(u64::from(kilobytes_max) << 10).unwrap_or(usize::MAX);
        if most < bytes.len() {
            return Err(SourceFault::Long {
                bytes: bytes.len(),
                most,
            });
        }
        let marked = bytes.strip_prefix(b"\xef\xbb\xbf");
        let had_mark = marked.is_some();
        let bytes = marked.unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|error| SourceFault::Encoding {
            byte: error.valid_up_to(),
        })?;
        if let Some(byte) = text.find('\0') {
            return Err(SourceFault::Zero { byte });
        }
        if text.trim().is_empty() {
            return Err(SourceFault::Empty);
        }
        let pairs = text.matches("\r\n").count();
        let lines = text.matches(['\r', '\n']).count() - pairs + 1;
        if LINES_MAX < lines {
            return Err(SourceFault::Lines { lines });
        }
        Ok(Self {
            text: text.to_owned(),
            had_mark,
        })
    }

    /// Its text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a byte order mark was dropped.
    #[must_use]
    pub const fn had_mark(&self) -> bool {
        self.had_mark
    }

    /// Its hash.
    #[must_use]
    pub fn sha256(&self) -> String {
        hex_sha256(self.text.as_bytes())
    }
}

/// The hash of bytes, in hexadecimal digits.
pub(crate) fn hex_sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        // Writing to a string cannot fail.
        write!(digits, "{byte:02x}").ok();
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<SourceText, SourceFault> {
        SourceText::read(bytes, 256)
    }

    #[test]
    fn what_is_no_source_is_refused() {
        assert_eq!(read(b" \n\t"), Err(SourceFault::Empty));
        assert_eq!(read(b"\xef\xbb\xbf"), Err(SourceFault::Empty));
        assert_eq!(read(b"x = 1\0"), Err(SourceFault::Zero { byte: 5 }));
        assert_eq!(read(b"x\0=\0"), Err(SourceFault::Zero { byte: 1 }));
        assert_eq!(read(b"\xff\xfex\0"), Err(SourceFault::Encoding { byte: 0 }));
        assert!(matches!(
            read(&vec![b'a'; (256 << 10) + 1]),
            Err(SourceFault::Long { .. })
        ));
        assert_eq!(
            read("\n".repeat(20_000).replace('\n', "a\n").as_bytes()),
            Err(SourceFault::Lines { lines: 20_001 })
        );
        assert_eq!(
            read("a\r\n".repeat(20_000).as_bytes()),
            Err(SourceFault::Lines { lines: 20_001 })
        );
    }

    #[test]
    fn line_ends_of_any_system_and_a_mark_are_taken() {
        assert_eq!(read(b"a\rb\r\nc").unwrap().text(), "a\rb\r\nc");
        let marked = read(b"\xef\xbb\xbfx = 1").unwrap();
        assert_eq!((marked.text(), marked.had_mark()), ("x = 1", true));
        assert!(read(&vec![b'a'; 256 << 10]).is_ok());
        assert!(read("a\r\n".repeat(19_999).as_bytes()).is_ok());
    }
}
