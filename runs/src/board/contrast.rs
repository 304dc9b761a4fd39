//! Bright against blinded, paired over windows.

use super::record::{Contrast, Gap, Leader, Pair, Track};
use ktd_attribution::stats::{
    PValueMethod, Sample, Underpowered, Zeros, hodges_lehmann, holm, minimum_p, wilcoxon,
};
use std::collections::{BTreeMap, BTreeSet};

const SIGNIFICANCE: f64 = 0.05;

type Figure = fn(&Leader) -> Option<f64>;

/// What is contrasted.
const FIGURES: [(&str, Figure); 2] = [("total_return", total_return), ("selection", selection)];

fn total_return(leader: &Leader) -> Option<f64> {
    leader.metrics.get("total_return")?.median.value
}

fn selection(leader: &Leader) -> Option<f64> {
    Some(leader.selection.as_ref()?.value)
}

/// Figures by agent, mode and window, of one mask.
type Figures<'t> = BTreeMap<(&'t str, &'t str, &'t str), f64>;

/// All contrasts that the tracks allow: each ranked agent's, and that of the medians of all.
pub(super) fn contrasts(tracks: &[Track]) -> Vec<Contrast> {
    let windows = windows(tracks);
    let numerics: BTreeSet<&str> = blinded(tracks).map(|track| track.numeric.as_str()).collect();
    let mut all = Vec::new();
    for (metric, figure) in FIGURES {
        let mut of_metric = Vec::new();
        for numeric in &numerics {
            let bright = figures(
                tracks.iter().filter(|track| track.level == "bright"),
                &windows,
                figure,
            );
            let hidden = blinded(tracks).filter(|track| track.numeric == *numeric);
            let hidden = figures(hidden, &windows, figure);
            let keys: BTreeSet<(&str, &str)> =
                hidden.keys().map(|(agent, mode, _)| (*agent, *mode)).collect();
            for (agent, mode) in keys {
                let pairs = windows.iter().filter_map(|window| {
                    Some(Pair {
                        window: (*window).to_owned(),
                        bright: *bright.get(&(agent, mode, *window))?,
                        blinded: *hidden.get(&(agent, mode, *window))?,
                    })
                });
                of_metric.extend(contrast((agent, mode), numeric, metric, pairs.collect()));
            }
        }
        adjust(&mut of_metric);
        all.extend(of_metric);
    }
    all
}

fn blinded(tracks: &[Track]) -> impl Iterator<Item = &Track> {
    tracks.iter().filter(|track| track.level == "blinded")
}

/// The windows that are pairs: those that hold no other window, so that a long one does not count twice.
fn windows(tracks: &[Track]) -> Vec<&str> {
    let mut days: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for track in tracks {
        days.entry(&track.window)
            .or_insert_with(|| track.dates.iter().map(String::as_str).collect());
    }
    let holds_another = |own: &str, dates: &BTreeSet<&str>| {
        days.iter()
            .any(|(other, theirs)| *other != own && theirs.len() < dates.len() && theirs.is_subset(dates))
    };
    days.iter()
        .filter(|(own, dates)| !holds_another(own, dates))
        .map(|(own, _)| *own)
        .collect()
}

fn figures<'t>(tracks: impl Iterator<Item = &'t Track>, windows: &[&str], figure: Figure) -> Figures<'t> {
    let mut figures = Figures::new();
    let mut cohorts: BTreeMap<(&str, &str), Vec<f64>> = BTreeMap::new();
    for track in tracks.filter(|track| windows.contains(&track.window.as_str())) {
        for leader in track.leaders.iter().filter(|leader| leader.alpha_rank.is_some()) {
            let Some(value) = figure(leader) else { continue };
            figures.insert((&leader.agent, &track.mode, &track.window), value);
            if leader.cohort == super::record::Cohort::Model {
                cohorts
                    .entry((&track.mode, &track.window))
                    .or_default()
                    .push(value);
            }
        }
    }
    for ((mode, window), values) in cohorts.into_iter().filter(|(_, values)| 1 < values.len()) {
        let middle = Sample::new("models", &values)
            .ok()
            .and_then(|sample| ktd_attribution::stats::median(&sample).ok());
        if let Some(middle) = middle {
            figures.insert(("all models", mode, window), middle);
        }
    }
    figures
}

