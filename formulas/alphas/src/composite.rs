//! The composite of an alpha: its mean place among the alphas of a report.

use crate::figure_row::FigureRow;
use ktd_stats::moments::{count, mean};
use ktd_stats::{Undefined, mid_ranks, spearman};

/// Percentiles from 0 to 100, ties averaged; `None` for an undefined value, and where no other is defined.
#[must_use]
pub(crate) fn percentiles(values: &[Option<f64>]) -> Vec<Option<f64>> {
    let present: Vec<f64> = values.iter().copied().flatten().collect();
    let most = count(present.len()) - 1.0;
    let mut ranks = mid_ranks(&present).into_iter();
    values
        .iter()
        .map(|value| {
            let rank = value.and_then(|_| ranks.next())?;
            (0.0 < most).then(|| 100.0 * (rank - 1.0) / most)
        })
        .collect()
}

/// The mean percentile of each alpha over its metrics: one column a metric, one value an alpha. An alpha with fewer than
/// two defined metrics has none.
#[must_use]
pub fn composite_scores(metrics: &[Vec<Option<f64>>]) -> Vec<Result<f64, Undefined>> {
    let columns: Vec<Vec<Option<f64>>> = metrics.iter().map(|values| percentiles(values)).collect();
    let alphas = metrics.iter().map(Vec::len).max().unwrap_or(0);
    let of_alpha = |alpha: usize| {
        let places: Vec<f64> = columns
            .iter()
            .filter_map(|column| column.get(alpha).copied().flatten())
            .collect();
        let few = Undefined::TooFew {
            items: "metrics",
            count: places.len(),
            need: 2,
        };
        mean(&places).filter(|_| 2 <= places.len()).ok_or(few)
    };
    (0..alphas).map(of_alpha).collect()
}

/// Rank correlations of the composite with figures that it is made of, and with the ratio of the portfolio, over alphas: whose rank it is.
pub const COMPOSITE_FIGURES: [&str; 4] = ["composite_rre", "composite_pfs", "composite_pps", "composite_sr"];

/// The figures of [`COMPOSITE_FIGURES`]; none where fewer than three alphas have both sides.
#[must_use]
pub fn composite_correlations(alphas: &[&FigureRow]) -> FigureRow {
    let mut row = FigureRow::default();
    for figure in COMPOSITE_FIGURES {
        let name = figure.trim_start_matches("composite_");
        let both = alphas
            .iter()
            .filter_map(|alpha| Some((alpha.get("composite")?, alpha.get(name)?)));
        let (composites, others): (Vec<f64>, Vec<f64>) = both.unzip();
        let found = spearman(&composites, &others).ok().flatten();
        let found = found.filter(|_| 3 <= composites.len());
        row.put(figure, found.ok_or_else(|| "too_few".to_owned()));
    }
    row
}

#[cfg(test)]
mod tests {
    use super::{FigureRow, composite_correlations, composite_scores, percentiles};

    #[test]
    fn ties_share_a_percentile_and_what_is_undefined_has_none() {
        let found = percentiles(&[Some(3.0), None, Some(1.0), Some(3.0), Some(9.0), Some(2.0)]);
        assert_eq!(
            found,
            [Some(62.5), None, Some(0.0), Some(62.5), Some(100.0), Some(25.0)]
        );
        assert_eq!(percentiles(&[Some(1.0), None]), [None, None]);
        let scores = composite_scores(&[
            vec![Some(1.0), Some(2.0)],
            vec![Some(1.0), None],
            vec![Some(5.0), Some(4.0)],
        ]);
        assert_eq!(scores[0], Ok(50.0));
        assert_eq!(scores[1], Ok(50.0));
        assert!(composite_scores(&[vec![Some(1.0), Some(2.0)]])[0].is_err());
    }

    #[test]
    fn a_composite_says_which_of_its_parts_decides() {
        let row = |composite: f64, rre: f64, sr: f64| {
            let mut row = FigureRow::default();
            for (name, value) in [("composite", composite), ("rre", rre), ("sr", sr)] {
                row.put(name, Ok(value));
            }
            row
        };
        let rows = [row(10.0, 0.7, 2.0), row(20.0, 0.8, 1.0), row(90.0, 0.9, 0.5)];
        let found = composite_correlations(&rows.iter().collect::<Vec<_>>());
        assert_eq!(found.get("composite_rre"), Some(1.0));
        assert_eq!(found.get("composite_sr"), Some(-1.0));
        assert_eq!(found.undefined["composite_pps"], "too_few");
        assert_eq!(
            composite_correlations(&rows[..2].iter().collect::<Vec<_>>()).get("composite_rre"),
            None
        );
    }
}
