//! What the units of a certificate and of a curve run over.

use super::attacker_record::attackers_of;
use super::attempts::AttemptLog;
use super::commitment::CertificateSigner;
use super::config::CertifyConfig;
use super::control_probes;
use super::gold_line::GoldLine;
use super::language_attackers::{CHEATER, tools_sha256};
use super::paths::{CertifyPaths, PROBES};
use super::probe_inputs::wanted;
use super::set_plan::SetPlan;
use super::set_record::{MaskIdentity, Origin};
use super::workspace::ProbeWorkspace;
use crate::CertifyError;
use ktd_asking::Answerer;
use ktd_baselines::BuiltinTransport;
use ktd_bundle::mask_key::{drawn, mask_key};
use ktd_client::AskedModel;
use ktd_data::market_source::MarketSource;
use ktd_episode::control::cheater;
use ktd_guard::Guards;
use ktd_masking::{MaskKey, MaskSettings};
use ktd_probes::judge::ControlSet;
use ktd_probes::{Probe, ProbeKind};
use ktd_program::MASK_SOURCE_SHA256;
use ktd_record::signing::SigningKey;
use ktd_study::{Opening, StudyError};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Panel, plan and key of a file, and what is computed of them once it is needed.
#[derive(Debug)]
pub struct MaskWorld {
    pub(crate) keys: CertifyConfig,
    pub(crate) source: MarketSource,
    pub(crate) plan: SetPlan,
    pub(crate) key: MaskKey,
    pub(crate) paths: CertifyPaths,
    /// Who signs; nobody where a record is made again, or nothing is certified.
    pub(crate) signer: Option<CertificateSigner>,
    /// The fingerprint of the key that signs, where anything is certified.
    pub(crate) signed_by: Option<String>,
    /// Where probes of somebody else are read from.
    pub(crate) given: Option<PathBuf>,
    pub(crate) guards: Guards,
    /// The sources of the program that decide what a set shows and comes to; of a record, of the one that made it.
    pub(crate) source_sha256: String,
    threads: usize,
    workspace: OnceLock<Result<ProbeWorkspace, StudyError>>,
}

impl MaskWorld {
    /// Panel, plan and keys of a file.
    pub(crate) fn open(keys: &CertifyConfig, at: &Opening<'_>) -> Result<Self, StudyError> {
        let paths = CertifyPaths::new(at.out);
        let given = keys.mask_key_file.as_ref().map(|file| at.base.join(file));
        let signer = keys.key.as_ref().map(|key| signer(&at.base.join(key)));
        let signer = signer.transpose()?;
        let signed_by = signer.as_ref().map(|signer| signer.key.public().fingerprint());
        // What cannot be planned draws no key.
        let (source, plan) = planned(keys, at.base)?;
        let kept = paths.mask_key();
        let is_known = given.is_some() || kept.exists();
        let key = match at.program {
            // What is planned alone leaves nothing behind.
            None if !is_known => drawn()?,
            _ => mask_key(given, &kept)?,
        };
        Ok(Self {
            given: keys.given.clone(),
            signer,
            signed_by,
            ..Self::of((keys, at), (source, plan), key)
        })
    }

    /// Those of a record, whose mask key is among its private files.
    pub(crate) fn recorded(
        keys: &CertifyConfig,
        at: &Opening<'_>,
        recorded: &Value,
    ) -> Result<Self, StudyError> {
        let paths = CertifyPaths::new(at.out);
        let (kept, certificate) = (paths.mask_key(), paths.certificate());
        let given = keys.mask_key_file.as_ref().map(|file| at.base.join(file));
        let given = given.filter(|_| !kept.exists());
        if given.is_none() && !kept.exists() {
            let what = format!(
                "{} is missing: without it no probe can be made again",
                kept.display()
            );
            // Whoever publishes a record keeps its key back.
            return Err(if certificate.exists() {
                let file = certificate.display();
                let hint = format!("`ktd verify --certificate {file}` checks what needs no key");
                StudyError::input(what, hint)
            } else {
                StudyError::input(what, "ask whoever made the record for private/")
            });
        }
        let key = mask_key(given, &kept)?;
        let is_given = recorded.get("probes") == Some(&json!(Origin::Given));
        let text = |key: &str| recorded.get(key).and_then(Value::as_str).map(str::to_owned);
        let world = Self::of((keys, at), planned(keys, at.base)?, key);
        Ok(Self {
            // Another program may come to the same bytes: they are compared under the name of its own.
            source_sha256: text("source_sha256").unwrap_or_else(|| world.source_sha256.clone()),
            // Its own files hold them as they were given.
            given: is_given.then(|| at.out.to_owned()),
            signed_by: text("signed_by"),
            ..world
        })
    }

