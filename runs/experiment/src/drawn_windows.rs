//! Windows that nobody knows: drawn over a span with the experiment's secret, committed before the first request, opened with
//! the publication.

use crate::ExperimentError;
use ktd_masking::MaskKey;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::Range;
use std::path::PathBuf;

/// `windows = { draw = 10, days = 43, from = "2024-01-01", until = "2026-04-10" }`: so many windows of one length, without overlap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DrawConfig {
    /// How many. Raised, those that were drawn stay.
    pub draw: usize,
    /// Trading days of each.
    pub days: usize,
    /// First date that a window may hold.
    pub from: String,
    /// Last date that a window may hold.
    pub until: String,
    /// File of a number of another lab, made when nothing of the draw was left to choose (`ktd windows --number-for`).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nonce: Option<PathBuf>,
}

/// How a window was drawn, as its headers say it before it is opened.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawRecord {
    /// Its place in the draw, 1-based: the order tells nothing of the days.
    pub place: usize,
    /// Trading days of each window.
    pub days: usize,
    /// First date of the span.
    pub from: String,
    /// Last date of the span.
    pub until: String,
    /// Binds the key of all windows without telling it.
    pub commitment: String,
    /// Whether the records of a mask of the same experiment tell the days: it shows them, or more of
    /// the numbers than bands.
    #[serde(skip_serializing_if = "std::ops::Not::not", default)]
    pub is_shown: bool,
    /// A number of somebody else, on which the days hang too.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nonce: Option<DrawNonce>,
}

/// A number of somebody else: its signature of the draw, which nobody else could know before. Signatures are made in one way (RFC
/// 8032), so that whoever asks twice gets the same; who holds the key could make others.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawNonce {
    /// Ed25519 public key of whose number it is, hexadecimal.
    pub public_key: String,
    /// The number: the signature of [`DrawStatement`] under this key, hexadecimal.
    pub number: String,
}

/// What is committed to before the number is known: nothing of the draw is left to choose then.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct DrawStatement<'a> {
    /// Trading days of each window.
    pub days: usize,
    /// First date of the span.
    pub from: &'a str,
    /// Last date of the span.
    pub until: &'a str,
    /// The commitment to the key of the windows.
    pub commitment: &'a str,
}

/// A drawn window: what may be published of its draw, and the key, which is opened with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawnWindow {
    /// What headers say.
    pub record: DrawRecord,
    /// The key of all windows of the draw.
    pub key: MaskKey,
}

/// What windows are drawn with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DrawSecret {
    /// The key of the windows ([`window_key`]).
    pub key: MaskKey,
    /// The number of somebody else.
    pub nonce: Option<DrawNonce>,
}

/// The key of an experiment's windows, a hash of its mask key: opened, it tells nothing of aliases.
#[must_use]
pub fn window_key(experiment: &MaskKey) -> MaskKey {
    experiment.derive("windows")
}

impl DrawRecord {
    /// What a number is the signature of.
    #[must_use]
    pub fn statement(&self) -> DrawStatement<'_> {
        DrawStatement {
            days: self.days,
            from: &self.from,
            until: &self.until,
            commitment: &self.commitment,
        }
    }

    /// The name of the window: its place, and digits that tell the windows of one draw from those of another.
    #[must_use]
    pub fn window_id(&self, key: &MaskKey) -> String {
        const DIGITS: usize = 6;
        let draw = key.derive(&self.purpose()).commitment();
        format!("d{:02}-{}", self.place, draw.get(..DIGITS).unwrap_or_default())
    }

    /// What a draw hangs on beside its key.
    fn purpose(&self) -> String {
        let number = self.nonce.as_ref().map_or("", |nonce| nonce.number.as_str());
        format!("windows {} {} {} {number}", self.days, self.from, self.until)
    }

    /// All windows that can be drawn, as ranges of the span's trading days, in the order of the draw.
    ///
    /// From a random day on, the span is cut into strata of twice a window's length, and in each a window begins on a random
    /// day: so none overlap, each day of the span begins a window about as often as another, and one that is found out tells
    /// little of the next. Strata come in an order of which any first few lie over the whole span, from a random one on; a further
    /// window moves none.
    pub(crate) fn places(
        &self,
        key: &MaskKey,
        sessions: usize,
    ) -> Result<Vec<Range<usize>>, ExperimentError> {
        let stratum = self.days.saturating_mul(2);
        let count = (sessions + 1).checked_div(stratum).unwrap_or(0).saturating_sub(1);
        if count == 0 {
            return Err(ExperimentError::input(
                format!(
                    "{} to {} has {sessions} trading days: too few to hide where a window of {} of them lies",
                    self.from, self.until, self.days
                ),
                "the span needs four times as many as a window, and twice as many for each further one",
            ));
        }
        let mut stream = key.stream(0, &self.purpose());
        let mut below = |bound: usize| {
            let bound = u64::try_from(bound).unwrap_or(u64::MAX);
            usize::try_from(stream.below(bound)).unwrap_or(0)
        };
        let (first, begin) = (below(count), below(sessions - count * stratum + 1));
        let starts: Vec<usize> = (0..count)
            .map(|place| begin + place * stratum + below(self.days + 1))
            .collect();
        let order = spread(count).into_iter().map(|place| (first + place) % count);
        let starts = order.filter_map(|place| starts.get(place).copied());
        Ok(starts.map(|start| start..start + self.days).collect())
    }
}

