//! Bright against blinded and the parts of that gap, paired over windows.

use super::record::{Cohort, Contrast, ContrastMetric, ContrastSides, Gap, LeaderboardRow, Pair, Track};
use ktd_attribution::account::WeightBasis;
use ktd_experiment::mask_arm::MaskInstruction;
use ktd_masking::{Level, Mode, Numeric};
use ktd_stats::{PValueMethod, Sample, Zeros, hodges_lehmann, holm, median, wilcoxon};
use std::collections::{BTreeMap, BTreeSet};

const SIGNIFICANCE: f64 = 0.05;

/// The row of the models' medians.
const ALL_MODELS: &str = "all models";

type Figure = fn(&LeaderboardRow) -> Option<f64>;

/// What is contrasted.
const FIGURES: [(ContrastMetric, Figure); 4] = [
    (ContrastMetric::TotalReturn, total_return),
    (ContrastMetric::Selection, selection),
    (ContrastMetric::Abstention, abstention),
    (ContrastMetric::Turnover, turnover),
];

fn total_return(leader: &LeaderboardRow) -> Option<f64> {
    leader.metrics.get("total_return")?.median.value
}

fn abstention(leader: &LeaderboardRow) -> Option<f64> {
    leader.metrics.get("abstention")?.median.value
}

fn turnover(leader: &LeaderboardRow) -> Option<f64> {
    leader.metrics.get("turnover")?.median.value
}

fn selection(leader: &LeaderboardRow) -> Option<f64> {
    let ranked = leader.selection.as_ref().map(|selection| selection.value);
    // What has no rank has no tests, but was attributed all the same.
    ranked.or_else(|| {
        Some(
            leader
                .attribution
                .as_ref()?
                .get(WeightBasis::HEADLINE)
                .carino
                .selection,
        )
    })
}

/// What a figure belongs to: agent, mode and window.
type Key<'t> = (&'t str, Mode, &'t str);

/// Figures of one mask, and whether each is a model's.
type Figures<'t> = BTreeMap<Key<'t>, (f64, bool)>;

/// Bright and blinded by agent and mode, window by window.
type Pairs<'t> = BTreeMap<(&'t str, Mode), Vec<Pair>>;

/// Bright and blinded figures of all models, by mode and window.
type Cohorts<'t> = BTreeMap<(Mode, &'t str), (Vec<f64>, Vec<f64>)>;

/// All contrasts that the tracks allow: each ranked agent's, and that of the medians of all.
pub(super) fn contrasts(tracks: &[Track]) -> Vec<Contrast> {
    let windows = windows(tracks);
    let mut all = Vec::new();
    for sides in ContrastSides::ALL {
        let (first, second) = arms(sides);
        let of = |arm: Arm| {
            tracks
                .iter()
                .filter(move |track| (track.level, track.instruction) == arm)
        };
        let mut numerics: Vec<Numeric> = of(second).map(|track| track.numeric).collect();
        numerics.sort_unstable_by_key(|numeric| numeric.label());
        numerics.dedup();
        for (metric, figure) in FIGURES {
            let any = figures(of(first), &windows, figure);
            let mut of_metric = Vec::new();
            for numeric in numerics.iter().copied() {
                let same = |arm| of(arm).filter(|track| track.numeric == numeric);
                let mut bright = any.clone();
                bright.extend(figures(same(first), &windows, figure));
                let hidden = figures(same(second), &windows, figure);
                let pairs = pairs(&bright, &hidden);
                let contrasts = pairs
                    .into_iter()
                    .filter_map(|(who, pairs)| contrast(who, (sides, numeric, metric), pairs));
                of_metric.extend(contrasts);
            }
            adjust(&mut of_metric);
            all.extend(of_metric);
        }
    }
    all
}

/// What is hidden, and whose text explains it.
type Arm = (Level, Option<MaskInstruction>);

/// The two arms of a contrast.
const fn arms(sides: ContrastSides) -> (Arm, Arm) {
    let bright = (Level::Bright, None);
    let prompt_only = (Level::Bright, Some(MaskInstruction::Blinded));
    let blinded = (Level::Blinded, None);
    match sides {
        ContrastSides::BrightBlinded => (bright, blinded),
        ContrastSides::BrightPromptOnly => (bright, prompt_only),
        ContrastSides::PromptOnlyBlinded => (prompt_only, blinded),
    }
}

/// Each agent's pairs, and those of the medians of all models that have both: an agent on one side alone would move the
/// median there.
fn pairs<'t>(bright: &Figures<'t>, hidden: &Figures<'t>) -> Pairs<'t> {
    let mut pairs = Pairs::new();
    let mut cohorts = Cohorts::new();
    for ((agent, mode, window), (blinded, is_model)) in hidden {
        let Some((bright, _)) = bright.get(&(*agent, *mode, *window)) else {
            continue;
        };
        pairs.entry((*agent, *mode)).or_default().push(Pair {
            window: (*window).to_owned(),
            bright: *bright,
            blinded: *blinded,
        });
        if *is_model {
            let cohort = cohorts.entry((*mode, *window)).or_default();
            cohort.0.push(*bright);
            cohort.1.push(*blinded);
        }
    }
    for ((mode, window), (bright, blinded)) in cohorts {
        if let (Some(bright), Some(blinded)) = (middle(&bright), middle(&blinded)) {
            pairs.entry((ALL_MODELS, mode)).or_default().push(Pair {
                window: window.to_owned(),
                bright,
                blinded,
            });
        }
    }
    pairs
}

