//! The files that come with the program, and a model on loopback where there is one.

use crate::attackers::scene::{BLINDED, at, scene, silent};
use ktd_certify::config::CertifyConfig;
use ktd_certify::language_attackers::{LanguageAttackers, LanguageConfig};
use ktd_experiment::agent::{AgentConfig, ApiKeySource};
use ktd_experiment::provider::Provider;
use ktd_masking::Level;
use ktd_probes::{Measure, ProbeKind};
use std::path::PathBuf;

fn configs() -> PathBuf {
    ktd_kit::workspace_root().join("runs/configs")
}

/// The language models of a file.
fn language(file: &str) -> LanguageConfig {
    CertifyConfig::read(&configs().join(file)).unwrap().language
}

#[test]
fn the_papers_ten_are_ten_models_of_ten_vendors() {
    let config = language("paper_attackers.toml");
    let table = ktd_experiment::provider::builtin_table().unwrap();
    let mut vendors: Vec<String> = config
        .agents
        .iter()
        .map(|agent| Provider::of(agent, &table).unwrap().dialect.id)
        .collect();
    assert_eq!(vendors.len(), 10);
    vendors.sort();
    vendors.dedup();
    assert_eq!(vendors.len(), 10);
    let names_its_key = |agent: &AgentConfig| {
        let api_key = agent.model().and_then(|model| model.api_key.as_ref());
        matches!(api_key, Some(ApiKeySource::Environment(_)))
    };
    assert!(config.agents.iter().all(names_its_key));
}

/// `KTD_LOCAL_MODEL=1` asks the model of `local_attacker.toml`, which must be served.
#[tokio::test]
async fn a_small_model_on_loopback_answers_or_fails_in_countable_ways() {
    let config = language("local_attacker.toml");
    assert_eq!(config.agents.len(), 1);
    if !ktd_kit::Need::LocalModel.is_met() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let attackers = LanguageAttackers::new(config, &scene().market, 1, &configs(), folder.path()).unwrap();
    let attacker = &attackers.attackers()[0];
    for mask in [at(Level::Bright), BLINDED] {
        let set = scene().probes(mask, &[ProbeKind::Day], 1);
        let mut questions = set.questions();
        questions.set = mask.level.label();
        let answers = attackers.ask_all(attacker, &questions, &silent).await.unwrap();
        for answer in &answers {
            println!("{} {:?}", mask.level.label(), answer.record());
        }
        let tally = set.tally(&answers);
        println!("{} answered, {} named", tally.answered, tally.hits(Measure::Top1));
        assert_eq!(attackers.recall(attacker, &questions).await.unwrap(), answers);
        assert!(
            answers
                .iter()
                .all(|answer| answer.answer.is_some() != answer.reason.is_some())
        );
    }
}
