//! The rules that a declared pipeline breaks, with what such leaks are worth.

use super::manifest::{ColumnSource, LeakManifest};
use crate::StudyError;
use ktd_expressions::FormulaError;
use ktd_io::whole_file::read_text;
use ktd_leakage::{
    ContractFinding, ContractRule, ShippedGain, Switch, check_contract, shipped_gains, source_hints,
};
use ktd_study::{Audited, Report, Section, Shown};
use ktd_view::draw::{TableData, counted};
use ktd_view::row_table::RowTable;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The most that a source may hold.
const SOURCE_LIMIT_BYTES: u64 = 8 << 20;

/// What a manifest declares against the rules.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ManifestCheck {
    /// Declared features.
    pub features: usize,
    /// Broken rules: those of features first, in their order.
    pub findings: Vec<CheckFinding>,
    /// Lines of sources to look at: hints, never a verdict.
    pub source_hints: Vec<FileHint>,
}

/// A broken rule.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CheckFinding {
    /// `R1` to `R12`.
    pub rule: String,
    /// Its class; of a refused expression its code.
    pub class: String,
    /// Whether it is a weakness rather than a leak.
    pub is_weak: bool,
    /// The feature; none for a rule of the whole pipeline.
    pub column: Option<String>,
    /// When it is known.
    pub known_at: Option<String>,
    /// When it is used.
    pub used_at: Option<String>,
    /// What else is known of it.
    pub detail: Option<String>,
    /// The protocol whose gain is nearest to what it is worth; none where nothing comes in, and where no protocol is of its kind.
    pub priced_as: Option<Switch>,
    /// What that protocol is worth by model in the run that is shipped.
    pub expected_gain: Vec<ShippedGain>,
    /// What to do about it.
    pub hint: String,
}

/// A line of a source file that holds a pattern which often reads ahead.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FileHint {
    /// The file.
    pub file: String,
    /// 1-based line.
    pub line: usize,
    /// The pattern.
    pub pattern: String,
    /// What it may do.
    pub meaning: String,
}

/// Checks a manifest, and looks at sources.
///
/// # Errors
/// [`StudyError`] for a source that is no text.
pub fn check_manifest(manifest: &LeakManifest, sources: &[PathBuf]) -> Result<Audited, StudyError> {
    let mut hints = Vec::new();
    for path in sources {
        hints.extend(read_source_hints(path)?);
    }
    let check = ManifestCheck {
        features: manifest.columns.len(),
        findings: findings(manifest),
        source_hints: hints,
    };
    let mut section =
        Section::new("Findings").table("findings", finding_table(&check.findings), Shown::Everywhere);
    if !sources.is_empty() {
        section = section.table("source_hints", hint_table(&check.source_hints), Shown::Everywhere);
    }
    let wrong = broken_rule(&check.findings);
    let found = wrong
        .as_ref()
        .map_or_else(|| "no rule is broken".to_owned(), ToString::to_string);
    let report = Report {
        title: "What a pipeline knows when".to_owned(),
        verdict: format!("{}: {found}.", counted(check.features, "feature")),
        sections: vec![section],
        ..Report::default()
    };
    Audited::new(&check, report, wrong)
}

/// The first rule that is broken.
fn broken_rule(findings: &[CheckFinding]) -> Option<StudyError> {
    let first = findings.first()?;
    let of = first
        .column
        .as_ref()
        .map_or_else(String::new, |name| format!(" of {name}"));
    let more = match findings.len() - 1 {
        0 => String::new(),
        more => format!(", and {more} more findings"),
    };
    let what = format_args!("{} ({}){of} is broken{more}", first.rule, first.class);
    Some(StudyError::difference(what, &first.hint))
}

/// All rules that a manifest breaks.
fn findings(manifest: &LeakManifest) -> Vec<CheckFinding> {
    let findings = check_contract(&manifest.contract);
    findings.iter().map(|finding| shown(finding, manifest)).collect()
}

