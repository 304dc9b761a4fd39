//! `ktd probe` and `ktd certify` from a file to a directory: what is there already is kept.

use super::attack::{Answers, Siege, database};
use super::certificate::{AttackerRecord, Certificate, Counted, Judgement, Knowledge, aims};
use super::config::CertifyConfig;
use super::control::{Aim, Control};
use super::count::{Count, count};
use super::files;
use super::given;
use super::gold_line::GoldLine;
use super::ground::{Ground, ProbeSet, Tick};
use super::lines::hash_file;
use super::paths::CertifyPaths;
use super::set_plan::SetPlan;
use super::set_record::{Origin, SetRecord, Stored};
use super::store::{gold_lines, load_answers, load_gold, load_probes, store, store_answers};
use crate::CertifyError;
use ktd_bundle::mask_key::mask_key;
use ktd_data::market_source::MarketSource;
use ktd_io::whole_file::{json_bytes, write_whole};
use ktd_masking::{MaskKey, MaskSettings};
use ktd_probes::{Attackers, Database, ProbeKind};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// One run.
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

/// What a run works with.
#[derive(Debug)]
pub struct Workshop {
    /// Panel, tools and key.
    pub ground: Ground,
    /// What the attackers look things up in.
    pub database: Database,
}

impl Workshop {
    /// Computes the factors and the database of a panel.
    ///
    /// # Errors
    /// [`CertifyError::Input`] when the panel is too short, or the rules do not fit.
    pub fn open(
        source: MarketSource,
        plan: &SetPlan,
        key: MaskKey,
        threads: usize,
    ) -> Result<Self, CertifyError> {
        let ground = Ground::new(source, plan, key, threads)?;
        let database = database(&ground);
        Ok(Self { ground, database })
    }

    /// The probes under test.
    ///
    /// # Errors
    /// [`CertifyError::Input`] when the plan's stretches hold no member to ask about.
    pub fn probes(&self, plan: &SetPlan, tick: Tick<'_>) -> Result<ProbeSet, CertifyError> {
        let probing = plan.probing(plan.mask()?, self.ground.key.clone(), PROBES);
        self.ground.make(&probing, &|kind| plan.probes.of(kind), tick)
    }

    /// The answer keys of a set under a mask as lines.
    #[must_use]
    pub fn gold_lines(&self, plan: &SetPlan, mask: MaskSettings, set: &ProbeSet) -> Vec<GoldLine> {
        gold_lines(&self.ground, &self.database, (mask, plan.joint_days), set)
    }

    /// What the attackers answer to the probes under test.
    ///
    /// # Errors
    /// [`CertifyError`] when no training can be made.
    pub fn answers(
        &self,
        record: &SetRecord,
        probes: &[ktd_probes::ProbeText],
        tick: Tick<'_>,
    ) -> Result<Answers, CertifyError> {
        let plan = &record.plan;
        let mask = plan.mask()?;
        let training = plan.training(mask, &self.ground.key, PROBES);
        let kinds = |kind: ProbeKind| if record.count(kind) == 0 { 0 } else { plan.training };
        let training = self.ground.make(&training, &kinds, tick)?;
        let siege = self.siege(plan, PROBES);
        Ok(siege.lay(mask.numeric, &training, probes, tick))
    }

    /// A control: its probes, their keys, and what the attackers answer.
    ///
    /// # Errors
    /// [`CertifyError`] when it cannot be made.
    pub fn control(
        &self,
        control: Control,
        plan: &SetPlan,
        tick: Tick<'_>,
    ) -> Result<(ProbeSet, Vec<GoldLine>, Answers), CertifyError> {
        let set = control.make(&self.ground, plan, tick)?;
        let training = control.training(&self.ground, plan, tick)?;
        let gold = self.gold_lines(plan, control.mask(), &set);
        let siege = self.siege(plan, control.label());
        let answers = siege.lay(control.mask().numeric, &training, &set.probes, tick);
        Ok((set, gold, answers))
    }

    fn siege(&self, plan: &SetPlan, purpose: &str) -> Siege<'_> {
        Siege {
            ground: &self.ground,
            database: &self.database,
            seed: plan.seed_for(&format!("attacks on {purpose}")),
        }
    }
}

