//! Tools and account of one episode, as an agent has them.

use crate::exhibit::ProbeMessage;
use crate::probe_maker::{ProbeMaker, Scene};
use crate::step_text::STATE;
use ktd_env::exchange::{Account, Order, Quantity, Side, TargetWeight, TradingDay, step};
use ktd_env::factors::Factor;
use ktd_env::{AsOf, DaysBack, Decimal, KeyedStream, NameId};
use ktd_masking::{Mask, Mode, Payload, ShownStock};
use ktd_tools::banded::{BandedState, BookOrder};
use ktd_tools::{LastStep, LastStepKind, StepView, Tool, ToolContext};

/// Names that an episode's account holds besides the target.
const COMPANIONS: usize = 9;

/// What is asked at one step.
pub(crate) struct Ask {
    pub(crate) shows_state: bool,
    pub(crate) tilt: Factor,
    pub(crate) lookback: u32,
    pub(crate) target: Payload,
    pub(crate) other: Option<Payload>,
}

/// Tools and account of one episode.
pub(crate) struct EpisodeTools<'a> {
    pub(crate) maker: &'a ProbeMaker<'a>,
    pub(crate) mask: &'a Mask,
    account: Account,
    last_step: Option<LastStep>,
    /// Roster and book, where factors are told in bands.
    pub(crate) banded: Option<BandedState>,
}

impl<'a> EpisodeTools<'a> {
    /// The tools of an episode before its first step.
    pub(crate) fn new(maker: &'a ProbeMaker<'a>, mask: &'a Mask) -> Self {
        Self {
            maker,
            mask,
            account: Account::with_cash(maker.rules.initial_cash),
            last_step: None,
            banded: None,
        }
    }

    /// Renews the roster where one is due.
    pub(crate) fn open_step(&mut self, first: usize, number: usize) -> Option<()> {
        let maker = self.maker;
        let day = maker.as_of_day(first, number)?;
        let as_of = maker.market.as_of(day).with_factors(maker.factors);
        self.banded = BandedState::at(self.banded.take(), self.mask, &as_of);
        Some(())
    }

    /// A name's id at this step; `None` where the roster leaves it out.
    pub(crate) fn id(&self, name: NameId) -> Option<Payload> {
        let Some(banded) = &self.banded else {
            return Some(self.mask.asset(name));
        };
        let mut stocks = banded.roster.stocks().iter();
        stocks.find(|stock| stock.name() == name).map(ShownStock::payload)
    }

    pub(crate) fn show(&self, first: usize, number: usize, ask: &Ask) -> Option<Vec<ProbeMessage>> {
        self.view(first, number, |view| self.ask(view, ask))
    }

