//! Real stock codes and their boards.

use std::fmt;

/// The board a stock is listed on, which decides its round lot and its price limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "UPPERCASE")]
pub enum Board {
    /// Main boards of Shanghai and Shenzhen (`SH60`, `SZ00`).
    Main,
    /// ChiNext (`SZ300`, `SZ301`, `SZ302`).
    ChiNext,
    /// The Science and Technology Innovation Board (`SH688`, `SH689`).
    Star,
    /// The Beijing Stock Exchange (`BJ`).
    Bse,
}

impl Board {
    /// All boards, in the order tables show them.
    pub const ALL: [Self; 4] = [Self::Main, Self::ChiNext, Self::Star, Self::Bse];

    /// The name shown to people and models; every rung of the numeric ladder but `banded` shows it (KTD-Fin, appendix K).
    #[must_use]
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// The exchange that a stock is listed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Venue {
    /// Shanghai (`SH`).
    Shanghai,
    /// Shenzhen (`SZ`).
    Shenzhen,
    /// Beijing (`BJ`).
    Beijing,
}

/// A real A-share code such as the one of Kweichow Moutai.
///
/// It has no `Display` and no serialisation, and its `Debug` is redacted: the code leaves only through
/// [`Ticker::reveal`], which lints confine to the mask and to the edge.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticker {
    code: [u8; CODE_LEN],
    board: Board,
}

const CODE_LEN: usize = 8;

/// Why a text is not an A-share code.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TickerError {
    /// Not two letters of an exchange and six digits.
    #[error("{text:?} is not an exchange (SH, SZ or BJ) followed by six digits")]
    Malformed {
        /// The text as given.
        text: String,
    },
    /// A number that is no six digits.
    #[error(
        "{text:?} is a number, not a code of six digits: what reads codes as numbers drops the zeros before them"
    )]
    Number {
        /// The text as given.
        text: String,
    },
    /// Well formed, but a fund, an index, a B share or a code range we know no rules for.
    #[error("{text:?} is on no A-share board (known: SH60, SZ00, SZ300-302, SH688-689, BJ)")]
    NoBoard {
        /// The text as given.
        text: String,
    },
}

impl Ticker {
    /// Reads a code in the layout `SH600519`.
    ///
    /// # Errors
    /// [`TickerError`] when the text is malformed or on no board with known rules (docs/spec/exchange.md#boards).
    pub fn parse(text: &str) -> Result<Self, TickerError> {
        let malformed = || TickerError::Malformed {
            text: text.to_owned(),
        };
        let code: [u8; CODE_LEN] = text.as_bytes().try_into().map_err(|_| malformed())?;
        let (exchange, digits) = code.split_at(2);
        if !digits.iter().all(u8::is_ascii_digit) {
            return Err(malformed());
        }
        let board = match (exchange, digits) {
            (b"SH", [b'6', b'8', b'8' | b'9', ..]) => Board::Star,
            (b"SH", [b'6', b'0', ..]) | (b"SZ", [b'0', b'0', ..]) => Board::Main,
            (b"SZ", [b'3', b'0', b'0'..=b'2', ..]) => Board::ChiNext,
            (b"BJ", _) => Board::Bse,
            (b"SH" | b"SZ", _) => {
                return Err(TickerError::NoBoard {
                    text: text.to_owned(),
                });
            }
            _ => return Err(malformed()),
        };
        Ok(Self { code, board })
    }

    /// The board the code belongs to.
    #[must_use]
    pub const fn board(self) -> Board {
        self.board
    }

    /// The exchange of the code.
    #[must_use]
    pub const fn venue(self) -> Venue {
        match self.code {
            [b'S', b'H', ..] => Venue::Shanghai,
            [b'B', ..] => Venue::Beijing,
            _ => Venue::Shenzhen,
        }
    }

    /// The real code. Only the mask and the edge may call this.
    #[must_use]
    pub fn reveal(&self) -> &str {
        // Eight ASCII bytes by construction.
        std::str::from_utf8(&self.code).unwrap_or_default()
    }

    pub(crate) const fn bytes(self) -> [u8; CODE_LEN] {
        self.code
    }
}

impl fmt::Debug for Ticker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Ticker({}, redacted)", self.board.label())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_follow_the_code_ranges() {
        for (code, board) in [
            ("SH600519", Board::Main),
            ("SH605162", Board::Main),
            ("SZ000001", Board::Main),
            ("SZ003219", Board::Main),
            ("SZ300750", Board::ChiNext),
            ("SZ302132", Board::ChiNext),
            ("SH688981", Board::Star),
            ("SH689009", Board::Star),
            ("BJ920002", Board::Bse),
            ("BJ430047", Board::Bse),
        ] {
            assert_eq!(Ticker::parse(code).map(Ticker::board), Ok(board), "{code}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for code in [
            "SZ200012", "SH510300", "SH000300", "SZ303000", "SH900901", "SH687001",
        ] {
            assert!(
                matches!(Ticker::parse(code), Err(TickerError::NoBoard { .. })),
                "{code}"
            );
        }
        for code in [
            "AAPL",
            "600519",
            "sh600519",
            "SH60051",
            "SH6005199",
            "SH60051９",
            "HK600519",
            "",
        ] {
            assert!(
                matches!(Ticker::parse(code), Err(TickerError::Malformed { .. })),
                "{code}"
            );
        }
    }

    #[test]
    fn debug_text_hides_the_code() {
        let shown = format!("{:?}", Ticker::parse("SH600519").unwrap());
        assert!(!shown.contains("600519"), "{shown}");
    }
}
