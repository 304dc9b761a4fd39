//! What guessing recovers that reads no number: of what the exhibit leaves open, exactly.

use crate::answer::ProbeAnswer;
use crate::database::{Database, Rows};
use crate::exhibit::ProbeText;
use crate::gold::{Gold, Target};
use crate::parsed_exhibit::ParsedExhibit;
use crate::prior::Prior;
use crate::scan::Scope;
use crate::tally::Measure;
use ktd_env::Board;
use ktd_masking::MaskSettings;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// The probability with which the attacker `random` recovers each measure that a probe is asked about: five stocks drawn
/// without replacement and a day, each from what an exhibit under this mask leaves open: a code or a date that it shows where
/// the mask hides them is a leak and no chance. Empty of a probe that cannot be read.
///
/// Of linked probes it is a half: a coin decides whether they show one stock.
#[must_use]
pub fn expected(
    database: &Database,
    mask: MaskSettings,
    (probe, gold): (&ProbeText, &Gold),
    joint_days: usize,
) -> BTreeMap<Measure, f64> {
    if gold.is_same().is_some() {
        return BTreeMap::from([(Measure::Same, 0.5)]);
    }
    let (Some(parsed), Some(target)) = (allowed(mask, probe), gold.targets.first()) else {
        return BTreeMap::new();
    };
    of_scope(database, &Scope::of(database, &parsed), target, joint_days)
}

/// The best guess that looks at nothing but what the exhibit leaves open and knows how probes are drawn: the stocks that are
/// asked about most often, the day around which most probes lie, and for both together the days and stocks that go together
/// best. Design and memberships are public, so whoever recovers no more has learned nothing from the mask.
#[must_use]
pub fn blind(
    database: &Database,
    mask: MaskSettings,
    (probe, gold): (&ProbeText, &Gold),
    joint_days: usize,
) -> BTreeMap<Measure, f64> {
    let mut chances = expected(database, mask, (probe, gold), joint_days);
    let (Some(parsed), Some(_), None) = (allowed(mask, probe), gold.targets.first(), gold.is_same()) else {
        return chances;
    };
    let prior = database.prior(probe.kind, parsed.steps.len());
    let open = OpenShares::of(database, &Scope::of(database, &parsed), &prior);
    let dated = |reach: usize| best_day(&open.of_days, reach).1;
    let named = |guesses: usize| largest(open.of_names.values().copied(), guesses);
    chances.extend([
        (Measure::Top1, named(1)),
        (Measure::Top5, named(ProbeAnswer::MOST_NAMES)),
        (Measure::Date5, dated(5)),
        (Measure::Date20, dated(20)),
        (Measure::Date60, dated(60)),
        (Measure::Joint, open.joint(joint_days)),
        (Measure::Board, open.most_of(database, |rows| Some(rows.board))),
    ]);
    // Sectors are asked of a target that has one.
    if let Some(sector) = chances.get_mut(&Measure::Sector) {
        *sector = open.most_of(database, |rows| rows.sector);
    }
    chances
}

/// The probability of each stock and day that an exhibit leaves open.
struct OpenShares {
    /// Stretches of days on which a stock could be the one, by its place.
    stretches: Vec<(usize, Range<usize>)>,
    of_names: BTreeMap<usize, f64>,
    of_days: Vec<f64>,
    /// By board: the probability of each stock on all days before each.
    before: Vec<Vec<f64>>,
    /// The board of each stretch.
    boards: Vec<usize>,
}

impl OpenShares {
    fn of(database: &Database, scope: &Scope, prior: &Prior) -> Self {
        let stretches: Vec<(usize, Range<usize>)> = scope
            .stretches(database)
            .map(|(place, rows)| (place, database.days_of_rows(place, &rows)))
            .collect();
        let days = database.day_count();
        let mut stocks = vec![vec![0.0; days + 1]; Board::ALL.len()];
        let mut boards = Vec::with_capacity(stretches.len());
        for (place, days) in &stretches {
            let board = database.names.get(*place).map(|rows| rows.board);
            let board = Board::ALL.iter().position(|of| Some(*of) == board).unwrap_or(0);
            boards.push(board);
            if let Some(changes) = stocks.get_mut(board) {
                // One more from the first day on, one less after the last.
                for (day, change) in [(days.start, 1.0), (days.end, -1.0)] {
                    if let Some(cell) = changes.get_mut(day) {
                        *cell += change;
                    }
                }
            }
        }
        let mut of_days = vec![0.0; days];
        for (board, changes) in Board::ALL.iter().zip(&stocks) {
            let mut open = 0.0;
            let shares = prior.of_board(*board).iter();
            for ((of_day, share), change) in of_days.iter_mut().zip(shares).zip(changes) {
                open += change;
                *of_day += open * share;
            }
        }
        let all = of_days.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        for of_day in &mut of_days {
            *of_day /= all;
        }
        let before = Board::ALL.iter().map(|board| {
            let sums = prior.before(*board).iter();
            sums.map(|sum| sum / all).collect()
        });
        let mut open = Self {
            stretches,
            of_names: BTreeMap::new(),
            of_days,
            before: before.collect(),
            boards,
        };
        open.of_names = open.within(&(0..days));
        open
    }

