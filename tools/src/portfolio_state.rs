//! `portfolio_state`: cash, holdings, limits left, and what the last step's orders did.

use crate::context::ToolContext;
use crate::{last_step, state};
use ktd_masking::Payload;

pub(crate) fn answer(context: &ToolContext<'_>) -> Payload {
    Payload::map([
        ("as_of", state::as_of_day(context)),
        ("account", state::account(context)),
        ("limits", state::limits(context)),
        ("last_step", last_step::payload(context)),
    ])
}
