//! What checks of a study's folder say of what was put into it, taken out of it or exchanged.

use crate::study_verbs::{EPISODES, text_of};
use ktd_kit::program::json_of;
use ktd_kit::{Folder, MASK_KEY, assert_ok, copy, quiet, refused};
use serde_json::json;

/// The file of one masked episode.
fn masked() -> Folder {
    let masked = EPISODES.replace(
        "[{ level = 'bright' }]",
        "[{ level = 'blinded', numeric = 'rescaled' }]",
    );
    Folder::with(&[("own.toml", &masked.replace("names = 30", "names = 60"))])
}

/// What no unit names is told by its place, is no row of a table, and counts for nothing; a file of the report that is gone is told as
/// gone, with what writes it again.
#[test]
fn what_no_unit_names_and_what_is_gone_is_told() {
    let folder = Folder::with(&[("own.toml", EPISODES)]);
    assert_ok(&quiet(folder.path(), &["run", "own.toml"]));
    let own = "results/own/cells/hold__last__bright-exact__open-research__s1";
    copy(&folder.at(own), &folder.at("results/own/cells/planted"));
    folder.write("results/own/units/stray/result.json", "{}");
    let told = "cells/planted, units/stray: named by no unit of the study";
    let verified = text_of(&folder, &["verify", "results/own"]);
    assert!(verified.contains(&format!("UNCHECKED  {told}")), "{verified}");
    let replayed = folder.ktd(&["replay", "results/own"]);
    assert_ok(&replayed);
    let said = String::from_utf8(replayed.stderr).unwrap();
    assert!(said.contains(told), "{said}");
    let replayed = json_of(folder.path(), &["replay", "results/own"]);
    assert_eq!(replayed["unnamed"], json!(["cells/planted", "units/stray"]));
    let exported = json_of(folder.path(), &["export", "results/own", "--parquet"]);
    assert_eq!(
        (&exported["episodes"], &exported["unnamed"]),
        (&1.into(), &json!(["results/own/cells/planted"]))
    );
    let planted = [
        "export",
        "results/own/cells/planted",
        "--parquet",
        "--out",
        "planted",
    ];
    let said = text_of(&folder, &planted);
    assert!(said.contains("note: no unit of its study names"), "{said}");
    // A record that lies where another unit's does is none of either.
    std::fs::rename(folder.at(own), folder.at("moved")).unwrap();
    std::fs::rename(folder.at("moved"), folder.at(&own.replace("__s1", "__s2"))).unwrap();
    let exported = json_of(
        folder.path(),
        &["export", "results/own", "--parquet", "--out", "moved"],
    );
    assert_eq!(exported["episodes"], 0);
    std::fs::rename(folder.at(&own.replace("__s1", "__s2")), folder.at(own)).unwrap();
    for (file, hint) in [
        ("report.md", "`ktd report DIR` writes it again"),
        ("plan.jsonl", "run the study again"),
        ("report.json", "run the study again"),
    ] {
        let kept = folder.read(&format!("results/own/{file}"));
        std::fs::remove_file(folder.at(&format!("results/own/{file}"))).unwrap();
        let said = refused(&quiet(folder.path(), &["verify", "results/own"]), 1);
        let gone = format!("{file}: the file is missing");
        assert!(said.contains(&gone) && said.contains(hint), "{said}");
        std::fs::write(folder.at(&format!("results/own/{file}")), kept).unwrap();
    }
}

/// Figures that one folder lacks with its private part are not said to be others; a figure that both have is.
#[test]
fn figures_that_private_parts_hold_are_not_checked_without_them() {
    let folder = masked();
    assert_ok(&quiet(folder.path(), &["run", "own.toml", "--out", "a"]));
    copy(&folder.at("a"), &folder.at("b"));
    let cell = "hold__last__blinded-rescaled__open-research__s1";
    std::fs::remove_dir_all(folder.at(&format!("b/cells/{cell}/private"))).unwrap();
    for sides in [["a", "b"], ["b", "a"]] {
        let difference = json_of(folder.path(), &["diff", sides[0], sides[1]]);
        assert_eq!(
            (&difference["without_private"], &difference["results"]),
            (&json!([cell]), &json!([]))
        );
        let text = text_of(&folder, &["diff", sides[0], sides[1]]);
        assert!(text.contains("not checked: private/ is missing in one"), "{text}");
    }
    let summary = format!("b/cells/{cell}/summary.json");
    let kept = folder.text(&summary);
    folder.write(&summary, kept.replacen("\"days\": 4", "\"days\": 3", 1));
    let difference = json_of(folder.path(), &["diff", "a", "b"]);
    assert_eq!(difference["results"][0]["figure"]["place"], "metrics.days");
}

/// A key that was exchanged is told as such, the failure of a single folder once, and what an episode has no use for is refused.
#[test]
fn an_exchanged_key_is_named_and_a_failure_is_told_once() {
    let folder = masked();
    assert_ok(&quiet(folder.path(), &["run", "own.toml"]));
    folder.write("results/own/private/mask.key", MASK_KEY);
    for verb in ["verify", "replay"] {
        let said = refused(&quiet(folder.path(), &[verb, "results/own"]), 1);
        assert!(
            said.contains("the mask key is not the one that it names"),
            "{said}"
        );
    }
    let cell = "results/own/cells/hold__last__blinded-rescaled__open-research__s1";
    for verb in ["verify", "replay"] {
        let said = refused(&quiet(folder.path(), &[verb, cell, "--base", "."]), 2);
        assert!(
            said.contains("--base is of a study") && said.contains("--panel"),
            "{said}"
        );
    }
    folder.write(&format!("{cell}/events.jsonl"), "");
    let output = quiet(folder.path(), &["verify", cell]);
    let said = refused(&output, 1);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(printed, format!("{cell}: DIFFERS\n"));
    assert!(said.contains("events.jsonl"), "{said}");
}
