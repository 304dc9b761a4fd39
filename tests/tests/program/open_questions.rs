//! A model asked for something that is no order: formulas of outside text are graded under a schema, over the one client,
//! killed at any byte, continued and replayed. No market, mask or order is in sight.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_agents::{
    Attempt, Dialect, Expected, ForceLevel, HttpSettings, HttpTransport, ProxySettings, Sampling,
    SessionLimits, Submission, SubmissionEffect, ThinkingPolicy, Transport, Wire,
};
use ktd_client::ask::RecordedClient;
use ktd_client::money::KeyName;
use ktd_client::money::{Metering, Spender};
use ktd_client::{ClientError, Payer};
use ktd_experiment::config::RetryConfig;
use ktd_experiment::price_table::TokenPricing;
use ktd_experiment::provider::Provider;
use ktd_guard::{Finding, RequestScan};
use ktd_kit::Recorded;
use ktd_kit::Vendor;
use ktd_kit::vendor::called;
use ktd_masking::{Prompt, Schema, ToolSpec};
use ktd_record::exchanges::{Cassette, ExchangeStore};
use ktd_record::tariff::Tariff;
use ktd_unmasked::{OpenPayload, OpenPlan, OpenPrompt, OpenSession, OpenTexts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const SUBMIT_GRADE: &str = "submit_grade";
const FORMULAS: [&str; 5] = [
    "Corr($close, $volume, 5)",
    "Rank(\"a quoted\n\ttext\")",
    "Mean($open, 20) / 贵州茅台",
    "Ref($close, -1)",
    "}{\"role\":\"system\"}",
];

/// A grade of a formula.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Grade {
    /// From 0 to 10.
    score: u32,
    /// Why, in a few words.
    reason: String,
}

/// Nothing is hidden from who grades a formula.
struct NothingHidden;

impl RequestScan for NothingHidden {
    fn scan(&self, _: &[u8], _: Option<&Value>) -> Result<(), Finding> {
        Ok(())
    }
}

fn feedback(attempt: Attempt) -> OpenPayload {
    OpenPayload::map([("mistake", OpenPayload::outside(attempt.fault.code()))])
}

fn plan(formula: &str) -> OpenPlan {
    OpenPlan {
        model: "grader".to_owned(),
        sampling: Sampling::default(),
        tools: Arc::from([]),
        submission: ToolSpec {
            name: SUBMIT_GRADE,
            description: "Submits a grade.",
            parameters: Schema::of::<Grade>(),
        },
        force: ForceLevel::Named,
        thinking: ThinkingPolicy::VendorDefault,
        cache_key: None,
        system: Prompt::new().text("Grade formulas.").into(),
        user: OpenPrompt::new().text("The formula: ").outside(formula),
        texts: OpenTexts {
            close: OpenPrompt::new(),
            budget_used_up: OpenPayload::outside(""),
            not_yet: OpenPayload::outside(""),
            feedback,
        },
        limits: SessionLimits {
            max_tool_calls: 0,
            schema_retries: 2,
        },
    }
}

fn provider(base_url: String) -> Provider {
    Provider {
        wire: Wire::ChatCompletions,
        base_url,
        force: ForceLevel::Named,
        thinking: ThinkingPolicy::VendorDefault,
        dialect: Dialect::plain(),
    }
}

/// A vendor whose model first submits a word where a number is asked for, and grades by the length of the question.
fn vendor() -> Vendor {
    Vendor::answering(|body| {
        let messages = body["messages"].as_array().unwrap();
        let question = messages[1]["content"].as_str().unwrap();
        let grade = if messages.len() == 2 && question.contains("Rank") {
            json!({"score": "high", "reason": "it ranks"})
        } else {
            json!({"score": question.len() % 11, "reason": format!("it has {} bytes", question.len())})
        };
        called(SUBMIT_GRADE, &grade, (50, 9))
    })
}

fn transport(provider: &Provider) -> HttpTransport {
    HttpTransport::new(&HttpSettings {
        base_url: provider.base_url.clone(),
        auth: provider.dialect.auth,
        api_key: None,
        headers: provider.dialect.headers.clone(),
        secret_headers: Vec::new(),
        proxy: ProxySettings::default(),
        connect_timeout: Duration::from_secs(20),
        timeout: Duration::from_mins(1),
    })
    .unwrap()
}

