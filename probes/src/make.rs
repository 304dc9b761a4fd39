//! Makes probes: draws who and when, and lets the tools say what an agent would see.

use crate::exhibit::{Exhibit, Probe, ProbeMessage, RevealedStock};
use crate::gold::{Gold, Target};
use crate::kind::ProbeKind;
use crate::plan::{Aid, ProbePlan};
use ktd_env::exchange::{
    Account, LimitState, Order, PriceLimits, Quantity, Rules, Side, TargetWeight, TradingDay, step,
};
use ktd_env::factors::Factor;
use ktd_env::{AsOf, Board, DayIndex, DaysBack, Decimal, FactorTable, KeyedStream, Market, NameId};
use ktd_masking::{EpisodeFrame, Level, Mask, MaskKey, MaskSettings, Mode, Numeric};
use ktd_tools::{LastStep, LastStepKind, Tool, ToolContext, ToolLimits, Toolbox, state};

/// Bars that a probe of one step asks for.
const DAY_LOOKBACK: u32 = 60;
/// Bars that a probe of more steps asks for at each.
const STEP_LOOKBACK: u32 = 10;
/// Names that an episode's account holds besides the target.
const COMPANIONS: usize = 9;
/// Draws of a day before a stratum counts as empty.
const TRIES: usize = 8;

/// Maker of the probes of one plan. Each hangs on the plan and its own number alone, so any thread may make any of them.
#[derive(Debug)]
pub struct ProbeMaker<'a> {
    /// The panel.
    pub market: &'a Market,
    /// Its factors over every day of the plan's stretches.
    pub factors: &'a FactorTable,
    /// The tools.
    pub toolbox: &'a Toolbox,
    /// The exchange's rules, by which an episode's account is run.
    pub rules: &'a Rules,
    /// The tools' limits.
    pub limits: &'a ToolLimits,
    /// What to make.
    pub plan: &'a ProbePlan,
}

/// Where an exhibit lies: an episode, the steps shown, and the target.
#[derive(Debug, Clone, Copy)]
struct Scene {
    stretch: usize,
    /// Place of the episode's first trading day.
    first: usize,
    /// 1-based first and last step shown.
    shown: (usize, usize),
    name: NameId,
}

