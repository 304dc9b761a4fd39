//! `CERTIFY.toml`, typed. Unknown keys are errors; every default is named here and echoed in `set.json`.

use super::kind_counts::KindCounts;
use super::one_or_more;
use super::sizes::Sizes;
use crate::CertifyError;
use crate::language_attackers::LanguageConfig;
use ktd_experiment::config::{SyntheticConfig, is_file_name, unique, unreadable};
use ktd_experiment::rules_config::RulesConfig;
use ktd_experiment::step_config::SessionConfig;
use ktd_experiment::window_config::WindowConfig;
use ktd_io::whole_file::read_input;
use ktd_masking::{Level, MaskSettings, Numeric};
use ktd_probes::judge::{AcceptanceCriteria, DEFAULT_CONFIDENCE, Thresholds};
use ktd_probes::{Attackers, DEFAULT_JOINT_DAYS};
use ktd_tools::ToolLimits;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Configuration of probes, certificates and curves: what is probed, how often, and what a certificate asks. Keys of money and
/// places are in no record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CertifyConfig {
    /// `certificate` or `curve`; the commands read files without it.
    #[serde(default, skip_serializing)]
    pub kind: Option<String>,
    /// Name of the probe set and of its directory.
    pub name: String,
    /// Panel file, relative to this file. Without it, the synthetic market of `synthetic`.
    pub panel: Option<PathBuf>,
    /// The synthetic market, where no panel is named.
    pub synthetic: Option<SyntheticConfig>,
    /// Where everything goes, relative to this file (default: `results/NAME`).
    #[serde(default, skip_serializing)]
    pub output: Option<PathBuf>,
    /// File with the key that every exhibit's own is derived from, 64 hexadecimal digits (default: drawn once and kept in
    /// `private/`).
    pub mask_key_file: Option<PathBuf>,
    /// The Ed25519 key that signs a certificate, relative to this file. Without it the probes are attacked and nothing is
    /// certified.
    #[serde(default, skip_serializing)]
    pub key: Option<PathBuf>,
    /// Probes of somebody else, in this directory, instead of making them: `--probes`.
    #[serde(skip)]
    pub given: Option<PathBuf>,
    /// Whether the probes are made and committed to, and nobody is asked: `--commit-only`.
    #[serde(skip)]
    pub commit_only: bool,
    /// The mask under probe (default: blinded, rescaled).
    #[serde(default = "default_mask")]
    pub mask: MaskSettings,
    /// Decides every draw (default 1).
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// A word of an auditor's, drawn after the mask key's commitment was published: it decides every draw with the seed, so
    /// that nobody can have tried these probes before.
    pub nonce: Option<String>,
    /// Probes of each kind (default 2,000 of every kind, and 300 of those whose agent asks its own questions).
    #[serde(default)]
    pub probes: KindCounts,
    /// Steps that the kinds `days` and `linked` show (default 5).
    #[serde(default = "default_days")]
    pub days: usize,
    /// Steps of an episode (default 20).
    #[serde(default = "default_episode_steps")]
    pub episode_steps: usize,
    /// Into how many stretches the panel is spread, beside a third as many for training (default: as many as leave an episode
    /// and a half to each).
    pub stretches: Option<usize>,
    /// Windows that the episodes lie in, as in experiments, instead of `stretches`; training takes the days between.
    #[serde(default)]
    pub windows: Vec<WindowConfig>,
    /// Probes of each kind that the combination learns from (default: a sixth of the most probes of a kind, at least 20 and
    /// at most 300).
    pub training: Option<usize>,
    /// Probes under test that the attackers of the database answer in one unit of the study (default 2,000): other workers answer
    /// the other units. No figure depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_probes: Option<usize>,
    /// Probes of each control (default: as many as the most probes of a kind, at least 60 and at most 200).
    pub control_probes: Option<usize>,
    /// Stocks whose codes are given away in a probe of the kind `asked_known` (default 3): one number, or several that its
    /// probes take in turn, each with a bound of its own.
    #[serde(default = "default_given_away", deserialize_with = "one_or_more::read")]
    pub given_away: Vec<usize>,
    /// Trading days within which the day of a joint recovery lies (default 20).
    #[serde(default = "default_joint_days")]
    pub joint_days: usize,
    /// Confidence of each interval, over all attackers together (default 0.95).
    #[serde(default = "default_confidence")]
    pub confidence: f64,
    /// How far above chance an upper bound may lie.
    #[serde(default)]
    pub thresholds: Thresholds,
    /// Limits of the tools, as in experiments.
    #[serde(default)]
    pub tools: ToolLimits,
    /// The exchange's rules, where they differ from the defaults.
    #[serde(default)]
    pub rules: RulesConfig,
    /// Limits of the sessions that the certificate is for, as in experiments.
    #[serde(default)]
    pub session: SessionConfig,
    /// Language models that are asked the same probes.
    #[serde(default)]
    pub language: LanguageConfig,
}

