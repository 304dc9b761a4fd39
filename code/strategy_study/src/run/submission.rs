//! One submission: its conversation, and what is judged of each answer.

use super::found::{IterationTokens, OwnDocument, SubmissionFound, SubmissionUnit, VersionEvent};
use super::messages::{message, system};
use super::world::{SourcedTask, StrategyWorld};
use crate::error::StrategyError;
use crate::judge::BoxedJudge;
use ktd_asking::{AskedRecord, TextAnswer, TextOpening, TextRounds};
use ktd_boxed::BoxLauncher;
use ktd_client::AskedModel;
use ktd_io::sha256::sha256_hex;
use ktd_strategy_code::{
    RealVersion, StrategyGoal, SubmissionRows, SubmissionVersion, VersionChain, VersionRow,
};
use ktd_study::{Hands, StudyError};
use serde::{Deserialize, Serialize};

/// What was judged of one answer.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Verdict {
    version: SubmissionVersion,
    /// What it earned, where there are real bars.
    real: Option<RealVersion>,
}

/// A submission on its way.
struct Led<'a> {
    world: &'a StrategyWorld,
    unit: &'a SubmissionUnit,
    own: &'a SourcedTask,
    /// Hash of all answers so far: the same answer after others is another version.
    answers: String,
    chain: VersionChain,
    real: Vec<RealVersion>,
    lost: Option<String>,
}

/// Asks for a submission, iteration by iteration, and judges each answer.
pub(crate) async fn run_submission<E: Serialize + From<VersionEvent>>(
    world: &StrategyWorld,
    unit: &SubmissionUnit,
    hands: &mut Hands<'_, E>,
) -> Result<SubmissionFound, StudyError> {
    let mut led = Led {
        own: world.strategy(&unit.strategy)?,
        answers: String::new(),
        chain: VersionChain::new(world.experiment.drift),
        real: Vec::new(),
        lost: None,
        world,
        unit,
    };
    if let Some(start) = &unit.start {
        let words = format!("{}\0{}", start.submission.card, start.submission.source);
        led.judge(hands, (&words, None), |chain, judge| {
            chain.add(judge, start.submission.clone())
        })?;
    }
    while led.wants_answer() {
        let answer = led.ask(hands).await?;
        led.take(hands, answer)?;
        hands.advance(1);
    }
    led.found(hands)
}

