//! Windows on a panel: which trading days they are.

use crate::ExperimentError;
use crate::config::ExperimentConfig;
use crate::drawn_windows::{DrawConfig, DrawRecord, DrawSecret, DrawnWindow};
use crate::mask_arm::MaskArm;
use crate::window_config::{WindowConfig, Windows};
use ktd_env::{DateSpan, DayIndex, FactorTable, Market, TradeDate};
use ktd_masking::{FactorScale, FormulaReader, MaskKey, MaskSettings};

/// A window on a panel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// Its name.
    pub id: String,
    /// Its trading days; the first has a day before it.
    pub days: Vec<DayIndex>,
    /// How it was drawn; `None` for one that the file names.
    pub drawn: Option<DrawnWindow>,
}

/// The windows of an experiment on a panel, in its order.
///
/// # Errors
/// [`ExperimentError::Input`] for a window outside the panel, and for one that begins too soon after the panel for formulas.
pub fn windows(
    config: &ExperimentConfig,
    market: &Market,
    secret: Option<&DrawSecret>,
) -> Result<Vec<Window>, ExperimentError> {
    // Where more than bands is shown, whoever owns all prices reads the day off the records (docs/mask-certificate.md).
    let shows_days = |arm: &MaskArm| {
        let MaskSettings { level, numeric } = arm.settings;
        !level.hides_days() || numeric.scale() != FactorScale::Bands
    };
    let windows: Vec<Window> = match &config.windows {
        Windows::Drawn(draw) => drawn(draw, secret, config.masks.iter().any(shows_days), market)?,
        Windows::Listed(windows) => windows
            .iter()
            .map(|window| resolve_window(window, market))
            .collect::<Result<_, _>>()?,
    };
    match windows
        .iter()
        .find_map(|window| Some((&window.id, sessions_before(window)?)))
        .filter(|_| config.tools.expressions)
    {
        None => Ok(windows),
        Some((id, have)) => Err(ExperimentError::input(
            format!(
                "window {id}: `tools.expressions` is on and the panel has {have} trading days before the window, but a formula \
                 may read {} of them",
                FormulaReader::most_rows()
            ),
            "let the window start later, import a panel that starts earlier, or remove `tools.expressions`",
        )),
    }
}

/// Trading days that the panel has before a window, where they are fewer than a formula may read: then no stock has a value.
fn sessions_before(window: &Window) -> Option<usize> {
    let have = window.days.first()?.index();
    (have < FormulaReader::most_rows()).then_some(have)
}

/// The trading days of the window that a draw and its key give on a panel.
///
/// # Errors
/// [`ExperimentError::Input`] where the span does not hold it.
pub fn drawn_days(
    draw: &DrawRecord,
    key: &MaskKey,
    market: &Market,
) -> Result<Vec<DayIndex>, ExperimentError> {
    let span = span(&draw.from, &draw.until, market)?;
    let places = draw.places(key, span.len())?;
    let place = draw.place.checked_sub(1).and_then(|place| places.get(place));
    place
        .and_then(|place| span.get(place.clone()))
        .map(<[DayIndex]>::to_vec)
        .ok_or_else(|| {
            ExperimentError::input(
                format!("the draw has no window {}", draw.place),
                "the record is damaged",
            )
        })
}

/// The windows of a draw on a panel. Without a secret they are stand-ins: as many, as long, and elsewhere.
///
/// # Errors
/// [`ExperimentError::Input`] where the panel or the span does not hold them.
pub fn drawn(
    draw: &DrawConfig,
    secret: Option<&DrawSecret>,
    is_shown: bool,
    market: &Market,
) -> Result<Vec<Window>, ExperimentError> {
    let stand_in = DrawSecret {
        key: MaskKey::from_bytes([0; 32]),
        nonce: None,
    };
    let DrawSecret { key, nonce } = secret.unwrap_or(&stand_in);
    let record = DrawRecord {
        place: 1,
        days: draw.days,
        from: draw.from.clone(),
        until: draw.until.clone(),
        commitment: key.commitment(),
        is_shown,
        nonce: nonce.clone(),
    };
    let most = record
        .places(key, span(&draw.from, &draw.until, market)?.len())?
        .len();
    if most < draw.draw {
        return Err(ExperimentError::input(
            format!(
                "windows: draw = {}, but {} to {} holds {most} of {} trading days",
                draw.draw, draw.from, draw.until, draw.days
            ),
            "draw fewer, make them shorter, or let the span be longer",
        ));
    }
    (1..=draw.draw)
        .map(|place| {
            let record = DrawRecord {
                place,
                ..record.clone()
            };
            Ok(Window {
                id: record.window_id(key),
                days: drawn_days(&record, key, market)?,
                drawn: Some(DrawnWindow {
                    record,
                    key: key.clone(),
                }),
            })
        })
        .collect()
}

