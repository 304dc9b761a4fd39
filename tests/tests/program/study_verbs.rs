//! The verbs of every study on the command line, one after the other, and what they say of what they do not take.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use crate::viewer::Viewer;
use ktd_kit::program::json_of;
use ktd_kit::{Folder, assert_ok, files, quiet, refused};
use ktd_study::recorded_verdict;
use serde_json::Value;

const STUDY: &str = "kind = 'leakage'\nname = 'small'\nsynthetic = { seed = 3, names = 24, days = 800 }\nhorizons = [5]\n\
    protocols = ['EXEC_CLOSE']\nmodels = ['momentum']\n";

pub(crate) fn text_of(folder: &Folder, arguments: &[&str]) -> String {
    let output = quiet(folder.path(), arguments);
    assert_ok(&output);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_study_is_planned_run_watched_reported_compared_shown_and_given_away() {
    let folder = Folder::with(&[("study.toml", STUDY)]);
    let planned = json_of(folder.path(), &["plan", "study.toml"]);
    assert!(!folder.at("results").exists(), "a plan writes nothing");
    let results = json_of(folder.path(), &["run", "study.toml"]);
    let whole = files(&folder.at("results"));
    let status = json_of(folder.path(), &["status", "results/small"]);
    assert_eq!(
        (&status["finished"], &status["units"]),
        (&planned["units"], &planned["units"])
    );
    let status = text_of(&folder, &["status", "results/small"]);
    assert!(status.contains("to go on  ktd report results/small"), "{status}");
    assert_eq!(json_of(folder.path(), &["report", "results/small"]), results);
    let same = json_of(folder.path(), &["diff", "results/small", "results/small"]);
    assert_eq!(
        (&same["same"], &same["settings"]),
        (&planned["units"], &Value::Array(Vec::new()))
    );
    assert_eq!(files(&folder.at("results")), whole, "nothing of it changed");

    let viewer = Viewer::of(folder.path(), &["results"]);
    let (_, index) = viewer.get("/");
    assert!(
        index.contains("s/small/index.html") && index.contains("leakage"),
        "{index}"
    );
    assert!(!index.contains("unreadable"), "{index}");
    assert!(
        index.contains("<td class=\"l\">report</td>")
            && !index.contains("report.html")
            && index.contains("finished"),
        "{index}"
    );
    assert!(!index.contains("data-running"), "nobody runs it: {index}");
    let (_, page) = viewer.get("/s/small/index.html");
    assert!(
        page.contains("report.html") && page.contains("unit~panel.html"),
        "{page}"
    );
    let (status, unit) = viewer.get("/s/small/unit~panel.html");
    assert!(status == 200 && unit.contains("It is finished."), "{unit}");
    assert!(
        unit.contains("<td class=\"l wide\"><bdi>panel</bdi></td>"),
        "{unit}"
    );
    let (status, report) = viewer.get("/s/small/report.html");
    assert!(status == 200 && report.contains("sandbox;"), "{report}");
    assert_eq!(viewer.get("/s/small/unit~..%2Fstudy.html").0, 404);

    assert_ok(&quiet(folder.path(), &["certify", "--new-key", "key.pem"]));
    let publish = ["publish", "results/small", "--key", "key.pem", "--out", "public"];
    assert_ok(&quiet(folder.path(), &publish));
    let verified = json_of(folder.path(), &["verify", "public", "--signer", "key.pem.pub"]);
    let concluded = recorded_verdict(&folder.at("results/small")).unwrap();
    assert_eq!(verified["bundles"][0]["says"], concluded.as_str(), "{verified}");
    assert_eq!(
        (&verified["signed"][0]["ok"], &verified["bundles"][0]["ok"]),
        (&true.into(), &true.into())
    );
    let text = folder.text("public/units.jsonl");
    folder.write("public/units.jsonl", text.replacen('0', "1", 1));
    let said = refused(&quiet(folder.path(), &["verify", "public"]), 1);
    assert!(said.contains("units.jsonl"), "{said}");
}

pub(crate) const EPISODES: &str = "name = 'own'\nsynthetic = { seed = 5, names = 30, days = 330 }\nmasks = [{ level = 'bright' }]\n\
    modes = ['open-research']\nwindows = [{ id = 'last', last_days = 4 }]\nagents = [{ id = 'hold', builtin = 'hold' }]\n";

/// A file that no longer fits its results changes nothing of them; the key is named once, and what was there goes on.
#[test]
fn a_changed_file_is_refused_and_touches_nothing_of_its_study() {
    let folder = Folder::with(&[("own.toml", EPISODES)]);
    assert_ok(&quiet(folder.path(), &["run", "own.toml"]));
    let whole = files(&folder.at("results"));
    folder.write("own.toml", EPISODES.replace("last_days = 4", "last_days = 3"));
    let said = refused(&quiet(folder.path(), &["run", "own.toml"]), 2);
    assert!(said.contains("1 of 1 units"), "{said}");
    assert_eq!(
        said.matches("`windows.0.last_days` was 4 and is 3").count(),
        1,
        "{said}"
    );
    assert!(!said.contains("header.json"), "the key says enough: {said}");
    assert_eq!(files(&folder.at("results")), whole);
    // A record that cannot be read says nothing of settings.
    let header = folder.at("results/own/cells/hold__last__bright-exact__open-research__s1/header.json");
    let kept = std::fs::read(&header).unwrap();
    std::fs::remove_file(&header).unwrap();
    std::fs::create_dir(&header).unwrap();
    let said = refused(&quiet(folder.path(), &["run", "own.toml"]), 2);
    assert!(
        said.contains("header.json") && !said.contains("other settings"),
        "{said}"
    );
    std::fs::remove_dir(&header).unwrap();
    std::fs::write(&header, kept).unwrap();
    // One more agent is asked beside what stands.
    let more = EPISODES.replace("'hold' }", "'hold' }, { id = 'random', builtin = 'random' }");
    folder.write("own.toml", more);
    let status = |to: &str| text_of(&folder, &["status", to]);
    assert_ok(&quiet(folder.path(), &["run", "own.toml"]));
    assert!(status("results/own").contains("of 2 units 2 are finished"));
    std::fs::remove_file(folder.at("results/own/report.json")).unwrap();
    let status = status("results/own");
    let file = folder.at("own.toml");
    assert!(
        status.contains(&format!("to go on  ktd run {}\n", file.display())),
        "{status}"
    );
}

/// A record is made again wherever its panel lies now, and another panel is not taken for it.
#[test]
fn a_panel_that_was_moved_is_named() {
    let on_panel = |study: &str| {
        let (before, after) = study.split_once("synthetic = {").unwrap();
        format!("{before}panel = 'p.ktdp'\n{}", after.split_once("}\n").unwrap().1)
    };
    let folder = Folder::with(&[
        ("study.toml", &on_panel(STUDY)),
        ("own.toml", &on_panel(EPISODES)),
    ]);
    for (panel, seed) in [("p.ktdp", "3"), ("other.ktdp", "4")] {
        let synth = [
            "data", "synth", "--seed", seed, "--names", "30", "--days", "800", "--out", panel,
        ];
        assert_ok(&quiet(folder.path(), &synth));
    }
    for file in ["study.toml", "own.toml"] {
        assert_ok(&quiet(folder.path(), &["run", file]));
    }
    std::fs::create_dir(folder.at("elsewhere")).unwrap();
    std::fs::rename(folder.at("p.ktdp"), folder.at("elsewhere/p.ktdp")).unwrap();
    for study in ["results/small", "results/own"] {
        let again =
            |verb: &str, panel: &[&str]| quiet(folder.path(), &[&[verb, study, "--deep"], panel].concat());
        for verb in ["replay", "verify"] {
            let said = refused(&again(verb, &[]), 2);
            assert!(
                said.contains("p.ktdp: the panel of the study is not there") && said.contains("--panel"),
                "{said}"
            );
            assert_ok(&again(verb, &["--panel", "elsewhere/p.ktdp"]));
            let said = refused(&again(verb, &["--panel", "other.ktdp"]), 2);
            assert!(
                said.contains("other.ktdp: the panel's hash is ") && said.contains("but the study ran over"),
                "{said}"
            );
            let said = refused(&again(verb, &["--panel", "none.ktdp"]), 2);
            assert!(
                said.contains("none.ktdp: the panel of the study is not there")
                    && !said.contains("name where"),
                "{said}"
            );
        }
        let report = format!("{study}/report.md");
        std::fs::write(folder.at(&report), "").unwrap();
        let edited = ["verify", study, "--panel", "elsewhere/p.ktdp"];
        let said = refused(&quiet(folder.path(), &edited), 1);
        assert!(
            said.contains("report.md") && !said.contains("another panel"),
            "the panel is the recorded one: {said}"
        );
    }
    folder.write("free.toml", EPISODES.replace("'own'", "'free'"));
    assert_ok(&quiet(folder.path(), &["run", "free.toml"]));
    let free = ["replay", "results/free", "--panel", "other.ktdp"];
    let said = refused(&quiet(folder.path(), &free), 2);
    assert!(said.contains("names no panel file"), "{said}");
}

/// What a study came to is read from its records: its index may be gone or say anything. Figures that agree are told apart from bytes that
/// do, markets by what they hold and not by the names of their files.
#[test]
fn studies_are_compared_by_their_records() {
    let masked = EPISODES.replace(
        "synthetic = { seed = 5, names = 30, days = 330 }",
        "panel = 'p.ktdp'",
    );
    let masked = masked.replace(
        "[{ level = 'bright' }]",
        "[{ level = 'blinded', numeric = 'rescaled' }]",
    );
    let masked = masked.replace("'hold' }", "'hold' }, { id = 'momentum', builtin = 'momentum' }");
    let folder = Folder::with(&[
        ("a/own.toml", &masked),
        ("b/own.toml", &masked.replace("p.ktdp", "q.ktdp")),
        ("c/own.toml", &masked),
    ]);
    for (panel, seed) in [("a/p.ktdp", "3"), ("b/q.ktdp", "3"), ("c/p.ktdp", "4")] {
        let synth = [
            "data", "synth", "--seed", seed, "--names", "60", "--days", "330", "--out", panel,
        ];
        assert_ok(&quiet(folder.path(), &synth));
    }
    for run in ["a", "b", "c"] {
        let file = format!("{run}/own.toml");
        assert_ok(&quiet(folder.path(), &["run", &file, "--out", run]));
    }
    let differ = |other: &str| json_of(folder.path(), &["diff", "a", other]);
    let places = |difference: &Value| -> Vec<String> {
        let settings = difference["settings"].as_array().unwrap().iter();
        settings
            .map(|found| found["place"].as_str().unwrap().to_owned())
            .collect()
    };
    let same_market = differ("b");
    assert_eq!(
        (&same_market["same_figures"], &same_market["results"]),
        (&2.into(), &Value::Array(Vec::new())),
        "another mask key changes bytes alone: {same_market}"
    );
    assert_eq!(places(&same_market), ["record.mask_commitment"]);
    assert!(places(&differ("c")).contains(&"record.panel_blake3".to_owned()));

    let index = folder.text("b/index.jsonl");
    let hash = index
        .split_once("found_sha256\":\"")
        .unwrap()
        .1
        .get(..64)
        .unwrap();
    for changed in [index.replace(hash, &"0".repeat(64)), String::new()] {
        folder.write("b/index.jsonl", changed);
        assert_eq!(differ("b"), same_market, "an index says nothing of figures");
    }
    std::fs::remove_file(folder.at("b/index.jsonl")).unwrap();
    assert_eq!(differ("b"), same_market);
    assert_ok(&quiet(folder.path(), &["verify", "b"]));

    // What cannot be checked is no difference, and hides none.
    let cell = |agent: &str| format!("b/cells/{agent}__last__blinded-rescaled__open-research__s1");
    std::fs::remove_dir_all(folder.at(&format!("{}/private", cell("hold")))).unwrap();
    let said = refused(&quiet(folder.path(), &["verify", "b"]), 2);
    assert!(said.contains("its private/ is missing"), "{said}");
    folder.write(&format!("{}/events.jsonl", cell("momentum")), "");
    let said = refused(&quiet(folder.path(), &["verify", "b"]), 1);
    assert!(said.contains("momentum__last"), "{said}");
}

/// Of several files with the name of a study the one that says what is recorded goes on with it; of two alike a person chooses.
#[test]
fn status_names_the_file_of_the_study_and_counts_what_open_cells_have_played() {
    let folder = Folder::with(&[("own.toml", EPISODES)]);
    assert_ok(&quiet(folder.path(), &["run", "own.toml"]));
    let cell = "results/own/cells/hold__last__bright-exact__open-research__s1";
    let events = folder.text(&format!("{cell}/events.jsonl"));
    let is_end = |line: &&str| line.contains("\"kind\":\"step_end\"");
    let second = events.lines().filter(is_end).nth(1).unwrap();
    let kept = events.split_once(second).unwrap().0;
    folder.write(&format!("{cell}/events.jsonl"), format!("{kept}{second}\n"));
    for gone in [
        &format!("{cell}/summary.json"),
        "results/own/index.jsonl",
        "results/own/report.json",
    ] {
        std::fs::remove_file(folder.at(gone)).unwrap();
    }
    let status = || json_of(folder.path(), &["status", "results/own"]);
    assert_eq!(
        (
            &status()["agents"][0]["open"],
            &status()["agents"][0]["steps_done"]
        ),
        (&1.into(), &2.into()),
        "a built-in agent is asked nothing, and its record says it"
    );
    let next = || status()["next"].as_str().unwrap().to_owned();
    let file = |name: &str| folder.at(name).display().to_string();
    folder.write("other.toml", EPISODES.replace("last_days = 4", "last_days = 3"));
    assert_eq!(next(), format!("ktd run {}", file("own.toml")));
    folder.write("same.toml", EPISODES);
    let choice = next();
    assert!(
        choice.starts_with("ktd run FILE --out results/own, where FILE is one of these"),
        "{choice}"
    );
    assert!(
        choice.contains(&file("same.toml")) && choice.contains(&file("own.toml")),
        "{choice}"
    );
    for gone in ["own.toml", "other.toml", "same.toml"] {
        std::fs::remove_file(folder.at(gone)).unwrap();
    }
    assert!(next().ends_with("has its name"), "{}", next());
}

/// What a verb does not take is answered with the command that does, once; and a name of before with the one of now.
#[test]
fn what_is_no_study_is_answered_with_the_command_that_takes_it() {
    let folder = Folder::with(&[
        ("study.toml", STUDY),
        ("episode/header.json", "{}"),
        ("episodes/cells/a/header.json", "{}"),
        ("certificate/certificate.json", "{}"),
        ("unknown/study.json", "{\"kind\": \"dowsing\"}"),
    ]);
    std::fs::create_dir(folder.at("empty")).unwrap();
    let known = [
        ("study.toml", "ktd run FILE"),
        ("episode", "ktd leaderboard"),
        ("episodes", "ktd leaderboard DIR"),
        ("certificate", "ktd verify --certificate FILE"),
        ("unknown", "the version of ktd that made it"),
        ("empty", "that `ktd run FILE` has written"),
        ("absent", "such as results/NAME"),
    ];
    for (path, hint) in known {
        for verb in ["status", "report"] {
            let said = refused(&quiet(folder.path(), &[verb, path]), 2);
            assert!(
                said.contains(path) && said.contains(hint),
                "{verb} {path}: {said}"
            );
        }
    }
    for verb in ["run", "plan"] {
        let said = refused(&quiet(folder.path(), &[verb, "episodes"]), 2);
        assert!(said.contains("ktd status DIR"), "{said}");
    }
    let said = refused(
        &quiet(folder.path(), &["leak", "report", "results/small", "--all"]),
        2,
    );
    assert!(said.contains("type `ktd report DIR`"), "{said}");
}