    /// Calls with the view of a step.
    pub(crate) fn view<R>(
        &self,
        first: usize,
        number: usize,
        call: impl FnOnce(StepView<'_>) -> R,
    ) -> Option<R> {
        let maker = self.maker;
        let day = maker.as_of_day(first, number)?;
        let as_of: AsOf<'_> = maker.market.as_of(day).with_factors(maker.factors);
        if let Some(banded) = &self.banded {
            let as_of_day = as_of
                .past_day(DaysBack(0))
                .map_or_else(Payload::null, |past| self.mask.day(past));
            let last = self.last_step.as_ref().map(|last| last.kind);
            let shared = (self.mask, maker.rules, maker.limits);
            let context = banded.context(number, shared, (&as_of_day, last));
            return Some(call(StepView::Roster(&context)));
        }
        let context = ToolContext {
            as_of: &as_of,
            account: &self.account,
            mask: self.mask,
            rules: maker.rules,
            limits: maker.limits,
            last_step: self.last_step.as_ref(),
            step: number,
        };
        Some(call(StepView::Market(&context)))
    }

    pub(crate) fn ask(&self, view: StepView<'_>, ask: &Ask) -> Vec<ProbeMessage> {
        let maker = self.maker;
        let call = |tool: Tool, arguments: &str| ProbeMessage {
            source: tool.name(),
            payload: maker.toolbox.call(view, tool.name(), arguments).payload,
        };
        let snapshot = |id: &Payload| {
            let id = id.to_inline();
            let arguments = format!(r#"{{"stock_id":"{id}","lookback":{}}}"#, ask.lookback);
            call(Tool::GetStockSnapshot, &arguments)
        };
        let screen = format!(
            r#"{{"factors":[{{"factor":"{}","direction":"high"}}],"top_k":{}}}"#,
            ask.tilt.name(),
            maker.limits.max_candidates
        );
        let mut messages = Vec::new();
        if ask.shows_state {
            messages.push(ProbeMessage {
                source: STATE,
                payload: view.state(Mode::OpenResearch),
            });
        }
        messages.push(call(Tool::GetMarketContext, "{}"));
        messages.push(call(Tool::ScreenCandidates, &screen));
        messages.push(snapshot(&ask.target));
        messages.extend(ask.other.as_ref().map(snapshot));
        messages
    }

    /// At the first step the account buys the target and some others, then it holds: what state and last step tell of
    /// a holding is part of an episode.
    pub(crate) fn trade(&mut self, scene: &Scene, number: usize, stream: &mut KeyedStream) -> Option<()> {
        let market = self.maker.market;
        let day = TradingDay::new(market, market.day_at(scene.first + number - 1)?)?;
        let names = if number == 1 {
            let mut others: Vec<NameId> = match &self.banded {
                Some(banded) => banded.roster.stocks().iter().map(ShownStock::name).collect(),
                None => day.as_of().members().collect(),
            };
            others.retain(|name| *name != scene.name);
            stream.shuffle(&mut others);
            others.truncate(COMPANIONS);
            others.push(scene.name);
            others
        } else {
            Vec::new()
        };
        if names.is_empty() {
            return self.execute(scene.first, number, None);
        }
        let weight = TargetWeight::new(Decimal::parse("0.08").ok()?)?;
        let submitted = self.banded.as_ref().map(|banded| {
            let stocks = banded.roster.stocks().iter();
            let chosen = stocks.filter(|stock| names.contains(&stock.name()));
            let order = |stock: &ShownStock| BookOrder {
                id: stock.id().to_owned(),
                side: Side::Buy,
                target: weight,
            };
            chosen.map(order).collect()
        });
        let orders = names.into_iter().map(|name| buy(name, weight)).collect();
        let submitted = (submitted.unwrap_or_default(), orders);
        self.execute(scene.first, number, Some(submitted))
    }

    /// Executes the orders of a step at its open: those of the book where there is one, else those of the exchange.
    pub(crate) fn execute(
        &mut self,
        first: usize,
        number: usize,
        submitted: Option<(Vec<BookOrder>, Vec<Order>)>,
    ) -> Option<()> {
        let maker = self.maker;
        let day = TradingDay::new(maker.market, maker.market.day_at(first + number - 1)?)?;
        let kind = if submitted.is_none() {
            LastStepKind::Hold
        } else {
            LastStepKind::Orders
        };
        let (of_book, of_exchange) = submitted.unwrap_or_default();
        let orders = match &mut self.banded {
            Some(banded) => {
                let last = self.last_step.as_ref().map(|last| &last.report);
                banded.orders(of_book, (maker.rules, &self.account, &day.as_of()), last)
            }
            None => of_exchange,
        };
        let nav_before = self.account.nav;
        let (after, report) = step(maker.rules, self.account.clone(), &orders, &day).ok()?;
        self.account = after;
        self.last_step = Some(LastStep {
            step: number,
            kind,
            nav_before,
            report,
        });
        Some(())
    }
}

const fn buy(name: NameId, weight: TargetWeight) -> Order {
    Order {
        name: Some(name),
        side: Side::Buy,
        quantity: Quantity::TargetWeight(weight),
    }
}