/// The trading days of a span, each with a day before it.
fn span(from: &str, until: &str, market: &Market) -> Result<Vec<DayIndex>, ExperimentError> {
    let date = |text: &str| {
        TradeDate::parse(text)
            .map_err(|error| ExperimentError::input(format!("windows: {error}"), "write dates as 2024-04-01"))
    };
    days_between("drawn", date(from)?, date(until)?, market)
}

/// The days of a window on a panel.
///
/// # Errors
/// [`ExperimentError::Input`] for a window outside the panel.
pub fn resolve_window(window: &WindowConfig, market: &Market) -> Result<Window, ExperimentError> {
    let days = match window.last_days {
        Some(count) => last_days(count, market, &window.id)?,
        None => dated_days(window, market)?,
    };
    Ok(Window {
        id: window.id.clone(),
        days,
        drawn: None,
    })
}

fn last_days(count: usize, market: &Market, id: &str) -> Result<Vec<DayIndex>, ExperimentError> {
    let all = market.calendar().len();
    let first = all
        .checked_sub(count)
        .filter(|first| 0 < *first && count > 0)
        .ok_or_else(|| {
            let what = format!("window {id}: last_days = {count}, but the panel has {all} trading days");
            let history = FactorTable::MIN_HISTORY_DAYS;
            let hint = match all.saturating_sub(history) {
                0 => format!(
                    "import a panel that starts earlier: factors need {history} trading days before a window"
                ),
                most => format!(
                    "choose from 1 to {most} days: factors need {history} trading days before the window"
                ),
            };
            ExperimentError::input(what, hint)
        })?;
    Ok((first..all).filter_map(|place| market.day_at(place)).collect())
}

fn dated_days(window: &WindowConfig, market: &Market) -> Result<Vec<DayIndex>, ExperimentError> {
    let id = &window.id;
    let dates = window.dates().ok_or_else(|| {
        let what = format!("window {id} has no dates and is no preset");
        ExperimentError::input(
            what,
            "give `start` and `end`, `last_days`, or an id of W1 .. W10 or long",
        )
    })?;
    let date = |text: &str| {
        TradeDate::parse(text).map_err(|error| {
            ExperimentError::input(format!("window {id}: {error}"), "write dates as 2024-04-01")
        })
    };
    days_between(id, date(&dates.first)?, date(&dates.last)?, market)
}

/// The trading days between two inclusive dates, which the panel must cover, with a day before the first.
///
/// # Errors
/// [`ExperimentError::Input`] naming what the panel covers.
pub fn days_between(
    id: &str,
    start: TradeDate,
    end: TradeDate,
    market: &Market,
) -> Result<Vec<DayIndex>, ExperimentError> {
    if end < start {
        let what = format!(
            "window {id} ends on {}, before its start on {}",
            end.reveal(),
            start.reveal()
        );
        return Err(ExperimentError::input(
            what,
            "exchange `start` and `end`, or fix one of them",
        ));
    }
    let days = market.days_within(DateSpan { start, end });
    let calendar = market.calendar();
    let covered = calendar.first().is_some_and(|first| *first < start)
        && calendar.last().is_some_and(|last| end <= *last);
    let has_as_of = days.first().is_some_and(|first| first.before().is_some());
    if covered && has_as_of {
        return Ok(days);
    }
    let edge = |date: Option<&TradeDate>| date.map(|date| date.reveal()).unwrap_or_default();
    let what = format!(
        "window {id} ({}..{}) is not inside the panel ({}..{}), which must begin before it",
        start.reveal(),
        end.reveal(),
        edge(calendar.first()),
        edge(calendar.last())
    );
    Err(ExperimentError::input(
        what,
        "choose a window that fits (`ktd data check PANEL` lists them; `last_days = 40` is the last 40 days), or name a longer `panel`: without one the market is the synthetic one",
    ))
}
