//! Opening an episode: its identity on disk, and the state to continue from.

use super::{Episode, EpisodeInput};
use crate::EpisodeError;
use crate::banded_resume::banded_after;
use crate::resume::Logs;
use ktd_agents::Transport;
use ktd_bundle::event::WrittenEvent;
use ktd_bundle::header::{Header, MaskRecord, PrivateEpisode, WindowRecord};
use ktd_bundle::{BundlePaths, FORMAT_VERSION};
use ktd_client::Payer;
use ktd_client::ask::RecordedClient;
use ktd_env::DayIndex;
use ktd_env::exchange::{Account, Rules};
use ktd_experiment::mask_hash::{arm_hash_with, tools_sha256_of};
use ktd_experiment::panel_windows::Window;
use ktd_experiment::recorded_rules::RecordedRules;
use ktd_experiment::window_config::WindowDates;
use ktd_guard::Guard;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{JSON_LIMIT_BYTES, json_bytes, read_bounded, read_if_exists, write_whole};
use ktd_masking::{EpisodeFrame, Mask};
use ktd_record::RecordError;
use ktd_record::chain::first_difference;
use ktd_record::exchanges::Cassette;
use ktd_record::program_record::check_program;
use std::path::Path;
use std::sync::Arc;

/// Writes `header.json` and `private/episode.json`, or checks that those of an earlier run are the same. Prices alone
/// may have changed: what is unfinished is continued at those of today. Another program does not continue it: one record is
/// of one program. Returns what the events start from.
pub(super) fn write_identity(input: &EpisodeInput<'_>, paths: &BundlePaths) -> Result<String, EpisodeError> {
    let path = paths.header();
    let header = header(input)?;
    let genesis = header.genesis()?;
    let bytes = json_bytes(&path, &header)?;
    match read_if_exists(&path)? {
        Some(recorded) if recorded == bytes => {}
        Some(recorded) => {
            check_program(&path, &recorded, &bytes)?;
            let kept = read_loosely(&recorded);
            let prices = kept.and_then(|header| header.prices);
            same(
                &path,
                &recorded,
                &json_bytes(&path, &Header { prices, ..header })?,
            )?;
            write_whole(&path, &bytes)?;
        }
        None => write_whole(&path, &bytes)?,
    }
    keep_private(input, &paths.episode())?;
    Ok(genesis)
}

/// Checks that the header is the one this panel and configuration would give, at the recorded prices and for the recorded
/// program: another program may come to the same events. Returns what the events start from.
pub(super) fn compare_identity(
    input: &EpisodeInput<'_>,
    paths: &BundlePaths,
) -> Result<String, EpisodeError> {
    let path = paths.header();
    let recorded = read_bounded(&path, JSON_LIMIT_BYTES)?;
    let mut header = header(input)?;
    if let Some(read) = read_loosely(&recorded) {
        // A cell's own key follows from its name and the study's key.
        if read.cell == header.cell && read.mask.commitment != header.mask.commitment {
            return Err(EpisodeError::damaged(
                &path,
                "the mask key is not the one that it names: private/mask.key of the study, or the file that `mask_key_file` names, is another \
                 than it was",
            ));
        }
        // What the panel cannot support, another program may say in other words: its hash binds the panel.
        if read.program != header.program {
            header.data.limitations = read.data.limitations;
        }
        // The same rules may be told by fewer keys.
        if read.rules == header.rules {
            header.rules = read.rules;
        }
        (header.prices, header.program) = (read.prices, read.program);
    } else {
        (header.prices, header.program) = (None, None);
    }
    same(&path, &recorded, &json_bytes(&path, &header)?)?;
    Ok(header.genesis()?)
}

/// The same, where the episode is begun.
pub(super) fn check_identity(input: &EpisodeInput<'_>, paths: &BundlePaths) -> Result<(), EpisodeError> {
    if paths.header().exists() {
        compare_identity(input, paths)?;
    }
    Ok(())
}

