//! The language models of a file, put to the probes under test and to their control.

use super::answer_line::AnswerLine;
use super::attacker_record::{AttackerRecord, Knowledge, database_attackers};
use super::compose::count;
use super::control_probes;
use super::paths::{PROBES, SetPaths};
use super::probe_inputs::ProbeInputs;
use super::progress::ProgressFn;
use super::run::CertifyRun;
use super::set_record::SetRecord;
use super::store::{load_gold, store_language};
use crate::CertifyError;
use crate::language_attackers::{LanguageAttackers, ProbeBatch};
use ktd_client::AskedModel;
use ktd_experiment::config::AgentConfig;
use ktd_probes::judge::{AttackCounts, ControlSet};

impl CertifyRun {
    /// The language models of the file, and the probes under test as they may be shown to them.
    ///
    /// # Errors
    /// [`CertifyError`] for an agent that cannot be asked, and for probes of somebody else.
    pub fn probe_batch(&self, progress: ProgressFn<'_>) -> Result<ProbeBatch, CertifyError> {
        if self.given.is_some() {
            return Err(CertifyError::input(
                "language models cannot be asked about probes of somebody else: what they read is made by the mask alone",
                "remove `[language]`, or leave `--probes` out",
            ));
        }
        self.batch_of(PROBES, progress)
    }

    /// The language models of the file, and the probes of a set: those under test, or of the control that shows everything.
    fn batch_of(&self, set: &'static str, progress: ProgressFn<'_>) -> Result<ProbeBatch, CertifyError> {
        let (source, plan, key) = self.prepare()?;
        let inputs = ProbeInputs::new(source, &plan, key, self.threads)?;
        let (mask, probes) = if set == PROBES {
            let mask = plan.mask();
            let probing = plan.probing(mask, inputs.key.clone(), PROBES);
            (
                mask,
                inputs.make_shown(&probing, &|kind| plan.probes.of(kind), progress)?,
            )
        } else {
            let probing = control_probes::plan_of(BRIGHT, &inputs, &plan);
            let only = control_probes::only(BRIGHT, plan.control_probes);
            (BRIGHT.mask(), inputs.make_shown(&probing, &only, progress)?)
        };
        let language = self.config.language.clone();
        let market = &inputs.source.market;
        Ok(ProbeBatch {
            attackers: LanguageAttackers::new(language, market, plan.seed, &self.base, self.paths.root())?,
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

    /// Everybody who is asked: the attackers of the database, and the language models of the file.
    #[must_use]
    pub fn attackers(&self) -> Vec<AttackerRecord> {
        [database_attackers(), self.language_attackers()].concat()
    }

    /// Asks every language model of the file what a control shows openly, and keeps the answers.
    ///
    /// # Errors
    /// [`CertifyError`] when a model could not be asked to its end: the same call continues.
    pub async fn ask_control(&self, progress: ProgressFn<'_>) -> Result<(), CertifyError> {
        if self.config.language.agents.is_empty() {
            return Ok(());
        }
        let batch = self.batch_of(BRIGHT.label(), &|| {})?;
        for attacker in batch.attackers.attackers() {
            put(&batch, attacker, &self.paths.control(BRIGHT.label()), progress).await?;
        }
        Ok(())
    }

    /// Asks every language model of the file, keeps the answers beside those of the database attackers, and counts them.
    ///
    /// # Errors
    /// [`CertifyError`] when a model could not be asked to its end: the same call continues.
    pub async fn ask_language(
        &self,
        record: &SetRecord,
        progress: ProgressFn<'_>,
    ) -> Result<AttackCounts, CertifyError> {
        let mut counted = AttackCounts::default();
        if self.config.language.agents.is_empty() {
            return Ok(counted);
        }
        let batch = self.probe_batch(&|| {})?;
        let probed = self.paths.probed();
        let gold = load_gold(&probed, &record.by_kind())?;
        for attacker in batch.attackers.attackers() {
            let lines = put(&batch, attacker, &probed, progress).await?;
            let (recovered, unanswered) = count(attacker.id(), &gold, &lines, record.plan.joint_days);
            counted.recovered.extend(recovered);
            counted.unanswered.extend(unanswered);
        }
        Ok(counted)
    }
}

/// The control of language models.
const BRIGHT: ControlSet = ControlSet::BrightDay;

/// Asks one model and keeps its answers among those of a set.
async fn put(
    batch: &ProbeBatch,
    attacker: &AskedModel,
    paths: &SetPaths,
    progress: ProgressFn<'_>,
) -> Result<Vec<AnswerLine>, CertifyError> {
    let attackers = &batch.attackers;
    let answers = attackers.ask_all(attacker, &batch.questions(), progress).await?;
    let line = |answer| AnswerLine::of_language(attackers.market(), answer);
    let lines: Vec<AnswerLine> = answers.iter().map(line).collect();
    store_language(paths, attacker.id(), &lines)?;
    Ok(lines)
}
