//! Finished submissions as tables, reviews and later experiments take them: nothing is read that was changed since.

use super::cell::{AGENT, HEADER, RESULT, SubmissionHeader, SubmissionResult, folder_of};
use super::experiment::SUBMISSIONS;
use super::own_copies::{digests, other_files};
use super::record_files::{FileDigests, check_record, difference};
use super::sourced_task::{document_hash, recorded_source};
use crate::error::StrategyError;
use crate::own_strategy::OwnStrategy;
use crate::recorded_name::check_strategy;
use crate::strategy_source::StrategySource;
use crate::submission::StrategySubmission;
use ktd_asking::AgentFile;
use ktd_client::AskedModel;
use ktd_experiment::agent::AgentKind;
use ktd_io::whole_file::{list, parse_json, read_bounded, read_if_exists, read_text};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The most that a file of a submission may hold.
const FILE_LIMIT_BYTES: u64 = 1 << 24;

/// A finished submission whose files are those that its result names, and whose result is of the model, strategy and seed
/// that the files and the folder name.
pub(crate) struct CheckedSubmission {
    pub(crate) folder: PathBuf,
    pub(crate) result: SubmissionResult,
    pub(super) header: SubmissionHeader,
    pub(super) agent: AgentFile,
}

impl CheckedSubmission {
    /// The submission in a folder of results; none where it is not finished.
    ///
    /// # Errors
    /// [`ktd_asking::AskingError::Difference`] naming the file that was changed.
    pub(crate) fn read(root: &Path, folder: &Path) -> Result<Option<Self>, StrategyError> {
        let path = folder.join(RESULT);
        let Some(bytes) = read_if_exists(&path)? else {
            return Ok(None);
        };
        let result: SubmissionResult = parse_json(&path, &bytes)?;
        check_record(folder, &result.files_sha256)?;
        let header = read_header(folder)?;
        let agent: AgentFile = read(&folder.join(AGENT))?;
        let rows = &result.rows;
        if (&rows.model, &rows.strategy, rows.seed) != (&agent.agent.id, &header.strategy, header.seed) {
            return Err(difference(
                &path,
                "it is of another model, strategy or seed than the files of its folder",
            ));
        }
        if folder != folder_of(root, &rows.model, &rows.strategy, rows.seed) {
            return Err(difference(
                folder,
                "the folder has the name of another submission",
            ));
        }
        Ok(Some(Self {
            folder: folder.to_owned(),
            result,
            header,
            agent,
        }))
    }

    /// Card and source of an iteration.
    ///
    /// # Errors
    /// [`StrategyError`] where there are none, or they are no text.
    pub(crate) fn version(&self, iteration: usize) -> Result<StrategySubmission, StrategyError> {
        let version = self.folder.join("versions").join(iteration.to_string());
        let read = |name: &str| Ok::<_, StrategyError>(read_text(&version.join(name), FILE_LIMIT_BYTES)?);
        Ok(StrategySubmission {
            card: read("card.json")?,
            source: read("strategy.py")?,
        })
    }

    /// The strategy that it was judged by.
    ///
    /// # Errors
    /// [`ktd_asking::AskingError::Difference`] where the copy among the results is of other files.
    pub(crate) fn source(&self, root: &Path) -> Result<StrategySource, StrategyError> {
        recorded_source(root, &self.header)
    }

    /// What a later submission of the same name would be asked or judged by that this one was not; none where both are alike
    /// in model, vendor and document.
    pub(crate) fn differs_from(&self, model: &AskedModel, source: &StrategySource) -> Option<String> {
        let recorded = self.agent.model("continued", model.seed);
        let (was, is) = (served(&recorded), served(model));
        if was != is {
            return Some(format!(
                "it was asked of {was}, and the agent {:?} is {is}",
                model.id()
            ));
        }
        let own = source.own().map(digests);
        let names = |digests: &Option<FileDigests>| digests.clone().unwrap_or_default();
        let (was, is) = (names(&self.header.own), names(&own));
        let mut all = was.keys().chain(is.keys());
        if let Some(name) = all.find(|name| was.get(*name) != is.get(*name)) {
            return Some(format!("it was judged by another {name} of {}", source.id()));
        }
        let is_same = self.header.document_sha256 == document_hash(source.text(), source.spec());
        (!is_same).then(|| format!("it was judged by another document of {}", source.id()))
    }
}

