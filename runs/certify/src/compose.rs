//! From the files of a directory to a certificate; no panel is needed.

use super::answer_line::AnswerLine;
use super::attacker_record::{AttackerRecord, Knowledge, expected_recoveries};
use super::attempts::AttemptCounts;
use super::certificate::{Certificate, CertificateBasis};
use super::files;
use super::gold_line::GoldLine;
use super::models_asked::models_asked;
use super::paths::CertifyPaths;
use super::set_plan::SetPlan;
use super::set_record::{Origin, SetRecord};
use super::sets::{load_answers, load_gold};
use crate::CertifyError;
use ktd_probes::judge::{
    AcceptanceCriteria, AttackCounts, AttackerCounts, ControlSet, Counted, ExpectedRecovery, RecoveryCount,
};
use ktd_probes::{ProbeKind, given_away_of};
use std::collections::BTreeMap;

/// The counts of one attacker, kind by kind in the order of tables.
///
/// # Errors
/// [`CertifyError::Statistics`] for a chance that is no share.
pub(crate) fn count(
    attacker: &str,
    gold: &[GoldLine],
    answers: &[AnswerLine],
    plan: &SetPlan,
) -> Result<Counted, CertifyError> {
    let mut counts = AttackerCounts::new(attacker, plan.joint_days);
    for (gold, answer) in gold.iter().zip(answers) {
        let of = (gold.kind, gold.stretch, answer.named_stretch(&plan.stretches));
        counts.add(of, &answer.compare(gold), (&gold.chance, &gold.blind));
    }
    Ok(counts.finish()?)
}

/// What an attacker recovered of the probes with known stocks, by how many are known. Of probes that were given nobody knows.
fn count_known(
    attacker: &str,
    gold: &[GoldLine],
    answers: &[AnswerLine],
    record: &SetRecord,
) -> Result<BTreeMap<usize, Vec<RecoveryCount>>, CertifyError> {
    let plan = &record.plan;
    let mut by_stocks: BTreeMap<usize, AttackerCounts<'_>> = BTreeMap::new();
    let known = gold
        .iter()
        .zip(answers)
        .filter(|(line, _)| line.kind == ProbeKind::AskedKnown && record.probes == Origin::Made);
    for (line, answer) in known {
        by_stocks
            .entry(given_away_of(&plan.given_away, line.number))
            .or_insert_with(|| AttackerCounts::new(attacker, plan.joint_days))
            .add(
                (line.kind, line.stretch, answer.named_stretch(&plan.stretches)),
                &answer.compare(line),
                (&line.chance, &line.blind),
            );
    }
    let finished = by_stocks.into_iter();
    finished
        .map(|(stocks, counts)| Ok((stocks, counts.finish()?.recovered)))
        .collect()
}

/// What these attackers recovered of the probes under test, from the files of a directory alone.
///
/// # Errors
/// [`CertifyError`] naming the file and line that is missing or damaged.
pub(crate) fn count_probes(
    paths: &CertifyPaths,
    record: &SetRecord,
    attackers: &[AttackerRecord],
) -> Result<AttackCounts, CertifyError> {
    let probed = paths.probed();
    let gold = load_gold(&probed, &record.by_kind())?;
    let mut counted = AttackCounts {
        population: record.window_population(),
        ..AttackCounts::default()
    };
    for AttackerRecord { name, knows, .. } in attackers {
        let own = match knows {
            Knowledge::Database => probed.answers(name),
            Knowledge::Language => probed.asked_answers(name),
        };
        let answers = load_answers(&probed.at(&own), &gold)?;
        if *knows == Knowledge::Database {
            for (stocks, counts) in count_known(name, &gold, &answers, record)? {
                counted.known.entry(stocks).or_default().extend(counts);
            }
        }
        let own = count(name, &gold, &answers, &record.plan)?;
        counted.recovered.extend(own.recovered);
        counted.unanswered.extend(own.unanswered);
        counted.windows.extend(own.windows);
    }
    Ok(counted)
}

/// The certificate against these attackers, at so many attempts, that follows from the files of a directory; no panel is
/// needed.
///
/// # Errors
/// [`CertifyError`] naming the file and line that is missing or damaged.
pub(crate) fn compose(
    paths: &CertifyPaths,
    criteria: AcceptanceCriteria,
    attackers: Vec<AttackerRecord>,
    attempts: AttemptCounts,
) -> Result<Certificate, CertifyError> {
    let record = SetRecord::read(&paths.set_record())?;
    let mut counted = count_probes(paths, &record, &attackers)?;
    for (attacker, expected) in expected_recoveries(&attackers, &record) {
        let count = count_control(paths, (attacker, &expected), &record.plan)?;
        counted.controls.push((expected, count));
    }
    let files = files::hashes(paths, &record, &attackers)?;
    let basis = CertificateBasis {
        models: models_asked(paths, &attackers, &counted.unanswered)?,
        set: record,
        criteria,
        attackers,
        attempts,
        files,
    };
    Certificate::judge(basis, &counted)
}

fn count_control(
    paths: &CertifyPaths,
    (attacker, expected): (&str, &ExpectedRecovery),
    plan: &SetPlan,
) -> Result<RecoveryCount, CertifyError> {
    let set = paths.control(expected.control.label());
    let kinds = BTreeMap::from([(
        expected.control.kind(),
        expected.control.probes(plan.control_probes),
    )]);
    let gold = load_gold(&set, &kinds)?;
    let own = if expected.control == ControlSet::BrightDay {
        set.asked_answers(attacker)
    } else {
        set.answers(attacker)
    };
    let answers = load_answers(&set.at(&own), &gold)?;
    let counts = count(attacker, &gold, &answers, plan)?.recovered;
    let mut counts = counts.into_iter();
    counts
        .find(|count| count.measure == expected.measure)
        .ok_or_else(|| {
            let what = format!("nothing in it is asked about {}", expected.measure.label());
            CertifyError::damaged(&set.at(set.gold()), what)
        })
}
