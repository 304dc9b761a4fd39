//! Bundles on disk, known by their headers.

use crate::BundlePaths;
use crate::header::Header;
use crate::open::read_hashed_header;
use ktd_experiment::agent::{AgentConfig, Control, External, PoolFile};
use ktd_experiment::provider::Provider;
use ktd_io::whole_file::read_bounded;
use ktd_record::RecordError;
use ktd_record::signer_mark::SignerMark;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A bundle known by its header, which is read once: enough to know what it is.
#[derive(Debug, Clone)]
pub struct BundleRef {
    /// The bundle's directory.
    pub root: PathBuf,
    /// Its header.
    pub header: Arc<Header>,
    /// Who signed it, if it was published.
    pub signer: SignerMark,
    /// What its agent is called among others: its id, with its signer's fingerprint where other bundles of another signer
    /// have the same id.
    pub row: String,
    /// SHA-256 of the header's bytes as they were read.
    pub(crate) header_sha256: String,
}

impl BundleRef {
    /// The bundle in `root`.
    ///
    /// # Errors
    /// [`RecordError`] when there is no header, or it is damaged or of another format.
    pub fn read(root: &Path) -> Result<Self, RecordError> {
        let (header, header_sha256) = read_hashed_header(&BundlePaths::new(root))?;
        Ok(Self {
            root: root.to_owned(),
            signer: SignerMark::default(),
            row: header.agent.id.clone(),
            header: Arc::new(header),
            header_sha256,
        })
    }

    /// Whether the episode has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        BundlePaths::new(&self.root).summary().exists()
    }
}

/// Refuses episodes of which one would count twice, and one name for two agents.
///
/// # Errors
/// [`RecordError::Input`] naming both episodes.
pub fn check_episodes<'f>(shown: impl IntoIterator<Item = &'f BundleRef>) -> Result<(), RecordError> {
    let mut cells = BTreeMap::new();
    let mut headers = BTreeMap::new();
    let mut agents: BTreeMap<&str, &BundleRef> = BTreeMap::new();
    for found in shown {
        if let Some(other) = cells.insert(cell(found), found) {
            return Err(twice(other, found));
        }
        check_copy(&mut headers, found)?;
        let known = agents.entry(&found.row).or_insert(found);
        check_agent(known, found)?;
    }
    Ok(())
}

/// Refuses episodes of which one is a copy of another.
///
/// # Errors
/// [`RecordError::Input`] naming both.
pub fn check_copies<'f>(shown: impl IntoIterator<Item = &'f BundleRef>) -> Result<(), RecordError> {
    let mut headers = BTreeMap::new();
    shown
        .into_iter()
        .try_for_each(|found| check_copy(&mut headers, found))
}

/// Refuses an episode that is the same as one before it.
fn check_copy<'f>(
    headers: &mut BTreeMap<&'f str, &'f BundleRef>,
    found: &'f BundleRef,
) -> Result<(), RecordError> {
    let other = headers.insert(&found.header_sha256, found);
    match other.filter(|other| have_same_events(other, found)) {
        Some(other) => Err(copied(other, found)),
        None => Ok(()),
    }
}

/// Whether two bundles with one header have one record as well: two runs under one key and file may differ in it alone.
fn have_same_events(other: &BundleRef, found: &BundleRef) -> bool {
    let events = |of: &BundleRef| read_bounded(&BundlePaths::new(&of.root).events(), u64::MAX).ok();
    events(other).is_some_and(|bytes| events(found) == Some(bytes))
}

fn copied(other: &BundleRef, found: &BundleRef) -> RecordError {
    let what = format!(
        "{} ({}) and {} ({}) are one and the same episode",
        other.root.display(),
        other.signer,
        found.root.display(),
        found.signer
    );
    RecordError::input(
        what,
        "an episode counts once: name results or what was published of them, not both",
    )
}

type CellKey<'f> = (&'f str, &'f str, &'f str, &'f str, &'f str, u64);

