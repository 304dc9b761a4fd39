//! An arena that is asked, continued, replayed and read.

use super::header::{ArenaHeader, FORMAT};
use super::program::{ReviewedProgram, programs, recorded_programs};
use super::record::{ArenaRecord, ReviewerAnswers};
use super::review::{ReviewAsking, ReviewEvent};
use crate::error::StrategyError;
use crate::recorded_name::check_agent;
use crate::run::{ArenaKeys, SpentBefore, StrategyExperiment, arena_folder, review_role, reviewer_folder};
use futures::StreamExt;
use ktd_agents::{Transport, Usage};
use ktd_asking::{AgentFile, AskedRecord, OpenModels, compare_with_file, endpoint_of, json_lines, keep_same};
use ktd_client::AskedModel;
use ktd_client::money::Metering;
use ktd_io::file_set::write_together;
use ktd_io::line_file::LineKind;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{create_directory, json_bytes, parse_json, read_bounded, read_if_exists};
use ktd_record::study_folder::StudyFolder;
use ktd_strategy_code::review_order;
use serde::de::DeserializeOwned;
use std::path::Path;

/// The most that a file of an arena may hold.
const FILE_LIMIT_BYTES: u64 = 1 << 26;
const HEADER: &str = "header.json";
const AGENT: &str = "agent.json";
const REVIEWS: &str = "reviews.jsonl";
const RECORD: &str = "arena.json";
const REPLAY_HINT: &str = "the file or the record was changed: give `ktd strategy-code arena` again, which writes it from the \
                           record";
/// Models with a program below which nothing is compared.
const AUTHORS_MIN: usize = 2;
/// Planted programs that every reviewer gets.
const PLANTED: usize = super::control::ControlKind::ALL.len();
/// Tokens of a review: of the request, and of the reply.
const REVIEW_TOKENS: (u64, u64) = (6_000, 400);

/// What an arena came to, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub enum ArenaOutcome {
    /// Reviews.
    Held(Box<ArenaRecord>),
    /// Too few models to compare: why.
    NotApplicable(String),
}

/// What a reviewer is asked for, if every model has a program under review.
#[derive(Debug, Clone, PartialEq)]
pub struct ArenaPlan {
    /// The reviewer.
    pub id: String,
    /// Reviews; each may be asked for twice.
    pub reviews: usize,
    /// Tokens of the requests, about.
    pub input_tokens: u64,
    /// Tokens of the replies, about.
    pub output_tokens: u64,
    /// About what they cost, in US dollars.
    pub dollars: Option<f64>,
}

fn keys(experiment: &StrategyExperiment) -> Result<&ArenaKeys, StrategyError> {
    experiment.arena.as_ref().ok_or_else(|| {
        StrategyError::input(
            format_args!("the experiment {:?} has no `arena`", experiment.name),
            "write arena = { reviewers = \"agents\", temperature = 0.7, review = \"stripped\" }",
        )
    })
}

/// The plan of an arena: a row a reviewer. The experiment's file lies in `base`; nothing is read of its results.
///
/// # Errors
/// [`StrategyError`] for an experiment without an arena, and as for a run.
pub fn plan_arena(experiment: &StrategyExperiment, base: &Path) -> Result<Vec<ArenaPlan>, StrategyError> {
    let keys = keys(experiment)?;
    let reviewers = keys.reviewers(&experiment.agents)?;
    let asking = experiment.asking_reviews(&reviewers, keys.temperature);
    let (models, _) = asking.models(base)?;
    let submissions = experiment.agents.len() * experiment.strategies(base)?.len() * experiment.seeds.len();
    let planned = models.iter().map(|model| planned(model, submissions + PLANTED));
    Ok(planned.collect())
}

fn planned(model: &AskedModel, reviews: usize) -> ArenaPlan {
    let count = u64::try_from(reviews).unwrap_or(u64::MAX);
    let usage = Usage {
        uncached_input: count.saturating_mul(REVIEW_TOKENS.0),
        visible_output: count.saturating_mul(REVIEW_TOKENS.1),
        ..Usage::default()
    };
    let cost = model.payer.tariff.basis().cost(&usage);
    ArenaPlan {
        id: model.id().to_owned(),
        reviews,
        input_tokens: usage.uncached_input,
        output_tokens: usage.visible_output,
        dollars: cost.map(|priced| priced.amount.to_usd()),
    }
}

