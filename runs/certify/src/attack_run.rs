//! The attackers that own the price database, put to a set of probes in parallel.

use super::answer_line::AnswerLine;
use super::probe_inputs::ProbeInputs;
use crate::CertifyError;
use ktd_io::parallel::in_parallel;
use ktd_masking::Numeric;
use ktd_probes::{Attackers, Database, LearnedWeights, Lesson, ProbeKind, ProbePlan, ProbeText};
use std::ops::Range;

/// Answers of each attacker, in the order of the probes.
pub type Answers = Vec<(&'static str, Vec<AnswerLine>)>;

/// Answers of all attackers to one probe, in the order of [`Attackers::NAMES`].
pub type ProbeAnswers = Vec<AnswerLine>;

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
        let weights = self.learned(advance)?;
        let mut answered = Vec::new();
        let keep = |answers: ProbeAnswers| {
            answered.push(answers);
            Ok::<(), CertifyError>(())
        };
        self.answers_to(0..usize::MAX, (probes, weights), advance, keep)?;
        Ok(by_attacker(answered))
    }

    /// What the combination learns from probes of other episodes.
    ///
    /// # Errors
    /// [`CertifyError`] for a probe that cannot be made.
    pub fn learned(&self, advance: &dyn Fn(usize)) -> Result<LearnedWeights, CertifyError> {
        let (inputs, database) = (self.inputs, self.database);
        let attackers = Attackers::new(database, self.numeric);
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
        Ok(LearnedWeights::learn(&lessons))
    }

    /// What attackers who learned this, and have seen the whole set, answer to the probes at some of its places; `keep` takes the
    /// answers to each, in order.
    ///
    /// # Errors
    /// [`CertifyError`] for a probe that cannot be read, and those of `keep`.
    pub fn answers_to<'p, E: From<CertifyError>>(
        &self,
        places: Range<usize>,
        (probes, weights): (&dyn Fn() -> Result<ProbeStream<'p>, CertifyError>, LearnedWeights),
        advance: &dyn Fn(usize),
        mut keep: impl FnMut(ProbeAnswers) -> Result<(), E>,
    ) -> Result<(), E> {
        let (inputs, database) = (self.inputs, self.database);
        let mut attackers = Attackers::new(database, self.numeric);
        attackers.teach(weights);
        let mut failed = None;
        attackers.study(probes()?.map_while(|probe| probe.map_err(|error| failed = Some(error)).ok()));
        if let Some(error) = failed {
            return Err(error.into());
        }
        let probes = probes()?.enumerate().take_while(|(place, _)| *place < places.end);
        // What cannot be read among those before is no end of the set.
        let mut probes = probes
            .filter(|(place, probe)| places.start <= *place || probe.is_err())
            .map(|(_, probe)| probe);
        loop {
            let some: Result<Vec<ProbeText>, _> = probes.by_ref().take(inputs.at_once()).collect();
            let some = some?;
            if some.is_empty() {
                return Ok(());
            }
            let answers = in_parallel(&some, inputs.threads, |probe| {
                attackers.answer(database, probe, self.seed)
            });
            advance(some.len());
            for (probe, answers) in some.iter().zip(&answers) {
                let line = |place| {
                    let answer = answers.get(place).and_then(Option::as_ref);
                    AnswerLine::of(&inputs.source.market, (probe.kind, probe.number), answer)
                };
                keep((0..Attackers::NAMES.len()).map(line).collect())?;
            }
        }
    }
}

/// Answers to probe after probe, by attacker.
#[must_use]
pub(crate) fn by_attacker(answered: impl IntoIterator<Item = ProbeAnswers>) -> Answers {
    let mut all = Attackers::NAMES.map(|name| (name, Vec::new()));
    for answers in answered {
        for ((_, own), line) in all.iter_mut().zip(answers) {
            own.push(line);
        }
    }
    all.into()
}
