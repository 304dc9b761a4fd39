//! True sizes of what a board concludes: how often it is wrong about agents of whom everything is known.
//!
//! Agents without skill are planted as daily selections, and judged by the very functions that a board calls. What is drawn here
//! shares no constant with what is tested.

use crate::ranking::{
    RankSeparation, RankingTests, SelectionSeries, SelectionTrial, pooled_selection, selection_means,
};
use ktd_stats::moments::{column_means, count};
use ktd_stats::{Confidence, MeanTable, RankSets, Rotations, SplitMix64};

/// How the daily selections of planted agents come about. All have a mean of 0 and one deviation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlantedShocks {
    /// Normal, each day and agent by itself.
    Independent,
    /// Normal, with this correlation from day to day.
    Persistent(f64),
    /// Student's t with four degrees of freedom.
    FatTailed,
    /// Half of the variance from four sectors' shocks, which agents share.
    Sectors,
    /// Three seeds an agent, half of whose variance is their own, and which truly differ by as much as the noise of a seed's mean.
    Seeds,
    /// So many windows of the stated days, which truly differ by as much as the noise of a window's mean.
    Windows(usize),
}

/// A planted design: shocks, agents and days.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SizeDesign {
    /// How the selections come about.
    pub shocks: PlantedShocks,
    /// Agents on a board.
    pub agents: usize,
    /// Days of a window.
    pub days: usize,
}

/// How often boards of one design were wrong, as shares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrueSizes {
    /// Boards with a White p of at most .05, of all; none where seeds or windows truly differ.
    pub white: Option<f64>,
    /// The same of Hansen's.
    pub hansen: Option<f64>,
    /// 95 % intervals that hold the truth.
    pub interval: f64,
    /// Pairs of equal agents that are told apart, each by itself at 10 %.
    pub pairs: f64,
    /// Boards with a rank set that lacks the true rank, which is open between all.
    pub ranks: f64,
    /// Boards in all.
    pub boards: u32,
}

impl SizeDesign {
    /// The designs of the table in docs/leaderboard.md, from the least sample that is shipped.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        let shocks = [
            PlantedShocks::Independent,
            PlantedShocks::Persistent(0.2),
            PlantedShocks::Persistent(0.4),
            PlantedShocks::FatTailed,
            PlantedShocks::Sectors,
            PlantedShocks::Seeds,
        ];
        for shocks in shocks {
            for (agents, days) in [
                (2, 43),
                (8, 43),
                (20, 43),
                (8, 120),
                (30, 120),
                (8, 548),
                (20, 548),
            ] {
                all.push(Self { shocks, agents, days });
            }
        }
        for windows in [2, 3, 5, 10] {
            let shocks = PlantedShocks::Windows(windows);
            all.push(Self {
                shocks,
                agents: 8,
                days: 43,
            });
        }
        all
    }

    /// Whether the board says of such a design that its sizes are not those that it states: days that depend on each other
    /// over more than one sample of them can show.
    #[must_use]
    pub fn is_exempt(&self) -> bool {
        matches!(self.shocks, PlantedShocks::Persistent(correlation) if 0.3 <= correlation && self.days < 120)
    }

    /// The sizes over so many boards, drawn by `seed`; each is judged by so many random turns.
    #[must_use]
    pub fn sizes(&self, (boards, replicates): (u32, u32), seed: u64) -> TrueSizes {
        let mut sums = [0.0_f64; 5];
        for board in 0..boards {
            let mut generator = SplitMix64::of_replicate(seed, board);
            let found = if let PlantedShocks::Windows(windows) = self.shocks {
                self.pooled(windows, &mut generator, replicates)
            } else {
                self.track(&mut generator, replicates)
            };
            for (sum, value) in sums.iter_mut().zip(found) {
                *sum += value;
            }
        }
        let boards_as_float = f64::from(boards.max(1));
        let [white, hansen, interval, pairs, ranks] = sums.map(|sum| sum / boards_as_float);
        // A seed's own effect is no luck of days, and pooled boards have no such tests.
        let has_tests = !matches!(self.shocks, PlantedShocks::Windows(_) | PlantedShocks::Seeds);
        TrueSizes {
            white: has_tests.then_some(white),
            hansen: has_tests.then_some(hansen),
            interval,
            pairs,
            ranks,
            boards,
        }
    }

    /// One board of one window: White, Hansen, the share of intervals that hold, of pairs told apart, and whether ranks fail.
    fn track(&self, generator: &mut SplitMix64, replicates: u32) -> [f64; 5] {
        let sectors: Vec<Vec<f64>> = (0..4).map(|_| normals(self.days, generator)).collect();
        let series: Vec<SelectionSeries> = (0..self.agents)
            .map(|agent| series(self.seeds(agent, &sectors, generator)))
            .collect();
        let trials: Vec<SelectionTrial> = series
            .iter()
            .map(|series| SelectionTrial {
                daily: series.plain.clone(),
                luck_mean: 0.0,
            })
            .collect();
        let chance = (replicates, generator.next_u64());
        let tests = RankingTests::of(&series, &trials, chance);
        let is_small = |p: Option<f64>| f64::from(u8::from(p.is_some_and(|p| p <= 0.05)));
        let [interval, pairs, ranks] =
            selection_means(&series).map_or([0.0; 3], |means| judged(&means, chance));
        [
            is_small(tests.reality_check_p.ok()),
            is_small(tests.superior_ability.map(|best| best.p_consistent)),
            interval,
            pairs,
            ranks,
        ]
    }

    fn pooled(&self, windows: usize, generator: &mut SplitMix64, replicates: u32) -> [f64; 5] {
        let noise = count(self.days).sqrt().recip();
        let windows: Vec<Vec<SelectionSeries>> = (0..windows)
            .map(|_| {
                let agent = |_| {
                    let effect = noise * generator.normal();
                    let days = normals(self.days, generator);
                    series(vec![days.into_iter().map(|day| day + effect).collect()])
                };
                (0..self.agents).map(agent).collect()
            })
            .collect();
        let chance = (replicates, generator.next_u64());
        let [interval, pairs, ranks] =
            pooled_selection(&windows).map_or([0.0; 3], |means| judged(&means, chance));
        [0.0, 0.0, interval, pairs, ranks]
    }

    /// The daily selections of an agent's seeds.
    fn seeds(&self, agent: usize, sectors: &[Vec<f64>], generator: &mut SplitMix64) -> Vec<Vec<f64>> {
        match self.shocks {
            PlantedShocks::Independent | PlantedShocks::Windows(_) => vec![normals(self.days, generator)],
            PlantedShocks::Persistent(correlation) => {
                let fresh = (1.0 - correlation * correlation).sqrt();
                let mut state = generator.normal();
                let mut step = |_| {
                    let now = state;
                    state = correlation * state + fresh * generator.normal();
                    now
                };
                vec![(0..self.days).map(&mut step).collect()]
            }
            PlantedShocks::FatTailed => {
                let mut day = |_| {
                    let squares: f64 = (0..4)
                        .map(|_| generator.normal())
                        .map(|value| value * value)
                        .sum();
                    generator.normal() / (squares / 2.0).sqrt()
                };
                vec![(0..self.days).map(&mut day).collect()]
            }
            PlantedShocks::Sectors => {
                let own = normals(self.days, generator);
                let shared = sectors.get(agent % 4).map_or(&[][..], Vec::as_slice);
                let half = 0.5_f64.sqrt();
                vec![
                    own.iter()
                        .zip(shared)
                        .map(|(own, shared)| half * (own + shared))
                        .collect(),
                ]
            }
            PlantedShocks::Seeds => {
                let shared = normals(self.days, generator);
                let half = 0.5_f64.sqrt();
                let seed = |_| {
                    let effect = generator.normal() / count(self.days).sqrt();
                    let own = normals(self.days, generator);
                    own.iter()
                        .zip(&shared)
                        .map(|(own, shared)| half * (own + shared) + effect)
                        .collect()
                };
                (0..3).map(seed).collect()
            }
        }
    }
}

