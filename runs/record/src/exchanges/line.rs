//! One record of the store as a line of JSON.
//!
//! Requests and replies that are JSON stand in a line as they are, byte for byte, so that `grep`, `jq` and data frames
//! read them; anything else stands as text, and so does JSON that is nested too deeply for them.

use super::{ExchangeOutcome, Intent, RequestPlace};
use ktd_agents::{JsonExtent, REPLY_DEPTH_MAX};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// A record: what was about to be sent, or what came back.
#[derive(Debug, Clone)]
pub(super) enum Record {
    /// Before a request is sent.
    Intent(Intent),
    /// After it: what came back for the last intent of a place.
    Outcome {
        at: RequestPlace,
        outcome: ExchangeOutcome,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    /// Counts the records of a store from 0.
    seq: u64,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    intent: Option<IntentLine>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    outcome: Option<OutcomeLine>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct IntentLine {
    at: RequestPlace,
    key: String,
    path: String,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    request: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    request_text: Option<String>,
}

/// More than a line of an intent holds besides its request.
const LINE_OVERHEAD_BYTES: usize = 512;

/// A [`Line`] of an intent whose texts are borrowed.
#[derive(Serialize)]
struct WrittenLine<'a> {
    seq: u64,
    intent: WrittenIntent<'a>,
}

/// An [`IntentLine`] whose texts are borrowed.
#[derive(Serialize)]
struct WrittenIntent<'a> {
    at: RequestPlace,
    key: &'a str,
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_text: Option<&'a str>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutcomeLine {
    at: RequestPlace,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    reply: Option<ReplyLine>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    failed: Option<FailedLine>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    refused: Option<RefusedLine>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReplyLine {
    status: u16,
    headers: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    body: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    body_text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    body_hex: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FailedLine {
    code: String,
    retryable: bool,
    detail: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RefusedLine {
    #[serde(skip_serializing_if = "Option::is_none", default)]
    status: Option<u16>,
}

/// The deepest nesting of a request or a reply that stands in a line as JSON: what no wire reads, few readers of JSON Lines do.
const JSON_DEPTH_MAX: usize = REPLY_DEPTH_MAX;

/// The most values of a request that is read: each takes 32 bytes where the request is compared. What tools answer is text in it.
const REQUEST_ITEMS_MAX: usize = 4_000_000;

/// The most bytes of a request's key, which is a SHA-256 in hexadecimal digits; an index holds every one.
const KEY_BYTES_MAX: usize = 64;

/// A text as JSON of one line, where it is: the bytes come back as they were.
fn raw(text: &str) -> Option<&RawValue> {
    let is_plain = !text.contains(['\n', '\r']) && text.starts_with(['{', '[']);
    if !is_plain || JSON_DEPTH_MAX < JsonExtent::of(text.as_bytes()).depth {
        return None;
    }
    let value: &RawValue = serde_json::from_str(text).ok()?;
    (value.get().len() == text.len()).then_some(value)
}

fn either(json: Option<Box<RawValue>>, text: Option<String>) -> Option<String> {
    json.map(|json| Box::<str>::from(json).into_string()).or(text)
}

impl Record {
    /// The record's line, with its line feed.
    pub(super) fn to_line(&self, seq: u64) -> std::io::Result<Vec<u8>> {
        let mut bytes = match self {
            Self::Intent(intent) => {
                // Grown step by step, a long request would be copied again and again.
                let mut bytes = Vec::with_capacity(intent.request.len() + LINE_OVERHEAD_BYTES);
                let intent = WrittenIntent::of(intent);
                serde_json::to_writer(&mut bytes, &WrittenLine { seq, intent })?;
                bytes
            }
            Self::Outcome { at, outcome } => serde_json::to_vec(&Line {
                seq,
                intent: None,
                outcome: Some(OutcomeLine::of(*at, outcome)),
            })?,
        };
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// The record of a line, with its number, or what is wrong with the line.
    pub(super) fn parse(line: &[u8]) -> Result<(u64, Self), String> {
        let line: Line = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        let record = match (line.intent, line.outcome) {
            (Some(intent), None) => Self::Intent(intent.read()?),
            (None, Some(outcome)) => {
                let at = outcome.at;
                let outcome = outcome.read()?;
                Self::Outcome { at, outcome }
            }
            _ => return Err("it holds neither an intent nor an outcome, or both".to_owned()),
        };
        Ok((line.seq, record))
    }
}

impl<'a> WrittenIntent<'a> {
    fn of(intent: &'a Intent) -> Self {
        let request = raw(&intent.request);
        Self {
            at: intent.at,
            key: &intent.key,
            path: &intent.path,
            request_text: request.is_none().then_some(&intent.request),
            request,
        }
    }
}

impl IntentLine {
    fn read(self) -> Result<Intent, String> {
        if KEY_BYTES_MAX < self.key.len() {
            return Err("its key is longer than a hash".to_owned());
        }
        let request = either(self.request, self.request_text).ok_or("the request is missing")?;
        // No text has more values than bytes.
        if REQUEST_ITEMS_MAX < request.len() && REQUEST_ITEMS_MAX < JsonExtent::of(request.as_bytes()).items {
            return Err(format!("the request holds more than {REQUEST_ITEMS_MAX} values"));
        }
        Ok(Intent {
            at: self.at,
            key: self.key,
            path: self.path,
            request,
        })
    }
}

impl OutcomeLine {
    fn of(at: RequestPlace, outcome: &ExchangeOutcome) -> Self {
        let mut line = Self {
            at,
            reply: None,
            failed: None,
            refused: None,
        };
        match outcome {
            ExchangeOutcome::Reply {
                status,
                headers,
                body,
                body_hex,
            } => {
                let json = body.as_deref().and_then(raw).map(ToOwned::to_owned);
                line.reply = Some(ReplyLine {
                    status: *status,
                    headers: headers.clone(),
                    body_text: body.clone().filter(|_| json.is_none()),
                    body: json,
                    body_hex: body_hex.clone(),
                });
            }
            ExchangeOutcome::Failed {
                code,
                retryable,
                detail,
            } => {
                line.failed = Some(FailedLine {
                    code: code.clone(),
                    retryable: *retryable,
                    detail: detail.clone(),
                });
            }
            ExchangeOutcome::Refused { status } => line.refused = Some(RefusedLine { status: *status }),
        }
        line
    }

    fn read(self) -> Result<ExchangeOutcome, String> {
        match (self.reply, self.failed, self.refused) {
            (Some(reply), None, None) => Ok(ExchangeOutcome::Reply {
                status: reply.status,
                headers: reply.headers,
                body: either(reply.body, reply.body_text),
                body_hex: reply.body_hex,
            }),
            (None, Some(failed), None) => Ok(ExchangeOutcome::Failed {
                code: failed.code,
                retryable: failed.retryable,
                detail: failed.detail,
            }),
            (None, None, Some(refused)) => Ok(ExchangeOutcome::Refused {
                status: refused.status,
            }),
            _ => Err("it holds no outcome, or more than one".to_owned()),
        }
    }
}

/// Number and step of a record. They stand at the beginning of what this program writes, so that most of a line need not be
/// parsed; another spelling is parsed as a whole.
pub(super) fn place(line: &[u8]) -> Result<(u64, usize), String> {
    quick_place(line).map_or_else(
        || {
            let (number, record) = Record::parse(line)?;
            let at = match record {
                Record::Intent(intent) => intent.at,
                Record::Outcome { at, .. } => at,
            };
            Ok((number, at.step))
        },
        Ok,
    )
}

pub(super) fn quick_place(line: &[u8]) -> Option<(u64, usize)> {
    let text = std::str::from_utf8(line.get(..line.len().min(96))?).ok()?;
    let (number, rest) = text.strip_prefix("{\"seq\":")?.split_once(',')?;
    let rest = rest
        .strip_prefix("\"intent\":")
        .or_else(|| rest.strip_prefix("\"outcome\":"))?;
    let (step, _) = rest.strip_prefix("{\"at\":{\"step\":")?.split_once(',')?;
    Some((number.parse().ok()?, step.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at() -> RequestPlace {
        RequestPlace {
            step: 1,
            ordinal: 2,
            attempt: 0,
        }
    }

    #[test]
    fn texts_come_back_byte_for_byte_and_a_record_is_one_line() {
        for text in [
            "{\"a\":1}",
            "{ \"a\" : [1.0,\"\u{4e2d}\\n\"] }",
            "{\"a\":1,\"a\":2}",
            "{\"a\":\n1}",
            " {\"a\":1}",
            "{\"a\":1} ",
            "no JSON",
            "",
            "\r\n",
            "null",
        ] {
            let record = Record::Intent(Intent {
                at: at(),
                key: "k".to_owned(),
                path: "/p".to_owned(),
                request: text.to_owned(),
            });
            let line = record.to_line(7).unwrap();
            assert_eq!(line.split_inclusive(|byte| *byte == b'\n').count(), 1, "{text:?}");
            let (seq, read) = Record::parse(&line).unwrap();
            let Record::Intent(intent) = read else {
                panic!("{text:?}")
            };
            assert_eq!((seq, intent.request.as_str()), (7, text));
            let reply = ExchangeOutcome::Reply {
                status: 200,
                headers: BTreeMap::new(),
                body: Some(text.to_owned()),
                body_hex: None,
            };
            let record = Record::Outcome {
                at: at(),
                outcome: reply.clone(),
            };
            let (_, read) = Record::parse(&record.to_line(0).unwrap()).unwrap();
            assert!(matches!(read, Record::Outcome { outcome, .. } if outcome == reply));
        }
    }

    #[test]
    fn what_is_no_record_is_refused() {
        for line in [
            "{}",
            "{\"seq\":1}",
            "{\"seq\":1,\"intent\":null,\"outcome\":null}",
            "[]",
            "{\"seq\":0,\"outcome\":{\"at\":{\"step\":1,\"ordinal\":0,\"attempt\":0}}}",
            "{\"seq\":0,\"intent\":{\"at\":{\"step\":1,\"ordinal\":0,\"attempt\":0},\"key\":\"\",\"path\":\"\"}}",
        ] {
            assert!(Record::parse(line.as_bytes()).is_err(), "{line}");
        }
    }
}
