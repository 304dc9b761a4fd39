//! One submission of a model: its conversation, its versions, its files.

use super::event::event_lines;
use super::goal::StrategyGoal;
use super::kept_verdicts::{KeptVerdicts, Verdict};
use super::led::Led;
use super::messages::{message, system};
use super::record_files::{FileDigests, MadeFile, check_record, digests_of};
use super::reviewed_start::ReviewedStart;
use super::sent_messages::SentMessages;
use crate::bars::{RealBars, RealTask, RealVersion};
use crate::error::StrategyError;
use crate::rows::SubmissionRows;
use crate::task::StrategyTask;
use crate::versions::{DriftRule, SubmissionVersion, VersionChain};
use ktd_asking::{
    AgentFile, AskedRecord, TextAnswer, TextOpening, TextRounds, compare_with_file, json_lines, keep_same,
};
use ktd_boxed::BoxLauncher;
use ktd_client::AskedModel;
use ktd_io::file_set::write_together;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{create_directory, json_bytes, parse_json, read_if_exists};
use ktd_record::program_record::ProgramRecord;
use ktd_record::spending::Spending;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// The version of the files.
pub(super) const FORMAT: u32 = 3;
pub(super) const HEADER: &str = "header.json";
pub(super) const AGENT: &str = "agent.json";
pub(super) const EVENTS: &str = "events.jsonl";
/// The messages that were sent: a program that is not deterministic would have others written anew.
pub(super) const MESSAGES: &str = "messages.jsonl";
pub(crate) const RESULT: &str = "result.json";
/// What a version did bar by bar, in its folder.
pub(crate) const TRACES: &str = "traces.jsonl";
/// The version that it starts with, where it continues another experiment.
pub(super) const START: &str = "start.json";
/// What every iteration earns on real bars, where the experiment has some.
pub(super) const REAL: &str = "real.json";
pub(super) const REPLAY_HINT: &str = "the file or the record was changed, or a program is not deterministic, which its gates say; move \
                           the submission's folder away, and run again to ask anew";

/// What decides a submission, as its folder keeps it.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SubmissionHeader {
    pub(super) format: u32,
    /// The program that judges; absent from folders of earlier ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) program: Option<ProgramRecord>,
    pub(super) strategy: String,
    pub(super) seed: u64,
    pub(super) iterations: usize,
    pub(super) drift: DriftRule,
    pub(super) scenario_seed: u64,
    pub(super) goal: StrategyGoal,
    pub(super) real: Option<RealHeader>,
    /// Of the version that it starts with; none for a submission that begins with a build.
    pub(super) start_sha256: Option<String>,
    pub(super) document_sha256: String,
    pub(super) prompts_sha256: String,
    /// SHA-256 of the files of a strategy of one's own, by their names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) own: Option<FileDigests>,
}

/// The real bars of a submission.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RealHeader {
    /// The keys, with whole paths.
    pub(super) keys: RealBars,
    /// SHA-256 over all bars that programs are given.
    pub(super) bars_sha256: String,
}

/// What a submission came to, as its folder keeps it.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubmissionResult {
    pub(crate) rows: SubmissionRows,
    /// A fault of the infrastructure that ended it early.
    pub(crate) lost: Option<String>,
    pub(crate) tokens: u64,
    pub(crate) events_sha256: String,
    /// Of the earnings on real bars.
    pub(crate) real_sha256: Option<String>,
    /// Of every file of the record but this one.
    pub(crate) files_sha256: FileDigests,
}

/// One submission to be asked for.
pub(super) struct SubmissionCell<'a> {
    pub(super) folder: PathBuf,
    pub(super) task: &'a StrategyTask,
    pub(super) real: Option<&'a RealTask>,
    pub(super) start: Option<ReviewedStart>,
    pub(super) header: SubmissionHeader,
}