impl Led<'_> {
    /// Whether another iteration is asked for.
    fn wants_answer(&self) -> bool {
        let iterations = self.world.experiment.iterations;
        self.lost.is_none() && (self.chain.wants_patch(iterations) || self.wants_profit(iterations))
    }

    /// Whether a valid version is to be mended for what it earns on the train split.
    fn wants_profit(&self, iterations: usize) -> bool {
        let wants = |version| !StrategyGoal::is_reached(version);
        self.chain.versions.len() <= iterations && self.train_rows().is_some_and(wants)
    }

    /// What the version that stands earned on the train split, where the experiment's goal lets a model know.
    fn train_rows(&self) -> Option<&RealVersion> {
        if self.world.experiment.goal == StrategyGoal::None {
            return None;
        }
        let stands = self.chain.standing()?.iteration;
        self.real.iter().find(|version| version.iteration == stands)
    }

    /// Asks for the next iteration.
    async fn ask<E: Serialize>(&self, hands: &Hands<'_, E>) -> Result<TextAnswer, StudyError> {
        let (record, iteration) = (hands.asked()?, self.chain.versions.len());
        let peers = self.unit.start.iter().flat_map(|start| &start.weaknesses);
        let peers: Vec<&str> = peers.map(|weakness| weakness.words.as_str()).collect();
        let opening = TextOpening {
            step: iteration + 1,
            what: format!("{}, iteration {iteration}", self.own.task.id),
            seed: self.unit.seed,
            cache_key: None,
            system: system(),
            user: message(&self.own.task, (&self.chain, &peers), self.train_rows()),
        };
        Ok(TextRounds::open(record, opening).ask(record).await?)
    }

    /// Takes an answer as the next iteration.
    fn take<E: Serialize + From<VersionEvent>>(
        &mut self,
        hands: &mut Hands<'_, E>,
        answer: TextAnswer,
    ) -> Result<(), StudyError> {
        match answer {
            TextAnswer::Text(text) => self.judge(hands, (&text, Some(&text)), |chain, judge| {
                chain.add_reply(judge, &text)
            }),
            TextAnswer::Mistake(fault) => {
                self.answers = after(&self.answers, fault.code());
                self.chain.add_mistake(fault.code());
                self.add_event(hands, None)
            }
            TextAnswer::Lost(reason) => {
                self.lost = Some(reason);
                Ok(())
            }
            TextAnswer::Stopped => Err(StudyError::difference(
                "the conversation was stopped",
                "run the same command again: it continues where it stopped",
            )),
        }
    }

    /// Adds the version in some words: what is judged of it is a work by all answers up to its own. A submission is lost where
    /// the reference of the strategy's own folder fails: that is a fault of the folder and none of the model.
    fn judge<E: Serialize + From<VersionEvent>>(
        &mut self,
        hands: &mut Hands<'_, E>,
        (words, reply): (&str, Option<&str>),
        judge: impl FnOnce(&mut VersionChain, &BoxedJudge<'_>) -> Result<(), StrategyError>,
    ) -> Result<(), StudyError> {
        self.answers = after(&self.answers, words);
        let judged: Result<Verdict, String> = hands.work("verdict", &self.answers, || {
            let launcher = self.world.boxes.launcher()?;
            let task = &self.own.task;
            let mut chain = self.chain.clone();
            let secret = &self.world.secret;
            match judge(
                &mut chain,
                &BoxedJudge {
                    launcher,
                    task,
                    secret,
                },
            ) {
                Err(StrategyError::OwnReference(problem)) => return Ok(Err(problem)),
                judged => judged?,
            }
            let version = chain
                .versions
                .pop()
                .ok_or_else(|| StudyError::input("nothing was judged", ""))?;
            let real = self.earned(launcher, &version)?;
            Ok(Ok(Verdict { version, real }))
        })?;
        match judged {
            Ok(verdict) => {
                self.chain.versions.push(verdict.version);
                self.real.extend(verdict.real);
                self.add_event(hands, reply)
            }
            Err(problem) => {
                self.lost = Some(problem);
                Ok(())
            }
        }
    }

    /// Runs a version on the real bars, where there are some and it runs at all.
    fn earned(
        &self,
        launcher: &BoxLauncher,
        version: &SubmissionVersion,
    ) -> Result<Option<RealVersion>, StrategyError> {
        let Some(real) = &self.own.real else {
            return Ok(None);
        };
        let has_run = version.report.as_ref().is_some_and(|report| report.run.is_some());
        let submission = version.submission.as_ref().filter(|_| has_run);
        Ok(Some(real.judge(
            (launcher, &self.own.task),
            version.iteration,
            submission,
        )?))
    }

    /// The event of the iteration that was judged last.
    fn add_event<E: Serialize + From<VersionEvent>>(
        &mut self,
        hands: &mut Hands<'_, E>,
        reply: Option<&str>,
    ) -> Result<(), StudyError> {
        if let Some(last) = self.chain.versions.last() {
            hands.event(&E::from(VersionEvent {
                row: VersionRow::of(last, &self.own.task.document),
                reply_sha256: reply.map(|reply| sha256_hex(reply.as_bytes())),
                standing: self.chain.standing().map(|version| version.iteration),
            }))?;
        }
        Ok(())
    }

    /// What it came to, with card and source of every iteration.
    fn found<E: Serialize>(self, hands: &mut Hands<'_, E>) -> Result<SubmissionFound, StudyError> {
        for version in &self.chain.versions {
            if let Some(submission) = &version.submission {
                let folder = format!("versions/{}", version.iteration);
                hands.file(
                    format!("{folder}/card.json"),
                    submission.card.clone().into_bytes(),
                );
                hands.file(
                    format!("{folder}/strategy.py"),
                    submission.source.clone().into_bytes(),
                );
            }
        }
        let (record, task, own) = (hands.asked()?, &self.own.task, self.own.source.own());
        let model = record.conversations().model();
        let strategy = (task.id.label(), &task.document, task.has_reference());
        let rows = SubmissionRows::of((model.id(), self.unit.seed), &self.chain, strategy, task.contract);
        let mut judged = self.chain.versions;
        for report in judged.iter_mut().filter_map(|version| version.report.as_mut()) {
            // They stand there as letters.
            report.traces.clear();
        }
        Ok(SubmissionFound {
            rows,
            lost: self.lost,
            judged,
            real: self.own.real.as_ref().map(|_| self.real),
            spending: hands.spending()?,
            tokens: tokens(record)?.collect(),
            vendor: model.payer.spender.vendor.clone(),
            served: served(model),
            document_sha256: self.unit.document_sha256.clone(),
            own_sha256: self.unit.own_sha256.clone(),
            own: own.map(|own| OwnDocument {
                spec: own.spec.clone(),
                text: own.text.clone(),
            }),
            is_continued: self.unit.start.is_some(),
            is_boxed: self.world.boxes.record().isolation.counts(),
        })
    }
}

/// The hash of answers with another one.
fn after(answers: &str, words: &str) -> String {
    sha256_hex(format!("{answers}\0{}", sha256_hex(words.as_bytes())).as_bytes())
}

/// Tokens by iteration: every iteration is a step of its own.
fn tokens(record: &AskedRecord<'_>) -> Result<impl Iterator<Item = (usize, IterationTokens)>, StudyError> {
    let by_step = record.spending_by_step()?.into_iter();
    Ok(by_step.map(|(step, spent)| {
        let sends = &spent.sends;
        let requests = sends.reported + sends.estimated + sends.incomplete + sends.unknown + sends.uncharged;
        let own = IterationTokens {
            requests,
            input: spent.tokens.input(),
            output: spent.tokens.all() - spent.tokens.input(),
        };
        (step.saturating_sub(1), own)
    }))
}

/// The model behind an agent, and who serves it.
pub(crate) fn served(model: &AskedModel) -> String {
    let name = model.agent.model().map_or("no model", |own| own.model.as_str());
    format!("{name:?} of {:?}", model.payer.spender.vendor)
}
