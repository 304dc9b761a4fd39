//! Opening a bundle again: header, private part, panel, and the episode they describe.

use crate::bundle::header::{Header, PrivateEpisode};
use crate::bundle::{BundlePaths, FORMAT_VERSION, json_bytes, read_json};
use crate::episode::{EpisodeInput, Shared};
use crate::error::RunError;
use crate::experiment::cells::{Cell, Window, days_between, parse_mask, parse_mode};
use crate::experiment::config::RetryConfig;
use crate::experiment::market_source::MarketSource;
use crate::experiment::run::{factor_table, toolbox};
use crate::money::Basis;
use ktd_env::TradeDate;
use ktd_guard::Guards;
use ktd_masking::MaskKey;
use std::path::Path;
use std::sync::Arc;

/// A bundle with all that is needed to run its episode again.
#[derive(Debug)]
pub struct OpenBundle {
    /// Its files.
    pub paths: BundlePaths,
    /// Its header.
    pub header: Header,
    /// The cell it describes.
    pub cell: Cell,
    /// The episode's mask key.
    pub key: MaskKey,
    /// Panel and limits.
    pub shared: Shared,
}

/// Reads a bundle's header.
///
/// # Errors
/// [`RunError`] when it is missing, damaged or of another format.
pub fn read_header(paths: &BundlePaths) -> Result<Header, RunError> {
    let path = paths.header();
    if !path.exists() {
        let what = format!("{} is no bundle: it has no header.json", paths.root().display());
        return Err(RunError::input(
            what,
            "name the directory of one episode, such as results/NAME/cells/CELL",
        ));
    }
    let header: Header = read_json(&path)?;
    if header.format != FORMAT_VERSION {
        let what = format!(
            "bundle format {}, but this program reads format {FORMAT_VERSION}",
            header.format
        );
        return Err(RunError::damaged(&path, what));
    }
    Ok(header)
}

/// Reads a bundle's private part and checks it against the header's commitment.
///
/// # Errors
/// [`RunError`] when it is missing, damaged or not the one the header commits to.
pub fn read_private(paths: &BundlePaths, header: &Header) -> Result<(PrivateEpisode, MaskKey), RunError> {
    let path = paths.episode();
    if !path.exists() {
        let what = format!(
            "{} has no private part: its stocks and days cannot be named",
            paths.root().display()
        );
        return Err(RunError::input(
            what,
            "ask the bundle's owner for private/; `ktd verify` checks what it can without",
        ));
    }
    let private: PrivateEpisode = read_json(&path)?;
    let bytes = std::fs::read(&path).map_err(RunError::io("read", &path))?;
    if private != private.clone().sealed() || bytes != json_bytes(&path, &private)? {
        return Err(RunError::damaged(&path, "it was changed: its seal does not fit"));
    }
    let key =
        MaskKey::parse(&private.mask_key).map_err(|error| RunError::damaged(&path, error.to_string()))?;
    if key.commitment() != header.mask.commitment {
        return Err(RunError::damaged(
            &path,
            "its mask key is not the one that header.json commits to",
        ));
    }
    Ok((private, key))
}

impl OpenBundle {
    /// Opens a bundle. `panel` overrides where its panel is looked for.
    ///
    /// # Errors
    /// [`RunError`] when a part is missing, damaged, or the panel is another one.
    pub fn open(root: &Path, panel: Option<&Path>) -> Result<Self, RunError> {
        let paths = BundlePaths::new(root);
        let header = read_header(&paths)?;
        let (private, key) = read_private(&paths, &header)?;
        let kept = private.panel.as_deref().map(Path::new);
        let source = market_of(&header, kept, panel)?;
        let date = |text: &str| {
            TradeDate::parse(text).map_err(|error| RunError::damaged(&paths.episode(), error.to_string()))
        };
        let (first, last) = (date(&private.first_day)?, date(&private.last_day)?);
        let days = days_between(&header.window.id, first, last, &source.market)?;
        let cell = Cell {
            id: header.cell.clone(),
            agent: header.agent.clone(),
            provider: header.provider.clone(),
            basis: Basis::of(header.agent.is_ours(), header.prices.clone()),
            window: Window {
                id: header.window.id.clone(),
                days,
            },
            mask: parse_mask(&header.mask.level, &header.mask.numeric)?,
            mode: parse_mode(&header.mode)?,
            seed: header.seed,
            branch: header.branch.clone(),
        };
        let factors = factor_table(&source.market, std::slice::from_ref(&cell))?;
        let shared = Shared {
            experiment: header.experiment.clone(),
            market: Arc::clone(&source.market),
            factors: Arc::new(factors),
            toolbox: toolbox()?,
            data: source.record,
            panel: source.path,
            rules: header.rules.clone(),
            session: header.session,
            tools: header.tools,
            retries: RetryConfig::default(),
            guards: Guards::default(),
            metering: Arc::default(),
        };
        Ok(Self {
            paths,
            header,
            cell,
            key,
            shared,
        })
    }

    /// The episode to run again.
    #[must_use]
    pub fn input(&self) -> EpisodeInput<'_> {
        EpisodeInput {
            shared: &self.shared,
            cell: &self.cell,
            key: self.key.clone(),
        }
    }
}

/// The market that a bundle was made on: `panel` where one is named, else the synthetic market that the header tells, else
/// `kept`, where the panel was then.
///
/// # Errors
/// [`RunError::Input`] when there is none, or it is another one.
pub fn market_of(
    header: &Header,
    kept: Option<&Path>,
    panel: Option<&Path>,
) -> Result<MarketSource, RunError> {
    let source = match (panel, &header.data.synthetic, kept) {
        (Some(path), ..) | (None, None, Some(path)) => MarketSource::from_file(path)?,
        (None, Some(synthetic), _) => MarketSource::synthetic(synthetic)?,
        (None, None, None) => {
            return Err(RunError::input(
                "the bundle does not say where its panel is",
                "name it with --panel",
            ));
        }
    };
    if source.record.panel_blake3 != header.data.panel_blake3 {
        let what = format!(
            "the panel's hash is {}, but the bundle was made on {}",
            source.record.panel_blake3, header.data.panel_blake3
        );
        return Err(RunError::input(
            what,
            "name the panel the bundle was made on with --panel",
        ));
    }
    let mut source = source;
    source.record.synthetic.clone_from(&header.data.synthetic);
    Ok(source)
}
