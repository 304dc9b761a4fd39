//! Episodes that ended before their windows did.

use super::track_key::TrackKey;
use ktd_bundle::BundlePaths;
use ktd_bundle::bundle_ref::BundleRef;
use ktd_bundle::header::Header;
use ktd_bundle::summary_file::read_summary;
use ktd_view::draw::{counted, joined, plural};
use std::collections::{BTreeMap, BTreeSet};

/// An episode that ended before its window did: its agent was withdrawn, or stopped. It has no score, and its agent no rank
/// on the track: who is dropped where it goes badly would else be ranked by the rest.
pub(super) struct EarlyEnd {
    bundle: BundleRef,
    /// How it ended.
    pub(super) what: String,
}

impl EarlyEnd {
    fn of(bundle: &BundleRef) -> Option<Self> {
        Some(Self {
            what: ended_early(bundle)?,
            bundle: bundle.clone(),
        })
    }

    /// Whether an episode is one of the same agent on the same track.
    pub(super) fn is_beside(&self, other: &BundleRef) -> bool {
        let track = |bundle: &BundleRef| TrackKey::of(bundle, bundle.header.window.steps);
        self.bundle.row == other.row && track(&self.bundle) == track(other)
    }

    /// That episodes which are not named are no trials.
    pub(super) fn note_of_siblings(early: &[Self]) -> Option<String> {
        let count = early.len();
        (0 < count).then(|| {
            format!("episodes beside these that ended before their window did and so are no trials: {count}")
        })
    }

    /// A note an agent and way to end: sixty episodes that ended alike are said once, with their windows and seeds.
    pub(super) fn notes(early: &[Self]) -> Vec<String> {
        let mut alike: BTreeMap<(&str, &str), Vec<&Header>> = BTreeMap::new();
        for end in early {
            alike
                .entry((&end.bundle.row, &end.what))
                .or_default()
                .push(&end.bundle.header);
        }
        let note = |((agent, what), headers): ((&str, &str), Vec<&Header>)| {
            let windows: BTreeSet<String> = headers.iter().map(|header| header.window.id.clone()).collect();
            let seeds: BTreeSet<u64> = headers.iter().map(|header| header.seed).collect();
            let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
            format!(
                "{agent} on {}, {} {}, {}: {what}; no score, no trial, and the money counts in `ktd status`",
                joined(&windows.into_iter().collect::<Vec<_>>()),
                plural(seeds.len(), "seed"),
                joined(&seeds),
                counted(headers.len(), "episode")
            )
        };
        alike.into_iter().map(note).collect()
    }
}

/// Takes the episodes out that ended before their window did.
pub(super) fn apart_early<T>(episodes: Vec<T>, bundle: impl Fn(&T) -> &BundleRef) -> (Vec<T>, Vec<EarlyEnd>) {
    let (mut whole, mut early) = (Vec::with_capacity(episodes.len()), Vec::new());
    for episode in episodes {
        match EarlyEnd::of(bundle(&episode)) {
            None => whole.push(episode),
            Some(end) => early.push(end),
        }
    }
    (whole, early)
}

/// How an episode ended before its window did. What is damaged is read as whole, where the damage is named.
fn ended_early(bundle: &BundleRef) -> Option<String> {
    let summary = read_summary(&BundlePaths::new(&bundle.root)).ok()?;
    (!summary.is_whole()).then(|| summary.told_early(bundle.header.window.steps))
}
