//! One table of kinds: every kind of study runs, is killed, resumes, replays, is verified, and refuses what was changed.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a broken fixture fails the test"
)]

mod questionnaire;
mod stopped;
mod verbs;

use ktd_certify::{CertificateStudy, CurveStudy};
use ktd_env::KeyedStream;
use ktd_episode::EpisodesStudy;
use ktd_factor_study::FactorCodeStudy;
use ktd_formula_study::AlphaEvaluating;
use ktd_formula_study::judge::FormulaJudging;
use ktd_formula_study::mine::FormulaMining;
use ktd_io::ErrorClass;
use ktd_io::line_file::LineKind;
use ktd_kit::folder::copy;
use ktd_kit::program::{kill_after, written};
use ktd_kit::study::{recorded_files, replay_study, run_study, with_study_run};
use ktd_kit::vendor::{called, said};
use ktd_kit::{Folder, MASK_KEY, Need, Recorded, Vendor};
use ktd_leakage_study::LeakStudy;
use ktd_record::program_record::ProgramRecord;
use ktd_strategy_code::ControlKind;
use ktd_strategy_study::StrategyStudy;
use ktd_study::{AnyEnd, AnyKind, Depth, MovedFiles, Replayed, StudyError, any};
use questionnaire::Questionnaire;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{LazyLock, OnceLock};
use std::time::Duration;

const KILLS: usize = 5;
/// Requests that any of these studies has under way at once.
const AT_ONCE: usize = 4;

/// A kind with a file of it.
struct KindCase {
    kind: &'static dyn AnyKind,
    /// The files of a small study, the study itself as `study.toml`; VENDOR stands for the address of a model.
    files: &'static [(&'static str, &'static str)],
    /// A number of one of its works: what stands before it; none where a unit has no works but is made again whole.
    work: Option<&'static str>,
    /// Whether units that another program has finished stand.
    stands: bool,
    /// Whether its report says what requests cost.
    tells_cost: bool,
    /// Its study in `out`, run once for all tests, with the model that it asked.
    finished: OnceLock<(Folder, Vendor)>,
}

const QUESTIONS: &str = "kind = 'questionnaire'\nname = 'asked'\nlines = 5\nquestions = ['Why?', 'How?', 'When?', 'Who?']\n\
    [[agents]]\nid = 'one'\nmodel = 'm'\nvendor = 'vllm'\nmax_output_tokens = 100\nbase_url = 'VENDOR'\n\
    [[agents]]\nid = 'two'\nmodel = 'm'\nvendor = 'vllm'\nmax_output_tokens = 100\nbase_url = 'VENDOR'\n";

const TRADED: &str = "name = 'traded'\nsynthetic = { seed = 5, names = 20, days = 200 }\nmask_key_file = 'mask.key'\n\
    parallel_cells = 3\nmasks = [{ level = 'bright' }, { level = 'blinded', numeric = 'banded' }]\nmodes = ['open-research']\n\
    windows = [{ id = 'w', last_days = 2 }]\n[[agents]]\nid = 'own'\nbuiltin = 'momentum'\n\
    [[agents]]\nid = 'asked'\nmodel = 'm'\nvendor = 'vllm'\nmax_output_tokens = 100\nbase_url = 'VENDOR'\n";

const LEAK: &str = "name = 'small'\nsynthetic = { seed = 3, names = 24, days = 800 }\nhorizons = [5]\n\
    protocols = ['EXEC_CLOSE']\nmodels = ['momentum', 'ridge']\n";

const EVALUATED: &str = "name = 'evaluated'\nnoise = { draws = 1 }\npools = [{ id = 'own', file = 'own.csv' }]\n\
    splits = { train = ['2022-03-07', '2023-02-22'], test = ['2023-02-23', '2023-08-14'] }\n";

const MINED: &str = "name = 'mined'\nmethod = 'gp'\ngp = { population = 30, generations = 3 }\nselect = { take = 4, hall = 20 }\n\
    splits = { train = ['2022-03-07', '2022-09-30'], valid = ['2022-10-10', '2023-02-22'] }\n";

const JUDGED: &str = "name = 'judged'\npools = [{ id = 'own', file = 'own.csv' }]\norders = 1\nbatch = 3\n\
    [[agents]]\nid = 'j'\nmodel = 'm'\nvendor = 'vllm'\nmax_output_tokens = 100\nbase_url = 'VENDOR'\n";