/// The model behind an agent, and who serves it.
fn served(model: &AskedModel) -> String {
    let name = match &model.agent.kind {
        AgentKind::Model(own) => own.model.as_str(),
        AgentKind::Builtin(_) | AgentKind::Control(_) | AgentKind::Program(_) | AgentKind::Client(_) => {
            "no model"
        }
    };
    format!("{name:?} of {:?}", model.payer.spender.vendor)
}

/// The finished submissions of a folder, as it holds them. Nothing is run.
///
/// # Errors
/// [`StrategyError`] for a folder without submissions, and for a result that cannot be read or does not fit its files.
pub(crate) fn finished_submissions(root: &Path) -> Result<Vec<CheckedSubmission>, StrategyError> {
    let folders = list(&root.join(SUBMISSIONS))?;
    let read = folders.iter().map(|own| CheckedSubmission::read(root, own));
    read.filter_map(Result::transpose).collect()
}

/// The strategies of one's own that submissions were judged by, by their identifiers.
///
/// # Errors
/// [`ktd_asking::AskingError::Difference`] where a copy among the results is of other files.
pub(crate) fn own_strategies(
    root: &Path,
    submissions: &[CheckedSubmission],
) -> Result<Vec<OwnStrategy>, StrategyError> {
    let mut known = BTreeMap::new();
    for submission in submissions {
        let header = &submission.header;
        let Some(recorded) = &header.own else { continue };
        match known.get(&header.strategy) {
            Some((read, _)) if read == recorded => {}
            Some(_) => return Err(other_files(root, &header.strategy)),
            None => {
                if let StrategySource::Own(own) = submission.source(root)? {
                    known.insert(header.strategy.clone(), (recorded.clone(), *own));
                }
            }
        }
    }
    Ok(known.into_values().map(|(_, own)| own).collect())
}

