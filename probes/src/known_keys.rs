//! Keys of the tools' answers: what stands under any other is a stranger.

use crate::step_text::STATE;
use ktd_env::factors::{Factor, Technical};
use ktd_tools::{SUBMIT_ACTION, Tool};

/// Keys under which tools tell numbers or more keys, by the key or the source that they stand under. Names of factors and
/// technicals are known everywhere.
const KNOWN: [(&str, &[&str]); 27] = [
    (
        Tool::GetMarketContext.name(),
        &[
            "day",
            "step",
            "steps_left",
            "index",
            "breadth",
            "dispersion",
            "boards",
            "sectors",
        ],
    ),
    (
        "index",
        &[
            "level",
            "return_1d",
            "return_5d",
            "return_20d",
            "return_60d",
            "volatility_20d",
            "drawdown_60d",
        ],
    ),
    (
        "breadth",
        &[
            "members",
            "advancers",
            "decliners",
            "unchanged",
            "at_limit_up",
            "at_limit_down",
            "suspended",
        ],
    ),
    ("boards", &GROUP),
    ("sectors", &GROUP),
    (
        Tool::ScreenCandidates.name(),
        &["members", "within_bounds", "candidates"],
    ),
    ("candidates", &["stock_id", "board", "flags", "missing"]),
    (
        Tool::GetStockSnapshot.name(),
        &[
            "stock_id",
            "board",
            "sector",
            "flags",
            "stale_days",
            "previous_close",
            "limit_state",
            "next_open_limits",
            "bars",
            "factors",
            "technicals",
        ],
    ),
    ("next_open_limits", &["up", "down"]),
    ("bars", &["days_ago", "open", "high", "low", "close", "volume"]),
    ("factors", &["value"]),
    ("technicals", &[]),
    (
        STATE,
        &[
            "day",
            "as_of",
            "step",
            "steps_total",
            "account",
            "limits",
            "last_step",
        ],
    ),
    (
        Tool::CompareCandidates.name(),
        &[
            "stock_id",
            "board",
            "close",
            "weight",
            "unrealised_return",
            "flags",
            "missing",
            "errors",
            "more_errors",
        ],
    ),
    (Tool::PortfolioState.name(), &["account", "last_step"]),
    (
        Tool::RiskCheck.name(),
        &["plan", "reasons", "projected", "limits", "errors", "more_errors"],
    ),
    (
        "plan",
        &[
            "stock_id",
            "side",
            "weight_now",
            "target_weight",
            "weight_after",
            "result",
            "code",
            "shares_to_trade",
        ],
    ),
    (
        "projected",
        &[
            "cash",
            "cash_weight",
            "cash_shortfall",
            "fees",
            "turnover",
            "positions",
            "positions_left",
            "hhi_now",
            "hhi_after",
            "largest_weight",
        ],
    ),
    (SUBMIT_ACTION, &["orders", "reasons", "limits"]),
    (
        "errors",
        &["error", "pointer", "expected", "hint", "step", "most"],
    ),
    ("account", &["nav", "cash", "cash_weight", "holdings"]),
    (
        "holdings",
        &[
            "stock_id",
            "board",
            "weight",
            "value",
            "cost",
            "unrealised_return",
            "shares",
            "stale_days",
            "flags",
        ],
    ),
    (
        "limits",
        &[
            "max_single_weight",
            "max_positions",
            "positions_left",
            "target_weight_step",
            "max_orders",
        ],
    ),
    (
        "last_step",
        &[
            "day",
            "outcome",
            "nav_return",
            "price_index_return",
            "orders",
            "reasons",
            "events",
        ],
    ),
    (
        "orders",
        &[
            "order",
            "stock_id",
            "side",
            "requested",
            "target_weight",
            "result",
            "code",
            "price",
            "value",
            "requested_shares",
            "filled_shares",
            "fee",
        ],
    ),
    (
        "events",
        &["stock_id", "event", "cash", "shares_before", "shares_after"],
    ),
    ("message", &["source", "content"]),
];

/// What is shown of a board or a sector.
const GROUP: [&str; 8] = [
    "board",
    "sector",
    "members",
    "return_1d",
    "return_20d",
    "return_1d_rank",
    "return_20d_rank",
    "share_up",
];

pub(crate) fn is_known(container: &str, key: &str) -> bool {
    let own = KNOWN.iter().find(|(name, _)| *name == container);
    own.is_some_and(|(_, keys)| keys.contains(&key)) || is_figure(key)
}

/// Whether a key is the name of a factor or a technical, in any form.
pub(crate) fn is_figure(key: &str) -> bool {
    let stems = ["", "_pct", "_z", "_band"].map(|form| key.strip_suffix(form));
    stems.into_iter().flatten().any(|name| {
        Technical::from_name(name).is_some() || Factor::ALL.iter().any(|factor| factor.name() == name)
    })
}