/// The numbers below a count, in an order of which any first few lie far from each other on a circle: the ranks of the
/// multiples of the golden ratio, less their whole parts.
fn spread(count: usize) -> Vec<usize> {
    /// The golden ratio's fractional part, in parts of 2^64.
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    let parts: Vec<u64> = (0_u64..)
        .map(|place| place.wrapping_mul(GOLDEN))
        .take(count)
        .collect();
    let rank = |part: &u64| parts.iter().filter(|other| *other < part).count();
    parts.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn record(days: usize, nonce: Option<&str>) -> DrawRecord {
        DrawRecord {
            place: 1,
            days,
            from: "2024-01-01".to_owned(),
            until: "2026-04-10".to_owned(),
            commitment: String::new(),
            is_shown: false,
            nonce: nonce.map(|number| DrawNonce {
                number: number.to_owned(),
                public_key: String::new(),
            }),
        }
    }

    #[test]
    fn windows_do_not_overlap_lie_over_the_span_and_hang_on_key_and_number() {
        for (days, sessions, count) in [
            (43, 548, 5),
            (43, 2_000, 22),
            (7, 50, 2),
            (548, 3_900, 2),
            (1, 3, 1),
        ] {
            for key in 0..50 {
                let places = record(days, None)
                    .places(&MaskKey::from_bytes([key; 32]), sessions)
                    .unwrap();
                assert_eq!(places.len(), count);
                let mut taken = BTreeSet::new();
                for place in &places {
                    assert!(place.end <= sessions && place.len() == days);
                    assert!(place.clone().all(|day| taken.insert(day)), "{place:?}");
                }
                if let [first, second, _, _, ..] = places.as_slice() {
                    assert!(sessions / 5 <= first.start.abs_diff(second.start), "{places:?}");
                }
            }
        }
        let key = MaskKey::from_bytes([7; 32]);
        let own = record(43, None).places(&key, 548).unwrap();
        assert_ne!(own, record(43, Some("ab")).places(&key, 548).unwrap());
        assert_ne!(
            own,
            record(43, None)
                .places(&MaskKey::from_bytes([8; 32]), 548)
                .unwrap()
        );
        assert!(record(43, None).places(&key, 170).is_err());
    }

    /// Who knows the rule and not the key has no day: over keys, each day of the span begins the first window about as often.
    #[test]
    fn starts_lie_over_the_whole_span() {
        let mut starts = vec![0_usize; 548];
        for key in 0..8_600_u32 {
            let mut bytes = [0; 32];
            bytes[..4].copy_from_slice(&key.to_le_bytes());
            let places = record(43, None).places(&MaskKey::from_bytes(bytes), 548).unwrap();
            starts[places[0].start] += 1;
        }
        let possible = starts.iter().filter(|count| 0 < **count).count();
        // Twenty a day if all were alike, and five standard deviations more at most on any of five hundred.
        let most = starts.iter().max().unwrap();
        assert!(480 < possible && *most < 43, "{possible} {most}");
    }
}
