//! The same inputs give the same bytes, however many cells run at once and however often.

use ktd_client::progress::Silent;
use ktd_episode::open_bundle::OpenBundle;
use ktd_episode::replay_episode;
use ktd_experiment::cells::Cell;
use ktd_experiment::config::ExperimentConfig;
use ktd_kit::episode::{
    DAYS, GRID, NAMES, Trace, assert_same_files, experiment, key, market, prepare, run, runtime,
};
use ktd_masking::MaskKey;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const WINDOW: usize = 4;
const SEED: u64 = 5;

fn config(parallel_cells: usize) -> ExperimentConfig {
    let market = format!("synthetic = {{ seed = {SEED}, names = {NAMES}, days = {DAYS} }}");
    experiment(
        WINDOW,
        &format!("parallel_cells = {parallel_cells}\n{market}\n{GRID}"),
    )
}

fn run_with(parallel_cells: usize, key: MaskKey, output: &Path) -> Vec<(Cell, PathBuf)> {
    let config = config(parallel_cells);
    run(&config, &prepare(&config, market(SEED), key), output)
}

#[test]
fn one_cell_at_a_time_and_eight_give_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let one = run_with(1, key(1), &folder.path().join("one"));
    let eight = run_with(8, key(1), &folder.path().join("eight"));
    let again = run_with(8, key(1), &folder.path().join("again"));
    assert_eq!(one.len(), 24, "agents x masks x modes");
    for ((cell, left), ((_, right), (_, third))) in one.iter().zip(eight.iter().zip(&again)) {
        println!("{}", cell.id);
        assert_same_files(left, right);
        assert_same_files(left, third);
    }
}

#[test]
fn every_cell_replays_from_its_record_alone() {
    let folder = tempfile::tempdir().unwrap();
    for (cell, bundle) in run_with(4, key(2), folder.path()) {
        let mut open = OpenBundle::open(&bundle, None).unwrap();
        // The record of the fixture says nothing of what its panel lacks.
        open.shared.data = open.header.data.clone();
        let replayed = runtime().block_on(replay_episode(&open.input(), &open.paths, &Silent));
        assert!(replayed.is_ok(), "{}: {replayed:?}", cell.id);
    }
}

#[test]
fn another_mask_key_gives_other_aliases_and_nothing_else_to_see() {
    let folder = tempfile::tempdir().unwrap();
    let left = run_with(4, key(1), &folder.path().join("left"));
    let right = run_with(4, key(2), &folder.path().join("right"));
    for ((cell, left), (_, right)) in left.iter().zip(&right) {
        let (first, second) = (Trace::of(left).requests, Trace::of(right).requests);
        let is_same = first == second;
        // The others throw dice over the request's bytes and may never ask for a name.
        let asks_for_names = matches!(cell.agent.id.as_str(), "momentum" | "equal-weight");
        if cell.mask.level.hides_stocks() && asks_for_names {
            assert!(!is_same, "{}: the aliases do not hang on the key", cell.id);
        } else if !cell.mask.level.hides_stocks() {
            assert!(is_same, "{}: a bright request hangs on the key", cell.id);
        }
    }
}

/// Agents are compared on the same screens: who drew lucky names for the same stocks would be ranked by the draw.
#[test]
fn agents_of_one_window_mask_mode_and_seed_see_the_same_aliases_and_no_others_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut drawn: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut agents: BTreeMap<String, usize> = BTreeMap::new();
    for (cell, bundle) in run_with(4, key(1), folder.path()) {
        let header = OpenBundle::open(&bundle, None).unwrap().header;
        let place = format!(
            "{:?} {:?} {:?} {}",
            cell.window.id, cell.mask, cell.mode, cell.seed
        );
        drawn
            .entry(place.clone())
            .or_default()
            .insert(header.mask.commitment);
        *agents.entry(place).or_default() += 1;
    }
    assert!(agents.values().all(|agents| 2 <= *agents));
    assert!(drawn.values().all(|keys| keys.len() == 1));
    let all: BTreeSet<&String> = drawn.values().flatten().collect();
    assert_eq!(all.len(), drawn.len(), "each place has a key of its own");
}
