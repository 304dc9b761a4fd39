//! The exchange's rules as configuration keys.

use crate::ExperimentError;
use ktd_env::exchange::{ByBoard, Delisting, ExDayOrders, FeeRule, LimitRounding, LimitRule, Rules};
use ktd_env::{Decimal, Fen, TradeDate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keys of the exchange that a file may set; an absent key keeps the rule's default (docs/spec/exchange.md).
///
/// Decimal-valued keys are strings, so that `"0.20"` is exactly that.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RulesConfig {
    /// Cash before the first day, fen.
    pub initial_cash_fen: Option<u64>,
    /// `exact`, `buffered` (the paper's) or `strict`.
    pub limit: Option<LimitKey>,
    /// Distance of the buffered limit by board, basis points.
    pub buffer_bp: Option<BoardKeys<u32>>,
    /// The exchange's limit by board, basis points.
    pub exact_bp: Option<BoardKeys<u32>>,
    /// `floor_ceil` or `half_up`: how the limits of Beijing become whole fen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bse_limits: Option<BseLimitsKey>,
    /// The exchange's limit of ST names on the main boards before their reform, basis points.
    pub exact_bp_st_main: Option<u32>,
    /// First day on which ST names of the main boards have the limit of their board.
    pub st_main_new_from: Option<String>,
    /// `ChiNext`'s limit before its reform, basis points.
    pub exact_bp_chinext_old: Option<u32>,
    /// First day of `ChiNext`'s reform.
    pub chinext_new_from: Option<String>,
    /// Trading days from listing without a limit, by board.
    pub no_limit_days: Option<BoardKeys<u32>>,
    /// First listing date to which that applies, by board; an empty text means every date.
    pub no_limit_from: Option<BoardKeys<String>>,
    /// Largest weight of one name after a buy.
    pub max_single_weight: Option<String>,
    /// Most names held.
    pub max_positions: Option<u32>,
    /// `paper` or `dated`.
    pub fees: Option<FeesKey>,
    /// Fee on buys of `paper`, basis points.
    pub buy_bps: Option<u32>,
    /// Fee on sells of `paper`, basis points.
    pub sell_bps: Option<u32>,
    /// Commission of `dated`, basis points.
    pub commission_bps: Option<u32>,
    /// Least fee of one order, fen; of `dated` the least commission.
    pub min_fee_fen: Option<u32>,
    /// `scaled` or `as_decided`.
    pub ex_day_orders: Option<ExDayOrdersKey>,
    /// `last_close` or `zero`.
    pub delisting: Option<DelistingKey>,
    /// On which missed trading day a name whose rows have ended is delisted.
    pub delist_after_days: Option<u32>,
    /// Least length of an order's reason, characters.
    pub min_reason_chars: Option<u32>,
}

/// `limit`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitKey {
    /// The exchange's own limit price by board, ST status and date.
    Exact,
    /// The paper's buffer below the limit by board alone.
    Buffered,
    /// Either.
    Strict,
}

/// `bse_limits`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BseLimitsKey {
    /// The upper one is cut down, the lower one up: the exchange's own.
    FloorCeil,
    /// Half-up, as in Shanghai and Shenzhen: what was taken for the rule before.
    HalfUp,
}

/// `delisting`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DelistingKey {
    /// Cash at the last mark.
    LastClose,
    /// Nothing.
    Zero,
}

/// `fees`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FeesKey {
    /// The paper's flat rates.
    Paper,
    /// Commission, and stamp duty and transfer fee of the trading day.
    Dated,
}

/// `ex_day_orders`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExDayOrdersKey {
    /// Carried through the corporate action.
    Scaled,
    /// As decided.
    AsDecided,
}

/// A value for some of the boards.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardKeys<T> {
    /// Main boards.
    #[serde(rename = "MAIN", alias = "main")]
    pub main: Option<T>,
    /// `ChiNext`.
    #[serde(rename = "CHINEXT", alias = "chinext")]
    pub chinext: Option<T>,
    /// STAR market.
    #[serde(rename = "STAR", alias = "star")]
    pub star: Option<T>,
    /// Beijing Stock Exchange.
    #[serde(rename = "BSE", alias = "bse")]
    pub bse: Option<T>,
}

