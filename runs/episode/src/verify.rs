//! Checking a bundle: chain, hashes, metrics, and the whole episode run again from its replies.

use crate::EpisodeError;
use crate::open_bundle::OpenBundle;
use crate::replay_episode;
use ktd_bundle::BundlePaths;
use ktd_bundle::chain::Lines;
use ktd_bundle::exchanges::Cassette;
use ktd_bundle::open::{read_header, read_private};
use ktd_bundle::summary_file::summary_of;
use ktd_bundle::summary_file::{check_hashes, check_summary, read_summary};
use ktd_client::progress::Silent;
use std::path::Path;

/// What was checked, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The checks that passed.
    pub checks: Vec<String>,
    /// What could not be checked, and why.
    pub unchecked: Vec<String>,
}

/// Checks a bundle; the first difference is the error.
///
/// # Errors
/// [`EpisodeError`] naming the file and place that differs.
pub async fn verify(root: &Path, panel: Option<&Path>) -> Result<Verified, EpisodeError> {
    let paths = BundlePaths::new(root);
    let header = read_header(&paths)?;
    let events = Lines::read(&paths.events())?;
    let cassette = Cassette::read(&paths.exchanges())?;
    let mut checks = vec![
        format!(
            "events.jsonl: {} events, each with the hash of the one before",
            events.len()
        ),
        check_exchanges(&paths, &cassette)?,
    ];
    let recorded = read_summary(&paths)?;
    check_hashes(&paths, &recorded, &summary_of(&paths, None)?)?;
    if !paths.episode().exists() {
        check_summary(&paths, &recorded, None)?;
        checks.push("summary.json: hashes and metrics, recomputed from the events".to_owned());
        let unchecked =
            vec!["fills and NAV: the bundle has no private/ part, which names the stocks".to_owned()];
        return Ok(Verified { checks, unchecked });
    }
    let (_, key) = read_private(&paths, &header)?;
    checks.push("private/episode.json: the key that header.json commits to".to_owned());
    check_summary(&paths, &recorded, Some(&key))?;
    checks.push("summary.json: hashes and metrics, recomputed from the events".to_owned());
    let bundle = OpenBundle::open(root, panel)?;
    replay_episode(&bundle.input(), &paths, &Silent).await?;
    checks.push("fills, NAV and every event: run again from the recorded replies, byte for byte".to_owned());
    Ok(Verified {
        checks,
        unchecked: Vec::new(),
    })
}

/// Every key is that of its request; says how many there are, and of how many the outcome is not known.
fn check_exchanges(paths: &BundlePaths, cassette: &Cassette) -> Result<String, EpisodeError> {
    if let Some(sent) = cassette.sends().find(|sent| !sent.intent.has_own_key()) {
        let what = format!("{}: its key is not that of its request", sent.intent.at);
        return Err(EpisodeError::damaged(&paths.exchanges(), what));
    }
    let unknown = match cassette.unknown().count() {
        0 => String::new(),
        count => {
            format!("; {count} more were about to be sent when the run was stopped, with unknown outcome")
        }
    };
    let answered = cassette.answered().count();
    Ok(format!(
        "exchanges.jsonl.zst: {answered} exchanges, every frame whole and every key its own{unknown}"
    ))
}
