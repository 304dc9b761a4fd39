//! How the windows of a design lie to each other.

use ktd_env::DayIndex;
use ktd_experiment::panel_windows::Window;

/// First and last day of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) first: DayIndex,
    pub(super) last: DayIndex,
}

impl Span {
    /// `None` of no days.
    pub(super) fn of(days: &[DayIndex]) -> Option<Self> {
        Some(Self {
            first: *days.first()?,
            last: *days.last()?,
        })
    }

    fn contains(self, other: Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }

    fn meets(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// The windows that can be pairs of a test: those that contain no other one. Of two with the same days the first counts.
pub(super) fn pairable(windows: &[Window]) -> Vec<&Window> {
    let contains_another = |place: usize, span: Span| {
        windows.iter().enumerate().any(|(other, window)| {
            Span::of(&window.days).is_some_and(|inner| {
                let is_other = inner != span || other < place;
                place != other && is_other && span.contains(inner)
            })
        })
    };
    let places = windows.iter().enumerate();
    places
        .filter(|(place, window)| Span::of(&window.days).is_some_and(|span| !contains_another(*place, span)))
        .map(|(_, window)| window)
        .collect()
}

/// Pairs of windows that share days.
pub(super) fn overlaps(windows: &[&Window]) -> Vec<[String; 2]> {
    let mut found = Vec::new();
    for (place, left) in windows.iter().enumerate() {
        for right in windows.iter().skip(place + 1) {
            let spans = Span::of(&left.days).zip(Span::of(&right.days));
            if spans.is_some_and(|(left, right)| left.meets(right)) {
                found.push([left.id.clone(), right.id.clone()]);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::synth::{SynthConfig, generate};

    fn windows(spans: &[(&str, usize, usize)]) -> Vec<Window> {
        let market = generate(&SynthConfig {
            seed: 1,
            names: 3,
            days: 60,
        })
        .unwrap();
        let days = |from: usize, to: usize| (from..=to).map(|place| market.day_at(place).unwrap()).collect();
        spans
            .iter()
            .map(|(id, from, to)| Window {
                drawn: None,
                id: (*id).to_owned(),
                days: days(*from, *to),
            })
            .collect()
    }

    #[test]
    fn a_window_around_others_is_no_pair_beside_them() {
        let all = windows(&[
            ("long", 1, 50),
            ("a", 1, 10),
            ("b", 10, 20),
            ("c", 30, 40),
            ("again", 30, 40),
        ]);
        let pairs = pairable(&all);
        let ids: Vec<&str> = pairs.iter().map(|window| window.id.as_str()).collect();
        assert_eq!(ids, ["a", "b", "c"]);
        assert_eq!(overlaps(&pairs), [["a".to_owned(), "b".to_owned()]]);
        assert_eq!(pairable(&all[..1]).len(), 1);
    }
}
