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
}

/// A window of the article on a panel, for programs.
#[derive(Debug, JsonSchema, Serialize)]
pub(super) struct WindowDocument {
    id: String,
    /// Whether the panel can carry it.
    carried: bool,
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

    pub(super) fn document(&self) -> WindowDocument {
        WindowDocument {
            id: self.id.clone(),
            carried: self.is_carried(),
            days: self.days.map(|(days, _)| days),
            days_before: self.days.map(|(_, before)| before),
        }
    }
}

pub(super) fn preset_windows(market: &Market) -> Vec<PresetWindow> {
    let on_panel = |preset: WindowConfig| {
        let days = resolve_window(&preset, market).ok().map(|window| window.days);
        let counted = |days: Vec<DayIndex>| Some((days.len(), days.first()?.index()));
        PresetWindow {
            id: preset.id,
            days: days.and_then(counted),
        }
    };
    WindowConfig::presets().map(on_panel).collect()
}

pub(super) fn windows_text(market: &Market) -> String {
    let need = FactorTable::MIN_HISTORY_DAYS;
    let early = format!("fewer than {need} trading days before them");
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
        ("the panel carries", of(&PresetWindow::is_carried)),
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
