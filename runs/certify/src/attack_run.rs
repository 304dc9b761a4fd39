//! The attackers that own the price database, put to a set of probes in parallel.

use super::answer_line::AnswerLine;
use super::probe_inputs::ProbeInputs;
use crate::CertifyError;
use ktd_io::parallel::in_parallel;
use ktd_masking::Numeric;
use ktd_probes::{Attackers, Database, Lesson, ProbeKind, ProbePlan, ProbeText};

/// Answers of each attacker, in the order of the probes.
pub type Answers = Vec<(&'static str, Vec<AnswerLine>)>;

/// Probes in order, of which no more than some are held.
pub type ProbeStream<'a> = Box<dyn Iterator<Item = Result<ProbeText, CertifyError>> + 'a>;

/// Run of the attackers of the database on one set of probes.
#[derive(Debug)]
pub struct AttackRun<'a> {
    /// Panel and threads.
    pub inputs: &'a ProbeInputs,
    /// The price database.
    pub database: &'a Database,
    /// How numbers are shown.
    pub numeric: Numeric,
    /// What the combination learns from, and how much.
    pub training: (ProbePlan, Vec<(ProbeKind, usize)>),
    /// Decides between equals.
    pub seed: u64,
}

impl AttackRun<'_> {
    /// Lets the attackers learn, study the whole set, and answer every probe of it. `probes` gives the set from its first probe,
    /// each time it is asked.
    ///
    /// # Errors
    /// [`CertifyError`] for a probe that cannot be read or made.
    pub fn answers<'p>(
        &self,
        probes: &dyn Fn() -> Result<ProbeStream<'p>, CertifyError>,
        advance: &dyn Fn(usize),
    ) -> Result<Answers, CertifyError> {
        let (inputs, database) = (self.inputs, self.database);
        let mut attackers = Attackers::new(database, self.numeric);
        let mut lessons: Vec<Lesson> = Vec::new();
        let (plan, wanted) = &self.training;
        let learned = inputs.made(plan, wanted.clone(), |probe, gold| {
            attackers.lesson(database, &probe.text(), &gold, self.seed)
        });
        for learned in learned {
            let learned = learned?;
            advance(learned.len());
            lessons.extend(learned.into_iter().flatten());
        }
        attackers.learn(&lessons);
        let mut failed = None;
        attackers.study(probes()?.map_while(|probe| probe.map_err(|error| failed = Some(error)).ok()));
        if let Some(error) = failed {
            return Err(error);
        }
        let mut answered = Attackers::NAMES.map(|name| (name, Vec::new()));
        let mut probes = probes()?;
        loop {
            let some: Result<Vec<ProbeText>, _> = probes.by_ref().take(inputs.at_once()).collect();
            let some = some?;
            if some.is_empty() {
                return Ok(answered.into());
            }
            let answers = in_parallel(&some, inputs.threads, |probe| {
                attackers.answer(database, probe, self.seed)
            });
            advance(some.len());
            for (probe, answers) in some.iter().zip(&answers) {
                for (place, (_, lines)) in answered.iter_mut().enumerate() {
                    let answer = answers.get(place).and_then(Option::as_ref);
                    let which = (probe.kind, probe.number);
                    lines.push(AnswerLine::of(&inputs.source.market, which, answer));
                }
            }
        }
    }
}