/// The median of several models.
fn middle(values: &[f64]) -> Option<f64> {
    let sample = Sample::new("models", values).ok().filter(|_| 1 < values.len())?;
    median(&sample).ok()
}

/// The windows that are pairs: those that hold no other window, so that a long one does not count twice; of two with the
/// same days the one whose name is first.
pub(super) fn windows(tracks: &[Track]) -> Vec<&str> {
    let mut days: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for track in tracks {
        days.entry(&track.window)
            .or_insert_with(|| track.dates.iter().map(String::as_str).collect());
    }
    innermost(&days)
}

fn innermost<'t>(days: &BTreeMap<&'t str, BTreeSet<&str>>) -> Vec<&'t str> {
    let holds_another = |own: &str, dates: &BTreeSet<&str>| {
        days.iter().any(|(other, theirs)| {
            let is_other = theirs.len() < dates.len() || (theirs.len() == dates.len() && *other < own);
            is_other && theirs.is_subset(dates)
        })
    };
    days.iter()
        .filter(|(own, dates)| !holds_another(own, dates))
        .map(|(own, _)| *own)
        .collect()
}

fn figures<'t>(tracks: impl Iterator<Item = &'t Track>, windows: &[&str], figure: Figure) -> Figures<'t> {
    let mut figures = Figures::new();
    for track in tracks.filter(|track| windows.contains(&track.window.as_str())) {
        for leader in track.leaders.iter().filter(|leader| leader.cohort.is_ranked()) {
            if let Some(value) = figure(leader) {
                let key = (leader.agent.as_str(), track.mode, track.window.as_str());
                figures.insert(key, (value, leader.cohort == Cohort::Model));
            }
        }
    }
    figures
}

fn contrast(
    (agent, mode): (&str, Mode),
    (sides, numeric, metric): (ContrastSides, Numeric, ContrastMetric),
    pairs: Vec<Pair>,
) -> Option<Contrast> {
    let first = match sides {
        ContrastSides::BrightBlinded | ContrastSides::BrightPromptOnly => "bright",
        ContrastSides::PromptOnlyBlinded => "prompt-only",
    };
    let differences: Vec<f64> = pairs.iter().map(|pair| pair.bright - pair.blinded).collect();
    let sample = Sample::new("pairs", &differences)
        .ok()
        .filter(|sample| !sample.is_empty())?;
    let test = wilcoxon(&sample, Zeros::Wilcox).ok()?;
    let reading = match test.underpowered(SIGNIFICANCE) {
        _ if test.pairs == 0 => "no difference at all".to_owned(),
        Some(underpowered) => underpowered.to_string(),
        None if test.p < SIGNIFICANCE && test.w_minus < test.w_plus => format!("{first} is higher"),
        None if test.p < SIGNIFICANCE => format!("{first} is lower"),
        None => "no difference shown".to_owned(),
    };
    Some(Contrast {
        agent: agent.to_owned(),
        mode,
        sides,
        numeric,
        metric,
        p: Some(test.p),
        is_exact: test.method == PValueMethod::Exact,
        holm_p: None,
        least_p: test.minimum_p(),
        reading,
        shift: hodges_lehmann(&sample).ok(),
        rank_biserial: test.rank_biserial,
        pairs,
    })
}

/// Holm's adjustment over the contrasts of one metric. What is said in words is said of the adjusted p: of twenty agents
/// without a difference one is below 0.05 unadjusted.
fn adjust(contrasts: &mut [Contrast]) {
    let p_values: Vec<f64> = contrasts.iter().filter_map(|contrast| contrast.p).collect();
    let Ok(adjusted) = holm(&p_values) else { return };
    let tested = contrasts.iter_mut().filter(|contrast| contrast.p.is_some());
    for (contrast, p) in tested.zip(adjusted) {
        contrast.holm_p = Some(p);
        if SIGNIFICANCE <= p && contrast.p.is_some_and(|own| own < SIGNIFICANCE) {
            "no difference shown once adjusted".clone_into(&mut contrast.reading);
        }
    }
}

/// Total return and selection by agent, window and mode.
type Levels = BTreeMap<(String, String, Mode), (Option<f64>, Option<f64>)>;

