//! Bright against blinded and the parts of that gap, paired over windows.

use super::metric::BoardMetric;
use super::record::{
    Cohort, Contrast, ContrastMetric, ContrastSides, Gap, GapKind, LeaderboardRow, Pair, Track,
};
use ktd_experiment::mask_arm::MaskInstruction;
use ktd_masking::{Level, Mode, Numeric};
use ktd_stats::{PValueMethod, Sample, Zeros, hodges_lehmann, holm, median, wilcoxon};
use std::cmp::Reverse;
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
    leader.metrics.get(&BoardMetric::TotalReturn)?.median.value
}

fn abstention(leader: &LeaderboardRow) -> Option<f64> {
    leader.metrics.get(&BoardMetric::Abstention)?.median.value
}

fn turnover(leader: &LeaderboardRow) -> Option<f64> {
    leader.metrics.get(&BoardMetric::Turnover)?.median.value
}

fn selection(leader: &LeaderboardRow) -> Option<f64> {
    leader.linked_selection()
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
    let of_metric = FIGURES
        .iter()
        .flat_map(|(metric, figure)| contrasts_of(*metric, |arm| by_numeric(tracks, &windows, arm, *figure)));
    let mut all: Vec<Contrast> = of_metric.collect();
    all.sort_by_key(|contrast| contrast.sides);
    all
}

/// The contrasts of one figure, adjusted as one family: of all arms and numbers that a board has, so that a board of agents
/// that remember nothing is called anything but chance in 5 %, and `higher` in half of these.
fn contrasts_of<'t>(metric: ContrastMetric, figures: impl Fn(Arm) -> ByRung<'t>) -> Vec<Contrast> {
    let mut all = Vec::new();
    for sides in ContrastSides::ALL {
        let (first, second) = arms(sides);
        for one in paired(&figures(first), &figures(second)) {
            let kind = match sides {
                // Both arms show the identifiers: with other numbers this would tell nothing of the text.
                ContrastSides::BrightPromptOnly if one.first != one.second => continue,
                ContrastSides::BrightPromptOnly => GapKind::Instruction,
                ContrastSides::BrightBlinded | ContrastSides::PromptOnlyBlinded => {
                    GapKind::of(one.first, one.second)
                }
            };
            let what = Compared {
                sides,
                metric,
                kind,
                numerics: (one.first, one.second),
            };
            all.extend(
                one.pairs
                    .into_iter()
                    .filter_map(|(who, pairs)| contrast(who, what, pairs)),
            );
        }
    }
    adjust(&mut all);
    all
}

/// What a contrast compares.
#[derive(Debug, Clone, Copy)]
struct Compared {
    sides: ContrastSides,
    metric: ContrastMetric,
    kind: GapKind,
    numerics: (Numeric, Numeric),
}

/// Pairs of two arms, and the numbers of each.
struct PairedArms<'t> {
    first: Numeric,
    second: Numeric,
    pairs: Pairs<'t>,
}

/// Figures of one arm by their numbers, in the order of the numbers' names.
type ByRung<'t> = BTreeMap<&'static str, (Numeric, Figures<'t>)>;

fn by_numeric<'t>(tracks: &'t [Track], windows: &[&str], arm: Arm, figure: Figure) -> ByRung<'t> {
    let of_arm = || {
        tracks
            .iter()
            .filter(move |track| (track.level, track.instruction) == arm)
    };
    let numerics: BTreeMap<&str, Numeric> = of_arm()
        .map(|track| (track.numeric.label(), track.numeric))
        .collect();
    let of = |numeric| {
        figures(
            of_arm().filter(move |track| track.numeric == numeric),
            windows,
            figure,
        )
    };
    numerics
        .into_iter()
        .map(|(label, numeric)| (label, (numeric, of(numeric))))
        .collect()
}

/// Two arms paired: numbers of one rung with each other, and what an agent has on no equal rung with every other one, apart.
fn paired<'t>(first: &ByRung<'t>, second: &ByRung<'t>) -> Vec<PairedArms<'t>> {
    let mut all = Vec::new();
    for (label, (numeric, hidden)) in second {
        let equal = first
            .get(label)
            .map(|(_, bright)| pairs(bright, hidden))
            .unwrap_or_default();
        let mut rest = hidden.clone();
        rest.retain(|(agent, mode, _), _| !equal.contains_key(&(*agent, *mode)));
        all.push(PairedArms {
            first: *numeric,
            second: *numeric,
            pairs: equal,
        });
        let others = first.iter().filter(|(other, _)| *other != label);
        all.extend(others.map(|(_, (other, bright))| PairedArms {
            first: *other,
            second: *numeric,
            pairs: pairs(bright, &rest),
        }));
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
    apart(&days)
}

/// Windows that share no day, by [`super::protocol::OVERLAP_RULE`]: pairs of windows that share days are no independent pairs.
fn apart<'t>(days: &BTreeMap<&'t str, BTreeSet<&str>>) -> Vec<&'t str> {
    let mut windows: Vec<_> = days.iter().collect();
    windows.sort_by_key(|(window, dates)| (dates.last(), Reverse(dates.first()), **window));
    let mut last = None;
    windows.retain(|(_, dates)| {
        let is_apart = last < dates.first();
        if is_apart {
            last = dates.last();
        }
        is_apart
    });
    windows.into_iter().map(|(window, _)| *window).collect()
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

