//! Ordinary signals and signals with a planted leak, for the rates of the audit.

use ktd_leakage::{
    BarField, BarGrid, FeatureGrid, FillRule, KnownAt, LeakageSettings, SignalAuditor, SignalGrid,
    SignalVerdict, SuspicionRule, Switch,
};
use ktd_stats::SplitMix64;
use ktd_stats::moments::{count, mean};

/// What an audit of returns can see of a planted signal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum PlantedKind {
    /// It knows nothing too early: a suspicion is a false alarm.
    Ordinary,
    /// It leaks a direction, which shows.
    Leaking,
    /// It leaks a spread or a scale, which returns do not show.
    Invisible,
}

/// A signal whose leak is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlantedSignal {
    /// Its name.
    pub(crate) name: &'static str,
    /// When it is declared to be known.
    pub(crate) known_at: KnownAt,
    /// What can be seen of it.
    pub(crate) kind: PlantedKind,
    recipe: Recipe,
}

/// Values of a name on one session.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Value {
    /// An own feature of the schema, by place.
    Own(usize),
    /// One of those times -1.
    Minus(usize),
    /// The return of 60 sessions.
    Return60,
    /// Where the close lies between the lowest low and the highest high of 20 sessions.
    Position20,
    /// The mean of 20 nights.
    Nights,
    /// The mean of 20 sessions from open to close.
    Sessions,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Recipe {
    /// The value so many sessions ahead.
    Ahead(Value, usize),
    /// The close over the mean of 10 closes so many sessions ahead.
    MeanAhead(usize),
    /// Noise.
    Noise,
    /// Noise and a share of the next return, standardised.
    NoiseAndNext(f64),
    /// Noise, in a share of rows the next return.
    Poisoned(f64),
    /// The return of the session times -1, and a share of the next session's.
    ReversalAndNext(f64),
    /// The close, standardised over all sessions of its name.
    GlobalScale,
}

impl PlantedSignal {
    const fn new(name: &'static str, known_at: KnownAt, kind: PlantedKind, recipe: Recipe) -> Self {
        Self {
            name,
            known_at,
            kind,
            recipe,
        }
    }

    const fn ordinary(name: &'static str, value: Value) -> Self {
        Self::new(
            name,
            KnownAt::Close,
            PlantedKind::Ordinary,
            Recipe::Ahead(value, 0),
        )
    }

    const fn own_bar(name: &'static str, kind: PlantedKind, value: Value) -> Self {
        Self::new(name, KnownAt::Open, kind, Recipe::Ahead(value, 0))
    }

    const fn leaking(name: &'static str, recipe: Recipe) -> Self {
        Self::new(name, KnownAt::Close, PlantedKind::Leaking, recipe)
    }

    const fn invisible(name: &'static str, recipe: Recipe) -> Self {
        Self::new(name, KnownAt::Close, PlantedKind::Invisible, recipe)
    }
}

