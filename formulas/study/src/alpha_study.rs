//! The file of an evaluation of alphas.

use crate::keys::{
    MOST, PoolSource, StudyNoise, StudyNumeric, StudySplits, based, check_market, check_pools, first_seed,
    half, ten,
};
use ktd_alphas::{LabelKind, Ties};
use ktd_formulas::FormulaUniverse;
use ktd_study::{StudyError, within};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What a study of alphas evaluates, on what, and how.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AlphaStudy {
    /// `alpha-eval`.
    #[serde(default, skip_serializing)]
    pub kind: Option<String>,
    /// Its name: that of its folder of results.
    pub name: String,
    /// A panel file; without it and without `bins`, the synthetic market.
    #[serde(default)]
    pub panel: Option<PathBuf>,
    /// A data directory of Qlib.
    #[serde(default)]
    pub bins: Option<PathBuf>,
    /// The days.
    pub splits: StudySplits,
    /// What alphas are to predict.
    #[serde(default)]
    pub label: LabelKind,
    /// The pools.
    pub pools: Vec<PoolSource>,
    /// The folder of `ktd alpha judge`, whose scores of the logic of formulas stand beside the figures.
    #[serde(default)]
    pub judged: Option<PathBuf>,
    /// How inputs are perturbed for robustness.
    #[serde(default)]
    pub noise: StudyNoise,
    /// Whether an alpha's sign is learned.
    #[serde(default)]
    pub orientation: StudyOrientation,
    /// Who counts.
    #[serde(default)]
    pub universe: FormulaUniverse,
    /// The account that trades each alpha through the simulation's exchange; none leaves it out.
    #[serde(default)]
    pub exchange: Option<StudyExchange>,
    /// How columns and elements are computed.
    #[serde(default)]
    pub numeric: StudyNumeric,
    /// The weight of the correlation of values in predictive power.
    #[serde(default = "half")]
    pub beta: f64,
    /// Fewest usable names of a day.
    #[serde(default = "ten")]
    pub min_names: usize,
    /// What trading costs where something is concluded, in basis points of the value traded.
    #[serde(default = "ten_bps")]
    pub cost_bps: f64,
    /// Who is held of names with equal scores: all of them, who share a side's last places, or the first by `code`.
    #[serde(default)]
    pub ties: Ties,
    /// The penalty of the ridge combination.
    #[serde(default = "one")]
    pub ridge_penalty: f64,
    /// Whether the test split stays closed: `--no-test`.
    #[serde(default)]
    pub test_closed: bool,
    /// Megabytes that the scores of a block of alphas, a unit of the study, may take (default 256); no figure depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch_mb: Option<usize>,
    /// Seed of noise and intervals.
    #[serde(default = "first_seed")]
    pub seed: u64,
}

const fn ten_bps() -> f64 {
    10.0
}

const fn one() -> f64 {
    1.0
}

/// The highest cost: all of the value traded.
const MOST_COST_BPS: f64 = 10_000.0;

/// How an alpha's sign is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StudyOrientation {
    /// Turned where its rank correlation on train days is below 0.
    #[default]
    Train,
    /// As written.
    None,
}

/// The account that trades an alpha through the simulation's exchange.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct StudyExchange {
    /// Names that it holds.
    pub top: usize,
    /// Its cash, CNY.
    pub cash: u32,
    /// The splits on which it trades.
    pub splits: Vec<String>,
}

impl Default for StudyExchange {
    fn default() -> Self {
        Self {
            top: 20,
            cash: 1_000_000,
            splits: vec!["test".to_owned()],
        }
    }
}

impl StudyExchange {
    fn check(&self) -> Result<(), StudyError> {
        within("exchange.top", self.top, 1..=300)?;
        // Below it the account buys no lot of most names.
        within("exchange.cash", self.cash, 100_000..=u32::MAX)?;
        let known = ["train", "valid", "test"];
        let unknown = self.splits.iter().find(|split| !known.contains(&split.as_str()));
        let hint = "name some of \"train\", \"valid\" and \"test\"";
        match unknown {
            Some(split) => Err(StudyError::input(
                format_args!("exchange.splits names {split:?}"),
                hint,
            )),
            None if self.splits.is_empty() => Err(StudyError::input("exchange.splits is empty", hint)),
            None => Ok(()),
        }
    }
}

impl AlphaStudy {
    /// Draws of each law of noise.
    #[must_use]
    pub fn draws(&self) -> usize {
        self.noise.draws.unwrap_or(5)
    }

