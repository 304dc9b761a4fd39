//! Checking a bundle: chain, hashes, metrics, and the whole episode run again from its replies.

use crate::open_bundle::OpenBundle;
use crate::{EpisodeError, EpisodeInput, finished_episode, replay_episode};
use ktd_bundle::BundlePaths;
use ktd_bundle::event::publishes_account;
use ktd_bundle::header::Header;
use ktd_bundle::open::{read_header, read_private};
use ktd_bundle::recorded_agent;
use ktd_bundle::recorded_prompts::{self, PromptCheck};
use ktd_bundle::summary::Summary;
use ktd_bundle::summary_file::summary_of;
use ktd_bundle::summary_file::{check_hashes, check_summary, read_summary};
use ktd_client::progress::{Progress, Silent};
use ktd_data::market_source::RecordedMarkets;
use ktd_experiment::drawn_windows::DrawRecord;
use ktd_masking::Level;
use ktd_record::chain::LogReader;
use ktd_record::draw_number::drawn_with;
use ktd_record::exchanges::{ExchangeRecord, each_exchange};
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
    verify_on(root, &mut RecordedMarkets::new(panel), program).await
}

/// Checks a bundle on the market that others before it left open; the first difference is the error.
///
/// # Errors
/// [`EpisodeError`] naming the file and place that differs.
pub async fn verify_on(
    root: &Path,
    markets: &mut RecordedMarkets<'_>,
    program: &ProgramRecord,
) -> Result<Verified, EpisodeError> {
    let paths = BundlePaths::new(root);
    let (header, mut checks) = check_recorded(&paths)?;
    let mut unchecked: Vec<String> = header.another_program(program).into_iter().collect();
    if !recorded_prompts::are_of_this_program(&header) {
        unchecked.push(
            "prompts: another version of the program wrote their texts; keys, columns and identifiers alone were compared"
                .to_owned(),
        );
    }
    let draw = header.window.draw.as_ref().map(number_of_draw).transpose()?;
    let recorded = read_summary(&paths)?;
    check_hashes(&paths, &recorded, &summary_of(&paths, None)?)?;
    if !paths.episode().exists() {
        check_summary(&paths, &recorded, None)?;
        checks
            .push("summary.json: hashes, metrics and counters, recomputed from the public files".to_owned());
        unchecked.push(unchecked_account(header.mask.level));
        let days = "the days of the drawn window: the bundle has no private/ part, which names them and the key of the draw";
        unchecked.extend(draw.as_ref().map(|_| days.to_owned()));
        checks.extend(draw.map(|draw| format!("window: {}", draw.says)));
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
    let bundle = OpenBundle::open_on(root, markets)?;
    replay_episode(&bundle.input(), &paths, &Silent).await?;
    checks.push("fills, NAV and every event: run again from the recorded replies, byte for byte".to_owned());
    let mut claimed = claimed(None);
    if let Some(draw) = draw {
        checks.push(format!(
            "window: its days follow from the draw that header.json commits to; {}",
            draw.says
        ));
        claimed.extend(draw.claimed);
    }
    Ok(Verified {
        checks,
        unchecked,
        claimed,
    })
}

/// What a number of a draw is worth.
struct NumberOfDraw {
    says: String,
    claimed: Option<String>,
}

/// Who had a say in a drawn window beside its operator, by the signature that is the number.
fn number_of_draw(draw: &DrawRecord) -> Result<NumberOfDraw, EpisodeError> {
    let place = draw.place;
    Ok(match drawn_with(draw, None)? {
        Some(key) => NumberOfDraw {
            says: format!("window {place} of its draw, on a number that the key {key} signed for it"),
            claimed: Some(format!(
                "whose the key {key} of the draw's number is: its operator's own, where the same one signed what was published"
            )),
        },
        None => NumberOfDraw {
            says: format!(
                "window {place} of its draw, on nobody else's number: its operator may have drawn until it pleased"
            ),
            claimed: None,
        },
    })
}

/// Checks a bundle whose panel and key are at hand, and runs its episode again: its summary, where nothing differs.
pub(crate) async fn check_whole(
    input: &EpisodeInput<'_>,
    paths: &BundlePaths,
    progress: &dyn Progress,
) -> Result<Summary, EpisodeError> {
    let (header, _) = check_recorded(paths)?;
    if paths.episode().exists() {
        read_private(paths, &header)?;
    }
    let summary = finished_episode(input, paths)?;
    let summary = summary.ok_or_else(|| EpisodeError::damaged(&paths.summary(), "it is missing"))?;
    replay_episode(input, paths, progress).await?;
    Ok(summary)
}

/// Checks the chain, the recorded requests and their keys: the header, and what was checked.
fn check_recorded(paths: &BundlePaths) -> Result<(Header, Vec<String>), EpisodeError> {
    let header = read_header(paths)?;
    let events = LogReader::open(&paths.events())?.read_to_end()?;
    let checks = vec![
        format!(
            "events.jsonl: {} events, each with the hash of the one before",
            events.lines
        ),
        check_exchanges(&header, &paths.exchanges())?,
        prompts_checked(&header),
    ];
    Ok((header, checks))
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

/// Every request is of the header's agent and mask, and has a key of its own; says how many there are, and of how many the
/// outcome is not known.
fn check_exchanges(header: &Header, path: &Path) -> Result<String, EpisodeError> {
    let mut prompts = PromptCheck::new(header, path);
    let (mut answered, mut unknown, mut other_key) = (0, 0, None);
    each_exchange(path, |exchange| {
        recorded_agent::check(header, exchange, path)?;
        prompts.check(exchange)?;
        match exchange {
            ExchangeRecord::Intent { intent, .. } if !intent.has_own_key() => {
                other_key = other_key.or(Some(intent.at));
            }
            ExchangeRecord::Intent { .. } => {}
            ExchangeRecord::Outcome { outcome, .. } => answered += usize::from(outcome.is_answer()),
            ExchangeRecord::Unknown { .. } => unknown += 1,
        }
        Ok(())
    })?;
    prompts.end()?;
    if let Some(at) = other_key {
        let what = format!("{at}: its key is not that of its request");
        return Err(EpisodeError::damaged(path, what));
    }
    let unknown = match unknown {
        0 => String::new(),
        count => {
            format!("; {count} more were about to be sent when the run was stopped, with unknown outcome")
        }
    };
    Ok(format!(
        "exchanges.jsonl.zst: {answered} exchanges, every frame whole and every key its own{unknown}"
    ))
}
