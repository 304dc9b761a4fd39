//! The ten attackers that own the price database, put to a set of probes in parallel.

use super::answer_line::AnswerLine;
use super::ground::{Ground, ProbeSet, Tick};
use crate::work::in_parallel;
use ktd_probes::{Answer, Attackers, Database, DatabaseSource, Gold, ProbeText};

/// The answers of each attacker, in the order of the probes.
pub type Answers = Vec<(&'static str, Vec<AnswerLine>)>;

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

/// Lets the attackers learn from `training`, study the whole set, and answer every probe of it. `seed` decides what is
/// left to chance.
#[must_use]
pub fn attack(
    ground: &Ground,
    database: &Database,
    training: ProbeSet,
    probes: &[ProbeText],
    seed: u64,
    tick: Tick<'_>,
) -> Answers {
    let training: Vec<(ProbeText, Gold)> = training.probes.into_iter().zip(training.gold).collect();
    let mut attackers = Attackers::train(database, &training);
    attackers.study(database, probes);
    let answers = in_parallel(probes, ground.threads, |probe| {
        let answers = attackers.answer(database, probe, seed);
        tick();
        answers
    });
    let market = &ground.source.market;
    let line = |(probe, answers): (&ProbeText, &Vec<Option<Answer>>), place: usize| {
        let answer = answers.get(place).and_then(Option::as_ref);
        AnswerLine::of(market, (probe.kind, probe.number), answer)
    };
    let named = Attackers::NAMES.into_iter().enumerate();
    named
        .map(|(place, name)| {
            let lines = probes.iter().zip(&answers).map(|pair| line(pair, place));
            (name, lines.collect())
        })
        .collect()
}