fn contrast((agent, mode): (&str, Mode), what: Compared, pairs: Vec<Pair>) -> Option<Contrast> {
    let first = match what.sides {
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
        None if test.p < SIGNIFICANCE => {
            let side = if test.w_minus < test.w_plus {
                "higher"
            } else {
                "lower"
            };
            format!("{first} is {side}: {}", what.kind.label())
        }
        None => "no difference shown".to_owned(),
    };
    Some(Contrast {
        agent: agent.to_owned(),
        mode,
        sides: what.sides,
        first_numeric: what.numerics.0,
        numeric: what.numerics.1,
        kind: what.kind,
        metric: what.metric,
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

/// Holm's adjustment over contrasts. What is said in words is said of the adjusted p: of twenty agents
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

/// Total return and selection of one level by agent, window and mode, and by the numbers' names.
type Levels = BTreeMap<(String, String, Mode), BTreeMap<&'static str, (Numeric, Option<f64>, Option<f64>)>>;

/// Gives each leader what the mask took away from its agent in the same window and mode: with the track's numbers on both
/// sides where there are such, else with the first there are.
pub(super) fn fill_memory_gaps(tracks: &mut [Track]) {
    let (bright, blinded) = (levels(tracks, Level::Bright), levels(tracks, Level::Blinded));
    for track in tracks {
        let own = track.numeric.label();
        let played = track
            .leaders
            .iter_mut()
            .filter(|leader| leader.cohort != Cohort::Reference);
        for leader in played {
            let key = (leader.agent.clone(), track.window.clone(), track.mode);
            let get = |levels: &Levels| {
                let rungs = levels.get(&key)?;
                rungs.get(own).or_else(|| rungs.values().next()).copied()
            };
            leader.memory_gap = get(&bright).zip(get(&blinded)).and_then(|(bright, hidden)| {
                Some(Gap {
                    kind: GapKind::of(bright.0, hidden.0),
                    total_return: bright.1? - hidden.1?,
                    selection: bright.2.zip(hidden.2).map(|(bright, hidden)| bright - hidden),
                })
            });
        }
    }
}

fn levels(tracks: &[Track], level: Level) -> Levels {
    let mut levels = Levels::new();
    let of_level = tracks
        .iter()
        .filter(|track| (track.level, track.instruction) == (level, None));
    for track in of_level {
        for leader in &track.leaders {
            let key = (leader.agent.clone(), track.window.clone(), track.mode);
            let figures = (track.numeric, total_return(leader), selection(leader));
            levels
                .entry(key)
                .or_default()
                .entry(track.numeric.label())
                .or_insert(figures);
        }
    }
    levels
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_stats::SplitMix64;

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
    fn windows_that_share_days_are_one_pair() {
        let of = |days: &[&'static str]| days.iter().copied().collect::<BTreeSet<_>>();
        let days = BTreeMap::from([
            ("W1", of(&["01", "02"])),
            ("W1-again", of(&["01", "02"])),
            ("W2", of(&["02", "03"])),
            ("W3", of(&["04", "05"])),
            ("long", of(&["01", "02", "03", "04"])),
        ]);
        assert_eq!(apart(&days), ["W1", "W3"]);
    }

    const COMPARED: Compared = Compared {
        sides: ContrastSides::BrightBlinded,
        metric: ContrastMetric::Selection,
        kind: GapKind::Memory,
        numerics: (Numeric::Exact, Numeric::Exact),
    };

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
        contrast(("a", Mode::OpenResearch), COMPARED, (0..10).map(pair).collect()).unwrap()
    }

    #[test]
    fn what_is_said_of_a_contrast_is_said_of_the_adjusted_p() {
        // Six pairs that differ one way give p = 1/32: twice in a family they are no finding.
        let mut family = [differing(6), differing(6), differing(10)];
        assert_eq!(family[0].reading, "bright is higher: memory");
        adjust(&mut family);
        assert_eq!(family[0].holm_p, Some(0.0625));
        assert_eq!(
            family.each_ref().map(|contrast| contrast.reading.as_str()),
            [
                "no difference shown once adjusted",
                "no difference shown once adjusted",
                "bright is higher: memory"
            ]
        );
    }

    #[test]
    fn pairs_that_do_not_differ_give_no_power() {
        let few = differing(4);
        assert!(few.reading.contains("underpowered"), "{}", few.reading);
        assert_eq!((few.pairs.len(), few.least_p), (10, 0.125));
        assert_eq!(differing(0).reading, "no difference at all");
        assert_eq!(differing(10).reading, "bright is higher: memory");
    }

    const AGENTS: [&str; 6] = ["a", "b", "c", "d", "e", "f"];
    const WINDOWS: [&str; 10] = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];

    /// Figures of a board's arm: agents that earn by one factor as much of it as the numbers show, and what they remember; half
    /// of them have blinded runs with bands alone.
    fn planted(
        draws: &mut SplitMix64,
        remembered: f64,
        (level, numeric): (Level, Numeric),
    ) -> Figures<'static> {
        let mut figures = Figures::new();
        for (place, agent) in AGENTS.iter().enumerate() {
            if numeric == Numeric::Exact && level == Level::Blinded && place % 2 == 1 {
                continue;
            }
            for window in WINDOWS {
                // The sum of twelve even draws is normal but for its far tails.
                let noise = (0..12).map(|_| draws.uniform()).sum::<f64>() - 6.0;
                let signal = if numeric == Numeric::Exact { 10.0 } else { 2.0 };
                let memory = if level == Level::Bright { remembered } else { 0.0 };
                figures.insert(
                    (agent, Mode::OpenResearch, window),
                    (signal + memory + noise, true),
                );
            }
        }
        figures
    }

    fn planted_board(seed: u32, remembered: f64) -> Vec<Contrast> {
        let mut draws = SplitMix64::of_replicate(31, seed);
        let mut arm = |level: Level, numerics: &[Numeric]| -> ByRung<'static> {
            let of = |numeric: &Numeric| {
                (
                    numeric.label(),
                    (*numeric, planted(&mut draws, remembered, (level, *numeric))),
                )
            };
            numerics.iter().map(of).collect()
        };
        let mut all = Vec::new();
        for metric in [ContrastMetric::TotalReturn, ContrastMetric::Selection] {
            let bright = arm(Level::Bright, &[Numeric::Exact]);
            let blinded = arm(Level::Blinded, &[Numeric::Exact, Numeric::BandedFive]);
            all.extend(contrasts_of(metric, |(level, instruction)| {
                match (level, instruction) {
                    (Level::Bright, None) => bright.clone(),
                    (Level::Blinded, None) => blinded.clone(),
                    _ => ByRung::new(),
                }
            }));
        }
        all
    }

    fn is_called(board: &[Contrast], words: &str) -> bool {
        board.iter().any(|contrast| contrast.reading == words)
    }

    #[test]
    fn boards_of_agents_that_remember_nothing_are_called_memory_in_at_most_one_of_twenty() {
        const BOARDS: u32 = 1_000;
        let boards = || (0..BOARDS).map(|seed| planted_board(seed, 0.0));
        let called = boards()
            .filter(|board| is_called(board, "bright is higher: memory"))
            .count();
        assert!(called * 20 <= 1_000, "{called} of {BOARDS}");
        let lost = boards()
            .filter(|board| is_called(board, "bright is higher: signal and memory"))
            .count();
        assert!(900 < lost, "what bands take away is seen: {lost} of {BOARDS}");
        let remembering = (0..BOARDS).map(|seed| planted_board(seed, 3.0));
        let found = remembering
            .filter(|board| is_called(board, "bright is higher: memory"))
            .count();
        assert!(900 < found, "what is remembered is seen: {found} of {BOARDS}");
    }

    #[test]
    fn numbers_of_one_rung_are_paired_first() {
        let board = planted_board(1, 0.0);
        let of = |agent: &str| -> Vec<(GapKind, String)> {
            let own = board
                .iter()
                .filter(|contrast| contrast.agent == agent && contrast.metric == ContrastMetric::Selection);
            own.map(|contrast| (contrast.kind, contrast.numbers())).collect()
        };
        let bands = (GapKind::SignalAndMemory, "exact - banded-5".to_owned());
        assert_eq!(of("a"), [bands.clone(), (GapKind::Memory, "exact".to_owned())]);
        assert_eq!(of("b"), [bands]);
    }
}
