//! Which wrong factor was written, where a function is safe but not right: found by computing wrong definitions.

use crate::accuracy::{AccuracyFigures, AccuracyRules};
use crate::bars::FactorBars;
use crate::casts::{float, twelve_digits};
use crate::fx::{DefinitionChange, FxDefinition};
use crate::task::FactorTask;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a wrong factor is, the first that fits.
#[derive(Debug, Clone, Copy, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NearMiss {
    /// The right values, so many rows too late; before their time where negative.
    Shift {
        /// How many rows.
        rows: i8,
    },
    /// The right values with the other sign.
    Sign,
    /// The right values are `factor` times these plus `offset`.
    Scale {
        /// What the values must be multiplied with.
        factor: f64,
        /// What must be added then.
        offset: f64,
    },
    /// The definition with one whole number changed, with another divisor, or with the other smoothing.
    Definition(DefinitionChange),
    /// A recursion that started elsewhere: right on the last half alone.
    Start,
    /// Right wherever the factor has a value, with values where it has none.
    Filled,
    /// Nothing of these.
    Other,
}

impl NearMiss {
    /// The word that records hold.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Shift { .. } => "shift",
            Self::Sign => "sign",
            Self::Scale { .. } => "scale",
            Self::Definition(DefinitionChange::Constant { .. }) => "constant",
            Self::Definition(DefinitionChange::Divisor) => "divisor",
            Self::Definition(DefinitionChange::Smoothing) => "smoothing",
            Self::Start => "start",
            Self::Filled => "filled",
            Self::Other => "other",
        }
    }
}

impl NearMiss {
    /// The same rounded to the twelve digits that records hold.
    pub(crate) fn rounded(self) -> Self {
        match self {
            Self::Scale { factor, offset } => Self::Scale {
                factor: twelve_digits(factor),
                offset: twelve_digits(offset),
            },
            Self::Shift { .. }
            | Self::Sign
            | Self::Definition(_)
            | Self::Start
            | Self::Filled
            | Self::Other => self,
        }
    }
}

/// A function's values on a panel, with what they are compared with.
#[derive(Debug, Clone, Copy)]
pub struct JudgedColumn<'a> {
    /// The bars.
    pub bars: &'a FactorBars,
    /// The function's values.
    pub candidate: &'a [f64],
    /// The right values.
    pub golden: &'a [f64],
}

/// The farthest shift that is looked for.
const FARTHEST_SHIFT: i8 = 5;

/// What a function computes instead of a task's factor; a match must hold on every panel by the strict rule.
#[must_use]
pub fn near_miss(task: &FactorTask, columns: &[JudgedColumn<'_>], rules: &AccuracyRules) -> NearMiss {
    let search = Search { task, columns, rules };
    if columns.is_empty() {
        return NearMiss::Other;
    }
    search
        .shift()
        .or_else(|| search.sign())
        .or_else(|| search.scale())
        .or_else(|| search.definition())
        .or_else(|| search.start())
        .or_else(|| search.filled())
        .unwrap_or(NearMiss::Other)
}

struct Search<'a> {
    task: &'a FactorTask,
    columns: &'a [JudgedColumn<'a>],
    rules: &'a AccuracyRules,
}

impl Search<'_> {
    /// Whether all panels agree by the strict rule, after a change of one side or both.
    fn agrees(
        &self,
        warm_up: usize,
        pair: impl Fn(&JudgedColumn<'_>) -> Option<(Vec<f64>, Vec<f64>)>,
    ) -> bool {
        self.columns.iter().all(|column| {
            pair(column).is_some_and(|(candidate, golden)| {
                AccuracyFigures::of(&candidate, &golden, warm_up).is_right(self.rules)
            })
        })
    }

    fn shift(&self) -> Option<NearMiss> {
        let distances = (1..=FARTHEST_SHIFT).flat_map(|rows| [rows, -rows]);
        let warm_up = self.task.warm_up;
        let found = distances.into_iter().find(|rows| {
            let later = warm_up.saturating_add_signed(isize::from(*rows));
            self.agrees(later, |column| {
                Some((column.candidate.to_vec(), shifted(column.golden, *rows)))
            })
        });
        found.map(|rows| NearMiss::Shift { rows })
    }

    fn sign(&self) -> Option<NearMiss> {
        let negated = |cells: &[f64]| cells.iter().map(|cell| -cell).collect();
        let fits = self.agrees(self.task.warm_up, |column| {
            Some((negated(column.candidate), column.golden.to_vec()))
        });
        fits.then_some(NearMiss::Sign)
    }

    /// One factor and one offset, fitted on the first panel, for all.
    fn scale(&self) -> Option<NearMiss> {
        let (factor, offset) = self.columns.first().and_then(line_to_golden)?;
        let fits = self.agrees(self.task.warm_up, |column| {
            let scaled = column.candidate.iter().map(|cell| factor * cell + offset);
            Some((scaled.collect(), column.golden.to_vec()))
        });
        fits.then_some(NearMiss::Scale { factor, offset })
    }

    fn definition(&self) -> Option<NearMiss> {
        let found = self.task.definition.variants().into_iter().find(|variant| {
            self.columns.iter().all(|column| {
                // a changed window has another warm-up, which its own values show
                variant.evaluate(column.bars).is_ok_and(|golden| {
                    let first = golden.iter().position(|cell| !cell.is_nan());
                    first.is_some_and(|warm_up| {
                        AccuracyFigures::of(column.candidate, &golden, warm_up).is_right(self.rules)
                    })
                })
            })
        });
        found.map(|variant| NearMiss::Definition(variant.change))
    }

    fn start(&self) -> Option<NearMiss> {
        let last_half = |cells: &[f64]| cells.get(cells.len() / 2..).map(<[f64]>::to_vec);
        let fits = FxDefinition::is_recursive(&self.task.definition)
            && self.agrees(0, |column| {
                Some((last_half(column.candidate)?, last_half(column.golden)?))
            });
        fits.then_some(NearMiss::Start)
    }

    fn filled(&self) -> Option<NearMiss> {
        let fits = self.agrees(self.task.warm_up, |column| {
            let pairs = column.candidate.iter().zip(column.golden);
            let blanked = pairs.map(|(cell, golden)| if golden.is_nan() { f64::NAN } else { *cell });
            Some((blanked.collect(), column.golden.to_vec()))
        });
        fits.then_some(NearMiss::Filled)
    }
}

