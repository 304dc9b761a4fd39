//! Opening an experiment's accounts: what each cell is priced at, what has been spent, which key has which rates.

use crate::money::{Metering, PaymentTerms};
use crate::spent::count_spent;
use crate::{ClientError, Payer, PricedAgent};
use ktd_experiment::cells::Cell;
use ktd_experiment::config::ExperimentConfig;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Reads an experiment's terms of payment, and prices its cells. `base` is where relative paths start.
///
/// # Errors
/// [`ClientError`] when the price table cannot be read, and when a budget caps what has no price or no bound.
pub fn price_cells(
    cells: &mut [Cell],
    config: &ExperimentConfig,
    base: &Path,
) -> Result<PaymentTerms, ClientError> {
    let terms = PaymentTerms::of_experiment(config, base)?;
    if terms.prices.is_some() {
        for cell in cells.iter_mut() {
            cell.basis = terms.basis(&cell.agent, &cell.provider);
        }
    }
    terms.check(cells.iter().map(PricedAgent::from))?;
    Ok(terms)
}

/// The accounts of an experiment whose bundles are below `output`: what is unfinished has cost what it costs today.
///
/// # Errors
/// [`ClientError`] for rates of a key that no agent uses; and under a budget when a bundle cannot be read, when what it
/// cost is not known, and when another process spends the same budget.
pub fn open_accounts(terms: &PaymentTerms, cells: &[Cell], output: &Path) -> Result<Metering, ClientError> {
    let folder = output.join("cells");
    let of_cell = |cell: &Cell| (folder.join(&cell.id), Payer::of_cell(cell));
    terms.metering(cells.iter().map(PricedAgent::from), output, |budget| {
        let today: BTreeMap<PathBuf, Payer> = cells.iter().map(of_cell).collect();
        count_spent(output, (terms, budget), &|folder| today.get(folder).cloned())
    })
}

/// The same for one agent alone, which is no cell: a measurement's.
///
/// # Errors
/// As [`open_accounts`].
pub fn open_accounts_of_one(
    terms: &PaymentTerms,
    agent: PricedAgent<'_>,
    output: &Path,
) -> Result<Metering, ClientError> {
    terms.metering(std::iter::once(agent), output, |budget| {
        count_spent(output, (terms, budget), &|_| None)
    })
}
