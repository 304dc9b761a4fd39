//! Reads labels instead of numbers: what stands in the open, aliases that follow the codes, keys that can be guessed, days
//! that show the calendar's gaps. Whether a guess of the whole map is right, the board tells that stands beside an alias,
//! and that all who are listed together must have been members of the index on one day.

use super::plaintext_leak::PlaintextLeak;
use super::{DatabaseAttacker, Reading, probe_name};
use crate::clue::{Bounds, Clues, DayClue};
use crate::column::DayColumn;
use crate::database::Database;
use crate::exhibit::ProbeText;
use crate::parsed_exhibit::ParsedExhibit;
use ktd_env::Board;
use ktd_guard::Register;
use ktd_masking::MaskKey;
use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::ops::Range;

pub(crate) struct LabelsAndOrder {
    /// Boards of all names, in the order of the codes.
    boards: Vec<Board>,
    /// What may stand in the open.
    register: Register,
    /// Stretches of days on which each was a member, in the same order.
    member_days: Vec<Vec<Range<usize>>>,
    /// The key behind every alias map, where it could be guessed.
    root: Option<MaskKey>,
}

impl DatabaseAttacker for LabelsAndOrder {
    fn name(&self) -> &'static str {
        "labels-and-order"
    }

    fn clues(&self, reading: &Reading<'_>) -> Clues {
        let open = PlaintextLeak::read(&self.register, reading.parsed);
        let mut days = gaps(reading.parsed);
        days.extend(open.days);
        Clues {
            suspects: if open.suspects.is_empty() {
                self.suspects(reading)
            } else {
                open.suspects
            },
            days,
            ..Clues::default()
        }
    }
}

/// Seeds that are tried as keys.
const SMALL_SEEDS: u64 = 1 << 16;
/// Listed aliases that a guess must explain before it counts.
const LEAST_LISTED: usize = 8;

impl LabelsAndOrder {
    pub(crate) fn new(database: &Database) -> Self {
        let mut member_days = vec![Vec::new(); database.boards.len()];
        for members in &database.members {
            let names = database.names.get(members.place);
            if let Some(days) = names.and_then(|names| member_days.get_mut(names.code_order)) {
                days.push(database.days_of_rows(members.place, &members.span));
            }
        }
        Self {
            boards: database.boards.clone(),
            member_days,
            register: database.register.clone(),
            root: None,
        }
    }

    /// Tries to guess the key behind all alias maps: small numbers, in the ways that people write them into 32 bytes.
    pub(crate) fn study<P: Borrow<ProbeText>>(&mut self, probes: impl IntoIterator<Item = P>) {
        let readable = probes.into_iter().filter_map(|probe| {
            let probe = probe.borrow();
            let parsed = ParsedExhibit::read(probe.exhibits.first()?)?;
            let listed = listed(&parsed);
            (LEAST_LISTED <= listed.len()).then(|| (probe_name(probe.kind, probe.number), listed))
        });
        let tried: Vec<(String, Vec<Listed>)> = readable.take(3).collect();
        if tried.is_empty() {
            return;
        }
        let fits = |root: &MaskKey| {
            let mut tried = tried.iter();
            tried.all(|(purpose, listed)| self.is_explained_under(root, purpose, listed))
        };
        let mut fitting = (0..SMALL_SEEDS).flat_map(keys_of).filter(fits);
        let first = fitting.next();
        // Where another key fits as well, what is listed tells nothing.
        let is_only = fitting.all(|other| Some(&other) == first.as_ref());
        self.root = first.filter(|_| is_only);
    }

    /// Whether the map under a root key explains what the first exhibit of a probe lists: keys are tried by the ten thousand, and most are
    /// refused by the first places of their maps.
    fn is_explained_under(&self, root: &MaskKey, purpose: &str, listed: &[Listed]) -> bool {
        let mut names: Vec<usize> = (0..self.boards.len()).collect();
        let mut left = listed.iter().rev().peekable();
        let mut together = Together::default();
        let mut is_explained = true;
        episode_key(root, purpose, 0)
            .alias_stream()
            .shuffle_while(&mut names, |place, name| {
                while let Some((_, board)) = left.next_if(|(alias, _)| *alias == place) {
                    is_explained &= self.takes(&mut together, *name, *board);
                }
                is_explained && left.peek().is_some()
            });
        is_explained && left.peek().is_none()
    }