    /// The probability of each stock within some days.
    fn within(&self, window: &Range<usize>) -> BTreeMap<usize, f64> {
        let mut of_names = BTreeMap::new();
        for ((place, days), board) in self.stretches.iter().zip(&self.boards) {
            let (start, end) = (days.start.max(window.start), days.end.min(window.end));
            let Some(before) = self.before.get(*board).filter(|_| start < end) else {
                continue;
            };
            let at = |day: usize| before.get(day).copied().unwrap_or(0.0);
            *of_names.entry(*place).or_insert(0.0) += at(end) - at(start);
        }
        of_names
    }

    /// Five stocks and a day together: of the guesses a reach apart, and of five stocks chosen whatever the day, the best.
    fn joint(&self, reach: usize) -> f64 {
        let five =
            |window: &Range<usize>| largest(self.within(window).into_values(), ProbeAnswer::MOST_NAMES);
        let around = |day: usize| day.saturating_sub(reach)..(day + reach + 1).min(self.of_days.len());
        let guesses = (0..self.of_days.len()).step_by(reach.max(1)).map(around);
        let apart = largest(self.of_names.values().copied(), ProbeAnswer::MOST_NAMES)
            * best_day(&self.of_days, reach).1;
        guesses.map(|window| five(&window)).fold(apart, f64::max)
    }

    /// The probability of the likeliest sector or board, among stocks that have one.
    fn most_of<K: Ord>(&self, database: &Database, key: impl Fn(&Rows) -> Option<K>) -> f64 {
        let mut shares: BTreeMap<K, f64> = BTreeMap::new();
        for (place, share) in &self.of_names {
            if let Some(key) = database.names.get(*place).and_then(&key) {
                *shares.entry(key).or_default() += share;
            }
        }
        let all = shares.values().sum::<f64>().max(f64::MIN_POSITIVE);
        largest(shares.into_values().map(|share| share / all), 1)
    }
}

/// The sum of the largest.
fn largest(shares: impl Iterator<Item = f64>, count: usize) -> f64 {
    let mut shares: Vec<f64> = shares.collect();
    shares.sort_unstable_by(|left, right| right.total_cmp(left));
    shares.into_iter().take(count).sum::<f64>().min(1.0)
}

/// The day with most within `reach` of it, and how much.
fn best_day(of_days: &[f64], reach: usize) -> (usize, f64) {
    let around = |first: usize| of_days.iter().skip(first).take(2 * reach + 1).sum::<f64>();
    // In order of the first of the days within reach, so that its middle is so much later.
    let days = (0..of_days.len()).map(|first| (first + reach, around(first)));
    days.fold((0, 0.0), |best, next| if best.1 < next.1 { next } else { best })
}

/// The first exhibit as far as its mask and its kind allow.
fn allowed(mask: MaskSettings, probe: &ProbeText) -> Option<ParsedExhibit> {
    let parsed = ParsedExhibit::read(probe.exhibits.first()?)?;
    Some(parsed.under(mask, probe.kind))
}

