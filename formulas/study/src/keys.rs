//! Keys that the files of all studies of formulas share.

use ktd_alphas::NoiseMode;
use ktd_env::TradeDate;
use ktd_expressions::FormulaPrecision;
use ktd_study::{StudyError, plain_name, within};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The most draws of a law: each evaluates every formula once.
const MAX_DRAWS: usize = 1_000;

/// The highest deviation, penalty or cost.
pub(crate) const MOST: f64 = 1e9;

pub(crate) const fn half() -> f64 {
    0.5
}

pub(crate) const fn ten() -> usize {
    10
}

pub(crate) const fn first_seed() -> u64 {
    1
}

/// First and last day of each split, both included.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct StudySplits {
    /// Days from which signs and weights are learned.
    pub train: Option<[String; 2]>,
    /// Days by which alphas are chosen.
    pub valid: Option<[String; 2]>,
    /// Days that are opened once.
    pub test: Option<[String; 2]>,
}

/// Where the formulas of a pool are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct PoolSource {
    /// The pool's name.
    pub id: String,
    /// A built-in set.
    pub builtin: Option<String>,
    /// A file of formulas.
    pub file: Option<PathBuf>,
    /// The formulas of the file that belong to this pool; none for all.
    pub pool: Option<String>,
    /// A folder that a search has written.
    pub mined: Option<PathBuf>,
    /// How many formulas are kept, from the first on.
    pub first: Option<usize>,
    /// The last day that whoever made the formulas may know of: a model's last day of training, or `unknown`.
    pub known_until: Option<String>,
    /// How many expressions were tried to get the pool, those that are no copies of each other: what its deflated ratios count. A search
    /// of `mined` has counted its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tried: Option<usize>,
    /// Who or what made the pool, as the report shall say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made_by: Option<String>,
    /// First and last day of those by which the pool was chosen, both included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen_on: Option<[String; 2]>,
}

/// The most expressions that anybody has tried.
const MOST_TRIED: usize = 1_000_000_000;

/// The longest text of whoever made a pool.
const LONGEST_MAKER: usize = 200;

impl PoolSource {
    /// Refuses what cannot be said of how a pool was made.
    fn check(&self) -> Result<(), StudyError> {
        let of = |what: &str| format!("pool {:?}: {what}", self.id);
        if self.mined.is_some() && (self.tried.is_some() || self.chosen_on.is_some()) {
            let what =
                of("`tried` and `chosen_on` are declared, and its search has counted and says its days");
            return Err(StudyError::input(
                what,
                "remove both: they stand in its pool.json",
            ));
        }
        if let Some(tried) = self.tried {
            within(&of("tried"), tried, 1..=MOST_TRIED)?;
        }
        if let Some(maker) = &self.made_by {
            within(
                &of("characters of made_by"),
                maker.chars().count(),
                1..=LONGEST_MAKER,
            )?;
        }
        let Some([first, last]) = &self.chosen_on else {
            return Ok(());
        };
        let day = |text: &String| TradeDate::parse(text);
        if day(first).is_ok() && day(last).is_ok() && first <= last {
            return Ok(());
        }
        let what = of(&format!("chosen_on is {first:?} to {last:?}"));
        Err(StudyError::input(
            what,
            "write the first and the last day, in this order, as [\"2020-01-02\", \"2020-12-31\"]",
        ))
    }
}

/// How inputs are perturbed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct StudyNoise {
    /// What is perturbed; a search knows `input` alone.
    pub mode: NoiseMode,
    /// Draws of each law, or of the normal one in a search (default 5, of a search 1); 0 leaves robustness out.
    pub draws: Option<usize>,
    /// The deviation of a factor; none for that of the index's daily returns.
    pub sigma: Option<f64>,
}

/// How columns and elements are computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StudyNumeric {
    /// Qlib's own types.
    #[default]
    Qlib,
    /// Everything in float64.
    F64,
}

impl StudyNumeric {
    /// The engine's precision.
    #[must_use]
    pub const fn precision(self) -> FormulaPrecision {
        match self {
            Self::Qlib => FormulaPrecision::Qlib,
            Self::F64 => FormulaPrecision::Float64,
        }
    }
}

/// Sets paths to where they lie from the folder of a file.
pub(crate) fn based<'p>(paths: impl IntoIterator<Item = &'p mut Option<PathBuf>>, base: &Path) {
    for path in paths.into_iter().flatten() {
        *path = base.join(&*path);
    }
}

/// Refuses what no study of a market takes.
pub(crate) fn check_market(
    name: &str,
    (panel, bins): (&Option<PathBuf>, &Option<PathBuf>),
    (beta, min_names, noise): (f64, usize, StudyNoise),
) -> Result<(), StudyError> {
    plain_name(name)?;
    if panel.is_some() && bins.is_some() {
        return Err(StudyError::input("`panel` and `bins` are both set", "keep one"));
    }
    within("beta", beta, 0.0..=1.0)?;
    within("min_names", min_names, 2..=1_000_000)?;
    within("noise.sigma", noise.sigma.unwrap_or_default(), 0.0..=MOST)?;
    within("noise.draws", noise.draws.unwrap_or_default(), 0..=MAX_DRAWS)
}

/// Refuses pools without one source each, and ids that stand twice.
pub(crate) fn check_pools(pools: &[PoolSource]) -> Result<(), StudyError> {
    if pools.is_empty() {
        return Err(StudyError::input(
            "there is no pool",
            "write pools = [{ id = \"alpha158\", builtin = \"alpha158\" }]",
        ));
    }
    let mut seen = BTreeSet::new();
    for pool in pools {
        if pool.id.is_empty() || !seen.insert(&pool.id) {
            return Err(StudyError::input(
                format_args!("two pools have the id {:?}, or it is empty", pool.id),
                "give each pool an id of its own",
            ));
        }
        let sources = [pool.builtin.is_some(), pool.file.is_some(), pool.mined.is_some()];
        if sources.into_iter().filter(|is_set| *is_set).count() != 1 {
            return Err(StudyError::input(
                format_args!(
                    "pool {:?} must have one of `builtin`, `file` and `mined`",
                    pool.id
                ),
                "keep one of the three",
            ));
        }
        pool.check()?;
    }
    Ok(())
}
