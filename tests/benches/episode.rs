//! Steps a second with the event log, without and with the conversation.
//!
//! First the exchange and every record of a step (view, decision, fills, close, private ledger) appended to files,
//! four orders a day, twenty names held, no model. Then the whole of `ktd run` for the built-in agent `momentum` in
//! `open-research`, blinded: prompts, messages, the guard on each request, tools, exchanges packed and kept.

use ktd_bundle::event::{OrderRecord, StepOutcome, WrittenEvent};
use ktd_bundle::ledger::LedgerLine;
use ktd_env::exchange::{Account, Order, Quantity, Rules, Side, TargetWeight, TradingDay, step};
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{AsOf, DayIndex, DaysBack, Decimal, Market, NameId};
use ktd_episode::grid::{Grid, RunPlan};
use ktd_experiment::config::ExperimentConfig;
use ktd_kit::episode::run_grid;
use ktd_masking::{EpisodeFrame, Level, Mask, MaskKey, MaskSettings, Numeric, Payload};
use ktd_record::chain::{Log, LogEnd, NO_GENESIS};
use ktd_tools::{LastStep, LastStepKind, StepView, ToolContext, ToolLimits};
use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

/// Trading days of the window: the longest of the benchmark.
const WINDOW_DAYS: usize = 548;
const HELD: usize = 20;
const SWAPPED_A_DAY: usize = 2;
const ROUNDS: usize = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let rules = Rules::default();
    let market = generate(&SynthConfig::default())?;
    let first = market.calendar().len().saturating_sub(WINDOW_DAYS);
    let window: Vec<DayIndex> = (first..market.calendar().len())
        .filter_map(|place| market.day_at(place))
        .collect();
    let settings = MaskSettings {
        level: Level::Blinded,
        numeric: Numeric::Exact,
    };
    let frame = EpisodeFrame {
        market: &market,
        window: &window,
        initial_cash: rules.initial_cash,
    };
    let mask = Mask::new(settings, &MaskKey::from_bytes([7; 32]), &frame).ok_or("the window is empty")?;
    let recorder = Recorder {
        market: &market,
        rules,
        mask,
        limits: ToolLimits::default(),
    };
    let script = recorder.script(&window);
    let log = best_of(|| {
        let folder = tempfile::tempdir()?;
        let start = Instant::now();
        recorder.play(&window, &script, folder.path())?;
        Ok(start.elapsed())
    })?;
    tell("exchange and event log, 4 orders a day", log);
    tell("episode of `momentum`, open-research, blinded", best_of(episode)?);
    Ok(())
}

fn best_of(mut round: impl FnMut() -> Result<Duration, Box<dyn Error>>) -> Result<Duration, Box<dyn Error>> {
    let mut best = Duration::MAX;
    for _ in 0..ROUNDS {
        best = best.min(round()?);
    }
    Ok(best)
}

#[expect(clippy::print_stdout, reason = "a bench tells its figures")]
#[expect(clippy::cast_precision_loss, reason = "a count of days")]
fn tell(what: &str, best: Duration) {
    let steps = WINDOW_DAYS as f64;
    println!(
        "{what}: {:.0} steps/s ({:.1} ms for {WINDOW_DAYS} steps, best of {ROUNDS})",
        steps / best.as_secs_f64(),
        best.as_secs_f64() * 1e3
    );
}

/// Runs the built-in agent as `ktd run` does, in a folder of its own.
fn episode() -> Result<Duration, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let text = format!(
        r#"
        name = "bench"
        agents = [{{ id = "momentum", builtin = "momentum" }}]
        windows = [{{ id = "last", last_days = {WINDOW_DAYS} }}]
        masks = [{{ level = "blinded" }}]
        modes = ["open-research"]
        "#
    );
    let plan = RunPlan {
        config: ExperimentConfig::parse(&text)?,
        base: folder.path().to_owned(),
        output: folder.path().join("results"),
        program: Some(ktd_kit::this_program()),
    };
    let grid = Grid::open(plan)?;
    let start = Instant::now();
    for cell in run_grid(grid, 1) {
        cell.result?;
    }
    Ok(start.elapsed())
}

/// Writes what an episode writes, without the conversation.
struct Recorder<'m> {
    market: &'m Market,
    rules: Rules,
    mask: Mask,
    limits: ToolLimits,
}

