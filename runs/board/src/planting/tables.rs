//! What planted accounts say, in words and tables.

use super::{PlantingReport, PlantingRow};
use crate::sheet::points;
use ktd_attribution::account::WeightBasis;
use ktd_attribution::planting::CandidateExposures;
use ktd_stats::moments::mean;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData, basis_points, portion};
use std::collections::BTreeMap;

impl PlantingReport {
    /// The table of accounts that time the market.
    #[must_use]
    pub fn timing_table(&self) -> TableData {
        let heads = [
            ("account", Left),
            ("market timing, planted", Right),
            ("bias", Right),
            ("s.e.", Right),
            ("bias of selection", Right),
            ("s.e. of it", Right),
            ("outside luck", Right),
        ];
        let rows = self.timing.iter().map(|row| {
            vec![
                TableCell::Text(row.agent.clone()),
                points(row.planted),
                points(row.bias),
                points(row.bias_error),
                points(row.selection_bias),
                points(row.selection_bias_error),
                TableCell::Percent(row.outside),
            ]
        });
        let draws = self.timing.first().map_or(0, |row| row.draws);
        let title = format!(
            "Planted timing of the market, basis points a day: {draws} draws, basis two, names left out"
        );
        TableData::new(title, heads).with_rows(rows)
    }

    /// The table of accounts that hold the most of a style which the model lacks.
    #[must_use]
    pub fn hidden_table(&self) -> TableData {
        let heads = [
            ("style", Left),
            ("passes for selection", Right),
            ("s.e.", Right),
            ("bias of selection", Right),
            ("s.e. of it", Right),
            ("bias with the style", Right),
            ("s.e. with it", Right),
        ];
        let rows = self.hidden.iter().map(|row| {
            vec![
                TableCell::Text(row.style.clone()),
                TableCell::Percent(row.passes),
                TableCell::Percent(row.passes_error),
                points(row.bias),
                points(row.bias_error),
                points(row.bias_with),
                points(row.bias_with_error),
            ]
        });
        let draws = self.hidden.first().map_or(0, |row| row.draws);
        let title = format!(
            "Styles that the model lacks, basis points a day: {draws} draws, basis two, names left out"
        );
        TableData::new(title, heads).with_rows(rows)
    }

    /// The table of accounts among names whose sectors share shocks; none where the panel has no sectors.
    #[must_use]
    pub fn sector_table(&self) -> Option<TableData> {
        let draws = self.sectors.first()?.draws;
        let heads = [
            ("sectors' share", Right),
            ("account", Left),
            ("planted", Right),
            ("bias", Right),
            ("s.e.", Right),
            ("of which sector", Right),
            ("bias of it", Right),
            ("s.e. of it", Right),
            ("outside luck of everyone", Right),
            ("outside luck of its like", Right),
        ];
        let rows = self.sectors.iter().map(|row| {
            let outside = |place: usize| {
                let share = row.outside.and_then(|outside| outside.get(place).copied());
                share.map_or(TableCell::Empty, TableCell::Percent)
            };
            vec![
                TableCell::Ratio(row.sector_share),
                TableCell::Text(row.agent.clone()),
                points(row.planted),
                points(row.bias),
                points(row.bias_error),
                points(row.sector_planted),
                points(row.sector_bias),
                points(row.sector_bias_error),
                outside(0),
                outside(1),
            ]
        });
        let title = format!(
            "Planted shocks of sectors, basis points a day: {draws} draws, basis two, names left out"
        );
        Some(TableData::new(title, heads).with_rows(rows).with_note(
            "outside luck: draws in which an account without skill lies outside the 95 % band of random portfolios"
                .to_owned(),
        ))
    }

    /// Rows at the share of the tail that the panel itself has.
    fn measured(&self) -> impl Iterator<Item = &PlantingRow> {
        let apart = |row: &PlantingRow| (row.tail - self.tail.clamp(0.0, 1.0)).abs();
        let nearest = self.rows.iter().map(apart).fold(f64::INFINITY, f64::min);
        self.rows.iter().filter(move |row| apart(row) <= nearest)
    }

