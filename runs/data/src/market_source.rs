//! Where an experiment's market comes from: a panel file, or the synthetic market.

use crate::DataFileError;
use crate::members::NO_MEMBERSHIP;
use crate::panel_file;
use crate::sectors::UNDATED;
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{Market, Survivors, unsupported_rules};
use ktd_experiment::config::{ExperimentConfig, SyntheticConfig};
use ktd_experiment::data_record::{DataRecord, SyntheticRecord};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A market with what bundles say of it.
#[derive(Debug, Clone)]
pub struct MarketSource {
    /// The panel.
    pub market: Arc<Market>,
    /// What a header says of it.
    pub record: DataRecord,
    /// Where it was read from.
    pub path: Option<PathBuf>,
}

impl MarketSource {
    /// The market of an experiment whose file stands in `base`.
    ///
    /// # Errors
    /// [`DataFileError`] when the panel cannot be read or the synthetic market cannot be made.
    pub fn of(config: &ExperimentConfig, base: &Path) -> Result<Self, DataFileError> {
        Self::named(config.panel.as_deref(), config.synthetic, base)
    }

    /// The market that a configuration in `base` names: a panel file, or without one a synthetic market.
    ///
    /// # Errors
    /// [`DataFileError`] when the panel cannot be read or the synthetic market cannot be made.
    pub fn named(
        panel: Option<&Path>,
        synthetic: Option<SyntheticConfig>,
        base: &Path,
    ) -> Result<Self, DataFileError> {
        match panel {
            Some(panel) => Self::from_file(&base.join(panel)),
            None => Self::synthetic(&synthetic_record(synthetic)),
        }
    }

    /// A panel file.
    ///
    /// # Errors
    /// [`DataFileError`] when it cannot be read.
    pub fn from_file(path: &Path) -> Result<Self, DataFileError> {
        let market = panel_file::load_panel(path)?;
        // A bundle is replayed from anywhere, so it keeps the whole path.
        let whole = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Ok(Self::new(market, None, Some(whole)))
    }

    /// A synthetic market.
    ///
    /// # Errors
    /// [`DataFileError::Input`] for sizes it cannot have.
    pub fn synthetic(record: &SyntheticRecord) -> Result<Self, DataFileError> {
        let config = SynthConfig {
            seed: record.seed,
            names: record.names,
            days: record.days,
        };
        let market =
            generate(&config).map_err(|error| DataFileError::input(error.to_string(), error.hint()))?;
        Ok(Self::new(market, Some(record.clone()), None))
    }

    /// A market with what a header says of it: its synthetic configuration, or where its file lies.
    #[must_use]
    pub fn new(market: Market, synthetic: Option<SyntheticRecord>, path: Option<PathBuf>) -> Self {
        let record = DataRecord {
            panel_blake3: ktd_masking::hex(&market.content_hash()),
            amount_declared: market.amount_declared(),
            limitations: limitations(&market),
            synthetic,
        };
        Self {
            market: Arc::new(market),
            record,
            path,
        }
    }
}

/// The market that a bundle was made on: `panel` where one is named, else the synthetic market that the record tells, else
/// `kept`, where the panel was then.
///
/// # Errors
/// [`DataFileError::Input`] when there is none, or it is another one.
pub fn market_of(
    record: &DataRecord,
    kept: Option<&Path>,
    panel: Option<&Path>,
) -> Result<MarketSource, DataFileError> {
    RecordedMarkets::new(panel).of(record, kept)
}

/// Markets that one bundle after the other was made on. The last stays open: those of a folder are mostly of one panel.
#[derive(Debug)]
pub struct RecordedMarkets<'p> {
    panel: Option<&'p Path>,
    last: Option<MarketSource>,
}

impl<'p> RecordedMarkets<'p> {
    /// Markets of bundles, in a panel file where one is named.
    #[must_use]
    pub const fn new(panel: Option<&'p Path>) -> Self {
        Self { panel, last: None }
    }

    /// The market of a record, as [`market_of`] finds it.
    ///
    /// # Errors
    /// [`DataFileError::Input`] when there is none, or it is another one.
    pub fn of(&mut self, record: &DataRecord, kept: Option<&Path>) -> Result<MarketSource, DataFileError> {
        let is_it = |open: &&MarketSource| open.record.panel_blake3 == record.panel_blake3;
        let source = match self.last.as_ref().filter(is_it) {
            Some(open) => open.clone(),
            None => opened(record, kept, self.panel)?,
        };
        self.last = Some(source.clone());
        let mut source = source;
        source.record.synthetic.clone_from(&record.synthetic);
        Ok(source)
    }
}

fn opened(
    record: &DataRecord,
    kept: Option<&Path>,
    panel: Option<&Path>,
) -> Result<MarketSource, DataFileError> {
    let source = match (panel, &record.synthetic, kept) {
        (Some(path), ..) => MarketSource::from_file(path)?,
        (None, None, Some(path)) if path.exists() => MarketSource::from_file(path)?,
        (None, None, Some(path)) => {
            return Err(DataFileError::input(
                format_args!(
                    "{}: the panel that the bundle was made on is not there any more",
                    path.display()
                ),
                "name where it lies now with --panel",
            ));
        }
        (None, Some(synthetic), _) => MarketSource::synthetic(synthetic)?,
        (None, None, None) => {
            return Err(DataFileError::input(
                "the bundle does not say where its panel is",
                "name it with --panel",
            ));
        }
    };
    if source.record.panel_blake3 != record.panel_blake3 {
        let what = format!(
            "the panel's hash is {}, but the bundle was made on {}",
            source.record.panel_blake3, record.panel_blake3
        );
        return Err(DataFileError::input(
            what,
            "name the panel the bundle was made on with --panel",
        ));
    }
    Ok(source)
}

fn synthetic_record(config: Option<SyntheticConfig>) -> SyntheticRecord {
    let defaults = SynthConfig::default();
    let config = config.unwrap_or(SyntheticConfig {
        seed: None,
        names: None,
        days: None,
    });
    SyntheticRecord {
        seed: config.seed.unwrap_or(defaults.seed),
        names: config.names.unwrap_or(defaults.names),
        days: config.days.unwrap_or(defaults.days),
    }
}

/// What the panel cannot support, in words that name no stock and no day.
fn limitations(market: &Market) -> Vec<String> {
    let notes = market.notes().iter();
    let notes = notes.filter(|note| [UNDATED, NO_MEMBERSHIP].contains(&note.as_str()));
    unsupported_rules(market)
        .into_iter()
        .map(|rule| rule.text().to_owned())
        .chain(Survivors::of_panel(market).text("the panel"))
        .chain(notes.cloned())
        .collect()
}
