//! Header and private part of a bundle.

use crate::header::{Header, PrivateEpisode};
use crate::header_names::check_names;
use crate::{BundlePaths, FORMAT_VERSION};
use ktd_env::{DayIndex, Market};
use ktd_experiment::drawn_windows::DrawnWindow;
use ktd_experiment::panel_windows::drawn_days;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{json_bytes, parse_json, read_bounded};
use ktd_masking::MaskKey;
use ktd_record::RecordError;
use serde::Deserialize;

/// The most that a header may hold: 4 MiB, a thousand times one that is written.
const HEADER_LIMIT_BYTES: u64 = 4 << 20;

/// The most that `private/episode.json` may hold.
const PRIVATE_LIMIT_BYTES: u64 = 64 << 10;

/// The one field that a header of any format has.
#[derive(Deserialize)]
struct FormatOnly {
    format: u32,
}

/// Reads a bundle's header.
///
/// # Errors
/// [`RecordError`] when it is missing, damaged or of another format.
pub fn read_header(paths: &BundlePaths) -> Result<Header, RecordError> {
    read_hashed_header(paths).map(|(header, _)| header)
}

/// A header with the SHA-256 of its bytes.
pub(crate) fn read_hashed_header(paths: &BundlePaths) -> Result<(Header, String), RecordError> {
    let path = paths.header();
    if !path.exists() {
        let (root, hint) = (
            paths.root().display(),
            "name the directory of one episode, such as results/NAME/cells/CELL",
        );
        return Err(if paths.root().is_dir() {
            RecordError::input(format!("{root} is not a bundle: header.json is missing"), hint)
        } else if paths.root().exists() {
            RecordError::input(format!("{root} is a file, and no bundle"), hint)
        } else {
            RecordError::input(
                format!("{root}: no such directory"),
                "check the path: episodes lie in results/NAME/cells/CELL, and what was published or ranked where --out said",
            )
        });
    }
    let bytes = read_bounded(&path, HEADER_LIMIT_BYTES)?;
    // The format is read by itself: a header of another one holds other fields.
    let FormatOnly { format } = parse_json(&path, &bytes)?;
    if format != FORMAT_VERSION {
        let what = format!(
            "{}: bundle format {format}, but this program reads format {FORMAT_VERSION}",
            path.display()
        );
        return Err(RecordError::input(
            what,
            "use the program that made it, or run the experiment again with this one",
        ));
    }
    let header: Header = parse_json(&path, &bytes)?;
    check_names(&path, &header)?;
    Ok((header, sha256_hex(&bytes)))
}

/// Reads a bundle's private part and checks it against the header's commitment.
///
/// # Errors
/// [`RecordError`] when it is missing, damaged or not the one the header commits to.
pub fn read_private(paths: &BundlePaths, header: &Header) -> Result<(PrivateEpisode, MaskKey), RecordError> {
    let path = paths.episode();
    if !path.exists() {
        let what = format!(
            "{} has no private part: its stocks and days cannot be named",
            paths.root().display()
        );
        return Err(RecordError::input(
            what,
            "ask the bundle's owner for private/, which `ktd publish` gives away; `ktd verify` checks what it can without",
        ));
    }
    let bytes = read_bounded(&path, PRIVATE_LIMIT_BYTES)?;
    let private: PrivateEpisode = parse_json(&path, &bytes)?;
    if private != private.clone().sealed() || bytes != json_bytes(&path, &private)? {
        return Err(RecordError::damaged(
            &path,
            "it was changed: its seal does not fit",
        ));
    }
    let key =
        MaskKey::parse(&private.mask_key).map_err(|error| RecordError::damaged(&path, error.to_string()))?;
    if key.commitment() != header.mask.commitment {
        return Err(RecordError::damaged(
            &path,
            "its mask key is not the one that header.json commits to",
        ));
    }
    drawn_window(paths, header, &private)?;
    Ok((private, key))
}

/// How a window was drawn, with the key that its private part opens; `None` of one that was not.
fn drawn_window(
    paths: &BundlePaths,
    header: &Header,
    private: &PrivateEpisode,
) -> Result<Option<DrawnWindow>, RecordError> {
    let damaged = |what: String| RecordError::damaged(&paths.episode(), what);
    let other = || damaged("its window key is not the one that header.json commits to".to_owned());
    match (&header.window.draw, &private.window_key) {
        (None, None) => Ok(None),
        (Some(record), Some(key)) => {
            let key = MaskKey::parse(key).map_err(|error| damaged(error.to_string()))?;
            let record = record.clone();
            let is_bound = key.commitment() == record.commitment;
            is_bound
                .then_some(Some(DrawnWindow { record, key }))
                .ok_or_else(other)
        }
        (Some(_), None) | (None, Some(_)) => Err(other()),
    }
}

/// How the window of an opened episode was drawn; `None` of one that was not. Its days must follow from the draw: nobody moves a
/// window when it is opened.
///
/// # Errors
/// [`RecordError`] where its key or its days are others.
pub fn opened_window(
    (paths, header): (&BundlePaths, &Header),
    private: &PrivateEpisode,
    days: &[DayIndex],
    market: &Market,
) -> Result<Option<DrawnWindow>, RecordError> {
    let drawn = drawn_window(paths, header, private)?;
    match &drawn {
        Some(DrawnWindow { record, key }) if drawn_days(record, key, market)? != days => {
            let what = "its days are not those that follow from the draw of its window on this panel";
            Err(RecordError::damaged(&paths.episode(), what))
        }
        _ => Ok(drawn),
    }
}
