//! Which language models a certificate rests on: who was asked, which model answered, and when.
//!
//! What a model remembers changes with its version, so a verdict on models holds for those that are named here and for the
//! days on which they were asked. Names and times are those of the endpoint's own replies.

use super::attacker_record::{AttackerRecord, Knowledge};
use super::paths::CertifyPaths;
use crate::CertifyError;
use ktd_env::TradeDate;
use ktd_probes::judge::{ControlSet, UnansweredCount};
use ktd_record::RecordPaths;
use ktd_record::exchanges::{ExchangeOutcome, each_exchange};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Language model of a certificate, as it was asked.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelAsked {
    /// The agent's id.
    pub agent: String,
    /// Vendor and name of the model that was asked for.
    pub model: String,
    /// The models that answered, as their replies name themselves.
    pub served: Vec<String>,
    /// When the first reply came, UTC, by the endpoint's own clock; none where no reply says.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub first_reply: Option<String>,
    /// When the last reply came.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub last_reply: Option<String>,
    /// Probes put to it.
    pub probes: u64,
    /// Probes that it answered.
    pub answered: u64,
}

impl ModelAsked {
    /// Every language model with what the counts say of it, before its replies are looked at.
    pub(super) fn counted(attackers: &[AttackerRecord], unanswered: &[UnansweredCount]) -> Vec<Self> {
        let of = |attacker: &AttackerRecord| {
            let own = unanswered.iter().filter(|count| count.attacker == attacker.name);
            let (probes, left) = own.fold((0_u64, 0_u64), |(probes, left), count| {
                (
                    probes.saturating_add(count.probes),
                    left.saturating_add(count.unanswered),
                )
            });
            Self {
                agent: attacker.name.clone(),
                model: attacker.model.clone().unwrap_or_default(),
                served: Vec::new(),
                first_reply: None,
                last_reply: None,
                probes,
                answered: probes.saturating_sub(left),
            }
        };
        let language = attackers
            .iter()
            .filter(|attacker| attacker.knows == Knowledge::Language);
        language.map(of).collect()
    }

    /// The same without what its replies say.
    pub(super) fn without_record(&self) -> Self {
        Self {
            served: Vec::new(),
            first_reply: None,
            last_reply: None,
            ..self.clone()
        }
    }
}

impl fmt::Display for ModelAsked {
    /// `gpt (openai/gpt-5.5, answered as gpt-5.5-2026-01), 2026-02-03T04:05:06Z to 2026-02-04T05:06:07Z, 36 of 36 answered`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}", self.agent, self.model)?;
        if self.served.is_empty() {
            f.write_str(", no reply names a model)")?;
        } else {
            write!(f, ", answered as {})", self.served.join(" and "))?;
        }
        match (&self.first_reply, &self.last_reply) {
            (Some(first), Some(last)) => write!(f, ", {first} to {last}")?,
            _ => f.write_str(", no reply says when")?,
        }
        write!(f, ", {} of {} answered", self.answered, self.probes)
    }
}

/// Every language model of these attackers, from the exchanges on disk.
///
/// # Errors
/// [`CertifyError`] for exchanges that are damaged.
pub(super) fn models_asked(
    paths: &CertifyPaths,
    attackers: &[AttackerRecord],
    unanswered: &[UnansweredCount],
) -> Result<Vec<ModelAsked>, CertifyError> {
    let mut models = ModelAsked::counted(attackers, unanswered);
    for model in &mut models {
        let (mut served, mut times) = (BTreeSet::new(), BTreeSet::new());
        for set in [paths.probed(), paths.control(ControlSet::BrightDay.label())] {
            let folder = paths.root().join(set.asked(&model.agent));
            each_exchange(&RecordPaths::new(&folder).exchanges(), |exchange| {
                if let Some((
                    ..,
                    Some(ExchangeOutcome::Reply {
                        headers,
                        body: Some(body),
                        ..
                    }),
                )) = exchange.settled()
                {
                    let reply: ReplyHead = serde_json::from_str(body).unwrap_or_default();
                    times.extend(reply.time(headers));
                    served.extend(reply.model.or(reply.model_version));
                }
                Ok(())
            })?;
        }
        model.served = served.into_iter().collect();
        model.first_reply = times.first().cloned();
        model.last_reply = times.last().cloned();
    }
    Ok(models)
}

/// What the replies of every vendor's interface say of themselves, each in its own word.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ReplyHead {
    /// Chat completions, responses and messages.
    model: Option<String>,
    /// Generate content.
    #[serde(rename = "modelVersion")]
    model_version: Option<String>,
    /// Chat completions, seconds.
    created: Option<serde_json::Number>,
    /// Responses, seconds.
    created_at: Option<serde_json::Number>,
}

impl ReplyHead {
    /// When the reply was made: by its `date` header, else by its body.
    fn time(&self, headers: &BTreeMap<String, String>) -> Option<String> {
        let header = headers.get("date").and_then(|date| of_http_date(date));
        header.or_else(|| {
            let created = self.created.as_ref().or(self.created_at.as_ref())?;
            of_unix_seconds(created.as_i64()?)
        })
    }
}

/// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7) as `1994-11-06T08:49:37Z`.
fn of_http_date(text: &str) -> Option<String> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let (_, rest) = text.split_once(", ")?;
    let mut parts = rest.split(' ');
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let (clock, zone) = (parts.next()?, parts.next()?);
    let month = MONTHS.iter().position(|known| *known == month)? + 1;
    let date = TradeDate::parse(&format!("{year}-{month:02}-{day}")).ok()?;
    let is_clock = clock.len() == 8 && clock.bytes().all(|byte| byte.is_ascii_digit() || byte == b':');
    (zone == "GMT" && is_clock).then(|| format!("{}T{clock}Z", date.reveal()))
}

fn of_unix_seconds(seconds: i64) -> Option<String> {
    const DAY: i64 = 86_400;
    let date = TradeDate::from_days_since_epoch(i32::try_from(seconds.div_euclid(DAY)).ok()?)?;
    let second = seconds.rem_euclid(DAY);
    let (hour, minute) = (second / 3_600, second / 60 % 60);
    Some(format!(
        "{}T{hour:02}:{minute:02}:{:02}Z",
        date.reveal(),
        second % 60
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_from_headers_and_bodies() {
        let date = |text: &str| of_http_date(text);
        assert_eq!(
            date("Sun, 06 Nov 1994 08:49:37 GMT").as_deref(),
            Some("1994-11-06T08:49:37Z")
        );
        for wrong in [
            "",
            "06 Nov 1994",
            "Sun, 31 Feb 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 CET",
        ] {
            assert_eq!(date(wrong), None, "{wrong}");
        }
        assert_eq!(
            of_unix_seconds(784_111_777).as_deref(),
            Some("1994-11-06T08:49:37Z")
        );
        let reply: ReplyHead = serde_json::from_str(r#"{"created_at":784111777.5,"model":"m"}"#).unwrap();
        assert_eq!(reply.time(&BTreeMap::new()), None);
    }
}