/// Has the programs of an experiment's folder reviewed, or continues there; the experiment's file lies in `base`. What is
/// recorded is not asked again. `advance` is called as reviews are done.
///
/// # Errors
/// [`StrategyError`] for an experiment without an arena, submissions that are not finished, and as for a run. What was
/// recorded stands, and the same call continues.
pub async fn run_arena(
    experiment: &StrategyExperiment,
    (base, held): (&Path, &StudyFolder),
    advance: &(dyn Fn() + Sync),
) -> Result<ArenaOutcome, StrategyError> {
    let (keys, folder) = (keys(experiment)?, held.path());
    let reviewers = keys.reviewers(&experiment.agents)?;
    let (programs, left_out) = programs(experiment, (base, folder))?;
    let spent = SpentBefore::of(experiment, (base, folder))?;
    let asking = experiment.asking_reviews(&reviewers, keys.temperature);
    let OpenModels { models, metering } = asking.open(base, folder, |_, budget| spent.count(budget))?;
    let writers = experiment.writers(base)?;
    let header = ArenaHeader::new(
        experiment,
        (&writers, &models),
        (&programs, left_out),
        (keys.review, held.program()),
    );
    if header.authors() < AUTHORS_MIN {
        return Ok(ArenaOutcome::NotApplicable(too_few(&header)));
    }
    let mut work = Vec::new();
    for model in &models {
        // A missing key stops everything before anybody is asked.
        work.push((model, endpoint_of(model, base)?));
    }
    create_directory(&arena_folder(folder))?;
    let about = "about other programs, or of other reviewers; the arena reviews what the experiment came to";
    keep_same(&arena_folder(folder).join(HEADER), &header, about)?;
    let mut answers = Vec::new();
    for (model, endpoint) in work {
        let asked = Reviewer {
            header: &header,
            programs: &programs,
            parallel: experiment.parallel,
            advance,
        };
        let terms = (&metering, experiment);
        let own = reviewer_folder(folder, model.id());
        answers.push(asked.ask((model, &endpoint), terms, &own).await?);
    }
    write(folder, &header, answers)
}

fn too_few(header: &ArenaHeader) -> String {
    format!(
        "{} of {} models have a program under review; an arena compares at least {AUTHORS_MIN}",
        header.authors(),
        header.models.len()
    )
}

/// A reviewer's answers with the bytes of their file.
type Answered = (ReviewerAnswers, Vec<u8>);

fn write(folder: &Path, header: &ArenaHeader, answers: Vec<Answered>) -> Result<ArenaOutcome, StrategyError> {
    let mut files = Vec::new();
    let mut all = Vec::new();
    for (answers, bytes) in answers {
        files.push((reviewer_folder(folder, &answers.reviewer).join(REVIEWS), bytes));
        all.push(answers);
    }
    let record = ArenaRecord::of(header, &all);
    let path = arena_folder(folder).join(RECORD);
    let bytes = json_bytes(&path, &record)?;
    files.push((path, bytes));
    write_together(&files)?;
    Ok(ArenaOutcome::Held(Box::new(record)))
}

/// What a reviewer is asked.
struct Reviewer<'a> {
    header: &'a ArenaHeader,
    programs: &'a [ReviewedProgram],
    parallel: usize,
    advance: &'a (dyn Fn() + Sync),
}

impl Reviewer<'_> {
    async fn ask(
        &self,
        (model, transport): (&AskedModel, &dyn Transport),
        (metering, experiment): (&Metering, &StrategyExperiment),
        folder: &Path,
    ) -> Result<Answered, StrategyError> {
        create_directory(folder)?;
        let agent = AgentFile::of(model, FORMAT, None);
        keep_same(&folder.join(AGENT), &agent, "of another agent")?;
        let record = AskedRecord::continued(folder, model, metering, experiment.retries, transport)?;
        let events = self.reviews(&record).await?;
        let tokens = record.finish()?.tokens.all();
        answered(folder, (model.id(), tokens), events)
    }

    /// The reviews by step. A review that was begun is led to its end even when another is stopped, so that nothing that was
    /// sent is lost.
    async fn reviews(&self, record: &AskedRecord<'_>) -> Result<Vec<ReviewEvent>, StrategyError> {
        let asking = ReviewAsking {
            record,
            review: self.header.review,
            seed: self.header.seed,
        };
        let reviewer = record.conversations().model().id();
        let order = review_order(self.programs.len(), self.header.seed, reviewer);
        let in_order = order.iter().filter_map(|place| self.programs.get(*place));
        let asked = in_order.zip(1..).map(|(program, step)| {
            let asking = &asking;
            async move {
                let event = asking.review(step, program).await;
                (self.advance)();
                event
            }
        });
        let events: Vec<Result<Option<ReviewEvent>, StrategyError>> = futures::stream::iter(asked)
            .buffered(self.parallel)
            .collect()
            .await;
        // Whatever stopped others is an error of its own.
        let events: Result<Vec<Option<ReviewEvent>>, StrategyError> = events.into_iter().collect();
        Ok(events?.into_iter().flatten().collect())
    }
}

