//! The whole episode of an asking agent, as it sees it: every answer to every call, and what its orders bring.

use crate::asked_calls::{AskedStep, COUNTED_A_CALL};
use crate::episode_tools::EpisodeTools;
use crate::exhibit::{Exhibit, Probe, ProbeMessage, RevealedStock};
use crate::gold::{Gold, Target};
use crate::kind::ProbeKind;
use crate::make::{STATE, draw};
use crate::plan::given_away_of;
use crate::probe_maker::ProbeMaker;
use ktd_env::exchange::Order;
use ktd_env::factors::Factor;
use ktd_env::{AsOf, DayIndex, DaysBack, KeyedStream, NameId};
use ktd_masking::{Level, Mask, MaskKey, MaskSettings, Mode, Numeric, Payload};
use ktd_tools::banded::BookOrder;
use ktd_tools::{ParsedAction, SUBMIT_ACTION};

/// Where an asking agent's exhibit lies.
#[derive(Debug, Clone)]
struct AskedScene {
    /// Place of the episode's first trading day.
    first: usize,
    steps: usize,
    name: NameId,
    /// Stocks that are given away.
    known: Vec<NameId>,
    /// Whether the agent buys the target.
    holds_target: bool,
}

impl ProbeMaker<'_> {
    pub(crate) fn asked(
        &self,
        kind: ProbeKind,
        number: usize,
        purpose: &str,
        stream: &mut KeyedStream,
    ) -> Option<(Probe, Gold)> {
        let scene = self.asked_scene((kind, number), stream)?;
        let key = self.plan.key.derive(&format!("{purpose} exhibit 0"));
        let exhibit = self.asked_exhibit(kind, &scene, &key)?;
        let day = self.as_of_day(scene.first, scene.steps)?;
        let holds = |days: &crate::stretch::Stretch| days.contains(&scene.first);
        let gold = Gold {
            stretch: self.plan.stretches.iter().position(holds).unwrap_or(0),
            targets: vec![Target {
                name: scene.name,
                day,
                board: self.market.board(scene.name),
                sector: self.market.name(scene.name).and_then(|info| info.sector),
            }],
        };
        let probe = Probe {
            number,
            kind,
            exhibits: vec![exhibit],
        };
        Some((probe, gold))
    }

    /// A target that is a member on the first and on the last as-of day, and other members that are given away.
    fn asked_scene(
        &self,
        (kind, number): (ProbeKind, usize),
        stream: &mut KeyedStream,
    ) -> Option<AskedScene> {
        let plan = self.plan;
        let (first, steps) = plan.design(self.market.calendar().len()).draw(stream)?;
        let mut names = self.stayers(first, steps);
        stream.shuffle(&mut names);
        let count = match kind {
            ProbeKind::AskedKnown => given_away_of(&plan.given_away, number),
            ProbeKind::Day
            | ProbeKind::Days
            | ProbeKind::Episode
            | ProbeKind::Linked
            | ProbeKind::Anchored
            | ProbeKind::Asked
            | ProbeKind::AskedDated => 0,
        };
        let mut names = names.into_iter();
        Some(AskedScene {
            first,
            steps,
            name: names.next()?,
            known: names.take(count).collect(),
            holds_target: draw(stream, 2)? == 0,
        })
    }

    /// Members of the first and of the last as-of day that traded on the first and have a full set of factors there.
    fn stayers(&self, first: usize, steps: usize) -> Vec<NameId> {
        let (Some(from), Some(to)) = (self.as_of_day(first, 1), self.as_of_day(first, steps)) else {
            return Vec::new();
        };
        let (from, to) = (
            self.market.as_of(from).with_factors(self.factors),
            self.market.as_of(to),
        );
        let last: Vec<NameId> = to.members().collect();
        let is_whole = |name: &NameId| {
            let known = |factor: &Factor| from.factor_z(*name, *factor).is_some();
            from.bar(*name, DaysBack(0)).is_some_and(|bar| 0 < bar.volume) && Factor::ALL.iter().all(known)
        };
        from.members()
            .filter(|name| last.contains(name))
            .filter(is_whole)
            .collect()
    }

    fn asked_exhibit(&self, kind: ProbeKind, scene: &AskedScene, key: &MaskKey) -> Option<Exhibit> {
        let mask = self.mask(self.plan.mask, key, scene.first, scene.steps)?;
        let mut tools = EpisodeTools::new(self, &mask);
        tools.open_step(scene.first, 1)?;
        let target = tools.id(scene.name)?;
        let shown = scene.known.iter().map(|name| tools.id(*name));
        let shown: Vec<Payload> = shown.collect::<Option<_>>()?;
        let mut asker = Asker {
            target: target.to_inline(),
            known: shown.iter().map(Payload::to_inline).collect(),
            holds_target: scene.holds_target,
            ids: Vec::new(),
            tried: Vec::new(),
        };
        let mut steps = Vec::with_capacity(scene.steps);
        for number in 1..=scene.steps {
            tools.open_step(scene.first, number)?;
            steps.push(asker.play(&mut tools, scene.first, number)?);
        }
        let bright = self.bright(key, scene)?;
        let mut revealed = scene.known.iter().zip(shown).map(|(name, alias)| RevealedStock {
            alias,
            code: bright.asset(*name),
        });
        let day = self.as_of_day(scene.first, scene.steps)?;
        let past = self.market.as_of(day).past_day(DaysBack(0))?;
        Some(Exhibit {
            target,
            anchor: revealed.next(),
            others: revealed.collect(),
            given_day: (kind == ProbeKind::AskedDated).then(|| bright.day(past)),
            steps,
        })
    }

    /// The bright mask of the same episode.
    fn bright(&self, key: &MaskKey, scene: &AskedScene) -> Option<Mask> {
        let bright = MaskSettings {
            level: Level::Bright,
            numeric: Numeric::Exact,
        };
        self.mask(bright, key, scene.first, scene.steps)
    }
}

