//! Header and private part of a bundle.

use crate::header::{Header, PrivateEpisode};
use crate::{BundleError, BundlePaths, FORMAT_VERSION};
use ktd_io::whole_file::{JSON_LIMIT_BYTES, json_bytes, parse_json, read_bounded, read_json};
use ktd_masking::MaskKey;

/// Reads a bundle's header.
///
/// # Errors
/// [`BundleError`] when it is missing, damaged or of another format.
pub fn read_header(paths: &BundlePaths) -> Result<Header, BundleError> {
    let path = paths.header();
    if !path.exists() {
        let what = format!("{} is no bundle: it has no header.json", paths.root().display());
        return Err(BundleError::input(
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
        return Err(BundleError::damaged(&path, what));
    }
    Ok(header)
}

/// Reads a bundle's private part and checks it against the header's commitment.
///
/// # Errors
/// [`BundleError`] when it is missing, damaged or not the one the header commits to.
pub fn read_private(paths: &BundlePaths, header: &Header) -> Result<(PrivateEpisode, MaskKey), BundleError> {
    let path = paths.episode();
    if !path.exists() {
        let what = format!(
            "{} has no private part: its stocks and days cannot be named",
            paths.root().display()
        );
        return Err(BundleError::input(
            what,
            "ask the bundle's owner for private/; `ktd verify` checks what it can without",
        ));
    }
    let bytes = read_bounded(&path, JSON_LIMIT_BYTES)?;
    let private: PrivateEpisode = parse_json(&path, &bytes)?;
    if private != private.clone().sealed() || bytes != json_bytes(&path, &private)? {
        return Err(BundleError::damaged(
            &path,
            "it was changed: its seal does not fit",
        ));
    }
    let key =
        MaskKey::parse(&private.mask_key).map_err(|error| BundleError::damaged(&path, error.to_string()))?;
    if key.commitment() != header.mask.commitment {
        return Err(BundleError::damaged(
            &path,
            "its mask key is not the one that header.json commits to",
        ));
    }
    Ok((private, key))
}
