//! Opening an episode: its identity on disk, and the state to continue from.

use super::{Episode, EpisodeInput};
use crate::EpisodeError;
use crate::at_step::rules_at;
use ktd_agents::Transport;
use ktd_bundle::event::{OrderRecord, ReadEvent, WrittenEvent};
use ktd_bundle::header::{Header, MaskRecord, PrivateEpisode, WindowRecord};
use ktd_bundle::ledger::LedgerLine;
use ktd_bundle::{BundlePaths, FORMAT_VERSION};
use ktd_client::Payer;
use ktd_client::ask::RecordedClient;
use ktd_env::DayIndex;
use ktd_env::exchange::{Account, Rules, Side, TargetWeight, TradingDay};
use ktd_experiment::mask_hash::{arm_hash_with, tools_sha256_of};
use ktd_experiment::rules_config::RulesConfig;
use ktd_experiment::window_config::WindowDates;
use ktd_guard::Guard;
use ktd_io::whole_file::{JSON_LIMIT_BYTES, json_bytes, read_bounded, read_if_exists, write_whole};
use ktd_masking::{EpisodeFrame, Mask};
use ktd_record::RecordError;
use ktd_record::chain::{Lines, Log, NO_GENESIS, first_difference};
use ktd_record::exchanges::{Cassette, ExchangeStore, RequestPlace};
use ktd_record::program_record::check_program;
use ktd_tools::LastStep;
use ktd_tools::banded::{BandedState, BookOrder};
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
    let (prices, program) = match read_loosely(&recorded) {
        Some(header) => (header.prices, header.program),
        None => (None, None),
    };
    let header = Header {
        prices,
        program,
        ..header(input)?
    };
    same(&path, &recorded, &json_bytes(&path, &header)?)?;
    Ok(header.genesis()?)
}

/// A recorded header. One that cannot be read differs in more than its prices, and the first difference is told.
fn read_loosely(recorded: &[u8]) -> Option<Header> {
    serde_json::from_slice(recorded).ok()
}

