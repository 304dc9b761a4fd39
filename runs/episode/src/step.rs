//! One step: view, conversation, exchange, record.

use super::Episode;
use super::at_step::{dealt_by, mask_at, rules_at};
use super::decide::Decided;
use crate::EpisodeError;
use ktd_bundle::BundlePaths;
use ktd_bundle::event::{COMPLETED, STOPPED, StepOutcome, WITHDRAWN, WrittenEvent, publishes_account};
use ktd_bundle::ledger::LedgerLine;
use ktd_bundle::ledger_binding::ledger_binding;
use ktd_bundle::ledger_mark::mark_of;
use ktd_client::progress::Progress;
use ktd_env::exchange::{TradingDay, step as trade};
use ktd_env::{AsOf, DayIndex, DaysBack};
use ktd_io::crash_points::{self, CrashPoint};
use ktd_masking::Payload;
use ktd_tools::banded::BandedState;
use ktd_tools::{LastStep, LastStepKind, StepView, ToolContext};

impl Episode<'_> {
    /// Runs all steps that are still to be run, then closes the record.
    pub(super) async fn run(&mut self, progress: &dyn Progress) -> Result<(), EpisodeError> {
        if self.is_over {
            return Ok(());
        }
        let early = self.run_until(self.steps(), progress).await?;
        if let Some(reason) = &early {
            progress.news(&format!("cell {}: {reason}", self.input.cell.id));
        }
        self.end(early.unwrap_or_else(|| COMPLETED.to_owned()))
    }

    /// Writes that the episode is over.
    pub(super) fn end(&mut self, reason: String) -> Result<(), EpisodeError> {
        self.write(&WrittenEvent::EpisodeEnd { reason })
    }

    /// Runs the steps that are still to be run, up to this one; says why where it ends before.
    pub(super) async fn run_until(
        &mut self,
        last: usize,
        progress: &dyn Progress,
    ) -> Result<Option<String>, EpisodeError> {
        let days = self.input.cell.window.days.clone();
        for (place, day) in days.iter().enumerate().take(last).skip(self.next_step) {
            if let Some(reason) = self.ends_here() {
                return Ok(Some(reason));
            }
            progress.step_began(&self.input.cell.id, place + 1, days.len());
            self.run_step(place + 1, *day, progress).await?;
            progress.step_ended(&self.input.cell.id, place + 1, days.len());
        }
        Ok(None)
    }

    /// Why no further step is played: a replay ends where its record does, and an agent that comes to nothing is stopped.
    fn ends_here(&self) -> Option<String> {
        let is_early = |reason: &&String| *reason == WITHDRAWN || reason.starts_with(STOPPED);
        if let Some(reason) = self.recorded_end.as_ref().filter(is_early)
            && self.events.is_last_left()
        {
            return Some(reason.clone());
        }
        // What is recorded of the next step comes again first, also where a rule has changed since.
        if self.events.has_leftovers() {
            return None;
        }
        let rules = self.stop_after.as_ref()?;
        Some(format!("{STOPPED}{}", self.played.stops(rules)?))
    }

    async fn run_step(
        &mut self,
        step: usize,
        day: DayIndex,
        progress: &dyn Progress,
    ) -> Result<(), EpisodeError> {
        let shared = self.input.shared;
        self.exchanger.provider = self.input.cell.provider_at(step);
        self.exchanger.model = self.input.cell.agent_at(step).model_name();
        if self.input.cell.branch.is_some() {
            self.rules = rules_at(self.input, step)?;
            self.mask = mask_at(self.input, step)?.unwrap_or_else(|| self.mask.clone());
        }
        let trading_day = TradingDay::new(&shared.market, day).ok_or_else(|| {
            EpisodeError::input("the window has no trading day before it", "choose a later window")
        })?;
        let as_of = trading_day.as_of().with_factors(shared.factors.get()?);
        self.banded = BandedState::at(self.banded.take(), &self.mask, &as_of);
        let decided = self.decided(step, &as_of).await?;
        self.write(&WrittenEvent::Decision {
            step,
            outcome: decided.outcome,
            orders: decided.records,
            overall_reason: decided.overall_reason,
            is_repaired: decided.is_repaired,
        })?;
        progress.step_decided(&self.input.cell.id, step, decided.outcome);
        let last = self.last_step.take();
        let orders = match &mut self.banded {
            Some(banded) => {
                let of_exchange = (&self.rules, &self.account, &as_of);
                banded.orders(
                    decided.book_orders,
                    of_exchange,
                    last.as_ref().map(|last| &last.report),
                )
            }
            None => decided.orders,
        };
        let nav_before = self.account.nav;
        let (account, report) = trade(
            &dealt_by(self.input, step, &self.rules),
            self.account.clone(),
            &orders,
            &trading_day,
        )
        .map_err(|source| EpisodeError::Amount {
            cell: self.input.cell.id.clone(),
            step,
            source,
        })?;
        self.last_step = Some(LastStep {
            step,
            kind: last_step_kind(decided.outcome),
            nav_before,
            report,
        });
        self.account = account;
        self.close(step, day, decided.outcome)?;
        crash_points::passes(CrashPoint::StepCommitted);
        Ok(())
    }

    /// Writes how the step opens and lets the model decide.
    async fn decided(&mut self, step: usize, as_of: &AsOf<'_>) -> Result<Decided, EpisodeError> {
        // The view borrows copies, so that the record can be written while it lives.
        let (account, last_step, banded) =
            (self.account.clone(), self.last_step.clone(), self.banded.clone());
        let (mask, rules, limits) = (self.mask.clone(), self.rules.clone(), self.limits);
        let as_of_day = as_of
            .past_day(DaysBack(0))
            .map_or_else(Payload::null, |past| mask.day(past));
        self.write(&WrittenEvent::StepBegin {
            step,
            day: mask.step_day(step),
            as_of: as_of_day.clone(),
        })?;
        if let Some(banded) = &banded {
            let last = last_step.as_ref().map(|last| last.kind);
            let context = banded.context(step, (&mask, &rules, &limits), (&as_of_day, last));
            return self.decide(step, StepView::Roster(&context)).await;
        }
        let context = ToolContext {
            as_of,
            account: &account,
            mask: &mask,
            rules: &rules,
            limits: &limits,
            last_step: last_step.as_ref(),
            step,
        };
        self.decide(step, StepView::Market(&context)).await
    }

    /// Writes what became of the orders and the account at the close, the private ledger first.
    fn close(&mut self, step: usize, day: DayIndex, outcome: StepOutcome) -> Result<(), EpisodeError> {
        let market = &self.input.shared.market;
        let date = market
            .date(day)
            .map(ktd_env::TradeDate::reveal)
            .unwrap_or_default();
        let Some(last_step) = self.last_step.clone() else {
            return Ok(());
        };
        let line = LedgerLine::of(market, step, date, outcome, &self.account, &last_step.report);
        let raw = self.ledger.append(&line)?;
        let (fills, holdings) = self.shown(&market.as_of(day), &last_step, step);
        self.write(&WrittenEvent::Fills { step, fills })?;
        self.write(&WrittenEvent::StepEnd {
            step,
            mark: publishes_account(self.input.cell.mask.level).then(|| mark_of(&line)),
            holdings,
            ledger: ledger_binding(&self.input.key, &raw),
        })
    }

    /// Fills and holdings as the model will see them: the as-of day is the trading day that has just closed.
    fn shown(&self, as_of: &AsOf<'_>, last_step: &LastStep, step: usize) -> (Payload, Payload) {
        if let Some(banded) = &self.banded {
            let as_of_day = self.mask.step_day(step);
            let shared = (&self.mask, &self.rules, &self.limits);
            let context = banded.context(step, shared, (&as_of_day, Some(last_step.kind)));
            let view = StepView::Roster(&context);
            return (view.last_step(), view.account());
        }
        let context = ToolContext {
            as_of,
            account: &self.account,
            mask: &self.mask,
            rules: &self.rules,
            limits: &self.limits,
            last_step: Some(last_step),
            step,
        };
        let view = StepView::Market(&context);
        (view.last_step(), view.account())
    }

    /// Whether everything in the record came again.
    pub(super) fn check_complete(&self, paths: &BundlePaths) -> Result<(), EpisodeError> {
        for (log, path) in [(&self.events, paths.events()), (&self.ledger, paths.ledger())] {
            if log.has_leftovers() {
                return Err(EpisodeError::damaged(
                    &path,
                    "it holds more lines than the episode has",
                ));
            }
        }
        Ok(())
    }
}

pub(super) const fn last_step_kind(outcome: StepOutcome) -> LastStepKind {
    match outcome {
        StepOutcome::Submitted => LastStepKind::Orders,
        StepOutcome::Hold => LastStepKind::Hold,
        StepOutcome::Fallback => LastStepKind::Fallback,
        StepOutcome::Uncovered => LastStepKind::Fault,
    }
}
