//! One measurement's folder: its exchanges, and who pays for them at which price, so that a budget counts them later.

use super::record::exchanges_folder;
use super::talk::output_tokens;
use crate::money::{KeyName, Spender};
use crate::{ClientError, Payer};
use ktd_experiment::config::AgentConfig;
use ktd_experiment::price_table::{PriceTable, PricesRecord, TokenPricing};
use ktd_experiment::provider::Provider;
use ktd_io::whole_file::{create_private, json_bytes, list_if_exists, read_json, write_whole};
use ktd_record::tariff::Tariff;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Whom a probe asks, and when.
#[derive(Debug, Clone, Copy)]
pub struct Probed<'a> {
    /// The agent.
    pub agent: &'a AgentConfig,
    /// How its model is spoken to.
    pub provider: &'a Provider,
    /// Now, seconds since 1970.
    pub at_unix_seconds: u64,
}

/// Who was measured, and the prices of that day: `payer.json`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PayerRecord {
    agent: AgentConfig,
    provider: Provider,
    prices: Option<PricesRecord>,
}

/// Folder of one measurement of an agent: `probes/AGENT/N` of the results directory.
#[derive(Debug)]
pub struct Measurement {
    folder: PathBuf,
    payer: Payer,
}

impl Measurement {
    /// A new one, beside those that were made before.
    ///
    /// # Errors
    /// [`ClientError::File`].
    pub fn begin(results: &Path, probed: Probed<'_>, basis: &TokenPricing) -> Result<Self, ClientError> {
        let all = exchanges_folder(results, &probed.agent.id);
        let number = list_if_exists(&all)?.len() + 1;
        let folder = all.join(number.to_string());
        create_private(&folder)?;
        let record = PayerRecord {
            agent: probed.agent.clone(),
            provider: probed.provider.clone(),
            prices: basis.record().cloned(),
        };
        let path = payer_path(&folder);
        write_whole(&path, &json_bytes(&path, &record)?)?;
        Ok(Self {
            folder,
            payer: payer(&record, basis.clone()),
        })
    }

    /// Who pays for it.
    #[must_use]
    pub const fn payer(&self) -> &Payer {
        &self.payer
    }

    /// Where its exchanges are.
    #[must_use]
    pub fn exchanges(&self) -> PathBuf {
        exchanges_path(&self.folder)
    }
}

/// Who paid for the measurement in a folder, at the prices of that day or, where there were none, of today; none where the
/// folder holds no measurement.
///
/// # Errors
/// [`ClientError`] when the record cannot be read.
pub fn measurement_payer(folder: &Path, prices: Option<&PriceTable>) -> Result<Option<Payer>, ClientError> {
    let path = payer_path(folder);
    if !path.exists() {
        return Ok(None);
    }
    let record: PayerRecord = read_json(&path)?;
    let today = || prices?.record(&record.provider.dialect.id, record.agent.model_name());
    let basis = TokenPricing::of(false, record.prices.clone().or_else(today));
    Ok(Some(payer(&record, basis)))
}

/// A measurement asks for far shorter replies than its agent may give.
fn payer(PayerRecord { agent, provider, .. }: &PayerRecord, basis: TokenPricing) -> Payer {
    Payer {
        spender: Spender {
            id: format!("measurement of {}", agent.id),
            vendor: provider.dialect.id.clone(),
            pays_itself: false,
        },
        key: KeyName::of(agent, provider),
        tariff: Tariff::new(provider.clone(), basis, Some(output_tokens(provider))),
    }
}

fn payer_path(folder: &Path) -> PathBuf {
    folder.join("payer.json")
}

fn exchanges_path(folder: &Path) -> PathBuf {
    folder.join("exchanges.jsonl.zst")
}
