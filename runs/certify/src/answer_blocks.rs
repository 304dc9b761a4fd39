//! The attackers of the database on the probes under test: what they learn, and blocks of answers, which workers share.

use super::answer_line::check_order;
use super::attack_run::{ProbeAnswers, by_attacker};
use super::compose::count;
use super::kind::{of_another_unit, set_of};
use super::sets::{load_gold, probe_stream, write_answers};
use super::units::{CertificateFound, CertificateUnit};
use super::world::MaskWorld;
use ktd_io::line_file::LineKind;
use ktd_probes::LearnedWeights;
use ktd_study::{Hands, Planned, StudyError, UnitId};

/// The unit of what the attackers learn.
pub(crate) const LESSONS: &str = "lessons";

/// Probes of a block, where a file does not say: one and a half minutes of a core.
const BLOCK_PROBES: usize = 2_000;

impl MaskWorld {
    /// Blocks of the probes under test.
    fn answer_blocks(&self) -> usize {
        self.steps_of_set().div_ceil(self.block_probes()).max(1)
    }

    fn block_probes(&self) -> usize {
        self.keys.block_probes.unwrap_or(BLOCK_PROBES).max(1)
    }

    /// The attackers' units on the probes under test, which come after others: what they learn, each block, and all answers.
    pub(crate) fn planned_answers(
        &self,
        training: usize,
        before: &[UnitId],
    ) -> Vec<Planned<CertificateUnit>> {
        let steps = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let lessons = Planned::line(LESSONS.to_owned(), CertificateUnit::Lessons);
        let mut plan = vec![lessons.steps(steps(training)).after(before.to_vec())];
        let (all, of_block) = (self.steps_of_set(), self.block_probes());
        let mut after = before.to_vec();
        after.push(UnitId::from(LESSONS.to_owned()));
        for block in 0..self.answer_blocks() {
            let unit = Planned::line(
                format!("answers.{block}"),
                CertificateUnit::AnswerBlock { block, of_block },
            );
            let count = all.saturating_sub(block * of_block).min(of_block);
            plan.push(unit.steps(steps(count)).after(after.clone()));
        }
        after.extend(plan.iter().skip(1).map(|unit| unit.id.clone()));
        let answers = Planned::line("answers".to_owned(), CertificateUnit::Answers);
        plan.push(answers.steps(0).after(after));
        plan
    }

    pub(crate) fn lessons(&self, hands: &Hands<'_, ()>) -> Result<CertificateFound, StudyError> {
        let set = set_of(hands)?;
        let attack = self.workspace()?.attack(&self.plan, &|kind| set.count(kind));
        let weights = attack.learned(&|done| advance(hands, done))?;
        Ok(CertificateFound::Learned { weights })
    }

    pub(crate) fn answer_block(
        &self,
        (block, of_block): (usize, usize),
        hands: &Hands<'_, ()>,
    ) -> Result<CertificateFound, StudyError> {
        let (set, paths) = (set_of(hands)?, self.paths.probed());
        let kinds = set.by_kind();
        let first = block * of_block;
        // Of probes that somebody else made nobody knows how many there are before they are read.
        let is_last = block + 1 == self.answer_blocks();
        let places = first..if is_last { usize::MAX } else { first + of_block };
        let sha256 = hands.lines(&paths.answer_block(block), |sink| {
            let attack = self.workspace()?.attack(&self.plan, &|kind| set.count(kind));
            let probes = || probe_stream(&paths, &kinds);
            let done = |done| advance(hands, done);
            attack.answers_to(places, (&probes, weights_of(hands)?), &done, |answers| {
                sink.push(&answers)
            })
        })?;
        Ok(CertificateFound::Answered { sha256 })
    }

    pub(crate) fn answers(&self, hands: &Hands<'_, ()>) -> Result<CertificateFound, StudyError> {
        let (set, paths) = (set_of(hands)?, self.paths.probed());
        let mut answered: Vec<ProbeAnswers> = Vec::new();
        for block in 0..self.answer_blocks() {
            let path = paths.at(&paths.answer_block(block));
            answered.extend(LineKind::Probes.open(&path)?.values::<ProbeAnswers>()?);
        }
        let answers = by_attacker(answered);
        write_answers(hands, &paths, &answers)?;
        let gold = load_gold(&paths, &set.by_kind())?;
        let (mut recovered, mut unanswered) = (Vec::new(), Vec::new());
        for (attacker, lines) in &answers {
            check_order(&paths.at(&paths.answers(attacker)), lines, &gold)?;
            let counted = count(attacker, &gold, lines, &self.plan)?;
            recovered.extend(counted.recovered);
            unanswered.extend(counted.unanswered);
        }
        Ok(CertificateFound::Counted {
            control: None,
            recovered,
            unanswered,
        })
    }
}

fn advance(hands: &Hands<'_, ()>, done: usize) {
    hands.advance(u64::try_from(done).unwrap_or(u64::MAX));
}

fn weights_of(hands: &Hands<'_, ()>) -> Result<LearnedWeights, StudyError> {
    let CertificateFound::Learned { weights } = hands.found(&UnitId::from(LESSONS.to_owned()))? else {
        return Err(of_another_unit());
    };
    Ok(weights)
}
