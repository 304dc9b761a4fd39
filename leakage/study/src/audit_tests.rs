//! The audit of manifests and of programs that stand in for children.

use super::audit::{AuditOptions, AuditedColumn, audit_manifest, audit_program};
use super::audit_panel::AuditPanel;
use super::bars::market_bars;
use super::config::LeakUniverse;
use super::manifest::{LeakManifest, ManifestCommand, manifest_text};
use super::program_columns::ProgramRunner;
use ktd_env::Market;
use ktd_env::synth::{SynthConfig, generate};
use ktd_expressions::{FormulaPrecision, FormulaRole, check_formula};
use ktd_formulas::{ValueSpan, evaluate};
use ktd_leakage::{
    AdjustedFrom, BarField, ColumnVerdict, FEATURES, FeatureGrid, LeakageSettings, SessionInstant, Switch,
    UniverseRule,
};
use ktd_stats::moments::count;
use ktd_study::TomlText;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

fn market() -> Market {
    let config = SynthConfig {
        seed: 5,
        names: 12,
        days: 260,
    };
    generate(&config).unwrap()
}

/// No program is expected to run.
fn no_program(_: &ManifestCommand, _: Vec<u8>) -> Result<Vec<u8>, String> {
    Err("unexpected".to_owned())
}

fn manifest(text: &str) -> LeakManifest {
    LeakManifest::of(&TomlText::new("m.toml", text), PathBuf::new()).unwrap()
}

fn audited(switch: Switch, panel: &AuditPanel) -> Vec<AuditedColumn> {
    let text = manifest_text(switch, (5, 3), (UniverseRule::AsOfDay, AdjustedFrom::Start)).unwrap();
    let manifest = manifest(&text);
    let options = AuditOptions {
        tolerance: 0.0,
        threads: 2,
        run_program: &no_program,
    };
    audit_manifest(&manifest, panel, &options).unwrap()
}

#[test]
fn all_columns_of_the_reference_are_clean_and_centred_ones_read_three_days_ahead() {
    let panel = AuditPanel::of(&market()).unwrap();
    let clean = audited(Switch::Clean, &panel);
    assert_eq!(clean.len(), 25);
    // Here a stock has no bar on the day of a cut.
    let config = SynthConfig {
        seed: 1,
        names: 60,
        days: 1450,
    };
    let with_gaps = AuditPanel::of(&generate(&config).unwrap()).unwrap();
    for column in clean.iter().chain(&audited(Switch::Clean, &with_gaps)) {
        assert_eq!(
            (column.verdict, column.is_broken),
            (ColumnVerdict::Clean, false),
            "{column:?}"
        );
        assert!(
            column.text.starts_with("clean (tested ") && 30 < column.cuts,
            "{column:?}"
        );
    }
    let own_bar = |name: &str| {
        clean
            .iter()
            .find(|column| column.column == name)
            .unwrap()
            .reads_own_bar
    };
    assert_eq!((own_bar("gap"), own_bar("body")), (Some(false), Some(true)));
    for (column, feature) in audited(Switch::TempCenter, &panel).iter().zip(&FEATURES) {
        if feature.reads_window {
            assert_eq!(column.text, "reads 3 days ahead", "{}", feature.name);
            // The file declares when they are known; the scores are made before.
            assert!(column.is_broken && column.available_at == "close+3");
            let first = column.first.as_ref().unwrap();
            assert!(
                !first.date.is_empty() && !first.symbol.is_empty() && first.run.contains(' '),
                "{first:?}"
            );
        } else {
            assert_eq!(column.verdict, ColumnVerdict::Clean, "{}", feature.name);
        }
    }
}