impl RulesConfig {
    /// Every key of these rules, so that a header tells them whole.
    #[must_use]
    pub fn of(rules: &Rules) -> Self {
        let date = |date: TradeDate| date.reveal();
        let from = rules.no_limit_from;
        let from_text = |listed: Option<TradeDate>| Some(listed.map(date).unwrap_or_default());
        Self {
            initial_cash_fen: u64::try_from(rules.initial_cash.0).ok(),
            limit: Some(match rules.limit {
                LimitRule::Buffered => LimitKey::Buffered,
                LimitRule::Exact => LimitKey::Exact,
                LimitRule::Strict => LimitKey::Strict,
            }),
            buffer_bp: Some(BoardKeys::of(rules.buffer_bp)),
            exact_bp: Some(BoardKeys::of(rules.exact_bp)),
            bse_limits: Some(match rules.bse_limits {
                LimitRounding::FloorCeil => BseLimitsKey::FloorCeil,
                LimitRounding::HalfUp => BseLimitsKey::HalfUp,
            }),
            exact_bp_st_main: Some(rules.exact_bp_st_main),
            st_main_new_from: Some(date(rules.st_main_new_from)),
            exact_bp_chinext_old: Some(rules.exact_bp_chinext_old),
            chinext_new_from: Some(date(rules.chinext_new_from)),
            no_limit_days: Some(BoardKeys::of(rules.no_limit_days)),
            no_limit_from: Some(BoardKeys {
                main: from_text(from.main),
                chinext: from_text(from.chinext),
                star: from_text(from.star),
                bse: from_text(from.bse),
            }),
            max_single_weight: Some(weight_text(rules.max_single_weight_billionths)),
            max_positions: Some(rules.max_positions),
            fees: Some(match rules.fees {
                FeeRule::Paper => FeesKey::Paper,
                FeeRule::Dated => FeesKey::Dated,
            }),
            buy_bps: Some(rules.buy_bps),
            sell_bps: Some(rules.sell_bps),
            commission_bps: Some(rules.commission_bps),
            min_fee_fen: u32::try_from(rules.min_fee.0).ok(),
            ex_day_orders: Some(match rules.ex_day_orders {
                ExDayOrders::Scaled => ExDayOrdersKey::Scaled,
                ExDayOrders::AsDecided => ExDayOrdersKey::AsDecided,
            }),
            delisting: Some(match rules.delisting {
                Delisting::LastClose => DelistingKey::LastClose,
                Delisting::Zero => DelistingKey::Zero,
            }),
            delist_after_days: Some(rules.delist_after_days),
            min_reason_chars: Some(rules.min_reason_chars),
        }
    }

    /// These keys, and those that a record of an earlier program may lack with what that program did.
    #[must_use]
    pub fn or_old(self) -> Self {
        Self {
            bse_limits: self.bse_limits.or(Some(BseLimitsKey::HalfUp)),
            ex_day_orders: self.ex_day_orders.or(Some(ExDayOrdersKey::AsDecided)),
            ..self
        }
    }

    /// The rules with these keys set and defaults elsewhere.
    ///
    /// # Errors
    /// [`ExperimentError`] naming the key whose value cannot be.
    pub fn rules(&self) -> Result<Rules, ExperimentError> {
        let mut rules = Rules::default();
        if let Some(cash) = self.initial_cash_fen {
            rules.initial_cash = positive_fen("initial_cash_fen", cash)?;
        }
        self.set_limits(&mut rules)?;
        if let Some(weight) = &self.max_single_weight {
            rules.max_single_weight_billionths = billionths("max_single_weight", weight)?;
        }
        rules.max_positions = self.max_positions.unwrap_or(rules.max_positions);
        self.set_fees(&mut rules);
        rules.ex_day_orders = match self.ex_day_orders {
            Some(ExDayOrdersKey::Scaled) => ExDayOrders::Scaled,
            Some(ExDayOrdersKey::AsDecided) => ExDayOrders::AsDecided,
            None => rules.ex_day_orders,
        };
        rules.delisting = match self.delisting {
            Some(DelistingKey::LastClose) => Delisting::LastClose,
            Some(DelistingKey::Zero) => Delisting::Zero,
            None => rules.delisting,
        };
        rules.delist_after_days = self.delist_after_days.unwrap_or(rules.delist_after_days);
        if rules.delist_after_days == 0 {
            return Err(ExperimentError::invalid("delist_after_days must be at least 1"));
        }
        rules.min_reason_chars = self.min_reason_chars.unwrap_or(rules.min_reason_chars);
        check_basis_points(&rules)?;
        Ok(rules)
    }

