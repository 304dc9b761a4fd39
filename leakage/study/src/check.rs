//! The rules that a declared pipeline breaks, with what such leaks are worth.

use super::manifest::{ColumnSource, LeakManifest};
use crate::StudyError;
use ktd_io::whole_file::read_text;
use ktd_leakage::{ContractFinding, ContractRule, SourceHint, check_contract, shipped_gains, source_hints};
use serde::Serialize;
use std::path::Path;

/// The most that a source may hold.
const SOURCE_LIMIT_BYTES: u64 = 8 << 20;

/// A broken rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    /// What the switch of this class is worth by model in the run that is shipped; empty where no switch is of it.
    pub expected_gain: Vec<ExpectedGain>,
    /// What to do about it.
    pub hint: String,
}

/// What a class of leaks is worth to a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExpectedGain {
    /// The model.
    pub model: &'static str,
    /// The leakage gain.
    pub gain: f64,
}

/// All rules that a manifest breaks: those of features first, in their order.
#[must_use]
pub fn check_manifest(manifest: &LeakManifest) -> Vec<CheckFinding> {
    let findings = check_contract(&manifest.contract);
    findings.iter().map(|finding| shown(finding, manifest)).collect()
}

fn shown(finding: &ContractFinding, manifest: &LeakManifest) -> CheckFinding {
    let rule = finding.rule;
    let gains = rule.switch().map(shipped_gains).unwrap_or_default();
    let own = |name: &String| manifest.columns.iter().find(|column| column.name == *name);
    let refused = finding
        .feature
        .as_ref()
        .and_then(own)
        .and_then(|column| match &column.source {
            ColumnSource::Refused(error) => Some(error),
            ColumnSource::Expression(_)
            | ColumnSource::PeersOf(_)
            | ColumnSource::Command(_)
            | ColumnSource::Undeclared => None,
        })
        .filter(|_| rule == ContractRule::RefusedExpression);
    let class = refused.map_or(rule.class(), |error| error.fault.code());
    let place = |error: &ktd_expressions::FormulaError| {
        format!(
            "byte {}: found {:?}, expected {}",
            error.at, error.found, error.expected
        )
    };
    CheckFinding {
        rule: rule.number(),
        class: class.to_owned(),
        is_weak: rule.is_weak(),
        column: finding.feature.clone(),
        known_at: finding.known_at.map(|instant| instant.to_string()),
        used_at: finding.used_at.map(|instant| instant.to_string()),
        detail: refused.map(place),
        expected_gain: gains
            .iter()
            .map(|gain| ExpectedGain {
                model: gain.family.name(),
                gain: gain.gain,
            })
            .collect(),
        hint: refused.map_or_else(|| rule.hint().to_owned(), |error| error.hint.clone()),
    }
}

/// The lines of a source file that hold a pattern which often reads ahead: hints, never a verdict.
///
/// # Errors
/// [`StudyError`] when it is no text.
pub fn read_source_hints(path: &Path) -> Result<Vec<SourceHint>, StudyError> {
    Ok(source_hints(&read_text(path, SOURCE_LIMIT_BYTES)?))
}

#[cfg(test)]
mod tests {
    use super::super::config::{AdjustedFrom, LeakUniverse};
    use super::super::manifest_text::manifest_text;
    use super::*;
    use ktd_leakage::{Switch, switch_contract};

    fn manifest(text: &str) -> LeakManifest {
        LeakManifest::parse(text, "m.toml").unwrap()
    }

    fn rules(text: &str) -> Vec<String> {
        let mut rules: Vec<String> = check_manifest(&manifest(text))
            .into_iter()
            .map(|finding| finding.rule)
            .collect();
        rules.dedup();
        rules
    }

    fn own(switch: Switch) -> String {
        manifest_text(switch, 5, 3, (LeakUniverse::All, AdjustedFrom::Start))
    }

    #[test]
    fn a_manifest_of_our_own_says_the_contract_of_its_run() {
        for switch in Switch::ALL {
            for horizon in [5, 20] {
                let text = manifest_text(switch, horizon, 3, (LeakUniverse::All, AdjustedFrom::Start));
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
        let survivors = manifest_text(
            Switch::Clean,
            5,
            3,
            (LeakUniverse::Share(0.9), AdjustedFrom::Start),
        );
        assert_eq!(
            rules(&survivors),
            ["R9"],
            "names that lived are no universe of the day"
        );
        for finding in check_manifest(&manifest(&own(Switch::TempCenter))) {
            assert_eq!(finding.known_at.as_deref(), Some("the close 3 sessions after"));
            assert_eq!(finding.used_at.as_deref(), Some("the signal day's close"));
            assert!(
                finding
                    .expected_gain
                    .iter()
                    .any(|gain| gain.model == "ridge" && 5.0 < gain.gain)
            );
        }
    }

    /// The reference with one line changed.
    fn with(from: &str, to: &str) -> Vec<String> {
        let text = own(Switch::Clean);
        assert!(text.contains(from), "{from}");
        rules(&text.replacen(from, to, 1))
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
            let text = own(Switch::Clean).replacen(FEATURE, expression, 1);
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
        let text = own(Switch::Clean).replacen("$close/Ref($close,1)-1", "$close/Ref($close,one)-1", 1);
        let findings = check_manifest(&manifest(&text));
        assert_eq!((findings.len(), findings[0].class.as_str()), (1, "window"));
        assert!(findings[0].detail.as_deref().unwrap().contains("byte"));
    }

    #[test]
    fn what_is_no_manifest_is_refused_with_its_line() {
        let clean = own(Switch::Clean);
        let feature = "name = \"ret_5\"";
        for (from, to, line, part) in [
            ("purge_days = 6", "purge_days = -1", 6, "purge_days = -1"),
            ("purge_days = 6", "purge = 6", 6, "unknown field"),
            ("horizon_days = 5", "horizon_days = 0", 5, "horizon_days = 0"),
            (
                "signal_at = \"close\"",
                "signal_at = \"close plus three\"",
                3,
                "is no instant",
            ),
            ("fill_at = \"next_open\"", "fill_at = \"tomorrow\"", 4, "fill_at"),
            (feature, "name = \"ret_1\"", 17, "two features have the name"),
            (feature, "name = \" \"", 17, "is no name"),
            (
                feature,
                "name = \"ret_5\"\ncommand = [\"a\"]",
                17,
                "more than one",
            ),
            (
                feature,
                "name = \"ret_5\"\ntimeout_seconds = 3",
                17,
                "without `command`",
            ),
            ("\"train\"", "\"test\"", 7, "unknown variant"),
            (
                "peers_of = \"ret_5\"",
                "peers_of = \"nbr_ret_20\"",
                0,
                "is no feature",
            ),
            ("graph = \"trailing\"", "graph = \"none\"", 0, "needs a graph"),
            ("[protocol]", "", 0, "protocol"),
        ] {
            assert!(clean.contains(from), "{from}");
            let error = LeakManifest::parse(&clean.replacen(from, to, 1), "m.toml")
                .unwrap_err()
                .to_string();
            assert!(
                error.contains("m.toml, line ") && error.contains(part),
                "{to}: {error}"
            );
            assert!(
                line == 0 || error.contains(&format!("line {line}:")),
                "{to}: {error}"
            );
        }
    }
}