    /// The name behind each alias under a root key.
    fn names_under(&self, root: &MaskKey, purpose: &str, exhibit: usize) -> Vec<usize> {
        let mut names: Vec<usize> = (0..self.boards.len()).collect();
        episode_key(root, purpose, exhibit)
            .alias_stream()
            .shuffle(&mut names);
        names
    }

    /// Whether a map from aliases to names puts every listed alias on the board that stands beside it, and all of them into
    /// the index of one day.
    fn explains(&self, name_of: impl Fn(usize) -> Option<usize>, listed: &[Listed]) -> bool {
        let mut together = Together::default();
        let mut listed = listed.iter();
        listed
            .all(|(alias, board)| name_of(*alias).is_some_and(|name| self.takes(&mut together, name, *board)))
    }

    /// Whether a name is of the board that is shown, and was a member with all before it.
    fn takes(&self, together: &mut Together, name: usize, board: Option<Board>) -> bool {
        let is_of_board = self
            .boards
            .get(name)
            .is_some_and(|own| board.is_none_or(|board| board == *own));
        let days = self.member_days.get(name).filter(|_| is_of_board);
        days.is_some_and(|days| together.take(days))
    }

    /// The names that the target's alias could stand for, by every guess of the map that explains what is listed.
    fn suspects(&self, reading: &Reading<'_>) -> Vec<usize> {
        let parsed = reading.parsed;
        let Some(target) = number(&parsed.target).filter(|target| *target < self.boards.len()) else {
            return Vec::new();
        };
        let listed = listed(parsed);
        if listed.len() < LEAST_LISTED {
            return Vec::new();
        }
        if let Some(root) = &self.root {
            let names = self.names_under(root, &probe_name(reading.kind, reading.number), reading.exhibit);
            if self.explains(|alias| names.get(alias).copied(), &listed) {
                return names.get(target).copied().into_iter().collect();
            }
        }
        let count = self.boards.len();
        let upwards = (0..count).map(|turn| move |alias: usize| (alias + turn) % count);
        let downwards = (0..count).map(|turn| move |alias: usize| (count - 1 - alias % count + turn) % count);
        let mut suspects: Vec<usize> = upwards
            .filter_map(|map| self.guess(map, target, &listed))
            .collect();
        suspects.extend(downwards.filter_map(|map| self.guess(map, target, &listed)));
        suspects
    }

    fn guess(&self, name_of: impl Fn(usize) -> usize, target: usize, listed: &[Listed]) -> Option<usize> {
        let known = |alias: usize| (alias < self.boards.len()).then(|| name_of(alias));
        self.explains(known, listed).then(|| name_of(target))
    }
}

/// The key of an exhibit under a root key.
fn episode_key(root: &MaskKey, purpose: &str, exhibit: usize) -> MaskKey {
    root.derive(&format!("{purpose} exhibit {exhibit}"))
}

/// The days on which all so far were members; before the first, any.
#[derive(Default)]
struct Together(Option<Vec<Range<usize>>>);

impl Together {
    /// Whether a day is left when one more was a member on these.
    fn take(&mut self, days: &[Range<usize>]) -> bool {
        let both = self
            .0
            .as_deref()
            .map_or_else(|| days.to_vec(), |open| common(open, days));
        let is_left = !both.is_empty();
        self.0 = Some(both);
        is_left
    }
}

/// The keys that a careless hand makes of a small number.
fn keys_of(seed: u64) -> impl Iterator<Item = MaskKey> {
    let mut low_first = [0; 32];
    low_first[..8].copy_from_slice(&seed.to_le_bytes());
    let mut high_last = [0; 32];
    high_last[24..].copy_from_slice(&seed.to_be_bytes());
    let repeated = u8::try_from(seed).ok().map(|byte| [byte; 32]);
    [low_first, high_last]
        .into_iter()
        .chain(repeated)
        .map(MaskKey::from_bytes)
}

