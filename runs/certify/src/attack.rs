//! The ten attackers that own the price database, put to a set of probes in parallel.

use super::answer_line::AnswerLine;
use super::ground::{Ground, ProbeSet, Tick};
use ktd_io::parallel::in_parallel;
use ktd_masking::Numeric;
use ktd_probes::{Answer, Attackers, Database, DatabaseSource, Gold, Lesson, ProbeText};

/// The answers of each attacker, in the order of the probes.
pub type Answers = Vec<(&'static str, Vec<AnswerLine>)>;

/// The database attackers and what they look things up in.
#[derive(Debug, Clone, Copy)]
pub struct Siege<'a> {
    /// Panel and threads.
    pub ground: &'a Ground,
    /// The price database.
    pub database: &'a Database,
    /// Decides between equals.
    pub seed: u64,
}

/// All that the attackers look things up in.
#[must_use]
pub fn database(ground: &Ground) -> Database {
    Database::new(&DatabaseSource {
        market: &ground.source.market,
        factors: &ground.factors,
        toolbox: &ground.toolbox,
        rules: &ground.rules,
    })
}

impl Siege<'_> {
    /// Lets the attackers learn from `training`, study the whole set, and answer every probe of it.
    #[must_use]
    pub fn lay(
        &self,
        numeric: Numeric,
        training: &ProbeSet,
        probes: &[ProbeText],
        tick: Tick<'_>,
    ) -> Answers {
        let (database, threads) = (self.database, self.ground.threads);
        let mut attackers = Attackers::new(database, numeric);
        let pairs: Vec<(&ProbeText, &Gold)> = training.probes.iter().zip(&training.gold).collect();
        let lessons = in_parallel(&pairs, threads, |(probe, gold)| {
            let lesson = attackers.lesson(database, probe, gold, self.seed);
            tick();
            lesson
        });
        let lessons: Vec<Lesson> = lessons.into_iter().flatten().collect();
        attackers.learn(&lessons);
        attackers.study(probes);
        let answers = in_parallel(probes, threads, |probe| {
            let answers = attackers.answer(database, probe, self.seed);
            tick();
            answers
        });
        let line = |(probe, answers): (&ProbeText, &Vec<Option<Answer>>), place: usize| {
            let answer = answers.get(place).and_then(Option::as_ref);
            AnswerLine::of(&self.ground.source.market, (probe.kind, probe.number), answer)
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
