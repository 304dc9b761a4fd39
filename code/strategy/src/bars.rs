//! Bars as a strategy sees them.

use std::collections::BTreeMap;
use std::fmt;

/// Time stamp of a bar, ISO 8601 without a zone, such as `2021-01-04T09:45:00`: ordered as text.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BarTime(String);

impl BarTime {
    /// A stamp of the form `YYYY-MM-DDTHH:MM:SS`; `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let form = b"0000-00-00T00:00:00";
        let fits = text.len() == form.len()
            && text.bytes().zip(form).all(|(byte, form)| {
                if *form == b'0' {
                    byte.is_ascii_digit()
                } else {
                    byte == *form
                }
            });
        fits.then(|| Self(text.to_owned()))
    }

    /// A stamp as programs write it: a day alone, a blank for the `T`, no seconds, a fraction of nothing but zeros. `None` for
    /// any other text, and for one with a zone.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let text = text.trim();
        let whole = match text.split_once('.') {
            Some((whole, fraction)) if fraction.bytes().all(|byte| byte == b'0') => whole,
            Some(_) => return None,
            None => text,
        };
        let (day, clock) = whole.split_once(['T', ' ']).unwrap_or((whole, "00:00:00"));
        let seconds = if clock.len() == "00:00".len() { ":00" } else { "" };
        Self::parse(&format!("{day}T{clock}{seconds}"))
    }

    /// The day, `YYYY-MM-DD`.
    #[must_use]
    pub fn day(&self) -> &str {
        self.0.get(..10).unwrap_or_default()
    }

    /// Hour and minute, `HH:MM`.
    #[must_use]
    pub fn clock(&self) -> &str {
        self.0.get(11..16).unwrap_or_default()
    }

    /// The whole stamp.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for BarTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Bars of one asset, oldest first, all columns of one length. Prices in units of account, volume in shares.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AssetBars {
    /// When each bar ends; ascending and unique.
    pub times: Vec<BarTime>,
    /// Opening prices.
    pub open: Vec<f64>,
    /// Highest prices.
    pub high: Vec<f64>,
    /// Lowest prices.
    pub low: Vec<f64>,
    /// Closing prices.
    pub close: Vec<f64>,
    /// Traded volumes.
    pub volume: Vec<f64>,
    /// Further columns that a document names, such as `days_to_expiry` or `weight`.
    pub further: BTreeMap<String, Vec<f64>>,
}

impl AssetBars {
    /// Number of bars.
    #[must_use]
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether there is no bar.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// The first `bars` of it.
    #[must_use]
    pub fn prefix(&self, bars: usize) -> Self {
        let cut = |column: &[f64]| column.iter().take(bars).copied().collect();
        Self {
            times: self.times.iter().take(bars).cloned().collect(),
            open: cut(&self.open),
            high: cut(&self.high),
            low: cut(&self.low),
            close: cut(&self.close),
            volume: cut(&self.volume),
            further: self
                .further
                .iter()
                .map(|(name, column)| (name.clone(), cut(column)))
                .collect(),
        }
    }
}

/// Bars of the assets of a strategy, in the order of its document, all on the same times.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StrategyBars {
    /// Symbol and bars of each asset.
    pub assets: Vec<(String, AssetBars)>,
}

impl StrategyBars {
    /// The time stamps, which all assets share.
    #[must_use]
    pub fn times(&self) -> &[BarTime] {
        self.assets.first().map_or(&[], |(_, bars)| bars.times.as_slice())
    }

    /// The first `bars` of every asset.
    #[must_use]
    pub fn prefix(&self, bars: usize) -> Self {
        let assets = self.assets.iter();
        Self {
            assets: assets
                .map(|(symbol, own)| (symbol.clone(), own.prefix(bars)))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_have_one_form() {
        let time = BarTime::parse("2021-01-04T09:45:00").unwrap();
        assert_eq!((time.day(), time.clock()), ("2021-01-04", "09:45"));
        for wrong in [
            "",
            "2021-01-04",
            "2021-01-04 09:45:00",
            "2021-01-04T09:45:00Z",
            "2021-1-04T09:45:000",
        ] {
            assert_eq!(BarTime::parse(wrong), None, "{wrong}");
        }
        for (written, read) in [
            ("2021-01-04", Some("2021-01-04T00:00:00")),
            ("2021-01-04 09:45", Some("2021-01-04T09:45:00")),
            ("2021-01-04T09:45:00.000", Some("2021-01-04T09:45:00")),
            ("2021-01-04T09:45:00.001", None),
            ("2021-01-04T09:45:00+00:00", None),
            ("2021-01-04T09:45:00Z", None),
            ("1609718400", None),
        ] {
            let own = BarTime::read(written);
            assert_eq!(own.as_ref().map(BarTime::as_str), read, "{written}");
        }
    }
}