    fn set_limits(&self, rules: &mut Rules) -> Result<(), ExperimentError> {
        rules.limit = match self.limit {
            Some(LimitKey::Buffered) => LimitRule::Buffered,
            Some(LimitKey::Exact) => LimitRule::Exact,
            Some(LimitKey::Strict) => LimitRule::Strict,
            None => rules.limit,
        };
        set_boards(&mut rules.buffer_bp, self.buffer_bp.as_ref());
        set_boards(&mut rules.exact_bp, self.exact_bp.as_ref());
        rules.bse_limits = match self.bse_limits {
            Some(BseLimitsKey::FloorCeil) => LimitRounding::FloorCeil,
            Some(BseLimitsKey::HalfUp) => LimitRounding::HalfUp,
            None => rules.bse_limits,
        };
        rules.exact_bp_st_main = self.exact_bp_st_main.unwrap_or(rules.exact_bp_st_main);
        if let Some(date) = &self.st_main_new_from {
            rules.st_main_new_from = config_date("st_main_new_from", date)?;
        }
        rules.exact_bp_chinext_old = self.exact_bp_chinext_old.unwrap_or(rules.exact_bp_chinext_old);
        if let Some(date) = &self.chinext_new_from {
            rules.chinext_new_from = config_date("chinext_new_from", date)?;
        }
        set_boards(&mut rules.no_limit_days, self.no_limit_days.as_ref());
        let Some(from) = &self.no_limit_from else {
            return Ok(());
        };
        let places = [
            (&mut rules.no_limit_from.main, &from.main),
            (&mut rules.no_limit_from.chinext, &from.chinext),
            (&mut rules.no_limit_from.star, &from.star),
            (&mut rules.no_limit_from.bse, &from.bse),
        ];
        for (place, text) in places {
            if let Some(text) = text {
                *place = if text.is_empty() {
                    None
                } else {
                    Some(config_date("no_limit_from", text)?)
                };
            }
        }
        Ok(())
    }

    fn set_fees(&self, rules: &mut Rules) {
        rules.fees = match self.fees {
            Some(FeesKey::Paper) => FeeRule::Paper,
            Some(FeesKey::Dated) => FeeRule::Dated,
            None => rules.fees,
        };
        rules.buy_bps = self.buy_bps.unwrap_or(rules.buy_bps);
        rules.sell_bps = self.sell_bps.unwrap_or(rules.sell_bps);
        rules.commission_bps = self.commission_bps.unwrap_or(rules.commission_bps);
        rules.min_fee = self.min_fee_fen.map_or(rules.min_fee, |fen| Fen(i64::from(fen)));
    }
}

impl<T: Copy> BoardKeys<T> {
    const fn of(values: ByBoard<T>) -> Self {
        Self {
            main: Some(values.main),
            chinext: Some(values.chinext),
            star: Some(values.star),
            bse: Some(values.bse),
        }
    }
}

/// Billionths of NAV as a decimal.
fn weight_text(billionths: u64) -> String {
    let digits = format!("{billionths:010}");
    let (whole, fraction) = digits.split_at(digits.len() - 9);
    let fraction = fraction.trim_end_matches('0');
    if fraction.is_empty() {
        whole.to_owned()
    } else {
        format!("{whole}.{fraction}")
    }
}

/// Fees and limits of more than the whole price are slips of the pen.
fn check_basis_points(rules: &Rules) -> Result<(), ExperimentError> {
    const WHOLE_BP: u32 = 10_000;
    let boards = |key, values: ByBoard<u32>| ktd_env::Board::ALL.map(|board| (key, values.get(board)));
    let single = [
        ("buy_bps", rules.buy_bps),
        ("sell_bps", rules.sell_bps),
        ("commission_bps", rules.commission_bps),
        ("exact_bp_st_main", rules.exact_bp_st_main),
        ("exact_bp_chinext_old", rules.exact_bp_chinext_old),
    ];
    let of_boards = boards("buffer_bp", rules.buffer_bp)
        .into_iter()
        .chain(boards("exact_bp", rules.exact_bp));
    match single
        .into_iter()
        .chain(of_boards)
        .find(|(_, value)| WHOLE_BP < *value)
    {
        None => Ok(()),
        Some((key, value)) => Err(ExperimentError::input(
            format_args!("{key} is {value} basis points, more than all of it"),
            "100 basis points are 1 %",
        )),
    }
}

fn set_boards<T: Copy>(values: &mut ByBoard<T>, keys: Option<&BoardKeys<T>>) {
    let Some(keys) = keys else { return };
    values.main = keys.main.unwrap_or(values.main);
    values.chinext = keys.chinext.unwrap_or(values.chinext);
    values.star = keys.star.unwrap_or(values.star);
    values.bse = keys.bse.unwrap_or(values.bse);
}

/// The largest account the ledger holds without overflow: CNY 10 trillion.
const MOST_CASH_FEN: i64 = 1_000_000_000_000_000;

