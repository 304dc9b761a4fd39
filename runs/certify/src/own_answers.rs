//! What answers of a program of somebody's own recover of the probes of a set: counted as those of the attackers here, beside them,
//! and part of no certificate.

use super::answer_line::{AnswerLine, RecordedGuess};
use super::attack_tables::CountedAttacks;
use super::attacker_record::{AttackerRecord, Knowledge, database_attackers};
use super::certificate::rule;
use super::compose::count;
use super::gold_line::GoldLine;
use super::paths::CertifyPaths;
use super::set_record::SetRecord;
use super::sets::{load_answers, load_gold};
use crate::{CertificateStudy, CertifyError};
use ktd_io::line_file::LineKind;
use ktd_probes::ProbeKind;
use ktd_probes::judge::{RecoveryRate, UnansweredCount};
use ktd_study::{Report, Section, Shown, recorded_keys};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What was recovered by whom of the probes of a set.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct CountedAnswers {
    /// What each recovered of each question, with its interval: those of the files first, then the attackers of the set.
    pub figures: Vec<RecoveryRate>,
    /// Probes without an answer.
    pub unanswered: Vec<UnansweredCount>,
}

/// Counts files of answers to the probes of a study, each by the name of its file, beside the attackers that were put to them.
///
/// # Errors
/// [`CertifyError`] naming file and line, and for a folder without probes.
pub fn count_answers(root: &Path, files: &[PathBuf]) -> Result<(CountedAnswers, Report), CertifyError> {
    let keys = recorded_keys::<CertificateStudy>(root)?;
    let paths = CertifyPaths::new(root);
    let (record, probed) = (SetRecord::read(&paths.set_record())?, paths.probed());
    let gold = load_gold(&probed, &record.by_kind())?;
    let mut attackers: Vec<AttackerRecord> = Vec::new();
    let mut counts = CountedAnswers {
        figures: Vec::new(),
        unanswered: Vec::new(),
    };
    let mut recovered = Vec::new();
    let own = files.iter().map(|path| (name_of(path), path.clone(), true));
    let known = database_attackers().into_iter();
    let known = known.map(|attacker| {
        let path = probed.at(&probed.answers(&attacker.name));
        (attacker.name, path, false)
    });
    // A set that was not attacked has the answers of nobody.
    for (name, path, is_own) in own.chain(known.filter(|(_, path, _)| path.exists())) {
        if attackers.iter().any(|attacker| attacker.name == name) {
            return Err(CertifyError::input(
                format!("{}: there are answers of {name} already", path.display()),
                "each file of answers counts under its own name, and an attacker of the set keeps its own: rename the file",
            ));
        }
        let answers = if is_own {
            answers_in_order(&path, &gold)?
        } else {
            load_answers(&path, &gold)?
        };
        let found = count(&name, &gold, &answers, &record.plan)?;
        recovered.extend(found.recovered);
        counts.unanswered.extend(found.unanswered);
        attackers.push(AttackerRecord {
            name,
            knows: Knowledge::Database,
            model: None,
        });
    }
    let rule = rule(&record, keys.criteria(), &attackers);
    let figures: Result<_, _> = recovered.iter().map(|count| rule.rate(count)).collect();
    counts.figures = figures?;
    let names: Vec<String> = files.iter().map(|path| name_of(path)).collect();
    let report = report(&keys.name, &names, &counts);
    Ok((counts, report))
}

/// `mine` of `mine.jsonl.zst`.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

/// A line a probe in the order of the keys, whatever the order of the file: a probe that it leaves out is unanswered.
fn answers_in_order(path: &Path, gold: &[GoldLine]) -> Result<Vec<AnswerLine>, CertifyError> {
    let mut given: BTreeMap<(ProbeKind, usize), AnswerLine> = BTreeMap::new();
    let lines: Vec<AnswerLine> = LineKind::Probes.open(path)?.values()?;
    for (place, line) in lines.into_iter().enumerate() {
        let told = |what: &str| format!("{}: line {}: {what}", path.display(), place + 1);
        let has_no_place = |answer: &RecordedGuess| answer.day.is_some() && answer.place.is_none();
        if line.answer.as_ref().is_some_and(has_no_place) {
            return Err(CertifyError::input(
                told("its day has no place"),
                "days are compared by `place`, the day's place in the panel's calendar, from 0: write it beside `day`",
            ));
        }
        if given.insert((line.kind, line.number), line).is_some() {
            return Err(CertifyError::input(
                told("its probe is answered twice"),
                "write one line a probe",
            ));
        }
    }
    let in_order = gold.iter().map(|gold| {
        let own = given.remove(&(gold.kind, gold.number));
        own.unwrap_or(AnswerLine {
            kind: gold.kind,
            number: gold.number,
            answer: None,
            reason: None,
        })
    });
    let in_order: Vec<AnswerLine> = in_order.collect();
    match given.first_key_value() {
        None => Ok(in_order),
        Some(((kind, number), _)) => Err(CertifyError::input(
            format!("{}: no {} probe {number} was put", path.display(), kind.label()),
            "answer the probes of this set: `kind` and `number` are those of its lines, from 0",
        )),
    }
}

fn report(title: &str, names: &[String], counts: &CountedAnswers) -> Report {
    let attacks = CountedAttacks {
        figures: &counts.figures,
        unanswered: &counts.unanswered,
    };
    let verdict = attacks
        .too_much()
        .unwrap_or_else(|| "nothing is shown to be recovered above what may be".to_owned());
    Report {
        title: title.to_owned(),
        verdict: format!(
            "{verdict}; the answers of {} are counted beside the attackers of the set, and no certificate is of them",
            names.join(" and ")
        ),
        sections: vec![attacks.add_to(Section::new("What was recovered"), Shown::Everywhere)],
        ..Report::default()
    }
}
