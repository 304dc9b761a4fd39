//! `portfolio_state`: cash, holdings, and what the last step's orders did. The limits stand in STATE.

use crate::context::ToolContext;
use crate::{last_step_payload, state};
use ktd_masking::Payload;

pub(crate) fn answer(context: &ToolContext<'_>) -> Payload {
    Payload::map([
        ("account", state::account(context)),
        ("last_step", last_step_payload::beside_index(context)),
    ])
}