    /// The keys that decide figures: where files lie does not, their hashes stand beside, nor what is evaluated together.
    pub(crate) fn without_places(&self) -> serde_json::Value {
        let mut study = self.clone();
        (study.panel, study.bins, study.judged, study.batch_mb) = (None, None, None, None);
        for pool in &mut study.pools {
            (pool.file, pool.mined) = (None, None);
        }
        // Numbers, text and lists of them cannot fail to be written.
        serde_json::to_value(&study).unwrap_or_default()
    }

    /// The study with the path of its market from where its file lies.
    pub(crate) fn based(mut self, base: &Path) -> Self {
        based([&mut self.panel, &mut self.bins], base);
        self
    }

    pub(crate) fn check(&self) -> Result<(), StudyError> {
        let market = (&self.panel, &self.bins);
        check_market(&self.name, market, (self.beta, self.min_names, self.noise))?;
        within("ridge_penalty", self.ridge_penalty, 0.0..=MOST)?;
        within("cost_bps", self.cost_bps, 0.0..=MOST_COST_BPS)?;
        if let Some(exchange) = &self.exchange {
            exchange.check()?;
            if self.bins.is_some() {
                return Err(StudyError::input(
                    "`exchange` and `bins` are both set: bins hold no prices as traded",
                    "import a panel with `ktd data import`, or remove `exchange`",
                ));
            }
        }
        check_pools(&self.pools)
    }
}

#[cfg(test)]
mod tests {
    use super::AlphaStudy;
    use ktd_study::StudyError;

    const SPLITS: &str = "splits = { train = ['2020-01-02', '2020-12-31'] }\n";

    fn read(text: &str) -> Result<AlphaStudy, StudyError> {
        let study: AlphaStudy =
            toml::from_str(text).map_err(|error| StudyError::input(error, "as in the kernel"))?;
        study.check().map(|()| study)
    }

    #[test]
    fn keys_that_contradict_say_which() {
        let one = "pools = [{ id = 'a', builtin = 'alpha158' }]\n";
        for (keys, part) in [
            ("name = 'x'\npools = []\n", "there is no pool"),
            ("name = 'x'\ncolour = 1\n", "unknown field `colour`"),
            (
                "name = 'x'\npools = [{ id = 'a', builtin = 'alpha158' }, { id = 'a', file = 'f.csv' }]\n",
                "two pools have the id \"a\"",
            ),
            (
                "name = 'x'\npools = [{ id = 'a' }]\n",
                "one of `builtin`, `file` and `mined`",
            ),
            (&format!("name = '../x'\n{one}"), "is no name of a folder"),
            (&format!("name = 'x'\nbeta = 2.0\n{one}"), "beta is 2"),
            (&format!("name = 'x'\nmin_names = 1\n{one}"), "min_names"),
            (&format!("name = 'x'\npanel = 'p'\nbins = 'b'\n{one}"), "both set"),
            (
                &format!("name = 'x'\nnoise = {{ sigma = -1.0 }}\n{one}"),
                "noise.sigma",
            ),
            (
                &format!("name = 'x'\nnoise = {{ draws = 1001 }}\n{one}"),
                "noise.draws is 1001",
            ),
            (
                &format!("name = 'x'\nexchange = {{ top = 0 }}\n{one}"),
                "exchange.top",
            ),
            (
                &format!("name = 'x'\nexchange = {{ cash = 1 }}\n{one}"),
                "exchange.cash",
            ),
            (
                &format!("name = 'x'\nexchange = {{ splits = ['later'] }}\n{one}"),
                "exchange.splits names \"later\"",
            ),
            (
                &format!("name = 'x'\nexchange = {{ splits = [] }}\n{one}"),
                "exchange.splits is empty",
            ),
            (
                &format!("name = 'x'\nbins = 'b'\nexchange = {{}}\n{one}"),
                "no prices as traded",
            ),
            (&format!("name = 'x'\nnoise = {{ mode = 'loud' }}\n{one}"), "loud"),
        ] {
            let error = read(&format!("{SPLITS}{keys}")).unwrap_err();
            assert!(error.to_string().contains(part), "{keys}: {error}");
            assert!(!error.hint().is_empty(), "{keys}");
        }
        let study = read(&format!("name = 'x'\n{SPLITS}{one}")).unwrap();
        assert_eq!((study.draws(), study.min_names, study.seed), (5, 10, 1));
    }
}
