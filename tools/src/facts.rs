//! Plain facts of one name at the close of the as-of day, shared by the tools.

use crate::context::ToolContext;
use ktd_env::exchange::{LimitState, PriceLimits};
use ktd_env::{Bar, NameId};
use ktd_masking::Payload;

/// Where the last close stands between the exchange's own limits of its day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(crate) enum ClosingState {
    Inside,
    AtLimitUp,
    AtLimitDown,
    /// A new listing's first days, or no close before to measure from.
    NoLimit,
}

impl ClosingState {
    pub(crate) fn label(self) -> &'static str {
        self.into()
    }
}

/// One name at the close of the as-of day.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Facts {
    pub(crate) last: Bar,
    pub(crate) before: Option<Bar>,
    /// Trading days since the last bar; 0 when it is the as-of day's.
    pub(crate) stale_days: usize,
    /// No bar on the as-of day, or one without volume.
    pub(crate) is_suspended: bool,
    pub(crate) closing: ClosingState,
}

impl Facts {
    /// `None` for a name without a bar on or before the as-of day.
    pub(crate) fn of(context: &ToolContext<'_>, name: NameId) -> Option<Self> {
        let as_of = context.as_of;
        let (last_day, last) = as_of.last_bar(name)?;
        let stale_days = as_of.day().index().saturating_sub(last_day.index().index());
        let limits = PriceLimits::of_last_bar(context.rules, as_of, name);
        let closing = limits.map_or(ClosingState::NoLimit, |limits| {
            match limits.exact_state(last.close) {
                LimitState::Inside => ClosingState::Inside,
                LimitState::Up => ClosingState::AtLimitUp,
                LimitState::Down => ClosingState::AtLimitDown,
            }
        });
        Some(Self {
            last,
            before: as_of.bar_before_last(name),
            stale_days,
            is_suspended: 0 < stale_days || last.volume == 0,
            closing,
        })
    }

    /// Total return of the as-of day against the bar before; `None` without trading or without a bar before.
    pub(crate) fn change(&self) -> Option<f64> {
        let before = self.before.filter(|_| !self.is_suspended)?;
        Some(self.last.adjusted_close() / before.adjusted_close() - 1.0)
    }

    pub(crate) fn is_at(&self, state: ClosingState) -> bool {
        !self.is_suspended && self.closing == state
    }
}

/// Whether a name is held, and what is worth a warning about it, as a list of labels.
pub(crate) fn flags(context: &ToolContext<'_>, name: NameId, facts: &Facts) -> Payload {
    let held = context.is_held(name).then_some("held");
    Payload::list(
        held.into_iter()
            .chain(marks(context, name, facts))
            .map(Payload::label),
    )
}

/// What is worth a warning about a name that is known to be held.
pub(crate) fn warnings(context: &ToolContext<'_>, name: NameId, facts: &Facts) -> Payload {
    Payload::list(marks(context, name, facts).map(Payload::label))
}

fn marks(
    context: &ToolContext<'_>,
    name: NameId,
    facts: &Facts,
) -> impl Iterator<Item = &'static str> + use<> {
    let trading = context.mask.shows_trading();
    let marks = [
        (trading && facts.is_suspended, "suspended"),
        (trading && facts.is_at(ClosingState::AtLimitUp), "at_limit_up"),
        (trading && facts.is_at(ClosingState::AtLimitDown), "at_limit_down"),
        (trading && context.as_of.is_st(name), "st"),
        (!context.as_of.is_member(name), "not_a_member"),
    ];
    marks
        .into_iter()
        .filter(|(holds, _)| *holds)
        .map(|(_, label)| label)
}
