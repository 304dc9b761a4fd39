//! Every verb on every kind: planned, watched, reported, compared and given away by what its folder holds.

use super::questionnaire::Questionnaire;
use super::{KindCase, QUESTIONS, cases, model};
use ktd_kit::study::{replay_study, run_study, with_study_run};
use ktd_kit::vendor::{reply, said};
use ktd_kit::{Folder, Vendor, files};
use ktd_record::signing::SigningKey;
use ktd_study::{
    AnyKind, Depth, MovedFiles, StudyOutline, StudyPlan, any, check_published_study, publish_study,
};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn plan(case: &KindCase, folder: &Folder) -> StudyPlan {
    with_study_run(2, &ktd_kit::this_program(), |run| {
        case.kind
            .plan(&folder.at("study.toml"), Some(&folder.at("out")), run)
    })
    .unwrap()
}

#[test]
fn every_verb_takes_every_kind() {
    for case in cases() {
        let (name, unasked) = (case.kind.name(), model());
        let folder = case.scene(&unasked);
        let before = files(folder.path());
        let asked = plan(case, &folder);
        assert_eq!((asked.finished, unasked.count()), (0, 0), "{name}");
        assert_eq!(files(folder.path()), before, "{name}: a plan writes nothing");

        let (folder, vendor) = case.finished();
        let (out, whole, requests) = (folder.at("out"), files(folder.path()), vendor.count());
        let status = case.kind.status(&out).unwrap();
        assert_eq!(
            (status.units, status.finished),
            (asked.units, asked.units),
            "{name}"
        );
        assert!(status.is_reported && status.failed.is_empty(), "{status:?}");
        assert_eq!(
            status.requests.answered,
            u64::try_from(requests).unwrap(),
            "{name}"
        );
        assert_eq!(status.next, format!("ktd report {}", out.display()));
        assert_eq!(plan(case, &folder).finished, asked.units, "{name}");
        let outline = StudyOutline::read(&out).unwrap();
        assert_eq!(outline.counts(), [asked.units, 0, 0], "{name}");
        assert!(outline.page.is_some(), "{name}");
        let same = case.kind.difference([&out, &out]).unwrap();
        assert_eq!(
            (same.same, same.settings.len(), same.results.len()),
            (asked.units, 0, 0)
        );
        assert_eq!(files(folder.path()), whole, "{name}: none of them writes a byte");
        let refusal = case.kind.report_unfinished(&out).unwrap_err().to_string();
        assert!(refusal.contains("every unit"), "{name}: {refusal}");

        fits_its_schema(&status);
        fits_its_schema(&asked);
        fits_its_schema(&same);
        let summary = serde_json::from_slice(&folder.read("out/report.json")).unwrap();
        fits(&case.kind.schema(), &summary);
        if case.work.is_some() {
            assert_given_away(case.kind, &folder);
        } else {
            let key = SigningKey::draw(&folder.at("key.pem")).unwrap();
            let refusal = publish_study(&out, &folder.at("public"), &key).unwrap_err();
            assert!(refusal.to_string().contains("says itself"), "{refusal}");
        }
        assert_eq!(vendor.count(), requests, "{name}: nobody is asked");
    }
}

/// A document is as the schema of its type says.
fn fits_its_schema<D: serde::Serialize + schemars::JsonSchema>(document: &D) {
    fits(&ktd_study::document_schema::<D>(), &json!(document));
}

