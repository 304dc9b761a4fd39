//! One step: view, conversation, exchange, record.

use super::Episode;
use crate::EpisodeError;
use ktd_bundle::BundlePaths;
use ktd_bundle::event::{Mark, StepOutcome, WrittenEvent};
use ktd_bundle::ledger::LedgerLine;
use ktd_bundle::ledger_binding::ledger_binding;
use ktd_client::progress::Progress;
use ktd_env::exchange::{EventKind, Execution, StepReport, TradingDay, step as trade};
use ktd_env::{AsOf, DayIndex, DaysBack};
use ktd_io::crash_points::{self, CrashPoint};
use ktd_masking::Payload;
use ktd_tools::{LastStep, LastStepKind, ToolContext, last_step_payload, state};

impl Episode<'_> {
    /// Runs all steps that are still to be run, then closes the record.
    pub(super) async fn run(&mut self, progress: &dyn Progress) -> Result<(), EpisodeError> {
        self.run_until(self.steps(), progress).await?;
        if !self.is_over {
            self.write(&WrittenEvent::EpisodeEnd {
                reason: "completed".to_owned(),
            })?;
        }
        Ok(())
    }

    /// Runs the steps that are still to be run, up to this one.
    pub(super) async fn run_until(
        &mut self,
        last: usize,
        progress: &dyn Progress,
    ) -> Result<(), EpisodeError> {
        let days = self.input.cell.window.days.clone();
        for (place, day) in days.iter().enumerate().take(last).skip(self.next_step) {
            progress.step_began(&self.input.cell.id, place + 1, days.len());
            self.run_step(place + 1, *day, progress).await?;
            progress.step_ended(&self.input.cell.id, place + 1, days.len());
        }
        Ok(())
    }

    async fn run_step(
        &mut self,
        step: usize,
        day: DayIndex,
        progress: &dyn Progress,
    ) -> Result<(), EpisodeError> {
        let shared = self.input.shared;
        self.exchanger.provider = self.input.cell.provider_at(step);
        let trading_day = TradingDay::new(&shared.market, day).ok_or_else(|| {
            EpisodeError::input("the window has no trading day before it", "choose a later window")
        })?;
        let as_of = trading_day.as_of().with_factors(&shared.factors);
        // The context borrows copies, so that the record can be written while it lives.
        let (account, last_step) = (self.account.clone(), self.last_step.take());
        let (mask, rules, limits) = (self.mask.clone(), self.rules.clone(), self.limits);
        let context = ToolContext {
            as_of: &as_of,
            account: &account,
            mask: &mask,
            rules: &rules,
            limits: &limits,
            last_step: last_step.as_ref(),
            step,
            steps_total: self.steps(),
        };
        let as_of_day = as_of
            .past_day(DaysBack(0))
            .map_or_else(Payload::null, |past| mask.day(past));
        self.write(&WrittenEvent::StepBegin {
            step,
            day: mask.step_day(step),
            as_of: as_of_day,
        })?;
        let decided = self.decide(step, &context).await?;
        self.write(&WrittenEvent::Decision {
            step,
            outcome: decided.outcome,
            orders: decided.records,
            overall_reason: decided.overall_reason,
            is_repaired: decided.is_repaired,
        })?;
        progress.step_decided(&self.input.cell.id, step, decided.outcome);
        let nav_before = account.nav;
        let (account, report) = trade(&rules, account.clone(), &decided.orders, &trading_day);
        let kind = last_step_kind(decided.outcome);
        self.last_step = Some(LastStep {
            step,
            kind,
            nav_before,
            report,
        });
        self.account = account;
        self.close(step, day, decided.outcome)?;
        crash_points::passes(CrashPoint::StepCommitted);
        Ok(())
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
            mark: mark(step, &last_step.report),
            holdings,
            ledger: ledger_binding(&self.input.key, &raw),
        })
    }

    /// Fills and holdings as the model will see them: the as-of day is the trading day that has just closed.
    fn shown(&self, as_of: &AsOf<'_>, last_step: &LastStep, step: usize) -> (Payload, Payload) {
        let context = ToolContext {
            as_of,
            account: &self.account,
            mask: &self.mask,
            rules: &self.rules,
            limits: &self.limits,
            last_step: Some(last_step),
            step,
            steps_total: self.steps(),
        };
        (last_step_payload(&context), state::account(&context))
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

fn mark(step: usize, report: &StepReport) -> Mark {
    Mark {
        step,
        nav_fen: report.nav.0,
        cash_fen: report.cash.0,
        fees_fen: report.identity.fees.0,
        traded_value_fen: report.traded_value().0,
        hhi_billionths: hhi_billionths(report),
        positions: report.positions.len(),
        filled: report.filled_count(),
        rejected: report.rejected_count(),
        clipped: report
            .fills
            .iter()
            .filter(|fill| is_clipped(&fill.execution))
            .count(),
        delisted: report
            .events
            .iter()
            .filter(|event| event.kind != EventKind::CorporateAction)
            .count(),
        stale: report
            .positions
            .iter()
            .filter(|position| 0 < position.stale_days)
            .count(),
    }
}

const fn is_clipped(execution: &Execution) -> bool {
    matches!(execution, Execution::Filled { clipped: true, .. })
}

/// Sum of squared weights in billionths, in integers so that it is the same everywhere.
fn hhi_billionths(report: &StepReport) -> u64 {
    const BILLION: i128 = 1_000_000_000;
    let nav = i128::from(report.nav.0);
    let squares: i128 = report
        .positions
        .iter()
        .map(|position| i128::from(position.value.0).pow(2))
        .sum();
    let square = nav.saturating_mul(nav).max(1);
    // Values are at most about 1e15 fen, so the squares fit and the product needs the wider division below.
    let whole = squares / square;
    let rest = squares % square;
    let scaled = whole
        .saturating_mul(BILLION)
        .saturating_add(rest / (square / BILLION).max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::exchange::{NavIdentity, Position};
    use ktd_env::{Fen, Price, Shares};

    #[test]
    fn concentration_is_the_sum_of_squared_weights() {
        let market = ktd_env::synth::generate(&ktd_env::synth::SynthConfig {
            names: 20,
            days: 30,
            ..ktd_env::synth::SynthConfig::default()
        })
        .unwrap();
        let name = market.names().next().unwrap().0;
        let position = |fen| Position {
            name,
            shares: Shares(1),
            mark: Price(fen),
            value: Fen(fen),
            stale_days: 0,
        };
        let report = StepReport {
            fills: Vec::new(),
            events: Vec::new(),
            positions: vec![position(60_000_000), position(20_000_000)],
            cash: Fen(20_000_000),
            holdings_value: Fen(80_000_000),
            nav: Fen(100_000_000),
            identity: NavIdentity::default(),
        };
        // 0.36 + 0.04
        assert_eq!(hhi_billionths(&report), 400_000_000);
    }
}
