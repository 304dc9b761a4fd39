//! All of the database's attackers, and how they are put to a probe.

use super::asking::{Census, GivenAway, KnownDay, RosterPath, WeightOracle};
use super::combination::{LearnedWeights, Lesson};
use super::cross_section::CrossSection;
use super::index_path::IndexPath;
use super::labels_and_order::LabelsAndOrder;
use super::limit_pattern::LimitPattern;
use super::price_level::PriceLevel;
use super::random::Random;
use super::return_path::ReturnPath;
use super::verdict::{Dice, answer, drawn, is_same};
use super::volatility_profile::VolatilityProfile;
use super::volume_level::VolumeLevel;
use super::{DatabaseAttacker, Reading, probe_name};
use crate::answer::ProbeAnswer;
use crate::background::Background;
use crate::clue::Clues;
use crate::database::Database;
use crate::exhibit::ProbeText;
use crate::gold::{Gold, Target};
use crate::parsed_exhibit::ParsedExhibit;
use crate::scan::{Case, ScanResult, Scope, scan};
use ktd_env::KeyedStream;
use ktd_masking::Numeric;
use std::borrow::Borrow;
use std::fmt;
use std::ops::Range;

/// The attackers of the database, taught and ready. They know the rules of the mask, as anyone may, and no key.
pub struct Attackers {
    numeric: Numeric,
    labels: LabelsAndOrder,
    weights: LearnedWeights,
}

const COMBINATION: &str = "combination";
/// The place of the one that reads nothing: what is found for it is what is known of the design.
const RANDOM: usize = 0;

/// Random rows that a lesson sets beside the truth.
const RANDOM_OTHERS: usize = 48;
/// Best rows of each reading that a lesson sets beside the truth.
const BEST_OTHERS: usize = 6;

impl Attackers {
    /// Their names, in the order of [`Attackers::answer`].
    pub const NAMES: [&'static str; 15] = [
        "random",
        "price-level",
        "volume-level",
        "return-path",
        "volatility-profile",
        "limit-pattern",
        "index-path",
        "cross-section",
        "labels-and-order",
        "roster-path",
        "census",
        "weight-oracle",
        "given-away",
        "known-day",
        COMBINATION,
    ];

    /// The attackers of masks that show numbers so. Their combination is not taught yet.
    #[must_use]
    pub fn new(database: &Database, numeric: Numeric) -> Self {
        Self {
            numeric,
            labels: LabelsAndOrder::new(database),
            weights: LearnedWeights::default(),
        }
    }

    /// Looks at a whole set for what one probe cannot tell: whether its keys can be guessed.
    pub fn study<P: Borrow<ProbeText>>(&mut self, probes: impl IntoIterator<Item = P>) {
        self.labels.study(probes);
    }

    /// What a probe of another episode teaches the combination; `None` where it cannot be read or is out of scope.
    #[must_use]
    pub fn lesson(&self, database: &Database, probe: &ProbeText, gold: &Gold, seed: u64) -> Option<Lesson> {
        let target = gold.targets.first()?;
        let exhibit = Exhibit::read(self, database, (probe, 0))?;
        let cases = exhibit.cases(database);
        // Lessons are of other days than probes.
        let (found, _) = scan(database, &exhibit.scope, &cases, &vec![0.0; cases.len()], None);
        let (place, row) = row_of(database, target)?;
        let costs = |place: usize, row: usize| -> Vec<f64> {
            let mut costs = Vec::new();
            let of_case = |case: &Case<'_>| {
                case.costs(database, (place, &(row..row + 1)), f32::INFINITY, &mut costs);
                costs.first().copied().map_or(0.0, f64::from)
            };
            cases.iter().map(of_case).collect()
        };
        let mut stream =
            KeyedStream::for_purpose(seed, &format!("lesson {}", probe_name(probe.kind, probe.number)));
        let mut others = random_rows(database, &exhibit.scope, &mut stream);
        others.extend(found.iter().flat_map(|found| best_rows(database, found)));
        others.retain(|other| *other != (place, row));
        Some(Lesson {
            kind: probe.kind,
            truth: costs(place, row),
            others: others.into_iter().map(|(place, row)| costs(place, row)).collect(),
        })
    }

    /// Teaches the combination what was learned.
    pub fn teach(&mut self, weights: LearnedWeights) {
        self.weights = weights;
    }

    /// What each attacker answers, in the order of [`Attackers::NAMES`]; `None` where it could not read the probe.
    /// `seed` decides between equals.
    #[must_use]
    pub fn answer(&self, database: &Database, probe: &ProbeText, seed: u64) -> Vec<Option<ProbeAnswer>> {
        let exhibits: Option<Vec<Exhibit>> = (0..probe.exhibits.len())
            .map(|place| Exhibit::read(self, database, (probe, place)))
            .collect();
        let Some(exhibits) = exhibits.filter(|exhibits| !exhibits.is_empty()) else {
            return vec![None; Self::NAMES.len()];
        };
        let found: Vec<Vec<ScanResult>> = exhibits
            .iter()
            .map(|exhibit| self.found(database, exhibit, probe))
            .collect();
        let probe_name = probe_name(probe.kind, probe.number);
        let of_one = |(place, name): (usize, &'static str)| {
            let mut dice = Dice::new(seed, name, &probe_name);
            let of = |exhibit: usize, place: usize| found.get(exhibit)?.get(place);
            let days = exhibits.first()?.scope.days(database);
            let (first, before) = (of(0, place)?, of(0, RANDOM)?);
            let mut answer = if place == RANDOM {
                drawn(database, before, &mut dice)?
            } else {
                answer(database, first, &days, &mut dice)?
            };
            if let Some(second) = of(1, place) {
                answer.is_same = Some(is_same((first, before), second, &mut dice));
            }
            Some(answer)
        };
        let names = self
            .each()
            .map(DatabaseAttacker::name)
            .into_iter()
            .chain([COMBINATION]);
        names.enumerate().map(of_one).collect()
    }

    /// What each of them found in one exhibit.
    fn found(&self, database: &Database, exhibit: &Exhibit, probe: &ProbeText) -> Vec<ScanResult> {
        let cases = exhibit.cases(database);
        let weights = self.weights.of(probe.kind, cases.len());
        // Found costs count as twice a negative log-likelihood, learned weights as once.
        let weights: Vec<f32> = weights.into_iter().map(double).collect();
        let prior = database.prior(probe.kind, exhibit.parsed.steps.len());
        let (mut found, together) = scan(database, &exhibit.scope, &cases, &weights, Some(prior.costs()));
        found.push(together);
        found
    }

    fn each(&self) -> [&dyn DatabaseAttacker; 14] {
        [
            &Random,
            &PriceLevel,
            &VolumeLevel,
            &ReturnPath,
            &VolatilityProfile,
            &LimitPattern,
            &IndexPath,
            &CrossSection,
            &self.labels,
            &RosterPath,
            &Census,
            &WeightOracle,
            &GivenAway,
            &KnownDay,
        ]
    }
}