impl ProbeMaker<'_> {
    /// The probe of a kind with this number, and what is behind it. `None` when the plan's stretches hold no member to
    /// ask about.
    #[must_use]
    pub fn make(&self, kind: ProbeKind, number: usize) -> Option<(Probe, Gold)> {
        let purpose = purpose(kind, number);
        // Key and seed: who knows the seed alone, which is published, must not know who and when.
        let mut stream = self.plan.key.stream(self.plan.seed, &purpose);
        let first = self.scene(kind, number, &mut stream)?;
        let mut scenes = vec![first];
        if kind == ProbeKind::Linked {
            scenes.push(self.other_scene(kind, &first, &mut stream)?);
        }
        let mut exhibits = Vec::with_capacity(scenes.len());
        for (place, scene) in scenes.iter().enumerate() {
            let key = self.plan.key.derive(&format!("{purpose} exhibit {place}"));
            exhibits.push(self.exhibit(kind, scene, &key, &mut stream)?);
        }
        let targets = scenes
            .iter()
            .map(|scene| self.target(scene))
            .collect::<Option<_>>()?;
        let probe = Probe {
            number,
            kind,
            exhibits,
        };
        let gold = Gold {
            stretch: first.stretch,
            targets,
        };
        Some((probe, gold))
    }

    fn target(&self, scene: &Scene) -> Option<Target> {
        Some(Target {
            name: scene.name,
            day: self.as_of_day(scene.first, scene.shown.1)?,
            board: self.market.board(scene.name),
            sector: self.market.name(scene.name).and_then(|info| info.sector),
        })
    }

    /// The as-of day of a step of the episode that begins at `first`.
    fn as_of_day(&self, first: usize, step: usize) -> Option<DayIndex> {
        self.market.day_at((first + step).checked_sub(2)?)
    }

    /// A scene of the stratum of this number, or of the next one that has a member to ask about.
    fn scene(&self, kind: ProbeKind, number: usize, stream: &mut KeyedStream) -> Option<Scene> {
        let strata = self.plan.stretches.len() * Board::ALL.len();
        let own = self.stratum(kind, number, strata)?;
        (0..strata).find_map(|ahead| {
            let stratum = (own + ahead) % strata;
            let board = *Board::ALL.get(stratum % Board::ALL.len())?;
            let stretch = stratum / Board::ALL.len();
            (0..TRIES).find_map(|_| {
                let (first, shown) = self.episode(kind, stretch, stream)?;
                let asked = self.askable(first, shown, board);
                let name = *asked.get(draw(stream, asked.len())?)?;
                Some(Scene {
                    stretch,
                    first,
                    shown,
                    name,
                })
            })
        })
    }

    /// The stratum of a number: every one once in each round, in an order that hangs on the key, so that the number, which
    /// is published, tells nothing. `None` without strata.
    fn stratum(&self, kind: ProbeKind, number: usize, strata: usize) -> Option<usize> {
        let round = number.checked_div(strata)?;
        let mut order: Vec<usize> = (0..strata).collect();
        let purpose = format!("round {round} of {}", kind.label());
        self.plan.key.stream(self.plan.seed, &purpose).shuffle(&mut order);
        order.get(number % strata).copied()
    }

    /// The second scene of a linked probe, in another stretch where there is one: by a coin the same stock, where it can be
    /// asked about there, or another stock of its board.
    fn other_scene(&self, kind: ProbeKind, first: &Scene, stream: &mut KeyedStream) -> Option<Scene> {
        let board = self.market.board(first.name);
        let count = self.plan.stretches.len();
        let wants_same = stream.below(2) == 0;
        let ahead = 1 + draw(stream, count.saturating_sub(1)).unwrap_or(0);
        let stretches: Vec<usize> = (0..count)
            .map(|place| (first.stretch + ahead + place) % count)
            .collect();
        // A stock is not always a member elsewhere: then its own stretch will do, and at last another stock.
        for same in [wants_same, !wants_same] {
            for &stretch in &stretches {
                for _ in 0..TRIES {
                    let (start, shown) = self.episode(kind, stretch, stream)?;
                    let mut asked = self.askable(start, shown, board);
                    asked.retain(|name| (*name == first.name) == same);
                    if let Some(name) = draw(stream, asked.len()).and_then(|place| asked.get(place)) {
                        return Some(Scene {
                            stretch,
                            first: start,
                            shown,
                            name: *name,
                        });
                    }
                }
            }
        }
        None
    }

    /// An episode within a stretch and the steps of it that are shown.
    fn episode(
        &self,
        kind: ProbeKind,
        stretch: usize,
        stream: &mut KeyedStream,
    ) -> Option<(usize, (usize, usize))> {
        let days = self.plan.stretches.get(stretch)?;
        let steps = self.plan.episode_steps;
        let first = days.start + draw(stream, (days.len() + 1).checked_sub(steps)?)?;
        let count = match kind {
            ProbeKind::Day | ProbeKind::Anchored => 1,
            ProbeKind::Days | ProbeKind::Linked => self.plan.days,
            ProbeKind::Episode => steps,
        };
        let from = 1 + draw(stream, (steps + 1).checked_sub(count)?)?;
        Some((first, (from, from + count - 1)))
    }

    /// Members of a board on the first as-of day shown that traded on it and have a full set of factors.
    fn askable(&self, first: usize, shown: (usize, usize), board: Board) -> Vec<NameId> {
        let Some(day) = self.as_of_day(first, shown.0) else {
            return Vec::new();
        };
        let as_of = self.market.as_of(day).with_factors(self.factors);
        let traded = |name| as_of.bar(name, DaysBack(0)).is_some_and(|bar| 0 < bar.volume);
        as_of
            .members()
            .filter(|name| as_of.board(*name) == board && traded(*name))
            .filter(|name| {
                Factor::ALL
                    .iter()
                    .all(|factor| as_of.factor_z(*name, *factor).is_some())
            })
            .filter(|name| self.plan.aid != Aid::LimitDays || self.has_limit_day(&as_of, *name))
            .collect()
    }

    /// Whether a stock stood at a price limit, or did not trade, within the days that bars of one step span.
    fn has_limit_day(&self, as_of: &AsOf<'_>, name: NameId) -> bool {
        let is_limited = |day: AsOf<'_>| {
            let Some(bar) = day.bar(name, DaysBack(0)).filter(|bar| 0 < bar.volume) else {
                return true;
            };
            PriceLimits::of_last_bar(self.rules, &day, name)
                .is_some_and(|limits| limits.exact_state(bar.close) != LimitState::Inside)
        };
        (0..DAY_LOOKBACK - 1)
            .filter_map(|back| as_of.past(DaysBack(back)))
            .any(is_limited)
    }

    fn mask(&self, settings: MaskSettings, key: &MaskKey, first: usize) -> Option<Mask> {
        let window: Vec<DayIndex> = (first..first + self.plan.episode_steps)
            .filter_map(|place| self.market.day_at(place))
            .collect();
        let frame = EpisodeFrame {
            market: self.market,
            window: &window,
            initial_cash: self.rules.initial_cash,
        };
        let mask = Mask::new(settings, key, &frame)?;
        Some(if self.plan.aid == Aid::BandsUnmoved {
            mask.with_bands_unmoved()
        } else {
            mask
        })
    }

    fn exhibit(
        &self,
        kind: ProbeKind,
        scene: &Scene,
        key: &MaskKey,
        stream: &mut KeyedStream,
    ) -> Option<Exhibit> {
        let mask = self.mask(self.plan.mask, key, scene.first)?;
        let given = match kind {
            ProbeKind::Anchored => self.given_away(scene, &mask, key, stream),
            ProbeKind::Day | ProbeKind::Days | ProbeKind::Episode | ProbeKind::Linked => None,
        };
        let mut tools = EpisodeTools {
            maker: self,
            mask: &mask,
            account: Account::with_cash(self.rules.initial_cash),
            last_step: None,
        };
        let mut steps = Vec::new();
        let lookback = if scene.shown.0 == scene.shown.1 {
            DAY_LOOKBACK
        } else {
            STEP_LOOKBACK
        };
        for number in scene.shown.0..=scene.shown.1 {
            let tilt = Factor::ALL.get(draw(stream, Factor::ALL.len())?)?;
            let ask = Ask {
                shows_state: kind == ProbeKind::Episode,
                tilt: *tilt,
                lookback,
                target: scene.name,
                other: given.as_ref().map(|(name, _)| *name),
            };
            steps.push(tools.show(scene.first, number, &ask)?);
            if kind == ProbeKind::Episode {
                tools.trade(scene, number, stream)?;
            }
        }
        Some(Exhibit {
            target: mask.asset(scene.name),
            anchor: given.map(|(_, anchor)| anchor),
            steps,
        })
    }

    /// Another member of the day, with its code as the bright mask of the same episode shows it.
    fn given_away(
        &self,
        scene: &Scene,
        mask: &Mask,
        key: &MaskKey,
        stream: &mut KeyedStream,
    ) -> Option<(NameId, RevealedStock)> {
        let bright = MaskSettings {
            level: Level::Bright,
            numeric: Numeric::Exact,
        };
        let bright = self.mask(bright, key, scene.first)?;
        let day = self.as_of_day(scene.first, scene.shown.0)?;
        let others: Vec<NameId> = self
            .market
            .as_of(day)
            .members()
            .filter(|name| *name != scene.name)
            .collect();
        let name = *others.get(draw(stream, others.len())?)?;
        let anchor = RevealedStock {
            alias: mask.asset(name),
            code: bright.asset(name),
        };
        Some((name, anchor))
    }
}

