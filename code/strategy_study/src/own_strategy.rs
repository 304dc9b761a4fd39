//! A strategy of one's own: a folder with its document, its scenarios and its reference program.

use crate::error::StrategyError;
use crate::reference_program::ReferenceProgram;
use ktd_io::sha256::sha256_hex;
use ktd_strategy_code::{Scenario, StrategyDocument, StrategyId, read_scenarios};
use ktd_study::Opening;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// SHA-256 of files by their names.
pub(crate) type FileDigests = BTreeMap<String, String>;

/// The machine form of the document.
pub(crate) const SPEC: &str = "spec.json";
/// The document.
const TEXT: &str = "spec.md";
const SCENARIOS: &str = "scenarios.jsonl";
const REFERENCE: &str = "reference.py";
/// A folder with `spec.json`, `spec.md`, `scenarios.jsonl` and, where there is one, `reference.py`.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnStrategy {
    folder: PathBuf,
    /// Its identifier.
    pub id: StrategyId,
    /// The machine form of its document.
    pub document: StrategyDocument,
    /// The text of its document.
    pub(crate) text: String,
    /// The text of the machine form.
    pub(crate) spec: String,
    /// SHA-256 of the text of its document, in hexadecimal.
    pub text_sha256: String,
    /// Its scenarios.
    pub scenarios: Vec<Scenario>,
    /// SHA-256 of its files.
    pub(crate) sha256: FileDigests,
    reference: Option<Vec<u8>>,
}

