//! A cell of a table.

use crate::record::SeedStat;
use ktd_bundle::summary::Metric;

/// A cell: its exact content, and how people want to see it.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// Text as it is.
    Text(String),
    /// A share, shown in percent.
    Percent(f64),
    /// A signed difference of shares, shown in percent with its sign.
    Change(f64),
    /// A number with two decimals.
    Ratio(f64),
    /// A number with three decimals.
    Fine(f64),
    /// A p-value.
    P(f64),
    /// A count.
    Count(usize),
    /// A signed count.
    Signed(i64),
    /// US dollars.
    Dollars(f64),
    /// Nothing, and why.
    Missing(String),
    /// Nothing, and no reason is needed.
    Empty,
}

impl Cell {
    /// A metric in this form.
    #[must_use]
    pub fn metric(metric: &Metric, form: fn(f64) -> Self) -> Self {
        metric.value.map_or_else(
            || Self::Missing(metric.reason.clone().unwrap_or_else(|| "not known".to_owned())),
            form,
        )
    }

    /// The median of a figure over seeds.
    #[must_use]
    pub fn stat(stat: Option<&SeedStat>, form: fn(f64) -> Self) -> Self {
        stat.map_or(Self::Empty, |stat| Self::metric(&stat.median, form))
    }

    /// A number that may be absent.
    #[must_use]
    pub fn optional(value: Option<f64>, form: fn(f64) -> Self) -> Self {
        value.map_or(Self::Empty, form)
    }

    /// The cell for people; a missing number refers to its reason in `reasons`.
    pub(super) fn shown<'c>(&'c self, reasons: &mut Vec<&'c str>) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Percent(value) => format!("{:.2} %", value * 100.0),
            Self::Change(value) => format!("{:+.2} %", value * 100.0),
            Self::Ratio(value) => format!("{value:.2}"),
            Self::P(value) if *value < 0.001 => format!("{value:.1e}"),
            Self::Fine(value) | Self::P(value) => format!("{value:.3}"),
            Self::Count(count) => count.to_string(),
            Self::Signed(count) => format!("{count:+}"),
            Self::Dollars(value) => format!("$ {value:.2}"),
            Self::Missing(reason) => {
                let place = reasons
                    .iter()
                    .position(|known| known == reason)
                    .unwrap_or_else(|| {
                        reasons.push(reason);
                        reasons.len() - 1
                    });
                format!("n/a{}", place + 1)
            }
            Self::Empty => String::new(),
        }
    }

    /// The cell for programs: numbers unrounded.
    #[must_use]
    pub fn raw(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Percent(value)
            | Self::Change(value)
            | Self::Ratio(value)
            | Self::Fine(value)
            | Self::P(value)
            | Self::Dollars(value) => value.to_string(),
            Self::Count(count) => count.to_string(),
            Self::Signed(count) => count.to_string(),
            Self::Missing(_) | Self::Empty => String::new(),
        }
    }
}