fn answered(
    folder: &Path,
    (reviewer, tokens): (&str, u64),
    events: Vec<ReviewEvent>,
) -> Result<Answered, StrategyError> {
    let bytes = json_lines(&folder.join(REVIEWS), &events)?;
    let answers = ReviewerAnswers {
        reviewer: reviewer.to_owned(),
        events,
        tokens,
        sha256: sha256_hex(&bytes),
    };
    Ok((answers, bytes))
}

/// Makes the arena of a folder again from its record, and compares reviews and ratings with the files, byte for byte. Nobody
/// is asked. None where the folder holds no arena.
///
/// # Errors
/// [`ktd_asking::AskingError::Difference`] naming the file that differs; other errors for an arena of other prompts, and for
/// programs that are not those that were reviewed.
pub async fn replay_arena(folder: &Path) -> Result<Option<ArenaRecord>, StrategyError> {
    let Some(header) = read_header(folder)? else {
        return Ok(None);
    };
    header.check()?;
    let programs = recorded_programs(folder, &header.programs)?;
    let mut all = Vec::new();
    for id in &header.reviewers {
        let own = reviewer_folder(folder, id);
        let agent: AgentFile = read(&own.join(AGENT))?;
        let model = agent.model(&review_role(header.seed), header.seed);
        let metering = Metering::default();
        let record = AskedRecord::closed(&own, &model, &metering)?;
        let reviewer = Reviewer {
            header: &header,
            programs: &programs,
            parallel: 1,
            advance: &|| {},
        };
        let events = reviewer.reviews(&record).await?;
        let (answers, bytes) = answered(&own, (id, record.spending()?.tokens.all()), events)?;
        compare_with_file(&own.join(REVIEWS), &bytes, REPLAY_HINT)?;
        all.push(answers);
    }
    let record = ArenaRecord::of(&header, &all);
    let path = arena_folder(folder).join(RECORD);
    compare_with_file(&path, &json_bytes(&path, &record)?, REPLAY_HINT)?;
    Ok(Some(record))
}

pub(super) fn read_header(folder: &Path) -> Result<Option<ArenaHeader>, StrategyError> {
    let path = arena_folder(folder).join(HEADER);
    let Some(bytes) = read_if_exists(&path)? else {
        return Ok(None);
    };
    let header: ArenaHeader = parse_json(&path, &bytes)?;
    header.check_names(&path)?;
    Ok(Some(header))
}

/// The arena of a folder as it holds it; none where there is none, or it is not finished.
///
/// # Errors
/// [`StrategyError`] for a record that cannot be read.
pub fn read_arena(folder: &Path) -> Result<Option<ArenaRecord>, StrategyError> {
    let path = arena_folder(folder).join(RECORD);
    let Some(bytes) = read_if_exists(&path)? else {
        return Ok(None);
    };
    let record: ArenaRecord = parse_json(&path, &bytes)?;
    for row in &record.reviewers {
        check_agent(&path, "reviewers", &row.reviewer)?;
    }
    Ok(Some(record))
}

