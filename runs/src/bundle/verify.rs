//! Checking a bundle: chain, hashes, metrics, and the whole episode run again from its replies.

use crate::bundle::chain::Lines;
use crate::bundle::exchanges::Cassette;
use crate::bundle::open::{OpenBundle, read_header, read_private};
use crate::bundle::summary::{KEYED, Summary};
use crate::bundle::{BundlePaths, json_bytes};
use crate::episode::{Silent, replay_episode, summary_of};
use crate::error::RunError;
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
/// [`RunError`] naming the file and place that differs.
pub async fn verify(root: &Path, panel: Option<&Path>) -> Result<Verified, RunError> {
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
fn check_exchanges(paths: &BundlePaths, cassette: &Cassette) -> Result<String, RunError> {
    if let Some(sent) = cassette.sends().find(|sent| !sent.intent.has_own_key()) {
        let what = format!("{}: its key is not that of its request", sent.intent.at);
        return Err(RunError::damaged(&paths.exchanges(), what));
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

pub(crate) fn read_summary(paths: &BundlePaths) -> Result<Summary, RunError> {
    let path = paths.summary();
    if path.exists() {
        return crate::bundle::read_json(&path);
    }
    Err(RunError::Unfinished { path })
}

/// Names the first file whose hash is not the recorded one.
fn check_hashes(paths: &BundlePaths, recorded: &Summary, now: &Summary) -> Result<(), RunError> {
    let differs = now
        .sha256
        .iter()
        .find(|(file, hash)| recorded.sha256.get(*file) != Some(hash));
    differs.map_or(Ok(()), |(file, _)| {
        let file = file.strip_suffix(KEYED).unwrap_or(file);
        let what = "its hash is not the one in summary.json";
        Err(RunError::damaged(&paths.root().join(file), what))
    })
}

/// Recomputes the summary and names the first thing that differs.
pub(crate) fn check_summary(
    paths: &BundlePaths,
    recorded: &Summary,
    key: Option<&ktd_masking::MaskKey>,
) -> Result<(), RunError> {
    let path = paths.summary();
    let mut now = summary_of(paths, key)?;
    check_hashes(paths, recorded, &now)?;
    if key.is_none() {
        // Without the private part its hash cannot be recomputed and stands as it is.
        let private = recorded.sha256.iter().filter(|(file, _)| file.ends_with(KEYED));
        now.sha256
            .extend(private.map(|(file, hash)| (file.clone(), hash.clone())));
    }
    let bytes = std::fs::read(&path).map_err(RunError::io("read", &path))?;
    let expected = json_bytes(&path, &now)?;
    if bytes == expected {
        return Ok(());
    }
    let (bytes, expected) = (
        String::from_utf8_lossy(&bytes),
        String::from_utf8_lossy(&expected),
    );
    let differs = bytes
        .lines()
        .zip(expected.lines())
        .enumerate()
        .find(|(_, (left, right))| left != right);
    let what = differs.map_or_else(
        || "it is longer or shorter than the events give".to_owned(),
        |(line, (left, right))| {
            format!(
                "line {}: {:?}, but the events give {:?}",
                line + 1,
                left.trim(),
                right.trim()
            )
        },
    );
    Err(RunError::damaged(&path, what))
}