/// All planted signals: ordinary ones, leaks of a direction, and leaks that returns do not show.
pub(crate) const PLANTED_SIGNALS: [PlantedSignal; 44] = {
    use PlantedKind::{Invisible, Leaking, Ordinary};
    use Recipe::{Ahead, GlobalScale, MeanAhead, Noise, NoiseAndNext, Poisoned, ReversalAndNext};
    use Value::{Minus, Nights, Own, Position20, Return60, Sessions};
    [
        PlantedSignal::ordinary("reversal", Minus(0)),
        PlantedSignal::ordinary("momentum 5", Own(1)),
        PlantedSignal::ordinary("momentum 10", Own(2)),
        PlantedSignal::ordinary("momentum 20", Own(3)),
        PlantedSignal::ordinary("momentum 60", Return60),
        PlantedSignal::ordinary("volatility 20", Own(14)),
        PlantedSignal::ordinary("average 10", Own(10)),
        PlantedSignal::ordinary("average 60", Own(12)),
        PlantedSignal::ordinary("volume ratio", Own(17)),
        PlantedSignal::ordinary("range 5", Own(18)),
        PlantedSignal::ordinary("body", Own(5)),
        PlantedSignal::ordinary("gap", Own(4)),
        PlantedSignal::ordinary("highest 20", Own(19)),
        PlantedSignal::ordinary("lowest 20", Own(20)),
        PlantedSignal::ordinary("position 20", Position20),
        PlantedSignal::ordinary("upper shadow", Own(7)),
        PlantedSignal::ordinary("lower shadow", Own(8)),
        PlantedSignal::ordinary("nights", Nights),
        PlantedSignal::ordinary("sessions", Sessions),
        PlantedSignal::new("noise", KnownAt::Close, Ordinary, Noise),
        PlantedSignal::own_bar("own bar: reversal", Leaking, Minus(0)),
        PlantedSignal::own_bar("own bar: body", Leaking, Own(5)),
        PlantedSignal::own_bar("own bar: momentum 20", Leaking, Own(3)),
        PlantedSignal::own_bar("own bar: average 10", Leaking, Own(10)),
        PlantedSignal::own_bar("own bar: position 20", Leaking, Position20),
        PlantedSignal::leaking("average 10, one ahead", MeanAhead(1)),
        PlantedSignal::leaking("average 10, three ahead", MeanAhead(3)),
        PlantedSignal::leaking("momentum 20, a day early", Ahead(Own(3), 1)),
        PlantedSignal::leaking("momentum 60, a day early", Ahead(Return60, 1)),
        PlantedSignal::leaking("position 20, a day early", Ahead(Position20, 1)),
        PlantedSignal::leaking("gap, a day early", Ahead(Own(4), 1)),
        PlantedSignal::leaking("noise and .2 of the next return", NoiseAndNext(0.2)),
        PlantedSignal::leaking("noise and .5 of the next return", NoiseAndNext(0.5)),
        PlantedSignal::leaking("a tenth of rows with the next return", Poisoned(0.1)),
        PlantedSignal::leaking("reversal and .2 of the next close", ReversalAndNext(0.2)),
        PlantedSignal::leaking("label of 5 sessions", Ahead(Own(1), 5)),
        PlantedSignal::leaking("label of 10 sessions", Ahead(Own(2), 10)),
        PlantedSignal::leaking("label of 20 sessions", Ahead(Own(3), 20)),
        PlantedSignal::leaking("label of 60 sessions", Ahead(Return60, 60)),
        PlantedSignal::own_bar("own bar: volatility 20", Invisible, Own(14)),
        PlantedSignal::invisible("volatility 20, one ahead", Ahead(Own(14), 1)),
        PlantedSignal::invisible("volatility 20, three ahead", Ahead(Own(14), 3)),
        PlantedSignal::invisible("range 5, three ahead", Ahead(Own(18), 3)),
        PlantedSignal::invisible("level, scaled over all sessions", GlobalScale),
    ]
};

/// The audit of one planted signal.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PlantedAudit {
    /// The signal.
    pub(crate) signal: PlantedSignal,
    /// What the audit says of it.
    pub(crate) verdict: SignalVerdict,
}

/// Audits all planted signals on a panel; the seed draws noise and poisoned rows. Rates are counts over seeds and panels.
#[must_use]
pub(crate) fn audit_planted(bars: &BarGrid, seed: u64) -> Vec<PlantedAudit> {
    let auditor = SignalAuditor::new(bars, SuspicionRule::BENCHMARK);
    let workshop = Workshop::of(bars);
    let audit = |(place, signal): (u64, &PlantedSignal)| {
        let mut stream = SplitMix64::new(seed ^ SplitMix64::new(place).next_u64());
        let scores = workshop.scores(signal.recipe, &mut stream);
        let scores = SignalGrid::new(bars, &scores).ok()?;
        Some(PlantedAudit {
            signal: *signal,
            verdict: auditor.verdict(&scores, signal.known_at),
        })
    };
    (0..).zip(&PLANTED_SIGNALS).filter_map(audit).collect()
}

/// Features that compare the close with the mean of ten, the highest high and the lowest low of twenty sessions.
const MEAN_10: usize = 10;
const MAX_20: usize = 19;
const MIN_20: usize = 20;
/// Sessions at the beginning of a panel without a score: windows fill.
const WARM_UP: usize = 70;
/// Sessions at the end of a panel without a score: a leak has something ahead to read.
const WIND_DOWN: usize = 20;

/// A panel with the clean features of its names that values are made of.
struct Workshop<'a> {
    bars: &'a BarGrid,
    features: Vec<Vec<Vec<f64>>>,
}

impl<'a> Workshop<'a> {
    fn of(bars: &'a BarGrid) -> Self {
        let grid = FeatureGrid::new(bars, &LeakageSettings::BENCHMARK);
        let of_session = |session: usize| {
            let rows = grid.features(Switch::Clean, session).into_iter();
            rows.map(|row| row.to_vec()).collect()
        };
        Self {
            features: (0..bars.sessions()).map(of_session).collect(),
            bars,
        }
    }

    fn scores(&self, recipe: Recipe, stream: &mut SplitMix64) -> Vec<f64> {
        let (sessions, names) = (self.bars.sessions(), self.bars.names());
        let mut scores = vec![f64::NAN; sessions * names];
        let scales = (recipe == Recipe::GlobalScale).then(|| self.global_scales());
        let rows = scores.chunks_exact_mut(names).enumerate();
        for (session, row) in rows.take(sessions.saturating_sub(WIND_DOWN)).skip(WARM_UP) {
            let values = self.session_scores(recipe, session, scales.as_deref(), stream);
            for (score, value) in row.iter_mut().zip(values) {
                *score = value;
            }
        }
        scores
    }

