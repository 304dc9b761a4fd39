//! A window of an experiment file, and the presets.

use crate::drawn_windows::DrawConfig;
use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The windows of an experiment: a list of them, or a draw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Windows {
    /// Named by whoever wrote the file.
    Listed(Vec<WindowConfig>),
    /// Drawn with the experiment's secret.
    Drawn(DrawConfig),
}

impl Windows {
    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        match self {
            Self::Listed(windows) => windows.len(),
            Self::Drawn(draw) => draw.draw,
        }
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Those that the file names.
    #[must_use]
    pub fn listed(&self) -> &[WindowConfig] {
        match self {
            Self::Listed(windows) => windows,
            Self::Drawn(_) => &[],
        }
    }

    /// The first alone, to measure by: of a draw one without an auditor's number, which is of the experiment's own key.
    #[must_use]
    pub fn first(&self) -> Self {
        match self {
            Self::Listed(windows) => Self::Listed(windows.iter().take(1).cloned().collect()),
            Self::Drawn(draw) => Self::Drawn(DrawConfig {
                draw: draw.draw.min(1),
                nonce: None,
                ..draw.clone()
            }),
        }
    }
}

impl<'de> Deserialize<'de> for Windows {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Windows;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(
                    "a list of windows, or { draw = 10, days = 43, from = \"2024-01-01\", until = \"2026-04-10\" }",
                )
            }

            fn visit_seq<A: SeqAccess<'de>>(self, windows: A) -> Result<Windows, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(windows)).map(Windows::Listed)
            }

            fn visit_map<A: MapAccess<'de>>(self, draw: A) -> Result<Windows, A::Error> {
                DrawConfig::deserialize(MapAccessDeserializer::new(draw)).map(Windows::Drawn)
            }
        }
        from.deserialize_any(Read)
    }
}

/// A window: a preset by its id (`W1` .. `W10`, `long`), dates, or the panel's last days.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WindowConfig {
    /// Name; it stands in every header.
    pub id: String,
    /// A preset's name (`W1` .. `W10`, `long`), when `id` shall be another: a preset's name tells its dates.
    pub preset: Option<String>,
    /// First date, inclusive.
    pub start: Option<String>,
    /// Last date, inclusive.
    pub end: Option<String>,
    /// The panel's last so many trading days, instead of dates.
    pub last_days: Option<usize>,
}

/// The inclusive dates of a window.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowDates {
    /// First date.
    pub first: String,
    /// Last date.
    pub last: String,
}

/// KTD-Fin's windows, inclusive dates (docs/spec/episode.md#identity).
const PRESET_WINDOWS: [(&str, &str, &str); 11] = [
    ("W1", "2024-04-01", "2024-06-05"),
    ("W2", "2024-05-27", "2024-07-25"),
    ("W3", "2024-07-25", "2024-09-25"),
    ("W4", "2024-09-09", "2024-11-15"),
    ("W5", "2024-10-21", "2024-12-13"),
    ("W6", "2024-12-06", "2025-02-14"),
    ("W7", "2025-03-03", "2025-05-09"),
    ("W8", "2025-07-14", "2025-09-19"),
    ("W9", "2025-10-13", "2025-12-19"),
    ("W10", "2026-02-02", "2026-04-10"),
    ("long", "2024-01-01", "2026-04-10"),
];

impl WindowConfig {
    /// Every preset.
    pub fn presets() -> impl Iterator<Item = Self> {
        PRESET_WINDOWS.into_iter().map(|(id, ..)| Self {
            id: id.to_owned(),
            preset: None,
            start: None,
            end: None,
            last_days: None,
        })
    }

    /// The window's inclusive dates, if it is given by dates or by a preset's name.
    #[must_use]
    pub fn dates(&self) -> Option<WindowDates> {
        if let (Some(start), Some(end)) = (&self.start, &self.end) {
            return Some(WindowDates {
                first: start.clone(),
                last: end.clone(),
            });
        }
        let (_, first, last) = PRESET_WINDOWS
            .into_iter()
            .find(|(id, ..)| id == self.preset.as_ref().unwrap_or(&self.id))?;
        Some(WindowDates {
            first: first.to_owned(),
            last: last.to_owned(),
        })
    }
}
