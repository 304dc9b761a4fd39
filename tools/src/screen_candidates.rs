//! `screen_candidates`: index members ranked by a weighted sum of what is shown of their factors.

use crate::args::{BoundScale, Direction, FactorBound, FactorTilt, ScreenArguments};
use crate::context::{ToolContext, ToolLimits};
use crate::facts::{Facts, flags};
use crate::fault::Fault;
use crate::masked_factor_view::MaskedFactorView;
use crate::state::count_of;
use ktd_env::NameId;
use ktd_env::factors::Factor;
use ktd_masking::{MaskedNumber, Payload, PointerPart};
use std::cmp::Ordering;
use std::collections::BTreeSet;

const DEFAULT_TOP_K: u32 = 10;

pub(crate) fn answer(context: &ToolContext<'_>, arguments: &ScreenArguments) -> Result<Payload, Vec<Fault>> {
    let bounds = arguments.bounds.as_deref().unwrap_or_default();
    let shows_raw = |factor| context.mask.shows_raw(factor);
    let top_k = check(context.limits, shows_raw, arguments, bounds)?;
    let masked = MaskedFactorView::of(context, &factors(arguments, bounds), &[]);
    let members = context.members_in_order();
    let mut ranked: Vec<(f64, NameId)> = members
        .iter()
        .filter(|name| bounds.iter().all(|bound| holds(&masked, **name, bound)))
        .map(|name| (score(&masked, *name, &arguments.factors), *name))
        .collect();
    // The sort is stable, so names that are equal in all keep the masked order.
    ranked.sort_by(|left, right| {
        let by_score = right.0.total_cmp(&left.0);
        by_score.then_with(|| by_finer(&masked, (left.1, right.1), &arguments.factors))
    });
    let matching = ranked.len();
    let mut columns = vec!["stock_id", "board"];
    for tilt in &arguments.factors {
        columns.extend(masked.factor_columns(tilt.factor.0));
    }
    columns.extend(["missing", "flags"]);
    let rows = ranked
        .into_iter()
        .take(top_k)
        .filter_map(|(_, name)| row(&masked, context, name, &arguments.factors));
    let counts = [("members", members.len()), ("within_bounds", matching)];
    let counts = counts
        .into_iter()
        .filter_map(|(key, count)| Some((key, context.mask.market_count(count)?)));
    let candidates = ("candidates", Payload::sparse_table(&columns, rows));
    Ok(Payload::map(counts.chain([candidates])))
}

/// The factors of a request, each once.
fn factors(arguments: &ScreenArguments, bounds: &[FactorBound]) -> Vec<Factor> {
    let tilts = arguments.factors.iter().map(|tilt| tilt.factor.0);
    let bounds = bounds.iter().filter_map(|bound| bound.factor.0);
    let factors: BTreeSet<Factor> = tilts.chain(bounds).collect();
    factors.into_iter().collect()
}

/// The number of names to return, if the request can be answered.
pub(crate) fn check(
    limits: &ToolLimits,
    shows_raw: impl Fn(Factor) -> bool,
    arguments: &ScreenArguments,
    bounds: &[FactorBound],
) -> Result<usize, Vec<Fault>> {
    let mut faults = Vec::new();
    let most = limits.max_candidates;
    let top_k = arguments.top_k.unwrap_or(DEFAULT_TOP_K.min(most));
    if most < top_k {
        let fault = Fault::new("out_of_range", "a top_k not above `most`", "ask for fewer names");
        faults.push(
            fault
                .with("most", count_of(most))
                .at([PointerPart::Field("top_k")]),
        );
    }
    for (place, tilt) in arguments.factors.iter().enumerate() {
        let at = |field| {
            [
                PointerPart::Field("factors"),
                PointerPart::Index(place),
                PointerPart::Field(field),
            ]
        };
        let earlier = arguments.factors.iter().take(place);
        if earlier.into_iter().any(|other| other.factor == tilt.factor) {
            let fault = Fault::new("duplicate", "each factor once", "merge the two weights into one");
            faults.push(fault.at(at("factor")));
        }
        if tilt.weight.is_some_and(|weight| weight <= 0.0) {
            let fault = Fault::new(
                "out_of_range",
                "a weight above 0",
                "use direction `low` to turn the sign",
            );
            faults.push(fault.at(at("weight")));
        }
    }
    for (place, bound) in bounds.iter().enumerate() {
        faults.extend(bound_fault(&shows_raw, place, bound));
    }
    if faults.is_empty() {
        Ok(usize::try_from(top_k).unwrap_or(usize::MAX))
    } else {
        Err(faults)
    }
}

