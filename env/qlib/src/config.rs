//! Settings of a run: costs, limits, prices, the window and the strategy. Plain types, checked once.

use chrono::NaiveDate;
use thiserror::Error;

/// The limit threshold Qlib falls back to in region `cn` when none is given (rule E2).
pub const DEFAULT_LIMIT_THRESHOLD: f64 = 0.095;

/// The settings of one run, in Qlib's own words.
#[derive(Debug, Clone, PartialEq)]
pub struct QlibConfig {
    /// First day of the run; the next calendar day when this one is no trading day.
    pub start: NaiveDate,
    /// Last day of the run; the calendar day before when this one is no trading day.
    pub end: NaiveDate,
    /// Cash at the start, in the currency of the prices.
    pub account: f64,
    /// Fields the orders are filled at (rule E4).
    pub deal_price: DealPrice,
    /// How a side is blocked (rule E2).
    pub limit: Limit,
    /// Cost of a buy as a share of its value.
    pub open_cost: f64,
    /// Cost of a sell as a share of its value.
    pub close_cost: f64,
    /// Least cost of an order, in the currency of the prices.
    pub min_cost: f64,
    /// Real shares in a lot; `None` turns lot rounding off (rule E5).
    pub trade_unit: Option<f64>,
    /// Market impact rate (rule E8).
    pub impact_cost: f64,
    /// Cap on what a day lets through (rule E7).
    pub volume_threshold: Option<VolumeThreshold>,
    /// The order in which a day's orders are executed (rule E14).
    pub trade_type: TradeType,
    /// When the proceeds of a sale can be spent (rule E14).
    pub settle: Settle,
    /// Instrument whose close-to-close change is reported as `bench` (rule A3).
    pub benchmark: String,
    /// Share of the cash that a strategy may spend (rule S1).
    pub risk_degree: f64,
    /// Where the orders come from.
    pub strategy: Strategy,
}

/// Fields of the bins an order is filled at, without Qlib's leading `$`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DealPrice {
    /// Field for buys.
    pub buy: String,
    /// Field for sells.
    pub sell: String,
}

/// How a side of an instrument is blocked on a day.
#[derive(Debug, Clone, PartialEq)]
pub enum Limit {
    /// Blocks buys when the day's `change` is at or above the threshold, sells when at or below its negative.
    /// A look at the close: an order at the open is judged by what is known only in the evening.
    Change(f64),
    /// Blocks a side when its flag field is not zero; a missing flag blocks.
    Flags {
        /// Field that blocks buys.
        buy: String,
        /// Field that blocks sells.
        sell: String,
    },
}

/// A cap on the adjusted amount an order may deal in: `share * field`, computed in `f32` as Qlib's expression is.
#[derive(Debug, Clone, PartialEq)]
pub struct VolumeThreshold {
    /// Whether the cap is used up by the day's earlier orders.
    pub kind: VolumeKind,
    /// Field the cap is a share of.
    pub field: String,
    /// The share.
    pub share: f64,
}

/// Whether a volume cap is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VolumeKind {
    /// Every order meets the whole cap.
    Current,
    /// Earlier orders of the day in the same instrument, of either side, count against it.
    Cumulative,
}

/// The order in which a day's orders are executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TradeType {
    /// As given.
    Serial,
    /// All buys first, else as given.
    Parallel,
}

/// When the proceeds of a sale can be spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settle {
    /// At once.
    None,
    /// After the end of the day.
    Cash,
}

/// Where the orders come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// A list of orders.
    Scripted,
    /// Qlib's `TopkDropoutStrategy` over a signal.
    TopkDropout(TopkDropout),
}

/// The settings of Qlib's `TopkDropoutStrategy` with its default methods, `bottom` and `top` (rule S1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TopkDropout {
    /// Instruments to hold.
    pub topk: u32,
    /// Instruments to replace a day. Nought means all, as Python's `items[-0:]` does.
    pub n_drop: u32,
    /// Least count of days an instrument is held.
    pub hold_thresh: u32,
    /// Whether the strategy looks at the trade day's tradability when it ranks.
    pub only_tradable: bool,
    /// Whether an instrument at either limit is left alone on both sides.
    pub forbid_all_trade_at_limit: bool,
}

/// A setting no run can be made with.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ConfigError {
    /// A number is not finite.
    #[error("`{field}` was {value}, not a finite number")]
    NotFinite {
        /// Name of the setting.
        field: &'static str,
        /// What it was.
        value: f64,
    },
    /// A number that must be positive is not.
    #[error("`{field}` was {value}, not above zero")]
    NotPositive {
        /// Name of the setting.
        field: &'static str,
        /// What it was.
        value: f64,
    },
    /// The window ends before it starts.
    #[error("`end` {end} is before `start` {start}")]
    EmptyWindow {
        /// Start of the window.
        start: NaiveDate,
        /// End of the window.
        end: NaiveDate,
    },
    /// A field name cannot be the name of a bin.
    #[error("`{setting}` names the field `{name}`, which cannot be a bin")]
    FieldName {
        /// Name of the setting.
        setting: &'static str,
        /// The field named.
        name: String,
    },
}

