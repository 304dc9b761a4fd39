//! The real stocks and days behind what models saw, for the owner of the private part.

use super::SideOptions;
use crate::ReasonsError;
use ktd_bundle::finished_episode::OpenedBundle;
use ktd_data::market_source::market_of;
use ktd_env::{DayIndex, Fen, Market, TradeDate};
use ktd_masking::{EpisodeFrame, Mask, MaskSettings};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Opens masks, each panel once.
pub(super) struct PanelCache {
    is_asked: bool,
    panel: Option<PathBuf>,
    markets: BTreeMap<String, Arc<Market>>,
}

/// The mask of one episode, opened.
pub(super) struct RevealedNames {
    market: Arc<Market>,
    mask: Mask,
    days: Vec<DayIndex>,
}

impl PanelCache {
    pub(super) fn new(options: &SideOptions) -> Self {
        Self {
            is_asked: options.real,
            panel: options.panel.clone(),
            markets: BTreeMap::new(),
        }
    }

    /// The mask of an episode; `None` unless real names were asked for.
    ///
    /// # Errors
    /// [`ReasonsError`] when the private part or the panel is missing or damaged.
    pub(super) fn of(&mut self, opened: &OpenedBundle) -> Result<Option<RevealedNames>, ReasonsError> {
        if !self.is_asked {
            return Ok(None);
        }
        let header = &opened.bundle.header;
        let root = opened.bundle.root.display();
        let key = opened.key().ok_or_else(|| {
            ReasonsError::input(
                format!("{root} has no private part: its stocks and days cannot be named"),
                "ask the bundle's owner for private/",
            )
        })?;
        let hash = &header.data.panel_blake3;
        let market = if let Some(market) = self.markets.get(hash) {
            Arc::clone(market)
        } else {
            market_of(&header.data, opened.panel().as_deref(), self.panel.as_deref())?.market
        };
        self.markets.insert(hash.clone(), Arc::clone(&market));
        let days = opened.panel_days(&market)?.unwrap_or_default();
        let frame = EpisodeFrame {
            market: &market,
            window: &days,
            // Names and days do not hang on it.
            initial_cash: Fen(1),
        };
        let settings = MaskSettings {
            level: header.mask.level,
            numeric: header.mask.numeric,
        };
        let mask = Mask::new(settings, key, &frame).ok_or_else(|| {
            ReasonsError::input(
                format!("the panel has no day before {}", root),
                "name the panel the bundle was made on with --panel",
            )
        })?;
        Ok(Some(RevealedNames { market, mask, days }))
    }
}

impl RevealedNames {
    /// Code and company of a stock as the model wrote it; `None` for one that is not of the episode.
    pub(super) fn stock(&self, stock_id: &str) -> Option<String> {
        let info = self.market.name(self.mask.resolve(stock_id).ok()?)?;
        let company = info.company_names.first().map_or("", String::as_str);
        Some(
            format!("{} {company}", info.ticker.reveal())
                .trim_end()
                .to_owned(),
        )
    }

    /// The date of a 1-based step.
    pub(super) fn date(&self, step: usize) -> Option<String> {
        let day = self.days.get(step.checked_sub(1)?)?;
        self.market.date(*day).map(TradeDate::reveal)
    }
}
