//! `ktd strategy-code bars`: reference strategies on a synthetic panel, and on the real one where it lies beside the repository.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use ktd_data::{ImportOptions, import};
use ktd_env::PriceBasis;
use ktd_env::synth::{SynthConfig, generate};
use ktd_kit::need::data_root;
use ktd_kit::{Folder, Need, quiet, refused};
use ktd_strategies::{BarStudy, DocumentId, RealBars, reference_study};
use serde_json::Value;
use std::path::Path;

fn panel(folder: &Folder) {
    let config = SynthConfig {
        seed: 3,
        names: 10,
        days: 480,
    };
    let bytes = generate(&config).unwrap().to_bytes();
    std::fs::write(folder.path().join("p.ktdp"), bytes).unwrap();
}

const SPLITS: [&str; 4] = [
    "--train",
    "2022-01-01:2023-01-01",
    "--test",
    "2023-01-01:2024-01-01",
];

fn bars(arguments: &[&'static str]) -> Vec<&'static str> {
    [
        &["strategy-code", "bars", "--panel", "p.ktdp"],
        arguments,
        &SPLITS,
    ]
    .concat()
}

#[test]
fn tables_and_files_show_what_a_panel_gives() {
    let folder = Folder::new();
    panel(&folder);
    let arguments = bars(&["--symbol", "all", "--out", "out"]);
    let output = quiet(folder.path(), &[&["--json"], arguments.as_slice()].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let study: Value = serde_json::from_slice(&output.stdout).unwrap();
    let kept = std::fs::read(folder.path().join("out/study.json")).unwrap();
    assert_eq!(study, serde_json::from_slice::<Value>(&kept).unwrap());
    let runs = study["runs"].as_array().unwrap();
    let first = &runs[0]["earnings"];
    assert_eq!(
        (
            first["own_close"].as_array().unwrap().len(),
            study["costs_bps"].as_array().unwrap().len()
        ),
        (6, 6)
    );
    let fills = std::fs::read_to_string(folder.path().join("out/fills.csv")).unwrap();
    assert_eq!(fills.lines().count(), 1 + 12 * 2);
    let rows = std::fs::read_to_string(folder.path().join("out/runs.csv")).unwrap();
    assert_eq!(rows.lines().count(), 1 + runs.len() * 12);
    let text = quiet(folder.path(), &arguments);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(
        text.contains("n/a1") && text.contains("no data: it trades two contracts"),
        "{text}"
    );
    assert!(
        text.contains("What a fill at the signal's own close pretends"),
        "{text}"
    );
}

#[test]
fn what_cannot_be_run_says_why() {
    let folder = Folder::new();
    panel(&folder);
    let error = |arguments: &[&'static str]| refused(&quiet(folder.path(), &bars(arguments)), 2);
    let unknown = error(&["--symbol", "SH600000X"]);
    assert!(
        unknown.contains("p.ktdp has no symbol \"SH600000X\""),
        "{unknown}"
    );
    let pair = error(&["--pair", "SH600000"]);
    assert!(pair.contains("--pair \"SH600000\" is invalid"), "{pair}");
    let strategy = error(&["--strategy", "S99"]);
    assert!(strategy.contains("unknown strategy \"S99\""), "{strategy}");
    let nothing = refused(&quiet(folder.path(), &["strategy-code", "bars"]), 2);
    assert!(
        nothing.contains("`panel`, `bars` or `minutes` is missing"),
        "{nothing}"
    );
    let split = [
        "strategy-code",
        "bars",
        "--panel",
        "p.ktdp",
        "--test",
        "2031-01-01:2032-01-01",
    ];
    let split = refused(&quiet(folder.path(), &split), 2);
    assert!(
        split.contains("is empty: the bars have no session in it"),
        "{split}"
    );
}

/// The study of the real panel; `None` where it is not there.
fn real_study() -> Option<BarStudy> {
    if !Need::RealPanels.is_met() {
        return None;
    }
    let data = data_root();
    let options = ImportOptions {
        sources: vec![data.join("cn_csi300_window_2023_2026.parquet")],
        basis: Some(PriceBasis::Raw),
        universe: Some(data.join("cn_csi300_members.csv")),
        ..ImportOptions::default()
    };
    let folder = Folder::new();
    let panel = folder.path().join("p.ktdp");
    std::fs::write(&panel, import(&options, &mut ()).unwrap().market.to_bytes()).unwrap();
    let keys = RealBars {
        panel: Some(panel),
        ..RealBars::default()
    };
    Some(reference_study(&keys, Path::new(""), &DocumentId::ALL, 2).unwrap())
}

#[test]
fn the_real_panel_runs_every_daily_document_on_its_members() {
    let Some(study) = real_study() else { return };
    for id in DocumentId::ALL {
        for split in ["train", "test"] {
            let runs = study
                .runs
                .iter()
                .filter(|run| (run.strategy, run.split) == (id, split));
            let runs: Vec<_> = runs.collect();
            let wanted = match id {
                DocumentId::S04 | DocumentId::S05 | DocumentId::S07 => 0..1,
                DocumentId::S08 => 1..2,
                DocumentId::S09 => 50..76,
                DocumentId::S01
                | DocumentId::S02
                | DocumentId::S03
                | DocumentId::S06
                | DocumentId::S10
                | DocumentId::S11
                | DocumentId::S12 => 250..301,
            };
            assert!(
                wanted.contains(&runs.len()),
                "{id} {split}: {} series",
                runs.len()
            );
            // Who is never short cannot lose more than there is.
            let is_long = matches!(
                id,
                DocumentId::S01 | DocumentId::S08 | DocumentId::S09 | DocumentId::S10
            );
            for run in runs {
                let figures = run.earnings.free(ktd_strategies::FillPrice::OwnClose);
                assert!(figures.total_return.is_finite(), "{id} {split}");
                assert!(!is_long || figures.max_drawdown < 1.0, "{id} {split}");
            }
        }
    }
}
