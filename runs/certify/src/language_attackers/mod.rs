//! Language models as attackers: each probe is one question, answered through the forced submission of an episode.
//!
//! What is asked is a template with the probe's own payload in it; what comes back is kept as the exchanges of an episode
//! are, so that a run that was ended anywhere continues without paying twice, and a replay without a network gives the
//! same answers. A model's mistake is fed back within its retries and then counts as *unanswered*, as a refusal does; a
//! fault of the infrastructure is sent again, and stops the attacker when its attempts are used up. No probe is dropped.

mod asked;
mod config;
mod converse;
mod guess;
mod question;
mod record;
mod resolve;

pub use asked::Questions;
pub(crate) use config::CHEATER;
pub use config::LanguageConfig;
pub(crate) use guess::{CodeText, tools_sha256};
pub use guess::{Guess, Problem};
pub use record::LanguageAnswer;
pub use resolve::answer_of;
pub(crate) use resolve::stock;
