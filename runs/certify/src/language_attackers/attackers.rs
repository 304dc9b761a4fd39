//! The attackers of a probe file, ready to be asked.

use super::config::LanguageConfig;
use super::converse::ProbeConversation;
use super::custom_id::custom_id;
use super::record::{LanguageAnswer, answers_bytes, answers_path, keep_identity};
use crate::CertifyError;
use crate::progress::ProgressFn;
use futures::StreamExt;
use ktd_agents::Transport;
use ktd_bundle::BundlePaths;
use ktd_client::AskedModel;
use ktd_client::conversations::Conversations;
use ktd_client::money::{Budget, Metering, PaymentTerms};
use ktd_env::Market;
use ktd_episode::transports::{Connection, Transports};
use ktd_experiment::provider::{Provider, table_with};
use ktd_guard::Guards;
use ktd_io::lock::FileLock;
use ktd_io::whole_file::{list_if_exists, write_whole};
use ktd_masking::MaskSettings;
use ktd_probes::{Probe, ProbeKind};
use ktd_record::exchanges::{Cassette, ExchangeStore};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Questions to attackers: a set of probes.
#[derive(Debug, Clone, Copy)]
pub struct Questions<'a> {
    /// Name of the set and of its folder: each set has its own, as `probes`, or `bright` for a control.
    pub set: &'a str,
    /// The mask they were made under.
    pub mask: MaskSettings,
    /// The probes, each kind and number once.
    pub probes: &'a [Probe],
}

/// Batch of a probe file made ready: its attackers, and the probes that are put to them.
#[derive(Debug)]
pub struct ProbeBatch {
    /// The attackers.
    pub attackers: LanguageAttackers,
    /// Name of the set.
    pub set: &'static str,
    /// The mask that its probes were made under.
    pub mask: MaskSettings,
    /// The probes.
    pub probes: Vec<Probe>,
}

impl ProbeBatch {
    /// The probes as they are put.
    #[must_use]
    pub fn questions(&self) -> Questions<'_> {
        Questions {
            set: self.set,
            mask: self.mask,
            probes: &self.probes,
        }
    }
}

/// Language models of a probe file, with their budget and the gates of their keys.
#[derive(Debug)]
pub struct LanguageAttackers {
    pub(super) config: LanguageConfig,
    pub(super) market: Arc<Market>,
    attackers: Vec<AskedModel>,
    guards: Guards,
    metering: Metering,
    transports: Transports,
    base: PathBuf,
    root: PathBuf,
}

impl LanguageAttackers {
    /// The attackers of a configuration. `base` is the directory of its file, and everything is kept below `output`. `seed`
    /// is sent to vendors that take one, where an agent asks for it.
    ///
    /// # Errors
    /// [`CertifyError`] for an agent that is not a language model, a vendor that there is not, a missing key, and a budget without
    /// prices; nothing was sent then.
    pub fn new(
        config: LanguageConfig,
        market: &Arc<Market>,
        seed: u64,
        base: &Path,
        output: &Path,
    ) -> Result<Self, CertifyError> {
        config.check()?;
        let terms = PaymentTerms::read(
            config.prices.as_deref(),
            base,
            config.budget.clone(),
            config.rates.clone(),
        )?;
        let table = table_with(&config.dialects)?;
        let mut attackers = Vec::with_capacity(config.agents.len());
        for agent in &config.agents {
            attackers.push(AskedModel::new(
                agent,
                Provider::of(agent, &table)?,
                &terms,
                ("attacker", seed),
            ));
        }
        let priced = attackers.iter().map(AskedModel::priced);
        terms.check(priced.clone())?;
        let root = output.join("attackers");
        let metering = terms.metering(priced, output, |budget| count_spent(&root, &attackers, budget))?;
        Ok(Self {
            config,
            market: Arc::clone(market),
            attackers,
            guards: Guards::default(),
            metering,
            transports: Transports::default(),
            base: base.to_owned(),
            root,
        })
    }

    /// The panel.
    #[must_use]
    pub fn market(&self) -> &Market {
        &self.market
    }

    /// The attackers, in the order of the file.
    #[must_use]
    pub fn attackers(&self) -> &[AskedModel] {
        &self.attackers
    }

    /// The attacker of an agent's id.
    ///
    /// # Errors
    /// [`CertifyError::Input`] with the ids there are.
    pub fn find(&self, id: &str) -> Result<&AskedModel, CertifyError> {
        self.attackers
            .iter()
            .find(|attacker| attacker.id() == id)
            .ok_or_else(|| {
                let known: Vec<&str> = self.attackers.iter().map(AskedModel::id).collect();
                CertifyError::input(
                    format!("there is no attacker {id:?} under `[language]`"),
                    format!("it is one of: {}", known.join(", ")),
                )
            })
    }

    /// Where everything about an attacker before a set of probes is kept.
    #[must_use]
    pub fn folder(&self, attacker: &AskedModel, set: &str) -> PathBuf {
        self.root.join(set).join(attacker.id())
    }

    /// Puts every probe to an attacker, as many at once as the file allows, and keeps the answers. What is recorded is not
    /// asked again. Answers come by kind and number.
    ///
    /// # Errors
    /// [`CertifyError`] of the first probe, by kind and number, that could not be asked to its end: the infrastructure, the
    /// budget, a hidden name in a request. What was recorded stands, and the same call continues.
    pub async fn ask_all(
        &self,
        attacker: &AskedModel,
        questions: &Questions<'_>,
        progress: ProgressFn<'_>,
    ) -> Result<Vec<LanguageAnswer>, CertifyError> {
        let who = (&attacker.agent, &attacker.provider);
        match self
            .transports
            .connect(who, attacker.seed, &self.market, &self.base)?
        {
            Connection::Model(transport) => {
                self.ask_over(attacker, questions, transport.as_ref(), progress)
                    .await
            }
            Connection::Process(_) | Connection::Client | Connection::Control(_) | Connection::Formula(_) => {
                Err(CertifyError::input(
                    format!("attacker {:?} is not a language model", attacker.id()),
                    "give it `model` and `vendor`",
                ))
            }
        }
    }