impl SubmissionCell<'_> {
    /// The result of an earlier run, where it is whole.
    fn finished(&self) -> Result<Option<SubmissionResult>, StrategyError> {
        let path = self.folder.join(RESULT);
        let Some(bytes) = read_if_exists(&path)? else {
            return Ok(None);
        };
        let result: SubmissionResult = parse_json(&path, &bytes)?;
        let events = read_if_exists(&self.folder.join(EVENTS))?.unwrap_or_default();
        let real = read_if_exists(&self.folder.join(REAL))?;
        let is_whole = sha256_hex(&events) == result.events_sha256
            && real.as_deref().map(sha256_hex) == result.real_sha256;
        Ok(is_whole.then_some(result))
    }

    /// Writes who is asked for what, or sees that an earlier run asked the same; its result, where it is whole.
    pub(super) fn opened(&self, model: &AskedModel) -> Result<Option<SubmissionResult>, StrategyError> {
        create_directory(&self.folder)?;
        keep_same(&self.folder.join(HEADER), &self.header, "of another experiment")?;
        let agent = AgentFile::of(model, FORMAT, None);
        keep_same(&self.folder.join(AGENT), &agent, "of another agent")?;
        if let Some(start) = &self.start {
            keep_same(
                &self.folder.join(START),
                start,
                "of another version to start with",
            )?;
        }
        let finished = self.finished()?;
        if finished.is_some() {
            // An earlier run may have been killed between the two.
            KeptVerdicts::remove(&self.folder)?;
        }
        Ok(finished)
    }

    /// Nothing asked yet; messages of an earlier run are sent again as they were.
    pub(super) fn begin(&self) -> Result<Led, StrategyError> {
        // The header names the program: another one may judge otherwise.
        let header = json_bytes(&self.folder.join(HEADER), &self.header)?;
        let verdicts = Some(KeptVerdicts::open(&self.folder, &header)?);
        Ok(Led {
            verdicts,
            ..self.led(SentMessages::continued(&self.folder)?)
        })
    }

    fn led(&self, messages: SentMessages) -> Led {
        Led {
            messages,
            verdicts: None,
            chain: VersionChain::new(self.header.drift),
            events: Vec::new(),
            real: Vec::new(),
            lost: None,
        }
    }

    /// Writes what was asked and judged, the result last.
    pub(super) fn finish(
        &self,
        record: &AskedRecord<'_>,
        led: &Led,
    ) -> Result<SubmissionResult, StrategyError> {
        let spending = record.finish()?;
        let mut files = self.made_files(led)?;
        let result = self.result(record, led, &spending, &files)?;
        for (path, _) in &files {
            if let Some(folder) = path.parent() {
                create_directory(folder)?;
            }
        }
        let path = self.folder.join(RESULT);
        let bytes = json_bytes(&path, &result)?;
        files.push((path, bytes));
        write_together(&files)?;
        KeptVerdicts::remove(&self.folder)?;
        Ok(result)
    }

    /// Makes everything again from the record, and compares it with the files.
    pub(super) async fn replay(
        &self,
        record: &AskedRecord<'_>,
        launcher: &BoxLauncher,
    ) -> Result<SubmissionResult, StrategyError> {
        check_files(&self.folder)?;
        let messages = SentMessages::recorded(&self.folder)?;
        let mut led = self.led(messages);
        self.start(&mut led, launcher)?;
        while self.wants_answer(&led) {
            let answer = self.ask(&mut led, record).await?;
            self.judge(&mut led, launcher, answer)?;
        }
        let made = self.made_files(&led)?;
        let result = self.result(record, &led, &record.spending()?, &made)?;
        for (path, bytes) in &made {
            compare_with_file(path, bytes, REPLAY_HINT)?;
        }
        let path = self.folder.join(RESULT);
        compare_with_file(&path, &json_bytes(&path, &result)?, REPLAY_HINT)?;
        Ok(result)
    }

    /// Whether another iteration is asked for.
    pub(super) fn wants_answer(&self, led: &Led) -> bool {
        led.lost.is_none() && (led.chain.wants_patch(self.header.iterations) || self.wants_profit(led))
    }

    /// Asks for the next iteration.
    pub(super) async fn ask(
        &self,
        led: &mut Led,
        record: &AskedRecord<'_>,
    ) -> Result<TextAnswer, StrategyError> {
        let step = led.chain.versions.len() + 1;
        let peers = self.start.as_ref().map_or_else(Vec::new, ReviewedStart::words);
        let made = message(self.task, (&led.chain, &peers), self.train_rows(led));
        // The version that a submission starts with was not asked for.
        let asked = step - 1 - usize::from(self.start.is_some());
        let opening = TextOpening {
            step,
            what: format!("{}, iteration {}", self.task.id, step - 1),
            seed: self.header.seed,
            cache_key: None,
            system: system(),
            user: led.messages.of(asked, made)?,
        };
        Ok(TextRounds::open(record, opening).ask(record).await?)
    }

    /// Judges the version that the submission starts with, where there is one.
    pub(super) fn start(&self, led: &mut Led, launcher: &BoxLauncher) -> Result<(), StrategyError> {
        let Some(start) = &self.start else {
            return Ok(());
        };
        let submission = start.submission();
        let words = format!("{}\0{}", submission.card, submission.source);
        let judge = |chain: &mut VersionChain| chain.start_with(launcher, self.task, submission);
        self.add_or_lose(led, launcher, (&words, None), judge)
    }

    /// Judges an answer. What another submission stopped is none, and leaves everything as it is.
    pub(super) fn judge(
        &self,
        led: &mut Led,
        launcher: &BoxLauncher,
        answer: TextAnswer,
    ) -> Result<(), StrategyError> {
        match answer {
            TextAnswer::Text(text) => {
                let judge = |chain: &mut VersionChain| chain.add_reply(launcher, self.task, &text);
                self.add_or_lose(led, launcher, (&text, Some(&text)), judge)?;
            }
            TextAnswer::Mistake(fault) => {
                led.kept_verdict(fault.code());
                led.chain.add_mistake(fault.code());
                led.add_event(self.task, None);
            }
            TextAnswer::Lost(reason) => led.lost = Some(reason),
            TextAnswer::Stopped => {}
        }
        Ok(())
    }

    /// Adds a version, or loses the submission where the reference of the strategy's own folder fails: that is a fault of the
    /// folder and none of the model. What was asked stays, and counts nowhere.
    fn add_or_lose(
        &self,
        led: &mut Led,
        launcher: &BoxLauncher,
        words: (&str, Option<&str>),
        judge: impl FnOnce(&mut VersionChain) -> Result<(), StrategyError>,
    ) -> Result<(), StrategyError> {
        match self.add_version(led, launcher, words, judge) {
            Err(StrategyError::OwnReference(problem)) => led.lost = Some(problem),
            added => added?,
        }
        Ok(())
    }

    /// Adds the version in some words: with the verdict that an earlier run left, or judged now.
    fn add_version(
        &self,
        led: &mut Led,
        launcher: &BoxLauncher,
        (words, reply): (&str, Option<&str>),
        judge: impl FnOnce(&mut VersionChain) -> Result<(), StrategyError>,
    ) -> Result<(), StrategyError> {
        let verdict = if let Some(verdict) = led.kept_verdict(words) {
            verdict
        } else {
            judge(&mut led.chain)?;
            let Some(version) = led.chain.versions.pop() else {
                return Ok(());
            };
            let real = self.earned(launcher, &version)?;
            led.keep(Verdict { version, real })?
        };
        led.chain.versions.push(verdict.version);
        led.add_event(self.task, reply);
        led.real.extend(verdict.real);
        Ok(())
    }

    /// Runs a version on the real bars, where there are some and it runs at all.
    fn earned(
        &self,
        launcher: &BoxLauncher,
        version: &SubmissionVersion,
    ) -> Result<Option<RealVersion>, StrategyError> {
        let Some(real) = self.real else {
            return Ok(None);
        };
        let has_run = version.report.as_ref().is_some_and(|report| report.run.is_some());
        let submission = version.submission.as_ref().filter(|_| has_run);
        let (rows, test_returns) = match submission.zip(self.task.id.document()) {
            Some((submission, id)) => real.judge(launcher, (id, &self.task.document), submission)?,
            None => (Vec::new(), None),
        };
        Ok(Some(RealVersion {
            iteration: version.iteration,
            rows,
            test_returns,
        }))
    }

    /// What the version that stands earned on the train split, where the experiment's goal lets a model know.
    fn train_rows<'l>(&self, led: &'l Led) -> Option<&'l RealVersion> {
        if self.header.goal == StrategyGoal::None {
            return None;
        }
        let stands = led.chain.standing()?.iteration;
        led.real.iter().find(|version| version.iteration == stands)
    }

    /// Whether a valid version is to be mended for what it earns on the train split.
    fn wants_profit(&self, led: &Led) -> bool {
        led.chain.versions.len() <= self.header.iterations
            && self
                .train_rows(led)
                .is_some_and(|version| !StrategyGoal::is_reached(version))
    }

    /// Events, earnings on real bars, and card, source and traces of every iteration.
    fn made_files(&self, led: &Led) -> Result<Vec<MadeFile>, StrategyError> {
        let events = self.folder.join(EVENTS);
        let bytes = event_lines(&events, &led.events)?;
        let mut files = vec![(events, bytes)];
        if self.real.is_some() {
            let path = self.folder.join(REAL);
            let bytes = json_bytes(&path, &led.real)?;
            files.push((path, bytes));
        }
        let sources = self.sources(&led.chain).into_iter();
        files.extend(sources.map(|(path, text)| (path, text.into_bytes())));
        for version in &led.chain.versions {
            files.extend(self.traces(version)?);
        }
        Ok(files)
    }

    /// What a version did bar by bar, where it runs.
    fn traces(&self, version: &SubmissionVersion) -> Result<Option<MadeFile>, StrategyError> {
        let markets = version.report.as_ref().map(|report| report.markets.as_slice());
        let Some(markets) = markets.filter(|markets| !markets.is_empty()) else {
            return Ok(None);
        };
        let path = self.version_folder(version.iteration).join(TRACES);
        let bytes = json_lines(&path, markets)?;
        Ok(Some((path, bytes)))
    }

    fn version_folder(&self, iteration: usize) -> PathBuf {
        self.folder.join("versions").join(iteration.to_string())
    }

    fn result(
        &self,
        record: &AskedRecord<'_>,
        led: &Led,
        spending: &Spending,
        made: &[MadeFile],
    ) -> Result<SubmissionResult, StrategyError> {
        let model = record.conversations().model();
        let files_sha256 = digests_of(&self.folder, made)?;
        let own = |name: &str| files_sha256.get(name).cloned();
        Ok(SubmissionResult {
            rows: SubmissionRows::of(model.id(), self.header.seed, &led.chain, self.task),
            lost: led.lost.clone(),
            tokens: spending.tokens.all(),
            events_sha256: own(EVENTS).unwrap_or_default(),
            real_sha256: own(REAL),
            files_sha256,
        })
    }

    /// Card and source of every iteration.
    fn sources(&self, chain: &VersionChain) -> Vec<(PathBuf, String)> {
        let files = |version: &SubmissionVersion| {
            let folder = self.version_folder(version.iteration);
            let submission = version.submission.as_ref()?;
            Some([
                (folder.join("card.json"), submission.card.clone()),
                (folder.join("strategy.py"), submission.source.clone()),
            ])
        };
        chain.versions.iter().filter_map(files).flatten().collect()
    }
}

/// Compares every file of a submission's record with what its result says of it.
pub(super) fn check_files(folder: &Path) -> Result<(), StrategyError> {
    let path = folder.join(RESULT);
    let bytes = read_if_exists(&path)?;
    let bytes = bytes.ok_or_else(|| {
        StrategyError::input(
            format_args!("{}: the submission is not finished", folder.display()),
            "give `ktd strategy-code run` again: it continues",
        )
    })?;
    let result: SubmissionResult = parse_json(&path, &bytes)?;
    check_record(folder, &result.files_sha256)
}

/// The folder of a submission.
pub(crate) fn folder_of(root: &Path, agent: &str, strategy: &str, seed: u64) -> PathBuf {
    root.join("submissions")
        .join(format!("{agent}__{strategy}__{seed}"))
}