/// The agent: what it keeps from step to step. It has seen nothing but answers.
struct Asker {
    target: String,
    known: Vec<String>,
    holds_target: bool,
    ids: Vec<String>,
    tried: Vec<String>,
}

impl Asker {
    /// The messages of a step, after which its orders are executed.
    fn play(
        &mut self,
        tools: &mut EpisodeTools<'_>,
        first: usize,
        number: usize,
    ) -> Option<Vec<ProbeMessage>> {
        self.list(tools, first, number)?;
        let step = AskedStep {
            limits: tools.maker.limits,
            step: number,
            target: &self.target,
            known: &self.known,
            ids: &self.ids,
            tried: &self.tried,
        };
        let submission = step.submission(self.holds_target);
        let toolbox = tools.maker.toolbox;
        let (messages, action) = tools.view(first, number, |view| {
            let mut messages = vec![ProbeMessage {
                source: STATE,
                payload: view.state(Mode::OpenResearch),
            }];
            messages.extend(step.calls().into_iter().map(|(tool, arguments)| ProbeMessage {
                source: tool.name(),
                payload: toolbox.call(view, tool.name(), &arguments).payload,
            }));
            let action = submission.and_then(|text| toolbox.parse_submission(view, &text).ok());
            let broken = action.as_ref().and_then(|action| view.broken_rules(action));
            messages.extend(broken.map(|broken| ProbeMessage {
                source: SUBMIT_ACTION,
                payload: broken.feedback,
            }));
            (messages, action)
        })?;
        let submitted = action.as_ref().map(orders);
        tools.execute(first, number, submitted)?;
        Some(messages)
    }

    /// The ids of the period, and those that may name nobody: every alias that there could be at the first step, and then
    /// the neighbours of what is shown.
    fn list(&mut self, tools: &EpisodeTools<'_>, first: usize, number: usize) -> Option<()> {
        let shown = tools.ids(first, number)?;
        if shown == self.ids {
            return Some(());
        }
        self.tried = match shown.iter().map(|id| number_of(id)).collect::<Option<Vec<_>>>() {
            Some(numbers) => tried(&numbers, tools.aliases(), number == 1),
            None => Vec::new(),
        };
        self.ids = shown;
        Some(())
    }
}

/// The number of an alias; `None` of a code.
fn number_of(id: &str) -> Option<usize> {
    id.strip_prefix("asset_")?.parse().ok()
}

/// Ids to try where those of these numbers are shown.
fn tried(numbers: &[usize], aliases: Option<usize>, is_first: bool) -> Vec<String> {
    let text = |number: usize| format!("asset_{number:04}");
    match aliases {
        Some(all) if is_first => (1..=all).map(text).collect(),
        Some(_) => Vec::new(),
        None => {
            let least = numbers.iter().min().copied().unwrap_or(1);
            let most = numbers.iter().max().copied().unwrap_or(1);
            let below = least.saturating_sub(10)..least;
            let counted = least..most + 1;
            below
                .filter(|number| 0 < *number)
                .chain(counted.take(COUNTED_A_CALL / 5))
                .chain(most + 1..=most + 10)
                .map(text)
                .collect()
        }
    }
}

/// What a submission asks the exchange, or the book.
fn orders(action: &ParsedAction) -> (Vec<BookOrder>, Vec<Order>) {
    (
        BookOrder::of(&action.orders),
        action.orders.iter().map(|parsed| parsed.order).collect(),
    )
}

impl EpisodeTools<'_> {
    /// Ids that the period shows, sorted: what screens with bounds list.
    fn ids(&self, first: usize, number: usize) -> Option<Vec<String>> {
        let mut ids: Vec<String> = if let Some(banded) = &self.banded {
            let stocks = banded.roster.stocks().iter();
            stocks.map(|stock| stock.id().to_owned()).collect()
        } else {
            let day: DayIndex = self.maker.as_of_day(first, number)?;
            let as_of: AsOf<'_> = self.maker.market.as_of(day);
            let members = as_of.members().map(|name| self.mask.asset(name).to_inline());
            members.collect()
        };
        ids.sort_unstable();
        Some(ids)
    }

    /// How many aliases there are; `None` where a roster gives ids.
    fn aliases(&self) -> Option<usize> {
        self.banded.is_none().then(|| self.maker.market.names().count())
    }
}