const fn default_mask() -> MaskSettings {
    MaskSettings {
        level: Level::Blinded,
        numeric: Numeric::Rescaled,
    }
}

const fn default_seed() -> u64 {
    1
}

const fn default_days() -> usize {
    5
}

const fn default_episode_steps() -> usize {
    20
}

fn default_given_away() -> Vec<usize> {
    vec![3]
}

const fn default_joint_days() -> usize {
    DEFAULT_JOINT_DAYS
}

const fn default_confidence() -> f64 {
    DEFAULT_CONFIDENCE
}

/// Whether an auditor's word can stand in a line.
///
/// # Errors
/// [`CertifyError::Input`] for an empty or long one, and for spaces and signs that look alike.
pub fn check_nonce(nonce: &str) -> Result<(), CertifyError> {
    const CHARS_MOST: usize = 128;
    let is_word = !nonce.is_empty() && nonce.bytes().all(|byte| byte.is_ascii_graphic());
    if is_word && nonce.len() <= CHARS_MOST {
        return Ok(());
    }
    Err(CertifyError::input(
        format!("the nonce {nonce:?} is invalid"),
        format!(
            "use 1 to {CHARS_MOST} letters, digits and signs without a space, such as 64 hexadecimal digits"
        ),
    ))
}

const HINT: &str = "see `ktd probe --help` for an example";

impl CertifyConfig {
    /// Reads a file.
    ///
    /// # Errors
    /// [`CertifyError::File`], or [`CertifyError::Input`] naming key and line.
    pub fn read(path: &Path) -> Result<Self, CertifyError> {
        let text = read_input(path)?;
        Self::parse(&text)
            .map_err(|error| CertifyError::input(format!("{}: {error}", path.display()), error.hint()))
    }

    /// Parses a file's text.
    ///
    /// # Errors
    /// [`CertifyError::Input`] naming key and line.
    pub fn parse(text: &str) -> Result<Self, CertifyError> {
        let config: Self =
            toml::from_str(text).map_err(|error| CertifyError::input(unreadable(text, &error), HINT))?;
        config.check()?;
        Ok(config)
    }

    /// Whether the keys go together.
    ///
    /// # Errors
    /// [`CertifyError::Input`] naming the key.
    pub fn check(&self) -> Result<(), CertifyError> {
        let needs = |what: &str| Err(CertifyError::input(what, HINT));
        if !is_file_name(&self.name) {
            return needs("`name` must be letters, digits, `-`, `_` or `.`: it names a directory");
        }
        if self.panel.is_some() && self.synthetic.is_some() {
            return needs("`panel` and `synthetic` are both set: keep one");
        }
        if self.stretches.is_some() && !self.windows.is_empty() {
            return needs("`stretches` and `windows` are both set: keep one");
        }
        if self.tools.expressions {
            return needs(
                "`tools.expressions` is on: no certificate is about episodes with `screen_by_expression`",
            );
        }
        if self.stretches == Some(0) || self.probes.kinds().next().is_none() {
            return needs("there is nothing to probe: `stretches` and one of `probes` must be at least 1");
        }
        if self.key.is_some() && self.mask.level == Level::Bright {
            return Err(CertifyError::input(
                "the level `bright` shows every stock and every day: there is nothing to certify",
                "certify stock-blind, date-blind or blinded; `ktd probe` counts what bright gives away",
            ));
        }
        if self.given.is_some() && !self.language.agents.is_empty() {
            return Err(CertifyError::input(
                "language models cannot be asked about probes of somebody else: what they read is made by the mask alone",
                "remove `[language]`, or leave `--probes` out",
            ));
        }
        if self.block_probes == Some(0) {
            return needs("`block_probes` must be at least 1");
        }
        self.sizes().check()?;
        self.nonce.as_deref().map_or(Ok(()), check_nonce)?;
        if !(0.5 < self.confidence && self.confidence < 1.0) {
            return needs("`confidence` must lie between 0.5 and 1, such as 0.95");
        }
        self.thresholds.check()?;
        self.language.check()?;
        if let Some(agent) = self
            .language
            .agents
            .iter()
            .find(|agent| Attackers::NAMES.contains(&agent.id.as_str()))
        {
            return needs(&format!(
                "language model {:?} has the name of an attacker of the database",
                agent.id
            ));
        }
        Ok(unique(
            "windows",
            self.windows.iter().map(|window| window.id.as_str()),
        )?)
    }