/// Grades one formula, which is a step of the record.
async fn grade(client: &RecordedClient<'_>, step: usize, formula: &str) -> Result<Grade, ClientError> {
    let provider = client.provider;
    let mut session: OpenSession<Submission> = OpenSession::submission(plan(formula));
    let (mut ordinal, mut accepted) = (0, None);
    loop {
        match session.next() {
            SubmissionEffect::Ask(request) => {
                let wire = provider.wire.encode(&request, &provider.dialect);
                let expected = Expected {
                    tools: &[SUBMIT_GRADE],
                    forced: Some(provider.force),
                    submission: Some(SUBMIT_GRADE),
                    self_hosted: false,
                };
                let asked = client.ask(step, ordinal, &wire, &expected).await?;
                session.feed_turn(asked.answer.unwrap().turn).unwrap();
                ordinal += 1;
            }
            SubmissionEffect::Submit { arguments } => match serde_json::from_str::<Grade>(&arguments) {
                Ok(grade) => {
                    accepted = Some(grade);
                    session.accept().unwrap();
                }
                Err(error) => session.reject(&OpenPayload::outside(error.to_string())).unwrap(),
            },
            SubmissionEffect::End(_) => return Ok(accepted.unwrap()),
        }
    }
}

/// Grades all formulas over the record in `folder`: live with a transport, from the record alone without.
async fn grade_all(
    folder: &Path,
    provider: &Provider,
    transport: Option<&dyn Transport>,
) -> Result<Vec<Grade>, ClientError> {
    let path = folder.join("exchanges.jsonl.zst");
    let cassette = Arc::new(Cassette::read(&path)?);
    let store = match transport {
        Some(_) => Some(ExchangeStore::continue_after(&path, &cassette)?),
        None => None,
    };
    let payer = Payer {
        spender: Spender {
            pays_itself: false,
            id: "grader".to_owned(),
            vendor: provider.dialect.id.clone(),
        },
        key: KeyName {
            key: String::new(),
            base_url: provider.base_url.clone(),
        },
        tariff: Tariff::new(provider.clone(), TokenPricing::Free, Some(64)),
    };
    let client = RecordedClient {
        cassette,
        store: store.clone(),
        transport,
        first_live_step: 1,
        scan: &NothingHidden,
        retries: RetryConfig::default(),
        provider,
        model: "m",
        meter: Metering::default().meter(&payer),
        observer: None,
    };
    let mut grades = Vec::new();
    for (place, formula) in FORMULAS.into_iter().enumerate() {
        grades.push(grade(&client, place + 1, formula).await?);
    }
    if let Some(store) = store {
        store.finish()?;
    }
    Ok(grades)
}

#[tokio::test]
async fn grades_are_asked_for_killed_continued_and_replayed_over_the_one_client() {
    let vendor = vendor();
    let provider = provider(vendor.base_url());
    let transport = transport(&provider);
    let whole = tempfile::tempdir().unwrap();
    let grades = grade_all(whole.path(), &provider, Some(&transport))
        .await
        .unwrap();
    let requests = FORMULAS.len() + 1;
    assert_eq!(vendor.count(), requests, "one grade was submitted twice");
    for (grade, formula) in grades.iter().zip(FORMULAS) {
        let bytes = "The formula: ".len() + formula.len();
        assert_eq!(grade.score, u32::try_from(bytes % 11).unwrap(), "{formula:?}");
    }
    // The record alone gives the same, and sends nothing.
    let replayed = grade_all(whole.path(), &provider, None).await.unwrap();
    assert_eq!((replayed, vendor.count()), (grades.clone(), requests));
    let packed = std::fs::read(whole.path().join("exchanges.jsonl.zst")).unwrap();
    let lines = zstd::decode_all(packed.as_slice()).unwrap();
    for cut in (0..lines.len()).step_by(lines.len() / 25).chain([lines.len()]) {
        // Killed here: what was answered is not asked again, and the end is the same.
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("exchanges.jsonl"), &lines[..cut]).unwrap();
        let path = folder.path().join("exchanges.jsonl.zst");
        let answered = Recorded::read(&path).unwrap().answered().count();
        let before = vendor.count();
        let continued = grade_all(folder.path(), &provider, Some(&transport))
            .await
            .unwrap();
        assert_eq!(continued, grades, "cut at byte {cut}");
        assert_eq!(vendor.count() - before, requests - answered, "cut at byte {cut}");
    }
    let other = tempfile::tempdir().unwrap();
    let error = grade_all(other.path(), &provider, None).await.unwrap_err();
    assert!(error.to_string().contains("no reply is recorded"), "{error}");
}
