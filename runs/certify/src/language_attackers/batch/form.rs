//! The forms of vendors' batch files.

use crate::CertifyError;
use ktd_agents::{Wire, WireReply};
use ktd_experiment::provider::Provider;
use ktd_record::exchanges::{BATCH_ROW, ExchangeOutcome};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// Vendors that take batches of a wire. Where a vendor's own documents were not read, it is not in the list.
const VENDORS: [&str; 3] = ["openai", "anthropic", "google"];

/// What a batch file of a wire looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BatchForm {
    /// Lines of `custom_id`, `method`, `url` and `body`.
    OpenAi,
    /// One object whose `requests` have `custom_id` and `params`.
    Messages,
    /// Lines of `key` and `request`.
    Gemini,
}

impl BatchForm {
    /// The form of an endpoint.
    ///
    /// # Errors
    /// [`CertifyError::Input`] where the vendor has no batches that are known here.
    pub(super) fn of(agent: &str, provider: &Provider) -> Result<Self, CertifyError> {
        if !VENDORS.contains(&provider.dialect.id.as_str()) {
            return Err(CertifyError::input(
                format!(
                    "attacker {agent:?}: no batch interface of {} is known here",
                    provider.dialect.name
                ),
                format!(
                    "batches are written for the vendors {}; ask this one live with `ktd probe`",
                    VENDORS.join(", ")
                ),
            ));
        }
        Ok(match provider.wire {
            Wire::ChatCompletions | Wire::Responses => Self::OpenAi,
            Wire::Messages => Self::Messages,
            Wire::GenerateContent => Self::Gemini,
        })
    }

    /// The file of these requests, each with its id, its path and its body.
    pub(super) fn write(
        self,
        base_url: &str,
        requests: &[(String, String, &RawValue)],
    ) -> serde_json::Result<String> {
        let prefix = path_of(base_url);
        let lines = requests.iter().map(|(id, path, body)| match self {
            Self::OpenAi => serde_json::to_string(&OpenAiRequest {
                custom_id: id,
                method: "POST",
                url: format!("{prefix}{path}"),
                body,
            }),
            Self::Messages => serde_json::to_string(&MessagesRequest {
                custom_id: id,
                params: body,
            }),
            Self::Gemini => serde_json::to_string(&GeminiRequest {
                key: id,
                request: body,
            }),
        });
        let lines: Vec<String> = lines.collect::<serde_json::Result<_>>()?;
        Ok(match self {
            Self::OpenAi | Self::Gemini => lines.iter().map(|line| line.clone() + "\n").collect(),
            Self::Messages => format!("{{\"requests\":[\n{}\n]}}\n", lines.join(",\n")),
        })
    }

    /// A line of a results file: which request, and what came back.
    pub(super) fn read(self, line: &str) -> serde_json::Result<(String, ExchangeOutcome)> {
        match self {
            Self::OpenAi => {
                let row: OpenAiResult<'_> = serde_json::from_str(line)?;
                let answered = row
                    .response
                    .filter(|reply| (200..=299).contains(&reply.status_code));
                let outcome = match (answered, row.error) {
                    (Some(reply), None) => replied(reply.status_code, reply.body),
                    (_, error) => failed(error.as_ref().unwrap_or(&Value::Null)),
                };
                Ok((row.custom_id, outcome))
            }
            Self::Messages => {
                let row: MessagesResult<'_> = serde_json::from_str(line)?;
                let outcome = match (row.result.kind.as_str(), row.result.message) {
                    ("succeeded", Some(message)) => replied(200, message),
                    (kind, _) => failed(row.result.error.as_ref().unwrap_or(&Value::from(kind))),
                };
                Ok((row.custom_id, outcome))
            }
            Self::Gemini => {
                let row: GeminiResult<'_> = serde_json::from_str(line)?;
                let outcome = match (row.response, row.error) {
                    (Some(response), None) => replied(200, response),
                    (_, error) => failed(error.as_ref().unwrap_or(&Value::Null)),
                };
                Ok((row.key, outcome))
            }
        }
    }
}

/// The path of an address, without a slash at its end.
fn path_of(base_url: &str) -> &str {
    let after = base_url.split_once("://").map_or(base_url, |(_, after)| after);
    after
        .find('/')
        .and_then(|start| after.get(start..))
        .unwrap_or_default()
        .trim_end_matches('/')
}

fn replied(status: u16, body: &RawValue) -> ExchangeOutcome {
    ExchangeOutcome::of(&Ok(WireReply::new(status, body.get().as_bytes().to_vec())))
}