/// The 0-based number of an alias.
fn number(alias: &str) -> Option<usize> {
    alias
        .strip_prefix("asset_")?
        .parse::<usize>()
        .ok()?
        .checked_sub(1)
}

/// An alias, 0-based, and the board beside it.
type Listed = (usize, Option<Board>);

/// The aliases that the longest list of one step shows: those of other days need not have been members with them.
fn listed(parsed: &ParsedExhibit) -> Vec<Listed> {
    let of_step = |shown: &Vec<(String, Option<Board>)>| -> Vec<Listed> {
        let numbered = shown
            .iter()
            .filter_map(|(alias, board)| Some((number(alias)?, *board)));
        numbered.collect::<BTreeSet<_>>().into_iter().collect()
    };
    let steps = parsed.steps.iter().map(|step| of_step(&step.listed));
    steps.max_by_key(Vec::len).unwrap_or_default()
}

/// The days in both of two lists of stretches.
fn common(left: &[Range<usize>], right: &[Range<usize>]) -> Vec<Range<usize>> {
    let pairs = left
        .iter()
        .flat_map(|left| right.iter().map(move |right| (left, right)));
    pairs
        .map(|(left, right)| left.start.max(right.start)..left.end.min(right.end))
        .filter(|both| !both.is_empty())
        .collect()
}

