//! Lease and purse in every order of what can happen to two workers, two units and a cap of a few calls; and the same functions
//! in a real `PostgreSQL`, step by step beside the model.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::disallowed_types,
    reason = "a test ends where something is not as it was built, says how far it looked, and reads no map in its order"
)]

mod database;
mod machines;
#[cfg(feature = "trial")]
mod walk;

use machines::{Event, Machines};
use std::collections::HashMap;

/// Rule that is taken out, so that the search must find what it is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Defect {
    /// `reserve` does not look whether the lease is alive.
    HoldsWithoutLease,
    /// `reserve` looks at the caps in one transaction, and holds in another.
    LooksAtCapsApart,
    /// `reserve` does not count the calls of a key.
    CountsNobody,
    /// `expire` gives back what a lost worker held.
    FreesHoldsOfTheLost,
    /// `settle` adds the cost of a call that was counted whole.
    AddsLateCosts,
    /// `retry` lets a cancelled unit be taken before its worker knows.
    RetriesAtOnce,
    /// A worker sends what it held without looking at its clock again.
    LooksNoMore,
    /// A worker counts its lease from the server's answer on.
    OwnClockIsLate,
    /// A call that nobody answered is settled at its most.
    SettlesUnanswered,
    /// A call that was held and not made stays held while its unit runs.
    KeepsWhatFell,
    /// A call that left and was not answered costs nothing.
    FreesUnanswered,
}

/// Looks at every state that can be reached, the nearest first: how many there are, or the way to the first that is wrong.
fn searched(begin: Machines, planted: Option<Defect>) -> Result<usize, (&'static str, Vec<Event>)> {
    let mut found = HashMap::from([(begin.clone(), 0)]);
    // Where each came from.
    let mut states: Vec<(Machines, Option<(usize, Event)>)> = vec![(begin, None)];
    let mut place = 0;
    while let Some((state, _)) = states.get(place).cloned() {
        let events = state.events().into_iter();
        let next: Vec<_> = events
            .filter_map(|event| Some((event, state.after(event, planted)?)))
            .collect();
        // What only faults lead out of is an end.
        let is_end = next.iter().all(|(event, _)| state.is_fault(*event));
        if let Some(wrong) = state.wrong(is_end) {
            let mut way = Vec::new();
            while let (_, Some((before, event))) = &states[place] {
                way.push(*event);
                place = *before;
            }
            way.reverse();
            return Err((wrong, way));
        }
        for (event, next) in next {
            let number = states.len();
            if *found.entry(next.clone()).or_insert(number) == number {
                states.push((next, Some((place, event))));
            }
        }
        place += 1;
    }
    Ok(states.len())
}

#[test]
fn no_order_breaks_lease_or_purse() {
    for (faults, needed, limits) in [(2, 1, (3, 9)), (1, 2, (5, 9)), (1, 2, (9, 1))] {
        let states = searched(Machines::new((faults, needed), limits), None);
        let states = states.unwrap_or_else(|(wrong, way)| panic!("{limits:?}: {wrong} after {way:#?}"));
        println!(
            "{faults} faults, {needed} answers a unit, cap and calls at once {limits:?}: {states} states"
        );
        assert!(10_000 < states, "{states}");
    }
}

#[test]
fn each_rule_is_needed() {
    for (planted, limits, expected) in [
        (Defect::HoldsWithoutLease, (5, 9), "a unit has two payers"),
        (Defect::LooksAtCapsApart, (3, 9), "a cap is passed"),
        (
            Defect::CountsNobody,
            (9, 1),
            "more calls of a key were under way at once than it allows",
        ),
        (
            Defect::FreesHoldsOfTheLost,
            (5, 9),
            "the vendor has counted more than is settled, counted whole or held",
        ),
        (
            Defect::AddsLateCosts,
            (5, 9),
            "a purse does not say what its calls add up to",
        ),
        (
            Defect::RetriesAtOnce,
            (9, 9),
            "a call left whose lease had run out",
        ),
        (Defect::LooksNoMore, (5, 9), "a call left whose lease had run out"),
        (
            Defect::OwnClockIsLate,
            (5, 9),
            "a call left whose lease had run out",
        ),
        (
            Defect::SettlesUnanswered,
            (5, 9),
            "more is settled than the vendor has counted",
        ),
        (Defect::KeepsWhatFell, (3, 9), "a unit never ends"),
        (
            Defect::FreesUnanswered,
            (5, 9),
            "the vendor has counted more than is settled, counted whole or held",
        ),
    ] {
        let Err((wrong, way)) = searched(Machines::new((2, 1), limits), Some(planted)) else {
            panic!("nothing was found without {planted:?}");
        };
        assert_eq!(wrong, expected, "{planted:?}: {way:#?}");
    }
}