fn shown(finding: &ContractFinding, manifest: &LeakManifest) -> CheckFinding {
    let rule = finding.rule;
    let own = manifest
        .columns
        .iter()
        .find(|column| Some(&column.name) == finding.feature.as_ref());
    let refused = own.and_then(|column| {
        let ColumnSource::Refused(error) = &column.source else {
            return None;
        };
        (rule == ContractRule::RefusedExpression).then_some(error)
    });
    let place = |error: &FormulaError| {
        format!(
            "byte {}: found {:?}, expected {}",
            error.at, error.found, error.expected
        )
    };
    CheckFinding {
        rule: rule.number(),
        class: refused
            .map_or(rule.class(), |error| error.fault.code())
            .to_owned(),
        is_weak: rule.is_weak(),
        column: finding.feature.clone(),
        known_at: finding.known_at.map(|instant| instant.to_string()),
        used_at: finding.used_at.map(|instant| instant.to_string()),
        detail: refused.map(place),
        priced_as: finding.priced_as,
        expected_gain: finding.priced_as.map(shipped_gains).unwrap_or_default(),
        hint: refused.map_or_else(|| rule.hint().to_owned(), |error| error.hint.clone()),
    }
}

fn read_source_hints(path: &Path) -> Result<Vec<FileHint>, StudyError> {
    let found = source_hints(&read_text(path, SOURCE_LIMIT_BYTES)?).into_iter();
    let named = found.map(|hint| FileHint {
        file: path.display().to_string(),
        line: hint.line,
        pattern: hint.pattern.to_owned(),
        meaning: hint.meaning.to_owned(),
    });
    Ok(named.collect())
}

fn finding_table(findings: &[CheckFinding]) -> TableData {
    let or_empty = |text: Option<&String>| text.cloned().unwrap_or_default();
    let table = RowTable::new(counted(findings.len(), "finding"), findings)
        .text("rule", |finding| &finding.rule)
        .text("class", |finding| {
            let weak = if finding.is_weak { " (weak)" } else { "" };
            format!("{}{weak}", finding.class)
        })
        .text("column", |finding| or_empty(finding.column.as_ref()))
        .text("known at", |finding| {
            or_empty(finding.known_at.as_ref().or(finding.detail.as_ref()))
        })
        .text("used at", |finding| or_empty(finding.used_at.as_ref()))
        .text("expected gain", expected)
        .text("hint", |finding| &finding.hint)
        .table();
    if findings.iter().all(|finding| finding.expected_gain.is_empty()) {
        return table;
    }
    table.with_note(
        "expected gain: what the protocol named adds to the annual ratio of momentum and of ridge regression on the demonstration's \
         market, which has no alpha: the kind of what comes in, not its size; --json has all models",
    )
}

/// The gains of the two models without chance, and of which protocol they are.
fn expected(finding: &CheckFinding) -> String {
    match (finding.priced_as, finding.expected_gain.as_slice()) {
        (Some(switch), [momentum, ridge, ..]) => {
            format!("{:+.2} / {:+.2} {}", momentum.gain, ridge.gain, switch.name())
        }
        _ => "none known".to_owned(),
    }
}

fn hint_table(hints: &[FileHint]) -> TableData {
    let title = format!("{} lines of source to look at: hints, no verdict", hints.len());
    RowTable::new(title, hints)
        .text("file", |hint| &hint.file)
        .count("line", |hint| hint.line)
        .text("pattern", |hint| &hint.pattern)
        .text("may be", |hint| &hint.meaning)
        .table()
}

#[cfg(test)]
mod tests {
    use super::super::manifest::manifest_text;
    use super::*;
    use ktd_leakage::{AdjustedFrom, ModelFamily, UniverseRule, switch_contract};
    use ktd_study::TomlText;

    fn read(text: &str) -> Result<LeakManifest, StudyError> {
        LeakManifest::of(&TomlText::new("m.toml", text), PathBuf::new())
    }

    fn manifest(text: &str) -> LeakManifest {
        read(text).unwrap()
    }

    fn rules(text: &str) -> Vec<String> {
        let mut rules: Vec<String> = findings(&manifest(text))
            .into_iter()
            .map(|finding| finding.rule)
            .collect();
        rules.dedup();
        rules
    }

    fn own_of(switch: Switch, horizon: usize, universe: UniverseRule) -> String {
        manifest_text(switch, (horizon, 3), (universe, AdjustedFrom::Start)).unwrap()
    }

    fn own(switch: Switch) -> String {
        own_of(switch, 5, UniverseRule::AsOfDay)
    }

