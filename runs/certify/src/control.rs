//! Positive controls: sets on which each attacker must succeed. A blind attacker proves nothing.

use super::ground::{Ground, ProbeSet, Tick};
use super::set_plan::SetPlan;
use crate::CertifyError;
use ktd_masking::{Level, MaskKey, MaskSettings, Numeric};
use ktd_probes::{Aid, Measure, ProbeKind, ProbePlan};

/// A set with a known weakness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Control {
    /// Single days with true prices and volumes.
    ExactDay,
    /// Single days with true prices, volumes and dates, of stocks that stood at a price limit or did not trade within the
    /// days that the bars span: such days name a stock once the day is known.
    DatedDay,
    /// Single days whose aliases are in the order of the codes.
    SortedAliases,
    /// Single days under a key that is a small number.
    SmallKey,
    /// Single days in bands that nothing moves, with the real day, where bands are certified.
    ClearBands,
    /// Pairs of episodes with true prices and volumes.
    ExactLinked,
    /// Whole episodes with true prices and volumes.
    ExactEpisode,
    /// Single days with true prices and volumes, beside a stock that is given away.
    ExactAnchored,
    /// Single days with every code and date shown, for language models.
    BrightDay,
}

/// What an attacker must recover of a control.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aim {
    /// Where it must succeed.
    pub control: Control,
    /// At what.
    pub measure: Measure,
    /// How far above chance the lower end of its interval must lie.
    pub need: f64,
}

/// What each attacker must show, where its control is put. The needs are far below what a sound attacker reaches with 200
/// probes and far above what a broken one does: half where the numbers name the stock, a tenth where they only narrow it
/// down, a fifth for limit days, of which a market has many at once. Of bands `price-level` reads none and
/// `volume-level` one, which names nobody.
pub const AIMS: [(&str, Aim); 17] = [
    ("price-level", aim(Control::ExactDay, Measure::Top5, 0.5)),
    ("volume-level", aim(Control::ExactDay, Measure::Top5, 0.5)),
    ("return-path", aim(Control::ExactDay, Measure::Top5, 0.5)),
    ("volatility-profile", aim(Control::ExactDay, Measure::Top5, 0.1)),
    ("combination", aim(Control::ExactDay, Measure::Top5, 0.5)),
    ("index-path", aim(Control::ExactDay, Measure::Date20, 0.5)),
    ("cross-section", aim(Control::ExactDay, Measure::Date20, 0.1)),
    ("limit-pattern", aim(Control::DatedDay, Measure::Top5, 0.2)),
    (
        "labels-and-order",
        aim(Control::SortedAliases, Measure::Top5, 0.1),
    ),
    ("labels-and-order", aim(Control::SmallKey, Measure::Top5, 0.5)),
    ("combination", aim(Control::ClearBands, Measure::Top5, 0.5)),
    ("return-path", aim(Control::ClearBands, Measure::Top5, 0.1)),
    ("volatility-profile", aim(Control::ClearBands, Measure::Top5, 0.1)),
    ("combination", aim(Control::ExactLinked, Measure::Same, 0.3)),
    ("combination", aim(Control::ExactEpisode, Measure::Joint, 0.5)),
    ("combination", aim(Control::ExactAnchored, Measure::Date20, 0.5)),
    ("index-path", aim(Control::ExactAnchored, Measure::Date20, 0.5)),
];

/// What every language model must show: that it reads what stands there, in the form that is asked for.
pub const LANGUAGE_AIM: Aim = aim(Control::BrightDay, Measure::Top1, 0.5);

const fn aim(control: Control, measure: Measure, need: f64) -> Aim {
    Aim {
        control,
        measure,
        need,
    }
}

impl Control {
    /// Every control that the attackers of the database are put to, in the order of tables.
    pub const ALL: [Self; 8] = [
        Self::ExactDay,
        Self::DatedDay,
        Self::SortedAliases,
        Self::SmallKey,
        Self::ClearBands,
        Self::ExactLinked,
        Self::ExactEpisode,
        Self::ExactAnchored,
    ];

