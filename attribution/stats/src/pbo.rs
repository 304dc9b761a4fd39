//! How often the best of the past is below the middle of the future.

use super::error::StatsError;
use super::quantile::median;
use super::sample::Sample;
use super::splits::Splits;
use super::table::DailyTable;
use crate::Undefined;
use crate::moments::{count, is_rounding};

/// The probability of backtest overfitting by combinatorially symmetric cross-validation (Bailey, Borwein, Lopez de
/// Prado and Zhu 2017).
#[derive(Debug, Clone, PartialEq)]
pub struct Pbo {
    /// Blocks the days were cut into.
    pub blocks: usize,
    /// Share of splits in which the strategy that was best by Sharpe ratio in one half was in the lower half of the
    /// other.
    pub probability: f64,
    /// Median of the logits.
    pub median_logit: f64,
    /// `ln(w / (1 - w))` of each split, with `w` the rank in the other half over the number of strategies and one;
    /// splits in the order of a dictionary.
    pub logits: Vec<f64>,
}

/// The fewest strategies among which a rank says anything.
const STRATEGIES_MIN: usize = 5;
/// The most blocks: 184,756 splits.
const BLOCKS_MAX: usize = 20;

/// Cuts the days into `blocks` of equal length (16 is usual), dropping the first ones that do not fill a block, and
/// tries every half of the blocks against the other.
///
/// The Sharpe ratio of a half comes from its blocks' sums and sums of squares, not from its days.
///
/// # Errors
/// [`StatsError::Blocks`] unless there is an even number of blocks, from 2 to 20. Within: [`Undefined::TooFew`] below
/// 5 strategies; [`Undefined::TooFewDays`] with fewer days than blocks, or a half of one day;
/// [`Undefined::ConstantStrategy`] when a strategy has no Sharpe ratio in some half. Leave out agents that held cash
/// for so long.
pub fn pbo(returns: &DailyTable, blocks: usize) -> Result<Result<Pbo, Undefined>, StatsError> {
    if !(2..=BLOCKS_MAX).contains(&blocks) || blocks % 2 == 1 {
        return Err(StatsError::Blocks {
            blocks,
            most: BLOCKS_MAX,
        });
    }
    Ok(cross_validate(returns, blocks))
}

/// Fewest days of a block where their number is chosen.
const BLOCK_DAYS_MIN: usize = 5;

/// [`pbo`] over those of the columns that can be compared: equal ones are one strategy, and one that does not vary in some half
/// of the days, as that of an agent in cash for so long, has no ratio. 16, 8 or 4 blocks, the most of which leave 5 days a
/// block, else 2.
///
/// # Errors
/// [`StatsError`] for columns that are no table. Within: as [`pbo`], but for [`Undefined::ConstantStrategy`].
pub fn pbo_of_distinct(columns: &[&[f64]]) -> Result<Result<Pbo, Undefined>, StatsError> {
    let mut distinct: Vec<&[f64]> = Vec::new();
    for column in columns {
        if !distinct.contains(column) {
            distinct.push(column);
        }
    }
    let days = distinct.first().map_or(0, |column| column.len());
    let blocks = [16, 8, 4]
        .into_iter()
        .find(|blocks| blocks * BLOCK_DAYS_MIN <= days)
        .unwrap_or(2);
    loop {
        match pbo(&DailyTable::new("daily returns", &distinct)?, blocks)? {
            Err(Undefined::ConstantStrategy { column }) if column < distinct.len() => {
                distinct.remove(column);
            }
            found => return Ok(found),
        }
    }
}

