//! The files that come with the program, and a model on loopback where there is one.

use crate::attackers::scene::{Asked, BLINDED, at, scene};
use ktd_certify::config::CertifyConfig;
use ktd_certify::language_attackers::LanguageConfig;
use ktd_certify::probe_inputs::ProbeInputs;
use ktd_certify::set_plan::SetPlan;
use ktd_data::market_source::MarketSource;
use ktd_env::Board;
use ktd_experiment::agent::{AgentConfig, ApiKeySource};
use ktd_experiment::config::ExperimentConfig;
use ktd_experiment::data_record::SyntheticRecord;
use ktd_experiment::provider::Provider;
use ktd_factor_study::read_factor_code_config;
use ktd_formula_study::AlphaEvaluating;
use ktd_formula_study::judge::FormulaJudging;
use ktd_formula_study::mine::FormulaMining;
use ktd_leakage_study::read_leak_config;
use ktd_masking::{Level, MaskKey};
use ktd_probes::{Measure, ProbeKind};
use ktd_strategy_study::StrategyExperiment;
use ktd_study::read_study_file;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

const FIVE_WINDOWS: &str = "attackers_five_windows.toml";

fn configs() -> PathBuf {
    ktd_kit::workspace_root().join("runs/configs")
}

/// The language models of a file.
fn language(file: &str) -> LanguageConfig {
    CertifyConfig::read(&configs().join(file)).unwrap().language
}

#[test]
fn the_papers_ten_are_ten_models_of_ten_vendors() {
    let config = language(FIVE_WINDOWS);
    assert_eq!(config, language("attackers_all_years.toml"));
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

/// Every file there is of one kind or the other, and is read whole.
#[test]
fn every_file_of_the_folder_is_read_by_one_command_alone() {
    let folder = ktd_kit::shipped_configs();
    let configs = folder.at("runs/configs");
    let mut files: Vec<String> = std::fs::read_dir(&configs)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort_unstable();
    assert!(files.len() > 10, "{files:?}");
    for file in files {
        let path = configs.join(&file);
        let readers = [
            CertifyConfig::read(&path).is_ok(),
            ExperimentConfig::read(&path).is_ok(),
            read_study_file::<AlphaEvaluating>(&path).is_ok(),
            read_study_file::<FormulaJudging>(&path).is_ok(),
            read_study_file::<FormulaMining>(&path).is_ok(),
            read_leak_config(&path).is_ok(),
            read_factor_code_config(&path).is_ok(),
            StrategyExperiment::read(&path).is_ok(),
        ];
        let count = readers.into_iter().filter(|is_read| *is_read).count();
        assert_eq!(
            count, 1,
            "{file}: certify, run, alpha eval, alpha judge, alpha mine, leak run, factor-code run, strategy-code run: {readers:?}"
        );
    }
}

/// The article asks of five windows and four boards; the same draws on a synthetic market of its dates. Its index has no member
/// of BSE, like the CSI 300: those ten are asked of the main board of the next window.
#[test]
fn the_papers_form_asks_of_every_window_and_board() {
    let config = CertifyConfig::read(&configs().join(FIVE_WINDOWS)).unwrap();
    let record = SyntheticRecord {
        seed: 2,
        names: 300,
        days: 1_150,
    };
    let source = MarketSource::synthetic(&record).unwrap();
    let plan = SetPlan::of(&config, &source.market).unwrap();
    assert_eq!(config.probes.kinds().collect::<Vec<_>>(), [ProbeKind::Day]);
    let windows = [
        ("2024-04-01", "2024-06-05"),
        ("2024-07-25", "2024-09-25"),
        ("2024-10-21", "2024-12-13"),
        ("2025-03-03", "2025-05-09"),
        ("2025-10-13", "2025-12-19"),
    ];
    let market = Arc::clone(&source.market);
    let key = MaskKey::from_bytes([5; 32]);
    let inputs = ProbeInputs::new(source, &plan, key.clone(), 2).unwrap();
    let probing = plan.probing(plan.mask(), key, "the test");
    let set = inputs.make(&probing, &|kind| config.probes.of(kind)).unwrap();
    let mut asked: BTreeMap<(usize, Board), usize> = BTreeMap::new();
    for gold in &set.gold {
        let target = gold.targets[0];
        // The as-of day is the trading day before the first step's.
        let first = market.day_at(target.day.index() + 1).unwrap();
        let date = market.date(first).unwrap().reveal();
        let (start, end) = windows[gold.stretch];
        assert!(
            (start..=end).contains(&date.as_str()),
            "{date} is not in window {}",
            gold.stretch
        );
        *asked.entry((gold.stretch, target.board)).or_default() += 1;
    }
    let boards = [(Board::Main, 20), (Board::ChiNext, 10), (Board::Star, 10)];
    let strata = (0..windows.len()).flat_map(|window| boards.map(|(board, count)| ((window, board), count)));
    assert_eq!(asked, strata.collect());
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
    for mask in [at(Level::Bright), BLINDED] {
        let set = scene().probes(mask, &[ProbeKind::Day], 1);
        let asked = Asked::new(
            config.clone(),
            &configs(),
            &folder.path().join(mask.level.label()),
        );
        let answers = asked.ask_itself(&set).await.unwrap();
        for answer in &answers {
            println!("{} {:?}", mask.level.label(), answer);
        }
        let tally = set.tally(&answers);
        println!("{} answered, {} named", tally.answered, tally.hits(Measure::Top1));
        assert_eq!(asked.recall(&set).await.unwrap(), answers);
        assert!(
            answers
                .iter()
                .all(|answer| answer.guess.is_some() != answer.reason.is_some())
        );
    }
}
