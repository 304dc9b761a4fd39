//! Opening an experiment's accounts: what each cell is priced at, what has been spent, which key has which rates.

use crate::force_check::count_measurements;
use crate::money::unknown_cost;
use crate::money::{Budget, Metering, PaymentTerms, Spender};
use crate::{ClientError, PricedAgent};
use ktd_bundle::BundlePaths;
use ktd_bundle::canary::all_bundles;
use ktd_bundle::episode_tariff::tariff_of_header;
use ktd_bundle::header::Header;
use ktd_bundle::open::read_header;
use ktd_bundle::summary_file::read_summary;
use ktd_experiment::amount::Picodollars;
use ktd_experiment::cells::Cell;
use ktd_experiment::config::ExperimentConfig;
use ktd_experiment::price_table::{PriceTable, TokenPricing};
use ktd_io::whole_file::list_if_exists;
use ktd_record::exchanges::Cassette;
use ktd_record::spending::Spending;
use std::path::Path;

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

/// The accounts of an experiment whose bundles are below `output`.
///
/// # Errors
/// [`ClientError`] for rates of a key that no agent uses; and under a budget when a bundle cannot be read, when what it
/// cost is not known, and when another process spends the same budget.
pub fn open_accounts(terms: &PaymentTerms, cells: &[Cell], output: &Path) -> Result<Metering, ClientError> {
    let agents = cells.iter().map(PricedAgent::from);
    terms.metering(agents, output, |budget| count(budget, terms, cells, output))
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
    let agents = std::iter::once(agent);
    terms.metering(agents, output, |budget| count(budget, terms, &[], output))
}

/// Counts what has been spent of a budget: by bundles and by measurements.
fn count(budget: &Budget, terms: &PaymentTerms, cells: &[Cell], output: &Path) -> Result<(), ClientError> {
    let prices = terms.prices.as_ref();
    for bundle in bundles(output)? {
        let header = read_header(&bundle)?;
        let spender = Spender {
            id: header.cell.clone(),
            vendor: header.provider.dialect.id.clone(),
        };
        budget.count(&spender, spent(&bundle, &header, cells, prices)?);
    }
    count_measurements(output, budget, prices)
}

/// All bundles of an experiment, those of cells that the file no longer has and canaries too.
fn bundles(output: &Path) -> Result<Vec<BundlePaths>, ClientError> {
    let folder = output.join("cells");
    let paths = list_if_exists(&folder)?;
    let bundles = paths.iter().map(|path| BundlePaths::new(path));
    let bundles = bundles.chain(all_bundles(output)?);
    Ok(bundles.filter(|bundle| bundle.header().exists()).collect())
}

/// What a bundle has cost: a finished one at the prices it was paid at, an unfinished one at those of today.
fn spent(
    bundle: &BundlePaths,
    header: &Header,
    cells: &[Cell],
    table: Option<&PriceTable>,
) -> Result<Picodollars, ClientError> {
    let is_finished = bundle.summary().exists();
    if is_finished && let Some(total) = read_summary(bundle)?.money.total() {
        return Ok(total);
    }
    let tariff = tariff_of_header(header);
    let today = cells
        .iter()
        .find(|cell| cell.id == header.cell && !is_finished)
        .map(|cell| &cell.basis);
    let basis = match today.unwrap_or(tariff.basis()) {
        TokenPricing::Unknown => {
            let record =
                table.and_then(|table| table.record(&header.provider.dialect.id, header.agent.model_name()));
            TokenPricing::of(false, record)
        }
        known @ (TokenPricing::Free | TokenPricing::Row(_)) => known.clone(),
    };
    let tariff = tariff.at(basis);
    let spending = Spending::of(&Cassette::read(&bundle.exchanges())?, &tariff);
    spending.total().ok_or_else(|| unknown_cost(&header.cell))
}
