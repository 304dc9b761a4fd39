//! A judgement made again from its record, without a network.

use super::events::event_bytes;
use super::folder::{AgentFile, JudgePaths, JudgeRequest, read};
use super::list::JudgeList;
use super::reading::Reading;
use super::record::LogicJudgement;
use super::run::Questions;
use super::summary::{JudgeAnswers, judgement};
use crate::StudyError;
use crate::language::{FormulaConversations, compare_with_file};
use ktd_bundle::BundlePaths;
use ktd_bundle::exchanges::Cassette;
use ktd_bundle::spending::Spending;
use ktd_client::conversations::Conversations;
use ktd_client::money::Metering;
use ktd_experiment::config::RetryConfig;
use ktd_io::whole_file::json_bytes;
use std::path::Path;

/// Makes the judgement of a folder again from its exchanges, and compares it with what the folder holds, byte for byte.
///
/// # Errors
/// [`StudyError::Difference`] naming the file that differs; other errors for a folder that holds no judgement.
pub async fn replay_judgement(folder: &Path) -> Result<LogicJudgement, StudyError> {
    let paths = JudgePaths::new(folder);
    let request = JudgeRequest::read(&paths.request())?;
    let reading: Reading = read(&paths.reading())?;
    let list = JudgeList::of_lines(&request.formulas)?;
    let mut answers = Vec::new();
    for id in &reading.judges {
        answers.push(replayed(&paths.agent(id), &request, &list).await?);
    }
    let judgement = judgement(&request, &list, &reading, &answers);
    let path = paths.judgement();
    compare(&path, &json_bytes(&path, &judgement)?)?;
    Ok(judgement)
}

async fn replayed(
    folder: &Path,
    request: &JudgeRequest,
    list: &JudgeList,
) -> Result<JudgeAnswers, StudyError> {
    let agent: AgentFile = read(&folder.join("agent.json"))?;
    let paths = BundlePaths::new(folder);
    let cassette = Cassette::read(&paths.exchanges())?;
    let (model, metering) = (agent.model(request.seed), Metering::default());
    let tokens = Spending::of(&cassette, &model.payer.tariff).tokens;
    let conversations = FormulaConversations {
        asking: Conversations::new(&model, &metering, RetryConfig::default(), cassette, None),
        schema_retries: agent.schema_retries,
    };
    let put = Questions {
        request,
        list,
        conversations: &conversations,
    };
    let events = put.all(1, &|| {}).await?;
    let path = paths.events();
    compare(&path, &event_bytes(&path, &events)?)?;
    Ok(JudgeAnswers {
        agent,
        events,
        tokens,
    })
}

fn compare(path: &Path, made: &[u8]) -> Result<(), StudyError> {
    compare_with_file(
        path,
        made,
        "the file or the record was changed: give `ktd alpha judge` again, which writes it from the record",
    )
}