/// What is asked at one step.
struct Ask {
    shows_state: bool,
    tilt: Factor,
    lookback: u32,
    target: NameId,
    other: Option<NameId>,
}

/// Tools and account of one episode.
struct EpisodeTools<'a> {
    maker: &'a ProbeMaker<'a>,
    mask: &'a Mask,
    account: Account,
    last_step: Option<LastStep>,
}

impl EpisodeTools<'_> {
    fn show(&self, first: usize, number: usize, ask: &Ask) -> Option<Vec<ProbeMessage>> {
        let maker = self.maker;
        let day = maker.as_of_day(first, number)?;
        let as_of: AsOf<'_> = maker.market.as_of(day).with_factors(maker.factors);
        let context = ToolContext {
            as_of: &as_of,
            account: &self.account,
            mask: self.mask,
            rules: maker.rules,
            limits: maker.limits,
            last_step: self.last_step.as_ref(),
            step: number,
            steps_total: maker.plan.episode_steps,
        };
        let call = |tool: Tool, arguments: &str| ProbeMessage {
            source: tool.name(),
            payload: maker.toolbox.call(&context, tool.name(), arguments).payload,
        };
        let snapshot = |name: NameId| {
            let id = self.mask.asset(name).to_inline();
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
                payload: state::state(&context, Mode::OpenResearch),
            });
        }
        messages.push(call(Tool::GetMarketContext, "{}"));
        messages.push(call(Tool::ScreenCandidates, &screen));
        messages.push(snapshot(ask.target));
        messages.extend(ask.other.map(snapshot));
        Some(messages)
    }

    /// At the first step the account buys the target and some others, then it holds: what state and last step tell of
    /// a holding is part of an episode.
    fn trade(&mut self, scene: &Scene, number: usize, stream: &mut KeyedStream) -> Option<()> {
        let market = self.maker.market;
        let day = TradingDay::new(market, market.day_at(scene.first + number - 1)?)?;
        let orders = if number == 1 {
            let mut others: Vec<NameId> = day.as_of().members().filter(|name| *name != scene.name).collect();
            stream.shuffle(&mut others);
            others.truncate(COMPANIONS);
            others.push(scene.name);
            others.into_iter().map(buy).collect::<Option<Vec<Order>>>()?
        } else {
            Vec::new()
        };
        let nav_before = self.account.nav;
        let kind = if orders.is_empty() {
            LastStepKind::Hold
        } else {
            LastStepKind::Orders
        };
        let account = std::mem::replace(
            &mut self.account,
            Account::with_cash(self.maker.rules.initial_cash),
        );
        let (after, report) = step(self.maker.rules, account, &orders, &day);
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

/// What a probe's draws and keys are for.
pub(crate) fn purpose(kind: ProbeKind, number: usize) -> String {
    format!("probe {} {number}", kind.label())
}

/// The source of what opens a step.
pub(crate) const STATE: &str = "state";

fn buy(name: NameId) -> Option<Order> {
    let weight = TargetWeight::new(Decimal::parse("0.08").ok()?)?;
    Some(Order {
        name: Some(name),
        side: Side::Buy,
        quantity: Quantity::TargetWeight(weight),
    })
}

fn draw(stream: &mut KeyedStream, bound: usize) -> Option<usize> {
    if bound == 0 {
        return None;
    }
    usize::try_from(stream.below(u64::try_from(bound).ok()?)).ok()
}
