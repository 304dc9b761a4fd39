//! The attackers that own the price database, put to a set of probes in parallel.

use super::answer_line::AnswerLine;
use super::probe_inputs::{ProbeInputs, ProbeSet};
use super::progress::ProgressFn;
use ktd_io::parallel::in_parallel;
use ktd_masking::Numeric;
use ktd_probes::{Attackers, Database, DatabaseSource, Gold, Lesson, ProbeAnswer, ProbeText};

/// Answers of each attacker, in the order of the probes.
pub type Answers = Vec<(&'static str, Vec<AnswerLine>)>;

/// Run of the attackers of the database on one set of probes.
#[derive(Debug, Clone, Copy)]
pub struct AttackRun<'a> {
    /// Panel and threads.
    pub inputs: &'a ProbeInputs,
    /// The price database.
    pub database: &'a Database,
    /// Decides between equals.
    pub seed: u64,
}

/// All that the attackers look things up in.
#[must_use]
pub(crate) fn database(inputs: &ProbeInputs) -> Database {
    Database::new(&DatabaseSource {
        market: &inputs.source.market,
        factors: &inputs.factors,
        toolbox: &inputs.toolbox,
        rules: &inputs.rules,
    })
}

impl AttackRun<'_> {
    /// Lets the attackers learn from `training`, study the whole set, and answer every probe of it.
    #[must_use]
    pub fn run(
        &self,
        numeric: Numeric,
        training: &ProbeSet,
        probes: &[ProbeText],
        progress: ProgressFn<'_>,
    ) -> Answers {
        let (database, threads) = (self.database, self.inputs.threads);
        let mut attackers = Attackers::new(database, numeric);
        let pairs: Vec<(&ProbeText, &Gold)> = training.probes.iter().zip(&training.gold).collect();
        let lessons = in_parallel(&pairs, threads, |(probe, gold)| {
            let lesson = attackers.lesson(database, probe, gold, self.seed);
            progress();
            lesson
        });
        let lessons: Vec<Lesson> = lessons.into_iter().flatten().collect();
        attackers.learn(&lessons);
        attackers.study(probes);
        let answers = in_parallel(probes, threads, |probe| {
            let answers = attackers.answer(database, probe, self.seed);
            progress();
            answers
        });
        let line = |(probe, answers): (&ProbeText, &Vec<Option<ProbeAnswer>>), place: usize| {
            let answer = answers.get(place).and_then(Option::as_ref);
            AnswerLine::of(&self.inputs.source.market, (probe.kind, probe.number), answer)
        };
        let named = Attackers::NAMES.into_iter().enumerate();
        named
            .map(|(place, name)| {
                let lines = probes.iter().zip(&answers).map(|pair| line(pair, place));
                (name, lines.collect())
            })
            .collect()
    }
}
