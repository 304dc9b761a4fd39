//! What a panel and its settings keep the figures from saying.

use super::config::{LeakConfig, LeakUniverse};
use ktd_leakage::{AdjustedFrom, Switch};

/// What the panel and the settings keep the figures from saying.
pub(super) fn notes(config: &LeakConfig, clipped_months: usize) -> Vec<String> {
    let mut notes = Vec::new();
    match config.universe {
        LeakUniverse::Share(share) => notes.push(format!(
            "survivors: only names that traded on {} % of all sessions take part, which nobody knew before the end; ratios of every \
             protocol are too good, gains are differences on the same names",
            share * 100.0
        )),
        LeakUniverse::All => notes.push(
            "every name of the panel takes part: where the panel has the members of one day alone, they are survivors"
                .to_owned(),
        ),
        LeakUniverse::Members => {}
    }
    if config.adjusted_from() == AdjustedFrom::End {
        notes.push(
            "factors look back from the last day: levels of prices know later dividends, the ratios that features are made of do not"
                .to_owned(),
        );
    }
    if config.protocols.contains(&Switch::StructGraph) && 0 < clipped_months {
        notes.push(format!(
            "STRUCT_GRAPH: the windows of the last {clipped_months} months are clipped at the panel's last day, so that they see \
             less of what comes"
        ));
    }
    notes
}
