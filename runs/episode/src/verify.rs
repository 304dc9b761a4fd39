//! Checking a bundle: chain, hashes, metrics, and the whole episode run again from its replies.

use crate::EpisodeError;
use crate::open_bundle::OpenBundle;
use crate::replay_episode;
use ktd_bundle::BundlePaths;
use ktd_bundle::event::publishes_account;
use ktd_bundle::header::Header;
use ktd_bundle::open::{read_header, read_private};
use ktd_bundle::summary_file::summary_of;
use ktd_bundle::summary_file::{check_hashes, check_summary, read_summary};
use ktd_bundle::{recorded_agent, recorded_prompts};
use ktd_client::progress::Silent;
use ktd_masking::Level;
use ktd_record::chain::Lines;
use ktd_record::exchanges::Cassette;
use ktd_record::program_record::ProgramRecord;
use std::path::Path;

/// What was checked, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The checks that passed.
    pub checks: Vec<String>,
    /// What could not be checked, and why.
    pub unchecked: Vec<String>,
    /// What no check of these files can tell: it is their maker's word.
    pub claimed: Vec<String>,
}

/// Checks a bundle; the first difference is the error.
///
/// # Errors
/// [`EpisodeError`] naming the file and place that differs.
pub async fn verify(
    root: &Path,
    panel: Option<&Path>,
    program: &ProgramRecord,
) -> Result<Verified, EpisodeError> {
    let paths = BundlePaths::new(root);
    let header = read_header(&paths)?;
    let events = Lines::read(&paths.events())?;
    let cassette = Cassette::read(&paths.exchanges())?;
    recorded_agent::check(&header, &cassette, &paths.exchanges())?;
    recorded_prompts::check(&header, &cassette, &paths.exchanges())?;
    let mut checks = vec![
        format!(
            "events.jsonl: {} events, each with the hash of the one before",
            events.len()
        ),
        check_exchanges(&paths, &cassette)?,
        prompts_checked(&header),
    ];
    let mut unchecked: Vec<String> = header.another_program(program).into_iter().collect();
    if !recorded_prompts::are_of_this_program(&header) {
        unchecked.push(
            "prompts: another version of the program wrote their texts; keys, columns and identifiers alone were compared"
                .to_owned(),
        );
    }
    let recorded = read_summary(&paths)?;
    check_hashes(&paths, &recorded, &summary_of(&paths, None)?)?;
    if !paths.episode().exists() {
        check_summary(&paths, &recorded, None)?;
        checks
            .push("summary.json: hashes, metrics and counters, recomputed from the public files".to_owned());
        unchecked.push(unchecked_account(header.mask.level));
        let claimed = claimed(Some(UNPROVEN_MASK));
        return Ok(Verified {
            checks,
            unchecked,
            claimed,
        });
    }
    let (_, key) = read_private(&paths, &header)?;
    checks.push("private/episode.json: the key that header.json commits to".to_owned());
    check_summary(&paths, &recorded, Some(&key))?;
    checks.push(
        "summary.json and private/summary.json: hashes, metrics and counters, recomputed from events and ledger"
            .to_owned(),
    );
    let bundle = OpenBundle::open(root, panel)?;
    replay_episode(&bundle.input(), &paths, &Silent).await?;
    checks.push("fills, NAV and every event: run again from the recorded replies, byte for byte".to_owned());
    Ok(Verified {
        checks,
        unchecked,
        claimed: claimed(None),
    })
}

/// What cannot be checked without the private part.
fn unchecked_account(level: Level) -> String {
    let what = if publishes_account(level) {
        "fills and NAV: the bundle has no private/ part, which names the stocks"
    } else {
        "fills, NAV and the account's metrics: the bundle has no private/ part, which alone holds them at this mask"
    };
    what.to_owned()
}

impl Verified {
    /// The same of a bundle that somebody published and signed.
    #[must_use]
    pub fn of_published(mut self) -> Self {
        for claim in self.claimed.iter_mut().filter(|claim| *claim == UNPROVEN_MAKER) {
            SIGNED_MAKER.clone_into(claim);
        }
        self
    }
}

/// What stays the word of whoever published a bundle.
const SIGNED_MAKER: &str = "who answered, and the names of agent, experiment, window and cell: the signer vouches for \
                            them, and could have written all files anew before signing";

/// What a signature alone could bind.
const UNPROVEN_MAKER: &str = "who answered, and the names of agent, experiment, window and cell: header, events and \
                              hashes bind one another, but nobody signed them, and whoever writes all of them anew can \
                              write other names";

/// What the private part would prove.
const UNPROVEN_MASK: &str = "the mask and its figures: no recorded request shows what another mask shows, but only \
                             private/ and the panel prove that this mask made them";

fn claimed(besides: Option<&str>) -> Vec<String> {
    let all = [UNPROVEN_MAKER].into_iter().chain(besides);
    all.map(str::to_owned).collect()
}

/// What the recorded requests were compared with.
fn prompts_checked(header: &Header) -> String {
    format!(
        "recorded requests: they show what {}/{} shows, and ask {:?}, as header.json says",
        header.mask.level_label(),
        header.mask.numeric.label(),
        header.agent.model_name()
    )
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
