//! A judgement that is asked for: judges, their budget, and the list.

use super::events::QuestionEvent;
use super::folder::{FORMAT, JudgePaths, JudgeRequest};
use super::list::JudgeList;
use super::question::{JudgeQuestion, questions};
use super::reading::Reading;
use super::record::LogicJudgement;
use super::scores::scores_of;
use super::summary::{JudgeAnswers, judgement};
use crate::FormulaStudyError;
use crate::alpha_study::AlphaStudy;
use crate::judge_config::JudgeConfig;
use crate::language::FormulaConversations;
use crate::study_pool::StudyPool;
use futures::StreamExt;
use ktd_agents::Transport;
use ktd_asking::{AGENT_FILE, AgentFile, AskedRecord, OpenModels, endpoint_of, json_lines, keep_same};
use ktd_client::AskedModel;
use ktd_io::file_set::write_together;
use ktd_io::whole_file::{json_bytes, write_whole};
use ktd_masking::Payload;
use ktd_record::RecordPaths;
use ktd_record::program_record::ProgramRecord;
use ktd_record::study_folder::StudyFolder;
use std::path::{Path, PathBuf};

/// Callback that is called as questions are answered.
pub(super) type AnsweredFn<'a> = &'a (dyn Fn() + Sync);

/// Judges of a study's formulas, ready to be asked.
#[derive(Debug)]
pub struct FormulaJudges {
    config: JudgeConfig,
    request: JudgeRequest,
    list: JudgeList,
    reading: Reading,
    models: OpenModels,
    paths: JudgePaths,
    base: PathBuf,
    _held: StudyFolder,
}

impl FormulaJudges {
    /// The judges of a study whose file lies in `base`; everything is kept below `folder`, which this
    /// process holds. Nothing is asked yet.
    ///
    /// # Errors
    /// [`FormulaStudyError`] for a study without judges, a pool that cannot be read, an agent that is no model, a budget without
    /// prices, and a folder that holds answers about other formulas.
    pub fn open(
        study: &AlphaStudy,
        base: &Path,
        (folder, program): (&Path, &ProgramRecord),
    ) -> Result<Self, FormulaStudyError> {
        let config = study.judge.clone().ok_or_else(|| {
            FormulaStudyError::input(
                format_args!("the study {:?} has no `judge`", study.name),
                "write a table [judge] with agents = [..]; `ktd alpha judge --help` shows one",
            )
        })?;
        config.check()?;
        let fields: Vec<String> = Payload::formula_fields()
            .iter()
            .map(|field| (*field).to_owned())
            .collect();
        let pools: Result<Vec<StudyPool>, _> = study
            .pools
            .iter()
            .map(|source| StudyPool::read(source, &fields))
            .collect();
        let pools = pools?;
        let list = JudgeList::of_pools(&pools, config.seed);
        let judges = config.agents.iter().map(|agent| agent.id.clone()).collect();
        let human = config.human.as_ref().map(|path| base.join(path));
        let reading = Reading::new(judges, &study.pools, (&pools, &list.unshown), human.as_deref())?;
        let held = StudyFolder::hold(folder, program)?;
        let paths = JudgePaths::new(folder);
        let request = JudgeRequest::new(&config, &list, program);
        keep_same(
            &paths.request(),
            &request,
            "about other formulas, or to other texts",
        )?;
        let models = config.asking().open(base, folder, |models, budget| {
            models.iter().try_for_each(|model| {
                let exchanges = RecordPaths::new(&paths.agent(model.id())).exchanges();
                Ok(model.payer.count_recorded(&exchanges, budget)?)
            })
        })?;
        Ok(Self {
            config,
            request,
            list,
            reading,
            models,
            paths,
            base: base.to_owned(),
            _held: held,
        })
    }

    /// Questions in all, those of all judges.
    #[must_use]
    pub fn questions(&self) -> usize {
        self.asked().len() * self.models.models.len()
    }