fn cross_validate(returns: &DailyTable, blocks: usize) -> Result<Pbo, Undefined> {
    if returns.columns() < STRATEGIES_MIN {
        return Err(Undefined::TooFew {
            items: "strategies",
            count: returns.columns(),
            need: STRATEGIES_MIN,
        });
    }
    let block_days = returns.days() / blocks;
    let half_days = block_days * blocks / 2;
    if half_days < 2 {
        return Err(Undefined::TooFewDays {
            days: returns.days(),
            need_days: blocks.max(4),
        });
    }
    let sums = BlockSums::of(&returns.last(block_days * blocks), block_days);
    let (mut logits, mut below) = (Vec::new(), 0_usize);
    let mut half = Half::new(returns.columns());
    let mut other = half.clone();
    for split in Splits::halves(blocks) {
        half.clear();
        other.clear();
        for (block, block_sums) in sums.blocks.iter().enumerate() {
            let side = if split.contains(&block) {
                &mut half
            } else {
                &mut other
            };
            side.add(block_sums);
        }
        half.rate(&sums.means, half_days)?;
        other.rate(&sums.means, half_days)?;
        let rank = other.doubled_rank_of(half.best());
        // Ranks are doubled, so that midranks are whole and the middle is exact.
        let (rank, from_above) = (rank, 2 * (returns.columns() + 1) - rank);
        below += usize::from(rank <= from_above);
        logits.push(libm::log(count(rank) / count(from_above)));
    }
    let probability = count(below) / count(logits.len());
    let sample = Sample::new("logits", &logits).map_err(|_| Undefined::OutOfRange)?;
    Ok(Pbo {
        blocks,
        probability,
        median_logit: median(&sample)?,
        logits,
    })
}

/// Sum and sum of squares, by column.
type Sums = Vec<(f64, f64)>;

/// Each block's sums about the mean of all days used.
struct BlockSums {
    means: Vec<f64>,
    blocks: Vec<Sums>,
}

impl BlockSums {
    fn of(used: &DailyTable, block_days: usize) -> Self {
        let centred = used.centred();
        let rows: Vec<&[f64]> = centred.rows().collect();
        let block = |days: &[&[f64]]| {
            let mut sums = vec![(0.0, 0.0); used.columns()];
            for row in days {
                for ((sum, squares), cell) in sums.iter_mut().zip(*row) {
                    *sum += cell;
                    *squares += cell * cell;
                }
            }
            sums
        };
        Self {
            means: used.means().unwrap_or_default(),
            blocks: rows.chunks_exact(block_days).map(block).collect(),
        }
    }
}

/// One half of a split.
#[derive(Clone)]
struct Half {
    sums: Sums,
    sharpes: Vec<f64>,
}

impl Half {
    fn new(columns: usize) -> Self {
        Self {
            sums: vec![(0.0, 0.0); columns],
            sharpes: Vec::with_capacity(columns),
        }
    }

    fn clear(&mut self) {
        self.sums.fill((0.0, 0.0));
        self.sharpes.clear();
    }

    fn add(&mut self, block: &Sums) {
        for ((sum, squares), (block_sum, block_squares)) in self.sums.iter_mut().zip(block) {
            *sum += block_sum;
            *squares += block_squares;
        }
    }

    fn rate(&mut self, means: &[f64], days: usize) -> Result<(), Undefined> {
        for (column, ((sum, squares), mean)) in self.sums.iter().zip(means).enumerate() {
            let sharpe = daily_ratio(*mean, *sum, *squares, days);
            self.sharpes
                .push(sharpe.ok_or(Undefined::ConstantStrategy { column })?);
        }
        Ok(())
    }

    /// The first column of the highest ratio.
    fn best(&self) -> usize {
        let ratios = self.sharpes.iter().enumerate();
        let first_highest = ratios.reduce(|best, next| if best.1 < next.1 { next } else { best });
        first_highest.map_or(0, |(column, _)| column)
    }

    /// Twice the midrank of a column, 1 the lowest.
    fn doubled_rank_of(&self, column: usize) -> usize {
        let own = self.sharpes.get(column).copied().unwrap_or(f64::NEG_INFINITY);
        let below = self.sharpes.iter().filter(|sharpe| **sharpe < own).count();
        let not_above = self.sharpes.iter().filter(|sharpe| **sharpe <= own).count();
        below + not_above + 1
    }
}