/// Where no raw value is shown.
pub(crate) const fn shows_no_raw(_: Factor) -> bool {
    false
}

fn bound_fault(shows_raw: &impl Fn(Factor) -> bool, place: usize, bound: &FactorBound) -> Option<Fault> {
    let at = [PointerPart::Field("bounds"), PointerPart::Index(place)];
    let Some(factor) = bound.factor.0 else {
        let names = Payload::list(Factor::ALL.map(|factor| Payload::label(factor.name())));
        let fault = Fault::new("unknown_value", "one of `allowed`", "copy the word exactly");
        let field = PointerPart::Field("factor");
        return Some(fault.with("allowed", names).at(at.into_iter().chain([field])));
    };
    if bound.scale == Some(BoundScale::Raw) && !shows_raw(factor) {
        let fault = Fault::new(
            "raw_value_hidden",
            "scale `z`",
            "this factor's raw values are not shown here",
        );
        return Some(fault.at(at));
    }
    let fault = match (bound.min, bound.max) {
        (None, None) => Fault::new("missing", "min, max or both", "add a bound or drop the entry"),
        (Some(min), Some(max)) if max < min => {
            Fault::new("out_of_range", "min not above max", "swap min and max")
        }
        (Some(_), _) | (None, Some(_)) => return None,
    };
    Some(fault.at(at))
}

fn holds(masked: &MaskedFactorView<'_>, name: NameId, bound: &FactorBound) -> bool {
    let number = bound
        .factor
        .0
        .and_then(|factor| match bound.scale.unwrap_or(BoundScale::Z) {
            BoundScale::Z => masked.score(name, factor),
            BoundScale::Raw => masked.raw(name, factor),
        });
    number.map(MaskedNumber::value).is_some_and(|value| {
        bound.min.is_none_or(|min| min <= value) && bound.max.is_none_or(|max| value <= max)
    })
}

/// Sum of weight x direction x score; a missing score counts as that of a middling member.
fn score(masked: &MaskedFactorView<'_>, name: NameId, tilts: &[FactorTilt]) -> f64 {
    let part = |tilt: &FactorTilt| {
        let above = masked.above_middle(name, tilt.factor.0);
        let signed = match tilt.direction {
            Direction::High => above,
            Direction::Low => -above,
        };
        tilt.weight.unwrap_or(1.0) * signed
    };
    // Adding zero turns -0.0 into 0.0, which `total_cmp` would tell apart.
    tilts.iter().map(part).sum::<f64>() + 0.0
}

/// Which of two equally scored names comes first: the factors' raw values, one factor after the other, where they are
/// shown.
///
/// z-scores are clipped, and momentum has such tails that all of the best names can stand at the clip.
fn by_finer(
    masked: &MaskedFactorView<'_>,
    (left, right): (NameId, NameId),
    tilts: &[FactorTilt],
) -> Ordering {
    let wish = |name: NameId, tilt: &FactorTilt| {
        let finer = masked.finer(name, tilt.factor.0);
        finer.map_or(f64::NEG_INFINITY, |finer| match tilt.direction {
            Direction::High => finer,
            Direction::Low => -finer,
        })
    };
    let one = |tilt: &FactorTilt| (wish(right, tilt) + 0.0).total_cmp(&(wish(left, tilt) + 0.0));
    tilts.iter().map(one).fold(Ordering::Equal, Ordering::then)
}

fn row(
    masked: &MaskedFactorView<'_>,
    context: &ToolContext<'_>,
    name: NameId,
    tilts: &[FactorTilt],
) -> Option<Vec<Payload>> {
    let facts = Facts::of(context, name)?;
    let factors = || tilts.iter().map(|tilt| tilt.factor.0);
    let missing = factors().filter(|factor| masked.score(name, *factor).is_none());
    let mut row = vec![context.mask.asset(name), context.board(name)];
    for factor in factors() {
        row.extend(masked.factor_cells(name, factor));
    }
    row.push(Payload::list(
        missing.map(|factor: Factor| Payload::label(factor.name())),
    ));
    row.push(flags(context, name, &facts));
    Some(row)
}