    fn session_scores(
        &self,
        recipe: Recipe,
        session: usize,
        scales: Option<&[(f64, f64)]>,
        stream: &mut SplitMix64,
    ) -> Vec<f64> {
        let names = 0..self.bars.names();
        let close = |name| self.bars.value(BarField::Close, session, name);
        let all = |value: &dyn Fn(usize) -> f64| names.clone().map(value).collect::<Vec<f64>>();
        let next = || {
            standard(&all(&|name| {
                FillRule::NextOpen.trade_return(self.bars, session, name)
            }))
        };
        let mut noise = || -> Vec<f64> { names.clone().map(|_| stream.normal()).collect() };
        let sum = |left: &[f64], right: &[f64], share: f64| -> Vec<f64> {
            left.iter()
                .zip(right)
                .map(|(left, right)| left + share * right)
                .collect()
        };
        match recipe {
            Recipe::Ahead(value, ahead) => all(&|name| self.value(value, session + ahead, name)),
            Recipe::MeanAhead(ahead) => {
                all(&|name| close(name) / self.level(session + ahead, name, MEAN_10) - 1.0)
            }
            Recipe::Noise => noise(),
            Recipe::NoiseAndNext(share) => sum(&noise(), &next(), share),
            Recipe::Poisoned(share) => {
                let noise = noise();
                let pairs = noise.into_iter().zip(next());
                pairs
                    .map(|(noise, next)| {
                        if stream.uniform() < share {
                            10.0 * next
                        } else {
                            noise
                        }
                    })
                    .collect()
            }
            Recipe::ReversalAndNext(share) => {
                let of = |session| standard(&all(&|name| self.value(Value::Own(0), session, name)));
                sum(
                    &of(session).iter().map(|value| -value).collect::<Vec<f64>>(),
                    &of(session + 1),
                    share,
                )
            }
            Recipe::GlobalScale => {
                let scale = |name: usize| scales.and_then(|scales| scales.get(name)).copied();
                all(&|name| {
                    scale(name).map_or(f64::NAN, |(mean, deviation)| (close(name) - mean) / deviation)
                })
            }
        }
    }

    fn feature(&self, session: usize, name: usize, place: usize) -> f64 {
        let row = self.features.get(session).and_then(|rows| rows.get(name));
        row.and_then(|row| row.get(place)).copied().unwrap_or(f64::NAN)
    }

    /// The price that a feature compares the close with.
    fn level(&self, session: usize, name: usize, place: usize) -> f64 {
        self.bars.value(BarField::Close, session, name) / (1.0 + self.feature(session, name, place))
    }

    fn value(&self, value: Value, session: usize, name: usize) -> f64 {
        let price = |field, session| self.bars.value(field, session, name);
        let close = price(BarField::Close, session);
        let own = |place: usize| self.feature(session, name, place);
        let mean_of_20 = |place: usize| {
            let days = session.saturating_sub(19)..=session;
            let values = days.map(|session| self.feature(session, name, place));
            mean(&values.filter(|value| value.is_finite()).collect::<Vec<f64>>()).unwrap_or(f64::NAN)
        };
        match value {
            Value::Own(place) => own(place),
            Value::Minus(place) => -own(place),
            Value::Return60 => {
                let past = session.checked_sub(60);
                past.map_or(f64::NAN, |past| close / price(BarField::Close, past) - 1.0)
            }
            Value::Position20 => {
                let (high, low) = (
                    self.level(session, name, MAX_20),
                    self.level(session, name, MIN_20),
                );
                (close - low) / (high - low)
            }
            Value::Nights => mean_of_20(4),
            Value::Sessions => mean_of_20(5),
        }
    }

    /// Mean and deviation of each name's close over all sessions.
    fn global_scales(&self) -> Vec<(f64, f64)> {
        let scale = |name: usize| {
            let closes =
                (0..self.bars.sessions()).map(|session| self.bars.value(BarField::Close, session, name));
            moments(&closes.filter(|close| close.is_finite()).collect::<Vec<f64>>())
        };
        (0..self.bars.names()).map(scale).collect()
    }
}

fn moments(values: &[f64]) -> (f64, f64) {
    let centre = mean(values).unwrap_or(f64::NAN);
    let squares: f64 = values
        .iter()
        .map(|value| (value - centre) * (value - centre))
        .sum();
    (centre, (squares / (count(values.len()) - 1.0)).sqrt())
}

/// Values less their mean, over their deviation; what is missing stays so.
fn standard(values: &[f64]) -> Vec<f64> {
    let known: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
    let (centre, deviation) = moments(&known);
    values.iter().map(|value| (value - centre) / deviation).collect()
}
