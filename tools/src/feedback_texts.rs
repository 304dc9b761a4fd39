//! Every sentence of feedback, fixed at compile time: nothing a model or a library wrote is ever echoed.

use ktd_env::exchange::RejectCode;
use ktd_masking::{Mask, Payload};
use std::collections::BTreeSet;

pub(crate) const USE_SCHEMA: &str = "send one JSON object that follows the tool's parameters";
pub(crate) const STOCK_ID: &str = "a stock id exactly as it was shown in this episode";
pub(crate) const STOCK_ID_HINT: &str = "copy the id character by character from a tool answer or from STATE; ids of other episodes do not exist here";

/// What a rejection means and how to avoid it.
pub(crate) const fn meaning(code: RejectCode) -> &'static str {
    match code {
        RejectCode::UnknownSymbol => {
            "no such stock id in this episode, or not known yet on the as-of day; copy ids exactly as shown"
        }
        RejectCode::Duplicate => {
            "an order on this name was already accepted in this list; send one order a name, either BUY or SELL"
        }
        RejectCode::NotInUniverse => {
            "only index members of the as-of day may be bought; a holding that left the index may be sold"
        }
        RejectCode::NotHeld => "nothing of this name is held, so there is nothing to sell",
        RejectCode::SideMismatch => {
            "target_weight is the weight after the trade: after rounding down to round lots it asks for no trade \
             (one lot may cost more than the target), or for one on the other side; move the target further from the \
             current weight, change the side, or drop the order"
        }
        RejectCode::Oversell => {
            "more shares than are sellable; sell at most what is held, or use target_weight 0"
        }
        RejectCode::Lot => {
            "off the board's grid: MAIN and CHINEXT trade in multiples of 100 shares, STAR from 200 and BSE from 100 \
             shares in steps of 1; a sale may also take the whole odd remainder; choose a larger or rounder amount"
        }
        RejectCode::MaxSingleWeight => {
            "the holding after the buy would weigh more than max_single_weight of NAV at the as-of close; lower the target"
        }
        RejectCode::MaxPositions => {
            "a new name would exceed max_positions; sell a whole holding in the same list, or buy more of a name held"
        }
        RejectCode::Suspended => "the name did not trade at the open; orders do not carry over, decide again",
        RejectCode::LimitUp => {
            "the open stood at the upper price limit, and the buy did not fill; decide again"
        }
        RejectCode::LimitDown => {
            "the open stood at the lower price limit, and the sell did not fill; decide again"
        }
        RejectCode::Volume => {
            "the largest share of the day's volume that one order may trade holds no round lot; choose a name that trades more"
        }
        RejectCode::Cash => {
            "cash did not suffice for the smallest legal amount and its fee; keep a reserve, as opens differ from closes"
        }
    }
}

/// A code and its meaning as a mask tells them: where it does not tell how names trade, an order that the open refused says
/// no more than that, because suspensions and limit days are on public record.
fn told(mask: &Mask, code: RejectCode) -> (&'static str, &'static str) {
    match code {
        RejectCode::Suspended | RejectCode::LimitUp | RejectCode::LimitDown | RejectCode::Volume
            if !mask.shows_trading() =>
        {
            (
                "not_traded",
                "the order could not trade at the open; orders do not carry over, decide again",
            )
        }
        RejectCode::UnknownSymbol
        | RejectCode::Duplicate
        | RejectCode::NotInUniverse
        | RejectCode::NotHeld
        | RejectCode::SideMismatch
        | RejectCode::Oversell
        | RejectCode::Lot
        | RejectCode::MaxSingleWeight
        | RejectCode::MaxPositions
        | RejectCode::Suspended
        | RejectCode::LimitUp
        | RejectCode::LimitDown
        | RejectCode::Volume
        | RejectCode::Cash => (code.code(), meaning(code)),
    }
}

/// A code as it is shown.
pub(crate) fn code(mask: &Mask, code: RejectCode) -> Payload {
    Payload::label(told(mask, code).0)
}

/// The codes that occur with their meanings, each once, in the order of the checks.
pub(crate) fn explained(mask: &Mask, codes: impl Iterator<Item = RejectCode>) -> Payload {
    let codes: BTreeSet<RejectCode> = codes.collect();
    let mut shown: Vec<_> = codes.into_iter().map(|code| told(mask, code)).collect();
    // Codes that are told alike stand next to each other in the order of the checks.
    shown.dedup();
    Payload::map(
        shown
            .into_iter()
            .map(|(code, meaning)| (code, Payload::label(meaning))),
    )
}

/// The codes that a book gives, explained by what the book knows: no price, no lot, no open.
pub(crate) fn explained_in_book(codes: impl Iterator<Item = RejectCode>) -> Payload {
    let codes: BTreeSet<RejectCode> = codes.collect();
    let in_book = |code: RejectCode| match code {
        RejectCode::UnknownSymbol => {
            "no such stock id now: ids are renewed every period, and only those of this period and of `holdings` exist"
        }
        RejectCode::SideMismatch => {
            "target_weight is the weight after the trade: a BUY must lie above the weight in `holdings` and a SELL below it"
        }
        RejectCode::NotHeld => "the id is not in `holdings`, so there is nothing to sell",
        RejectCode::MaxSingleWeight => "the target lies above max_single_weight; lower it",
        RejectCode::Cash => {
            "all targets together would exceed 1; sell something in the same list, or lower a target"
        }
        RejectCode::Duplicate
        | RejectCode::MaxPositions
        | RejectCode::NotInUniverse
        | RejectCode::Oversell
        | RejectCode::Lot
        | RejectCode::Suspended
        | RejectCode::LimitUp
        | RejectCode::LimitDown
        | RejectCode::Volume => meaning(code),
    };
    Payload::map(
        codes
            .into_iter()
            .map(|code| (code.code(), Payload::label(in_book(code)))),
    )
}
