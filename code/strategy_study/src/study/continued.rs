//! Where the submissions of an experiment start that continues another one: its ranked versions, with what reviewers said.

use super::unit::StrategyFound;
use crate::error::StrategyError;
use crate::run::{PeerWeakness, ReviewedStart, SubmissionFound, document_hash, served};
use crate::strategy_source::StrategySource;
use ktd_client::AskedModel;
use ktd_io::sha256::sha256_hex;
use ktd_strategy_code::{ProgramKey, ReviewEvent, ReviewsFound};
use ktd_study::UnitId;
use std::path::Path;

/// Characters of one reviewer's words.
const WORDS_MAX: usize = 1_000;
/// Characters of all reviewers' words.
const ALL_WORDS_MAX: usize = 4_000;

/// The record of another experiment with its reviews.
pub(super) struct ReviewedRecord {
    submissions: Vec<SubmissionFound>,
    reviews: Vec<ReviewsFound>,
}

impl ReviewedRecord {
    /// What the units of a folder came to.
    ///
    /// # Errors
    /// [`StrategyError`] where no reviews were made.
    pub(super) fn of(folder: &Path, found: Vec<(UnitId, StrategyFound)>) -> Result<Self, StrategyError> {
        let (mut submissions, mut reviews) = (Vec::new(), Vec::new());
        for (_, found) in found {
            match found {
                StrategyFound::Submission(found) => submissions.push(*found),
                StrategyFound::Reviews(found) => reviews.push(*found),
            }
        }
        if reviews.is_empty() {
            return Err(StrategyError::input(
                format_args!(
                    "`continues`: {}: the folder holds no finished reviews",
                    folder.display()
                ),
                "name the folder of results of another experiment, whose file has the key `arena`",
            ));
        }
        Ok(Self { submissions, reviews })
    }

    /// The versions that submissions of these models on these strategies start with; none of which there is no ranked version.
    ///
    /// # Errors
    /// [`StrategyError`] for a record of another model, vendor or document.
    pub(super) fn starts(
        &self,
        (models, strategies): (&[AskedModel], &[StrategySource]),
    ) -> Result<Vec<ReviewedStart>, StrategyError> {
        let mut starts = Vec::new();
        for model in models {
            for strategy in strategies {
                starts.extend(self.start(model, strategy)?);
            }
        }
        Ok(starts)
    }

    /// The ranked version of a submission, with what reviewers said of this version and of no other.
    fn start(
        &self,
        model: &AskedModel,
        strategy: &StrategySource,
    ) -> Result<Option<ReviewedStart>, StrategyError> {
        let id = strategy.id();
        let which = (model.id(), id.label(), model.seed);
        let is_of = |own: &&SubmissionFound| {
            let rows = &own.rows;
            (rows.model.as_str(), rows.strategy.as_str(), rows.seed) == which
        };
        let Some(own) = self.submissions.iter().find(is_of) else {
            return Ok(None);
        };
        if let Some(difference) = differs(own, model, strategy) {
            let (model, strategy, seed) = which;
            return Err(StrategyError::input(
                format_args!("`continues`: {model} {strategy} {seed}: {difference}"),
                "make model, vendor and strategy what they were there, or name results of the same ones",
            ));
        }
        let ranked = own.rows.ranked;
        let Some((iteration, version)) = ranked.and_then(|ranked| Some((ranked, own.version(ranked)?)))
        else {
            return Ok(None);
        };
        let key = ProgramKey {
            strategy: id.label().to_owned(),
            model: Some(model.id().to_owned()),
            seed: model.seed,
            iteration,
            control: None,
            card_sha256: sha256_hex(version.card.as_bytes()),
            source_sha256: sha256_hex(version.source.as_bytes()),
        };
        let is_reviewed = self.reviews.iter().any(|own| own.programs.contains(&key));
        let reviews = if is_reviewed { &*self.reviews } else { &[] };
        Ok(Some(ReviewedStart {
            weaknesses: weaknesses(reviews, which),
            submission: version.clone(),
            model: key.model.unwrap_or_default(),
            strategy: key.strategy,
            seed: key.seed,
        }))
    }
}

