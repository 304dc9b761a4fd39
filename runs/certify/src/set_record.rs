//! `set.json`: what a probe set is, and the hashes of its files.

use super::set_plan::SetPlan;
use crate::CertifyError;
use ktd_experiment::data_record::DataRecord;
use ktd_experiment::mask_hash::mask_hash;
use ktd_io::sha256::sha256_hex;
use ktd_masking::{MaskKey, MaskSettings};
use ktd_probes::ProbeKind;
use ktd_program::MASK_SOURCE_SHA256;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The version of everything below a `ktd probe` directory. A reader takes its own version alone.
pub const FORMAT_VERSION: u32 = 8;

/// Origin of probes: who made them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// This program, by its own tools and mask.
    Made,
    /// Somebody else; they were given with their answer key.
    Given,
}

/// Record of a probe set, `set.json`.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetRecord {
    /// [`FORMAT_VERSION`].
    pub format: u32,
    /// Version of the program.
    pub ktd: String,
    /// [`MASK_SOURCE_SHA256`] of the program: two programs may have one version.
    pub source_sha256: String,
    /// Who made the probes.
    pub probes: Origin,
    /// What decides them.
    pub plan: SetPlan,
    /// The panel.
    pub data: DataRecord,
    /// The mask's identity.
    pub mask: MaskIdentity,
    /// Probes of each kind.
    pub counts: BTreeMap<ProbeKind, usize>,
    /// SHA-256 over the hashes of the files of probes, by kind: one name for all of them.
    pub probe_set_sha256: String,
    /// SHA-256 of the answer key: binds it, published or not.
    pub gold_sha256: String,
    /// SHA-256 of each file of probes.
    pub files: BTreeMap<String, String>,
}

/// Identity of a mask as certificates name it.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MaskIdentity {
    /// Version of what masks show.
    pub scheme: u32,
    /// SHA-256 over level, numbers, scheme, prompts and tools: that of a bundle under the same mask.
    pub hash: String,
    /// Binds the key that every exhibit's own was derived from, without naming it.
    pub commitment: String,
}

impl MaskIdentity {
    /// That of a mask under a key.
    #[must_use]
    pub fn of(mask: MaskSettings, key: &MaskKey) -> Self {
        Self {
            scheme: ktd_masking::SCHEME,
            hash: mask_hash(mask),
            commitment: key.commitment(),
        }
    }
}

/// Hashes of what was written of a set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StoredSet {
    /// Probes of each kind.
    pub counts: BTreeMap<ProbeKind, usize>,
    /// SHA-256 of the answer key.
    pub gold_sha256: String,
    /// SHA-256 of each file of probes.
    pub files: BTreeMap<String, String>,
}

impl SetRecord {
    /// The record of a set that was stored.
    #[must_use]
    pub fn new(origin: Origin, plan: SetPlan, data: DataRecord, key: &MaskKey, stored: StoredSet) -> Self {
        let mask = plan.mask();
        Self {
            format: FORMAT_VERSION,
            ktd: env!("CARGO_PKG_VERSION").to_owned(),
            source_sha256: MASK_SOURCE_SHA256.to_owned(),
            probes: origin,
            plan,
            data,
            mask: MaskIdentity::of(mask, key),
            counts: stored.counts,
            probe_set_sha256: probe_set_sha256(&stored.files),
            gold_sha256: stored.gold_sha256,
            files: stored.files,
        }
    }

    /// Reads a record.
    ///
    /// # Errors
    /// [`CertifyError`] when it is missing, damaged or of another format.
    pub fn read(path: &Path) -> Result<Self, CertifyError> {
        // Another format may have other fields: its number is read alone before all else.
        let versioned: Versioned = ktd_io::whole_file::read_json(path)?;
        if versioned.format != FORMAT_VERSION {
            return Err(of_another_format(path, versioned.format));
        }
        Ok(ktd_io::whole_file::read_json(path)?)
    }

    /// Probes of a kind.
    #[must_use]
    pub fn count(&self, kind: ProbeKind) -> usize {
        self.counts.get(&kind).copied().unwrap_or(0)
    }

    /// Probes of each kind.
    #[must_use]
    pub fn by_kind(&self) -> BTreeMap<ProbeKind, usize> {
        ProbeKind::ALL
            .into_iter()
            .map(|kind| (kind, self.count(kind)))
            .filter(|(_, count)| 0 < *count)
            .collect()
    }