/// The reviews of a finished arena, with the words of the reviewers, by reviewer.
///
/// # Errors
/// [`StrategyError`] for a file that cannot be read, and for one that is not the one that the record names.
pub fn read_reviews(
    folder: &Path,
    record: &ArenaRecord,
) -> Result<Vec<(String, Vec<ReviewEvent>)>, StrategyError> {
    record
        .reviewers
        .iter()
        .map(|row| {
            let path = reviewer_folder(folder, &row.reviewer).join(REVIEWS);
            let bytes = LineKind::Log.bytes(&path)?;
            if sha256_hex(&bytes) != row.reviews_sha256 {
                return Err(StrategyError::damaged(
                    &path,
                    "it differs from the file that arena.json names",
                ));
            }
            let events = LineKind::Log.lines(&path, &bytes)?.values()?;
            Ok((row.reviewer.clone(), events))
        })
        .collect()
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, StrategyError> {
    Ok(parse_json(path, &read_bounded(path, FILE_LIMIT_BYTES)?)?)
}

#[cfg(test)]
pub(crate) mod fixture {
    use super::*;
    use crate::run::ReviewText;
    use ktd_io::whole_file::write_whole;
    use ktd_record::program_record::ProgramRecord;

    /// Writes an arena in which each reviewer finds a weakness in each program: its own name.
    pub(crate) fn hold(experiment: &StrategyExperiment, folder: &Path) {
        let base = Path::new("");
        let (programs, left_out) = programs(experiment, (base, folder)).unwrap();
        let (models, _) = experiment
            .asking_reviews(&experiment.agents, 0.7)
            .models(base)
            .unwrap();
        let writers = experiment.writers(base).unwrap();
        let terms = (writers.as_slice(), models.as_slice());
        let program = ProgramRecord {
            source_sha256: "a".repeat(64),
            commit: None,
        };
        let header = ArenaHeader::new(
            experiment,
            terms,
            (&programs, left_out),
            (ReviewText::Stripped, &program),
        );
        let answers = models.iter().map(|model| {
            let own = reviewer_folder(folder, model.id());
            create_directory(&own).unwrap();
            let events = programs.iter().zip(1..).map(|(program, step)| ReviewEvent {
                weaknesses: model.id().to_owned(),
                ..ReviewEvent::new(step, &program.key)
            });
            answered(&own, (model.id(), 0), events.collect()).unwrap()
        });
        let answers = answers.collect();
        let path = arena_folder(folder).join(HEADER);
        write_whole(&path, &json_bytes(&path, &header).unwrap()).unwrap();
        write(folder, &header, answers).unwrap();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_io::whole_file::write_whole;
    use serde_json::{Value, json};

    #[test]
    fn names_of_a_foreign_arena_stay_in_its_folder() {
        let root = tempfile::tempdir().unwrap();
        let arena = arena_folder(root.path());
        create_directory(&arena).unwrap();
        let write = |name: &str, value: &Value| {
            write_whole(&arena.join(name), value.to_string().as_bytes()).unwrap();
        };
        let header = |reviewer: &str, (model, strategy): (&str, &str)| {
            let program = json!({
                "strategy": strategy, "model": model, "seed": 1, "iteration": 0, "control": null, "card_sha256": "",
                "source_sha256": "",
            });
            write(
                HEADER,
                &json!({
                    "format": FORMAT, "seed": 1, "review": "stripped", "prompts_sha256": "", "models": [],
                    "reviewers": [reviewer], "programs": [program], "left_out": [],
                }),
            );
            read_header(root.path())
                .map(drop)
                .map_err(|error| error.to_string())
        };
        header("one", ("two", "S01")).unwrap();
        for (reviewer, program, part) in [
            (
                "../../x",
                ("two", "S01"),
                "`reviewers` has the invalid name \"../../x\"",
            ),
            ("one", ("../x", "S01"), "`programs` has the invalid name \"../x\""),
            ("one", ("two", "../x"), "the strategy \"../x\" is invalid"),
        ] {
            let error = header(reviewer, program).unwrap_err();
            assert!(error.contains("header.json") && error.contains(part), "{error}");
        }
        let record = |reviewer: &str| {
            let row = json!({
                "reviewer": reviewer, "reviews": 0, "missing": 0, "lost": 0, "repairs": 0, "asked_again": 0, "tokens": 0,
                "clean": null, "plea": null, "flipped": null, "swayed": null, "blind": null, "reviews_sha256": "",
            });
            let header = read_header(root.path()).unwrap().unwrap();
            let made = ArenaRecord::of(&header, &[]);
            let mut made = serde_json::to_value(made).unwrap();
            made["reviewers"] = json!([row]);
            write(RECORD, &made);
            read_arena(root.path())
                .map(drop)
                .map_err(|error| error.to_string())
        };
        header("one", ("two", "S01")).unwrap();
        record("one").unwrap();
        let error = record("../../x").unwrap_err();
        assert!(
            error.contains("arena.json") && error.contains("`reviewers` has the invalid name \"../../x\""),
            "{error}"
        );
    }
}