/// What a later submission of the same name would be asked or judged by that this one was not; none where both are alike in
/// model, vendor and document.
fn differs(own: &SubmissionFound, model: &AskedModel, source: &StrategySource) -> Option<String> {
    let is = served(model);
    if own.served != is {
        return Some(format!(
            "it was asked of {}, and the agent {:?} is {is}",
            own.served,
            model.id()
        ));
    }
    let was = own.own_sha256.clone().unwrap_or_default();
    let is = source.own().map(|own| own.sha256.clone()).unwrap_or_default();
    let mut all = was.keys().chain(is.keys());
    if let Some(name) = all.find(|name| was.get(*name) != is.get(*name)) {
        return Some(format!("it was judged by another {name} of {}", source.id()));
    }
    (own.document_sha256 != document_hash(source))
        .then(|| format!("it was judged by another document of {}", source.id()))
}

/// What reviewers other than its author call the weaknesses of a program, in the order of the reviewers, cut where it is long.
fn weaknesses(reviews: &[ReviewsFound], (model, strategy, seed): (&str, &str, u64)) -> Vec<PeerWeakness> {
    let mut left = ALL_WORDS_MAX;
    let mut found = Vec::new();
    for own in reviews.iter().filter(|own| own.reviewer != model) {
        let is_of = |event: &&ReviewEvent| {
            (event.model.as_deref(), event.strategy.as_str(), event.seed) == (Some(model), strategy, seed)
        };
        for event in own.events.iter().filter(is_of) {
            let words: String = event.weaknesses.chars().take(WORDS_MAX.min(left)).collect();
            left -= words.chars().count();
            if !words.is_empty() {
                found.push(PeerWeakness {
                    reviewer: own.reviewer.clone(),
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
    use crate::experiment_report::fixture::{submission, version};
    use crate::run::StrategyExperiment;
    use ktd_strategy_code::DocumentId;

    /// An experiment on S01 with one model, served by a vendor.
    fn experiment(model: &str, vendor: &str) -> StrategyExperiment {
        let text = format!(
            "name = \"x\"\nstrategies = [\"S01\"]\nagents = [{{ id = \"a\", vendor = {vendor:?}, base_url = \"http://127.0.0.1:9/v1\", \
             model = {model:?} }}]\n"
        );
        toml::from_str(&text).unwrap()
    }

    fn recorded(asked: &AskedModel, source: &StrategySource) -> ReviewedRecord {
        let mut own = submission(("a", "S01"), vec![version(0, 6, None)], vec![("h", "x = 1")]);
        own.served = served(asked);
        own.document_sha256 = document_hash(source);
        ReviewedRecord {
            submissions: vec![own],
            reviews: vec![by("b", vec![event(Some("a"), "S01", "no stop")])],
        }
    }

    #[test]
    fn a_submission_starts_with_the_version_that_was_reviewed_of_the_same_model_and_document() {
        let source = StrategySource::BuiltIn(DocumentId::S01);
        let writer = |model: &str, vendor: &str| {
            let mut writers = experiment(model, vendor).writers(Path::new("")).unwrap();
            writers.remove(0)
        };
        let asked = writer("m", "vllm");
        let mut record = recorded(&asked, &source);
        // Nobody reviewed these bytes.
        let start = record.start(&asked, &source).unwrap().unwrap();
        assert_eq!(
            (start.submission.source.as_str(), start.weaknesses.len()),
            ("x = 1", 0)
        );
        record.reviews[0].programs.push(ProgramKey {
            strategy: "S01".to_owned(),
            model: Some("a".to_owned()),
            seed: 1,
            iteration: 0,
            control: None,
            card_sha256: sha256_hex(b""),
            source_sha256: sha256_hex(b"x = 1"),
        });
        let start = record.start(&asked, &source).unwrap().unwrap();
        assert_eq!(start.weaknesses.len(), 1);
        let error = |record: &ReviewedRecord, asked: &AskedModel| {
            record.start(asked, &source).unwrap_err().to_string()
        };
        for (other, wanted) in [
            (
                writer("larger", "vllm"),
                "the agent \"a\" is \"larger\" of \"vllm\"",
            ),
            (writer("m", "ollama"), "the agent \"a\" is \"m\" of \"ollama\""),
        ] {
            let error = error(&record, &other);
            assert!(error.contains("`continues`") && error.contains(wanted), "{error}");
        }
        record.submissions[0].document_sha256 = String::new();
        let error = error(&record, &asked);
        assert!(
            error.contains("it was judged by another document of S01"),
            "{error}"
        );
    }

    fn by(reviewer: &str, events: Vec<ReviewEvent>) -> ReviewsFound {
        ReviewsFound {
            reviewer: reviewer.to_owned(),
            events,
            programs: Vec::new(),
            tokens: 0,
            not_applicable: None,
        }
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