fn contrast((agent, mode): (&str, &str), numeric: &str, metric: &str, pairs: Vec<Pair>) -> Option<Contrast> {
    let differences: Vec<f64> = pairs.iter().map(|pair| pair.bright - pair.blinded).collect();
    let sample = Sample::new("pairs", &differences)
        .ok()
        .filter(|sample| !sample.is_empty())?;
    let test = wilcoxon(&sample, Zeros::Wilcox).ok()?;
    let reading = match Underpowered::of(pairs.len(), SIGNIFICANCE) {
        Some(underpowered) => underpowered.to_string(),
        None if test.pairs == 0 => "no difference at all".to_owned(),
        None if test.p < SIGNIFICANCE && test.w_minus < test.w_plus => "bright is higher".to_owned(),
        None if test.p < SIGNIFICANCE => "bright is lower".to_owned(),
        None => "no difference shown".to_owned(),
    };
    Some(Contrast {
        agent: agent.to_owned(),
        mode: mode.to_owned(),
        numeric: numeric.to_owned(),
        metric: metric.to_owned(),
        p: Some(test.p),
        is_exact: test.method == PValueMethod::Exact,
        holm_p: None,
        least_p: minimum_p(pairs.len()),
        reading,
        shift: hodges_lehmann(&sample).ok(),
        rank_biserial: test.rank_biserial,
        pairs,
    })
}

/// Holm's adjustment over the contrasts of one metric.
fn adjust(contrasts: &mut [Contrast]) {
    let p_values: Vec<f64> = contrasts.iter().filter_map(|contrast| contrast.p).collect();
    let Ok(adjusted) = holm(&p_values) else { return };
    let tested = contrasts.iter_mut().filter(|contrast| contrast.p.is_some());
    for (contrast, p) in tested.zip(adjusted) {
        contrast.holm_p = Some(p);
    }
}

/// Total return and selection by agent, window and mode.
type Levels = BTreeMap<(String, String, String), (Option<f64>, Option<f64>)>;

/// Gives each leader what hiding the identifiers took away from its agent in the same window and mode.
pub(super) fn fill_memory_gaps(tracks: &mut [Track]) {
    let found = |level: &str, numeric: Option<&str>| {
        let mut found = Levels::new();
        let of_level = tracks.iter().filter(|track| track.level == level);
        for track in of_level.filter(|track| numeric.is_none_or(|numeric| track.numeric == numeric)) {
            for leader in &track.leaders {
                let key = (leader.agent.clone(), track.window.clone(), track.mode.clone());
                found
                    .entry(key)
                    .or_insert((total_return(leader), selection(leader)));
            }
        }
        found
    };
    let bright = found("bright", None);
    let by_numeric =
        BTreeMap::from(["exact", "rescaled"].map(|numeric| (numeric, found("blinded", Some(numeric)))));
    let any = found("blinded", None);
    for track in tracks {
        let own = by_numeric.get(track.numeric.as_str()).unwrap_or(&any);
        for leader in &mut track.leaders {
            let key = (leader.agent.clone(), track.window.clone(), track.mode.clone());
            let hidden = own.get(&key).or_else(|| any.get(&key));
            leader.memory_gap = bright.get(&key).zip(hidden).and_then(|(bright, hidden)| {
                Some(Gap {
                    total_return: bright.0? - hidden.0?,
                    selection: bright.1.zip(hidden.1).map(|(bright, hidden)| bright - hidden),
                })
            });
        }
    }
}
