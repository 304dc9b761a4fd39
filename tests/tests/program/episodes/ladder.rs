//! Whole episodes on every rung of the numeric ladder.

use ktd_client::progress::Silent;
use ktd_episode::open_bundle::OpenBundle;
use ktd_episode::replay_episode;
use ktd_experiment::mask_hash::mask_hash;
use ktd_kit::episode::{DAYS, NAMES, Trace, experiment, key, market, prepare, run, runtime};
use ktd_masking::{Level, MaskSettings, Mode, Numeric};
use std::collections::BTreeSet;

const SEED: u64 = 5;

fn grid() -> String {
    let numerics =
        Numeric::ALL.map(|numeric| format!("{{ level = \"blinded\", numeric = \"{}\" }}", numeric.label()));
    let agents = ktd_baselines::NAMES.map(|name| format!("{{ id = \"{name}\", builtin = \"{name}\" }}"));
    format!(
        "synthetic = {{ seed = {SEED}, names = {NAMES}, days = {DAYS} }}\n\
         masks = [{}, {{ level = \"bright\", numeric = \"banded\" }}]\n\
         modes = [\"memory-only\", \"fixed-candidate\", \"open-research\"]\nagents = [{}]\n",
        numerics.join(", "),
        agents.join(", ")
    )
}

/// Orders that filled in the events of an episode, or entered the book where fills are not shown.
fn fills(told: &Trace) -> usize {
    let fills = told
        .events
        .iter()
        .filter(|line| line.contains("\"kind\":\"fills\""));
    fills
        .map(|line| line.matches("\"filled\"").count() + line.matches("\"accepted\"").count())
        .sum()
}

#[test]
fn every_agent_trades_and_every_episode_replays_on_every_rung() {
    let folder = tempfile::tempdir().unwrap();
    let config = experiment(3, &grid());
    let prepared = prepare(&config, market(SEED), key(1));
    let mut hashes = BTreeSet::new();
    for (cell, bundle) in run(&config, &prepared, folder.path()) {
        let told = Trace::of(&bundle);
        let looks = cell.mode != Mode::MemoryOnly;
        if looks
            && matches!(
                cell.agent.id.as_str(),
                "momentum" | "composite" | "researcher" | "equal-weight"
            )
        {
            assert!(5 < fills(&told), "{} trades too little", cell.id);
        }
        let mut open = OpenBundle::open(&bundle, None).unwrap();
        assert_eq!(open.header.mask.hash, Some(mask_hash(cell.mask)));
        hashes.extend(open.header.mask.hash.clone());
        // The record of the fixture says nothing of what its panel lacks.
        open.shared.data = open.header.data.clone();
        let replayed = runtime().block_on(replay_episode(&open.input(), &open.paths, &Silent));
        assert!(replayed.is_ok(), "{}: {replayed:?}", cell.id);
    }
    assert_eq!(hashes.len(), Numeric::ALL.len() + 1);
    let elsewhere = MaskSettings {
        level: Level::DateBlind,
        numeric: Numeric::Exact,
    };
    assert!(!hashes.contains(&mask_hash(elsewhere)));
}
