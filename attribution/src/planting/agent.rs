//! Who is planted, and what it chooses.

use super::market::{PlantedDesign, PlantedDraw, PlantedMarket};
use crate::model::DayFit;
use ktd_stats::{SplitMix64, normal_quantile};

/// A planted account.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PlantedAgent {
    /// It foresees specific returns: its score correlates with them by this much across names (information coefficient).
    Skill {
        /// The correlation.
        information: f64,
        /// Over which days.
        foresight: SkillHorizon,
    },
    /// It throws dice.
    Luck,
    /// It holds the highest exposures to a style, by place in the model, among names within the limits of winsorising.
    Style(usize),
    /// It holds the highest exposures to a style, beyond the limits as well.
    Tail(usize),
}

/// Which specific returns a skilled account foresees, from the open at which it trades.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SkillHorizon {
    /// Up to the close of the same day.
    FirstDay,
    /// Up to the open at which it trades again.
    Holding,
}

impl PlantedAgent {
    /// The rows that it holds from the open of the day at `place` on.
    pub(super) fn choose(
        self,
        market: &PlantedMarket,
        (design, draw): (&PlantedDesign, &PlantedDraw),
        place: usize,
        generator: &mut SplitMix64,
    ) -> Vec<usize> {
        let fits = (
            market.clipped.fits().get(place),
            market.unclipped.fits().get(place),
        );
        let (Some(clipped), Some(unclipped)) = fits else {
            return Vec::new();
        };
        let mut scored: Vec<(f64, usize)> = (0..clipped.names())
            .filter(|row| clipped.is_estimated(*row))
            .map(|row| (0.0, row))
            .collect();
        match self {
            Self::Luck => fill(&mut scored, |_| generator.uniform()),
            Self::Style(style) => {
                scored.retain(|(_, row)| is_within((clipped, unclipped), *row, style));
                fill(&mut scored, |row| clipped.exposure(row, style));
            }
            Self::Tail(style) => fill(&mut scored, |row| unclipped.exposure(row, style)),
            Self::Skill {
                information,
                foresight,
            } => {
                fill(&mut scored, |row| foreseen((design, draw), place, row, foresight));
                standardise(&mut scored);
                let noise = (1.0 - information * information).max(0.0).sqrt();
                for (score, _) in &mut scored {
                    *score = information * *score + noise * gauss(generator);
                }
            }
        }
        scored.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
        let mut rows: Vec<usize> = scored
            .into_iter()
            .take(design.names)
            .map(|(_, row)| row)
            .collect();
        rows.sort_unstable();
        rows
    }
}

fn fill(scored: &mut [(f64, usize)], mut score: impl FnMut(usize) -> f64) {
    for (cell, row) in scored {
        *cell = score(*row);
    }
}

fn is_within((clipped, unclipped): (&DayFit, &DayFit), row: usize, style: usize) -> bool {
    const ROUNDING: f64 = 1e-9;
    (clipped.exposure(row, style) - unclipped.exposure(row, style)).abs() < ROUNDING
}

/// The specific return of a row from the open of the day at `place` on.
fn foreseen(
    (design, draw): (&PlantedDesign, &PlantedDraw),
    place: usize,
    row: usize,
    foresight: SkillHorizon,
) -> f64 {
    let specific = |place: usize| {
        draw.days
            .get(place)
            .map_or((0.0, 0.0), |day| day.specific_of(row))
    };
    let first = specific(place).1;
    match foresight {
        SkillHorizon::FirstDay => first,
        SkillHorizon::Holding => {
            let end = place + design.hold_days;
            let between = (place + 1..end).map(specific).map(|(night, day)| night + day);
            first + between.sum::<f64>() + specific(end).0
        }
    }
}

fn standardise(scored: &mut [(f64, usize)]) {
    let count = f64::from(u32::try_from(scored.len().max(1)).unwrap_or(u32::MAX));
    let mean = scored.iter().map(|(score, _)| score).sum::<f64>() / count;
    let squares: f64 = scored
        .iter()
        .map(|(score, _)| (score - mean) * (score - mean))
        .sum();
    let deviation = (squares / count).sqrt();
    for (score, _) in scored {
        *score = if 0.0 < deviation {
            (*score - mean) / deviation
        } else {
            0.0
        };
    }
}

/// A draw of the standard normal distribution.
fn gauss(generator: &mut SplitMix64) -> f64 {
    normal_quantile(generator.uniform()).unwrap_or(0.0)
}