    /// What recovers best what was planted, in a few sentences.
    #[must_use]
    pub fn verdict(&self) -> String {
        let mut ways: BTreeMap<(&str, &str), Vec<&PlantingRow>> = BTreeMap::new();
        for row in self.measured() {
            ways.entry((&row.exposures, &row.basis)).or_default().push(row);
        }
        let bias = |rows: &[&PlantingRow]| {
            let sizes: Vec<f64> = rows.iter().map(|row| row.bias.abs()).collect();
            mean(&sizes).unwrap_or(f64::NAN)
        };
        let mut order: Vec<_> = ways.iter().map(|(way, rows)| (bias(rows), way, rows)).collect();
        order.sort_by(|one, other| one.0.total_cmp(&other.0));
        let said = |(size, (exposures, basis), _): &(f64, &(&str, &str), &Vec<&PlantingRow>)| {
            format!("{exposures} on basis {basis} ({} a day)", basis_points(*size))
        };
        let Some((first, rest)) = order.split_first() else {
            return "No account was planted.".to_owned();
        };
        let largest = first
            .2
            .iter()
            .max_by(|one, other| one.bias.abs().total_cmp(&other.bias.abs()));
        let largest = largest.map_or_else(String::new, |row| {
            format!(
                " Its largest bias is {} a day (s.e. {}), of {}.",
                basis_points(row.bias),
                basis_points(row.bias_error),
                row.agent
            )
        });
        let coverages = || first.2.iter().map(|row| row.coverage);
        format!(
            "Of {} ways to attribute, {} has the least mean absolute bias over {} planted accounts{}.{largest} Its 95 % intervals hold \
             what was planted in {} to {} of draws.",
            order.len(),
            said(first),
            first.2.len(),
            rest.first()
                .map_or_else(String::new, |next| format!("; the next is {}", said(next))),
            portion(coverages().fold(1.0, f64::min)),
            portion(coverages().fold(0.0, f64::max)),
        )
    }

    /// The table of all accounts under the way that ranks, where exposures beyond the limits move returns as on the panel.
    #[must_use]
    pub fn headline_table(&self) -> TableData {
        let (exposures, basis) = (CandidateExposures::LeftOut.label(), WeightBasis::HEADLINE.label());
        let is_headline = |row: &&PlantingRow| row.exposures == exposures && row.basis == basis;
        self.table_of(self.measured().filter(is_headline))
    }

    /// The table of all accounts and candidates.
    #[must_use]
    pub fn table(&self) -> TableData {
        self.table_of(self.rows.iter())
    }

    fn table_of<'r>(&self, rows: impl Iterator<Item = &'r PlantingRow>) -> TableData {
        let heads = [
            ("tail", Right),
            ("account", Left),
            ("exposures", Left),
            ("basis", Left),
            ("planted", Right),
            ("bias", Right),
            ("s.e.", Right),
            ("r.m.s.", Right),
            ("coverage", Right),
        ];
        let rows = rows.map(|row| {
            vec![
                TableCell::Ratio(row.tail),
                TableCell::Text(row.agent.clone()),
                TableCell::Text(row.exposures.clone()),
                TableCell::Text(row.basis.clone()),
                points(row.planted),
                points(row.bias),
                points(row.bias_error),
                points(row.error),
                TableCell::Percent(row.coverage),
            ]
        });
        let title = format!(
            "Planted accounts, basis points a day: {} draws of {} days, {} names, traded every {} days",
            self.draws, self.days, self.names, self.hold_days
        );
        TableData::new(title, heads).with_rows(rows).with_note(format!(
            "of a name's own exposure beyond the limits, a share of {:.2} moves the panel's own returns \
             ({:.2} to {:.2}); of a planted 0 and 1 the same measure finds {:.2} and {:.2}",
            self.tail,
            self.tail_interval.0,
            self.tail_interval.1,
            self.tail_of_planted.0,
            self.tail_of_planted.1
        ))
    }
}