/// The hash of all that decides an episode but its prices and its program: two that have it are continued by one another's rules.
pub(super) fn identity(input: &EpisodeInput<'_>) -> Result<String, EpisodeError> {
    let header = Header {
        prices: None,
        program: None,
        ..header(input)?
    };
    Ok(sha256_hex(&json_bytes(Path::new("header.json"), &header)?))
}

/// A recorded header. One that cannot be read differs in more than its prices, and the first difference is told.
fn read_loosely(recorded: &[u8]) -> Option<Header> {
    serde_json::from_slice(recorded).ok()
}

fn same(path: &Path, recorded: &[u8], now: &[u8]) -> Result<(), EpisodeError> {
    let (recorded, now) = (String::from_utf8_lossy(recorded), String::from_utf8_lossy(now));
    for (place, (old, new)) in recorded.lines().zip(now.lines()).enumerate() {
        if old != new {
            let difference = first_difference(old.trim(), new.trim());
            let line = u64::try_from(place + 1).unwrap_or(u64::MAX);
            return Err(EpisodeError::Bundle(RecordError::Diverged {
                path: path.to_owned(),
                line,
                difference,
            }));
        }
    }
    if recorded == now {
        return Ok(());
    }
    Err(EpisodeError::damaged(
        path,
        "it is longer or shorter than the one this program would write",
    ))
}

/// The private part is kept as it is when its key and days are the same; only the panel's place may differ.
fn keep_private(input: &EpisodeInput<'_>, path: &Path) -> Result<(), EpisodeError> {
    let now = private_episode(input);
    if !path.exists() {
        return Ok(write_whole(path, &json_bytes(path, &now)?)?);
    }
    let recorded: PrivateEpisode = ktd_io::whole_file::read_json(path)?;
    let recorded = PrivateEpisode {
        panel: now.panel.clone(),
        ..recorded
    };
    if recorded.sealed() == now {
        return Ok(());
    }
    Err(EpisodeError::damaged(
        path,
        "its mask key or days are not those of this experiment",
    ))
}

fn private_episode(input: &EpisodeInput<'_>) -> PrivateEpisode {
    let Window { days, drawn, .. } = &input.cell.window;
    let drawn = drawn.as_ref();
    let date = |day: Option<&DayIndex>| {
        day.and_then(|day| input.shared.market.date(*day))
            .map(ktd_env::TradeDate::reveal)
            .unwrap_or_default()
    };
    PrivateEpisode {
        mask_key: input.key.reveal(),
        first_day: date(days.first()),
        last_day: date(days.last()),
        window_key: drawn.map(|drawn| drawn.key.reveal()),
        panel: input.shared.panel.as_ref().map(|path| path.display().to_string()),
        seal: String::new(),
    }
    .sealed()
}

pub(super) fn header(input: &EpisodeInput<'_>) -> Result<Header, EpisodeError> {
    let (cell, shared) = (input.cell, input.shared);
    let private = private_episode(input);
    let dates = (!cell.mask.level.hides_days()).then_some(WindowDates {
        first: private.first_day,
        last: private.last_day,
    });
    Ok(Header {
        format: FORMAT_VERSION,
        ktd: env!("CARGO_PKG_VERSION").to_owned(),
        program: shared.program.clone(),
        experiment: shared.experiment.clone(),
        cell: cell.id.clone(),
        agent: cell.agent.clone().recorded(),
        provider: Arc::new(cell.provider.clone()),
        prices: cell.basis.record().cloned(),
        window: WindowRecord {
            id: cell.window.id.clone(),
            steps: cell.window.days.len(),
            dates,
            draw: cell.window.drawn.as_ref().map(|drawn| drawn.record.clone()),
        },
        mode: cell.mode,
        mask: MaskRecord {
            level: cell.mask.level,
            numeric: cell.mask.numeric,
            instruction: cell.instruction,
            commitment: input.key.commitment(),
            hash: Some(arm_hash_with(cell.arm(), &shared.tools)),
        },
        seed: cell.seed,
        data: shared.data.clone(),
        prompts_sha256: ktd_prompts::hash(),
        tools_sha256: tools_sha256_of(&shared.tools),
        rules: Arc::new(RecordedRules::of(&rules(input)?)),
        session: shared.session,
        tools: shared.tools,
        branch: cell.branch.clone(),
    })
}

