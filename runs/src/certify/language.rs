//! The language models of a file, put to the probes under test.

use super::answer_line::AnswerLine;
use super::certificate::Counted;
use super::count::count;
use super::ground::{Ground, Tick};
use super::session::{CertifyRun, PROBES};
use super::set_record::SetRecord;
use super::store::{load_gold, store_language};
use crate::attackers::{LineUp, Sitting, Told};
use crate::error::RunError;

impl CertifyRun {
    /// The language models of the file, and the probes under test as they may be shown to them.
    ///
    /// # Errors
    /// [`RunError`] for an agent that cannot be asked, and for probes of somebody else.
    pub fn sitting(&self, tick: Tick<'_>) -> Result<Sitting, RunError> {
        if self.given.is_some() {
            return Err(RunError::input(
                "language models cannot be asked about probes of somebody else: what is said to them is made by the mask alone",
                "take `[language]` out, or leave `--probes` out",
            ));
        }
        let (source, plan, key) = self.prepare()?;
        let ground = Ground::new(source, &plan, key, self.threads)?;
        let mask = plan.mask()?;
        let probing = plan.probing(mask, ground.key.clone(), PROBES);
        let probes = ground.make_shown(&probing, &|kind| plan.probes.of(kind), tick)?;
        let language = self.config.language.clone();
        let market = &ground.source.market;
        Ok(Sitting {
            line_up: LineUp::new(language, market, plan.seed, &self.base, self.paths.root())?,
            set: PROBES,
            mask,
            probes,
        })
    }

    /// Asks every language model of the file, keeps the answers beside those of the database attackers, and counts them.
    ///
    /// # Errors
    /// [`RunError`] when a model could not be asked to its end: the same call continues.
    pub async fn ask_language(&self, record: &SetRecord, told: Told<'_>) -> Result<Counted, RunError> {
        let mut counted = Counted::default();
        if self.config.language.agents.is_empty() {
            return Ok(counted);
        }
        let sitting = self.sitting(&|| {})?;
        let market = sitting.line_up.market();
        let probed = self.paths.probed();
        let gold = load_gold(&probed, &record.by_kind())?;
        for attacker in sitting.line_up.attackers() {
            let answers = sitting
                .line_up
                .ask_all(attacker, &sitting.questions(), told)
                .await?;
            let lines: Vec<AnswerLine> = answers
                .iter()
                .map(|answer| AnswerLine::of_language(market, answer))
                .collect();
            store_language(&probed, attacker.id(), &lines)?;
            let (counts, silences) = count(attacker.id(), &gold, &lines, record.plan.joint_days);
            counted.counts.extend(counts);
            counted.silences.extend(silences);
        }
        Ok(counted)
    }
}