#[test]
fn the_expressions_of_a_manifest_are_what_the_run_computes() {
    let market = market();
    let bars = market_bars(&market, LeakUniverse::All).unwrap();
    let panel = AuditPanel::of(&market).unwrap();
    assert_eq!(panel.codes, bars.codes);
    let fields = panel.fields(&panel.bars);
    let grid = FeatureGrid::new(&bars.bars, &LeakageSettings::BENCHMARK);
    for (switch, ahead) in [(Switch::Clean, 0), (Switch::TempCenter, 3)] {
        let rows: Vec<_> = (0..bars.bars.sessions())
            .map(|session| grid.features(switch, session))
            .collect();
        for (place, feature) in FEATURES
            .iter()
            .enumerate()
            .filter(|(_, feature)| feature.peers_of().is_none())
        {
            let text = feature.expression(ahead).unwrap();
            let formula = check_formula(&text, &fields.fields, FormulaRole::Label).unwrap();
            let values = evaluate(
                &fields,
                &[formula],
                FormulaPrecision::Float64,
                &ValueSpan::default(),
                1,
            )
            .unwrap();
            let mut compared = 0;
            for name in &values.names {
                let code = bars.codes.binary_search(&name.code).unwrap();
                for (session, value) in name.sessions.iter().zip(&name.columns[0]) {
                    let own = rows[*session][code][place];
                    // Here a session without volume is missing, and a window holds a value once it is two thirds full.
                    let is_whole = (session.saturating_sub(61)..=session + ahead)
                        .all(|near| !bars.bars.value(BarField::Close, near, code).is_nan());
                    if own.is_finite() && is_whole && 61 <= *session {
                        let apart = (f64::from(*value) - own).abs();
                        assert!(
                            apart <= 1e-6 + 1e-5 * own.abs(),
                            "{text} {session}: {value} {own}"
                        );
                        compared += 1;
                    }
                }
            }
            assert!(1_000 < compared, "{text}: {compared}");
        }
    }
}

/// A program in Rust: adjusted closes by name become columns.
fn program(
    of: impl Fn(&[f64]) -> Vec<f64> + Sync,
) -> impl Fn(&ManifestCommand, Vec<u8>) -> Result<Vec<u8>, String> + Sync {
    move |_, input| {
        let mut reader = csv::Reader::from_reader(&input[..]);
        let mut names: BTreeMap<String, (Vec<String>, Vec<f64>)> = BTreeMap::new();
        for row in reader.records().map(Result::unwrap) {
            let cell = |place: usize| row[place].parse::<f64>().unwrap();
            let name = names.entry(row[1].to_owned()).or_default();
            name.0.push(row[0].to_owned());
            name.1.push(cell(5) * cell(8));
        }
        let mut text = "date,symbol,mine\n".to_owned();
        for (code, (days, closes)) in names {
            for (day, value) in days.iter().zip(of(&closes)) {
                writeln!(text, "{day},{code},{value}").unwrap();
            }
        }
        Ok(text.into_bytes())
    }
}

fn verdict(run: &ProgramRunner<'_>, known: SessionInstant) -> Result<AuditedColumn, String> {
    let panel = AuditPanel::of(&market()).unwrap();
    let options = AuditOptions {
        tolerance: 0.0,
        threads: 2,
        run_program: run,
    };
    let command = ManifestCommand {
        command: vec!["mine".to_owned()],
        pass_env: Vec::new(),
        timeout_seconds: 1,
    };
    let mut columns = audit_program(&command, known, &panel, &options).map_err(|error| error.to_string())?;
    assert_eq!(columns.len(), 1);
    Ok(columns.remove(0))
}

#[test]
fn programs_are_judged_by_what_they_write() {
    let close = SessionInstant::close(0);
    let lag = program(|closes| {
        (0..closes.len())
            .map(|t| if t == 0 { f64::NAN } else { closes[t - 1] })
            .collect()
    });
    let found = verdict(&lag, close).unwrap();
    assert_eq!((found.verdict, found.is_broken), (ColumnVerdict::Clean, false));
    assert!(!verdict(&lag, SessionInstant::open(0)).unwrap().is_broken);
    let own = program(<[f64]>::to_vec);
    assert!(!verdict(&own, close).unwrap().is_broken);
    let early = verdict(&own, SessionInstant::open(0)).unwrap();
    assert!(early.is_broken && early.first.unwrap().run.ends_with("the open alone"));
    let lead = program(|closes| {
        (0..closes.len())
            .map(|t| closes.get(t + 2).copied().unwrap_or(0.0))
            .collect()
    });
    let found = verdict(&lead, close).unwrap();
    assert_eq!((found.sessions_ahead, found.is_broken), (Some(2), true));
    assert!(!verdict(&lead, SessionInstant::close(2)).unwrap().is_broken);
    let global = program(|closes| {
        let mean = closes.iter().sum::<f64>() / count(closes.len());
        closes.iter().map(|close| close - mean).collect()
    });
    assert_eq!(verdict(&global, close).unwrap().text, "whole-sample fit");
    let calls = std::sync::atomic::AtomicUsize::new(0);
    let random = program(move |closes| {
        let call = calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        vec![count(call); closes.len()]
    });
    let found = verdict(&random, close).unwrap();
    assert_eq!(
        (found.verdict, found.is_broken),
        (ColumnVerdict::NotDeterministic, true)
    );
}

