//! Scores of a study's formulas, and the same on perturbed columns.

use crate::StudyError;
use crate::field_panel::{FieldColumn, FieldName, FieldPanel};
use crate::formula_values::{ValueSpan, evaluate_each};
use crate::study_data::StudyData;
use ktd_alphas::{AdjustedBars, DayTable, NoiseLaw, noise_stream, perturbed_bars};
use ktd_expressions::{CheckedFormula, FormulaPrecision};
use std::collections::BTreeMap;
use std::ops::Range;

/// Where formulas are evaluated.
#[derive(Debug, Clone)]
pub(crate) struct ScoreTask<'s> {
    pub(crate) data: &'s StudyData,
    pub(crate) formulas: &'s [CheckedFormula],
    pub(crate) precision: FormulaPrecision,
    pub(crate) window: Range<usize>,
    pub(crate) threads: usize,
}

impl ScoreTask<'_> {
    /// A table a formula: sessions of the window by stock.
    pub(crate) fn scores(
        &self,
        panel: &FieldPanel,
        advance: &mut dyn FnMut(),
    ) -> Result<Vec<DayTable>, StudyError> {
        let codes: Vec<String> = self.data.stocks().map(|(name, _)| name.code.clone()).collect();
        let places: BTreeMap<&str, usize> = codes.iter().map(String::as_str).zip(0..).collect();
        let (days, calendar) = (self.window.len(), &panel.calendar);
        let span = ValueSpan {
            from: calendar.get(self.window.start).copied(),
            to: calendar.get(self.window.end.saturating_sub(1)).copied(),
            names: Some(codes.clone()),
        };
        let mut tables = vec![DayTable::missing(days, codes.len()); self.formulas.len()];
        evaluate_each(
            panel,
            self.formulas,
            self.precision,
            (&span, self.threads),
            |name| {
                advance();
                let Some(place) = places.get(name.code.as_str()) else {
                    return Ok(());
                };
                for (table, cells) in tables.iter_mut().zip(&name.columns) {
                    let mut row = vec![f64::NAN; days];
                    for (session, cell) in name.sessions.iter().zip(cells) {
                        let day = session.checked_sub(self.window.start);
                        if let Some(slot) = day.and_then(|day| row.get_mut(day)) {
                            *slot = f64::from(*cell);
                        }
                    }
                    table.set_name(*place, 0, row);
                }
                Ok(())
            },
        )?;
        Ok(tables)
    }
}

/// One draw of noise.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NoiseDraw {
    pub(crate) law: NoiseLaw,
    pub(crate) sigma: f64,
    pub(crate) seed: u64,
    pub(crate) draw: usize,
}

/// The panel with the bars of all stocks perturbed, and how often the least factor held.
pub(crate) fn perturbed_panel(data: &StudyData, noise: NoiseDraw) -> (FieldPanel, usize) {
    let mut panel = data.panel.clone();
    let stocks: Vec<String> = data.stocks().map(|(name, _)| name.code.clone()).collect();
    let fields = panel.fields.clone();
    let mut raised = 0;
    for name in &mut panel.names {
        if stocks.binary_search(&name.code).is_ok() {
            raised += perturb(name, &fields, noise);
        }
    }
    (panel, raised)
}

fn perturb(name: &mut FieldName, fields: &[String], noise: NoiseDraw) -> usize {
    let cells = |field: &str| {
        let place = fields.iter().position(|known| known == field);
        place
            .and_then(|place| name.columns.get(place))
            .map(FieldColumn::doubles)
    };
    let present = |field: &str| cells(field).unwrap_or_else(|| vec![f64::NAN; name.rows()]);
    let bars = AdjustedBars {
        open: present("open"),
        high: present("high"),
        low: present("low"),
        close: present("close"),
        volume: present("volume"),
        vwap: cells("vwap").unwrap_or_else(|| present("close")),
        amount: present("amount"),
    };
    let mut stream = noise_stream(noise.seed, noise.law, noise.draw, &name.code);
    let perturbed = perturbed_bars(&bars, noise.law, noise.sigma, &mut stream);
    let bars = perturbed.bars;
    for (field, column) in fields.iter().zip(&mut name.columns) {
        let cells = match field.as_str() {
            "open" => &bars.open,
            "high" => &bars.high,
            "low" => &bars.low,
            "close" | "adjclose" => &bars.close,
            "volume" => &bars.volume,
            "vwap" => &bars.vwap,
            "amount" => &bars.amount,
            "change" => &bars.changes(),
            _ => continue,
        };
        *column = FieldColumn::Doubles(cells.clone());
    }
    perturbed.raised
}
