//! The exchange's rules as configuration keys.

use crate::ExperimentError;
use crate::basis_points::BasisPoints;
pub use crate::rule_keys::{
    AuctionCashKey, BseLimitsKey, DelistingKey, DividendTaxKey, ExDayOrdersKey, FeesKey, LimitKey,
    LimitOpenKey,
};
use ktd_env::exchange::{ByBoard, LimitRule, Rules, VolumeShare};
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
    /// `queue` or `blocked`: what becomes of an order whose limit the open stands at. `queue` needs `exact` or `strict`; under
    /// `buffered` the default is `blocked`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit_open: Option<LimitOpenKey>,
    /// Whether an open strictly beyond the exchange's own limit proves that no limit holds that day; under `buffered` the default
    /// is `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_limit_beyond: Option<bool>,
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
    /// `shared` or `before`: what pays for the buys of an open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auction_cash: Option<AuctionCashKey>,
    /// Largest share of the day's volume that one order trades; `"0"` for no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_volume_share: Option<String>,
    /// The same for controls such as `oracle`, whose accounts would outgrow the market that they foresee.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_volume_share: Option<String>,
    /// `paper` or `dated`.
    pub fees: Option<FeesKey>,
    /// Fee on buys of `paper`, basis points.
    pub buy_bps: Option<u32>,
    /// Fee on sells of `paper`, basis points.
    pub sell_bps: Option<u32>,
    /// Commission of `dated`, basis points; 2.5, written `"2.5"`, is usual today.
    pub commission_bps: Option<BasisPoints>,
    /// Least fee of one order, fen; of `dated` the least commission.
    pub min_fee_fen: Option<u32>,
    /// `dated` or `none`: whether a sale pays the tax on dividends of the shares sold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dividend_tax: Option<DividendTaxKey>,
    /// `scaled` or `as_decided`.
    pub ex_day_orders: Option<ExDayOrdersKey>,
    /// `last_close` or `zero`.
    pub delisting: Option<DelistingKey>,
    /// On which missed trading day a name whose rows have ended is delisted.
    pub delist_after_days: Option<u32>,
    /// Least length of an order's reason, characters.
    pub min_reason_chars: Option<u32>,
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
            limit: Some(rules.limit.into()),
            buffer_bp: Some(BoardKeys::of(rules.buffer_bp)),
            exact_bp: Some(BoardKeys::of(rules.exact_bp)),
            bse_limits: Some(rules.bse_limits.into()),
            limit_open: Some(rules.limit_open.into()),
            no_limit_beyond: Some(rules.no_limit_beyond),
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
            auction_cash: Some(rules.auction_cash.into()),
            max_volume_share: Some(share_text(rules.max_volume_share)),
            control_volume_share: Some(share_text(rules.control_volume_share)),
            fees: Some(rules.fees.into()),
            buy_bps: Some(rules.buy_bps),
            sell_bps: Some(rules.sell_bps),
            commission_bps: Some(BasisPoints::of_tenths(rules.commission_tenth_bps)),
            min_fee_fen: u32::try_from(rules.min_fee.0).ok(),
            dividend_tax: Some(rules.dividend_tax.into()),
            ex_day_orders: Some(rules.ex_day_orders.into()),
            delisting: Some(rules.delisting.into()),
            delist_after_days: Some(rules.delist_after_days),
            min_reason_chars: Some(rules.min_reason_chars),
        }
    }

    /// These keys, and those that a record of an earlier program may lack with what that program did.
    #[must_use]
    pub fn or_old(self) -> Self {
        Self {
            bse_limits: self.bse_limits.or(Some(BseLimitsKey::HalfUp)),
            limit_open: self.limit_open.or(Some(LimitOpenKey::Blocked)),
            no_limit_beyond: self.no_limit_beyond.or(Some(false)),
            auction_cash: self.auction_cash.or(Some(AuctionCashKey::Shared)),
            max_volume_share: self.max_volume_share.or_else(|| Some(share_text(None))),
            control_volume_share: self.control_volume_share.or_else(|| Some(share_text(None))),
            fees: self.fees.or(Some(FeesKey::Paper)),
            dividend_tax: self.dividend_tax.or(Some(DividendTaxKey::None)),
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
        set(&mut rules.auction_cash, self.auction_cash);
        if let Some(share) = &self.max_volume_share {
            rules.max_volume_share = volume_share("max_volume_share", share)?;
        }
        if let Some(share) = &self.control_volume_share {
            rules.control_volume_share = volume_share("control_volume_share", share)?;
        }
        self.set_fees(&mut rules)?;
        set(&mut rules.dividend_tax, self.dividend_tax);
        set(&mut rules.ex_day_orders, self.ex_day_orders);
        set(&mut rules.delisting, self.delisting);
        rules.delist_after_days = self.delist_after_days.unwrap_or(rules.delist_after_days);
        if rules.delist_after_days == 0 {
            return Err(ExperimentError::invalid("delist_after_days must be at least 1"));
        }
        rules.min_reason_chars = self.min_reason_chars.unwrap_or(rules.min_reason_chars);
        check_basis_points(&rules)?;
        Ok(rules)
    }

    fn set_limits(&self, rules: &mut Rules) -> Result<(), ExperimentError> {
        set(&mut rules.limit, self.limit);
        set_boards(&mut rules.buffer_bp, self.buffer_bp.as_ref());
        set_boards(&mut rules.exact_bp, self.exact_bp.as_ref());
        set(&mut rules.bse_limits, self.bse_limits);
        self.set_limit_opens(rules)?;
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

    /// The paper's buffer knows no limit price to rest at, and none to be beyond.
    fn set_limit_opens(&self, rules: &mut Rules) -> Result<(), ExperimentError> {
        if rules.limit == LimitRule::Buffered {
            if self.limit_open == Some(LimitOpenKey::Queue) {
                return Err(ExperimentError::input(
                    "limit_open = \"queue\" needs a limit price, and limit = \"buffered\" has none",
                    "set limit = \"exact\" or \"strict\", or limit_open = \"blocked\"",
                ));
            }
            rules.limit_open = LimitOpenKey::Blocked.into();
            rules.no_limit_beyond = false;
        }
        set(&mut rules.limit_open, self.limit_open);
        rules.no_limit_beyond = self.no_limit_beyond.unwrap_or(rules.no_limit_beyond);
        Ok(())
    }

    fn set_fees(&self, rules: &mut Rules) -> Result<(), ExperimentError> {
        set(&mut rules.fees, self.fees);
        rules.buy_bps = self.buy_bps.unwrap_or(rules.buy_bps);
        rules.sell_bps = self.sell_bps.unwrap_or(rules.sell_bps);
        if let Some(points) = &self.commission_bps {
            rules.commission_tenth_bps = points.tenths("commission_bps")?;
        }
        rules.min_fee = self.min_fee_fen.map_or(rules.min_fee, |fen| Fen(i64::from(fen)));
        Ok(())
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

fn share_text(share: Option<VolumeShare>) -> String {
    weight_text(share.map_or(0, VolumeShare::billionths))
}

fn volume_share(key: &str, text: &str) -> Result<Option<VolumeShare>, ExperimentError> {
    Ok(VolumeShare::from_billionths(billionths(key, text)?))
}

/// Fees and limits of more than the whole price are slips of the pen.
fn check_basis_points(rules: &Rules) -> Result<(), ExperimentError> {
    const WHOLE_BP: u32 = 10_000;
    let boards = |key, values: ByBoard<u32>| ktd_env::Board::ALL.map(|board| (key, values.get(board)));
    let single = [
        ("buy_bps", rules.buy_bps),
        ("sell_bps", rules.sell_bps),
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

fn set<R, K: Into<R>>(rule: &mut R, key: Option<K>) {
    if let Some(key) = key {
        *rule = key.into();
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
    use ktd_env::exchange::{
        AuctionCash, Delisting, DividendTaxRule, ExDayOrders, FeeRule, LimitOpenRule, LimitRounding,
    };

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
            rules(r#"{"limit": "buffered", "bse_limits": "half_up", "auction_cash": "before", "max_volume_share": "0.05", "control_volume_share": "0", "fees": "paper", "dividend_tax": "none", "ex_day_orders": "as_decided", "max_single_weight": "0.123456", "no_limit_from": {"MAIN": ""}}"#)
                .unwrap();
        for rules in [Rules::default(), set] {
            assert_eq!(RulesConfig::of(&rules).rules().unwrap(), rules);
        }
    }

    #[test]
    fn each_key_reaches_its_rule() {
        let set = rules(
            r#"{"limit": "strict", "bse_limits": "half_up", "limit_open": "blocked", "no_limit_beyond": false, "auction_cash": "before",
                "max_volume_share": "0.05", "control_volume_share": "0", "buffer_bp": {"MAIN": 900}, "no_limit_from": {"STAR": "2019-07-22"},
                "max_single_weight": "0.123456", "fees": "dated", "buy_bps": 7, "commission_bps": "2.5", "min_fee_fen": 733, "st_main_new_from": "2026-08-03",
                "dividend_tax": "none", "ex_day_orders": "as_decided", "delisting": "zero"}"#,
        )
        .unwrap();
        assert_eq!(set.limit, LimitRule::Strict);
        assert_eq!(set.bse_limits, LimitRounding::HalfUp);
        assert_eq!(
            (set.limit_open, set.no_limit_beyond),
            (LimitOpenRule::Blocked, false)
        );
        assert_eq!(set.auction_cash, AuctionCash::Before);
        let twentieth = VolumeShare::from_billionths(50_000_000);
        assert_eq!(
            (set.max_volume_share, set.control_volume_share),
            (twentieth, None)
        );
        assert_eq!((set.buffer_bp.main, set.buffer_bp.star), (900, 1950));
        assert_eq!(set.no_limit_from.star, TradeDate::parse("2019-07-22").ok());
        assert_eq!(set.max_single_weight_billionths, 123_456_000);
        assert_eq!((set.buy_bps, set.sell_bps, set.min_fee), (7, 15, Fen(733)));
        assert_eq!((set.fees, set.commission_tenth_bps), (FeeRule::Dated, 25));
        assert_eq!(Some(set.st_main_new_from), TradeDate::parse("2026-08-03").ok());
        assert_eq!(set.dividend_tax, DividendTaxRule::None);
        assert_eq!(set.ex_day_orders, ExDayOrders::AsDecided);
        assert_eq!(set.delisting, Delisting::Zero);
    }

    #[test]
    fn the_papers_buffer_has_no_limit_to_rest_at() {
        let paper = rules(r#"{"limit": "buffered"}"#).unwrap();
        assert_eq!(
            (paper.limit_open, paper.no_limit_beyond),
            (LimitOpenRule::Blocked, false)
        );
        assert_eq!(Rules::default().limit_open, LimitOpenRule::Queue);
        let error = rules(r#"{"limit": "buffered", "limit_open": "queue"}"#).unwrap_err();
        assert!(error.contains("limit_open"), "{error}");
    }

    #[test]
    fn impossible_values_name_their_key() {
        for (json, part) in [
            (r#"{"max_weight": "0.2"}"#, "unknown field `max_weight`"),
            (r#"{"max_single_weight": "1.3"}"#, "max_single_weight"),
            (r#"{"max_single_weight": "x"}"#, "max_single_weight"),
            (r#"{"max_volume_share": "1.5"}"#, "max_volume_share"),
            (r#"{"auction_cash": "none"}"#, "unknown variant `none`"),
            (r#"{"initial_cash_fen": 0}"#, "initial_cash_fen"),
            (r#"{"commission_bps": "2.55"}"#, "commission_bps"),
            (r#"{"commission_bps": 10001}"#, "commission_bps"),
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