const FACTORS: &str = "kind = 'factor-code'\nname = 'factors'\ntasks = ['MOM-1-01', 'MOM-1-02']\njobs = 1\n\
    controls = 0\nsecret_file = 'gate.key'\n\
    [[agents]]\nid = 'one'\nmodel = 'm'\nvendor = 'vllm'\nmax_output_tokens = 100\nbase_url = 'VENDOR'\n";

const STRATEGIES: &str = "kind = 'strategy-code'\nname = 'strategies'\nstrategies = ['S01']\niterations = 1\nparallel = 2\narena = { repetitions = 5 }\n\
    secret_file = 'gate.key'\n\
    [[agents]]\nid = 'one'\nmodel = 'm'\nvendor = 'vllm'\nmax_output_tokens = 100\nbase_url = 'VENDOR'\n\
    [[agents]]\nid = 'two'\nmodel = 'm'\nvendor = 'vllm'\nmax_output_tokens = 100\nbase_url = 'VENDOR'\n";

const PROBED: &str = "name = 'probed'\nsynthetic = { seed = 3, names = 40, days = 400 }\nmask_key_file = 'mask.key'\n\
    mask = { level = 'blinded', numeric = 'banded' }\nprobes = { day = 4 }\ndays = 2\nepisode_steps = 4\nstretches = 2\n\
    training = 2\ncontrol_probes = 2\n";

const PROBED_MODEL: &str = "[language]\nparallel = 2\nschema_retries = 1\n\
    [[language.agents]]\nid = 'm'\nmodel = 'm'\nvendor = 'vllm'\nmax_output_tokens = 100\nbase_url = 'VENDOR'\n";

const FORMULAS: &str = "id,expression\nreversal,\"$close/Ref($close,5)\"\nrange,\"($high-$low)/$close\"\n";

/// Every kind; those whose works are made in a box where there are boxes.
fn cases() -> &'static [KindCase] {
    static CASES: LazyLock<Vec<KindCase>> = LazyLock::new(|| {
        let mut cases = unboxed_cases();
        if Need::Boxes.is_met() && Need::BoxEnvironment.is_met() {
            let factors = &[("study.toml", FACTORS), ("gate.key", MASK_KEY)];
            let strategies = &[("study.toml", STRATEGIES), ("gate.key", MASK_KEY)];
            let boxed = [
                KindCase::new(any::<FactorCodeStudy>(), factors, Some("\"top_functions\":")),
                KindCase::new(any::<StrategyStudy>(), strategies, Some("\"lines\":")),
            ];
            cases.extend(boxed.map(|case| KindCase {
                tells_cost: true,
                ..case
            }));
        }
        cases
    });
    &CASES
}

fn unboxed_cases() -> Vec<KindCase> {
    let probed = &[
        ("study.toml", PROBED),
        ("study.toml", PROBED_MODEL),
        ("mask.key", MASK_KEY),
    ];
    vec![
        KindCase {
            stands: true,
            ..KindCase::new(
                any::<EpisodesStudy>(),
                &[("study.toml", TRADED), ("mask.key", MASK_KEY)],
                None,
            )
        },
        KindCase::new(
            any::<Questionnaire>(),
            &[("study.toml", QUESTIONS)],
            Some("\"output\":"),
        ),
        KindCase::new(any::<LeakStudy>(), &[("study.toml", LEAK)], Some("\"gross\":")),
        KindCase::new(
            any::<AlphaEvaluating>(),
            &[("study.toml", EVALUATED), ("own.csv", FORMULAS)],
            Some("\"alphas\":"),
        ),
        KindCase::new(any::<FormulaMining>(), &[("study.toml", MINED)], Some("\"Ok\":")),
        KindCase::new(
            any::<FormulaJudging>(),
            &[("study.toml", JUDGED), ("own.csv", FORMULAS)],
            Some("\"batch\":"),
        ),
        KindCase::new(any::<CertificateStudy>(), probed, Some("\"hits\":")),
        KindCase::new(
            any::<CurveStudy>(),
            &[("study.toml", PROBED), ("mask.key", MASK_KEY)],
            Some("\"share\":"),
        ),
    ]
}

