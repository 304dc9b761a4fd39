//! The manifest of a run of the benchmark.

use super::config::{AdjustedFrom, LeakConfig, LeakUniverse};
use super::instant_text::instant_text;
use ktd_leakage::{BarField, FEATURES, GraphScope, ScaleRows, Switch, UniverseRule, switch_contract};
use ktd_study::StudyError;
use std::fmt::Write as _;

/// The rule of the names that take part.
#[must_use]
pub(super) const fn universe_rule(universe: LeakUniverse) -> UniverseRule {
    match universe {
        LeakUniverse::Members | LeakUniverse::All => UniverseRule::AsOfDay,
        LeakUniverse::Share(_) => UniverseRule::Survivors,
    }
}

/// What each protocol of a benchmark knows when: a manifest a protocol and horizon, and that of the reference, whose purge
/// covers all horizons.
pub(super) fn manifest_files(config: &LeakConfig) -> Result<Vec<(String, Vec<u8>)>, StudyError> {
    let adjusted_from = config.prices.as_ref().map(|prices| prices.adjusted_from);
    let names = (config.universe, adjusted_from.unwrap_or_default());
    let text = |switch, horizon| manifest_text(switch, horizon, config.future_days, names);
    let mut files = Vec::new();
    for switch in config.switches()? {
        for horizon in &config.horizons {
            let name = format!("manifests/{}_h{horizon}.toml", switch.name());
            files.push((name, text(switch, *horizon).into_bytes()));
        }
    }
    let longest = config.horizons.iter().max().copied().unwrap_or(1);
    files.push((
        "manifest.toml".to_owned(),
        text(Switch::Clean, longest).into_bytes(),
    ));
    Ok(files)
}

/// The manifest of the runs under a protocol for a horizon; it says what the run does, leaks and all.
#[must_use]
pub fn manifest_text(
    switch: Switch,
    horizon: usize,
    future_days: usize,
    (universe, adjusted_from): (LeakUniverse, AdjustedFrom),
) -> String {
    let contract = switch_contract(switch, horizon, future_days);
    let price = if contract.label_price == BarField::Close {
        "close"
    } else {
        "open"
    };
    let scale = match contract.scale {
        ScaleRows::Unscaled => "none",
        ScaleRows::SameDay => "day",
        ScaleRows::FitRows => "train",
        ScaleRows::AllRows => "full",
    };
    let graph = match contract.graph {
        GraphScope::NoGraph => "none",
        GraphScope::Trailing => "trailing",
        GraphScope::Symmetric => "symmetric",
        GraphScope::WholePanel => "full",
    };
    let names = match universe_rule(universe) {
        UniverseRule::AsOfDay => "as-of",
        UniverseRule::AtTheEnd => "end",
        UniverseRule::Survivors => "survivors",
    };
    let mut text = format!(
        "# {}, labels of {horizon} sessions: what is known when, and where it trades.\n[protocol]\nsignal_at = \"{}\"\nfill_at = \"{}\"\n\
         label = {{ price = \"{price}\", from_day = {}, horizon_days = {} }}\npurge_days = {}\nstandardise = \"{scale}\"\n\
         graph = \"{graph}\"\nuniverse = \"{names}\"\n",
        switch.name(),
        instant_text(contract.signal_at),
        instant_text(contract.fill_at),
        contract.label_from,
        contract.horizon,
        contract.purge,
    );
    if adjusted_from == AdjustedFrom::End {
        text.push_str("adjusted_from = \"end\"\n");
    }
    for (feature, declared) in FEATURES.iter().zip(&contract.features) {
        let ahead = if switch == Switch::TempCenter {
            future_days
        } else {
            0
        };
        let source = match (feature.expression(ahead), feature.peers_of()) {
            (Some(expression), _) => format!("expression = \"{expression}\""),
            (None, of) => format!("peers_of = \"{}\"", of.unwrap_or_default()),
        };
        // Writing to a string cannot fail.
        writeln!(
            text,
            "\n[[feature]]\nname = \"{}\"\n{source}\navailable_at = \"{}\"",
            feature.name,
            instant_text(declared.available_at)
        )
        .ok();
    }
    text
}
