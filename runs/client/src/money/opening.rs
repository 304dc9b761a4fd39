//! Opening an experiment's accounts: what each cell is priced at, what has been spent, which key has which rates.

use super::budget::{Budget, Spender};
use super::meter::Metering;
use super::rate_gate::{Gates, KeyName};
use crate::ClientError;
use ktd_bundle::BundlePaths;
use ktd_bundle::exchanges::Cassette;
use ktd_bundle::header::Header;
use ktd_bundle::open::read_header;
use ktd_bundle::spending::Spending;
use ktd_bundle::summary_file::read_summary;
use ktd_bundle::tariff::Tariff;
use ktd_experiment::amount::Picodollars;
use ktd_experiment::caps::Caps;
use ktd_experiment::cells::Cell;
use ktd_experiment::config::ExperimentConfig;
use ktd_experiment::price_table::{Basis, PriceTable};
use ktd_experiment::rate_limits::RateLimits;
use ktd_io::lock::FileLock;
use ktd_io::whole_file::{create_private, list_if_exists};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Reads the experiment's price table, if it names one, and prices its cells. `base` is where relative paths start.
///
/// # Errors
/// [`ClientError`] when the table cannot be read, and when a budget caps what has no price or no bound.
pub fn price_cells(
    cells: &mut [Cell],
    config: &ExperimentConfig,
    base: &Path,
) -> Result<Option<PriceTable>, ClientError> {
    let table = config
        .prices
        .as_ref()
        .map(|path| PriceTable::read(&base.join(path)));
    let table = table.transpose()?;
    if let Some(table) = &table {
        for cell in cells.iter_mut() {
            let record = table.record(&cell.provider.dialect.id, cell.agent.model_name());
            cell.basis = Basis::of(cell.agent.is_ours(), record);
        }
    }
    if config.budget.is_any() {
        if table.is_none() {
            return Err(ClientError::input(
                "there is a `[budget]`, but no price table",
                "write prices = \"prices.json\"; see docs/money.md for its form",
            ));
        }
        cells.iter().try_for_each(check_bound)?;
        check_vendors(&config.budget, cells)?;
    }
    Ok(table)
}

/// Under a budget every call has a most.
fn check_bound(cell: &Cell) -> Result<(), ClientError> {
    let agent = &cell.agent;
    if cell.basis == Basis::Unknown {
        let vendor = &cell.provider.dialect.id;
        let what = format!(
            "agent {:?}: the price table has no row for model {:?} at vendor {vendor:?}",
            agent.id,
            agent.model_name()
        );
        return Err(ClientError::input(what, "add a row, or take the `[budget]` out"));
    }
    if cell.basis != Basis::Free && agent.max_output_tokens().is_none() {
        let what = format!(
            "agent {:?}: there is a budget, but no `max_output_tokens`: a call could cost anything",
            agent.id
        );
        return Err(ClientError::input(
            what,
            "write max_output_tokens = 8192, or what the model needs",
        ));
    }
    Ok(())
}

fn check_vendors(caps: &Caps, cells: &[Cell]) -> Result<(), ClientError> {
    let paid = cells.iter().filter(|cell| !cell.agent.is_ours());
    let mut vendors: Vec<&str> = paid.map(|cell| cell.provider.dialect.id.as_str()).collect();
    vendors.sort_unstable();
    vendors.dedup();
    match caps.vendor.keys().find(|id| !vendors.contains(&id.as_str())) {
        None => Ok(()),
        Some(id) => Err(ClientError::input(
            format!("`[budget]` has a cap for vendor {id:?}, which no agent uses"),
            format!("the agents' vendors are: {}", vendors.join(", ")),
        )),
    }
}

/// The accounts of an experiment whose bundles are below `output`.
///
/// # Errors
/// [`ClientError`] for rates of a key that no agent uses; and under a budget when a bundle cannot be read, when what it
/// cost is not known, and when another process spends the same budget.
pub fn open_accounts(
    config: &ExperimentConfig,
    cells: &[Cell],
    table: Option<&PriceTable>,
    output: &Path,
) -> Result<Metering, ClientError> {
    let gates = Gates::new(limits(config, cells)?);
    if !config.budget.is_any() {
        return Ok(Metering {
            gates,
            ..Metering::default()
        });
    }
    let lock = lock(output)?;
    let budget = Budget::new(config.budget.clone());
    for bundle in bundles(output)? {
        let header = read_header(&bundle)?;
        let spender = Spender {
            id: header.cell.clone(),
            vendor: header.provider.dialect.id.clone(),
        };
        budget.count(&spender, spent(&bundle, &header, cells, table)?);
    }
    Ok(Metering {
        budget: Some(Arc::new(budget)),
        gates,
        lock: Some(lock),
    })
}

/// The limits of every key, those under `[rates]` and those of the agents that use it.
///
/// # Errors
/// [`ClientError::Input`] for rates of a key that no agent uses.
pub fn limits(
    config: &ExperimentConfig,
    cells: &[Cell],
) -> Result<BTreeMap<KeyName, RateLimits>, ClientError> {
    let mut limits: BTreeMap<KeyName, RateLimits> = BTreeMap::new();
    for cell in cells.iter().filter(|cell| !cell.agent.is_ours()) {
        let name = KeyName::of(&cell.agent, &cell.provider);
        let of_key = config.rates.get(&name.key).copied().unwrap_or_default();
        let of_agent = cell.agent.rates().unwrap_or_default();
        let limit = limits.entry(name).or_default();
        *limit = limit.and(of_key).and(of_agent);
    }
    let is_used = |key: &String| limits.keys().any(|name| name.key == *key);
    match config.rates.keys().find(|key| !is_used(key)) {
        None => Ok(limits),
        Some(key) => Err(ClientError::input(
            format!("`[rates]` has limits for {key:?}, which no agent's key is called"),
            "name the `api_key_env` or `api_key_file` of an agent, or write `rates` at the agent",
        )),
    }
}

/// Two processes that spend one budget would not know of each other.
fn lock(output: &Path) -> Result<FileLock, ClientError> {
    let folder = output.join("private");
    create_private(&folder)?;
    Ok(FileLock::take(&folder.join("budget.lock"), output)?)
}

/// All bundles of an experiment, those of cells that the file no longer has too.
fn bundles(output: &Path) -> Result<Vec<BundlePaths>, ClientError> {
    let folder = output.join("cells");
    let paths = list_if_exists(&folder)?;
    let bundles = paths.iter().map(|path| BundlePaths::new(path));
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
    let tariff = Tariff::of_header(header);
    let today = cells
        .iter()
        .find(|cell| cell.id == header.cell && !is_finished)
        .map(|cell| &cell.basis);
    let basis = match today.unwrap_or(tariff.basis()) {
        Basis::Unknown => {
            let record =
                table.and_then(|table| table.record(&header.provider.dialect.id, header.agent.model_name()));
            Basis::of(false, record)
        }
        known @ (Basis::Free | Basis::Row(_)) => known.clone(),
    };
    let tariff = tariff.at(basis);
    let spending = Spending::of(&Cassette::read(&bundle.exchanges())?, &tariff);
    spending.total().ok_or_else(|| {
        ClientError::input(
            format!(
                "there is a budget, but what {} has cost is not known",
                header.cell
            ),
            "add a row for its model to the price table, or move its bundle away",
        )
    })
}