/// What a writer of code answers: a function or a strategy that fails, or a review.
fn code_for(asked: &str) -> Option<String> {
    if let Some((_, function)) = asked.rsplit_once("Function name: ") {
        return Some(format!("def {function}(df):\n    raise ValueError('no')\n"));
    }
    if asked.contains("Review it.") {
        return Some("{\"D1\": 7, \"D2\": 5, \"strengths\": \"clear\", \"weaknesses\": \"slow\"}".to_owned());
    }
    let fault = if asked.contains("This is the version that stands") {
        "ValueError"
    } else if asked.contains("`S01`") {
        "KeyError"
    } else {
        return None;
    };
    let card = ControlKind::Clean.submission().card;
    let source = format!("class Strategy:\n    def __init__(self, config):\n        raise {fault}('x')\n");
    Some(format!("```json\n{card}\n```\n```python\n{source}```\n"))
}

/// A model that writes code where it is asked for some, scores formulas by their length, and says of anything else what it was
/// asked, twice.
fn model() -> Vendor {
    Vendor::answering(|request| {
        let asked = request["messages"][1]["content"].as_str().unwrap();
        let formulas: Option<Vec<Value>> = asked
            .lines()
            .find(|line| line.starts_with("[{"))
            .and_then(|line| serde_json::from_str(line).ok());
        let Some(formulas) = formulas else {
            return said(&code_for(asked).unwrap_or_else(|| asked.repeat(2)));
        };
        let scores = formulas.iter().enumerate().map(|(index, formula)| {
            let letters = formula["formula"].as_str().unwrap().len();
            json!({"index": index, "score": letters, "explanation": "long"})
        });
        called(
            "submit_scores",
            &json!({ "scores": scores.collect::<Vec<_>>() }),
            (10, 5),
        )
    })
}

impl KindCase {
    fn new(
        kind: &'static dyn AnyKind,
        files: &'static [(&'static str, &'static str)],
        work: Option<&'static str>,
    ) -> Self {
        Self {
            kind,
            files,
            work,
            stands: false,
            tells_cost: false,
            finished: OnceLock::new(),
        }
    }

    /// A copy of its finished study in `out`, with the model that all copies name: no test asks it anything more.
    fn finished(&self) -> (Folder, &Vendor) {
        let (whole, vendor) = self.finished.get_or_init(|| {
            let vendor = model();
            let folder = self.scene(&vendor);
            run(self, &folder, ("out", 2));
            (folder, vendor)
        });
        let folder = Folder::new();
        copy(whole.path(), folder.path());
        (folder, vendor)
    }

    fn scene(&self, vendor: &Vendor) -> Folder {
        let folder = Folder::new();
        for (name, text) in self.files {
            // A name that comes again goes on with its file.
            let before = std::fs::read_to_string(folder.at(name)).unwrap_or_default();
            folder.write(name, before + &text.replace("VENDOR", &vendor.base_url()));
        }
        folder
    }
}

fn run(case: &KindCase, folder: &Folder, (out, threads): (&str, usize)) -> AnyEnd {
    let end = run_study(case.kind, (&folder.at("study.toml"), &folder.at(out)), threads).unwrap();
    assert!(end.finished.is_some(), "{:?}", end.failed);
    end
}

fn replay(case: &KindCase, out: &Path, depth: Depth) -> Result<Replayed, StudyError> {
    replay_study(case.kind, out, depth)
}

/// Where a record, or a report that tells the cost, says that a request which was under way when its process was killed was sent
/// once more.
fn is_of_requests(case: &KindCase, path: &Path) -> bool {
    let is_report = !path.starts_with("units") && !path.starts_with("inputs");
    (case.tells_cost && is_report)
        || [
            "exchanges.jsonl.zst",
            "spending.json",
            "result.json",
            "index.jsonl",
            "summary.json",
        ]
        .iter()
        .any(|name| path.ends_with(name))
}

/// The other process of [`a_killed_study_comes_to_the_same_bytes`]: runs the kind at a place of the table.
#[test]
fn in_a_process_of_its_own() {
    let Ok(place) = std::env::var("KTD_TEST_KIND") else {
        return;
    };
    let folder = PathBuf::from(std::env::var("KTD_TEST_FOLDER").unwrap());
    let case = &cases()[place.parse::<usize>().unwrap()];
    run_study(case.kind, (&folder.join("study.toml"), &folder.join("out")), 2).unwrap();
}

