//! `ktd probe` and `ktd certify` from a file to a directory: what is there already is kept.

use super::attacker_record::database_attackers;
use super::config::CertifyConfig;
use super::control_probes;
use super::external_probes;
use super::paths::CertifyPaths;
use super::progress::ProgressFn;
use super::set_plan::SetPlan;
use super::set_record::{Origin, SetRecord, StoredSet};
use super::store::{load_probes, store, store_answers};
use super::workspace::ProbeWorkspace;
use crate::CertifyError;
use ktd_bundle::mask_key::mask_key;
use ktd_data::market_source::MarketSource;
use ktd_io::sha256::sha256_file;
use ktd_io::whole_file::{json_bytes, write_whole};
use ktd_masking::MaskKey;
use ktd_probes::judge::{AcceptanceCriteria, AcceptanceRule, ControlSet};
use ktd_probes::{Attackers, ProbeKind};
use std::path::PathBuf;

/// Run of `ktd probe` or `ktd certify`.
#[derive(Debug, Clone)]
pub struct CertifyRun {
    /// The configuration.
    pub config: CertifyConfig,
    /// The directory that its relative paths start from.
    pub base: PathBuf,
    /// Where everything goes.
    pub paths: CertifyPaths,
    /// A directory with probes of somebody else, instead of making them.
    pub given: Option<PathBuf>,
    /// Threads; results do not depend on them.
    pub threads: usize,
}

impl CertifyRun {
    /// Panel, plan and key.
    ///
    /// # Errors
    /// [`CertifyError`] for anything that does not fit.
    pub fn prepare(&self) -> Result<(MarketSource, SetPlan, MaskKey), CertifyError> {
        let config = &self.config;
        let source = MarketSource::named(config.panel.as_deref(), config.synthetic, &self.base)?;
        let plan = SetPlan::of(config, &source.market)?;
        let given = config.mask_key_file.as_ref().map(|file| self.base.join(file));
        let key = mask_key(given, &self.paths.mask_key())?;
        Ok((source, plan, key))
    }

    /// How sure bounds must be, and how far above chance they may lie.
    #[must_use]
    pub const fn criteria(&self) -> AcceptanceCriteria {
        AcceptanceCriteria {
            confidence: self.config.confidence,
            thresholds: self.config.thresholds,
        }
    }

    /// The rule by which the rates of this run's attackers are judged.
    #[must_use]
    pub fn rule(&self, plan: &SetPlan) -> AcceptanceRule {
        AcceptanceRule {
            mask: plan.mask(),
            criteria: self.criteria(),
            attackers: database_attackers().len() + self.config.language.agents.len(),
        }
    }

    /// How often a run reports progress, at most.
    #[must_use]
    pub fn progress_total(&self, with_controls: bool) -> usize {
        let config = &self.config;
        let probes: usize = ProbeKind::ALL.iter().map(|kind| config.probes.of(*kind)).sum();
        let training = 2 * config.training() * config.probes.kinds().count();
        let control = 2 * (config.control_probes() + config.training().min(config.control_probes()));
        let controls = if with_controls { ControlSet::ALL.len() } else { 0 };
        2 * probes + training + controls * control
    }

    /// How many questions the language models of the file are asked about the probes under test.
    #[must_use]
    pub fn questions(&self) -> usize {
        let probes: usize = ProbeKind::ALL
            .iter()
            .map(|kind| self.config.probes.of(*kind))
            .sum();
        probes * self.config.language.agents.len()
    }

    /// Makes or takes the probes and puts the attackers to them. A set that is on disk is kept, and so are its answers when
    /// there are all of them.
    ///
    /// # Errors
    /// [`CertifyError`] for bad input, for a directory that holds another set, and for a full disk.
    pub fn attack(&self, progress: ProgressFn<'_>) -> Result<SetRecord, CertifyError> {
        let (source, plan, key) = self.prepare()?;
        let known = self.known(&source, &plan, &key)?;
        let answers = Attackers::NAMES.map(|name| self.paths.probed().answers(name));
        let has_answers = answers.iter().all(|name| self.paths.root().join(name).is_file());
        if let Some(record) = known.as_ref().filter(|_| has_answers) {
            return Ok(record.clone());
        }
        let workspace = ProbeWorkspace::open(source, &plan, key, self.threads)?;
        let record = match known {
            Some(record) => record,
            None => self.make(&workspace, plan, progress)?,
        };
        self.answer(&record, &workspace, progress)?;
        Ok(record)
    }

