//! What attackers share: an exhibit with the public rules of its mask, and the way from a shown number to a clue.

use crate::background::Background;
use crate::clue::{Bounds, Clue, Clues};
use crate::column::Column;
use crate::kind::ProbeKind;
use crate::parsed_exhibit::ParsedExhibit;
use crate::parsed_stock::{Form, ParsedStock};
use crate::tolerance;
use ktd_env::factors::{Factor, Technical};
use ktd_masking::{Numeric, PERIOD_DAYS, group_of_band};

/// An exhibit and how its numbers are shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reading<'s> {
    pub(crate) parsed: &'s ParsedExhibit,
    pub(crate) numeric: Numeric,
    pub(crate) kind: ProbeKind,
    pub(crate) number: usize,
    /// Place of the exhibit in its probe.
    pub(crate) exhibit: usize,
    /// What is known beside it.
    pub(crate) background: &'s Background,
}

/// A snapshot with its place in time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ParsedSnapshot<'s> {
    pub(crate) stock: &'s ParsedStock,
    /// Trading days from the last step's as-of day to this one's.
    pub(crate) offset: i64,
    /// Trading days from the day that groups are of to this step's as-of day.
    pub(crate) since_period: i64,
}

#[expect(clippy::cast_possible_wrap, reason = "a few days")]
const PERIOD: i64 = PERIOD_DAYS as i64;

impl<'s> Reading<'s> {
    /// The target's snapshots, oldest first.
    pub(crate) fn targets(&self) -> Vec<ParsedSnapshot<'s>> {
        self.shown(|step| step.target.as_ref())
    }

    /// The clues that `sense` finds in the snapshots of the target and of a stock that was given away.
    pub(crate) fn both(&self, sense: impl Fn(&[ParsedSnapshot<'_>]) -> Vec<Clue>) -> Clues {
        Clues {
            stock: sense(&self.targets()),
            anchor: sense(&self.shown(|step| step.anchor.as_ref())),
            ..Clues::default()
        }
    }

    pub(crate) fn shown(
        &self,
        stock: impl Fn(&'s crate::parsed_exhibit::ParsedStep) -> Option<&'s ParsedStock>,
    ) -> Vec<ParsedSnapshot<'s>> {
        let steps = self.parsed.steps.iter();
        steps
            .filter_map(|step| {
                Some(ParsedSnapshot {
                    stock: stock(step)?,
                    offset: step.offset,
                    since_period: step.label.unwrap_or(0).rem_euclid(PERIOD),
                })
            })
            .collect()
    }

    /// Clues from factors in whichever form they are shown.
    pub(crate) fn factors(&self, shown: &[ParsedSnapshot<'_>], wanted: &[Factor]) -> Vec<Clue> {
        let mut clues: Vec<Clue> = Vec::new();
        let mut row: Option<&[(Form, Factor, f64)]> = None;
        for snapshot in shown {
            let factors = snapshot.stock.factors.as_slice();
            // An id keeps the row that it was first shown with: only another row says something of a later day.
            let is_repeated = row == Some(factors);
            row = Some(factors);
            for (form, factor, value) in factors {
                if !wanted.contains(factor) || (is_repeated && *form == Form::Band) {
                    continue;
                }
                if let Some(clue) = self.factor(snapshot, *form, *factor, *value)
                    && !clues.contains(&clue)
                {
                    clues.push(clue);
                }
            }
        }
        clues
    }

    fn factor(&self, snapshot: &ParsedSnapshot<'_>, form: Form, factor: Factor, value: f64) -> Option<Clue> {
        let around = |column| Clue {
            column,
            at: snapshot.offset,
            minus: None,
            bounds: Bounds::around(value, tolerance::factor(self.numeric, form, factor, value)),
        };
        Some(match form {
            Form::Raw => around(Column::Raw(factor)),
            Form::Score => around(Column::Score(factor)),
            Form::Percentile => around(Column::Percentile(factor)),
            Form::Band => Clue {
                column: Column::of_groups(self.numeric)?,
                at: snapshot.offset - snapshot.since_period,
                minus: None,
                bounds: Bounds::group(group_of_band(self.numeric, factor, value)?),
            },
        })
    }

    /// Clues from technicals in whichever form they are shown.
    pub(crate) fn technicals(&self, shown: &[ParsedSnapshot<'_>], wanted: &[Technical]) -> Vec<Clue> {
        let read = shown.iter().flat_map(|snapshot| {
            let technicals = snapshot.stock.technicals.iter();
            technicals.map(|(form, technical, value)| (snapshot.offset, *form, *technical, *value))
        });
        read.filter(|(_, _, technical, _)| wanted.contains(technical))
            .map(|(at, form, technical, value)| Clue {
                column: match form {
                    Form::Percentile | Form::Band => Column::TechnicalPercentile(technical),
                    Form::Raw | Form::Score => Column::Technical(technical),
                },
                at,
                minus: None,
                bounds: Bounds::around(value, tolerance::technical(self.numeric, form, technical, value)),
            })
            .collect()
    }
}