/// Killed at drawn moments, each kind ends with the same report, events and works, and asks for nothing twice but what was
/// under way.
#[test]
fn a_killed_study_comes_to_the_same_bytes() {
    for (place, case) in cases().iter().enumerate() {
        let (name, vendor) = (case.kind.name(), model());
        let folder = case.scene(&vendor);
        run(case, &folder, ("whole", 1));
        let (whole, asked) = (recorded_files(&folder.at("whole")), vendor.count());
        let written_at = |path: &PathBuf| {
            folder
                .at("whole")
                .join(path)
                .metadata()
                .unwrap()
                .modified()
                .unwrap()
        };
        let of_units = whole.keys().filter(|path| path.starts_with("units"));
        let times: Vec<_> = of_units.clone().map(written_at).collect();
        run(case, &folder, ("whole", 2));
        assert_eq!(vendor.count(), asked, "{name}: a finished study asks nobody");
        assert!(
            recorded_files(&folder.at("whole")) == whole
                && of_units.map(written_at).collect::<Vec<_>>() == times,
            "{name}: a finished study was touched"
        );
        let (total, answers) = (written(&folder.at("whole")), answered(&folder, "whole"));
        let mut dice = KeyedStream::for_purpose(u64::try_from(place).unwrap(), "kinds");
        for _ in 0..kills() {
            std::fs::remove_dir_all(folder.at("out")).ok();
            let (bytes, linger) = (1 + dice.below(total), Duration::from_micros(dice.below(2_000)));
            let before = vendor.count();
            let child = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "in_a_process_of_its_own"])
                .env("KTD_TEST_KIND", place.to_string())
                .env("KTD_TEST_FOLDER", folder.path())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let _was_running = kill_after(child, folder.path(), written(folder.path()) + bytes, linger);
            let how = format!("{name}, killed {linger:?} after {bytes} bytes");
            run(case, &folder, ("out", 2));
            assert_eq!(
                answered(&folder, "out"),
                answers,
                "{how}: what was answered is not asked again"
            );
            let left = folder.files().into_keys();
            assert_eq!(
                left.filter(|path| path.ends_with("private/works.jsonl")).count(),
                0,
                "{how}"
            );
            let again = vendor.count() - before - asked;
            assert!(again <= AT_ONCE, "{how}: {again} requests were sent again");
            let now = recorded_files(&folder.at("out"));
            let names: Vec<&PathBuf> = now.keys().collect();
            assert_eq!(names, whole.keys().collect::<Vec<_>>(), "{how}");
            for (path, bytes) in &now {
                assert!(
                    is_of_requests(case, path) || whole.get(path) == Some(bytes),
                    "{how}: {}",
                    path.display()
                );
            }
            replay(case, &folder.at("out"), Depth::Recorded).unwrap();
        }
    }
}

/// How many answers stand in the exchanges of a study: one a request, unless one that was answered was asked again.
fn answered(folder: &Folder, out: &str) -> usize {
    let files = folder.files().into_keys();
    let of_study = files.filter(|path| path.starts_with(out));
    let open_or_closed = of_study.filter(|path| {
        ["exchanges.jsonl", "exchanges.jsonl.zst"]
            .iter()
            .any(|name| path.ends_with(name))
    });
    let folders: BTreeSet<PathBuf> = open_or_closed
        .map(|path| path.with_file_name("exchanges.jsonl.zst"))
        .collect();
    let counts = folders.iter().map(|path| {
        let path = folder.at(path.to_str().unwrap());
        Recorded::read(&path).unwrap().answered().count()
    });
    counts.sum()
}

/// [`KILLS`], or as many as `KTD_KILLS` asks for: twenty of every kind take some ten minutes.
fn kills() -> usize {
    let asked = std::env::var("KTD_KILLS").ok();
    asked.map_or(KILLS, |kills| kills.parse().unwrap())
}

