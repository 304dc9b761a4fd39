//! What a planted account chooses.

use super::agent::{PlantedAgent, SkillHorizon};
use super::market::{PlantedDesign, PlantedDraw, PlantedMarket};
use crate::model::{DayFit, Leg};
use ktd_stats::SplitMix64;
use std::collections::BTreeMap;

impl PlantedAgent {
    /// The rows that it holds from the open of the day at `place` on.
    pub(super) fn choose(
        self,
        market: &PlantedMarket,
        (design, draw): (&PlantedDesign, &PlantedDraw),
        (place, sectors): (usize, &[u16]),
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
            Self::Luck | Self::MarketTimer { .. } => fill(&mut scored, |_| generator.uniform()),
            Self::SectorDice(_) => {
                let is_in = |row| clipped.sector(row).is_some_and(|own| sectors.contains(&own));
                scored.retain(|(_, row)| is_in(*row));
                fill(&mut scored, |_| generator.uniform());
            }
            Self::SectorSkill { information } => foresee(&mut scored, information, generator, |row| {
                let shocks = |place: usize| draw.days.get(place).map_or((0.0, 0.0), |day| day.shocks_of(row));
                over(design, place, SkillHorizon::Holding, shocks)
            }),
            Self::Style(style) => {
                scored.retain(|(_, row)| is_within((clipped, unclipped), *row, style));
                fill(&mut scored, |row| clipped.exposure(row, style));
            }
            Self::Tail(style) => fill(&mut scored, |row| unclipped.exposure(row, style)),
            Self::Skill {
                information,
                foresight,
            } => foresee(&mut scored, information, generator, |row| {
                foreseen((design, draw), place, row, foresight)
            }),
            Self::FamousSkill { information, among } => {
                fill(&mut scored, |row| clipped.weight(row).unwrap_or(0.0));
                order(&mut scored);
                scored.truncate(among);
                foresee(&mut scored, information, generator, |row| {
                    foreseen((design, draw), place, row, SkillHorizon::Holding)
                });
            }
        }
        order(&mut scored);
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

impl PlantedAgent {
    /// The share of the account that it invests from the open of the day at `place` on.
    pub(super) fn invested(
        self,
        market: &PlantedMarket,
        (design, place): (&PlantedDesign, usize),
        generator: &mut SplitMix64,
    ) -> f64 {
        let Self::MarketTimer { information } = self else {
            return 1.0;
        };
        let common = |place: usize| {
            let fit = market.clipped.fits().get(place);
            fit.map_or((0.0, 0.0), |fit| {
                (
                    fit.factor_return(0, Leg::Overnight),
                    fit.factor_return(0, Leg::Intraday),
                )
            })
        };
        let rises = 0.0 < over(design, place, SkillHorizon::Holding, common);
        let is_right = generator.uniform() < f64::midpoint(1.0, information);
        if rises == is_right { 1.0 } else { 0.5 }
    }

    /// The sectors to which it keeps: of those that hold half as many names again as it takes of each, some drawn at random. Where
    /// there is none it holds cash.
    pub(super) fn sectors(
        self,
        market: &PlantedMarket,
        design: &PlantedDesign,
        generator: &mut SplitMix64,
    ) -> Vec<u16> {
        let Self::SectorDice(count) = self else {
            return Vec::new();
        };
        let mut names: BTreeMap<u16, usize> = BTreeMap::new();
        if let Some(fit) = market.clipped.fits().first() {
            let own = (0..fit.names()).filter(|row| fit.is_estimated(*row));
            for sector in own.filter_map(|row| fit.sector(row)) {
                *names.entry(sector).or_default() += 1;
            }
        }
        let enough = (3 * design.names).div_ceil(2 * count.max(1));
        let large = names.into_iter().filter(|(_, names)| enough <= *names);
        let mut drawn: Vec<(f64, u16)> = large.map(|(sector, _)| (generator.uniform(), sector)).collect();
        drawn.sort_by(|left, right| left.0.total_cmp(&right.0));
        drawn.into_iter().take(count).map(|(_, sector)| sector).collect()
    }
}

/// Highest score first.
fn order(scored: &mut [(f64, usize)]) {
    scored.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
}

/// Scores that correlate with what is to come.
fn foresee(
    scored: &mut [(f64, usize)],
    information: f64,
    generator: &mut SplitMix64,
    to_come: impl Fn(usize) -> f64,
) {
    fill(scored, to_come);
    standardise(scored);
    let noise = (1.0 - information * information).max(0.0).sqrt();
    for (score, _) in scored {
        *score = information * *score + noise * generator.normal();
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
    over(design, place, foresight, specific)
}

/// The sum of a series of overnight and intraday returns from the open of the day at `place` on.
fn over(
    design: &PlantedDesign,
    place: usize,
    foresight: SkillHorizon,
    specific: impl Fn(usize) -> (f64, f64),
) -> f64 {
    let first = specific(place).1;
    match foresight {
        SkillHorizon::FirstDay => first,
        SkillHorizon::Holding => {
            let end = place + design.hold_days;
            let between = (place + 1..end).map(&specific).map(|(night, day)| night + day);
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
