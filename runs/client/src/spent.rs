//! What everything that is recorded in the folder of a study has cost.

use crate::force_check::measurement_payer;
use crate::money::KeyName;
use crate::money::{Budget, PaymentTerms, Spender};
use crate::{AskedModel, ClientError, Payer};
use ktd_bundle::BundlePaths;
use ktd_bundle::episode_tariff::tariff_of_header;
use ktd_bundle::open::read_header;
use ktd_bundle::summary_file::read_summary;
use ktd_experiment::config::AgentConfig;
use ktd_experiment::price_table::TokenPricing;
use ktd_experiment::provider::Provider;
use ktd_io::whole_file::{list_if_exists, read_json};
use ktd_record::RecordPaths;
use ktd_record::spending::Spending;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// How deep below the folder of a study records lie, at most: `canaries/AGENT/NUMBER`.
const DEPTH: usize = 3;

/// Who pays today for the record in a folder; none where it must say so itself.
pub type PayerOf<'p> = &'p dyn Fn(&Path) -> Option<Payer>;

/// Counts everything that is recorded below the folder of a study: units and cells, those that its file no longer has and those
/// that were lost among them, canaries, measurements. A finished episode has cost what it was paid at; everything else what
/// `payer_of` says, or its own record, or the table of today.
///
/// # Errors
/// [`ClientError`] when a record cannot be read, and when what it cost is not known.
pub fn count_spent(
    study: &Path,
    (terms, budget): (&PaymentTerms, &Budget),
    payer_of: PayerOf<'_>,
) -> Result<(), ClientError> {
    for folder in record_folders(study)? {
        let paths = RecordPaths::new(&folder);
        let finished = finished_spending(&folder)?;
        let today = || payer_of(&folder).filter(|_| finished.is_none());
        let payer = today().map_or_else(|| recorded_payer(&folder, terms), Ok)?;
        // Its exchanges need not be read where no send of it was lost.
        let whole = finished.filter(|money| money.sends.unknown == 0);
        match whole.and_then(|money| money.total()) {
            Some(total) => budget.count(&payer.spender, total),
            None => payer.count_recorded(&paths.exchanges(), budget)?,
        }
    }
    Ok(())
}

/// The folders below a study that hold exchanges.
fn record_folders(study: &Path) -> Result<Vec<PathBuf>, ClientError> {
    let (mut found, mut open) = (Vec::new(), vec![(study.to_owned(), 0)]);
    while let Some((folder, depth)) = open.pop() {
        for path in list_if_exists(&folder)? {
            let paths = RecordPaths::new(&path);
            if paths.exchanges().exists() || paths.open_exchanges().exists() {
                found.push(path);
            } else if depth + 1 < DEPTH && path.is_dir() && !path.ends_with("private") {
                open.push((path, depth + 1));
            }
        }
    }
    found.sort();
    Ok(found)
}

/// What a finished episode has cost.
fn finished_spending(folder: &Path) -> Result<Option<Spending>, ClientError> {
    let bundle = BundlePaths::new(folder);
    let is_finished = bundle.summary().exists();
    Ok(is_finished
        .then(|| read_summary(&bundle))
        .transpose()?
        .map(|summary| summary.money))
}

/// Whom a unit asked: the part of its `agent.json` that says who pays.
#[derive(Deserialize)]
struct Asked {
    agent: AgentConfig,
    provider: Provider,
}

/// Who pays for a record by what lies beside it.
fn recorded_payer(folder: &Path, terms: &PaymentTerms) -> Result<Payer, ClientError> {
    if let Some(payer) = measurement_payer(folder, terms.prices.as_ref())? {
        return Ok(payer);
    }
    let asked = folder.join("agent.json");
    if asked.exists() {
        let Asked { agent, provider } = read_json(&asked)?;
        return Ok(AskedModel::new(&agent, provider, terms, ("", 0)).payer);
    }
    let header = read_header(&BundlePaths::new(folder))?;
    let tariff = tariff_of_header(&header);
    let basis = match tariff.basis() {
        TokenPricing::Unknown => terms.basis(&header.agent, &header.provider),
        known @ (TokenPricing::Free | TokenPricing::Row(_)) => known.clone(),
    };
    Ok(Payer {
        spender: Spender {
            id: header.cell.clone(),
            vendor: header.provider.dialect.id.clone(),
            pays_itself: header.agent.is_outside(),
        },
        key: KeyName::of(&header.agent, &header.provider),
        tariff: tariff.at(basis),
    })
}