/// A record gives every byte again with nobody to ask, and says what was changed: a file, a work that was put in place of
/// another, a program, a world.
#[test]
fn a_record_is_made_again_and_refuses_what_was_changed() {
    for case in cases() {
        let (name, (folder, vendor)) = (case.kind.name(), case.finished());
        let out = folder.at("out");
        let (whole, asked) = (recorded_files(&out), vendor.count());
        let units = replay(case, &out, Depth::Recorded).unwrap().units;
        assert_eq!(replay(case, &out, Depth::Sample(1)).unwrap().made_again, 1);
        assert_eq!(replay(case, &out, Depth::Deep).unwrap().made_again, units);
        let again = case.kind.report(&out).unwrap();
        let summary: Value = serde_json::from_slice(&whole[Path::new("report.json")]).unwrap();
        assert_eq!(again.summary, summary, "{name}");
        assert_eq!(recorded_files(&out), whole, "{name}: nothing of it is written");
        assert_eq!(vendor.count(), asked, "{name}: nobody is asked");

        for path in whole.keys().filter(|path| is_recorded(path)) {
            let mut bytes = whole[path].clone();
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
            std::fs::write(out.join(path), &bytes).unwrap();
            let refusal = replay(case, &out, Depth::Recorded).map(|_| path);
            assert!(
                refusal.is_err(),
                "{name}: a changed byte of {} is not seen",
                path.display()
            );
            if let Some(unit) = path.iter().nth(1).filter(|_| is_in_a_closed_unit(&whole, path)) {
                let refusal = case.kind.report(&out).map(|_| path).unwrap_err().to_string();
                let names_it = refusal.contains(&*unit.to_string_lossy());
                assert!(names_it, "{name}, {}: {refusal}", path.display());
                let file = path.file_name().unwrap_or_default().to_string_lossy();
                assert!(
                    file == "result.json" || refusal.contains(&*file),
                    "{name}: {refusal}"
                );
            }
            std::fs::write(out.join(path), &whole[path]).unwrap();
        }

        let Some(work) = case.work else { continue };
        refuses_to_report_without_a_unit(case, &out);
        forge_one_work(&out, work);
        run(case, &folder, ("out", 1));
        replay(case, &out, Depth::Recorded).unwrap();
        let refusal = replay(case, &out, Depth::Deep).unwrap_err();
        assert!(
            refusal.to_string().contains("comes to something else"),
            "{name}: {refusal}"
        );
    }
}

/// A report of a folder that lost a unit is refused by the unit's name, and never made of the others.
fn refuses_to_report_without_a_unit(case: &KindCase, out: &Path) {
    let refuses = || {
        let refusal = case.kind.report(out).unwrap_err();
        assert_eq!(refusal.class(), ErrorClass::Difference);
        assert!(refusal.to_string().contains("the record of unit"), "{refusal}");
    };
    let units = ktd_io::whole_file::list_if_exists(&out.join("units")).unwrap();
    if let Some(unit) = units.first() {
        std::fs::rename(unit, out.join("away")).unwrap();
        refuses();
        std::fs::rename(out.join("away"), unit).unwrap();
    } else {
        let path = out.join("units.jsonl");
        let whole = std::fs::read_to_string(&path).unwrap();
        let last = whole.trim_end().rfind('\n').unwrap();
        std::fs::write(&path, &whole[..=last]).unwrap();
        refuses();
        std::fs::write(&path, whole).unwrap();
    }
    case.kind.report(out).unwrap();
}

/// Whether a file lies in the folder of a unit that a result closes.
fn is_in_a_closed_unit(whole: &BTreeMap<PathBuf, Vec<u8>>, path: &Path) -> bool {
    let unit: PathBuf = path.iter().take(2).collect();
    path.starts_with("units") && whole.contains_key(&unit.join("result.json"))
}

/// Whether a file is part of what a replay compares.
fn is_recorded(path: &Path) -> bool {
    !path.starts_with("private")
}

/// Puts another output in place of a recorded one as its maker could: everything else is made again over it.
fn forge_one_work(out: &Path, before: &str) {
    let units = ktd_io::whole_file::list_if_exists(&out.join("units")).unwrap();
    let works = units.iter().filter_map(|unit| {
        let read: Vec<Value> = LineKind::Log
            .open(&unit.join("works.jsonl.zst"))
            .ok()?
            .values()
            .unwrap();
        let lines: Vec<String> = read.iter().map(Value::to_string).collect();
        Some((unit, lines.join("\n")))
    });
    if let Some((folder, text)) = works.into_iter().find(|(_, text)| text.contains(before)) {
        let text = with_another_digit(&text, before) + "\n";
        // A copy of a folder has no folder that is empty.
        std::fs::create_dir_all(folder.join("private")).unwrap();
        std::fs::write(folder.join("private/works.jsonl"), text).unwrap();
        for gone in ["result.json", "events.jsonl", "works.jsonl.zst"] {
            // A unit without events has no file of them.
            std::fs::remove_file(folder.join(gone)).ok();
        }
    } else {
        let text = std::fs::read_to_string(out.join("units.jsonl")).unwrap();
        let run = text.lines().find(|line| line.contains(before)).unwrap();
        let line: Value = serde_json::from_str(run).unwrap();
        let body = with_another_digit(&line["body"].to_string(), before);
        std::fs::write(out.join("units.open.jsonl"), body + "\n").unwrap();
    }
}

