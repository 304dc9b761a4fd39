//! Positive controls: sets on which each attacker must succeed. A blind attacker proves nothing.

use super::ground::{Ground, ProbeSet, Tick};
use super::set_plan::SetPlan;
use crate::error::RunError;
use ktd_masking::{Level, MaskKey, MaskSettings, Numeric};
use ktd_probes::{Measure, ProbeKind, ProbePlan};

/// A set with a known weakness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Control {
    /// Single days with true prices and volumes.
    ExactDay,
    /// Single days with true prices, volumes and dates: limit days name a stock once the day is known.
    DatedDay,
    /// Single days whose aliases are in the order of the codes.
    SortedAliases,
    /// Single days under a key that is a small number.
    SmallKey,
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

/// What each attacker must show. The needs are far below what a sound attacker reaches with 200 probes and far above what
/// a broken one does: half where the numbers name the stock, a tenth where they only narrow it down, and anything that
/// is certainly not chance for limit days, of which most stocks have none in sixty days.
pub const AIMS: [(&str, Aim); 10] = [
    ("price-level", aim(Control::ExactDay, Measure::Top5, 0.5)),
    ("volume-level", aim(Control::ExactDay, Measure::Top5, 0.5)),
    ("return-path", aim(Control::ExactDay, Measure::Top5, 0.5)),
    ("volatility-profile", aim(Control::ExactDay, Measure::Top5, 0.1)),
    ("combination", aim(Control::ExactDay, Measure::Top5, 0.5)),
    ("index-path", aim(Control::ExactDay, Measure::Date20, 0.5)),
    ("cross-section", aim(Control::ExactDay, Measure::Date20, 0.1)),
    ("limit-pattern", aim(Control::DatedDay, Measure::Top1, 0.0)),
    (
        "labels-and-order",
        aim(Control::SortedAliases, Measure::Top5, 0.1),
    ),
    ("labels-and-order", aim(Control::SmallKey, Measure::Top5, 0.5)),
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
    pub const ALL: [Self; 4] = [
        Self::ExactDay,
        Self::DatedDay,
        Self::SortedAliases,
        Self::SmallKey,
    ];

    /// The name in files and tables.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::ExactDay => "exact-day",
            Self::DatedDay => "dated-day",
            Self::SortedAliases => "sorted-aliases",
            Self::SmallKey => "small-key",
            Self::BrightDay => "bright-day",
        }
    }

    /// The kind of its probes.
    #[must_use]
    pub const fn kind(self) -> ProbeKind {
        match self {
            Self::ExactDay | Self::DatedDay | Self::SortedAliases | Self::SmallKey | Self::BrightDay => {
                ProbeKind::Day
            }
        }
    }

    /// What it hides.
    #[must_use]
    pub const fn mask(self) -> MaskSettings {
        let level = match self {
            Self::ExactDay | Self::SortedAliases | Self::SmallKey => Level::Blinded,
            Self::DatedDay => Level::StockBlind,
            Self::BrightDay => Level::Bright,
        };
        MaskSettings {
            level,
            numeric: Numeric::Exact,
        }
    }

    /// How its probes are drawn.
    #[must_use]
    pub fn probing(self, ground: &Ground, plan: &SetPlan) -> ProbePlan {
        let key = match self {
            Self::ExactDay | Self::DatedDay | Self::SortedAliases | Self::BrightDay => {
                ground.key.derive(self.label())
            }
            Self::SmallKey => small_key(),
        };
        plan.probing(self.mask(), key, self.label())
    }

    /// So many probes of its kind, and none of another.
    pub fn only(self, most: usize) -> impl Fn(ProbeKind) -> usize {
        move |kind| if kind == self.kind() { most } else { 0 }
    }

    /// Its probes.
    ///
    /// # Errors
    /// [`RunError::Input`] when the plan's stretches hold no member to ask about.
    pub fn make(self, ground: &Ground, plan: &SetPlan, tick: Tick<'_>) -> Result<ProbeSet, RunError> {
        let probing = self.probing(ground, plan);
        let mut set = ground.make(&probing, &self.only(plan.control_probes), tick)?;
        if self == Self::SortedAliases {
            let market = &ground.source.market;
            set.probes = ktd_probes::controls::sorted_aliases(market, &probing, &set.probes);
        }
        Ok(set)
    }

    /// What the combination learns from before it.
    ///
    /// # Errors
    /// [`RunError::Input`] when the plan's stretches hold no member to ask about.
    pub fn training(self, ground: &Ground, plan: &SetPlan, tick: Tick<'_>) -> Result<ProbeSet, RunError> {
        let training = plan.training(self.mask(), &ground.key, self.label());
        let least = plan.training.min(plan.control_probes);
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
