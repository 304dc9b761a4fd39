//! A judgement made again from its record, without a network.

use super::folder::{JudgePaths, JudgeRequest, read};
use super::list::JudgeList;
use super::reading::Reading;
use super::record::LogicJudgement;
use super::run::Questions;
use super::summary::{JudgeAnswers, judgement};
use crate::FormulaStudyError;
use crate::judge_config::ROLE;
use crate::language::FormulaConversations;
use ktd_asking::{AGENT_FILE, AgentFile, AskedRecord, compare_with_file, json_lines};
use ktd_client::money::Metering;
use ktd_io::whole_file::json_bytes;
use ktd_record::RecordPaths;
use std::path::Path;

/// Makes the judgement of a folder again from its exchanges, and compares it with what the folder holds, byte for byte.
///
/// # Errors
/// [`ktd_asking::AskingError::Difference`] naming the file that differs; other errors for a folder that holds no judgement.
pub async fn replay_judgement(folder: &Path) -> Result<LogicJudgement, FormulaStudyError> {
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
) -> Result<JudgeAnswers, FormulaStudyError> {
    let agent: AgentFile = read(&folder.join(AGENT_FILE))?;
    let (model, metering) = (agent.model(ROLE, request.seed), Metering::default());
    let record = AskedRecord::closed(folder, &model, &metering)?;
    let tokens = record.spending()?.tokens;
    let conversations = FormulaConversations {
        asking: record.conversations(),
        schema_retries: agent.schema_retries.unwrap_or_default(),
    };
    let put = Questions {
        request,
        list,
        conversations: &conversations,
    };
    let events = put.all(1, &|| {}).await?;
    let path = RecordPaths::new(folder).events();
    compare(&path, &json_lines(&path, &events)?)?;
    Ok(JudgeAnswers {
        agent,
        events,
        tokens,
    })
}

fn compare(path: &Path, made: &[u8]) -> Result<(), FormulaStudyError> {
    Ok(compare_with_file(
        path,
        made,
        "the file or the record was changed: give `ktd alpha judge` again, which writes it from the record",
    )?)
}