    /// Where everything is kept.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.paths.root()
    }

    fn asked(&self) -> Vec<JudgeQuestion> {
        let request = &self.request;
        questions(&self.list, request.seed, request.orders, request.batch)
    }

    /// Puts every question to every judge, and writes the judgement. What is recorded is not asked again.
    ///
    /// # Errors
    /// [`FormulaStudyError`] for a missing key, a request that its endpoint does not take, a budget without room, and faults of the
    /// infrastructure beyond the attempts. What was recorded stands, and the same call continues.
    pub async fn ask_all(&self, progress: AnsweredFn<'_>) -> Result<LogicJudgement, FormulaStudyError> {
        // A missing key stops everything before anybody is asked.
        let endpoints: Result<Vec<_>, FormulaStudyError> = self
            .models
            .models
            .iter()
            .map(|model| Ok(endpoint_of(model, &self.base)?))
            .collect();
        let mut answers = Vec::new();
        for (model, endpoint) in self.models.models.iter().zip(endpoints?) {
            answers.push(self.ask(model, &endpoint, progress).await?);
        }
        let judgement = judgement(&self.request, &self.list, &self.reading, &answers);
        let (reading, found) = (self.paths.reading(), self.paths.judgement());
        let reading_bytes = json_bytes(&reading, &self.reading)?;
        let found_bytes = json_bytes(&found, &judgement)?;
        write_together(&[(reading, reading_bytes), (found, found_bytes)])?;
        Ok(judgement)
    }

    async fn ask(
        &self,
        model: &AskedModel,
        transport: &dyn Transport,
        progress: AnsweredFn<'_>,
    ) -> Result<JudgeAnswers, FormulaStudyError> {
        let folder = self.paths.agent(model.id());
        let (metering, retries) = (&self.models.metering, self.config.retries);
        let record = AskedRecord::continued(&folder, model, metering, retries, transport)?;
        let agent = AgentFile::of(model, FORMAT, Some(self.config.schema_retries));
        keep_same(&folder.join(AGENT_FILE), &agent, "of another agent")?;
        let conversations = FormulaConversations {
            asking: record.conversations(),
            schema_retries: self.config.schema_retries,
        };
        let put = Questions {
            request: &self.request,
            list: &self.list,
            conversations: &conversations,
        };
        let events = put.all(self.config.parallel, progress).await?;
        let events_path = RecordPaths::new(&folder).events();
        write_whole(&events_path, &json_lines(&events_path, &events)?)?;
        let tokens = record.finish()?.tokens;
        Ok(JudgeAnswers {
            agent,
            events,
            tokens,
        })
    }
}

/// The questions to one judge.
pub(super) struct Questions<'a> {
    pub(super) request: &'a JudgeRequest,
    pub(super) list: &'a JudgeList,
    pub(super) conversations: &'a FormulaConversations<'a>,
}

impl Questions<'_> {
    /// Puts all, so many at once; events come by question. A conversation that was begun is led to its end even when
    /// another one is stopped, so that nothing that was sent is lost.
    pub(super) async fn all(
        &self,
        parallel: usize,
        progress: AnsweredFn<'_>,
    ) -> Result<Vec<QuestionEvent>, FormulaStudyError> {
        let request = self.request;
        let asked = questions(self.list, request.seed, request.orders, request.batch);
        let put = asked.iter().map(|question| async move {
            let event = self.put(question).await;
            progress();
            (question.step, event)
        });
        let mut put: Vec<_> = futures::stream::iter(put)
            .buffer_unordered(parallel)
            .collect()
            .await;
        put.sort_by_key(|(step, _)| *step);
        let events: Result<Vec<Option<QuestionEvent>>, FormulaStudyError> =
            put.into_iter().map(|(_, event)| event).collect();
        Ok(events?.into_iter().flatten().collect())
    }

    async fn put(&self, question: &JudgeQuestion) -> Result<Option<QuestionEvent>, FormulaStudyError> {
        let formulas = question.entries.len();
        let opening = question.opening(self.list, self.request.prompt);
        let answered = self
            .conversations
            .hold(opening, &move |text: &str| scores_of(text, formulas))
            .await?;
        Ok(answered.map(|answered| QuestionEvent::of(question, answered)))
    }
}
