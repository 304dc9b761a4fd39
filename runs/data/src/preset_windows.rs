//! Which of the article's windows a panel can carry.

use ktd_env::{DayIndex, FactorTable, Market};
use ktd_experiment::panel_windows::resolve_window;
use ktd_experiment::window_config::WindowConfig;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;

/// A window of the article on a panel.
pub(super) struct PresetWindow {
    id: String,
    /// Trading days of the window and before it; none where it does not lie inside the panel.
    days: Option<(usize, usize)>,
    /// Members with a bar, on the day of it that has the most.
    most_members: usize,
}

/// A window of the article on a panel, for programs.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct WindowDocument {
    id: String,
    /// Whether the panel can carry it.
    carried: bool,
    /// Whether a day of it has the names that the factor model needs: without one nobody is ranked.
    ranked: bool,
    /// Trading days of it; absent where it does not lie inside the panel.
    #[serde(skip_serializing_if = "Option::is_none")]
    days: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    days_before: Option<usize>,
}

impl PresetWindow {
    /// Whether factors have their least history before its first day.
    fn is_carried(&self) -> bool {
        self.days
            .is_some_and(|(_, before)| FactorTable::MIN_HISTORY_DAYS <= before)
    }

    /// Whether a day of it can be fitted, so that agents are ranked.
    fn is_ranked(&self) -> bool {
        self.is_carried() && FactorTable::MIN_NAMES <= self.most_members
    }

    pub(super) fn document(&self) -> WindowDocument {
        WindowDocument {
            id: self.id.clone(),
            carried: self.is_carried(),
            ranked: self.is_ranked(),
            days: self.days.map(|(days, _)| days),
            days_before: self.days.map(|(_, before)| before),
        }
    }
}

pub(super) fn preset_windows(market: &Market) -> Vec<PresetWindow> {
    let on_panel = |preset: WindowConfig| {
        let days = resolve_window(&preset, market).map_or_else(|_| Vec::new(), |window| window.days);
        PresetWindow {
            id: preset.id,
            days: days.first().map(|first| (days.len(), first.index())),
            most_members: days.iter().map(|day| members(market, *day)).max().unwrap_or(0),
        }
    };
    WindowConfig::presets().map(on_panel).collect()
}

/// Members of a day that have a bar on it.
fn members(market: &Market, day: DayIndex) -> usize {
    let names = market
        .names()
        .filter(|(name, _)| market.bar(*name, day).is_some());
    market.date(day).map_or(0, |date| {
        names.filter(|(name, _)| market.is_member(*name, date)).count()
    })
}

pub(super) fn windows_text(market: &Market) -> String {
    let need = FactorTable::MIN_HISTORY_DAYS;
    let early = format!("fewer than {need} trading days before them");
    let small = format!(
        "carried, but with fewer than {} stocks a day: returns without selection and ranks",
        FactorTable::MIN_NAMES
    );
    let mut text = String::from("\nWindows of the article\n");
    let windows = preset_windows(market);
    let of = |is_of: &dyn Fn(&PresetWindow) -> bool| {
        let ids = windows
            .iter()
            .filter(|window| is_of(window))
            .map(|window| window.id.as_str());
        ids.collect::<Vec<_>>().join(", ")
    };
    for (what, ids) in [
        ("the panel carries", of(&PresetWindow::is_ranked)),
        (
            small.as_str(),
            of(&|window| window.is_carried() && !window.is_ranked()),
        ),
        ("outside the panel", of(&|window| window.days.is_none())),
        (
            early.as_str(),
            of(&|window| window.days.is_some() && !window.is_carried()),
        ),
    ] {
        if !ids.is_empty() {
            // Writing to a string cannot fail.
            writeln!(text, "  {what}: {ids}").ok();
        }
    }
    text
}
