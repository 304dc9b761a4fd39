//! What ridge regression shows of a test year: two interventions, and its scores against the returns around their stamp.

use crate::bench::LeakageBench;
use crate::error::LeakageError;
use crate::key::{ModelFamily, RunKey};
use crate::ladder::fill_ladder;
use crate::mask_check::mask_check;
use crate::profile::signal_profile;
use crate::signal::{KnownAt, SignalGrid};
use crate::suffix::{SuffixPaths, suffix_check};
use crate::switch::{FillRule, Switch};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Seed of the paths that replace what lies after the cut.
const SUFFIX_SEED: u64 = 1;

/// What two interventions find of a protocol, ridge regression being the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SanityRow {
    /// The protocol.
    pub protocol: Switch,
    /// Cells of features up to the cut that changed when all after it was replaced.
    pub suffix_cells_changed: usize,
    /// Sessions up to the cut with another score.
    pub suffix_sessions_changed: usize,
    /// Mean change of a score over the deviation of its session's scores.
    pub suffix_change: f64,
    /// Annual ratio with the signal day's bar.
    pub sharpe_full: Option<f64>,
    /// Annual ratio with its open alone.
    pub sharpe_masked: Option<f64>,
    /// The difference.
    pub sharpe_change: Option<f64>,
}

/// How the scores of ridge regression go with one piece of return around their stamp.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileRow {
    /// The protocol.
    pub protocol: Switch,
    /// The piece: 2j - 1 is the night into the session j after the stamp, 2j that session.
    pub piece: i64,
    /// Days with a correlation.
    pub days: usize,
    /// Mean daily rank correlation.
    pub ic: Option<f64>,
    /// Its t by Newey and West.
    pub t: Option<f64>,
}

/// What the best tenth of ridge regression's scores earns at one fill.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LadderRow {
    /// The protocol.
    pub protocol: Switch,
    /// Where orders are filled.
    pub fill: FillRule,
    /// Annual ratio after 5 hundredths of a percent a turnover.
    pub sharpe: Option<f64>,
    /// Mean daily turnover.
    pub turnover: Option<f64>,
    /// Days traded.
    pub days: usize,
}

/// What ridge regression shows of a test year. It may be impossible where the years could be run: then it says why, and
/// the gains stand.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeakProofs {
    pub(crate) interventions: Vec<SanityRow>,
    pub(crate) profile: Vec<ProfileRow>,
    pub(crate) ladder: Vec<LadderRow>,
    pub(crate) notes: Vec<String>,
}

impl LeakProofs {
    /// The proofs of a year and a horizon.
    #[must_use]
    pub fn of(bench: &LeakageBench, of: (usize, i32)) -> Self {
        let mut proofs = Self::default();
        match interventions(bench, of) {
            Ok(rows) => proofs.interventions = rows,
            Err(error) => proofs.notes.push(format!("no interventions: {error}")),
        }
        match around_stamp(bench, of) {
            Ok((profile, ladder)) => (proofs.profile, proofs.ladder) = (profile, ladder),
            Err(error) => proofs
                .notes
                .push(format!("no profile and no fill ladder: {error}")),
        }
        proofs
    }
}

/// Replaces what lies after a cut, and masks the signal day's bar, for the reference and the two dominant protocols.
///
/// # Errors
/// [`LeakageError`] for a panel that is too short, and a year that cannot be fitted.
pub fn interventions(bench: &LeakageBench, of: (usize, i32)) -> Result<Vec<SanityRow>, LeakageError> {
    let paths = SuffixPaths::drawn(bench.bars().names(), SUFFIX_SEED);
    let row = |switch| {
        let suffix = suffix_check(bench, switch, of, &paths)?;
        let mask = mask_check(bench, switch, of)?;
        Ok(SanityRow {
            protocol: switch,
            suffix_cells_changed: suffix.cells_changed,
            suffix_sessions_changed: suffix.sessions_changed.len(),
            suffix_change: suffix.normalised_change,
            sharpe_change: mask.change(),
            sharpe_full: mask.full.ok(),
            sharpe_masked: mask.masked.ok(),
        })
    };
    Switch::PROVED.into_iter().map(row).collect()
}

/// The profile and the ladder of the scores of a year.
fn around_stamp(
    bench: &LeakageBench,
    (horizon, year): (usize, i32),
) -> Result<(Vec<ProfileRow>, Vec<LadderRow>), LeakageError> {
    let (mut profile, mut ladder) = (Vec::new(), Vec::new());
    let (bars, min_names) = (bench.bars(), bench.settings().min_names);
    for protocol in Switch::PROVED {
        let key = RunKey {
            family: ModelFamily::Ridge,
            switch: protocol,
            horizon,
            year,
            seed: 0,
        };
        let mut cells = vec![f64::NAN; bars.sessions() * bars.names()];
        for day in key.scores(bench)? {
            for (name, score) in day.scores {
                if let Some(cell) = cells.get_mut(day.session * bars.names() + name) {
                    *cell = score;
                }
            }
        }
        let signal = SignalGrid::new(bars, &cells)?;
        let pieces = signal_profile(bars, &signal, KnownAt::Close, min_names);
        profile.extend(pieces.into_iter().map(|found| ProfileRow {
            protocol,
            piece: found.piece.0,
            days: found.days,
            ic: found.ic,
            t: found.t,
        }));
        ladder.extend(FillRule::LADDER.map(|fill| {
            let rung = fill_ladder(bars, &signal, fill, min_names);
            LadderRow {
                protocol,
                fill,
                sharpe: rung.sharpe,
                turnover: rung.turnover,
                days: rung.days,
            }
        }));
    }
    Ok((profile, ladder))
}