impl ConfigError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NotFinite { .. } => "write a plain decimal number",
            Self::NotPositive { .. } => "give a number above zero; `trade_unit: null` turns lot rounding off",
            Self::EmptyWindow { .. } => "swap `start` and `end`, or move one of them",
            Self::FieldName { .. } => {
                "use the plain name of a bin, such as `open`, without `$` and operators"
            }
        }
    }
}

impl QlibConfig {
    /// Checks the settings against each other.
    ///
    /// # Errors
    /// [`ConfigError`] for the first setting that no run can be made with.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.validate_numbers()?;
        if self.end < self.start {
            return Err(ConfigError::EmptyWindow {
                start: self.start,
                end: self.end,
            });
        }
        for (setting, name) in self.named_fields() {
            let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if name.is_empty() || !plain {
                return Err(ConfigError::FieldName {
                    setting,
                    name: name.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// The fields of the bins that this run reads, sorted, each once.
    #[must_use]
    pub fn fields(&self) -> Vec<&str> {
        let mut fields = vec!["change", "close", "factor", "volume"];
        fields.extend(self.named_fields().into_iter().map(|(_, name)| name));
        fields.sort_unstable();
        fields.dedup();
        fields
    }

    fn named_fields(&self) -> Vec<(&'static str, &str)> {
        let mut fields = vec![
            ("deal_price", self.deal_price.buy.as_str()),
            ("deal_price", self.deal_price.sell.as_str()),
        ];
        if let Limit::Flags { buy, sell } = &self.limit {
            fields.extend([("limit", buy.as_str()), ("limit", sell.as_str())]);
        }
        if let Some(threshold) = &self.volume_threshold {
            fields.push(("volume_threshold", threshold.field.as_str()));
        }
        fields
    }

    fn validate_numbers(&self) -> Result<(), ConfigError> {
        let numbers = [
            ("account", Some(self.account)),
            (
                "limit",
                if let Limit::Change(threshold) = self.limit {
                    Some(threshold)
                } else {
                    None
                },
            ),
            ("open_cost", Some(self.open_cost)),
            ("close_cost", Some(self.close_cost)),
            ("min_cost", Some(self.min_cost)),
            ("trade_unit", self.trade_unit),
            ("impact_cost", Some(self.impact_cost)),
            (
                "volume_threshold.share",
                self.volume_threshold.as_ref().map(|threshold| threshold.share),
            ),
            ("risk_degree", Some(self.risk_degree)),
        ];
        for (field, value) in numbers {
            match value {
                Some(value) if !value.is_finite() => return Err(ConfigError::NotFinite { field, value }),
                Some(_) | None => {}
            }
        }
        for (field, value) in [("account", Some(self.account)), ("trade_unit", self.trade_unit)] {
            match value {
                Some(value) if value <= 0.0 => return Err(ConfigError::NotPositive { field, value }),
                Some(_) | None => {}
            }
        }
        Ok(())
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn config() -> QlibConfig {
        QlibConfig {
            start: NaiveDate::from_ymd_opt(2024, 1, 2).unwrap(),
            end: NaiveDate::from_ymd_opt(2024, 1, 3).unwrap(),
            account: 1_000_000.0,
            deal_price: DealPrice {
                buy: "open".to_owned(),
                sell: "open".to_owned(),
            },
            limit: Limit::Change(0.095),
            open_cost: 0.0005,
            close_cost: 0.0015,
            min_cost: 5.0,
            trade_unit: Some(100.0),
            impact_cost: 0.0,
            volume_threshold: None,
            trade_type: TradeType::Serial,
            settle: Settle::None,
            benchmark: "SH000300".to_owned(),
            risk_degree: 0.95,
            strategy: Strategy::Scripted,
        }
    }

    #[test]
    fn fields_are_those_the_run_reads() {
        let mut run = config();
        assert_eq!(run.fields(), ["change", "close", "factor", "open", "volume"]);
        run.limit = Limit::Flags {
            buy: "luopen".to_owned(),
            sell: "ldopen".to_owned(),
        };
        run.deal_price.sell = "close".to_owned();
        assert_eq!(
            run.fields(),
            ["change", "close", "factor", "ldopen", "luopen", "open", "volume"]
        );
    }

    #[test]
    fn impossible_settings_are_named() {
        assert_eq!(config().validate(), Ok(()));
        let mut run = config();
        run.account = 0.0;
        assert_eq!(
            run.validate(),
            Err(ConfigError::NotPositive {
                field: "account",
                value: 0.0
            })
        );
        let mut run = config();
        run.min_cost = f64::INFINITY;
        assert!(matches!(
            run.validate(),
            Err(ConfigError::NotFinite {
                field: "min_cost",
                ..
            })
        ));
        let mut run = config();
        run.end = NaiveDate::from_ymd_opt(2023, 1, 3).unwrap();
        assert!(matches!(run.validate(), Err(ConfigError::EmptyWindow { .. })));
        let mut run = config();
        run.deal_price.buy = "$open".to_owned();
        let error = run.validate().unwrap_err();
        assert_eq!(
            error.to_string(),
            "`deal_price` names the field `$open`, which cannot be a bin"
        );
        assert!(error.hint().contains("without `$`"));
    }
}
