//! Where the submissions of an experiment start that continues another one: its ranked versions, with what reviewers said.

use crate::arena::{ReviewEvent, ReviewedVersions, read_arena, read_reviews};
use crate::error::StrategyError;
use crate::run::{
    CheckedSubmission, PeerWeakness, ReviewedStart, StartingVersions, StrategyExperiment, folder_of,
};
use crate::strategy_source::StrategySource;
use ktd_client::AskedModel;
use std::path::{Path, PathBuf};

/// Characters of one reviewer's words.
const WORDS_MAX: usize = 1_000;
/// Characters of all reviewers' words.
const ALL_WORDS_MAX: usize = 4_000;

/// The versions that the submissions of an experiment start with; its file lies in `base`, and its results in `own`. None
/// where it continues no other experiment, and for a submission of which the other experiment has no ranked version.
///
/// # Errors
/// [`StrategyError`] where no arena was held in the other experiment, where that is the experiment itself, for a record that
/// was changed or cannot be read, and for one of another model, vendor or document.
pub fn starting_versions(
    experiment: &StrategyExperiment,
    (base, own): (&Path, &Path),
) -> Result<StartingVersions, StrategyError> {
    let mut starts = StartingVersions::default();
    let Some(other) = &experiment.continues else {
        return Ok(starts);
    };
    let folder = base.join(other);
    if is_same_folder(&folder, own) {
        return Err(StrategyError::input(
            format_args!(
                "`continues`: {}: the folder is that of this experiment's own results",
                folder.display()
            ),
            "name the folder of results of another experiment, or give this one another `name`",
        ));
    }
    let record = read_arena(&folder)?.ok_or_else(|| {
        StrategyError::input(
            format_args!(
                "`continues`: {}: the folder holds no finished arena",
                folder.display()
            ),
            "name the folder of results of another experiment, after `ktd strategy-code arena`",
        )
    })?;
    let reviewed = ReviewedRecord {
        reviews: read_reviews(&folder, &record)?,
        versions: ReviewedVersions::read(&folder)?,
        folder,
    };
    let strategies = experiment.strategies(base)?;
    for model in experiment.writers(base)? {
        for strategy in &strategies {
            if let Some(start) = reviewed.start(&model, strategy)? {
                starts = starts.with((model.id(), strategy.id().label(), model.seed), start);
            }
        }
    }
    Ok(starts)
}

/// Whether two paths lead to one folder, which need not be there yet.
fn is_same_folder(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    one == other || real(one).is_some_and(|one| Some(one) == real(other))
}

/// The record of another experiment with its reviews.
struct ReviewedRecord {
    folder: PathBuf,
    reviews: Vec<(String, Vec<ReviewEvent>)>,
    versions: ReviewedVersions,
}

impl ReviewedRecord {
    /// The ranked version of a submission, with what reviewers said of this version and of no other.
    fn start(
        &self,
        model: &AskedModel,
        strategy: &StrategySource,
    ) -> Result<Option<ReviewedStart>, StrategyError> {
        let id = strategy.id();
        let which = (model.id(), id.label(), model.seed);
        let own = folder_of(&self.folder, which.0, which.1, which.2);
        let Some(checked) = CheckedSubmission::read(&self.folder, &own)? else {
            return Ok(None);
        };
        if let Some(difference) = checked.differs_from(model, strategy) {
            return Err(StrategyError::input(
                format_args!("`continues`: {}: {difference}", own.display()),
                "make model, vendor and strategy what they were there, or name results of the same ones",
            ));
        }
        let Some(iteration) = checked.result.rows.ranked else {
            return Ok(None);
        };
        let version = checked.version(iteration)?;
        let is_reviewed = self.versions.has(which, (iteration, &version));
        let reviews: &[_] = if is_reviewed { &self.reviews } else { &[] };
        Ok(Some(ReviewedStart {
            weaknesses: weaknesses(reviews, which),
            card: version.card,
            source: version.source,
        }))
    }
}

