//! Runs that tests of several files look at.

use crate::bars::StrategyBars;
use crate::book::INITIAL_CAPITAL;
use crate::document::StrategyDocument;
use crate::logs::StrategyLogs;
use crate::reference::{DocumentId, run_reference};
use crate::scenario::{LONG_RUN, scenarios};

/// The long run of a document with the logs of its reference.
pub(crate) fn long_run(id: DocumentId) -> (StrategyDocument, StrategyBars, StrategyLogs) {
    let document = StrategyDocument::built_in(id).unwrap();
    let parameters = document.default_parameters();
    let drawn = scenarios(id, &parameters, 7).unwrap();
    let long = drawn.into_iter().find(|scenario| scenario.name == LONG_RUN);
    let market = long.unwrap().market;
    let logs = run_reference(id, &parameters, &market, INITIAL_CAPITAL).unwrap();
    (document, market, logs)
}