impl Recorder<'_> {
    /// The orders of each day, decided beforehand by playing the window once.
    fn script(&self, window: &[DayIndex]) -> Vec<Vec<Order>> {
        let mut account = Account::with_cash(self.rules.initial_cash);
        let mut batches = Vec::with_capacity(window.len());
        for (place, quotes) in window
            .iter()
            .filter_map(|day| TradingDay::new(self.market, *day))
            .enumerate()
        {
            let orders = orders_of(&account, &quotes.as_of(), place * SWAPPED_A_DAY);
            let Ok((after, _)) = step(&self.rules, account, &orders, &quotes) else {
                break;
            };
            account = after;
            batches.push(orders);
        }
        batches
    }

    fn play(&self, window: &[DayIndex], script: &[Vec<Order>], folder: &Path) -> Result<(), Box<dyn Error>> {
        let nothing = LogEnd::default();
        let new = (&nothing, &nothing);
        let mut events = Log::continue_at(&folder.join("events.jsonl"), new, NO_GENESIS)?;
        let mut ledger = Log::continue_at(&folder.join("ledger.jsonl"), new, NO_GENESIS)?;
        let mut account = Account::with_cash(self.rules.initial_cash);
        for (place, (day, orders)) in window.iter().zip(script).enumerate() {
            let quotes = TradingDay::new(self.market, *day).ok_or("no day before the window")?;
            let (number, as_of) = (place + 1, quotes.as_of());
            events.append(&WrittenEvent::StepBegin {
                step: number,
                day: self.mask.step_day(number),
                as_of: as_of
                    .past_day(DaysBack(0))
                    .map_or_else(Payload::null, |past| self.mask.day(past)),
            })?;
            events.append(&WrittenEvent::Decision {
                step: number,
                outcome: StepOutcome::Submitted,
                orders: orders.iter().map(|order| self.order_record(order)).collect(),
                overall_reason: Some("a reason of the usual length for the whole batch".to_owned()),
                is_repaired: false,
            })?;
            let nav_before = account.nav;
            let (after, report) = step(&self.rules, account, orders, &quotes)?;
            account = after;
            let last_step = LastStep {
                step: number,
                kind: LastStepKind::Orders,
                nav_before,
                report,
            };
            self.close(*day, &account, &last_step, (&mut events, &mut ledger))?;
        }
        Ok(())
    }

    fn close(
        &self,
        day: DayIndex,
        account: &Account,
        last_step: &LastStep,
        (events, ledger): (&mut Log, &mut Log),
    ) -> Result<(), Box<dyn Error>> {
        let (number, report) = (last_step.step, &last_step.report);
        let date = self
            .market
            .date(day)
            .map(ktd_env::TradeDate::reveal)
            .unwrap_or_default();
        let line = LedgerLine::of(self.market, number, date, StepOutcome::Submitted, account, report);
        let raw = ledger.append(&line)?;
        let context = ToolContext {
            as_of: &self.market.as_of(day),
            account,
            mask: &self.mask,
            rules: &self.rules,
            limits: &self.limits,
            last_step: Some(last_step),
            step: number,
        };
        events.append(&WrittenEvent::Fills {
            step: number,
            fills: StepView::Market(&context).last_step(),
        })?;
        events.append(&WrittenEvent::StepEnd {
            step: number,
            mark: None,
            holdings: StepView::Market(&context).account(),
            ledger: ktd_io::sha256::sha256_hex(raw.as_bytes()),
        })?;
        Ok(())
    }

    fn order_record(&self, order: &Order) -> OrderRecord {
        let shown = order
            .name
            .and_then(|name| serde_json::to_value(self.mask.asset(name)).ok());
        OrderRecord {
            stock_id: shown
                .and_then(|shown| shown.as_str().map(str::to_owned))
                .unwrap_or_default(),
            side: order.side.label().to_owned(),
            target_weight_millionths: match order.quantity {
                Quantity::TargetWeight(weight) => Some(weight.millionths()),
                Quantity::Shares(_) => None,
            },
            shares: None,
            confidence: 0.5,
            reason: "a reason of the usual length".to_owned(),
        }
    }
}

/// Sells two holdings whole and buys members until twenty names are held, each time other ones.
fn orders_of(account: &Account, as_of: &AsOf<'_>, turn: usize) -> Vec<Order> {
    let order = |name: NameId, side: Side, target: &str| {
        let weight = TargetWeight::new(Decimal::parse(target).ok()?)?;
        Some(Order {
            name: Some(name),
            side,
            quantity: Quantity::TargetWeight(weight),
        })
    };
    let held: Vec<NameId> = account.holdings.iter().map(|holding| holding.name).collect();
    let sold = held
        .iter()
        .copied()
        .cycle()
        .skip(turn)
        .take(SWAPPED_A_DAY.min(held.len()));
    let room = HELD.saturating_sub(held.len().saturating_sub(SWAPPED_A_DAY));
    let is_cheap = |name: &NameId| as_of.last_bar(*name).is_some_and(|(_, bar)| bar.close.0 < 40_00);
    let others: Vec<NameId> = as_of
        .members()
        .filter(|name| !held.contains(name) && is_cheap(name))
        .collect();
    let bought = others
        .iter()
        .copied()
        .cycle()
        .skip(turn * 7)
        .take(room.min(others.len()));
    let sells = sold.filter_map(|name| order(name, Side::Sell, "0"));
    sells
        .chain(bought.filter_map(|name| order(name, Side::Buy, "0.048")))
        .collect()
}