fn cell(found: &BundleRef) -> CellKey<'_> {
    let header = &found.header;
    (
        &found.row,
        &header.window.id,
        header.mask.level_label(),
        header.mask.numeric.label(),
        header.mode.label(),
        header.seed,
    )
}

fn twice(other: &BundleRef, found: &BundleRef) -> RecordError {
    let (agent, window, level, numeric, mode, seed) = cell(found);
    let what = format!(
        "{} and {} are both seed {seed} of {agent:?} on window {window:?}, {level}/{numeric}, {mode}",
        other.root.display(),
        found.root.display()
    );
    RecordError::input(
        what,
        "a seed counts once: name one of the two, or give the second run other seeds or its agent another id",
    )
}

type PlayerKey<'a> = (
    Option<&'a str>,
    Option<&'a PoolFile>,
    Option<&'a Control>,
    Option<&'a [String]>,
    Option<External>,
);

/// Who answers, where it is no model.
fn kind(agent: &AgentConfig) -> PlayerKey<'_> {
    (
        agent.builtin_name(),
        agent.pool(),
        agent.control(),
        agent.program().map(|program| program.command.as_slice()),
        agent.client().map(|client| client.external),
    )
}

/// An agent is who answers, and how it is asked; where its key is and how long one waits is not.
fn differences((a, p): (&AgentConfig, &Provider), (b, q): (&AgentConfig, &Provider)) -> Vec<&'static str> {
    let parts = [
        ("kind", kind(a) == kind(b)),
        ("cohort", a.cohort == b.cohort),
        (
            "model",
            a.model().map(|own| &own.model) == b.model().map(|own| &own.model),
        ),
        ("cutoff", a.cutoff == b.cutoff),
        ("vendor", p.dialect.id == q.dialect.id),
        ("wire", p.wire == q.wire),
        ("force level", p.force == q.force),
        ("thinking", p.thinking == q.thinking),
        ("temperature", a.temperature() == b.temperature()),
        (
            "max_output_tokens",
            a.max_output_tokens() == b.max_output_tokens(),
        ),
    ];
    let differing = parts.iter().filter(|(_, same)| !same);
    differing.map(|(part, _)| *part).collect()
}

fn check_agent(known: &BundleRef, found: &BundleRef) -> Result<(), RecordError> {
    let (ours, theirs) = (&known.header, &found.header);
    let differs = differences((&ours.agent, &ours.provider), (&theirs.agent, &theirs.provider));
    if differs.is_empty() {
        return Ok(());
    }
    let what = format!(
        "agent {:?} is not the same in {} and {}: its {} differs",
        ours.agent.id,
        known.root.display(),
        found.root.display(),
        differs.join(" and ")
    );
    Err(RecordError::input(
        what,
        "one row is one agent: give each an id of its own, or name one of the two",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_experiment::config::ExperimentConfig;

    fn agent(rest: &str) -> (AgentConfig, Provider) {
        let text = format!(
            "name = \"x\"\nwindows = [{{ id = \"w\", last_days = 2 }}]\n\
             agents = [{{ id = \"a\", model = \"m\", base_url = \"http://127.0.0.1:1\"{rest} }}]\n"
        );
        let config = ExperimentConfig::parse(&text).unwrap();
        let agent = config.agents[0].clone();
        let provider = Provider::of(&agent, &config.dialect_table().unwrap()).unwrap();
        (agent, provider)
    }

    /// A seed that was called a control would not count as a trial, and stand in the row of the others all the same.
    #[test]
    fn a_row_is_of_one_cohort() {
        let (plain, control) = (agent(""), agent(", cohort = \"control\""));
        let parts =
            |(a, p): &(AgentConfig, Provider), (b, q): &(AgentConfig, Provider)| differences((a, p), (b, q));
        assert_eq!(parts(&plain, &control), ["cohort"]);
        assert_eq!(parts(&control, &control), Vec::<&str>::new());
        assert_eq!(parts(&plain, &agent(", temperature = 0.5")), ["temperature"]);
    }
}
