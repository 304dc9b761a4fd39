//! The folder of one model's conversations.

use crate::AskingError;
use ktd_agents::Transport;
use ktd_client::AskedModel;
use ktd_client::conversations::Conversations;
use ktd_client::money::Metering;
use ktd_experiment::config::RetryConfig;
use ktd_io::lock::FileLock;
use ktd_io::whole_file::{json_bytes, parse_json, read_if_exists, write_whole};
use ktd_record::RecordPaths;
use ktd_record::exchanges::{Cassette, ExchangeStore, each_exchange};
use ktd_record::spending::Spending;
use std::collections::BTreeMap;
use std::path::Path;

const SPENDING: &str = "spending.json";

/// Conversations with one model and the folder that keeps them: `exchanges.jsonl.zst`, and `spending.json` once they have
/// ended.
#[expect(missing_debug_implementations, reason = "a transport may hold a key")]
pub struct AskedRecord<'a> {
    paths: RecordPaths,
    conversations: Conversations<'a>,
    store: Option<ExchangeStore>,
    _lock: Option<FileLock>,
}

impl<'a> AskedRecord<'a> {
    /// The record of a folder, which is made and held for this process, with somebody who answers what it lacks. What it
    /// holds is not asked again.
    ///
    /// # Errors
    /// [`AskingError`] where another process writes the folder, or its exchanges cannot be read.
    pub fn continued(
        folder: &Path,
        model: &'a AskedModel,
        metering: &'a Metering,
        retries: RetryConfig,
        transport: &'a dyn Transport,
    ) -> Result<Self, AskingError> {
        let paths = RecordPaths::new(folder);
        paths.create()?;
        let lock = paths.lock_for_writing()?;
        let cassette = Cassette::read(&paths.exchanges())?;
        let store = ExchangeStore::continue_after(&paths.exchanges(), &cassette)?;
        let live = Some((store.clone(), transport));
        Ok(Self {
            paths,
            conversations: Conversations::new(model, metering, retries, cassette, live),
            store: Some(store),
            _lock: Some(lock),
        })
    }

    /// The record of a folder alone: nobody is asked, nothing is written.
    ///
    /// # Errors
    /// [`AskingError`] where its exchanges cannot be read.
    pub fn closed(folder: &Path, model: &'a AskedModel, metering: &'a Metering) -> Result<Self, AskingError> {
        let paths = RecordPaths::new(folder);
        let cassette = Cassette::read(&paths.exchanges())?;
        let retries = RetryConfig::default();
        Ok(Self {
            paths,
            conversations: Conversations::new(model, metering, retries, cassette, None),
            store: None,
            _lock: None,
        })
    }

    /// The conversations.
    #[must_use]
    pub const fn conversations(&self) -> &Conversations<'a> {
        &self.conversations
    }

    /// What all that is recorded now cost. Prices are no part of a record: of a closed one it is what was noted when it was closed.
    ///
    /// # Errors
    /// [`AskingError`] where the exchanges cannot be read.
    pub fn spending(&self) -> Result<Spending, AskingError> {
        let tariff = &self.conversations.model().payer.tariff;
        let spent = Spending::of(&self.paths.exchanges(), tariff)?;
        let path = self.paths.root().join(SPENDING);
        let noted = match &self.store {
            Some(_) => None,
            None => read_if_exists(&path)?,
        };
        let Some(noted) = noted else { return Ok(spent) };
        let noted: Spending = parse_json(&path, &noted)?;
        Ok(Spending {
            cost: noted.cost,
            vendor_cost: noted.vendor_cost,
            ..spent
        })
    }

    /// What all that is recorded now cost, by the step of the conversations.
    ///
    /// # Errors
    /// [`AskingError`] where the exchanges cannot be read.
    pub fn spending_by_step(&self) -> Result<BTreeMap<usize, Spending>, AskingError> {
        let tariff = &self.conversations.model().payer.tariff;
        let mut by_step: BTreeMap<usize, Spending> = BTreeMap::new();
        each_exchange(&self.paths.exchanges(), |exchange| {
            let own = by_step.entry(exchange.at().step);
            own.or_insert_with(Spending::nothing)
                .add_exchange(exchange, tariff);
            Ok(())
        })?;
        Ok(by_step)
    }

    /// What all that is recorded now cost, by the place of requests in their conversations, from 1.
    ///
    /// # Errors
    /// [`AskingError`] where the exchanges cannot be read.
    pub fn spending_by_round(&self) -> Result<BTreeMap<u32, Spending>, AskingError> {
        let tariff = &self.conversations.model().payer.tariff;
        let mut rounds: BTreeMap<u32, Spending> = BTreeMap::new();
        each_exchange(&self.paths.exchanges(), |exchange| {
            let spent = rounds.entry(exchange.at().ordinal.saturating_add(1));
            let spent = spent.or_insert_with(|| Spending::begin(tariff));
            spent.add_exchange(exchange, tariff);
            Ok(())
        })?;
        Ok(rounds)
    }

    /// Closes the exchanges of a record that was continued, and writes what they cost.
    ///
    /// # Errors
    /// [`AskingError`] where they cannot be written.
    pub fn finish(&self) -> Result<Spending, AskingError> {
        if let Some(store) = &self.store {
            store.finish()?;
        }
        let spending = self.spending()?;
        if self.store.is_some() {
            let path = self.paths.root().join(SPENDING);
            write_whole(&path, &json_bytes(&path, &spending)?)?;
        }
        Ok(spending)
    }
}