/// A text in which the last digit of the first number behind `key` is another.
fn with_another_digit(text: &str, key: &str) -> String {
    let begin = text.find(key).unwrap() + key.len();
    let end = begin + text[begin..].find([',', '}']).unwrap();
    let digit = text[begin..end]
        .rfind(|letter: char| letter.is_ascii_digit())
        .unwrap()
        + begin;
    let other = if &text[digit..=digit] == "1" { "2" } else { "1" };
    [&text[..digit], other, &text[digit + 1..]].concat()
}

/// Records of another program are never mixed with those of this one: what asks is refused, what does not is made anew.
#[test]
fn another_program_goes_on_with_nothing() {
    let other = ProgramRecord {
        source_sha256: "b".repeat(64),
        commit: None,
    };
    for case in cases() {
        let (folder, _) = case.finished();
        let rerun = with_study_run(2, &other, |run| {
            case.kind
                .run(&folder.at("study.toml"), Some(&folder.at("out")), run)
        });
        let replayed = with_study_run(2, &other, |run| {
            case.kind
                .replay(&folder.at("out"), MovedFiles::default(), Depth::Recorded, run)
        });
        if case.kind.asks() {
            if case.stands {
                assert!(rerun.unwrap().finished.is_some());
            } else {
                let refusal = rerun.unwrap_err().to_string();
                assert!(refusal.contains("made by another program"), "{refusal}");
            }
            assert_eq!(replayed.unwrap().another_program.is_some(), !case.stands);
            if !case.stands {
                // What another program writes otherwise is no change of the record.
                folder.write("out/index.html", "as another program writes it");
                let refusal = with_study_run(2, &other, |run| {
                    case.kind
                        .replay(&folder.at("out"), MovedFiles::default(), Depth::Recorded, run)
                });
                let refusal = refusal.map(|_| ()).unwrap_err().to_string();
                assert!(refusal.starts_with("it was made by another program"), "{refusal}");
            }
        } else {
            assert!(rerun.unwrap().finished.is_some());
            assert_eq!(
                replayed.unwrap().another_program,
                None,
                "the records are of the other program now"
            );
        }
    }
}

/// No study replaces what another one has recorded, be it of another name or kind.
#[test]
fn a_folder_of_another_study_is_left_alone() {
    for case in cases() {
        let (name, (folder, _)) = (case.kind.name(), case.finished());
        let before = recorded_files(&folder.at("out"));
        let renamed = std::fs::read_to_string(folder.at("study.toml")).unwrap();
        folder.write("renamed.toml", renamed.replacen("name = '", "name = 'other-", 1));
        folder.write("leak.toml", LEAK.replace("'small'", "'other-kind'"));
        for (kind, file) in [(case.kind, "renamed.toml"), (any::<LeakStudy>(), "leak.toml")] {
            let files = (&*folder.at(file), &*folder.at("out"));
            let refusal = run_study(kind, files, 1).unwrap_err();
            let said = refusal.to_string();
            assert!(said.contains("holds another study: \""), "{name}: {said}");
            assert!(refusal.hint().contains("--out"), "{name}");
            assert_eq!(recorded_files(&folder.at("out")), before, "{name}");
        }
    }
}

/// The file of one kind given to another one is refused by the name of its own.
#[test]
fn a_file_of_another_kind_is_told_by_name() {
    let folder = Folder::with(&[("study.toml", QUESTIONS)]);
    let files = (&*folder.at("study.toml"), &*folder.at("out"));
    let refusal = run_study(any::<LeakStudy>(), files, 1).unwrap_err();
    assert!(
        refusal
            .to_string()
            .contains("it is a study of kind \"questionnaire\""),
        "{refusal}"
    );
}
