//! Memory gaps by where windows lie beside a model's training cutoff.

use super::contrast::windows;
use super::record::{Bounds, CutoffGap, CutoffSide, Gap, GapKind, GapTest, SideTest, Track, WindowGap};
use ktd_masking::{Level, Mode, Numeric};
use ktd_stats::moments::count;
use ktd_stats::{Confidence, MeanContrasts, PValueMethod, Sample, Zeros, mann_whitney, wilcoxon};
use std::collections::BTreeMap;

/// Agent, cutoff, mode, numbers, kind and side: the order of a board's table.
type Key = (String, String, Mode, &'static str, GapKind, CutoffSide);

/// The gaps of every agent that names a cutoff, over windows that hold no other.
pub(super) fn cutoff_gaps(tracks: &[Track]) -> Vec<CutoffGap> {
    let apart = windows(tracks);
    let mut found: BTreeMap<Key, (Numeric, Vec<WindowGap>)> = BTreeMap::new();
    let blinded = tracks.iter().filter(|track| track.level == Level::Blinded);
    for track in blinded.filter(|track| apart.contains(&track.window.as_str())) {
        for leader in &track.leaders {
            let both = leader.cutoff.as_ref().zip(leader.memory_gap.as_ref());
            let Some(((cutoff, gap), side)) = both.and_then(|both| Some((both, side(both.0, &track.dates)?)))
            else {
                continue;
            };
            let key = (
                leader.agent.clone(),
                cutoff.clone(),
                track.mode,
                track.numeric.label(),
                gap.kind,
                side,
            );
            let (_, windows) = found.entry(key).or_insert_with(|| (track.numeric, Vec::new()));
            windows.push(WindowGap {
                window: track.window.clone(),
                regime: track.regime.map(|regime| regime.regime),
                gap: gap.clone(),
            });
        }
    }
    let returns = |windows: &[WindowGap]| -> Vec<f64> {
        windows.iter().map(|window| window.gap.total_return).collect()
    };
    let before: BTreeMap<Key, Vec<f64>> = found
        .iter()
        .filter(|(key, _)| key.5 == CutoffSide::Before)
        .map(|(key, (_, windows))| (key.clone(), returns(windows)))
        .collect();
    let row = |(key, (numeric, windows)): (Key, (Numeric, Vec<WindowGap>))| {
        let (agent, cutoff, mode, _, kind, side) = key.clone();
        let mut other = key;
        other.5 = CutoffSide::Before;
        let other = before.get(&other).filter(|_| side == CutoffSide::After);
        CutoffGap {
            agent,
            cutoff,
            mode,
            numeric,
            kind,
            side,
            mean: mean(kind, &windows),
            total_return: test(windows.iter().map(|window| Some(window.gap.total_return))),
            selection: test(windows.iter().map(|window| window.gap.selection)),
            against_before: other.and_then(|before| side_test(before, &returns(&windows))),
            windows,
        }
    };
    found.into_iter().map(row).collect()
}

/// Whether gaps before a cutoff are others than after it.
fn side_test(before: &[f64], after: &[f64]) -> Option<SideTest> {
    let found = mann_whitney(before, after).ok()?;
    let mean = |gaps: &[f64]| gaps.iter().sum::<f64>() / count(gaps.len());
    Some(SideTest {
        difference: mean(before) - mean(after),
        p: found.p,
        is_exact: found.is_exact,
    })
}

/// On which side of a cutoff days lie; none of no day. Dates of one form are in the order of their texts.
fn side(cutoff: &str, dates: &[String]) -> Option<CutoffSide> {
    let (first, last) = (dates.first()?.as_str(), dates.last()?.as_str());
    Some(if last <= cutoff {
        CutoffSide::Before
    } else if cutoff < first {
        CutoffSide::After
    } else {
        CutoffSide::Across
    })
}

/// Means over windows; of selection where every window has one.
fn mean(kind: GapKind, windows: &[WindowGap]) -> Gap {
    let all = count(windows.len());
    let selection: Option<f64> = windows.iter().map(|window| window.gap.selection).sum();
    Gap {
        kind,
        total_return: windows.iter().map(|window| window.gap.total_return).sum::<f64>() / all,
        selection: selection.map(|sum| sum / all),
    }
}

/// How sure the mean of gaps is, one a window; none where a window has none.
fn test(gaps: impl Iterator<Item = Option<f64>>) -> Option<GapTest> {
    let gaps: Vec<f64> = gaps.collect::<Option<_>>()?;
    let sample = Sample::new("memory gaps", &gaps).ok()?;
    let mean = MeanContrasts::of_windows(&sample).ok()?;
    let interval = mean.estimate().ok()?.interval(Confidence::P95).ok()?;
    let found = wilcoxon(&sample, Zeros::Wilcox).ok()?;
    Some(GapTest {
        interval: Bounds {
            low: interval.lower,
            high: interval.upper,
        },
        p: found.p,
        is_exact: found.method == PValueMethod::Exact,
        least_p: found.minimum_p(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The interval of `ttest_1samp`, p of `wilcoxon` of scipy.
    #[test]
    fn a_gap_is_judged_by_what_windows_differ_by() {
        let found = test([0.01, 0.03, 0.02, 0.06].map(Some).into_iter()).unwrap();
        assert_eq!(
            (found.p.to_bits(), found.least_p.to_bits(), found.is_exact),
            (0.125_f64.to_bits(), 0.125_f64.to_bits(), true)
        );
        let Bounds { low, high } = found.interval;
        assert!((low - -0.004_374_348_819).abs() < 1e-9 && (high - 0.064_374_348_819).abs() < 1e-9);
        assert_eq!(test([Some(0.01)].into_iter()), None);
        assert_eq!(test([Some(0.01), None].into_iter()), None);
    }

    /// Three before and three after, all apart: two of twenty orders.
    #[test]
    fn gaps_before_a_cutoff_are_told_from_those_after_it() {
        let found = side_test(&[0.05, 0.06, 0.07], &[0.01, 0.02, 0.0]).unwrap();
        assert!((found.p - 0.1).abs() < 1e-12 && (found.difference - 0.05).abs() < 1e-12 && found.is_exact);
    }

    #[test]
    fn a_window_lies_before_its_cutoff_only_when_its_last_day_does() {
        let dates = ["2024-04-01", "2024-05-06", "2024-06-05"].map(str::to_owned);
        for (cutoff, expected) in [
            ("2024-03-31", CutoffSide::After),
            ("2024-04-01", CutoffSide::Across),
            ("2024-06-04", CutoffSide::Across),
            ("2024-06-05", CutoffSide::Before),
        ] {
            assert_eq!(side(cutoff, &dates), Some(expected), "{cutoff}");
        }
        assert_eq!(side("2024-06-05", &[]), None);
    }

    #[test]
    fn a_mean_of_selection_needs_every_windows() {
        let window = |total_return: f64, selection: Option<f64>| WindowGap {
            window: "w".to_owned(),
            regime: None,
            gap: Gap {
                kind: GapKind::Memory,
                total_return,
                selection,
            },
        };
        let both = mean(
            GapKind::Memory,
            &[window(0.1, Some(0.02)), window(0.3, Some(0.04))],
        );
        assert!((both.total_return - 0.2).abs() < 1e-15);
        assert!((both.selection.unwrap() - 0.03).abs() < 1e-15);
        assert_eq!(
            mean(GapKind::Memory, &[window(0.1, Some(0.02)), window(0.3, None)]).selection,
            None
        );
    }
}