    fn of(
        (keys, at): (&CertifyConfig, &Opening<'_>),
        (source, plan): (MarketSource, SetPlan),
        key: MaskKey,
    ) -> Self {
        Self {
            keys: keys.clone(),
            source,
            plan,
            key,
            paths: CertifyPaths::new(at.out),
            signer: None,
            signed_by: None,
            given: None,
            guards: Guards::default(),
            source_sha256: MASK_SOURCE_SHA256.to_owned(),
            threads: at.threads,
            workspace: OnceLock::new(),
        }
    }

    /// The file of the key.
    pub(crate) fn key_file(&self) -> Vec<u8> {
        format!("{}\n", self.key.reveal()).into_bytes()
    }

    pub(crate) const fn origin(&self) -> Origin {
        match self.given {
            Some(_) => Origin::Given,
            None => Origin::Made,
        }
    }

    /// What decides every unit: a set of probes, who attacks it, by what it is judged and who signs.
    pub(crate) fn decides(&self) -> Value {
        let criteria = self.keys.criteria();
        json!({
            "source_sha256": self.source_sha256,
            "probes": self.origin(),
            "plan": self.plan,
            "panel_blake3": self.source.record.panel_blake3,
            "mask": MaskIdentity::of(self.plan.mask(), &self.key),
            "confidence": criteria.confidence,
            "thresholds": criteria.thresholds,
            "attackers": attackers_of(&self.keys),
            "questions": (!self.keys.language.agents.is_empty())
                .then(|| (ktd_prompts::attack_hash(), tools_sha256())),
            "signed_by": self.signed_by,
        })
    }

    /// Factors and database, computed when they are first needed.
    pub(crate) fn workspace(&self) -> Result<&ProbeWorkspace, StudyError> {
        let opened = self.workspace.get_or_init(|| {
            let (source, key) = (self.source.clone(), self.key.clone());
            Ok(ProbeWorkspace::open(
                source,
                (&self.plan, self.origin()),
                key,
                self.threads,
            )?)
        });
        opened.as_ref().map_err(Clone::clone)
    }

    /// The probes of a set as a language model may be shown them, each with its answer key, and their mask.
    pub(crate) fn shown(
        &self,
        control: Option<ControlSet>,
    ) -> Result<(MaskSettings, Vec<(Probe, GoldLine)>), StudyError> {
        let (plan, workspace) = (&self.plan, self.workspace()?);
        let inputs = &workspace.inputs;
        let (probing, wanted) = match control {
            None => {
                let probing = plan.probing(plan.mask(), self.key.clone(), PROBES);
                (probing, wanted(&|kind| plan.probes.of(kind)))
            }
            Some(control) => {
                let only = control_probes::only(control, control.probes(plan.control_probes));
                (control_probes::plan_of(control, inputs, plan), wanted(&only))
            }
        };
        let terms = (probing.mask, plan.joint_days);
        let made = inputs.made(&probing, wanted, |probe, gold| {
            let line = workspace.gold_line(terms, &probe.text(), &gold);
            (probe, line)
        });
        let made: Vec<Vec<_>> = made.collect::<Result<_, CertifyError>>()?;
        Ok((probing.mask, made.into_iter().flatten().collect()))
    }

    /// The built-in attacker.
    pub(crate) fn answerer(&self, asked: &AskedModel) -> Option<Answerer> {
        let is_own = asked.agent.builtin_name() == Some(CHEATER);
        is_own.then(|| {
            Answerer::Builtin(Box::new(BuiltinTransport::new(Arc::new(cheater(
                &self.source.market,
            )))))
        })
    }

    /// How many probes the plan asks for.
    pub(crate) fn steps_of_set(&self) -> usize {
        ProbeKind::ALL.iter().map(|kind| self.plan.probes.of(*kind)).sum()
    }
}

fn planned(keys: &CertifyConfig, base: &Path) -> Result<(MarketSource, SetPlan), StudyError> {
    let source = MarketSource::named(keys.panel.as_deref(), keys.synthetic, base)?;
    let plan = SetPlan::of(keys, &source.market)?;
    Ok((source, plan))
}

fn signer(file: &Path) -> Result<CertificateSigner, StudyError> {
    let key = SigningKey::read(file)?;
    let log = AttemptLog::of_key(file, &key.public());
    // A log that is not this key's is told before anything is made.
    log.read()?;
    Ok(CertificateSigner { key, log })
}
