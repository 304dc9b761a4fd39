//! Volumes of bars that compare across splits.

use crate::context::ToolContext;
use crate::statistics::mean;
use ktd_env::{Bar, NameId};

/// Bars whose mean volume is the unit of volumes under `rescaled`.
const VOLUME_MEAN_BARS: usize = 20;

/// A bar's volume in terms of the last bar's shares, so that a split shows no jump.
#[expect(clippy::cast_precision_loss, reason = "volumes stay far below 2^53 shares")]
pub(crate) fn volume_like(bar: &Bar, last: &Bar) -> f64 {
    bar.volume as f64 / bar.factor_value * last.factor_value
}

/// Mean volume of the last 20 bars in terms of the last bar's shares.
pub(crate) fn mean_volume(context: &ToolContext<'_>, name: NameId) -> Option<f64> {
    let bars = context.as_of.bars(name, VOLUME_MEAN_BARS);
    let (_, last) = bars.last()?;
    mean(
        &bars
            .iter()
            .map(|(_, bar)| volume_like(bar, last))
            .collect::<Vec<_>>(),
    )
}