    /// Makes the probes, or takes those that are on disk; nobody is asked.
    ///
    /// # Errors
    /// [`CertifyError`] for bad input, for a directory that holds another set, and for a full disk.
    pub fn make_set(&self, progress: ProgressFn<'_>) -> Result<(SetRecord, ProbeWorkspace), CertifyError> {
        let (source, plan, key) = self.prepare()?;
        let known = self.known(&source, &plan, &key)?;
        let workspace = ProbeWorkspace::open(source, &plan, key, self.threads)?;
        let record = match known {
            Some(record) => record,
            None => self.make(&workspace, plan, progress)?,
        };
        Ok((record, workspace))
    }

    /// Puts the attackers of the database to the probes and to the controls. Whatever is on disk, every answer is given
    /// again: what is signed was answered now.
    ///
    /// # Errors
    /// [`CertifyError`] for controls that cannot be made, and for a full disk.
    pub fn attack_with_controls(
        &self,
        record: &SetRecord,
        workspace: &ProbeWorkspace,
        progress: ProgressFn<'_>,
    ) -> Result<(), CertifyError> {
        self.answer(record, workspace, progress)?;
        for control in ControlSet::of(record.plan.numeric, record.has_asked()) {
            let paths = self.paths.control(control.label());
            let (set, gold, answers) = workspace.control(control, &record.plan, progress)?;
            store(&paths, &set.probes, &gold)?;
            store_answers(&paths, &answers)?;
        }
        if !self.config.language.agents.is_empty() {
            let bright = ControlSet::BrightDay;
            let set = control_probes::make(bright, &workspace.inputs, &record.plan, progress)?;
            let gold = workspace.gold_lines(&record.plan, bright.mask(), &set);
            store(&self.paths.control(bright.label()), &set.probes, &gold)?;
        }
        Ok(())
    }

    fn answer(
        &self,
        record: &SetRecord,
        workspace: &ProbeWorkspace,
        progress: ProgressFn<'_>,
    ) -> Result<(), CertifyError> {
        let paths = self.paths.probed();
        let probes = load_probes(&paths, &record.by_kind())?;
        store_answers(&paths, &workspace.answers(record, &probes, progress)?)?;
        Ok(())
    }

    /// The record of the set that is on disk, if there is one and it is the one that is asked for.
    fn known(
        &self,
        source: &MarketSource,
        plan: &SetPlan,
        key: &MaskKey,
    ) -> Result<Option<SetRecord>, CertifyError> {
        let path = self.paths.set_record();
        if !path.exists() {
            return Ok(None);
        }
        let record = SetRecord::read(&path)?;
        let origin = self.origin();
        let asked = SetRecord::new(
            origin,
            plan.clone(),
            source.record.clone(),
            key,
            StoredSet::default(),
        );
        if let Some(part) = record.differs_in(&asked) {
            let what = format!(
                "{} holds another probe set: its {part} differs",
                self.paths.root().display()
            );
            return Err(CertifyError::input(
                what,
                "choose another directory with --out, or remove this one",
            ));
        }
        let gold = (self.paths.probed().gold().to_owned(), record.gold_sha256.clone());
        for (name, hash) in record.files.iter().chain([(&gold.0, &gold.1)]) {
            let path = self.paths.root().join(name);
            if sha256_file(&path)? != *hash {
                return Err(CertifyError::damaged(
                    &path,
                    "its hash is not the one in set.json",
                ));
            }
        }
        Ok(Some(record))
    }

    const fn origin(&self) -> Origin {
        match self.given {
            Some(_) => Origin::Given,
            None => Origin::Made,
        }
    }

    fn make(
        &self,
        workspace: &ProbeWorkspace,
        plan: SetPlan,
        progress: ProgressFn<'_>,
    ) -> Result<SetRecord, CertifyError> {
        let market = &workspace.inputs.source.market;
        let set = match &self.given {
            Some(root) => external_probes::read(root, market)?,
            None => workspace.probes(&plan, progress)?,
        };
        let gold = workspace.gold_lines(&plan, plan.mask(), &set);
        let stored = store(&self.paths.probed(), &set.probes, &gold)?;
        // Whoever verifies makes the probes again with it, wherever it was read from.
        let key = format!("{}\n", workspace.inputs.key.reveal());
        write_whole(&self.paths.mask_key(), key.as_bytes())?;
        let data = workspace.inputs.source.record.clone();
        let record = SetRecord::new(self.origin(), plan, data, &workspace.inputs.key, stored);
        let path = self.paths.set_record();
        write_whole(&path, &json_bytes(&path, &record)?)?;
        Ok(record)
    }
}
