//! Scores of formulas on a market as tables.

use crate::FormulasError;
use crate::field_panel::FieldPanel;
use crate::formula_market::FormulaMarket;
use crate::formula_values::{NameValues, ValueSpan, evaluate_each};
use ktd_alphas::DayTable;
use ktd_expressions::{CheckedFormula, FormulaPrecision};
use std::collections::BTreeMap;
use std::ops::Range;

/// Where formulas are evaluated.
#[derive(Debug, Clone)]
pub struct ScoreTask<'s> {
    /// The market.
    pub data: &'s FormulaMarket,
    /// How columns and elements are computed.
    pub precision: FormulaPrecision,
    /// Sessions of the tables.
    pub window: Range<usize>,
    /// Threads.
    pub threads: usize,
}

/// Scores of some formulas by stock, as the engine gives them; a formula's table is made when it is needed.
#[derive(Debug)]
pub struct ScoreColumns {
    days: usize,
    first: usize,
    /// By stock; none without a row in the window.
    names: Vec<Option<NameValues>>,
}

impl ScoreTask<'_> {
    /// Evaluates formulas, and hands over the stocks with a row in the window, by their place among all.
    ///
    /// # Errors
    /// [`FormulasError`] for a formula that names an instrument that the panel lacks.
    pub fn each(
        &self,
        panel: &FieldPanel,
        formulas: &[CheckedFormula],
        mut take: impl FnMut(usize, NameValues),
    ) -> Result<(), FormulasError> {
        let codes: Vec<String> = self.data.stocks().map(|(name, _)| name.code.clone()).collect();
        let places: BTreeMap<&str, usize> = codes.iter().map(String::as_str).zip(0..).collect();
        let calendar = &panel.calendar;
        let span = ValueSpan {
            from: calendar.get(self.window.start).copied(),
            to: calendar.get(self.window.end.saturating_sub(1)).copied(),
            names: Some(codes.clone()),
        };
        evaluate_each(panel, formulas, self.precision, (&span, self.threads), |name| {
            if let Some(place) = places.get(name.code.as_str()) {
                take(*place, name);
            }
            Ok(())
        })
    }

    /// The scores of formulas on a panel; `advance` is called for each stock.
    ///
    /// # Errors
    /// Those of [`Self::each`].
    pub fn columns(
        &self,
        panel: &FieldPanel,
        formulas: &[CheckedFormula],
        advance: &mut dyn FnMut(),
    ) -> Result<ScoreColumns, FormulasError> {
        let mut names: Vec<Option<NameValues>> = Vec::new();
        names.resize_with(self.data.stocks().count(), || None);
        self.each(panel, formulas, |place, name| {
            advance();
            if let Some(slot) = names.get_mut(place) {
                *slot = Some(name);
            }
        })?;
        Ok(ScoreColumns {
            days: self.window.len(),
            first: self.window.start,
            names,
        })
    }
}

impl ScoreColumns {
    /// The table of a formula: sessions of the window by stock.
    #[must_use]
    pub fn table(&self, formula: usize) -> DayTable {
        let mut table = DayTable::missing(self.days, self.names.len());
        let mut row = vec![f64::NAN; self.days];
        for (place, name) in self.names.iter().enumerate() {
            let Some(name) = name else { continue };
            row.fill(f64::NAN);
            let cells = name.columns.get(formula).map(Vec::as_slice).unwrap_or_default();
            for (session, cell) in name.sessions.iter().zip(cells) {
                let day = session.checked_sub(self.first);
                if let Some(slot) = day.and_then(|day| row.get_mut(day)) {
                    *slot = f64::from(*cell);
                }
            }
            table.set_name(place, 0, row.iter().copied());
        }
        table
    }
}