/// Mean over deviation (ddof 1) from sums about `origin`; `None` where the values do not vary.
///
/// The variance is a difference of two sums, whose rounding is 1e-16 of the larger: below 1e-12 of it nothing is left.
fn daily_ratio(origin: f64, sum: f64, sum_of_squares: f64, days: usize) -> Option<f64> {
    let days = count(days);
    let offset = sum / days;
    let rest = sum_of_squares - days * offset * offset;
    let deviation = (rest / (days - 1.0)).sqrt();
    let mean = origin + offset;
    let varies = 1e-12 * sum_of_squares < rest && !is_rounding(deviation, mean);
    (varies && deviation.is_finite()).then(|| mean / deviation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SplitMix64;

    fn noise(days: usize, columns: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut generator = SplitMix64::new(seed);
        let mut column = || (0..days).map(|_| 0.01 * (generator.uniform() - 0.5)).collect();
        (0..columns).map(|_| column()).collect()
    }

    fn table(columns: &[Vec<f64>]) -> DailyTable {
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        DailyTable::new("returns", &columns).unwrap()
    }

    #[test]
    fn blocks_are_even_and_few() {
        let table = table(&noise(64, 6, 1));
        for blocks in [0, 1, 3, 22] {
            assert!(matches!(pbo(&table, blocks), Err(StatsError::Blocks { .. })));
        }
    }

    #[test]
    fn too_little_to_split_is_a_reason() {
        let few = pbo(&table(&noise(64, 4, 1)), 8).unwrap();
        assert!(matches!(few, Err(Undefined::TooFew { count: 4, .. })));
        let short = pbo(&table(&noise(7, 6, 1)), 8).unwrap();
        assert!(matches!(short, Err(Undefined::TooFewDays { .. })));
        let single_days = pbo(&table(&noise(2, 6, 1)), 2).unwrap();
        assert!(matches!(single_days, Err(Undefined::TooFewDays { .. })));
    }

    #[test]
    fn an_agent_in_cash_for_half_the_window_is_named() {
        let mut columns = noise(64, 6, 1);
        columns[3][..32].fill(0.0);
        let reason = Undefined::ConstantStrategy { column: 3 };
        assert_eq!(pbo(&table(&columns), 8).unwrap(), Err(reason));
    }

    #[test]
    fn skill_does_not_overfit() {
        let mut columns = noise(320, 8, 2);
        for value in &mut columns[5] {
            *value += 0.01;
        }
        let found = pbo(&table(&columns), 8).unwrap().unwrap();
        assert_eq!(found.logits.len(), 70);
        assert!(found.probability.abs() < 1e-15 && (found.median_logit - libm::log(8.0)).abs() < 1e-12);
    }

    #[test]
    fn the_order_and_the_unit_of_the_strategies_do_not_matter() {
        let columns = noise(200, 7, 3);
        let found = pbo(&table(&columns), 8).unwrap().unwrap();
        let turned: Vec<Vec<f64>> = columns
            .iter()
            .rev()
            .map(|column| column.iter().map(|value| 3.0 * value).collect())
            .collect();
        assert_eq!(pbo(&table(&turned), 8).unwrap().unwrap(), found);
        assert!(
            0.2 < found.probability && found.probability < 0.9,
            "{}",
            found.probability
        );
    }

    #[test]
    fn twins_share_their_rank() {
        let mut columns = noise(64, 6, 4);
        columns[1] = columns[0].clone();
        assert!(pbo(&table(&columns), 4).unwrap().is_ok());
        let same = vec![columns[0].clone(); 5];
        let tied = pbo(&table(&same), 4).unwrap().unwrap();
        assert!(tied.logits.iter().all(|logit| logit.abs() < 1e-15));
        assert!((tied.probability - 1.0).abs() < 1e-15);
    }

    #[test]
    fn equal_and_constant_columns_are_left_out() {
        let columns = noise(96, 6, 6);
        let wanted = pbo(&table(&columns), 16).unwrap();
        let mut more: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let idle = vec![0.0; 96];
        more.insert(2, &idle);
        more.push(&columns[4]);
        assert_eq!(pbo_of_distinct(&more).unwrap(), wanted);
        let twins = vec![columns[0].as_slice(); 6];
        assert!(matches!(
            pbo_of_distinct(&twins).unwrap(),
            Err(Undefined::TooFew { count: 1, .. })
        ));
        assert_eq!(pbo_of_distinct(&[]), Err(StatsError::NoColumns));
    }

    #[test]
    fn the_first_days_that_fill_no_block_are_dropped() {
        let columns = noise(66, 6, 5);
        let cut: Vec<Vec<f64>> = columns.iter().map(|column| column[2..].to_vec()).collect();
        assert_eq!(pbo(&table(&columns), 8), pbo(&table(&cut), 8));
    }
}