fn same(path: &Path, recorded: &[u8], now: &[u8]) -> Result<(), EpisodeError> {
    let (recorded, now) = (String::from_utf8_lossy(recorded), String::from_utf8_lossy(now));
    for (place, (old, new)) in recorded.lines().zip(now.lines()).enumerate() {
        if old != new {
            let difference = format!(
                "{}: recorded {}, now {}",
                first_difference(old, new),
                old.trim(),
                new.trim()
            );
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
    let days = &input.cell.window.days;
    let date = |day: Option<&DayIndex>| {
        day.and_then(|day| input.shared.market.date(*day))
            .map(ktd_env::TradeDate::reveal)
            .unwrap_or_default()
    };
    PrivateEpisode {
        mask_key: input.key.reveal(),
        first_day: date(days.first()),
        last_day: date(days.last()),
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
        agent: cell.agent.clone(),
        provider: cell.provider.clone(),
        prices: cell.basis.record().cloned(),
        window: WindowRecord {
            id: cell.window.id.clone(),
            steps: cell.window.days.len(),
            dates,
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
        rules: RulesConfig::of(&rules(input)?),
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

/// Opens an episode whose events start from `genesis`: with a transport to continue it, without one to compare it from its
/// first event.
pub(super) fn open<'a>(
    input: &'a EpisodeInput<'a>,
    (paths, genesis): (&BundlePaths, &str),
    guard: &'a Guard,
    transport: Option<&'a dyn Transport>,
) -> Result<Episode<'a>, EpisodeError> {
    let rules = rules(input)?;
    let mask = mask_of(input, &rules).ok_or_else(|| {
        EpisodeError::input("the window has no trading day before it", "choose a later window")
    })?;
    let events = Lines::read(&paths.events())?;
    events.starts_from(genesis, &paths.events())?;
    let ledger = Lines::read(&paths.ledger())?;
    ledger.starts_from(NO_GENESIS, &paths.ledger())?;
    let cassette = Cassette::read(&paths.exchanges())?;
    if transport.is_none() && paths.summary().exists() && 0 < cassette.torn_bytes() {
        let what = "it does not end with a whole record: something was added after the episode ended";
        return Err(EpisodeError::damaged(&paths.open_exchanges(), what));
    }
    let (resume, events, ledger, store) = if transport.is_some() {
        let resume = Resume::of(input, paths, (&events, &ledger, &cassette))?;
        let store = ExchangeStore::continue_after(&paths.exchanges(), &cassette)?;
        let events = Log::continue_at(&paths.events(), &events, resume.events_kept, genesis)?;
        let ledger = Log::continue_at(&paths.ledger(), &ledger, resume.steps_done, NO_GENESIS)?;
        (resume, events, ledger, Some(store))
    } else {
        let events = Log::compare(&paths.events(), &events, genesis);
        let ledger = Log::compare(&paths.ledger(), &ledger, NO_GENESIS);
        (Resume::default(), events, ledger, None)
    };
    let mut episode = Episode {
        input,
        limits: input.shared.tools,
        exchanger: RecordedClient {
            cassette: Arc::new(cassette),
            store,
            transport,
            first_live_step: input.cell.first_own_step(),
            scan: guard,
            retries: input.shared.retries,
            provider: &input.cell.provider,
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
        rules,
        mask,
    };
    if resume.events_kept == 0 {
        episode.write(&WrittenEvent::EpisodeBegin {
            mode: input.cell.mode,
            initial_cash_fen: episode.rules.initial_cash.0,
        })?;
    }
    Ok(episode)
}

/// Roster and book after some complete steps; `None` before the first, and where factors are not told in bands.
fn banded_after(
    input: &EpisodeInput<'_>,
    mask: &Mask,
    rules: &Rules,
    steps: &[Vec<OrderRecord>],
) -> Option<BandedState> {
    let mut state = None;
    for (place, (day, orders)) in input.cell.window.days.iter().zip(steps).enumerate() {
        let trading_day = TradingDay::new(&input.shared.market, *day)?;
        let as_of = trading_day.as_of().with_factors(&input.shared.factors);
        let mut now = BandedState::at(state, mask, &as_of)?;
        let changed = rules_at(input, place + 1).ok();
        let rules = changed.as_ref().unwrap_or(rules);
        now.book
            .take(&now.roster, rules, orders.iter().filter_map(book_order).collect());
        state = Some(now);
    }
    state
}

fn book_order(record: &OrderRecord) -> Option<BookOrder> {
    Some(BookOrder {
        id: record.stock_id.clone(),
        side: [Side::Buy, Side::Sell]
            .into_iter()
            .find(|side| side.label() == record.side)?,
        target: TargetWeight::from_millionths(record.target_weight_millionths?)?,
    })
}

impl Episode<'_> {
    /// Adds a public event.
    pub(super) fn write(&mut self, event: &WrittenEvent) -> Result<(), EpisodeError> {
        Ok(self.events.append(event).map(|_| ())?)
    }
}

/// The state after the last complete step: what folding the logs gives.
#[derive(Default)]
struct Resume {
    events_kept: usize,
    steps_done: usize,
    account: Option<Account>,
    last_step: Option<LastStep>,
    is_over: bool,
    /// The orders of each complete step, in the model's words.
    orders: Vec<Vec<OrderRecord>>,
}

/// Whether what an event rests on is among the exchanges.
fn is_recorded(event: &ReadEvent, cassette: &Cassette) -> bool {
    match event {
        ReadEvent::Turn {
            step, ordinal, reply, ..
        } => cassette.has_reply(*step, *ordinal, reply),
        ReadEvent::InfrastructureFault {
            step,
            ordinal,
            attempt,
            ..
        } => cassette.has_attempt(RequestPlace {
            step: *step,
            ordinal: *ordinal,
            attempt: *attempt,
        }),
        ReadEvent::EpisodeBegin { .. }
        | ReadEvent::StepBegin { .. }
        | ReadEvent::ToolCall { .. }
        | ReadEvent::ModelFault { .. }
        | ReadEvent::Decision { .. }
        | ReadEvent::Fills { .. }
        | ReadEvent::StepEnd { .. }
        | ReadEvent::EpisodeEnd { .. } => true,
    }
}

impl Resume {
    /// A step is complete when its closing event and its ledger line both stand and belong together, and every reply
    /// it rests on is recorded. A kill cannot lose a reply that an event rests on; a failing disk can.
    fn of(
        input: &EpisodeInput<'_>,
        paths: &BundlePaths,
        (events, ledger, cassette): (&Lines, &Lines, &Cassette),
    ) -> Result<Self, EpisodeError> {
        let path = paths.ledger();
        let typed: Vec<ReadEvent> = events.bodies(&paths.events())?;
        let lines: Vec<LedgerLine> = ledger.bodies(&path)?;
        let mut resume = Self::default();
        for (place, event) in typed.iter().enumerate() {
            if !is_recorded(event, cassette) {
                break;
            }
            match event {
                ReadEvent::EpisodeBegin { .. } if place == 0 => resume.events_kept = 1,
                ReadEvent::StepEnd {
                    step, ledger: bound, ..
                } => {
                    if *step != resume.steps_done + 1 {
                        let what = format!("step {step} ends after step {}", resume.steps_done);
                        return Err(EpisodeError::damaged(&paths.events(), what));
                    }
                    let Some(raw) = ledger.raw().get(resume.steps_done) else {
                        break;
                    };
                    if *bound != ktd_bundle::ledger_binding::ledger_binding(&input.key, raw) {
                        let what = format!("line {step} is not the one its event binds");
                        return Err(EpisodeError::damaged(&path, what));
                    }
                    resume.events_kept = place + 1;
                    resume.steps_done = *step;
                }
                ReadEvent::EpisodeEnd { .. } => {
                    resume.events_kept = place + 1;
                    resume.is_over = true;
                }
                ReadEvent::EpisodeBegin { .. }
                | ReadEvent::StepBegin { .. }
                | ReadEvent::Turn { .. }
                | ReadEvent::InfrastructureFault { .. }
                | ReadEvent::ToolCall { .. }
                | ReadEvent::ModelFault { .. }
                | ReadEvent::Fills { .. } => {}
                ReadEvent::Decision { orders, .. } => resume.orders.push(orders.clone()),
            }
        }
        resume.orders.truncate(resume.steps_done);
        let nav_before = resume
            .steps_done
            .checked_sub(2)
            .and_then(|place| lines.get(place))
            .map_or(rules(input)?.initial_cash, |line| ktd_env::Fen(line.nav_fen));
        if let Some(line) = resume
            .steps_done
            .checked_sub(1)
            .and_then(|place| lines.get(place))
        {
            let (account, report) = line.restore(&input.shared.market, &path)?;
            resume.account = Some(account);
            let kind = super::step::last_step_kind(line.outcome);
            resume.last_step = Some(LastStep {
                step: line.step,
                kind,
                nav_before,
                report,
            });
        }
        Ok(resume)
    }
}