    /// The most probes of a kind.
    fn most_probes(&self) -> usize {
        let counts = self.probes.kinds().map(|kind| self.probes.of(kind));
        counts.max().unwrap_or(0)
    }

    /// Probes of each kind that the combination learns from: a trial with few probes takes little time.
    #[must_use]
    pub fn training(&self) -> usize {
        self.training
            .unwrap_or_else(|| (self.most_probes() / 6).clamp(20, 300))
    }

    /// Probes of each control: fewer than 60 would leave sound attackers in doubt.
    #[must_use]
    pub fn control_probes(&self) -> usize {
        self.control_probes
            .unwrap_or_else(|| self.most_probes().clamp(60, 200))
    }

    fn sizes(&self) -> Sizes<'_> {
        Sizes {
            probes: self.probes,
            training: self.training(),
            control_probes: self.control_probes(),
            given_away: &self.given_away,
            days: self.days,
            episode_steps: self.episode_steps,
            joint_days: self.joint_days,
            stretches: self.stretches.unwrap_or(1),
        }
    }

    /// How sure bounds must be, and how far above chance they may lie.
    #[must_use]
    pub const fn criteria(&self) -> AcceptanceCriteria {
        AcceptanceCriteria {
            confidence: self.confidence,
            thresholds: self.thresholds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_enough() {
        let config = CertifyConfig::parse("name = \"x\"").unwrap();
        assert_eq!(config.probes, KindCounts::default());
        assert_eq!(config.given_away, [3]);
        let given_away = |text: &str| CertifyConfig::parse(text).unwrap().given_away;
        assert_eq!(given_away("name = \"x\"\ngiven_away = 2"), [2]);
        assert_eq!(given_away("name = \"x\"\ngiven_away = [1, 3, 10]"), [1, 3, 10]);
        assert_eq!(
            (config.days, config.episode_steps, config.joint_days),
            (5, 20, 20)
        );
        assert_eq!(
            (config.mask.level.label(), config.mask.numeric.label()),
            ("blinded", "rescaled")
        );
    }

    #[test]
    fn a_mask_that_there_is_not_is_refused() {
        for (mask, part) in [
            ("level = \"dark\"", "unknown mask level \"dark\""),
            (
                "level = \"blinded\", numeric = \"loud\"",
                "unknown numeric setting \"loud\"",
            ),
        ] {
            let text = format!("name = \"x\"\nmask = {{ {mask} }}");
            let error = CertifyConfig::parse(&text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn a_kind_that_is_not_named_is_left_out() {
        let config = CertifyConfig::parse("name = \"x\"\nprobes = { day = 7 }").unwrap();
        assert_eq!((config.probes.day, config.probes.kinds().count()), (7, 1));
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("name = \"x\"\nprobe = 1", "unknown field `probe`"),
            ("name = \"../x\"", "`name` must be"),
            ("name = \"x\"\nprobes = { week = 1 }", "unknown field `week`"),
            ("name = \"x\"\nconfidence = 95", "`confidence` must lie"),
            ("name = \"x\"\nstretches = 0", "nothing to probe"),
            ("name = \"x\"\nthresholds = { top1 = -1.0 }", "`thresholds.top1`"),
            (
                "name = \"x\"\nstretches = 1\nwindows = [{ id = \"W1\" }]",
                "both set",
            ),
            ("name = \"x\"\nseed = \"1\"", "line 2"),
            (
                "name = \"x\"\nprobes = { day = 9223372036854775807 }",
                "`probes.day` is 9223372036854775807",
            ),
            (
                "name = \"x\"\nprobes = { linked = 1000001 }",
                "`probes.linked` is",
            ),
            ("name = \"x\"\ntraining = 9223372036854775807", "`training` is"),
            ("name = \"x\"\ntraining = 0", "`training` is 0"),
            (
                "name = \"x\"\ncontrol_probes = 4611686018427387904",
                "`control_probes` is",
            ),
            ("name = \"x\"\nepisode_steps = 1001", "`episode_steps` is 1001"),
            ("name = \"x\"\ngiven_away = 21", "`given_away` is 21"),
            ("name = \"x\"\ngiven_away = [1, 0]", "`given_away` is [1, 0]"),
            ("name = \"x\"\ngiven_away = []", "`given_away` is []"),
            (
                "name = \"x\"\ngiven_away = \"3\"",
                "a number, or a list of numbers",
            ),
            ("name = \"x\"\nepisode_steps = 0", "`episode_steps` is 0"),
            (
                "name = \"x\"\njoint_days = 9223372036854775807",
                "`joint_days` is",
            ),
            ("name = \"x\"\nstretches = 9223372036854775807", "`stretches` is"),
        ] {
            let error = CertifyConfig::parse(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
