//! Names in a header, which may be a stranger's: they become file names, table cells and lines in a terminal.

use crate::header::Header;
use ktd_env::TradeDate;
use ktd_experiment::config::is_file_name;
use ktd_masking::Level;
use ktd_record::RecordError;
use std::path::Path;

/// The most characters of a text that names nothing, such as a limitation of the data.
const TEXT_LENGTH_MAX: usize = 4_000;

/// Checks the names of a header by the rules of experiment files, where it was read from `path`.
///
/// # Errors
/// [`RecordError::File`] naming the first field that is invalid.
pub(crate) fn check_names(path: &Path, header: &Header) -> Result<(), RecordError> {
    let damaged = |what: String| RecordError::damaged(path, what);
    let branch = header.branch.as_ref();
    let names = [
        ("experiment", Some(header.experiment.as_str())),
        ("cell", Some(header.cell.as_str())),
        ("agent.id", Some(header.agent.id.as_str())),
        ("window.id", Some(header.window.id.as_str())),
        ("branch.cell", branch.map(|branch| branch.cell.as_str())),
        ("branch.agent.id", branch.map(|branch| branch.agent.id.as_str())),
    ];
    for (field, name) in names {
        if let Some(name) = name.filter(|name| !is_file_name(name)) {
            let what = "must be 1 to 200 letters, digits, `-`, `_` or `.`, the first neither `-` nor `.`";
            return Err(damaged(format!("`{field}` is {}, but it {what}", excerpt(name))));
        }
    }
    if header.mask.instruction.is_some() && header.mask.level != Level::Bright {
        let what = "`mask.instruction` stands with the level bright alone";
        return Err(damaged(format!(
            "{what}, but the level is {}",
            header.mask.level.label()
        )));
    }
    let texts = [("ktd", &header.ktd)].into_iter();
    let texts = texts.chain(header.agent.model().map(|own| ("agent.model", &own.model)));
    let limitations = header.data.limitations.iter();
    for (field, text) in texts.chain(limitations.map(|text| ("data.limitations", text))) {
        if TEXT_LENGTH_MAX < text.len() || text.chars().any(char::is_control) {
            let what = format!(
                "`{field}` is {}: it is too long or has control characters",
                excerpt(text)
            );
            return Err(damaged(what));
        }
    }
    let program = header.program.iter();
    for hash in program.flat_map(|program| [Some(&program.source_sha256), program.commit.as_ref()]) {
        if let Some(hash) = hash.filter(|hash| !is_hash(hash)) {
            let what = format!(
                "`program` has {}, but a hash is 40 or 64 hexadecimal digits",
                excerpt(hash)
            );
            return Err(damaged(what));
        }
    }
    let dates = header.window.dates.iter();
    let dates = dates.flat_map(|dates| [&dates.first, &dates.last]);
    let draw = header.window.draw.as_ref();
    let dates = dates.chain(draw.into_iter().flat_map(|draw| [&draw.from, &draw.until]));
    for date in dates {
        TradeDate::parse(date).map_err(|error| damaged(format!("`window`: {error}")))?;
    }
    let nonce = draw.and_then(|draw| draw.nonce.as_ref());
    let nonce = nonce
        .into_iter()
        .flat_map(|nonce| [(&nonce.public_key, 64), (&nonce.number, 128)]);
    let bound = draw.into_iter().map(|draw| (&draw.commitment, 64));
    for (text, digits) in bound.chain(nonce) {
        if text.len() != digits || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            let what = format!(
                "`window.draw` has {}, where {digits} hexadecimal digits belong",
                excerpt(text)
            );
            return Err(damaged(what));
        }
    }
    Ok(())
}

fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

/// The beginning of a text, escaped.
fn excerpt(text: &str) -> String {
    const SHOWN: usize = 60;
    let shown: String = text.chars().take(SHOWN).collect();
    format!("{shown:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_experiment_file_may_name_a_header_may_name() {
        for name in [
            "headline",
            "W1",
            "gpt-5.1_mini",
            "a__W1__bright-exact__open-research__s1",
            "_x",
        ] {
            assert!(is_file_name(name), "{name}");
        }
    }

    #[test]
    fn formulas_escapes_paths_and_endless_names_are_refused() {
        let long = "a".repeat(201);
        for name in [
            "",
            "=1+1",
            "+1",
            "-1",
            "@x",
            "\u{1b}[31mred",
            "a b",
            "../up",
            ".hidden",
            "a\nb",
            "股",
            &long,
        ] {
            assert!(!is_file_name(name), "{name:?}");
        }
    }
}