fn positive_fen(key: &str, value: u64) -> Result<Fen, ExperimentError> {
    i64::try_from(value)
        .ok()
        .filter(|&fen| 0 < fen && fen <= MOST_CASH_FEN)
        .map(Fen)
        .ok_or_else(|| {
            ExperimentError::invalid(format_args!(
                "{key} is {value}, but it must be from 1 to {MOST_CASH_FEN}"
            ))
        })
}

fn billionths(key: &str, text: &str) -> Result<u64, ExperimentError> {
    const BILLION: u64 = 1_000_000_000;
    Decimal::parse(text)
        .ok()
        .and_then(|weight| weight.scaled(9))
        .filter(|&billionths| billionths <= BILLION)
        .ok_or_else(|| {
            ExperimentError::input(
                format_args!("{key} is {text:?}, but a weight is from 0 to 1"),
                format_args!("write it as a decimal in quotes: {key} = \"0.20\""),
            )
        })
}

/// Reads a date of a configuration file.
///
/// # Errors
/// [`ExperimentError`] naming the key.
pub fn config_date(key: &str, text: &str) -> Result<TradeDate, ExperimentError> {
    TradeDate::parse(text).map_err(|error| ExperimentError::invalid(format_args!("{key}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(json: &str) -> Result<Rules, String> {
        serde_json::from_str::<RulesConfig>(json)
            .map_err(|error| error.to_string())
            .and_then(|config| config.rules().map_err(|failure| failure.to_string()))
    }

    #[test]
    fn absent_keys_keep_their_defaults() {
        assert_eq!(rules("{}"), Ok(Rules::default()));
    }

    #[test]
    fn rules_told_whole_are_the_same_rules() {
        let set =
            rules(r#"{"limit": "buffered", "bse_limits": "half_up", "fees": "dated", "ex_day_orders": "as_decided", "max_single_weight": "0.123456", "no_limit_from": {"MAIN": ""}}"#)
                .unwrap();
        for rules in [Rules::default(), set] {
            assert_eq!(RulesConfig::of(&rules).rules().unwrap(), rules);
        }
    }

    #[test]
    fn each_key_reaches_its_rule() {
        let set = rules(
            r#"{"limit": "strict", "bse_limits": "half_up", "buffer_bp": {"MAIN": 900}, "no_limit_from": {"STAR": "2019-07-22"},
                "max_single_weight": "0.123456", "fees": "dated", "buy_bps": 7, "commission_bps": 3, "min_fee_fen": 733, "st_main_new_from": "2026-08-03",
                "ex_day_orders": "as_decided", "delisting": "zero"}"#,
        )
        .unwrap();
        assert_eq!(set.limit, LimitRule::Strict);
        assert_eq!(set.bse_limits, LimitRounding::HalfUp);
        assert_eq!((set.buffer_bp.main, set.buffer_bp.star), (900, 1950));
        assert_eq!(set.no_limit_from.star, TradeDate::parse("2019-07-22").ok());
        assert_eq!(set.max_single_weight_billionths, 123_456_000);
        assert_eq!((set.buy_bps, set.sell_bps, set.min_fee), (7, 15, Fen(733)));
        assert_eq!((set.fees, set.commission_bps), (FeeRule::Dated, 3));
        assert_eq!(Some(set.st_main_new_from), TradeDate::parse("2026-08-03").ok());
        assert_eq!(set.ex_day_orders, ExDayOrders::AsDecided);
        assert_eq!(set.delisting, Delisting::Zero);
    }

    #[test]
    fn impossible_values_name_their_key() {
        for (json, part) in [
            (r#"{"max_weight": "0.2"}"#, "unknown field `max_weight`"),
            (r#"{"max_single_weight": "1.3"}"#, "max_single_weight"),
            (r#"{"max_single_weight": "x"}"#, "max_single_weight"),
            (r#"{"initial_cash_fen": 0}"#, "initial_cash_fen"),
            (r#"{"sell_bps": 20000}"#, "sell_bps"),
            (r#"{"buffer_bp": {"STAR": 10001}}"#, "buffer_bp"),
            (r#"{"fees": "flat"}"#, "unknown variant `flat`"),
            (r#"{"st_main_new_from": "soon"}"#, "st_main_new_from"),
            (r#"{"chinext_new_from": "soon"}"#, "chinext_new_from"),
            (r#"{"delist_after_days": 0}"#, "delist_after_days"),
        ] {
            let error = rules(json).unwrap_err();
            assert!(error.contains(part), "{json}: {error}");
        }
    }
}