    /// Kinds of which no probe was put.
    #[must_use]
    pub fn kinds_not_put(&self) -> Vec<ProbeKind> {
        let mut kinds = ProbeKind::ALL.to_vec();
        kinds.retain(|kind| self.count(*kind) == 0);
        kinds
    }

    /// The auditor's nonce that decided the draw; none of probes that were given, which no nonce drew.
    #[must_use]
    pub fn deciding_nonce(&self) -> Option<&str> {
        let nonce = self.plan.nonce.as_deref();
        nonce.filter(|_| self.probes == Origin::Made)
    }

    /// What the probes show, and whether anything but a claim says so.
    #[must_use]
    pub fn described(&self) -> String {
        let (level, numeric) = (self.plan.level.label(), self.plan.numeric.label());
        match self.probes {
            Origin::Made => format!("{level}/{numeric}"),
            Origin::Given => format!("probes that were given, claimed to be {level}/{numeric},"),
        }
    }

    /// Windows that there are, probed or not; none of probes that were given, of which nobody knows.
    #[must_use]
    pub fn window_population(&self) -> Option<u64> {
        let population = u64::try_from(self.plan.window_population()).unwrap_or(u64::MAX);
        (self.probes == Origin::Made).then_some(population)
    }

    /// Whether agents that ask their own questions are among the probes.
    #[must_use]
    pub fn has_asked(&self) -> bool {
        self.by_kind().into_keys().any(ProbeKind::is_asked)
    }

    /// Steps of the longest episode that was put: a kind that was left out tried nothing.
    #[must_use]
    pub fn steps_tried(&self) -> usize {
        let steps = |kind: ProbeKind| match kind {
            ProbeKind::Day | ProbeKind::Anchored => 1,
            ProbeKind::Days | ProbeKind::Linked => self.plan.days,
            ProbeKind::Episode => self.plan.episode_steps,
            ProbeKind::Asked | ProbeKind::AskedKnown | ProbeKind::AskedDated => self.plan.longest_asked(),
        };
        self.by_kind().into_keys().map(steps).max().unwrap_or(0)
    }

    /// Whether this program is of the version that made the set: another one may judge otherwise.
    ///
    /// # Errors
    /// [`CertifyError::Input`] naming both.
    pub fn check_version(&self) -> Result<(), CertifyError> {
        if self.ktd == env!("CARGO_PKG_VERSION") && self.format == FORMAT_VERSION {
            return Ok(());
        }
        Err(self.of_another_program())
    }

    /// Whether this very program made the set, so that it can be made and counted again.
    ///
    /// # Errors
    /// [`CertifyError::Input`] naming both programs.
    pub fn check_source(&self) -> Result<(), CertifyError> {
        self.check_version()?;
        if self.source_sha256 == MASK_SOURCE_SHA256 {
            return Ok(());
        }
        Err(self.of_another_program())
    }

    fn of_another_program(&self) -> CertifyError {
        let what = format!(
            "made by ktd {} (format {}, source {}): this is ktd {} (format {FORMAT_VERSION}, source {MASK_SOURCE_SHA256}), \
             which may make, count or judge otherwise",
            self.ktd,
            self.format,
            self.source_sha256,
            env!("CARGO_PKG_VERSION")
        );
        CertifyError::input(
            what,
            "check it with the program that made it, built from the same sources",
        )
    }
}

/// The format of a record, whatever else stands in it.
#[derive(Debug, Deserialize)]
pub(crate) struct Versioned {
    /// Its number.
    pub(crate) format: u32,
}

/// The error of a file in a format that this program does not read.
pub(crate) fn of_another_format(path: &Path, format: u32) -> CertifyError {
    CertifyError::input(
        format!(
            "{}: it has format {format}, but this program reads format {FORMAT_VERSION}",
            path.display()
        ),
        "use the program that wrote it, or make the probes and the certificate again in another directory",
    )
}

/// One name for all probes: over the hashes of their files by name, so that it follows from what is signed.
#[must_use]
pub fn probe_set_sha256(files: &BTreeMap<String, String>) -> String {
    let mut lines = String::new();
    for (name, hash) in files {
        lines.extend([name, " ", hash, "\n"]);
    }
    sha256_hex(lines.as_bytes())
}
