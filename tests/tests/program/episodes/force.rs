//! The force ladder: the same decisions at every level, the level in every record.

use ktd_agents::ForceLevel;
use ktd_bundle::BundlePaths;
use ktd_bundle::event::{Phase, ReadEvent};
use ktd_client::progress::Silent;
use ktd_episode::open_bundle::OpenBundle;
use ktd_episode::replay_episode;
use ktd_episode::verify::verify;
use ktd_experiment::mask_hash::mask_hash;
use ktd_kit::copy;
use ktd_kit::episode::{experiment, key, market, prepare, relabel, run, runtime};
use ktd_kit::this_program;
use ktd_masking::{Level, MaskSettings};
use ktd_record::chain::LogReader;
use std::path::Path;

const MODES: usize = 3;

fn events(bundle: &Path) -> Vec<ReadEvent> {
    let path = BundlePaths::new(bundle).events();
    LogReader::open(&path).unwrap().bodies().unwrap()
}

fn grid(agents: &str) -> String {
    format!(
        "synthetic = {{ seed = 5, names = 40, days = 420 }}\nmasks = [{{ level = \"blinded\", numeric = \"rescaled\" }}]\n\
         modes = [\"memory-only\", \"fixed-candidate\", \"open-research\"]\nagents = [{agents}]\n"
    )
}

/// What asks for a submission in words stands before what explains the mask where a step is one message.
fn assert_verified_under_its_own_mask_alone(bundle: &Path) {
    let verified = |bundle: &Path| {
        let verified = runtime().block_on(verify(bundle, None, &this_program()));
        verified.map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(verified(bundle), Ok(()));
    let folder = tempfile::tempdir().unwrap();
    copy(bundle, folder.path());
    std::fs::remove_dir_all(folder.path().join("private")).unwrap();
    assert_eq!(verified(folder.path()), Ok(()));
    relabel(folder.path(), |header| {
        header.mask.level = Level::DateBlind;
        header.mask.hash = Some(mask_hash(MaskSettings {
            level: Level::DateBlind,
            numeric: header.mask.numeric,
        }));
    });
    let refused = verified(folder.path()).unwrap_err();
    assert!(
        refused.contains("opens with the text of another mask"),
        "{refused}"
    );
}

#[test]
fn a_model_decides_the_same_at_every_level_and_every_turn_says_its_level() {
    let folder = tempfile::tempdir().unwrap();
    let agents: Vec<String> = ForceLevel::LADDER
        .iter()
        .map(|level| format!("{{ id = \"{level}\", builtin = \"momentum\", force = \"{level}\" }}"))
        .collect();
    let config = experiment(3, &grid(&agents.join(",")));
    let cells = run(&config, &prepare(&config, market(5), key(1)), folder.path());
    assert_eq!(cells.len(), ForceLevel::LADDER.len() * MODES);
    let mut named = Vec::new();
    for (place, (cell, bundle)) in cells.iter().enumerate() {
        let mut decisions = Vec::new();
        for event in events(bundle) {
            match event {
                ReadEvent::Decision {
                    outcome,
                    orders,
                    is_repaired,
                    ..
                } => decisions.push((outcome, orders, is_repaired)),
                ReadEvent::Turn {
                    phase,
                    force_declared,
                    force_sent,
                    ..
                } => {
                    assert_eq!(force_declared.label(), cell.agent.id);
                    assert_eq!(force_sent, (phase == Phase::Submission).then_some(force_declared));
                }
                _ => {}
            }
        }
        assert!(decisions.iter().all(|(_, _, is_repaired)| !is_repaired));
        // Aliases are keyed by the cell, so names differ between levels; how many orders and how they end do not.
        let shape: Vec<_> = decisions
            .iter()
            .map(|(outcome, orders, _)| (*outcome, orders.len()))
            .collect();
        if place < MODES {
            named.push(shape);
        } else {
            assert_eq!(shape, named[place % MODES], "{}", cell.id);
        }
        let opened = OpenBundle::open(bundle, None).unwrap();
        runtime()
            .block_on(replay_episode(&opened.input(), &opened.paths, &Silent))
            .unwrap();
        assert_verified_under_its_own_mask_alone(bundle);
    }
}

#[test]
fn what_breaks_schemas_breaks_them_at_every_level_and_nothing_else_breaks() {
    let folder = tempfile::tempdir().unwrap();
    let agents: Vec<String> = ForceLevel::LADDER
        .iter()
        .map(|level| format!("{{ id = \"{level}\", builtin = \"schema-breaker\", force = \"{level}\" }}"))
        .collect();
    let config = experiment(4, &grid(&agents.join(",")));
    for (cell, bundle) in run(&config, &prepare(&config, market(5), key(1)), folder.path()) {
        let faults: Vec<String> = events(&bundle)
            .into_iter()
            .filter_map(|event| match event {
                ReadEvent::ModelFault { code, .. } => Some(code),
                ReadEvent::InfrastructureFault { code, .. } => panic!("{}: {code}", cell.id),
                _ => None,
            })
            .collect();
        assert!(!faults.is_empty(), "{}", cell.id);
        assert_verified_under_its_own_mask_alone(&bundle);
    }
}