fn of_scope(
    database: &Database,
    scope: &Scope,
    target: &Target,
    joint_days: usize,
) -> BTreeMap<Measure, f64> {
    let places: BTreeSet<usize> = scope.stretches(database).map(|(place, _)| place).collect();
    let rows = || places.iter().filter_map(|place| database.names.get(*place));
    let holds_target = rows().any(|rows| rows.name == target.name);
    let named = |guesses: usize| {
        if holds_target {
            share(guesses.min(places.len()), places.len())
        } else {
            0.0
        }
    };
    let days = open_days(database, scope);
    let within = |reach: usize| {
        let day = target.day.index();
        let near = days.iter().filter(|open| open.abs_diff(day) <= reach);
        share(near.count(), days.len())
    };
    let top5 = named(ProbeAnswer::MOST_NAMES);
    let mut chances = BTreeMap::from([
        (Measure::Top1, named(1)),
        (Measure::Top5, top5),
        (Measure::Date5, within(5)),
        (Measure::Date20, within(20)),
        (Measure::Date60, within(60)),
        (Measure::Joint, top5 * within(joint_days)),
    ]);
    let on_board = rows().filter(|rows| rows.board == target.board).count();
    chances.insert(Measure::Board, share(on_board, places.len()));
    if target.sector.is_some() {
        let in_sector = rows().filter(|rows| rows.sector == target.sector).count();
        chances.insert(Measure::Sector, share(in_sector, places.len()));
    }
    chances
}

/// Days on which some stock in scope was a member, in order.
fn open_days(database: &Database, scope: &Scope) -> Vec<usize> {
    let mut is_open = vec![false; database.day_count()];
    for (place, rows) in scope.stretches(database) {
        let first = database.day_of_row(place, rows.start);
        if let Some(days) = is_open.get_mut(first..first + rows.len()) {
            days.fill(true);
        }
    }
    let days = is_open.into_iter().enumerate();
    days.filter(|(_, is_open)| *is_open).map(|(day, _)| day).collect()
}