/// The purpose of the draws of the set under test.
pub(super) const PROBES: &str = "probes";

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

    /// How often a run ticks, at most.
    #[must_use]
    pub fn ticks(&self, with_controls: bool) -> usize {
        let config = &self.config;
        let probes: usize = ProbeKind::ALL.iter().map(|kind| config.probes.of(*kind)).sum();
        let training = 2 * config.training * config.probes.kinds().count();
        let control = 2 * (config.control_probes + config.training.min(config.control_probes));
        let controls = if with_controls { Control::ALL.len() } else { 0 };
        2 * probes + training + controls * control
    }

    /// Makes or takes the probes and puts the attackers to them; with `with_controls` to the controls as well. A set that
    /// is on disk is kept, and so are its answers when there are all of them; with controls, which is what is signed, every
    /// answer is given again.
    ///
    /// # Errors
    /// [`CertifyError`] for bad input, for a directory that holds another set, and for a full disk.
    pub fn attack(&self, with_controls: bool, tick: Tick<'_>) -> Result<SetRecord, CertifyError> {
        let (source, plan, key) = self.prepare()?;
        let known = self.known(&source, &plan, &key)?;
        let has_answers = || {
            let answers = Attackers::NAMES.map(|name| self.paths.probed().answers(name));
            answers.iter().all(|name| self.paths.root().join(name).is_file())
        };
        if let Some(record) = known.as_ref().filter(|_| !with_controls && has_answers()) {
            return Ok(record.clone());
        }
        let workshop = Workshop::open(source, &plan, key, self.threads)?;
        let record = match known {
            Some(record) => record,
            None => self.make(&workshop, plan, tick)?,
        };
        if with_controls || !has_answers() {
            let paths = self.paths.probed();
            let probes = load_probes(&paths, &record.by_kind())?;
            store_answers(&paths, &workshop.answers(&record, &probes, tick)?)?;
        }
        if with_controls {
            for control in Control::of(&record.plan) {
                let paths = self.paths.control(control.label());
                let (set, gold, answers) = workshop.control(control, &record.plan, tick)?;
                store(&paths, &set.probes, &gold)?;
                store_answers(&paths, &answers)?;
            }
            if !self.config.language.agents.is_empty() {
                let paths = self.paths.control(Control::BrightDay.label());
                let set = Control::BrightDay.make(&workshop.ground, &record.plan, tick)?;
                let gold = workshop.gold_lines(&record.plan, Control::BrightDay.mask(), &set);
                store(&paths, &set.probes, &gold)?;
            }
        }
        Ok(record)
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
            Stored::default(),
        )?;
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
            if hash_file(&path)? != *hash {
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

    fn make(&self, workshop: &Workshop, plan: SetPlan, tick: Tick<'_>) -> Result<SetRecord, CertifyError> {
        let market = &workshop.ground.source.market;
        let set = match &self.given {
            Some(root) => given::read(root, market)?,
            None => workshop.probes(&plan, tick)?,
        };
        let gold = workshop.gold_lines(&plan, plan.mask()?, &set);
        let stored = store(&self.paths.probed(), &set.probes, &gold)?;
        // Whoever verifies makes the probes again with it, wherever it was read from.
        let key = format!("{}\n", workshop.ground.key.reveal());
        write_whole(&self.paths.mask_key(), key.as_bytes())?;
        let data = workshop.ground.source.record.clone();
        let record = SetRecord::new(self.origin(), plan, data, &workshop.ground.key, stored)?;
        let path = self.paths.set_record();
        write_whole(&path, &json_bytes(&path, &record)?)?;
        Ok(record)
    }
}

/// What these attackers recovered of the probes under test, from the files of a directory alone.
///
/// # Errors
/// [`CertifyError`] naming the file and line that is missing or damaged.
pub fn count_probes(
    paths: &CertifyPaths,
    record: &SetRecord,
    attackers: &[AttackerRecord],
) -> Result<Counted, CertifyError> {
    let probed = paths.probed();
    let gold = load_gold(&probed, &record.by_kind())?;
    let mut counted = Counted::default();
    for AttackerRecord { name, .. } in attackers {
        let answers = load_answers(&probed, name, &gold)?;
        let (counts, silences) = count(name, &gold, &answers, record.plan.joint_days);
        counted.counts.extend(counts);
        counted.silences.extend(silences);
    }
    Ok(counted)
}

/// The attackers that own the database.
#[must_use]
pub fn database_attackers() -> Vec<AttackerRecord> {
    let attacker = |name: &str| AttackerRecord {
        name: name.to_owned(),
        knows: Knowledge::Database,
        model: None,
    };
    Attackers::NAMES.into_iter().map(attacker).collect()
}

/// The certificate against these attackers that follows from the files of a directory; no panel is needed.
///
/// # Errors
/// [`CertifyError`] naming the file and line that is missing or damaged.
pub fn compose(
    paths: &CertifyPaths,
    judgement: Judgement,
    attackers: Vec<AttackerRecord>,
) -> Result<Certificate, CertifyError> {
    let record = SetRecord::read(&paths.set_record())?;
    check_answers(paths, &attackers)?;
    let mut counted = count_probes(paths, &record, &attackers)?;
    for (attacker, aim) in aims(&attackers, &record.plan) {
        let count = count_control(paths, (attacker, &aim), &record.plan)?;
        counted.controls.push((aim, count));
    }
    let files = files::hashes(paths, &record, &attackers)?;
    Certificate::judge(record, judgement, attackers, &counted, files)
}

/// Whether the answers on disk are those of the attackers and of nobody else: whoever was asked is counted.
fn check_answers(paths: &CertifyPaths, attackers: &[AttackerRecord]) -> Result<(), CertifyError> {
    let probed = paths.probed();
    let folder = paths.root().join("answers");
    let expected: BTreeSet<PathBuf> = attackers
        .iter()
        .map(|attacker| paths.root().join(probed.answers(&attacker.name)))
        .collect();
    let entries = std::fs::read_dir(&folder).map_err(CertifyError::io("list", &folder))?;
    for entry in entries {
        let path = entry.map_err(CertifyError::io("list", &folder))?.path();
        if path.is_file() && !expected.contains(&path) {
            return Err(CertifyError::input(
                format!(
                    "{} holds answers of an attacker that is not listed",
                    path.display()
                ),
                "list it under [language] again, or take another directory with --out: nobody who was asked is left out",
            ));
        }
    }
    Ok(())
}

fn count_control(
    paths: &CertifyPaths,
    (attacker, aim): (&str, &Aim),
    plan: &SetPlan,
) -> Result<Count, CertifyError> {
    let set = paths.control(aim.control.label());
    let kinds = BTreeMap::from([(aim.control.kind(), aim.control.probes(plan))]);
    let gold = load_gold(&set, &kinds)?;
    let answers = load_answers(&set, attacker, &gold)?;
    let (counts, _) = count(attacker, &gold, &answers, plan.joint_days);
    let mut counts = counts.into_iter();
    counts
        .find(|count| count.measure == aim.measure.label())
        .ok_or_else(|| {
            let what = format!("nothing in it is asked about {}", aim.measure.label());
            CertifyError::damaged(&set.at(set.gold()), what)
        })
}
