//! Sets of probes with their answer keys and answers as files.

use super::answer_line::{self, AnswerLine};
use super::attack_run::{Answers, ProbeStream};
use super::gold_line::{self, GoldLine};
use super::paths::SetPaths;
use super::probe_inputs::ProbeSet;
use super::probe_line::{WrittenProbe, each_probe};
use super::set_record::StoredSet;
use super::workspace::ProbeWorkspace;
use crate::CertifyError;
use ktd_io::line_file::LineKind;
use ktd_masking::MaskSettings;
use ktd_probes::judge::ControlSet;
use ktd_probes::{Gold, ProbeKind, ProbePlan, ProbeText, controls};
use ktd_study::{Hands, StudyError};
use std::collections::BTreeMap;
use std::path::Path;

/// Probes that belong together, such as the steps of one episode, each with the line of its answer key.
type MadeProbes = Result<Vec<(ProbeText, GoldLine)>, CertifyError>;

/// Origin of a set's probes.
pub(crate) enum ProbeSource<'a> {
    /// A plan.
    Plan(&'a ProbePlan),
    /// Somebody else.
    Given(&'a ProbeSet),
}

/// Set of probes that is to be written.
pub(crate) struct SetToMake<'a> {
    pub(crate) workspace: &'a ProbeWorkspace,
    pub(crate) paths: &'a SetPaths,
    pub(crate) source: ProbeSource<'a>,
    /// Probes of each kind.
    pub(crate) counts: &'a (dyn Fn(ProbeKind) -> usize + Sync),
    pub(crate) mask: MaskSettings,
    pub(crate) joint_days: usize,
    /// The control that they are for.
    pub(crate) control: Option<ControlSet>,
}

impl SetToMake<'_> {
    /// Writes the probes by kind, and their answer keys apart; no more than some are held.
    pub(crate) fn write(&self, hands: &Hands<'_, ()>) -> Result<StoredSet, StudyError> {
        let mut stored = StoredSet::default();
        let mut gold = Vec::new();
        for kind in ProbeKind::ALL {
            let count = (self.counts)(kind);
            if count == 0 {
                continue;
            }
            let name = self.paths.probes(kind);
            let sha256 = hands.lines(&name, |sink| {
                for made in self.made(kind, count) {
                    let made = made?;
                    hands.advance(u64::try_from(made.len()).unwrap_or(u64::MAX));
                    for (probe, line) in made {
                        sink.push(&WrittenProbe::of(&probe)?)?;
                        gold.push(line);
                    }
                }
                Ok(())
            })?;
            stored.counts.insert(kind, count);
            stored.files.insert(name, sha256);
        }
        let write_gold =
            |sink: &mut ktd_study::LineSink<'_>| gold.iter().try_for_each(|line| sink.push(line));
        stored.gold_sha256 = hands.lines(self.paths.gold(), write_gold)?;
        Ok(stored)
    }

    fn made(&self, kind: ProbeKind, count: usize) -> Box<dyn Iterator<Item = MadeProbes> + '_> {
        let line = |probe: &ProbeText, gold: &Gold| {
            let terms = (self.mask, self.joint_days);
            self.workspace.gold_line(terms, probe, gold)
        };
        match self.source {
            ProbeSource::Plan(plan) => {
                let wanted = (0..count).map(|number| (kind, number)).collect();
                let market = &self.workspace.inputs.source.market;
                let keep = move |probe: ktd_probes::Probe, gold: Gold| {
                    let mut text = probe.text();
                    if self.control == Some(ControlSet::SortedAliases) {
                        let sorted = controls::sorted_aliases(market, plan, std::slice::from_ref(&text));
                        text = sorted.into_iter().next().unwrap_or(text);
                    }
                    let line = line(&text, &gold);
                    (text, line)
                };
                Box::new(self.workspace.inputs.made(plan, wanted, keep))
            }
            ProbeSource::Given(set) => {
                let both = set.probes.iter().zip(&set.gold);
                let own = both.filter(move |(probe, _)| probe.kind == kind);
                Box::new(own.map(move |(probe, gold)| Ok(vec![(probe.clone(), line(probe, gold))])))
            }
        }
    }
}

/// The probes of a set, in order, of which no more than one is held.
pub(crate) fn probe_stream(
    paths: &SetPaths,
    counts: &BTreeMap<ProbeKind, usize>,
) -> Result<ProbeStream<'static>, CertifyError> {
    let kinds = counts.iter().map(|(kind, count)| {
        let probes = each_probe(&paths.at(&paths.probes(*kind)), *kind)?;
        Ok((probes, *count))
    });
    let kinds: Vec<_> = kinds.collect::<Result<_, CertifyError>>()?;
    Ok(Box::new(
        kinds.into_iter().flat_map(|(probes, count)| probes.take(count)),
    ))
}

/// Reads the answer keys of a set, in order.
///
/// # Errors
/// [`CertifyError`] naming file and line.
pub(crate) fn load_gold(
    paths: &SetPaths,
    counts: &BTreeMap<ProbeKind, usize>,
) -> Result<Vec<GoldLine>, CertifyError> {
    let path = paths.at(paths.gold());
    let gold = read_gold(&path)?;
    gold_line::check_order(&path, &gold, counts)?;
    Ok(gold)
}

/// Reads answer keys.
///
/// # Errors
/// [`CertifyError`] naming file and line.
pub(crate) fn read_gold(path: &Path) -> Result<Vec<GoldLine>, CertifyError> {
    Ok(LineKind::Probes.open(path)?.values()?)
}

/// Writes the answers of attackers.
pub(crate) fn write_answers(
    hands: &Hands<'_, ()>,
    paths: &SetPaths,
    answers: &Answers,
) -> Result<(), StudyError> {
    for (attacker, lines) in answers {
        hands.lines(&paths.answers(attacker), |sink| {
            lines.iter().try_for_each(|line| sink.push(line))
        })?;
    }
    Ok(())
}

/// Reads an attacker's answers to the probes of these keys, from a file of a set.
///
/// # Errors
/// [`CertifyError`] naming file and line.
pub(crate) fn load_answers(path: &Path, gold: &[GoldLine]) -> Result<Vec<AnswerLine>, CertifyError> {
    let answers: Vec<AnswerLine> = LineKind::Probes.open(path)?.values()?;
    answer_line::check_order(path, &answers, gold)?;
    Ok(answers)
}
