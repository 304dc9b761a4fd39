//! Where an episode goes on: what folding its logs gives.

use crate::banded_resume::book_order;
use crate::played::Played;
use crate::step::last_step_kind;
use crate::{EpisodeError, EpisodeInput};
use ktd_bundle::BundlePaths;
use ktd_bundle::event::ReadEvent;
use ktd_bundle::ledger::LedgerLine;
use ktd_bundle::ledger_binding::ledger_binding;
use ktd_env::exchange::Account;
use ktd_record::RecordError;
use ktd_record::chain::{Log, LogEnd, LogReader, NO_GENESIS};
use ktd_record::exchanges::{Cassette, ExchangeStore, RequestPlace};
use ktd_tools::LastStep;
use ktd_tools::banded::BookOrder;
use std::path::Path;

/// The logs of an episode that is opened, and where it goes on.
pub(super) struct Logs {
    pub(super) resume: Resume,
    pub(super) events: Log,
    pub(super) ledger: Log,
    pub(super) store: Option<ExchangeStore>,
    /// The end that a record holds, where it is compared.
    pub(super) recorded_end: Option<String>,
}

impl Logs {
    /// To go on after the last complete step; where `is_cut`, what came after it is taken away.
    pub(super) fn continued(
        (input, paths, genesis): (&EpisodeInput<'_>, &BundlePaths, &str),
        cassette: &Cassette,
        is_cut: bool,
    ) -> Result<Self, EpisodeError> {
        let mut resume = Resume::default();
        let (mut events, mut ledger) = resume.fold((input, paths, genesis), cassette)?;
        if is_cut {
            (events, ledger) = (resume.events_kept.clone(), resume.ledger_kept.clone());
        }
        let store = ExchangeStore::continue_after(&paths.exchanges(), cassette)?;
        let kept = (&resume.events_kept, &events);
        let events = Log::continue_at(&paths.events(), kept, genesis)?;
        let kept = (&resume.ledger_kept, &ledger);
        let ledger = Log::continue_at(&paths.ledger(), kept, NO_GENESIS)?;
        Ok(Self {
            resume,
            events,
            ledger,
            store: Some(store),
            recorded_end: None,
        })
    }

    pub(super) fn compared(
        paths: &BundlePaths,
        genesis: &str,
        cassette: &Cassette,
    ) -> Result<Self, EpisodeError> {
        if paths.summary().exists() && 0 < cassette.torn_bytes() {
            let what = "it does not end with a whole record: something was added after the episode ended";
            return Err(EpisodeError::damaged(&paths.open_exchanges(), what));
        }
        let (recorded, recorded_end) = read_to_end(&paths.events(), genesis)?;
        let events = Log::compare(&paths.events(), &recorded, genesis)?;
        let recorded = LogReader::open(&paths.ledger())?.from(NO_GENESIS).read_to_end()?;
        let ledger = Log::compare(&paths.ledger(), &recorded, NO_GENESIS)?;
        Ok(Self {
            resume: Resume::default(),
            events,
            ledger,
            store: None,
            recorded_end,
        })
    }
}

/// The state after the last complete step: what folding the logs gives.
#[derive(Default)]
pub(super) struct Resume {
    pub(super) events_kept: LogEnd,
    pub(super) ledger_kept: LogEnd,
    pub(super) steps_done: usize,
    /// The net asset value before the last of them, fen.
    pub(super) nav_before_fen: Option<i64>,
    /// The ledger's line of the last of them.
    pub(super) last: Option<LedgerLine>,
    pub(super) account: Option<Account>,
    pub(super) last_step: Option<LastStep>,
    pub(super) is_over: bool,
    /// The orders of each complete step, as a book takes them.
    pub(super) orders: Vec<Vec<BookOrder>>,
    /// What the agent came to in them.
    pub(super) played: Played,
}

/// How far the events reach, and how they say that the episode ended.
fn read_to_end(path: &Path, genesis: &str) -> Result<(LogEnd, Option<String>), RecordError> {
    let mut events = LogReader::open(path)?.from(genesis);
    let mut end = None;
    while let Some(line) = events.next_line()? {
        // Few lines are read twice: a model's words may hold this, too.
        if line.text.contains("episode_end")
            && let ReadEvent::EpisodeEnd { reason } = line.typed()?
        {
            end = Some(reason);
        }
    }
    Ok((events.end().clone(), end))
}

/// Whether what an event rests on is among the exchanges.
fn is_recorded(event: &ReadEvent, cassette: &Cassette) -> Result<bool, RecordError> {
    match event {
        ReadEvent::Turn {
            step, ordinal, reply, ..
        } => cassette.has_reply(*step, *ordinal, reply),
        ReadEvent::InfrastructureFault {
            step,
            ordinal,
            attempt,
            ..
        } => Ok(cassette.has_attempt(RequestPlace {
            step: *step,
            ordinal: *ordinal,
            attempt: *attempt,
        })),
        ReadEvent::EpisodeBegin { .. }
        | ReadEvent::StepBegin { .. }
        | ReadEvent::ToolCall { .. }
        | ReadEvent::ModelFault { .. }
        | ReadEvent::Decision { .. }
        | ReadEvent::Fills { .. }
        | ReadEvent::StepEnd { .. }
        | ReadEvent::EpisodeEnd { .. } => Ok(true),
    }
}

impl Resume {
    /// A step is complete when its closing event and its ledger line both stand and belong together, and every reply
    /// it rests on is recorded. A kill cannot lose a reply that an event rests on; a failing disk can.
    fn fold(
        &mut self,
        (input, paths, genesis): (&EpisodeInput<'_>, &BundlePaths, &str),
        cassette: &Cassette,
    ) -> Result<(LogEnd, LogEnd), EpisodeError> {
        let mut events = LogReader::open(&paths.events())?.from(genesis);
        let mut ledger = LogReader::open(&paths.ledger())?.from(NO_GENESIS);
        let mut played = Played::default();
        while let Some(line) = events.next_line()? {
            let event: ReadEvent = line.typed()?;
            if !is_recorded(&event, cassette)? {
                break;
            }
            played.add(&event, &input.cell.basis);
            let keeps = match event {
                ReadEvent::EpisodeBegin { .. } => events.end().lines == 1,
                ReadEvent::StepEnd {
                    step, ledger: bound, ..
                } => {
                    if !self.take_step((step, &bound), (input, paths), &mut ledger)? {
                        break;
                    }
                    true
                }
                ReadEvent::EpisodeEnd { .. } => {
                    self.is_over = true;
                    true
                }
                ReadEvent::Decision { orders, .. } => {
                    self.orders.push(orders.iter().filter_map(book_order).collect());
                    false
                }
                ReadEvent::StepBegin { .. }
                | ReadEvent::Turn { .. }
                | ReadEvent::InfrastructureFault { .. }
                | ReadEvent::ToolCall { .. }
                | ReadEvent::ModelFault { .. }
                | ReadEvent::Fills { .. } => false,
            };
            if keeps {
                self.events_kept = events.end().clone();
                self.played = played.clone();
            }
        }
        self.orders.truncate(self.steps_done);
        self.restore(input, paths)?;
        Ok((events.read_to_end()?, ledger.read_to_end()?))
    }

    /// Takes the ledger's line of a step that ended; `false` where it is missing.
    fn take_step(
        &mut self,
        (step, bound): (usize, &str),
        (input, paths): (&EpisodeInput<'_>, &BundlePaths),
        ledger: &mut LogReader<'_>,
    ) -> Result<bool, EpisodeError> {
        if step != self.steps_done + 1 {
            let what = format!("step {step} ends after step {}", self.steps_done);
            return Err(EpisodeError::damaged(&paths.events(), what));
        }
        let Some(line) = ledger.next_line()? else {
            return Ok(false);
        };
        if bound != ledger_binding(&input.key, line.text) {
            let what = format!("line {step} is not the one its event binds");
            return Err(EpisodeError::damaged(&paths.ledger(), what));
        }
        let before = self.last.replace(line.typed()?);
        self.nav_before_fen = before.map(|line| line.nav_fen);
        self.ledger_kept = ledger.end().clone();
        self.steps_done = step;
        Ok(true)
    }

    /// The account after the last complete step, and what the exchange reported of it.
    fn restore(&mut self, input: &EpisodeInput<'_>, paths: &BundlePaths) -> Result<(), EpisodeError> {
        let Some(line) = &self.last else {
            return Ok(());
        };
        let initial = input.shared.rules.rules()?.initial_cash;
        let (account, report) = line.restore(&input.shared.market, &paths.ledger())?;
        self.account = Some(account);
        self.last_step = Some(LastStep {
            step: line.step,
            kind: last_step_kind(line.outcome),
            nav_before: self.nav_before_fen.map_or(initial, ktd_env::Fen),
            report,
        });
        Ok(())
    }
}
