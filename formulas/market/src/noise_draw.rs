//! Noise on a market: perturbed panels, and factors of scores.

use crate::field_panel::{FieldColumn, FieldName, FieldPanel};
use crate::formula_market::FormulaMarket;
use ktd_alphas::{
    AdjustedBars, DayTable, NoiseLaw, NoiseMode, noise_stream, perturbed_bars, perturbed_levels,
};
use ktd_io::parallel::in_parallel;
use std::ops::Range;

/// One draw of noise.
#[derive(Debug, Clone, Copy)]
pub struct NoiseDraw {
    /// What is perturbed.
    pub mode: NoiseMode,
    /// How factors are drawn.
    pub law: NoiseLaw,
    /// Their deviation.
    pub sigma: f64,
    /// Seed of all draws.
    pub seed: u64,
    /// Which draw.
    pub draw: usize,
}

impl NoiseDraw {
    /// The panel with the bars of all stocks perturbed, and how often the least factor held.
    #[must_use]
    pub fn panel(self, data: &FormulaMarket, threads: usize) -> (FieldPanel, usize) {
        let panel = &data.panel;
        let moved = in_parallel(&panel.names, threads, |name| {
            if data.is_stock(&name.code) {
                self.moved(name, &panel.fields)
            } else {
                (name.clone(), 0)
            }
        });
        let raised = moved.iter().map(|(_, raised)| raised).sum();
        let panel = FieldPanel {
            calendar: panel.calendar.clone(),
            fields: panel.fields.clone(),
            names: moved.into_iter().map(|(name, _)| name).collect(),
            source: panel.source.clone(),
            notes: Vec::new(),
        };
        (panel, raised)
    }

    /// A factor for each stock and session of a window, the same for all alphas.
    #[must_use]
    pub fn factors(self, data: &FormulaMarket, window: &Range<usize>) -> DayTable {
        let mut table = DayTable::missing(window.len(), data.stocks().count());
        for (place, (name, _)) in data.stocks().enumerate() {
            let mut stream = noise_stream(self.seed, self.law, self.draw, &name.code);
            let factors = (0..name.rows()).map(|_| 1.0 + self.sigma * self.law.draw(&mut stream));
            let before = window.start.saturating_sub(name.first_session);
            let first_day = name.first_session.saturating_sub(window.start);
            table.set_name(place, first_day, factors.skip(before));
        }
        table
    }

    fn moved(self, name: &FieldName, fields: &[String]) -> (FieldName, usize) {
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
        let mut stream = noise_stream(self.seed, self.law, self.draw, &name.code);
        let perturbed = if self.mode == NoiseMode::Bar {
            perturbed_levels(&bars, self.law, self.sigma, &mut stream)
        } else {
            perturbed_bars(&bars, self.law, self.sigma, &mut stream)
        };
        let bars = perturbed.bars;
        let mut name = name.clone();
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
        (name, perturbed.raised)
    }
}
