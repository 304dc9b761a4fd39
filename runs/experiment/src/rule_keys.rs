//! Values of the exchange's rules as files name them.

use ktd_env::exchange::{
    AuctionCash, Delisting, DividendTaxRule, ExDayOrders, FeeRule, LimitOpenRule, LimitRounding, LimitRule,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

/// `limit_open`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LimitOpenKey {
    /// An order rests at the limit, and fills there where the price leaves it later on the day.
    Queue,
    /// It does not fill.
    Blocked,
}

/// `auction_cash`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuctionCashKey {
    /// Cash held before the open pays, and a buy freezes its count at the upper limit.
    Before,
    /// What sells of the same open bring pays too.
    Shared,
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

/// `dividend_tax`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DividendTaxKey {
    /// None.
    None,
    /// By holding time, on the schedule of the dividend's record day, when shares are sold.
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

/// A key stands for the variant of its rule that has the same name.
macro_rules! same_variants {
    ($($key:ident: $rule:ident { $($variant:ident),+ })+) => {$(
        impl From<$rule> for $key {
            fn from(rule: $rule) -> Self {
                match rule {
                    $($rule::$variant => Self::$variant,)+
                }
            }
        }

        impl From<$key> for $rule {
            fn from(key: $key) -> Self {
                match key {
                    $($key::$variant => Self::$variant,)+
                }
            }
        }
    )+};
}

same_variants! {
    LimitKey: LimitRule { Exact, Buffered, Strict }
    BseLimitsKey: LimitRounding { FloorCeil, HalfUp }
    LimitOpenKey: LimitOpenRule { Queue, Blocked }
    AuctionCashKey: AuctionCash { Before, Shared }
    DelistingKey: Delisting { LastClose, Zero }
    FeesKey: FeeRule { Paper, Dated }
    DividendTaxKey: DividendTaxRule { None, Dated }
    ExDayOrdersKey: ExDayOrders { Scaled, AsDecided }
}