#[expect(clippy::cast_precision_loss, reason = "names and days are few")]
const fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    part as f64 / whole as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::database::hand_made::{Stock, database};
    use crate::kind::ProbeKind;
    use ktd_masking::{Level, Numeric};

    const EXACT: MaskSettings = MaskSettings {
        level: Level::Blinded,
        numeric: Numeric::Exact,
    };

    /// Two stocks of the main board over 40 days, one over 10, and one of STAR over 30 days in their midst.
    fn four_stocks() -> Database {
        let stock = |board, first, values, sector| Stock {
            board,
            sector: Some(sector),
            first,
            values,
        };
        database(
            310,
            &[
                stock(Board::Main, 260, &[1.0; 40], 0),
                stock(Board::Main, 260, &[1.0; 40], 0),
                stock(Board::Main, 290, &[1.0; 10], 1),
                stock(Board::Star, 265, &[1.0; 30], 2),
            ],
        )
    }

    fn probe(board: Board) -> ProbeText {
        let content = format!(r#"{{"stock_id":"asset_0001","board":"{}"}}"#, board.label());
        let message = format!(r#"{{"source":"get_stock_snapshot","content":{content}}}"#);
        ProbeText {
            number: 0,
            kind: ProbeKind::Day,
            exhibits: vec![format!(r#"{{"target":"asset_0001","steps":[[{message}]]}}"#)],
        }
    }

    fn gold(database: &Database, place: usize, day: usize) -> Gold {
        let names = &database.names[place];
        let target = Target {
            name: names.name,
            day: database.day_at(day).unwrap(),
            board: names.board,
            sector: names.sector,
        };
        Gold {
            stretch: 0,
            targets: vec![target],
        }
    }

    fn of(chances: &BTreeMap<Measure, f64>, wanted: &[(Measure, f64)]) {
        for (measure, share) in wanted {
            let chance = chances[measure];
            assert!(
                (chance - share).abs() < 1e-12,
                "{}: {chance} for {share}",
                measure.label()
            );
        }
    }

    #[test]
    fn days_without_a_stock_of_the_board_are_not_guessed() {
        let database = four_stocks();
        let chances = expected(
            &database,
            EXACT,
            (&probe(Board::Star), &gold(&database, 3, 280)),
            20,
        );
        of(
            &chances,
            &[
                (Measure::Top1, 1.0),
                (Measure::Date5, 11.0 / 30.0),
                (Measure::Date20, 1.0),
                (Measure::Joint, 1.0),
                (Measure::Board, 1.0),
                (Measure::Sector, 1.0),
            ],
        );
    }

    #[test]
    fn stocks_and_days_are_drawn_alike() {
        let database = four_stocks();
        let chances = expected(
            &database,
            EXACT,
            (&probe(Board::Main), &gold(&database, 2, 299)),
            5,
        );
        of(
            &chances,
            &[
                (Measure::Top1, 1.0 / 3.0),
                (Measure::Top5, 1.0),
                (Measure::Date5, 6.0 / 40.0),
                (Measure::Joint, 6.0 / 40.0),
                (Measure::Sector, 1.0 / 3.0),
            ],
        );
        let elsewhere = expected(
            &database,
            EXACT,
            (&probe(Board::Main), &gold(&database, 3, 280)),
            5,
        );
        of(&elsewhere, &[(Measure::Top1, 0.0), (Measure::Board, 0.0)]);
    }

    #[test]
    fn the_best_blind_guess_names_who_was_a_member_longest() {
        let database = four_stocks();
        let gold = gold(&database, 2, 299);
        let chances = blind(&database, EXACT, (&probe(Board::Main), &gold), 5);
        of(
            &chances,
            &[
                (Measure::Top1, 40.0 / 90.0),
                (Measure::Top5, 1.0),
                (Measure::Date5, 32.0 / 90.0),
                (Measure::Date20, 1.0),
                (Measure::Joint, 32.0 / 90.0),
                (Measure::Sector, 80.0 / 90.0),
            ],
        );
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "an anchor shows a code")]
    fn a_stock_given_away_tells_when_it_was_a_member() {
        let database = four_stocks();
        let code = database.names[2].ticker.reveal();
        let mut probe = ProbeText {
            kind: ProbeKind::Anchored,
            ..probe(Board::Main)
        };
        let given = format!(r#""given_away":{{"alias":"asset_0003","code":"{code}"}},"steps""#);
        probe.exhibits[0] = probe.exhibits[0].replace(r#""steps""#, &given);
        let gold = gold(&database, 0, 299);
        let wanted = [
            (expected(&database, EXACT, (&probe, &gold), 5), 6.0 / 10.0),
            (blind(&database, EXACT, (&probe, &gold), 5), 1.0),
        ];
        for (chances, date5) in wanted {
            of(&chances, &[(Measure::Date5, date5), (Measure::Top5, 1.0)]);
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a leak shows code and date")]
    fn what_the_mask_should_hide_is_no_chance() {
        let database = four_stocks();
        let gold = gold(&database, 2, 299);
        let code = database.names[2].ticker.reveal();
        let date = database.calendar[300].reveal();
        let honest = probe(Board::Main);
        let context = format!(r#"[[{{"source":"get_market_context","content":{{"day":"{date}"}}}},"#);
        let leaks = [
            honest.exhibits[0].replace("asset_0001", code),
            honest.exhibits[0].replace("[[", &context),
            honest.exhibits[0].replace(
                r#""steps""#,
                &format!(r#""given_away":{{"alias":"asset_0003","code":"{code}"}},"steps""#),
            ),
        ];
        let of = |mask: MaskSettings, probe: &ProbeText| blind(&database, mask, (probe, &gold), 5);
        for leak in leaks {
            let probe = ProbeText {
                exhibits: vec![leak],
                ..honest.clone()
            };
            assert_eq!(of(EXACT, &probe), of(EXACT, &honest), "{probe:?}");
        }
        let bright = MaskSettings {
            level: Level::Bright,
            ..EXACT
        };
        let shown = ProbeText {
            exhibits: vec![
                honest.exhibits[0]
                    .replace("asset_0001", code)
                    .replace("[[", &context),
            ],
            ..honest.clone()
        };
        assert!((of(bright, &shown)[&Measure::Joint] - 1.0).abs() < 1e-12);
        let banded = MaskSettings {
            numeric: Numeric::Banded,
            ..EXACT
        };
        let named = of(banded, &honest)[&Measure::Top1];
        assert!((named - 40.0 / 120.0).abs() < 1e-12, "boards are hidden: {named}");
    }

    #[test]
    fn a_coin_tells_whether_two_are_one() {
        let database = four_stocks();
        let mut gold = gold(&database, 2, 299);
        gold.targets.push(gold.targets[0]);
        let (probe, of) = (probe(Board::Main), BTreeMap::from([(Measure::Same, 0.5)]));
        let blind = blind(&database, EXACT, (&probe, &gold), 5);
        for chances in [expected(&database, EXACT, (&probe, &gold), 5), blind] {
            assert_eq!(chances, of);
        }
    }

    #[test]
    fn of_a_foreign_text_nothing_is_expected() {
        let database = four_stocks();
        let probe = ProbeText {
            exhibits: vec!["{}".to_owned()],
            ..probe(Board::Main)
        };
        assert!(expected(&database, EXACT, (&probe, &gold(&database, 2, 299)), 5).is_empty());
    }
}