/// Labels that jump from one step to the next count calendar days: their gaps are weekends and holidays.
fn gaps(parsed: &ParsedExhibit) -> Vec<DayClue> {
    let steps = &parsed.steps;
    let count = i64::try_from(steps.len()).unwrap_or(0);
    let jumps: Vec<(i64, i64)> = (1..count)
        .zip(steps.iter().zip(steps.iter().skip(1)))
        .filter_map(|(place, (before, step))| Some((place, step.label? - before.label?)))
        .collect();
    if jumps.iter().all(|(_, jump)| *jump == 1) {
        return Vec::new();
    }
    jumps
        .into_iter()
        .map(|(place, jump)| DayClue {
            column: DayColumn::Gap,
            // The label is that of the trading day, one after the step's as-of day.
            at: place - count + 2,
            minus: None,
            bounds: Bounds::around(precise(jump), 0.4),
        })
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "gaps are a few days")]
const fn precise(days: i64) -> f64 {
    days as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::ProbeKind;
    use crate::parsed_exhibit::ParsedStep;
    use ktd_env::KeyedStream;
    use ktd_masking::Numeric;

    const NAMES: usize = 60;
    const LISTED: usize = 20;

    impl LabelsAndOrder {
        /// Subject names are all members on one day.
        pub(crate) fn of_boards(boards: Vec<Board>) -> Self {
            let member_days = vec![std::iter::once(0..1).collect(); boards.len()];
            Self {
                boards,
                member_days,
                register: Register::default(),
                root: None,
            }
        }
    }

    /// Boards in no pattern.
    fn boards() -> Vec<Board> {
        let mut boards: Vec<Board> = (0..NAMES).map(|name| Board::ALL[name % 3]).collect();
        KeyedStream::for_purpose(1, "boards").shuffle(&mut boards);
        boards
    }

    fn alias(number: usize) -> String {
        format!("asset_{:04}", number + 1)
    }

    /// An exhibit that lists the first aliases of a map from aliases to names.
    fn parsed(boards: &[Board], names: &[usize], target: usize, listed: usize) -> ParsedExhibit {
        let shown = |number: usize| (alias(number), Some(boards[names[number]]));
        ParsedExhibit {
            target: alias(target),
            anchor: None,
            others: Vec::new(),
            given_day: None,
            steps: vec![ParsedStep {
                listed: (0..listed).map(shown).collect(),
                ..ParsedStep::default()
            }],
        }
    }

    fn suspects(attacker: &LabelsAndOrder, parsed: &ParsedExhibit) -> Vec<usize> {
        attacker
            .clues(&Reading {
                parsed,
                numeric: Numeric::Exact,
                kind: ProbeKind::Day,
                number: 3,
                exhibit: 0,
                background: &crate::background::Background::default(),
            })
            .suspects
    }

    #[test]
    fn a_turned_order_is_found() {
        let attacker = LabelsAndOrder::of_boards(boards());
        for turn in [0, 1, 17, NAMES - 1] {
            let names: Vec<usize> = (0..NAMES).map(|number| (number + turn) % NAMES).collect();
            let found = suspects(&attacker, &parsed(&boards(), &names, 30, LISTED));
            assert_eq!(found, [(30 + turn) % NAMES]);
        }
    }

    #[test]
    fn a_reversed_order_is_found() {
        let attacker = LabelsAndOrder::of_boards(boards());
        for turn in [0, 5] {
            let names: Vec<usize> = (0..NAMES)
                .map(|number| (2 * NAMES - 1 - number + turn) % NAMES)
                .collect();
            let found = suspects(&attacker, &parsed(&boards(), &names, 30, LISTED));
            assert_eq!(found, [names[30]]);
        }
    }

    #[test]
    fn a_shuffled_map_raises_no_suspicion() {
        let attacker = LabelsAndOrder::of_boards(boards());
        for turn in 0..50 {
            let mut names: Vec<usize> = (0..NAMES).collect();
            KeyedStream::for_purpose(turn, "map").shuffle(&mut names);
            assert!(suspects(&attacker, &parsed(&boards(), &names, 30, LISTED)).is_empty());
        }
    }

    #[test]
    fn where_every_guess_fits_nobody_is_singled_out() {
        let one_board = vec![Board::Main; NAMES];
        let attacker = LabelsAndOrder::of_boards(one_board.clone());
        let names: Vec<usize> = (0..NAMES).collect();
        let mut found = suspects(&attacker, &parsed(&one_board, &names, 30, LISTED));
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, names);
    }

    #[test]
    fn too_few_names_prove_nothing_and_foreign_ones_neither() {
        let attacker = LabelsAndOrder::of_boards(boards());
        let names: Vec<usize> = (0..NAMES).collect();
        assert!(suspects(&attacker, &parsed(&boards(), &names, 3, LEAST_LISTED - 1)).is_empty());
        for target in [
            "asset_0061",
            "asset_18446744073709551615",
            "asset_0000",
            "SH600000",
        ] {
            let parsed = ParsedExhibit {
                target: target.to_owned(),
                ..parsed(&boards(), &names, 3, LISTED)
            };
            assert!(suspects(&attacker, &parsed).is_empty(), "{target}");
        }
    }

    #[test]
    fn without_boards_the_memberships_tell_who_is_listed_together() {
        let mut attacker = LabelsAndOrder::of_boards(boards());
        // Some names, in no pattern, are of the index's first days, the others of its last.
        let is_early = |name: usize| attacker.boards[name] == Board::ALL[0];
        let days = |name| if is_early(name) { 0..10 } else { 10..30 };
        let member_days = (0..NAMES)
            .map(|name| std::iter::once(days(name)).collect())
            .collect();
        let (early, late): (Vec<usize>, Vec<usize>) = (0..NAMES).partition(|name| is_early(*name));
        attacker.member_days = member_days;
        let mut shown = parsed(&boards(), &(0..NAMES).collect::<Vec<_>>(), 30, 0);
        shown.steps[0].listed = early.iter().map(|name| (alias(*name), None)).collect();
        assert_eq!(suspects(&attacker, &shown), [30]);
        shown.steps[0].listed.push((alias(late[0]), None));
        assert!(suspects(&attacker, &shown).is_empty(), "never members together");
    }

    /// Probes whose maps hang on a root key.
    fn probes(attacker: &LabelsAndOrder, root: &MaskKey) -> Vec<ProbeText> {
        let probe = |number: usize| {
            let names = attacker.names_under(root, &probe_name(ProbeKind::Day, number), 0);
            let rows: Vec<String> = (0..LISTED)
                .map(|place| {
                    format!(
                        r#"["{}","{}"]"#,
                        alias(place),
                        attacker.boards[names[place]].label()
                    )
                })
                .collect();
            let table = format!(
                r#"{{"columns":["stock_id","board"],"rows":[{}]}}"#,
                rows.join(",")
            );
            let message = format!(r#"{{"source":"screen_candidates","content":{{"candidates":{table}}}}}"#);
            ProbeText {
                number,
                kind: ProbeKind::Day,
                exhibits: vec![format!(r#"{{"target":"asset_0031","steps":[[{message}]]}}"#)],
            }
        };
        (0..5).map(probe).collect()
    }

    #[test]
    fn a_map_is_refused_place_by_place_as_it_is_whole() {
        let attacker = LabelsAndOrder::of_boards(boards());
        let mut dice = KeyedStream::for_purpose(1, "lists");
        let mut draw = |bound: usize| usize::try_from(dice.below(u64::try_from(bound).unwrap())).unwrap();
        let mut seen = [0; 2];
        for turn in 0..250 {
            let root = MaskKey::from_bytes([turn; 32]);
            let names = attacker.names_under(&root, "day 1", 0);
            let mut shown = |_| {
                // One beyond the last as well; one may come twice, on two boards.
                let alias = draw(NAMES + 1);
                let own = names.get(alias).map(|name| attacker.boards[*name]);
                (
                    alias,
                    [None, Some(Board::ALL[0]), own, own, own, own, own, own][draw(8)],
                )
            };
            let listed: BTreeSet<Listed> = (0..usize::from(turn % 9)).map(&mut shown).collect();
            let listed: Vec<Listed> = listed.into_iter().collect();
            let whole = attacker.explains(|alias| names.get(alias).copied(), &listed);
            assert_eq!(
                attacker.is_explained_under(&root, "day 1", &listed),
                whole,
                "{listed:?}"
            );
            seen[usize::from(whole)] += 1;
        }
        assert!(seen.iter().all(|count| 50 < *count), "{seen:?}");
    }

    #[test]
    fn a_key_made_of_a_small_number_is_guessed() {
        for root in keys_of(200).chain([MaskKey::from_bytes([7; 32])]) {
            let mut attacker = LabelsAndOrder::of_boards(boards());
            let probes = probes(&attacker, &root);
            attacker.study(&probes);
            assert!(attacker.root == Some(root.clone()));
            let parsed = ParsedExhibit::read(&probes[3].exhibits[0]).unwrap();
            let names = attacker.names_under(&root, &probe_name(ProbeKind::Day, 3), 0);
            assert_eq!(suspects(&attacker, &parsed), [names[30]]);
        }
    }

    #[test]
    fn a_drawn_key_is_not_guessed() {
        let mut attacker = LabelsAndOrder::of_boards(boards());
        let root = MaskKey::from_bytes(std::array::from_fn(|place| 31 + 7 * u8::try_from(place).unwrap()));
        let probes = probes(&attacker, &root);
        attacker.study(&probes);
        assert!(attacker.root.is_none());
        attacker.study(&probes[..0]);
        assert!(attacker.root.is_none());
    }

    #[test]
    fn labels_that_jump_count_calendar_days() {
        let labelled = |labels: &[i64]| ParsedExhibit {
            steps: labels
                .iter()
                .map(|label| ParsedStep {
                    label: Some(*label),
                    ..ParsedStep::default()
                })
                .collect(),
            ..ParsedExhibit::default()
        };
        assert!(gaps(&labelled(&[4, 5, 6, 7])).is_empty());
        assert!(gaps(&labelled(&[4])).is_empty());
        let clues = gaps(&labelled(&[3, 4, 7]));
        let read: Vec<(i64, Bounds)> = clues.iter().map(|clue| (clue.at, clue.bounds)).collect();
        assert_eq!(
            read,
            [(0, Bounds::around(1.0, 0.4)), (1, Bounds::around(3.0, 0.4))]
        );
    }
}