    /// The reference with a few of its features.
    const CLEAN: &str = "\
[protocol]
signal_at = \"close\"
fill_at = \"next_open\"
label = { price = \"open\", from_day = 1, horizon_days = 5 }
purge_days = 6
standardise = \"train\"
graph = \"trailing\"
universe = \"as-of\"

[[feature]]
name = \"ret_1\"
expression = \"$close/Ref($close,1)-1\"
available_at = \"close\"

[[feature]]
name = \"ret_5\"
expression = \"$close/Ref($close,5)-1\"
available_at = \"close\"

[[feature]]
name = \"nbr_ret_5\"
peers_of = \"ret_5\"
available_at = \"close\"
";

    #[test]
    fn a_manifest_of_our_own_says_the_contract_of_its_run() {
        for switch in Switch::ALL {
            for horizon in [5, 20] {
                let text = own_of(switch, horizon, UniverseRule::AsOfDay);
                assert_eq!(
                    manifest(&text).contract,
                    switch_contract(switch, horizon, 3),
                    "{switch:?}"
                );
            }
        }
    }

    #[test]
    fn the_reference_passes_and_each_switch_fails_with_its_rule() {
        let expected = [
            (Switch::Clean, vec![]),
            (Switch::TempCenter, vec!["R1"]),
            (Switch::ExecOpen, vec!["R3"]),
            (Switch::NormGlobal, vec!["R7"]),
            (Switch::StructGraph, vec!["R8"]),
            (Switch::ExecClose, vec!["R4"]),
            (Switch::LabelOverlap, vec!["R6"]),
        ];
        for (switch, broken) in expected {
            assert_eq!(rules(&own(switch)), broken, "{switch:?}");
        }
        let survivors = own_of(Switch::Clean, 5, UniverseRule::Survivors);
        assert_eq!(
            rules(&survivors),
            ["R9"],
            "names that lived are no universe of the day"
        );
        for finding in findings(&manifest(&own(Switch::TempCenter))) {
            assert_eq!(finding.known_at.as_deref(), Some("the close 3 sessions after"));
            assert_eq!(finding.used_at.as_deref(), Some("the signal day's close"));
            assert!(
                finding
                    .expected_gain
                    .iter()
                    .any(|gain| gain.family == ModelFamily::Ridge && 5.0 < gain.gain)
            );
        }
    }

    /// The reference with one line changed.
    fn with(from: &str, to: &str) -> Vec<String> {
        assert!(CLEAN.contains(from), "{from}");
        rules(&CLEAN.replacen(from, to, 1))
    }

    const FEATURE: &str = "expression = \"$close/Ref($close,1)-1\"\navailable_at = \"close\"";

    /// A rule, the lines that are replaced, a case that breaks it, and the nearest that does not.
    const CASES: [[&str; 4]; 12] = [
        [
            "R1",
            FEATURE,
            "expression = \"$close/Ref($close,-1)-1\"\navailable_at = \"next_close\"",
            "expression = \"$open/Ref($close,1)-1\"\navailable_at = \"close\"",
        ],
        [
            "R1",
            FEATURE,
            "command = [\"a\"]\navailable_at = \"next_open\"",
            "command = [\"a\"]\navailable_at = \"close\"",
        ],
        [
            "R2",
            FEATURE,
            "expression = \"$close/Ref($close,1)-1\"\navailable_at = \"open\"",
            "expression = \"$open/Ref($close,1)-1\"\navailable_at = \"open\"",
        ],
        [
            "R4",
            "fill_at = \"next_open\"\nlabel = { price = \"open\", from_day = 1",
            "fill_at = \"close\"\nlabel = { price = \"close\", from_day = 0",
            "fill_at = \"next_close\"\nlabel = { price = \"close\", from_day = 1",
        ],
        ["R5", "price = \"open\"", "price = \"close\"", "price = \"open\""],
        ["R5", "price = \"open\"", "price = \"high\"", "price = \"open\""],
        ["R6", "purge_days = 6", "purge_days = 5", "purge_days = 7"],
        ["R7", "\"train\"", "\"full\"", "\"day\""],
        [
            "R8",
            "graph = \"trailing\"",
            "graph = \"full\"",
            "graph = \"trailing\"",
        ],
        ["R9", "\"as-of\"", "\"end\"", "\"as-of\""],
        [
            "R10",
            "expression = \"$close/Ref($close,1)-1\"\n",
            "",
            "command = [\"a\", \"b\"]\n",
        ],
        [
            "R12",
            FEATURE,
            "expression = \"Median($close,5)\"\navailable_at = \"close\"",
            "expression = \"Med($close,5)/$close\"\navailable_at = \"close\"",
        ],
    ];

    #[test]
    fn every_rule_has_a_case_that_breaks_it_and_one_that_does_not() {
        for [rule, from, broken, kept] in CASES {
            assert_eq!(with(from, broken), [rule], "{broken}");
            assert!(with(from, kept).is_empty(), "{kept}: {:?}", with(from, kept));
        }
        // Scores of yesterday's close that trade at the open, of a feature that is declared known when.
        let opens = |known: &str| {
            let text = format!(
                "[protocol]\nsignal_at = \"close-1\"\nfill_at = \"open\"\n\
                 label = {{ price = \"open\", from_day = 0, horizon_days = 1 }}\npurge_days = 1\n[[feature]]\nname = \"a\"\n\
                 expression = \"Ref($close,1)/Ref($open,1)\"\navailable_at = \"{known}\"\n"
            );
            rules(&text)
        };
        assert_eq!(opens("close"), ["R3"]);
        assert!(opens("close-1").is_empty());
        let level = "expression = \"$close\"\navailable_at = \"close\"";
        let adjusted = |expression: &str, universe: &str| {
            let text = CLEAN.replacen(FEATURE, expression, 1);
            rules(&text.replacen("universe = \"as-of\"", universe, 1))
        };
        let end = "universe = \"as-of\"\nadjusted_from = \"end\"";
        assert_eq!(adjusted(level, end), ["R11"]);
        assert!(adjusted(FEATURE, end).is_empty() && adjusted(level, "universe = \"as-of\"").is_empty());
        let numbers: std::collections::BTreeSet<&str> =
            CASES.iter().map(|case| case[0]).chain(["R3", "R11"]).collect();
        assert_eq!(numbers.len(), ContractRule::ALL.len());
    }

    #[test]
    fn a_refused_expression_is_named_with_its_code_and_place() {
        let text = CLEAN.replacen("$close/Ref($close,1)-1", "$close/Ref($close,one)-1", 1);
        let findings = findings(&manifest(&text));
        assert_eq!((findings.len(), findings[0].class.as_str()), (1, "window"));
        assert!(findings[0].detail.as_deref().unwrap().contains("byte"));
    }

    #[test]
    fn what_is_no_manifest_is_refused_with_its_line() {
        let feature = "name = \"ret_5\"";
        for (from, to, line, part) in [
            ("purge_days = 6", "purge_days = -1", 5, "-1 is out of range"),
            ("purge_days = 6", "purge = 6", 5, "unknown field"),
            ("horizon_days = 5", "horizon_days = 0", 4, "0 is out of range"),
            ("\"close\"", "\"close plus three\"", 2, "is no instant"),
            ("\"next_open\"", "\"tomorrow\"", 3, "fill_at"),
            (feature, "name = \"ret_1\"", 15, "two features have the name"),
            (feature, "name = \" \"", 15, "is no name"),
            (
                feature,
                "name = \"ret_5\"\ncommand = [\"a\"]",
                15,
                "more than one",
            ),
            (
                feature,
                "name = \"ret_5\"\ntimeout_seconds = 3",
                15,
                "without `command`",
            ),
            ("\"train\"", "\"test\"", 6, "unknown variant"),
            (
                "peers_of = \"ret_5\"",
                "peers_of = \"nbr_ret_20\"",
                20,
                "is no feature",
            ),
            ("graph = \"trailing\"", "graph = \"none\"", 20, "needs a graph"),
            ("[protocol]", "", 3, "unknown field"),
        ] {
            assert!(CLEAN.contains(from), "{from}");
            let error = read(&CLEAN.replacen(from, to, 1)).unwrap_err().to_string();
            let place = format!("m.toml: line {line}, ");
            assert!(error.starts_with(&place) && error.contains(part), "{to}: {error}");
        }
    }
}
