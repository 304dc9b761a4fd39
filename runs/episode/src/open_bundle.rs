//! A bundle opened again: header, private part, panel, and the episode they describe.

use crate::{EpisodeError, EpisodeInput, LazyFactors, Shared};
use ktd_bundle::BundlePaths;
use ktd_bundle::header::Header;
use ktd_bundle::open::{opened_window, read_header, read_private};
use ktd_data::market_source::RecordedMarkets;
use ktd_env::TradeDate;
use ktd_experiment::cells::Cell;
use ktd_experiment::config::RetryConfig;
use ktd_experiment::panel_windows::{Window, days_between};
use ktd_experiment::price_table::TokenPricing;
use ktd_experiment::toolbox::toolbox;
use ktd_guard::Guards;
use ktd_masking::{MaskKey, MaskSettings};
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

impl OpenBundle {
    /// Opens a bundle. `panel` overrides where its panel is looked for.
    ///
    /// # Errors
    /// [`EpisodeError`] when a part is missing, damaged, or the panel is another one.
    pub fn open(root: &Path, panel: Option<&Path>) -> Result<Self, EpisodeError> {
        Self::open_on(root, &mut RecordedMarkets::new(panel))
    }

    /// Opens a bundle on the market that others before it left open.
    ///
    /// # Errors
    /// [`EpisodeError`] when a part is missing, damaged, or the panel is another one.
    pub fn open_on(root: &Path, markets: &mut RecordedMarkets<'_>) -> Result<Self, EpisodeError> {
        let paths = BundlePaths::new(root);
        let header = read_header(&paths)?;
        let (private, key) = read_private(&paths, &header)?;
        let kept = private.panel.as_deref().map(Path::new);
        let source = markets.of(&header.data, kept)?;
        let date = |text: &str| {
            TradeDate::parse(text).map_err(|error| EpisodeError::damaged(&paths.episode(), error.to_string()))
        };
        let (first, last) = (date(&private.first_day)?, date(&private.last_day)?);
        let days = days_between(&header.window.id, first, last, &source.market)?;
        let drawn = opened_window((&paths, &header), &private, &days, &source.market)?;
        let cell = Cell {
            id: header.cell.clone(),
            agent: header.agent.clone(),
            provider: (*header.provider).clone(),
            basis: TokenPricing::of(header.agent.is_ours(), header.prices.clone()),
            window: Window {
                id: header.window.id.clone(),
                days,
                drawn,
            },
            mask: MaskSettings {
                level: header.mask.level,
                numeric: header.mask.numeric,
            },
            instruction: header.mask.instruction,
            mode: header.mode,
            seed: header.seed,
            branch: header.branch.clone(),
        };
        let factors = LazyFactors::over(&source.market, std::slice::from_ref(&cell))?;
        let shared = Shared {
            program: header.program.clone(),
            experiment: header.experiment.clone(),
            market: Arc::clone(&source.market),
            factors: Arc::new(factors),
            toolbox: toolbox(&header.tools)?,
            data: source.record,
            panel: source.path,
            rules: header.rules.keys(),
            session: header.session,
            tools: header.tools,
            retries: RetryConfig::default(),
            stop_after: None,
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
