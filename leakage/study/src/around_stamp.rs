//! Scores of ridge regression against the returns around their stamp, under the reference and the two dominant protocols.

use super::config::LeakConfig;
use super::grid::LeakSource;
use super::report_rows::{LadderRow, ProfileRow};
use crate::StudyError;
use ktd_leakage::{
    FillRule, KnownAt, LeakageError, ModelFamily, RunKey, SignalGrid, Switch, fill_ladder, signal_profile,
};

/// The protocols whose scores are shown.
pub(super) const SHOWN: [Switch; 3] = [Switch::Clean, Switch::TempCenter, Switch::ExecOpen];

/// The profile and the ladder of the last test year at the first horizon.
///
/// # Errors
/// [`StudyError`] for a panel on which the year cannot be fitted.
pub(super) fn around_stamp(
    config: &LeakConfig,
    source: &LeakSource,
) -> Result<(Vec<ProfileRow>, Vec<LadderRow>), StudyError> {
    let (mut profile, mut ladder) = (Vec::new(), Vec::new());
    let (Some(horizon), Some(year)) = (config.horizons.first(), source.years.last()) else {
        return Ok((profile, ladder));
    };
    let invalid = |error: LeakageError| StudyError::input(error.to_string(), "use a longer panel");
    for switch in SHOWN {
        let key = RunKey {
            family: ModelFamily::Ridge,
            switch,
            horizon: *horizon,
            year: *year,
            seed: 0,
        };
        let bars = source.bench.bars();
        let mut cells = vec![f64::NAN; bars.sessions() * bars.names()];
        for day in key.scores(&source.bench).map_err(invalid)? {
            for (name, score) in day.scores {
                if let Some(cell) = cells.get_mut(day.session * bars.names() + name) {
                    *cell = score;
                }
            }
        }
        let signal = SignalGrid::new(bars, &cells).map_err(invalid)?;
        let protocol = switch.name().to_owned();
        let pieces = signal_profile(bars, &signal, KnownAt::Close, config.min_names);
        profile.extend(pieces.into_iter().map(|found| ProfileRow {
            protocol: protocol.clone(),
            piece: found.piece.0,
            days: found.days,
            ic: found.ic,
            t: found.t,
        }));
        let rungs = FillRule::LADDER.map(|fill| fill_ladder(bars, &signal, fill, config.min_names));
        ladder.extend(rungs.into_iter().map(|rung| LadderRow {
            protocol: protocol.clone(),
            fill: rung.fill.name().to_owned(),
            sharpe: rung.sharpe.ok(),
            turnover: rung.turnover,
            days: rung.days,
        }));
    }
    Ok((profile, ladder))
}