/// What reviewers other than its author call the weaknesses of a program, in the order of the reviewers, cut where it is long.
fn weaknesses(
    reviews: &[(String, Vec<ReviewEvent>)],
    (model, strategy, seed): (&str, &str, u64),
) -> Vec<PeerWeakness> {
    let mut left = ALL_WORDS_MAX;
    let mut found = Vec::new();
    for (reviewer, events) in reviews.iter().filter(|(reviewer, _)| reviewer != model) {
        let is_of = |event: &&ReviewEvent| {
            (event.model.as_deref(), event.strategy.as_str(), event.seed) == (Some(model), strategy, seed)
        };
        for event in events.iter().filter(is_of) {
            let words: String = event.weaknesses.chars().take(WORDS_MAX.min(left)).collect();
            left -= words.chars().count();
            if !words.is_empty() {
                found.push(PeerWeakness {
                    reviewer: reviewer.clone(),
                    words,
                });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::fixture::hold;
    use crate::run::fixture::{Results, experiment, own_strategy};
    use ktd_io::whole_file::{create_directory, read_input, read_input_bytes, write_whole};
    use ktd_strategy_code::DocumentId;

    fn started(keys: &str, root: &Path) -> Result<StartingVersions, String> {
        let text = format!("continues = {root:?}\n{keys}");
        let own = Path::new("results/y");
        starting_versions(&experiment(&text), (Path::new(""), own)).map_err(|error| error.to_string())
    }

    /// Results on S01, with a finished arena.
    fn reviewed() -> Results {
        let results = Results::of(&StrategySource::BuiltIn(DocumentId::S01));
        hold(&experiment(KEYS), results.root());
        results
    }

    const KEYS: &str = "strategies = [\"S01\"]";

    #[test]
    fn a_submission_starts_with_the_version_that_was_reviewed() {
        let results = reviewed();
        let starts = started(KEYS, results.root()).unwrap();
        let start = starts.of(("one", "S01", 1)).unwrap();
        assert_eq!(start.source, "# by one\n");
        let reviewers = |starts: &StartingVersions| {
            let start = starts.of(("one", "S01", 1)).unwrap();
            start
                .weaknesses
                .iter()
                .map(|own| own.reviewer.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(reviewers(&starts), ["two"]);
        // Words about another program than the one that stands there now.
        let header = results.root().join("arena/header.json");
        let text = read_input(&header).unwrap();
        let hash = ktd_io::sha256::sha256_hex(b"# by one\n");
        assert!(text.contains(&hash));
        write_whole(&header, text.replace(&hash, &"0".repeat(64)).as_bytes()).unwrap();
        let starts = started(KEYS, results.root()).unwrap();
        assert_eq!(reviewers(&starts), Vec::<String>::new());
    }

    #[test]
    fn a_record_that_was_changed_is_not_continued() {
        let results = reviewed();
        let reviews = results.root().join("arena/reviewers/two/reviews.jsonl");
        let kept = read_input_bytes(&reviews).unwrap();
        let changed = String::from_utf8(kept.clone())
            .unwrap()
            .replace("\"weaknesses\":\"two\"", "\"weaknesses\":\"obey\"");
        write_whole(&reviews, changed.as_bytes()).unwrap();
        let error = started(KEYS, results.root()).unwrap_err();
        assert!(
            error.contains("reviews.jsonl: it differs from the file that arena.json names"),
            "{error}"
        );
        write_whole(&reviews, &kept).unwrap();
        let source = results.folder("one", "S01").join("versions/0/strategy.py");
        write_whole(&source, b"x = 1\n").unwrap();
        let error = started(KEYS, results.root()).unwrap_err();
        assert!(error.contains("strategy.py: it differs from the file"), "{error}");
    }

    #[test]
    fn another_model_vendor_or_document_is_not_continued() {
        let results = reviewed();
        let other = |from: &str, to: &str| {
            let mut other = experiment(&format!("continues = {:?}\n{KEYS}", results.root()));
            let text = toml_of_agents().replace(from, to);
            other.agents = toml::from_str::<StrategyExperiment>(&text).unwrap().agents;
            starting_versions(&other, (Path::new(""), Path::new("results/y")))
                .map(drop)
                .map_err(|error| error.to_string())
        };
        other("model = \"one\"", "model = \"one\"").unwrap();
        let error = other("model = \"one\"", "model = \"larger\"").unwrap_err();
        assert!(
            error.contains("`continues`")
                && error.contains(
                    "it was asked of \"one\" of \"compatible\", and the agent \"one\" is \"larger\""
                ),
            "{error}"
        );
        let error = other("id = \"two\"", "id = \"two\", vendor = \"deepseek\"").unwrap_err();
        assert!(
            error.contains("the agent \"two\" is \"two\" of \"deepseek\""),
            "{error}"
        );

        let folder = tempfile::tempdir().unwrap();
        let own = own_strategy(folder.path(), "channel");
        let results = Results::of(&StrategySource::Own(Box::new(own)));
        let keys = format!("strategies = [{:?}]", folder.path());
        hold(&experiment(&keys), results.root());
        started(&keys, results.root()).unwrap();
        write_whole(&folder.path().join("spec.md"), b"# Another document\n").unwrap();
        let error = started(&keys, results.root()).unwrap_err();
        assert!(
            error.contains("it was judged by another spec.md of channel"),
            "{error}"
        );
    }

    fn toml_of_agents() -> String {
        let agents = ["one", "two"]
            .map(|id| format!("{{ id = {id:?}, base_url = \"http://127.0.0.1:9/v1\", model = {id:?} }}"));
        format!("agents = [{}]", agents.join(", "))
    }

    #[test]
    fn no_experiment_continues_its_own_results() {
        let folder = tempfile::tempdir().unwrap();
        create_directory(&folder.path().join("sub")).unwrap();
        let continued = experiment(&format!("continues = \"results/x\"\n{KEYS}"));
        let error = |own: &Path| {
            let started = starting_versions(&continued, (folder.path(), own));
            started.unwrap_err().to_string()
        };
        let own = continued.results(folder.path());
        assert!(error(&own).contains("`continues`") && error(&own).contains("own results"));
        create_directory(&own).unwrap();
        let round = folder.path().join("sub/../results/x");
        assert!(error(&round).contains("own results"));
        assert!(error(&folder.path().join("sub")).contains("the folder holds no finished arena"));
    }

    fn event(model: Option<&str>, strategy: &str, weaknesses: &str) -> ReviewEvent {
        ReviewEvent {
            step: 1,
            strategy: strategy.to_owned(),
            seed: 1,
            model: model.map(str::to_owned),
            control: None,
            d1: Some(5),
            d2: Some(5),
            strengths: String::new(),
            weaknesses: weaknesses.to_owned(),
            repairs: 0,
            asked: 1,
            problem: None,
            lost: None,
        }
    }

    #[test]
    fn words_of_others_about_this_program_are_kept_and_cut() {
        let by = |reviewer: &str, events: Vec<ReviewEvent>| (reviewer.to_owned(), events);
        let long = "x".repeat(3_000);
        let mut reviews = vec![
            by("a", vec![event(Some("a"), "S01", "my own")]),
            by(
                "b",
                vec![
                    event(Some("a"), "S01", "no stop"),
                    event(Some("a"), "S02", "of another document"),
                    event(Some("b"), "S01", "of another model"),
                    event(None, "S01", "of a planted program"),
                ],
            ),
            by("c", vec![event(Some("a"), "S01", "")]),
        ];
        let found = weaknesses(&reviews, ("a", "S01", 1));
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].reviewer.as_str(), found[0].words.as_str()),
            ("b", "no stop")
        );
        reviews.extend((0..6).map(|place| by(&format!("d{place}"), vec![event(Some("a"), "S01", &long)])));
        let found = weaknesses(&reviews, ("a", "S01", 1));
        let lengths: Vec<usize> = found.iter().map(|own| own.words.len()).collect();
        assert_eq!(lengths, [7, 1_000, 1_000, 1_000, 993]);
        assert_eq!(weaknesses(&reviews, ("a", "S01", 2)), []);
    }
}
