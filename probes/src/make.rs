//! Makes probes: draws who and when, and lets the tools say what an agent would see.

use crate::episode_tools::{Ask, EpisodeTools};
use crate::exhibit::{Exhibit, Probe, RevealedStock};
use crate::gold::{Gold, Target};
use crate::kind::ProbeKind;
use crate::plan::Aid;
use crate::probe_maker::{ProbeMaker, Scene};
use ktd_env::exchange::{LimitState, PriceLimits};
use ktd_env::factors::Factor;
use ktd_env::{AsOf, Board, DayIndex, DaysBack, KeyedStream, NameId};
use ktd_masking::{EpisodeFrame, Level, Mask, MaskKey, MaskSettings, Numeric, Payload};

/// Bars that a probe of one step asks for.
const DAY_LOOKBACK: u32 = 60;
/// Bars that a probe of more steps asks for at each.
const STEP_LOOKBACK: u32 = 10;
/// Draws of a day before a stratum counts as empty.
const TRIES: usize = 8;
/// Draws of a stock before no roster is taken to show one.
const ROSTER_TRIES: usize = 16;

impl ProbeMaker<'_> {
    /// The probe of a kind with this number, and what is behind it. `None` when the plan's stretches hold no member to
    /// ask about.
    #[must_use]
    pub fn make(&self, kind: ProbeKind, number: usize) -> Option<(Probe, Gold)> {
        let purpose = purpose(kind, number);
        // Key and seed: who knows the seed alone, which is published, must not know who and when.
        let mut stream = self.plan.key.stream(self.plan.seed, &purpose);
        // Where a roster shows some of the members, a stock that it leaves out cannot be asked about: another is drawn. A board
        // of which no two stocks can be linked gives its turn to the next.
        (0..ROSTER_TRIES).find_map(|tried| {
            let turns = if kind == ProbeKind::Linked { tried } else { 0 };
            self.try_make((kind, number), turns, &purpose, &mut stream)
        })
    }

    fn try_make(
        &self,
        (kind, number): (ProbeKind, usize),
        turns: usize,
        purpose: &str,
        stream: &mut KeyedStream,
    ) -> Option<(Probe, Gold)> {
        if kind.is_asked() {
            return self.asked(kind, number, purpose, stream);
        }
        let first = self.scene((kind, number), turns, stream)?;
        let mut scenes = vec![first];
        if kind == ProbeKind::Linked {
            scenes.push(self.other_scene(kind, &first, stream)?);
        }
        let mut exhibits = Vec::with_capacity(scenes.len());
        for (place, scene) in scenes.iter().enumerate() {
            let key = self.plan.key.derive(&format!("{purpose} exhibit {place}"));
            exhibits.push(self.exhibit(kind, scene, &key, stream)?);
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

    /// A scene of the stratum so many turns after that of this number, or of the next one that has a member to ask about.
    fn scene(
        &self,
        (kind, number): (ProbeKind, usize),
        turns: usize,
        stream: &mut KeyedStream,
    ) -> Option<Scene> {
        let strata = self.plan.stretches.len() * Board::ALL.len();
        let own = self.stratum(kind, number, strata)? + turns;
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

    /// The second scene of a linked probe, in another stretch where there is one: by a coin the same stock, or another of its
    /// board. Both could be asked about on both days, so that neither the days nor how long a stock was a member tell which.
    fn other_scene(&self, kind: ProbeKind, first: &Scene, stream: &mut KeyedStream) -> Option<Scene> {
        let board = self.market.board(first.name);
        let count = self.plan.stretches.len();
        let is_same = stream.below(2) == 0;
        let ahead = 1 + draw(stream, count.saturating_sub(1)).unwrap_or(0);
        let of_first = self.askable(first.first, first.shown, board);
        for place in 0..count {
            let stretch = (first.stretch + ahead + place) % count;
            for _ in 0..TRIES {
                let (start, shown) = self.episode(kind, stretch, stream)?;
                let mut asked = self.askable(start, shown, board);
                asked.retain(|name| of_first.contains(name));
                if asked.len() < 2 || !asked.contains(&first.name) {
                    continue;
                }
                asked.retain(|name| *name != first.name);
                let other = *asked.get(draw(stream, asked.len())?)?;
                return Some(Scene {
                    stretch,
                    first: start,
                    shown,
                    name: if is_same { first.name } else { other },
                });
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
            ProbeKind::Episode | ProbeKind::Asked | ProbeKind::AskedKnown | ProbeKind::AskedDated => steps,
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

    pub(crate) fn mask(
        &self,
        settings: MaskSettings,
        key: &MaskKey,
        first: usize,
        steps: usize,
    ) -> Option<Mask> {
        let window: Vec<DayIndex> = (first..first + steps)
            .filter_map(|place| self.market.day_at(place))
            .collect();
        let frame = EpisodeFrame {
            market: self.market,
            window: &window,
            initial_cash: self.rules.initial_cash,
        };
        let mask = Mask::new(settings, key, &frame)?;
        Some(match self.plan.aid {
            Aid::None | Aid::LimitDays => mask,
            Aid::IdsKept => mask.with_ids_kept(),
            Aid::AllMembers => mask.with_all_members(),
        })
    }

    fn exhibit(
        &self,
        kind: ProbeKind,
        scene: &Scene,
        key: &MaskKey,
        stream: &mut KeyedStream,
    ) -> Option<Exhibit> {
        let mask = self.mask(self.plan.mask, key, scene.first, self.plan.episode_steps)?;
        let given = match kind {
            ProbeKind::Anchored => self.given_away(scene, key, stream),
            ProbeKind::Day
            | ProbeKind::Days
            | ProbeKind::Episode
            | ProbeKind::Linked
            | ProbeKind::Asked
            | ProbeKind::AskedKnown
            | ProbeKind::AskedDated => None,
        };
        let mut tools = EpisodeTools::new(self, &mask);
        let mut steps = Vec::new();
        let lookback = if scene.shown.0 == scene.shown.1 {
            DAY_LOOKBACK
        } else {
            STEP_LOOKBACK
        };
        let (mut target, mut anchor) = (None, None);
        for number in scene.shown.0..=scene.shown.1 {
            tools.open_step(scene.first, number)?;
            if target.is_none() {
                target = Some(tools.id(scene.name)?);
                anchor = match &given {
                    Some((name, code)) => Some((tools.id(*name)?, code.clone())),
                    None => None,
                };
            }
            let tilt = Factor::ALL.get(draw(stream, Factor::ALL.len())?)?;
            let ask = Ask {
                shows_state: kind == ProbeKind::Episode,
                tilt: *tilt,
                lookback,
                target: target.clone()?,
                other: anchor.as_ref().map(|(id, _)| id.clone()),
            };
            steps.push(tools.show(scene.first, number, &ask)?);
            if kind == ProbeKind::Episode {
                tools.trade(scene, number, stream)?;
            }
        }
        Some(Exhibit {
            target: target?,
            anchor: anchor.map(|(alias, code)| RevealedStock { alias, code }),
            others: Vec::new(),
            given_day: None,
            steps,
        })
    }

    /// Another member of the day, with its code as the bright mask of the same episode shows it.
    fn given_away(
        &self,
        scene: &Scene,
        key: &MaskKey,
        stream: &mut KeyedStream,
    ) -> Option<(NameId, Payload)> {
        let bright = MaskSettings {
            level: Level::Bright,
            numeric: Numeric::Exact,
        };
        let bright = self.mask(bright, key, scene.first, self.plan.episode_steps)?;
        let day = self.as_of_day(scene.first, scene.shown.0)?;
        let others: Vec<NameId> = self
            .market
            .as_of(day)
            .members()
            .filter(|name| *name != scene.name)
            .collect();
        let name = *others.get(draw(stream, others.len())?)?;
        Some((name, bright.asset(name)))
    }
}

/// What a probe's draws and keys are for.
pub(crate) fn purpose(kind: ProbeKind, number: usize) -> String {
    format!("probe {} {number}", kind.label())
}

/// The source of what opens a step.
pub(crate) const STATE: &str = "state";

pub(crate) fn draw(stream: &mut KeyedStream, bound: usize) -> Option<usize> {
    if bound == 0 {
        return None;
    }
    usize::try_from(stream.below(u64::try_from(bound).ok()?)).ok()
}