/// What changes the lines of an output.
type Change = fn(Vec<String>) -> Vec<String>;

/// The closes as a program writes them, its lines changed.
fn changed(change: Change) -> impl Fn(&ManifestCommand, Vec<u8>) -> Result<Vec<u8>, String> + Sync {
    let clean = program(<[f64]>::to_vec);
    move |command, input| {
        let text = String::from_utf8(clean(command, input)?).unwrap();
        let lines = change(text.lines().map(str::to_owned).collect());
        Ok(lines.join("\n").into_bytes())
    }
}

#[test]
fn a_broken_output_is_a_failure_with_its_line() {
    for (change, part) in [
        ((|_| Vec::new()) as Change, "wrote nothing"),
        (
            |lines| lines.into_iter().skip(1).collect(),
            "does not begin with the columns",
        ),
        (
            |lines| lines.into_iter().map(|line| line.replace(",mine", "")).collect(),
            "no column behind",
        ),
        (
            |lines| {
                lines
                    .into_iter()
                    .map(|line| line.replace(",mine", ",a,a"))
                    .collect()
            },
            "two of one name",
        ),
        (
            |mut lines| {
                lines.push(lines[3].clone());
                lines
            },
            "stands twice",
        ),
        (
            |mut lines| {
                lines.push("2001-01-01,SH600000,1".to_owned());
                lines
            },
            "was no row of its input",
        ),
        (
            |mut lines| {
                lines[4] = lines[4].replace('.', ",") + ",";
                lines
            },
            "line 5 of its output",
        ),
        (
            |mut lines| {
                lines[2] = format!("{}x", lines[2]);
                lines
            },
            "is no number",
        ),
    ] {
        let error = verdict(&changed(change), SessionInstant::close(0)).unwrap_err();
        assert!(
            error.starts_with("failed: ") && error.contains(part),
            "{part}: {error}"
        );
    }
}

#[test]
fn rows_that_are_left_out_are_missing_and_a_column_that_comes_and_goes_is_a_failure() {
    let few = changed(|lines| {
        lines
            .into_iter()
            .enumerate()
            .filter(|(place, _)| place % 7 != 3 || *place == 0)
            .map(|(_, line)| line)
            .collect()
    });
    assert_ne!(
        verdict(&few, SessionInstant::close(0)).unwrap().verdict,
        ColumnVerdict::Failed
    );
    let calls = std::sync::atomic::AtomicU64::new(0);
    let clean = program(<[f64]>::to_vec);
    let renamed = move |command: &ManifestCommand, input: Vec<u8>| {
        let text = String::from_utf8(clean(command, input)?).unwrap();
        let call = calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(text.replacen("mine", &format!("mine{call}"), 1).into_bytes())
    };
    let found = verdict(&renamed, SessionInstant::close(0)).unwrap();
    assert_eq!(found.verdict, ColumnVerdict::Failed);
    assert!(found.text.contains("the column is missing"), "{}", found.text);
}

#[test]
fn a_manifest_without_anything_to_compute_is_refused() {
    let text = "[protocol]\nsignal_at = \"close\"\nfill_at = \"next_open\"\nlabel = { price = \"open\", from_day = 1, horizon_days = 5 }\n\
                purge_days = 6\n[[feature]]\nname = \"a\"\navailable_at = \"close\"\n";
    let manifest = manifest(text);
    let options = AuditOptions {
        tolerance: 0.0,
        threads: 1,
        run_program: &no_program,
    };
    let panel = AuditPanel::of(&market()).unwrap();
    let error = audit_manifest(&manifest, &panel, &options)
        .unwrap_err()
        .to_string();
    assert!(error.contains("no feature with an expression"), "{error}");
}