/// Gives each leader what hiding the identifiers took away from its agent in the same window and mode, with the same
/// numbers where there are such.
pub(super) fn fill_memory_gaps(tracks: &mut [Track]) {
    let (bright, blinded) = (
        ByNumeric::of(tracks, Level::Bright),
        ByNumeric::of(tracks, Level::Blinded),
    );
    for track in tracks {
        let played = track
            .leaders
            .iter_mut()
            .filter(|leader| leader.cohort != Cohort::Reference);
        for leader in played {
            let key = (leader.agent.clone(), track.window.clone(), track.mode);
            let both = bright
                .get(track.numeric, &key)
                .zip(blinded.get(track.numeric, &key));
            leader.memory_gap = both.and_then(|(bright, hidden)| {
                Some(Gap {
                    total_return: bright.0? - hidden.0?,
                    selection: bright.1.zip(hidden.1).map(|(bright, hidden)| bright - hidden),
                })
            });
        }
    }
}

/// Figures of one level: of each kind of numbers, and of the first there is.
struct ByNumeric {
    own: BTreeMap<Numeric, Levels>,
    any: Levels,
}

impl ByNumeric {
    fn of(tracks: &[Track], level: Level) -> Self {
        let (mut own, mut any) = (BTreeMap::new(), Levels::new());
        for track in tracks
            .iter()
            .filter(|track| (track.level, track.instruction) == (level, None))
        {
            let own: &mut Levels = own.entry(track.numeric).or_default();
            for leader in &track.leaders {
                let key = (leader.agent.clone(), track.window.clone(), track.mode);
                let figures = (total_return(leader), selection(leader));
                own.entry(key.clone()).or_insert(figures);
                any.entry(key).or_insert(figures);
            }
        }
        Self { own, any }
    }

    fn get(&self, numeric: Numeric, key: &(String, String, Mode)) -> Option<&(Option<f64>, Option<f64>)> {
        let own = self.own.get(&numeric).and_then(|own| own.get(key));
        own.or_else(|| self.any.get(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures_of(rows: &[(&'static str, &'static str, f64)]) -> Figures<'static> {
        let figure = |(agent, window, value): &(&'static str, &'static str, f64)| {
            (
                (*agent, Mode::OpenResearch, *window),
                (*value, *agent != "random"),
            )
        };
        rows.iter().map(figure).collect()
    }

    #[test]
    fn medians_of_all_models_are_of_those_that_have_both() {
        let bright = figures_of(&[("a", "W1", 0.1), ("b", "W1", 0.3), ("random", "W1", 9.0)]);
        let hidden = figures_of(&[
            ("a", "W1", 0.0),
            ("b", "W1", 0.1),
            ("c", "W1", 7.0),
            ("random", "W1", 8.0),
        ]);
        let found = pairs(&bright, &hidden);
        let all = &found[&(ALL_MODELS, Mode::OpenResearch)];
        assert_eq!((all.len(), all[0].bright, all[0].blinded), (1, 0.2, 0.05));
        assert!(!found.contains_key(&("c", Mode::OpenResearch)));
        assert_eq!(found[&("random", Mode::OpenResearch)].len(), 1);
    }

    #[test]
    fn the_same_days_under_two_names_are_one_pair() {
        let of = |days: &[&'static str]| days.iter().copied().collect::<BTreeSet<_>>();
        let days = BTreeMap::from([
            ("W1", of(&["01", "02"])),
            ("W1-again", of(&["01", "02"])),
            ("W2", of(&["02", "03"])),
            ("long", of(&["01", "02", "03", "04"])),
        ]);
        assert_eq!(innermost(&days), ["W1", "W2"]);
    }

    /// Ten pairs, of which the first so many differ, all in one direction.
    fn differing(count: u32) -> Contrast {
        let pair = |window: u32| Pair {
            window: window.to_string(),
            bright: if window < count {
                f64::from(1 + window)
            } else {
                0.0
            },
            blinded: 0.0,
        };
        contrast(
            ("a", Mode::OpenResearch),
            (
                ContrastSides::BrightBlinded,
                Numeric::Exact,
                ContrastMetric::Selection,
            ),
            (0..10).map(pair).collect(),
        )
        .unwrap()
    }

    #[test]
    fn what_is_said_of_a_contrast_is_said_of_the_adjusted_p() {
        // Six pairs that differ one way give p = 1/32: twice in a family they are no finding.
        let mut family = [differing(6), differing(6), differing(10)];
        assert_eq!(family[0].reading, "bright is higher");
        adjust(&mut family);
        assert_eq!(family[0].holm_p, Some(0.0625));
        assert_eq!(
            family.each_ref().map(|contrast| contrast.reading.as_str()),
            [
                "no difference shown once adjusted",
                "no difference shown once adjusted",
                "bright is higher"
            ]
        );
    }

    #[test]
    fn pairs_that_do_not_differ_give_no_power() {
        let few = differing(4);
        assert!(few.reading.contains("underpowered"), "{}", few.reading);
        assert_eq!((few.pairs.len(), few.least_p), (10, 0.125));
        assert_eq!(differing(0).reading, "no difference at all");
        assert_eq!(differing(10).reading, "bright is higher");
    }
}
