//! The language models of a file, put to the probes under test and to their control.

use super::answer_line::AnswerLine;
use super::certificate::{AttackerRecord, Counted, Knowledge};
use super::control::Control;
use super::count::count;
use super::ground::{Ground, Tick};
use super::paths::SetPaths;
use super::session::{CertifyRun, PROBES};
use super::set_record::SetRecord;
use super::store::{load_gold, store_language};
use crate::CertifyError;
use crate::language_attackers::{Attacker, LineUp, Sitting, Told};
use ktd_experiment::config::AgentConfig;

impl CertifyRun {
    /// The language models of the file, and the probes under test as they may be shown to them.
    ///
    /// # Errors
    /// [`CertifyError`] for an agent that cannot be asked, and for probes of somebody else.
    pub fn sitting(&self, tick: Tick<'_>) -> Result<Sitting, CertifyError> {
        if self.given.is_some() {
            return Err(CertifyError::input(
                "language models cannot be asked about probes of somebody else: what is said to them is made by the mask alone",
                "take `[language]` out, or leave `--probes` out",
            ));
        }
        self.seated(PROBES, tick)
    }

    /// The language models of the file, and the probes of a set: those under test, or of the control that shows everything.
    fn seated(&self, set: &'static str, tick: Tick<'_>) -> Result<Sitting, CertifyError> {
        let (source, plan, key) = self.prepare()?;
        let ground = Ground::new(source, &plan, key, self.threads)?;
        let (mask, probes) = if set == PROBES {
            let mask = plan.mask()?;
            let probing = plan.probing(mask, ground.key.clone(), PROBES);
            (
                mask,
                ground.make_shown(&probing, &|kind| plan.probes.of(kind), tick)?,
            )
        } else {
            let probing = BRIGHT.probing(&ground, &plan);
            let only = BRIGHT.only(plan.control_probes);
            (BRIGHT.mask(), ground.make_shown(&probing, &only, tick)?)
        };
        let language = self.config.language.clone();
        let market = &ground.source.market;
        Ok(Sitting {
            line_up: LineUp::new(language, market, plan.seed, &self.base, self.paths.root())?,
            set,
            mask,
            probes,
        })
    }

    /// The language models of the file.
    #[must_use]
    pub fn language_attackers(&self) -> Vec<AttackerRecord> {
        let attacker = |agent: &AgentConfig| AttackerRecord {
            name: agent.id.clone(),
            knows: Knowledge::Language,
            model: Some(match agent.model().and_then(|model| model.vendor.as_deref()) {
                Some(vendor) => format!("{vendor}/{}", agent.model_name()),
                None => agent.model_name().to_owned(),
            }),
        };
        self.config.language.agents.iter().map(attacker).collect()
    }

    /// Asks every language model of the file what a control shows openly, and keeps the answers.
    ///
    /// # Errors
    /// [`CertifyError`] when a model could not be asked to its end: the same call continues.
    pub async fn ask_control(&self, told: Told<'_>) -> Result<(), CertifyError> {
        if self.config.language.agents.is_empty() {
            return Ok(());
        }
        let sitting = self.seated(BRIGHT.label(), &|| {})?;
        for attacker in sitting.line_up.attackers() {
            put(&sitting, attacker, &self.paths.control(BRIGHT.label()), told).await?;
        }
        Ok(())
    }

    /// Asks every language model of the file, keeps the answers beside those of the database attackers, and counts them.
    ///
    /// # Errors
    /// [`CertifyError`] when a model could not be asked to its end: the same call continues.
    pub async fn ask_language(&self, record: &SetRecord, told: Told<'_>) -> Result<Counted, CertifyError> {
        let mut counted = Counted::default();
        if self.config.language.agents.is_empty() {
            return Ok(counted);
        }
        let sitting = self.sitting(&|| {})?;
        let probed = self.paths.probed();
        let gold = load_gold(&probed, &record.by_kind())?;
        for attacker in sitting.line_up.attackers() {
            let lines = put(&sitting, attacker, &probed, told).await?;
            let (counts, silences) = count(attacker.id(), &gold, &lines, record.plan.joint_days);
            counted.counts.extend(counts);
            counted.silences.extend(silences);
        }
        Ok(counted)
    }
}

/// The control of language models.
const BRIGHT: Control = Control::BrightDay;

/// Asks one model and keeps its answers among those of a set.
async fn put(
    sitting: &Sitting,
    attacker: &Attacker,
    paths: &SetPaths,
    told: Told<'_>,
) -> Result<Vec<AnswerLine>, CertifyError> {
    let line_up = &sitting.line_up;
    let answers = line_up.ask_all(attacker, &sitting.questions(), told).await?;
    let line = |answer| AnswerLine::of_language(line_up.market(), answer);
    let lines: Vec<AnswerLine> = answers.iter().map(line).collect();
    store_language(paths, attacker.id(), &lines)?;
    Ok(lines)
}
