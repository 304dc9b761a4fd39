//! Positive controls: sets on which each attacker must succeed. A blind attacker proves nothing.

use super::ground::{Ground, ProbeSet, Tick};
use super::set_plan::SetPlan;
use crate::error::RunError;
use ktd_masking::{Level, MaskKey, MaskSettings, Numeric};
use ktd_probes::{Measure, ProbeKind};

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
}

/// What an attacker must recover of a control.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Aim {
    /// The attacker.
    pub attacker: &'static str,
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
pub const AIMS: [Aim; 10] = [
    aim("price-level", Control::ExactDay, Measure::Top5, 0.5),
    aim("volume-level", Control::ExactDay, Measure::Top5, 0.5),
    aim("return-path", Control::ExactDay, Measure::Top5, 0.5),
    aim("volatility-profile", Control::ExactDay, Measure::Top5, 0.1),
    aim("combination", Control::ExactDay, Measure::Top5, 0.5),
    aim("index-path", Control::ExactDay, Measure::Date20, 0.5),
    aim("cross-section", Control::ExactDay, Measure::Date20, 0.1),
    aim("limit-pattern", Control::DatedDay, Measure::Top1, 0.0),
    aim("labels-and-order", Control::SortedAliases, Measure::Top5, 0.1),
    aim("labels-and-order", Control::SmallKey, Measure::Top5, 0.5),
];

const fn aim(attacker: &'static str, control: Control, measure: Measure, need: f64) -> Aim {
    Aim {
        attacker,
        control,
        measure,
        need,
    }
}

impl Control {
    /// Every control, in the order of tables.
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
        }
    }

    /// The kind of its probes.
    #[must_use]
    pub const fn kind(self) -> ProbeKind {
        match self {
            Self::ExactDay | Self::DatedDay | Self::SortedAliases | Self::SmallKey => ProbeKind::Day,
        }
    }

    /// What it hides.
    #[must_use]
    pub const fn mask(self) -> MaskSettings {
        let level = match self {
            Self::ExactDay | Self::SortedAliases | Self::SmallKey => Level::Blinded,
            Self::DatedDay => Level::StockBlind,
        };
        MaskSettings {
            level,
            numeric: Numeric::Exact,
        }
    }

    /// Its probes, and what the combination learns from.
    ///
    /// # Errors
    /// [`RunError::Input`] when the plan's stretches hold no member to ask about.
    pub fn make(
        self,
        ground: &Ground,
        plan: &SetPlan,
        tick: Tick<'_>,
    ) -> Result<(ProbeSet, ProbeSet), RunError> {
        let mask = self.mask();
        let key = match self {
            Self::ExactDay | Self::DatedDay | Self::SortedAliases => ground.key.derive(self.label()),
            Self::SmallKey => small_key(),
        };
        let probing = plan.probing(mask, key, self.label());
        let training = plan.training(mask, &ground.key, self.label());
        let of_kind = |most: usize| move |kind| if kind == self.kind() { most } else { 0 };
        let mut set = ground.make(&probing, &of_kind(plan.control_probes), tick)?;
        if self == Self::SortedAliases {
            set.probes = ktd_probes::controls::sorted_aliases(&ground.source.market, &probing, &set.probes);
        }
        let least = plan.training.min(plan.control_probes);
        Ok((set, ground.make(&training, &of_kind(least), tick)?))
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
