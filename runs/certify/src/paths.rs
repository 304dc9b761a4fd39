//! Where the files of a probe set and its certificate are.

use ktd_probes::ProbeKind;
use std::path::{Path, PathBuf};

/// The name of the mask key.
pub const MASK_KEY: &str = "private/mask.key";

/// The name of what the probes are.
pub const SET_RECORD: &str = "set.json";

/// The name of what was committed to before anybody was asked.
pub const COMMITMENT: &str = "commitment.json";

/// The name of the set under test, which is the purpose of its draws.
pub(crate) const PROBES: &str = "probes";

/// Below the folder of a language model and a set: what each probe came to, in the model's own words.
pub(crate) const GUESSES: &str = "guesses.jsonl";
/// The same in real codes and dates, as of every attacker.
pub(crate) const ANSWERS: &str = "answers.jsonl.zst";

/// Paths of the directory of one `ktd probe` or `ktd certify`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertifyPaths {
    root: PathBuf,
}

/// Paths of one set of probes with its answers: the set itself, or that of a control.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetPaths {
    root: PathBuf,
    /// The name of the set.
    set: String,
    /// Folder of probes and answers, relative to the root; empty for the set itself.
    folder: String,
    /// The answer key, relative to the root.
    gold: String,
}

impl CertifyPaths {
    /// The files in a directory.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// The directory itself.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// What the probes are, and the hashes of their files.
    #[must_use]
    pub fn set_record(&self) -> PathBuf {
        self.root.join(SET_RECORD)
    }

    /// The certificate.
    #[must_use]
    pub fn certificate(&self) -> PathBuf {
        self.root.join("certificate.json")
    }

    /// What was committed to before anybody was asked.
    #[must_use]
    pub fn commitment(&self) -> PathBuf {
        self.root.join(COMMITMENT)
    }

    /// A copy of the signer's log of attempts, up to the certificate's own verdict.
    #[must_use]
    pub fn attempts(&self) -> PathBuf {
        self.root.join("attempts.jsonl")
    }

    /// The key that every exhibit's own is derived from.
    #[must_use]
    pub fn mask_key(&self) -> PathBuf {
        self.root.join(MASK_KEY)
    }

    /// The files of the probes under test.
    #[must_use]
    pub fn probed(&self) -> SetPaths {
        SetPaths {
            root: self.root.clone(),
            set: PROBES.to_owned(),
            folder: String::new(),
            gold: "private/gold.jsonl".to_owned(),
        }
    }

    /// The files of a control.
    #[must_use]
    pub fn control(&self, name: &str) -> SetPaths {
        SetPaths {
            root: self.root.clone(),
            set: name.to_owned(),
            folder: format!("controls/{name}/"),
            gold: format!("private/{name}.gold.jsonl"),
        }
    }
}

impl SetPaths {
    /// A set that somebody else made: its probes below `root`, and its answer key.
    #[must_use]
    pub fn given(root: &Path) -> Self {
        CertifyPaths::new(root).probed()
    }

    /// Where a name of this set is.
    #[must_use]
    pub fn at(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The name of the probes of a kind, relative to the root, as certificates have it.
    #[must_use]
    pub fn probes(&self, kind: ProbeKind) -> String {
        format!("{}probes/{}.jsonl.zst", self.folder, kind.label())
    }

    /// The unit in which a language model is asked about a set.
    #[must_use]
    pub fn asked_unit(set: &str, model: &str) -> String {
        format!("{set}.{model}")
    }

    /// The folder of that unit, relative to the root.
    #[must_use]
    pub fn asked(&self, model: &str) -> String {
        format!("units/{}", Self::asked_unit(&self.set, model))
    }

    /// The name of the answers of a language model.
    #[must_use]
    pub fn asked_answers(&self, model: &str) -> String {
        format!("{}/{ANSWERS}", self.asked(model))
    }

    /// The names of the record of a language model: who was asked, every request with its reply, what each probe came to.
    pub(crate) fn asked_record(&self, model: &str) -> impl Iterator<Item = String> {
        let folder = self.asked(model);
        let names = [
            "header.json",
            "agent.json",
            "exchanges.jsonl.zst",
            GUESSES,
            ANSWERS,
        ];
        names.into_iter().map(move |name| format!("{folder}/{name}"))
    }

    /// The name of the answers of an attacker of the database.
    #[must_use]
    pub fn answers(&self, attacker: &str) -> String {
        format!("{}answers/{attacker}.jsonl.zst", self.folder)
    }

    /// The name of a block of answers of all attackers of the database.
    pub(crate) fn answer_block(&self, block: usize) -> String {
        format!("{}answers/blocks/{block}.jsonl.zst", self.folder)
    }

    /// The name of the answer key.
    #[must_use]
    pub fn gold(&self) -> &str {
        &self.gold
    }
}