    /// Those that are put beside a certificate of this plan.
    pub fn of(plan: &SetPlan) -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|control| control.is_put(plan))
    }

    /// Whether it is put beside a certificate of this plan: bands only where bands are certified.
    #[must_use]
    pub fn is_put(self, plan: &SetPlan) -> bool {
        self != Self::ClearBands || plan.numeric == Numeric::Banded.label()
    }

    /// The name in files and tables.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::ExactDay => "exact-day",
            Self::DatedDay => "dated-day",
            Self::SortedAliases => "sorted-aliases",
            Self::SmallKey => "small-key",
            Self::ClearBands => "clear-bands",
            Self::ExactLinked => "exact-linked",
            Self::ExactEpisode => "exact-episode",
            Self::ExactAnchored => "exact-anchored",
            Self::BrightDay => "bright-day",
        }
    }

    /// The kind of its probes.
    #[must_use]
    pub const fn kind(self) -> ProbeKind {
        match self {
            Self::ExactDay
            | Self::DatedDay
            | Self::SortedAliases
            | Self::SmallKey
            | Self::ClearBands
            | Self::BrightDay => ProbeKind::Day,
            Self::ExactLinked => ProbeKind::Linked,
            Self::ExactEpisode => ProbeKind::Episode,
            Self::ExactAnchored => ProbeKind::Anchored,
        }
    }

    /// How many probes it has: fewer of those that show many steps, which take long, and leave little to doubt.
    #[must_use]
    pub const fn probes(self, plan: &SetPlan) -> usize {
        let part = match self {
            Self::ExactDay
            | Self::DatedDay
            | Self::SortedAliases
            | Self::SmallKey
            | Self::ClearBands
            | Self::ExactAnchored
            | Self::BrightDay => 1,
            Self::ExactLinked => 2,
            Self::ExactEpisode => 4,
        };
        plan.control_probes.div_ceil(part)
    }

    /// What it hides.
    #[must_use]
    pub const fn mask(self) -> MaskSettings {
        let (level, numeric) = match self {
            Self::ExactDay
            | Self::SortedAliases
            | Self::SmallKey
            | Self::ExactLinked
            | Self::ExactEpisode
            | Self::ExactAnchored => (Level::Blinded, Numeric::Exact),
            Self::DatedDay => (Level::StockBlind, Numeric::Exact),
            Self::ClearBands => (Level::StockBlind, Numeric::Banded),
            Self::BrightDay => (Level::Bright, Numeric::Exact),
        };
        MaskSettings { level, numeric }
    }

    /// How its probes are drawn.
    #[must_use]
    pub fn probing(self, ground: &Ground, plan: &SetPlan) -> ProbePlan {
        let key = match self {
            Self::ExactDay
            | Self::DatedDay
            | Self::SortedAliases
            | Self::ClearBands
            | Self::ExactLinked
            | Self::ExactEpisode
            | Self::ExactAnchored
            | Self::BrightDay => ground.key.derive(self.label()),
            Self::SmallKey => small_key(),
        };
        ProbePlan {
            aid: self.aid(),
            ..plan.probing(self.mask(), key, self.label())
        }
    }

    /// What helps the attackers.
    const fn aid(self) -> Aid {
        match self {
            Self::ClearBands => Aid::BandsUnmoved,
            Self::DatedDay => Aid::LimitDays,
            Self::ExactDay
            | Self::SortedAliases
            | Self::SmallKey
            | Self::ExactLinked
            | Self::ExactEpisode
            | Self::ExactAnchored
            | Self::BrightDay => Aid::None,
        }
    }

    /// So many probes of its kind, and none of another.
    pub fn only(self, most: usize) -> impl Fn(ProbeKind) -> usize {
        move |kind| if kind == self.kind() { most } else { 0 }
    }

    /// Its probes.
    ///
    /// # Errors
    /// [`CertifyError::Input`] when the plan's stretches hold no member to ask about.
    pub fn make(self, ground: &Ground, plan: &SetPlan, tick: Tick<'_>) -> Result<ProbeSet, CertifyError> {
        let probing = self.probing(ground, plan);
        let mut set = ground.make(&probing, &self.only(self.probes(plan)), tick)?;
        if self == Self::SortedAliases {
            let market = &ground.source.market;
            set.probes = ktd_probes::controls::sorted_aliases(market, &probing, &set.probes);
        }
        Ok(set)
    }

    /// What the combination learns from before it.
    ///
    /// # Errors
    /// [`CertifyError::Input`] when the plan's stretches hold no member to ask about.
    pub fn training(self, ground: &Ground, plan: &SetPlan, tick: Tick<'_>) -> Result<ProbeSet, CertifyError> {
        let training = ProbePlan {
            aid: self.aid(),
            ..plan.training(self.mask(), &ground.key, self.label())
        };
        let least = plan.training.min(self.probes(plan));
        ground.make(&training, &self.only(least), tick)
    }
}

/// The number 7 as a key.
fn small_key() -> MaskKey {
    let mut bytes = [0; 32];
    if let Some(last) = bytes.last_mut() {
        *last = 7;
    }
    MaskKey::from_bytes(bytes)
}