pub(super) fn rules(input: &EpisodeInput<'_>) -> Result<Rules, EpisodeError> {
    Ok(input.shared.rules.rules()?)
}

/// The mask of an episode; `None` when its window has no trading day before it.
pub(super) fn mask_of(input: &EpisodeInput<'_>, rules: &Rules) -> Option<Mask> {
    let frame = EpisodeFrame {
        market: &input.shared.market,
        window: &input.cell.window.days,
        initial_cash: rules.initial_cash,
    };
    Mask::new(input.cell.mask, &input.key, &frame)
}

/// What an episode is opened for.
#[derive(Clone, Copy)]
pub(super) enum Opening<'a> {
    /// To continue it: its agent is asked.
    Play(&'a dyn Transport),
    /// To close it after its last complete step: what came after is cut off, and its exchanges stay.
    End,
    /// To compare it from its first event.
    Compare,
}

/// Opens an episode whose events start from `genesis`.
pub(super) fn open<'a>(
    input: &'a EpisodeInput<'a>,
    (paths, genesis): (&BundlePaths, &str),
    guard: &'a Guard,
    opening: Opening<'a>,
) -> Result<Episode<'a>, EpisodeError> {
    let rules = rules(input)?;
    let mask = mask_of(input, &rules).ok_or_else(|| {
        EpisodeError::input("the window has no trading day before it", "choose a later window")
    })?;
    let cassette = Cassette::read_in_order(&paths.exchanges())?;
    let at = (input, paths, genesis);
    let (logs, transport) = match opening {
        Opening::Play(transport) => (Logs::continued(at, &cassette, false)?, Some(transport)),
        Opening::End => (Logs::continued(at, &cassette, true)?, None),
        Opening::Compare => (Logs::compared(paths, genesis, &cassette)?, None),
    };
    let Logs {
        resume,
        events,
        ledger,
        store,
        recorded_end,
    } = logs;
    let is_stopped = transport.is_some() && input.cell.agent.builtin_name().is_none();
    let mut episode = Episode {
        input,
        limits: input.shared.tools,
        exchanger: RecordedClient {
            cassette: Arc::new(cassette),
            store,
            transport,
            first_live_step: input.cell.first_own_step(),
            scan: guard,
            retries: input.shared.retries.of(&input.cell.agent),
            provider: &input.cell.provider,
            model: input.cell.agent.model_name(),
            meter: input.shared.metering.meter(&Payer::of_cell(input.cell)),
            observer: None,
        },
        events,
        ledger,
        account: resume
            .account
            .unwrap_or_else(|| Account::with_cash(rules.initial_cash)),
        last_step: resume.last_step,
        banded: banded_after(input, &mask, &rules, &resume.orders),
        next_step: resume.steps_done,
        is_over: resume.is_over,
        recorded_end,
        played: resume.played,
        stop_after: input.shared.stop_after.filter(|_| is_stopped),
        rules,
        mask,
    };
    if resume.events_kept.lines == 0 {
        episode.write(&WrittenEvent::EpisodeBegin {
            mode: input.cell.mode,
            initial_cash_fen: episode.rules.initial_cash.0,
        })?;
    }
    Ok(episode)
}

impl Episode<'_> {
    /// Adds a public event.
    pub(super) fn write(&mut self, event: &WrittenEvent) -> Result<(), EpisodeError> {
        self.played.add(event, &self.input.cell.basis);
        Ok(self.events.append(event).map(|_| ())?)
    }
}