impl fmt::Debug for Attackers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Attackers")
            .field("numeric", &self.numeric)
            .field("weights", &self.weights)
            .finish_non_exhaustive()
    }
}

/// One exhibit as all but the combination read it.
struct Exhibit {
    parsed: ParsedExhibit,
    scope: Scope,
    clues: Vec<Clues>,
}

impl Exhibit {
    fn read(attackers: &Attackers, database: &Database, (probe, place): (&ProbeText, usize)) -> Option<Self> {
        let parsed = ParsedExhibit::read(probe.exhibits.get(place)?)?;
        let background = Background::of(database, &parsed);
        let reading = Reading {
            parsed: &parsed,
            numeric: attackers.numeric,
            kind: probe.kind,
            number: probe.number,
            exhibit: place,
            background: &background,
        };
        let clues = attackers
            .each()
            .iter()
            .map(|attacker| attacker.clues(&reading))
            .collect();
        let scope = Scope::of(database, &parsed);
        Some(Self { parsed, scope, clues })
    }

    fn cases(&self, database: &Database) -> Vec<Case<'_>> {
        let clues = self.clues.iter();
        clues
            .map(|clues| Case::new(database, &self.parsed, clues))
            .collect()
    }
}

#[expect(clippy::cast_possible_truncation, reason = "weights are of order one")]
const fn double(weight: f64) -> f32 {
    (2.0 * weight) as f32
}

/// The row of the truth: place of the stock, row.
fn row_of(database: &Database, target: &Target) -> Option<(usize, usize)> {
    let place = database.names.iter().position(|rows| rows.name == target.name)?;
    let rows = database.names.get(place)?;
    let row = rows.span.start + target.day.index().checked_sub(rows.first)?;
    rows.span.contains(&row).then_some((place, row))
}

fn random_rows(database: &Database, scope: &Scope, stream: &mut KeyedStream) -> Vec<(usize, usize)> {
    let stretches: Vec<(usize, Range<usize>)> = scope.stretches(database).collect();
    let all: usize = stretches.iter().map(|(_, rows)| rows.len()).sum();
    let drawn = (0..RANDOM_OTHERS.min(all)).filter_map(|_| {
        let draw = stream.below(u64::try_from(all).ok()?);
        let mut left = usize::try_from(draw).ok()?;
        stretches.iter().find_map(|(place, rows)| {
            let row = (left < rows.len()).then_some((*place, rows.start + left));
            left = left.saturating_sub(rows.len());
            row
        })
    });
    drawn.collect()
}

fn best_rows(database: &Database, found: &ScanResult) -> Vec<(usize, usize)> {
    let mut names = found.names.clone();
    names.sort_by(|left, right| left.cost.total_cmp(&right.cost));
    let best = names.into_iter().take(BEST_OTHERS);
    best.filter_map(|best| {
        let rows = database.names.get(best.place)?;
        Some((best.place, rows.span.start + best.day - rows.first))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_in_the_order_of_the_attackers() {
        let attackers = Attackers {
            numeric: Numeric::Exact,
            labels: LabelsAndOrder::of_boards(Vec::new()),
            weights: LearnedWeights::default(),
        };
        let names: Vec<&str> = attackers.each().iter().map(|attacker| attacker.name()).collect();
        assert_eq!(names, Attackers::NAMES[..14]);
    }
}
