//! Planted accounts: portfolios whose true selection is known, and what an attribution recovers of it.
//!
//! Factor returns, exposures and who trades are a panel's own. The specific return of each name and day has its own size
//! and a sign thrown anew, so that nothing but what is planted can be foreseen. Beyond the limits of winsorising the true
//! exposure grows by a share of the name's own ([`PlantedDesign::tail`]): 0 stops at the limit, 1 goes on.
//!
//! Names of one sector may share shocks of it ([`PlantedDesign::sector_share`]), which selection holds and tells apart.
//!
//! The true selection of an account is what it held times the planted specific returns, leg by leg: overnight on what
//! it held before the day's trades, intraday on what it held after them.

mod agent;
mod book;
mod choice;
mod exposures;
mod market;
mod recovery;
mod tail;
#[cfg(test)]
mod tests;

pub use agent::{PlantedAgent, SkillHorizon};
pub use exposures::CandidateExposures;
pub use market::{PlantedDesign, PlantedMarket};
pub use recovery::{
    Candidate, PartRecovery, PlantingError, Recovered, RecoverySummary, outside_luck, summarise,
    summarise_part,
};
pub use tail::TailFit;