/// Of means that are all 0: the share of intervals that hold it, of pairs told apart, and 1 where a rank set is not of all ranks.
fn judged(means: &MeanTable, (replicates, seed): (u32, u64)) -> [f64; 3] {
    let columns = means.columns();
    let holds = columns.iter().filter(|mean| {
        let interval = mean
            .estimate()
            .ok()
            .and_then(|found| found.interval(Confidence::P95).ok());
        interval.is_some_and(|interval| interval.lower <= 0.0 && 0.0 <= interval.upper)
    });
    let held = count(holds.count()) / count(columns.len().max(1));
    let rotations = Rotations::new(means.contrasts(), replicates, seed);
    let Ok(ranks) = RankSets::of(means, Confidence::P95, &rotations) else {
        return [held, 0.0, 0.0];
    };
    let open = RankSeparation::of(&ranks, &|_, _| false).open;
    let apart: usize = open
        .iter()
        .enumerate()
        .map(|(own, row)| row.iter().skip(own + 1).filter(|is_open| !**is_open).count())
        .sum();
    let pairs = columns.len() * columns.len().saturating_sub(1) / 2;
    let is_wrong = ranks
        .agents()
        .iter()
        .any(|agent| (agent.lower, agent.upper) != (1, columns.len()));
    [
        held,
        count(apart) / count(pairs.max(1)),
        f64::from(u8::from(is_wrong)),
    ]
}

fn series(seeds: Vec<Vec<f64>>) -> SelectionSeries {
    SelectionSeries {
        plain: column_means(&seeds),
        seeds,
    }
}

fn normals(days: usize, generator: &mut SplitMix64) -> Vec<f64> {
    (0..days).map(|_| generator.normal()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a share of boards or agents lies within the 99 % range of a true size in these bounds.
    fn is_within(share: f64, (low, high): (f64, f64), draws: f64) -> bool {
        let reach = |size: f64| 2.576 * (size * (1.0 - size) / draws).sqrt();
        low - reach(low) <= share && share <= high + reach(high)
    }

    #[test]
    fn a_board_of_agents_without_skill_is_wrong_as_often_as_it_says() {
        for shocks in [
            PlantedShocks::Independent,
            PlantedShocks::Persistent(0.2),
            PlantedShocks::Sectors,
            PlantedShocks::Seeds,
            PlantedShocks::Windows(5),
        ] {
            let design = SizeDesign {
                shocks,
                agents: 8,
                days: 43,
            };
            let found = design.sizes((500, 199), 20);
            let boards = f64::from(found.boards);
            // Agents of one board share its days' shocks at most by sectors: they count as boards.
            assert!(
                is_within(found.interval, (0.94, 0.96), boards),
                "{shocks:?}: {found:?}"
            );
            assert!(
                is_within(found.pairs, (0.09, 0.11), boards),
                "{shocks:?}: {found:?}"
            );
            for size in [found.white, found.hansen, Some(found.ranks)]
                .into_iter()
                .flatten()
            {
                assert!(is_within(size, (0.04, 0.06), boards), "{shocks:?}: {found:?}");
            }
        }
    }
}