impl OwnStrategy {
    /// The strategy of a folder, whose files are inputs of the study that is opened.
    ///
    /// # Errors
    /// [`StrategyError`] naming the file and what is wrong in it.
    pub fn read(folder: &Path, at: &Opening<'_>) -> Result<Self, StrategyError> {
        let invalid = |name: &str, problem: String| {
            StrategyError::input(
                format_args!("{}: {problem}", folder.join(name).display()),
                "docs/strategy-code.md shows the form of these files",
            )
        };
        let mut sha256 = FileDigests::new();
        let mut file = |name: &str| {
            let bytes = at.input(&folder.join(name))?;
            sha256.extend(bytes.as_ref().map(|bytes| (name.to_owned(), sha256_hex(bytes))));
            Ok::<_, StrategyError>(bytes)
        };
        let mut text_of = |name: &str| {
            let bytes = file(name)?.ok_or_else(|| invalid(name, "it is missing".to_owned()))?;
            String::from_utf8(bytes).map_err(|error| invalid(name, error.to_string()))
        };
        let spec = text_of(SPEC)?;
        let document = StrategyDocument::parse(&spec).map_err(|problem| invalid(SPEC, problem))?;
        let id = StrategyId::own(&document.id).map_err(|problem| invalid(SPEC, problem))?;
        if document.assets.is_empty() {
            return Err(invalid(SPEC, "`assets` names no asset".to_owned()));
        }
        if let Some(twice) = repeated(&document.assets) {
            return Err(invalid(SPEC, format!("`assets` names {twice:?} twice")));
        }
        let text = text_of(TEXT)?;
        let scenarios = read_scenarios(&text_of(SCENARIOS)?, &document.assets);
        let reference = file(REFERENCE)?;
        Ok(Self {
            folder: folder.to_owned(),
            id,
            document,
            text_sha256: sha256_hex(text.as_bytes()),
            text,
            spec,
            scenarios: scenarios.map_err(|problem| invalid(SCENARIOS, problem))?,
            sha256,
            reference,
        })
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether there is a reference program, without which behaviour cannot be judged.
    #[must_use]
    pub const fn has_reference(&self) -> bool {
        self.reference.is_some()
    }

    /// The reference program, where there is one.
    pub(crate) fn reference(&self) -> Result<Option<ReferenceProgram>, StrategyError> {
        let Some(bytes) = &self.reference else {
            return Ok(None);
        };
        ReferenceProgram::new(&self.folder.join(REFERENCE), bytes).map(Some)
    }
}

/// A name that a list has more than once.
fn repeated(names: &[String]) -> Option<&String> {
    let mut known = BTreeSet::new();
    names.iter().find(|name| !known.insert(*name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_io::whole_file::write_whole;

    #[test]
    fn files_say_what_is_wrong_in_them() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| write_whole(&folder.path().join(name), text.as_bytes()).unwrap();
        let at = Opening::unkept(Path::new(""), Path::new(""), 1);
        let read = || OwnStrategy::read(folder.path(), &at);
        let error = || read().unwrap_err().to_string();
        let spec = |parameter: &str| {
            write(
                "spec.json",
                &format!(
                    "{{\"strategy_id\":\"X1\",\"name\":\"n\",\"family\":\"f\",\"assets\":[\"B\"],\"warmup\":1,\"multi\":false,\
                 \"intraday\":false,\"entry\":[\"UP: close > open\"],\"exit\":[],\"params\":{{\"N\":{parameter}}},\
                 \"constraints\":{{}},\"columns\":[],\"keywords\":[]}}"
                ),
            );
        };
        for (parameter, part) in [
            (
                "{\"type\":\"int\",\"flag\":\"tunable\",\"value\":5,\"min\":9,\"max\":2}",
                "`min` 9 is above `max` 2",
            ),
            (
                "{\"type\":\"int\",\"flag\":\"tunable\",\"value\":50,\"min\":2,\"max\":9}",
                "is outside 2 to 9",
            ),
            (
                "{\"type\":\"int\",\"flag\":\"loose\",\"value\":5}",
                "the flag \"loose\" is unknown",
            ),
            (
                "{\"type\":\"int\",\"flag\":\"frozen\",\"value\":5,\"min\":1,\"max\":9}",
                "a frozen value has no `min`",
            ),
        ] {
            spec(parameter);
            let error = error();
            assert!(
                error.contains("spec.json: params.N:") && error.contains(part),
                "{error}"
            );
        }
        spec("{\"type\":\"int\",\"flag\":\"frozen\",\"value\":5}");
        write("spec.md", "# X1\n");
        let frame = "{\"columns\":[\"datetime\",\"open\",\"high\",\"low\",\"close\",\"volume\"],\"rows\":[[\"2021-01-04\",1,1,1,1,1]]}";
        let line = format!("{{\"scenario\":\"a\",\"data\":{frame}}}\n");
        write("scenarios.jsonl", &format!("{line}{line}"));
        assert!(error().contains("line 2: \"a\" is there twice"), "{}", error());
        write("scenarios.jsonl", &line);
        let own = read().unwrap();
        assert_eq!((own.scenarios.len(), own.has_reference()), (1, false));
        assert_eq!(own.scenarios[0].market.assets[0].0, "B");
        let files: Vec<&String> = own.sha256.keys().collect();
        assert_eq!(files, ["scenarios.jsonl", "spec.json", "spec.md"]);
        write(
            "scenarios.jsonl",
            &format!("{{\"scenario\":\"a\",\"data\":{{\"C\":{frame}}}}}\n"),
        );
        assert!(
            error().contains("line 1: the asset \"B\" has no frame"),
            "{}",
            error()
        );
        write("spec.json", &own.spec.replace("[\"B\"]", "[\"A\",\"B\",\"A\"]"));
        assert!(error().contains("`assets` names \"A\" twice"), "{}", error());
        let clash = own.spec.replace("\"X1\"", "\"S01\"");
        write("spec.json", &clash);
        assert!(
            error().contains("S01 is a strategy of the benchmark"),
            "{}",
            error()
        );
    }

    const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/strategies/channel");

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_a_link_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in [SPEC, SCENARIOS, REFERENCE] {
            let bytes = ktd_io::whole_file::read_input_bytes(&Path::new(EXAMPLE).join(name)).unwrap();
            write_whole(&folder.path().join(name), &bytes).unwrap();
        }
        let secret = folder.path().join("secret");
        write_whole(&secret, b"of somebody's own").unwrap();
        std::os::unix::fs::symlink(&secret, folder.path().join(TEXT)).unwrap();
        let error = OwnStrategy::read(folder.path(), &Opening::unkept(Path::new(""), Path::new(""), 1))
            .unwrap_err()
            .to_string();
        assert!(
            error.ends_with("spec.md is a link, and links are not followed"),
            "{error}"
        );
    }
}
