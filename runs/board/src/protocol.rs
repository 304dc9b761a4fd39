//! The rules that bundles must share to be ranked together.

use super::family;
use super::record::Protocol;
use super::regime::REGIME_RULE;
use crate::BoardError;
use ktd_attribution::account::WeightBasis;
use ktd_bundle::bundle_ref::BundleRef;
use ktd_env::factors::Factor;
use ktd_experiment::pooled_days::POOLING_RULE;
use ktd_io::sha256::sha256_hex;
use serde::Serialize;

/// By which rule windows are pairs of a test, as the hash of a board's metrics names it: it reads days alone.
pub(super) const OVERLAP_RULE: &str = "paired windows = by last day, then the later first day, then id; one that shares \
                                       a day with a window before it is left out";

/// What the metrics of this program mean; a change of a definition is a new number.
const METRICS_VERSION: u32 = 4;

impl Protocol {
    /// The protocol of one bundle under a factor model's configuration.
    ///
    /// # Errors
    /// [`BoardError::File`] when a part cannot be hashed.
    pub fn of(found: &BundleRef, model_configuration: &str) -> Result<Self, BoardError> {
        let header = &found.header;
        let metrics = format!(
            "metrics {METRICS_VERSION}\nbasis = {}\n{}{OVERLAP_RULE}\n{POOLING_RULE}\n{REGIME_RULE}{model_configuration}",
            WeightBasis::HEADLINE.label(),
            family::text()
        );
        Ok(Self {
            data: header.data.panel_blake3.clone(),
            rules: hash(found, &header.rules.keys())?,
            prompts: header.prompts_sha256.clone(),
            tools: hash(found, &(&header.tools_sha256, &header.tools, &header.session))?,
            metrics: sha256_hex(metrics.as_bytes()),
        })
    }

    /// Binds the factors that the screen kept: it reads the panel, so that the settings alone do not tell them.
    pub(super) fn freeze(&mut self, styles: &[Factor]) {
        let names: Vec<&str> = styles.iter().map(|style| style.name()).collect();
        self.metrics = sha256_hex(format!("{}\n{}", self.metrics, names.join(" ")).as_bytes());
    }

    /// Its parts by name.
    #[must_use]
    pub fn parts(&self) -> [(&'static str, &str); 5] {
        [
            ("data", &self.data),
            ("rules", &self.rules),
            ("prompts", &self.prompts),
            ("tools", &self.tools),
            ("metrics", &self.metrics),
        ]
    }
}

fn hash(found: &BundleRef, value: &impl Serialize) -> Result<String, BoardError> {
    let bytes = serde_json_canonicalizer::to_vec(value)
        .map_err(|error| BoardError::damaged(&found.root.join("header.json"), error.to_string()))?;
    Ok(sha256_hex(&bytes))
}

/// The one protocol of all bundles.
///
/// # Errors
/// [`BoardError::Input`] when two differ: which, and in which part.
pub(super) fn common(found: &[BundleRef], model_configuration: &str) -> Result<Protocol, BoardError> {
    let nothing = || BoardError::input("there is no finished episode to rank", "run one with `ktd run`");
    let first = found.first().ok_or_else(nothing)?;
    let protocol = Protocol::of(first, model_configuration)?;
    for other in found {
        let theirs = Protocol::of(other, model_configuration)?;
        let differs: Vec<&str> = protocol
            .parts()
            .into_iter()
            .zip(theirs.parts())
            .filter(|(ours, theirs)| ours != theirs)
            .map(|((part, _), _)| part)
            .collect();
        if !differs.is_empty() {
            let what = format!(
                "{} and {} cannot be ranked together: their {} differ",
                first.root.display(),
                other.root.display(),
                differs.join(" and ")
            );
            return Err(BoardError::input(
                what,
                "rank runs of one protocol: the same panel, rules, prompts, tools and metrics",
            ));
        }
    }
    Ok(protocol)
}