/// A row without an answer. Of the vendor's words only its code is kept: words may repeat a key.
fn failed(error: &Value) -> ExchangeOutcome {
    ExchangeOutcome::Failed {
        code: BATCH_ROW.to_owned(),
        retryable: true,
        detail: code_in(error).unwrap_or_else(|| "no reason given".to_owned()),
    }
}

/// The innermost code, type or status that an error names.
fn code_in(error: &Value) -> Option<String> {
    const CODE_CHARS_MAX: usize = 80;
    let text = match error {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Object(members) => {
            let inner = members.get("error").and_then(code_in);
            let mut own = ["code", "type", "status"]
                .iter()
                .filter_map(|key| members.get(*key));
            return inner.or_else(|| own.find_map(code_in));
        }
        Value::Null | Value::Bool(_) | Value::Array(_) => return None,
    };
    Some(
        text.chars()
            .filter(|character| !character.is_control())
            .take(CODE_CHARS_MAX)
            .collect(),
    )
}

#[derive(Serialize)]
struct OpenAiRequest<'a> {
    custom_id: &'a str,
    method: &'static str,
    url: String,
    body: &'a RawValue,
}

#[derive(Serialize)]
struct MessagesRequest<'a> {
    custom_id: &'a str,
    params: &'a RawValue,
}

#[derive(Serialize)]
struct GeminiRequest<'a> {
    key: &'a str,
    request: &'a RawValue,
}

#[derive(Deserialize)]
struct OpenAiResult<'a> {
    custom_id: String,
    #[serde(borrow, default)]
    response: Option<OpenAiReply<'a>>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct OpenAiReply<'a> {
    status_code: u16,
    #[serde(borrow)]
    body: &'a RawValue,
}

#[derive(Deserialize)]
struct MessagesResult<'a> {
    custom_id: String,
    #[serde(borrow)]
    result: MessagesOutcome<'a>,
}

#[derive(Deserialize)]
struct MessagesOutcome<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<Value>,
}

#[derive(Deserialize)]
struct GeminiResult<'a> {
    key: String,
    #[serde(borrow, default)]
    response: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<Value>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail(form: BatchForm, line: &str) -> String {
        match form.read(line).unwrap().1 {
            ExchangeOutcome::Failed { code, detail, .. } => {
                assert_eq!(code, BATCH_ROW);
                detail
            }
            ExchangeOutcome::Reply { .. } | ExchangeOutcome::Refused { .. } => {
                panic!("it is an answer: {line}")
            }
        }
    }

    #[test]
    fn the_url_of_a_request_is_that_of_the_endpoint() {
        assert_eq!(path_of("https://api.openai.com/v1"), "/v1");
        assert_eq!(path_of("https://h:8/a/v2/"), "/a/v2");
        assert_eq!(path_of("https://h"), "");
    }

    #[test]
    fn an_answers_bytes_are_kept_and_an_errors_words_are_not() {
        let line = r#"{"id":"b1","custom_id":"day-3","response":{"status_code":200,"request_id":"r","body":{"a" : 1.50}},"error":null}"#;
        let (id, outcome) = BatchForm::OpenAi.read(line).unwrap();
        assert_eq!(
            (id.as_str(), outcome.reply().unwrap().body),
            ("day-3", br#"{"a" : 1.50}"#.to_vec())
        );
        let error =
            r#"{"custom_id":"x","response":null,"error":{"code":"batch_expired","message":"sk-secret"}}"#;
        assert_eq!(detail(BatchForm::OpenAi, error), "batch_expired");
        let bad = r#"{"custom_id":"x","response":{"status_code":400,"body":{"error":{}}},"error":null}"#;
        assert_eq!(detail(BatchForm::OpenAi, bad), "no reason given");
        let errored = r#"{"custom_id":"x","result":{"type":"errored","error":{"type":"error","error":{"type":"invalid_request_error","message":"m"}}}}"#;
        assert_eq!(detail(BatchForm::Messages, errored), "invalid_request_error");
        assert_eq!(
            detail(
                BatchForm::Messages,
                r#"{"custom_id":"x","result":{"type":"expired"}}"#
            ),
            "expired"
        );
        assert_eq!(
            detail(
                BatchForm::Gemini,
                r#"{"key":"x","error":{"code":8,"message":"m"}}"#
            ),
            "8"
        );
        assert!(BatchForm::Gemini.read(r#"{"custom_id":"x"}"#).is_err());
    }
}