    /// The same over a transport of the caller's.
    ///
    /// # Errors
    /// As [`Self::ask_all`].
    pub async fn ask_over(
        &self,
        attacker: &AskedModel,
        questions: &Questions<'_>,
        transport: &dyn Transport,
        progress: ProgressFn<'_>,
    ) -> Result<Vec<LanguageAnswer>, CertifyError> {
        let folder = self.folder(attacker, questions.set);
        let _lock = self.take(attacker, questions)?;
        let paths = BundlePaths::new(&folder);
        let cassette = Cassette::read(&paths.exchanges())?;
        let store = ExchangeStore::continue_after(&paths.exchanges(), &cassette)?;
        let live = Some((store.clone(), transport));
        let conversation = self.conversation(attacker, questions, cassette, live);
        let answers = put_all(&conversation, questions, self.config.parallel, progress).await?;
        store.finish()?;
        keep(&folder, &answers)?;
        Ok(answers)
    }

    /// The answers that the record of an attacker gives, without a network: those that [`Self::ask_all`] gave, byte for
    /// byte, when it was asked to the end. A probe that was not is unanswered.
    ///
    /// # Errors
    /// [`CertifyError`] when a recorded request is not the one that these probes ask now, or the record cannot be read.
    pub async fn recall(
        &self,
        attacker: &AskedModel,
        questions: &Questions<'_>,
    ) -> Result<Vec<LanguageAnswer>, CertifyError> {
        let paths = BundlePaths::new(&self.folder(attacker, questions.set));
        let cassette = Cassette::read(&paths.exchanges())?;
        let conversation = self.conversation(attacker, questions, cassette, None);
        put_all(&conversation, questions, 1, &|| {}).await
    }

    /// Takes the folder of an attacker for this process, and checks whose it is.
    pub(super) fn take(
        &self,
        attacker: &AskedModel,
        questions: &Questions<'_>,
    ) -> Result<FileLock, CertifyError> {
        check_once(questions.probes)?;
        let folder = self.folder(attacker, questions.set);
        let paths = BundlePaths::new(&folder);
        paths.create()?;
        let lock = paths.lock_for_writing()?;
        keep_identity(&folder, attacker, questions.mask, self.config.schema_retries)?;
        Ok(lock)
    }

    pub(super) fn conversation<'a>(
        &'a self,
        attacker: &'a AskedModel,
        questions: &Questions<'_>,
        cassette: Cassette,
        live: Option<(ExchangeStore, &'a dyn Transport)>,
    ) -> ProbeConversation<'a> {
        ProbeConversation {
            market: &self.market,
            mask: questions.mask,
            guard: self.guards.of(questions.mask.level, &self.market),
            schema_retries: self.config.schema_retries,
            asking: Conversations::new(attacker, &self.metering, self.config.retries, cassette, live),
        }
    }
}

/// Writes the answers of an attacker.
pub(super) fn keep(folder: &Path, answers: &[LanguageAnswer]) -> Result<(), CertifyError> {
    let path = answers_path(folder);
    Ok(write_whole(&path, &answers_bytes(&path, answers)?)?)
}

fn check_once(probes: &[Probe]) -> Result<(), CertifyError> {
    let mut seen: BTreeSet<(ProbeKind, usize)> = BTreeSet::new();
    match probes
        .iter()
        .find(|probe| !seen.insert((probe.kind, probe.number)))
    {
        None => Ok(()),
        Some(twice) => Err(CertifyError::input(
            format!("the probe {} is there twice", custom_id(twice.kind, twice.number)),
            "put each kind and number once",
        )),
    }
}

/// A conversation that was begun is led to its end even when another one is stopped, so that nothing that was sent is lost.
async fn put_all(
    conversation: &ProbeConversation<'_>,
    questions: &Questions<'_>,
    parallel: usize,
    progress: ProgressFn<'_>,
) -> Result<Vec<LanguageAnswer>, CertifyError> {
    let mut ordered: Vec<&Probe> = questions.probes.iter().collect();
    ordered.sort_by_key(|probe| (probe.kind, probe.number));
    let put = ordered.into_iter().enumerate().map(|(place, probe)| async move {
        let answer = conversation.put(probe).await;
        progress();
        (place, answer)
    });
    let mut put: Vec<_> = futures::stream::iter(put)
        .buffer_unordered(parallel)
        .collect()
        .await;
    put.sort_by_key(|(place, _)| *place);
    let answers: Vec<Option<LanguageAnswer>> = put
        .into_iter()
        .map(|(_, answer)| answer)
        .collect::<Result<_, CertifyError>>()?;
    Ok(answers.into_iter().flatten().collect())
}

/// Counts what attackers have cost before, in all sets.
fn count_spent(root: &Path, attackers: &[AskedModel], budget: &Budget) -> Result<(), CertifyError> {
    for set in list_if_exists(root)? {
        for attacker in attackers {
            let paths = BundlePaths::new(&set.join(attacker.id()));
            attacker.payer.count_recorded(&paths.exchanges(), budget)?;
        }
    }
    Ok(())
}
