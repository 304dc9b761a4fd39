//! Conversations in text with a scripted model: recorded, continued wherever they were killed, replayed without anybody.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_asking::{
    AskedRecord, AskingError, AskingRole, AskingSettings, TextAnswer, TextOpening, TextRounds, endpoint_of,
};
use ktd_client::AskedModel;
use ktd_client::money::Metering;
use ktd_experiment::agent::AgentConfig;
use ktd_experiment::caps::Caps;
use ktd_experiment::config::RetryConfig;
use ktd_kit::Recorded;
use ktd_kit::Vendor;
use ktd_kit::episode::{below, dice, reopen_exchanges};
use ktd_kit::vendor::ended;
use ktd_unmasked::OpenPrompt;
use serde::Deserialize;

use std::collections::BTreeMap;
use std::path::Path;

const CONVERSATIONS: usize = 3;
const ROUNDS: usize = 2;

/// A model that says how many messages it was sent, and refuses in the second conversation's second round.
fn model() -> Vendor {
    Vendor::answering(|request| {
        let messages = request["messages"].as_array().unwrap();
        let opening = messages[1]["content"].as_str().unwrap();
        let finish = if opening == "task 2" && messages.len() == 4 {
            "content_filter"
        } else {
            "stop"
        };
        ended(
            &format!("{opening}: {} messages", messages.len()),
            finish,
            (10, 5),
        )
    })
}

#[derive(Deserialize)]
struct Agents {
    agents: Vec<AgentConfig>,
}

fn asked_model(base_url: &str) -> AskedModel {
    let text = format!(
        "[[agents]]\nid = 'writer'\nmodel = 'm'\nvendor = 'vllm'\nmax_output_tokens = 100\nbase_url = '{base_url}'\n"
    );
    let agents: Agents = toml::from_str(&text).unwrap();
    let settings = AskingSettings {
        roles: AskingRole::one("code", 1),
        table: "",
        agents: &agents.agents,
        takes_programs: false,
        builtin: None,
        dialects: &[],
        retries: RetryConfig::default(),
        prices: None,
        budget: &Caps::default(),
        rates: &BTreeMap::new(),
        temperature: Some(0.0),
    };
    settings.models(Path::new("")).unwrap().0.remove(0)
}

/// Leads all conversations to their end.
async fn held(record: &AskedRecord<'_>) -> Result<Vec<TextAnswer>, AskingError> {
    let mut answers = Vec::new();
    for step in 1..=CONVERSATIONS {
        let mut rounds = TextRounds::open(
            record,
            TextOpening {
                step,
                what: format!("task {step}"),
                seed: 1,
                cache_key: None,
                system: OpenPrompt::new().text("Write code."),
                user: OpenPrompt::new().outside(&format!("task {step}")),
            },
        );
        for _ in 0..ROUNDS {
            answers.push(rounds.ask(record).await?);
            rounds.reply(OpenPrompt::new().text("Again."));
        }
    }
    Ok(answers)
}

#[tokio::test]
async fn conversations_in_text_go_on_where_they_were_killed_and_replay_alone() {
    let vendor = model();
    let model = asked_model(&vendor.base_url());
    let endpoint = endpoint_of(&model, Path::new("")).unwrap();
    let metering = Metering::default();
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    let live = || AskedRecord::continued(root, &model, &metering, RetryConfig::default(), &endpoint).unwrap();
    let record = live();
    let answers = held(&record).await.unwrap();
    assert_eq!(answers[1], TextAnswer::Text("task 1: 4 messages".to_owned()));
    assert_eq!(answers[3], TextAnswer::Mistake(ktd_agents::ModelFault::Refusal));
    let spending = record.finish().unwrap();
    assert_eq!((spending.sends.reported, spending.tokens.all()), (6, 90));
    drop(record);
    let kept = std::fs::read(root.join("spending.json")).unwrap();
    assert_eq!(vendor.count(), CONVERSATIONS * ROUNDS);

    let closed = AskedRecord::closed(root, &model, &metering).unwrap();
    assert_eq!(held(&closed).await.unwrap(), answers);
    assert_eq!(vendor.count(), CONVERSATIONS * ROUNDS);

    reopen_exchanges(root);
    let whole = std::fs::read(root.join("exchanges.jsonl")).unwrap();
    let mut chance = dice(11, "where conversations are killed");
    for _ in 0..12 {
        let cut = below(&mut chance, whole.len());
        std::fs::remove_file(root.join("exchanges.jsonl.zst")).ok();
        std::fs::write(root.join("exchanges.jsonl"), &whole[..cut]).unwrap();
        let record = live();
        let answered = Recorded::read(&root.join("exchanges.jsonl.zst"))
            .unwrap()
            .answered()
            .count();
        let before = vendor.count();
        assert_eq!(held(&record).await.unwrap(), answers, "cut at byte {cut}");
        assert_eq!(
            vendor.count() - before,
            CONVERSATIONS * ROUNDS - answered,
            "cut at byte {cut}"
        );
        let spending = record.finish().unwrap();
        // a request whose reply was lost with the kill may have been paid for
        assert!(spending.sends.unknown <= 1, "cut at byte {cut}");
        if spending.sends.unknown == 0 {
            assert_eq!(std::fs::read(root.join("spending.json")).unwrap(), kept);
        }
    }
}

#[tokio::test]
async fn a_record_that_ends_early_says_so_and_asks_nobody() {
    let vendor = model();
    let model = asked_model(&vendor.base_url());
    let metering = Metering::default();
    let folder = tempfile::tempdir().unwrap();
    let closed = AskedRecord::closed(folder.path(), &model, &metering).unwrap();
    let answers = held(&closed).await.unwrap();
    assert!(
        answers
            .iter()
            .all(|answer| *answer == TextAnswer::Lost("not_asked".to_owned()))
    );
    assert_eq!(vendor.count(), 0);
}