/// A column moved to later rows, or to earlier ones where negative.
fn shifted(cells: &[f64], rows: i8) -> Vec<f64> {
    let distance = usize::from(rows.unsigned_abs()).min(cells.len());
    let missing = std::iter::repeat_n(f64::NAN, distance);
    if rows < 0 {
        cells.iter().skip(distance).copied().chain(missing).collect()
    } else {
        missing
            .chain(cells.iter().take(cells.len() - distance).copied())
            .collect()
    }
}

/// The line that takes a candidate's values to the golden ones, by least squares; none where the candidate is constant.
fn line_to_golden(column: &JudgedColumn<'_>) -> Option<(f64, f64)> {
    let pairs = column.candidate.iter().zip(column.golden);
    let common: Vec<(f64, f64)> = pairs
        .filter(|(own, golden)| !own.is_nan() && !golden.is_nan())
        .map(|(own, golden)| (*own, *golden))
        .collect();
    let count = float(common.len());
    let own_mean = common.iter().map(|(own, _)| own).sum::<f64>() / count;
    let golden_mean = common.iter().map(|(_, golden)| golden).sum::<f64>() / count;
    let (mut products, mut squares) = (0.0, 0.0);
    for (own, golden) in common {
        products += (own - own_mean) * (golden - golden_mean);
        squares += (own - own_mean) * (own - own_mean);
    }
    let factor = products / squares;
    let offset = golden_mean - factor * own_mean;
    (factor.is_finite() && offset.is_finite() && 0.0 < factor.abs()).then_some((factor, offset))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::{FactorPanels, PanelKind};
    use crate::task::FactorTasks;

    /// What is found where a function computes another definition instead of a task's, then changes its values.
    fn found(id: &str, instead: &str, change: impl Fn(&mut Vec<f64>)) -> NearMiss {
        let panels = FactorPanels::new(3, None).unwrap();
        let tasks = FactorTasks::compiled_in().unwrap();
        let task = tasks.find(id).unwrap();
        let written = FxDefinition::parse(if instead.is_empty() { &task.fx } else { instead }).unwrap();
        let values: Vec<(Vec<f64>, Vec<f64>)> = PanelKind::JUDGED
            .map(|kind| {
                let mut candidate = written.evaluate(panels.bars(kind)).unwrap();
                change(&mut candidate);
                (candidate, task.definition.evaluate(panels.bars(kind)).unwrap())
            })
            .into();
        let columns: Vec<JudgedColumn<'_>> = values
            .iter()
            .zip(PanelKind::JUDGED)
            .map(|((candidate, golden), kind)| JudgedColumn {
                bars: panels.bars(kind),
                candidate,
                golden,
            })
            .collect();
        near_miss(task, &columns, &AccuracyRules::DEFAULT)
    }

    #[test]
    fn shifts_signs_and_scales_are_found() {
        assert_eq!(
            found("MOM-1-01", "lag(ret(C,10),2)", |_| ()),
            NearMiss::Shift { rows: 2 }
        );
        assert_eq!(found("MOM-1-01", "0-ret(C,10)", |_| ()), NearMiss::Sign);
        let NearMiss::Scale { factor, offset } = found("MOM-1-01", "100*ret(C,10)+5", |_| ()) else {
            panic!("no scale");
        };
        assert!((factor - 0.01).abs() < 1e-12 && (offset + 0.05).abs() < 1e-12);
    }

    #[test]
    fn a_changed_constant_is_found_with_its_place() {
        let change = DefinitionChange::Constant {
            at: 10,
            from: 20.0,
            to: 19.0,
        };
        let miss = found("REV-1-01", "(C-mean(C,19))/std(C,20)", |_| ());
        assert_eq!(miss, NearMiss::Definition(change));
    }

    #[test]
    fn divisors_smoothings_starts_and_fills_are_found() {
        let population = "k = 0.34/(1.34+21/19); a = var(log(O/lag(C,1)),20)*19/20; b = var(log(C/O),20)*19/20; \
             q = mean(log(H/C)*log(H/O)+log(L/C)*log(L/O),20); sqrt(a+k*b+(1-k)*q)";
        assert_eq!(found("VOL-3-03", population, |_| ()).code(), "divisor");
        assert_eq!(
            found(
                "VOL-2-01",
                "tr = max2(H-L,max2(abs(H-lag(C,1)),abs(L-lag(C,1)))); ema(tr,14)/C",
                |_| ()
            )
            .code(),
            "smoothing"
        );
        let started_higher = |cells: &mut Vec<f64>| {
            let mut apart = 0.01;
            for cell in cells {
                *cell += apart;
                apart *= 13.0 / 14.0;
            }
        };
        assert_eq!(found("VOL-2-01", "", started_higher), NearMiss::Start);
        assert_eq!(
            found("MOM-1-02", "", |cells| cells[..19].fill(0.0)),
            NearMiss::Filled
        );
        assert_eq!(found("MOM-1-02", "C", |_| ()), NearMiss::Other);
    }
}
