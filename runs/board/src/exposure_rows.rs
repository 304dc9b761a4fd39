//! Exposures of a board's rows to the styles, day by day, as a table for data frames.

use crate::files::RECORD;
use crate::signed_board::FILE_LIMIT_BYTES;
use crate::{Leaderboard, Track};
use ktd_io::whole_file::{parse_json, read_bounded};
use ktd_study::{RowCells, RowsFile, StudyError};
use serde_json::{Value, json};
use std::path::Path;

const COLUMNS: [(&str, RowCells); 10] = [
    ("window", RowCells::Text),
    ("level", RowCells::Text),
    ("instruction", RowCells::Text),
    ("numeric", RowCells::Text),
    ("mode", RowCells::Text),
    ("agent", RowCells::Text),
    ("day", RowCells::Whole),
    ("date", RowCells::Text),
    ("style", RowCells::Text),
    ("exposure", RowCells::Number),
];

/// The board in a folder.
///
/// # Errors
/// [`StudyError`] for a folder without a board of this version.
pub fn read_board(folder: &Path) -> Result<Leaderboard, StudyError> {
    let path = folder.join(RECORD);
    Ok(parse_json(&path, &read_bounded(&path, FILE_LIMIT_BYTES)?)?)
}

/// Writes the exposures of a board as Parquet, a row a day and style of each row that has holdings: means over seeds, days from 1,
/// dates where the mask shows them. How many rows there are.
///
/// # Errors
/// [`StudyError`] for a file that cannot be written.
pub fn write_exposures(board: &Leaderboard, out: &Path) -> Result<u64, StudyError> {
    let mut file = RowsFile::create(out, &COLUMNS)?;
    let mut count = 0;
    for track in &board.tracks {
        let rows = rows_of(track, &board.model.styles);
        if !rows.is_empty() {
            file.add(&rows)?;
        }
        count += u64::try_from(rows.len()).unwrap_or(u64::MAX);
    }
    file.finish()?;
    Ok(count)
}

fn rows_of(track: &Track, styles: &[String]) -> Vec<Vec<Value>> {
    let mut rows = Vec::new();
    for leader in &track.leaders {
        let whose = [
            json!(track.window),
            json!(track.level.label()),
            json!(track.instruction),
            json!(track.numeric.label()),
            json!(track.mode.label()),
            json!(leader.agent),
        ];
        for (style, series) in styles.iter().zip(&leader.daily_exposures) {
            let days = (1_u32..).zip(&track.dates).zip(series);
            rows.extend(days.map(|((day, date), exposure)| {
                let date = (!track.level.hides_days()).then_some(date);
                let cells = [json!(day), json!(date), json!(style), json!(exposure)];
                whose.iter().cloned().chain(cells).collect()
            }));
        }
    }
    rows
}