/// What decides a recorded submission. Its strategy names a folder, and must be an identifier.
pub(super) fn read_header(own: &Path) -> Result<SubmissionHeader, StrategyError> {
    let path = own.join(HEADER);
    let header: SubmissionHeader = read(&path)?;
    check_strategy(&path, &header.strategy)?;
    Ok(header)
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, StrategyError> {
    Ok(parse_json(path, &read_bounded(path, FILE_LIMIT_BYTES)?)?)
}

#[cfg(test)]
pub(crate) mod fixture {
    use super::*;
    use crate::rows::{SubmissionRows, VersionRow};
    use crate::run::StrategyExperiment;
    use crate::run::cell::{EVENTS, FORMAT};
    use crate::run::event::fixture::LINE;
    use crate::run::goal::StrategyGoal;
    use crate::run::own_copies::keep_copy;
    use crate::run::record_files::digests_of;
    use crate::versions::DriftRule;
    use ktd_io::whole_file::{create_directory, json_bytes, write_whole};
    use tempfile::TempDir;

    /// The file of an experiment with two models, `one` and `two`.
    pub(crate) fn experiment(keys: &str) -> StrategyExperiment {
        let agents = ["one", "two"]
            .map(|id| format!("{{ id = {id:?}, base_url = \"http://127.0.0.1:9/v1\", model = {id:?} }}"));
        let text = format!(
            "benchmark = \"strategy-code\"\nname = \"x\"\n{keys}\nagents = [{}]\n",
            agents.join(", ")
        );
        toml::from_str(&text).unwrap()
    }

    /// Writes a strategy of one's own, without a reference.
    pub(crate) fn own_strategy(folder: &Path, id: &str) -> OwnStrategy {
        create_directory(folder).unwrap();
        let write = |name: &str, text: &str| write_whole(&folder.join(name), text.as_bytes()).unwrap();
        write(
            "spec.json",
            &format!(
                "{{\"strategy_id\":{id:?},\"name\":\"n\",\"family\":\"f\",\"assets\":[\"B\"],\"warmup\":1,\"multi\":false,\
                 \"intraday\":false,\"entry\":[\"UP: close > open\"],\"exit\":[],\
                 \"params\":{{\"N\":{{\"type\":\"int\",\"flag\":\"frozen\",\"value\":5}}}},\
                 \"constraints\":{{}},\"columns\":[],\"keywords\":[]}}"
            ),
        );
        write("spec.md", "# The document\n");
        let frame = "{\"columns\":[\"datetime\",\"open\",\"high\",\"low\",\"close\",\"volume\"],\"rows\":[[\"2021-01-04\",1,1,1,1,1]]}";
        write(
            "scenarios.jsonl",
            &format!("{{\"scenario\":\"a\",\"data\":{frame}}}\n"),
        );
        OwnStrategy::read(folder).unwrap()
    }

    /// A folder of results with finished submissions of one version, seed 1.
    pub(crate) struct Results(pub(crate) TempDir);

    impl Results {
        /// Submissions of `one` and `two` on a strategy.
        pub(crate) fn of(source: &StrategySource) -> Self {
            let results = Self(tempfile::tempdir().unwrap());
            if let Some(own) = source.own() {
                keep_copy(results.root(), own).unwrap();
            }
            for model in ["one", "two"] {
                results.add(model, source);
            }
            results
        }

        pub(crate) fn root(&self) -> &Path {
            self.0.path()
        }

        /// The folder of a submission.
        pub(crate) fn folder(&self, model: &str, strategy: &str) -> PathBuf {
            folder_of(self.root(), model, strategy, 1)
        }

        fn add(&self, model: &str, source: &StrategySource) {
            let id = source.id();
            let folder = self.folder(model, id.label());
            create_directory(&folder.join("versions/0")).unwrap();
            let header = SubmissionHeader {
                format: FORMAT,
                program: None,
                strategy: id.label().to_owned(),
                seed: 1,
                iterations: 3,
                drift: DriftRule::default(),
                scenario_seed: 1,
                goal: StrategyGoal::None,
                real: None,
                start_sha256: None,
                document_sha256: document_hash(source.text(), source.spec()),
                prompts_sha256: String::new(),
                own: source.own().map(digests),
            };
            let writers = experiment("").writers(Path::new("")).unwrap();
            let asked = writers.iter().find(|writer| writer.id() == model).unwrap();
            for (name, bytes) in [
                (HEADER, json_bytes(Path::new(HEADER), &header).unwrap()),
                (
                    AGENT,
                    json_bytes(Path::new(AGENT), &AgentFile::of(asked, FORMAT, None)).unwrap(),
                ),
            ] {
                write_whole(&folder.join(name), &bytes).unwrap();
            }
            let made = [
                (EVENTS, format!("{LINE}\n")),
                ("versions/0/card.json", "{}".to_owned()),
                ("versions/0/strategy.py", format!("# by {model}\n")),
            ];
            for (name, text) in &made {
                write_whole(&folder.join(name), text.as_bytes()).unwrap();
            }
            let made = made.map(|(name, text)| (folder.join(name), text.into_bytes()));
            let files_sha256 = digests_of(&folder, &made).unwrap();
            Self::write_result(
                &folder,
                &SubmissionResult {
                    rows: SubmissionRows {
                        model: model.to_owned(),
                        strategy: id.label().to_owned(),
                        seed: 1,
                        without_reference: false,
                        ranked: Some(0),
                        versions: vec![row(0)],
                    },
                    lost: None,
                    tokens: 0,
                    events_sha256: files_sha256.get(EVENTS).cloned().unwrap(),
                    real_sha256: None,
                    files_sha256,
                },
            );
        }

        fn write_result(folder: &Path, result: &SubmissionResult) {
            let path = folder.join(RESULT);
            write_whole(&path, &json_bytes(&path, result).unwrap()).unwrap();
        }

        /// The result of a submission changed.
        pub(crate) fn change_result(folder: &Path, change: impl FnOnce(&mut SubmissionResult)) {
            let mut result: SubmissionResult = read(&folder.join(RESULT)).unwrap();
            change(&mut result);
            Self::write_result(folder, &result);
        }
    }

    /// A version that runs nothing.
    pub(crate) fn row(iteration: usize) -> VersionRow {
        VersionRow {
            iteration,
            state: "kept".to_owned(),
            gates: "parse".to_owned(),
            passed: Vec::new(),
            valid: false,
            measured: None,
            published_scores: None,
            warnings: 0,
            changed: None,
            drift: None,
            published_drift: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::fixture::{Results, own_strategy};
    use super::*;
    use crate::run::own_copies::{check_copies, has_copy};
    use ktd_io::whole_file::{remove_file, write_whole};
    use ktd_strategy_code::DocumentId;
    use serde_json::Value;

    fn error_of(root: &Path) -> String {
        match finished_submissions(root).and_then(|all| own_strategies(root, &all)) {
            Ok(_) => String::new(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_changed_file_of_a_finished_submission_is_named_and_an_unfinished_one_is_left_out() {
        let results = Results::of(&StrategySource::BuiltIn(DocumentId::S01));
        let root = results.root();
        assert_eq!(finished_submissions(root).unwrap().len(), 2);
        let own = results.folder("one", "S01");
        let source = own.join("versions/0/strategy.py");
        write_whole(&source, b"x = 1\n").unwrap();
        let error = error_of(root);
        assert!(
            error.contains("strategy.py: it differs from the file that the result names"),
            "{error}"
        );
        remove_file(&own.join(RESULT)).unwrap();
        assert_eq!(finished_submissions(root).unwrap().len(), 1);
    }

    #[test]
    fn a_result_is_of_the_submission_that_its_files_and_its_folder_name() {
        let results = Results::of(&StrategySource::BuiltIn(DocumentId::S01));
        let own = results.folder("one", "S01");
        Results::change_result(&own, |result| result.rows.model = "two".to_owned());
        let error = error_of(results.root());
        assert!(error.contains("result.json: it is of another model"), "{error}");
        Results::change_result(&own, |result| result.rows.model = "one".to_owned());
        assert_eq!(error_of(results.root()), "");
        // A folder with the name of another submission.
        let elsewhere = results.root().join("elsewhere");
        let error = CheckedSubmission::read(&elsewhere, &own)
            .err()
            .unwrap()
            .to_string();
        assert!(
            error.contains("one__S01__1: the folder has the name of another submission"),
            "{error}"
        );
    }

    #[test]
    fn a_copy_is_of_the_files_that_submissions_were_judged_by() {
        let folder = tempfile::tempdir().unwrap();
        let own = own_strategy(folder.path(), "channel");
        let results = Results::of(&StrategySource::Own(Box::new(own.clone())));
        let root = results.root();
        let all = finished_submissions(root).unwrap();
        assert_eq!(own_strategies(root, &all).unwrap().len(), 1);
        let copies = root.join("strategies");
        // What a file browser leaves is no copy.
        write_whole(&copies.join(".DS_Store"), b"x").unwrap();
        assert_eq!(error_of(root), "");
        let known = BTreeMap::from([("channel".to_owned(), digests(&own))]);
        let error = check_copies(root, &known).unwrap_err();
        assert!(
            error
                .to_string()
                .contains(".DS_Store: no submission was judged by it"),
            "{error}"
        );
        assert!(error.hint().starts_with("remove it"), "{}", error.hint());
        write_whole(&copies.join("channel/spec.md"), b"# Another document\n").unwrap();
        let error = error_of(root);
        assert!(
            error.contains("strategies/channel: its files are not those that the submission was judged by"),
            "{error}"
        );
        assert!(has_copy(root, &own).is_err());
    }

    #[test]
    fn a_recorded_strategy_that_leads_out_of_the_folder_is_refused() {
        let results = Results::of(&StrategySource::BuiltIn(DocumentId::S01));
        let own = results.folder("one", "S01");
        let mut header: Value = read(&own.join(HEADER)).unwrap();
        let mut error = |strategy: &str| {
            header["strategy"] = strategy.into();
            write_whole(&own.join(HEADER), header.to_string().as_bytes()).unwrap();
            read_header(&own)
                .map(|header| header.strategy)
                .map_err(|error| error.to_string())
        };
        for sound in ["S01", "channel"] {
            assert_eq!(error(sound).unwrap(), sound);
        }
        for foreign in ["../../x", "/etc", "", "a/b", ".."] {
            let error = error(foreign).unwrap_err();
            assert!(
                error.contains("header.json")
                    && error.contains(&format!("the strategy {foreign:?} is invalid")),
                "{error}"
            );
        }
    }
}