fn fits(schema: &Value, document: &Value) {
    let validator = jsonschema::validator_for(schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(document)
        .map(|error| error.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
}

/// What is given away holds nothing that is its owner's, replays, and shows what was changed or added.
fn assert_given_away(kind: &dyn AnyKind, folder: &Folder) {
    let (out, public) = (folder.at("out"), folder.at("public"));
    let key = SigningKey::draw(&folder.at("key.pem")).unwrap();
    let other = SigningKey::draw(&folder.at("other.pem")).unwrap();
    let published = publish_study(&out, &public, &key).unwrap();
    let given: Vec<_> = files(&public).into_keys().collect();
    assert_eq!(given.len(), published.manifest.files.len() + 1);
    let is_owners = |path: &Path| {
        path.iter()
            .any(|part| part == "private" || part == "lock" || part == "index.jsonl")
    };
    assert!(!given.iter().any(|path| is_owners(path)), "{given:?}");
    let moved = MovedFiles {
        base: Some(folder.path()),
        panel: None,
    };
    with_study_run(2, &ktd_kit::this_program(), |run| {
        kind.replay(&public, moved, Depth::Recorded, run)
    })
    .unwrap();
    let check = |signers: &[_]| check_published_study(&public, signers);
    assert!(
        check(&[key.public()])
            .unwrap()
            .unwrap()
            .signer(&[key.public()])
            .is_named
    );
    assert!(check(&[other.public()]).is_err(), "another signer was named");
    let report = public.join("report.md");
    let text = std::fs::read(&report).unwrap();
    std::fs::write(&report, [&text[..], b" "].concat()).unwrap();
    let refusal = check(&[]).unwrap_err().to_string();
    assert!(
        refusal.contains("report.md") && refusal.contains("hash"),
        "{refusal}"
    );
    std::fs::write(&report, text).unwrap();
    std::fs::write(public.join("units.extra"), "").unwrap();
    let refusal = check(&[]).unwrap_err().to_string();
    assert!(refusal.contains("units.extra"), "{refusal}");
    assert!(publish_study(&public, &folder.at("again"), &key).is_err());
}

/// A model that answers, beside one that was withdrawn until it `is_back`.
fn one_of_two(is_back: &Arc<AtomicBool>) -> Vendor {
    let is_back = Arc::clone(is_back);
    Vendor::answering(move |request| {
        if request["model"] == "gone" && !is_back.load(Ordering::Relaxed) {
            let gone = br#"{"error": {"message": "no such model any more"}}"#;
            return reply("401 Unauthorized", "", gone);
        }
        said("so")
    })
}

/// A unit that fails is named with its reason, what is finished can be reported under a name of its own, and the report of all
/// takes its place.
#[test]
fn a_study_with_a_withdrawn_model_is_reported_as_what_it_is() {
    let kind = any::<Questionnaire>();
    let is_back = Arc::new(AtomicBool::new(false));
    let vendor = one_of_two(&is_back);
    let questions = QUESTIONS.replacen("model = 'm'", "model = 'gone'", 1);
    let folder = Folder::with(&[("study.toml", &questions.replace("VENDOR", &vendor.base_url()))]);
    let out = folder.at("out");
    let end = run_study(kind, (&folder.at("study.toml"), &out), 2).unwrap();
    assert!(end.finished.is_none() && end.failed.len() == 1, "{end:?}");

    let status = kind.status(&out).unwrap();
    assert_eq!((status.units, status.finished, status.is_reported), (7, 6, false));
    let [failed] = status.failed.as_slice() else {
        panic!("{status:?}")
    };
    assert_eq!(
        (failed.unit.as_str(), &status.open),
        ("one-0", &vec![failed.unit.clone()])
    );
    assert!(failed.error.contains("401"), "{failed:?}");
    assert!(
        status.next.starts_with("ktd run ") && status.next.ends_with(&format!("--out {}", out.display()))
    );
    let refusal = kind.report(&out).unwrap_err();
    let refusal = format!("{refusal}; {}", refusal.hint());
    assert!(
        refusal.contains("1 of 7 units have no result") && refusal.contains("--unfinished"),
        "it is no report of all: {refusal}"
    );

    let report = kind.report_unfinished(&out).unwrap();
    let first = "1 of 7 units have no result: one-0. ";
    assert!(
        report.report.verdict.starts_with(first),
        "{}",
        report.report.verdict
    );
    let unfinished: Value = serde_json::from_slice(&folder.read("out/unfinished/report.json")).unwrap();
    assert_eq!(
        unfinished["unfinished"],
        json!({"units": 7, "missing": ["one-0"]})
    );
    assert_eq!(unfinished["report"].as_array().unwrap().len(), 6);
    assert!(folder.text("out/unfinished/index.html").contains(first));
    assert!(!folder.at("out/report.json").exists());
    let key = SigningKey::draw(&folder.at("key.pem")).unwrap();
    let refusal = publish_study(&out, &folder.at("public"), &key)
        .unwrap_err()
        .to_string();
    assert!(refusal.contains("one-0"), "{refusal}");

    is_back.store(true, Ordering::Relaxed);
    let end = run_study(kind, (&folder.at("study.toml"), &out), 2).unwrap();
    assert!(end.finished.is_some(), "{end:?}");
    assert!(!folder.at("out/unfinished").exists());
    assert!(kind.status(&out).unwrap().failed.is_empty());
    replay_study(kind, &out, Depth::Recorded).unwrap();
}

/// Two studies of one kind are told apart by settings, units and the first figure that differs; two kinds are not compared.
#[test]
fn two_studies_are_laid_side_by_side() {
    let vendor = model();
    let scene = |questions: &str| {
        let folder = Folder::with(&[("study.toml", &questions.replace("VENDOR", &vendor.base_url()))]);
        run_study(
            any::<Questionnaire>(),
            (&folder.at("study.toml"), &folder.at("out")),
            2,
        )
        .unwrap();
        folder
    };
    let first = scene(QUESTIONS);
    let second = scene(
        &QUESTIONS
            .replace("'Why?', ", "")
            .replace("lines = 5", "lines = 6"),
    );
    let found = any::<Questionnaire>()
        .difference([&first.at("out"), &second.at("out")])
        .unwrap();
    let places: Vec<&str> = found
        .settings
        .iter()
        .map(|setting| setting.place.as_str())
        .collect();
    assert!(
        places.contains(&"keys.lines") && places.contains(&"decides.questions.0"),
        "{places:?}"
    );
    assert_eq!((found.only_first.len(), found.only_second.len()), (0, 1));
    assert_eq!(found.only_second[0].as_str(), "line5");
    assert_eq!((found.same, found.results.len()), (5, 2));
    assert!(found.results[0].figure.first.is_some(), "{found:?}");
    let text = found.report().text(ktd_view::table::Layout::default(), false);
    assert!(
        text.contains("keys.lines") && text.contains("line5") && text.contains("one-0"),
        "{text}"
    );
}
