//! The board can tell skill from memory from luck: what the agents that cost nothing score on the synthetic market.

use ktd_attribution::RandomPortfolios;
use ktd_bundle::BundlePaths;
use ktd_bundle::summary_file::read_summary;
use ktd_env::Fen;
use ktd_experiment::config::ExperimentConfig;
use ktd_kit::episode::{experiment, key, market, prepare, run};
use std::collections::BTreeMap;
use std::path::Path;

const GRID: &str = r#"
masks = [{ level = "bright" }, { level = "blinded" }]
modes = ["fixed-candidate"]
agents = [
    { id = "oracle", control = "oracle" },
    { id = "cheater", builtin = "cheater" },
    { id = "momentum", builtin = "momentum" },
    { id = "equal-weight", builtin = "equal-weight" },
    { id = "random", builtin = "random" },
    { id = "hold", builtin = "hold" },
]
"#;

/// Net asset values at the end of 40 days, fen, bright and blinded. One million CNY is 100,000,000 fen.
const PINNED: [(&str, i64, i64); 6] = [
    ("oracle", 305_812_733, 305_812_733),
    ("cheater", 290_606_239, 100_000_000),
    ("momentum", 108_254_515, 108_254_515),
    ("equal-weight", 99_735_717, 100_519_700),
    ("random", 108_856_111, 104_805_086),
    ("hold", 100_000_000, 100_000_000),
];

/// Final net asset value of a bundle, fen.
fn final_nav_fen(bundle: &Path) -> i64 {
    let summary = read_summary(&BundlePaths::new(bundle)).unwrap();
    summary.account.unwrap().final_nav_fen
}

/// Final net asset values of the grid, fen, by agent and level; and how far apart luck takes two portfolios.
fn scores() -> (BTreeMap<(String, &'static str), i64>, RandomPortfolios) {
    let config = experiment(40, GRID);
    let prepared = prepare(&config, market(11), key(7));
    let luck = {
        let window = &prepared.cells[0].window;
        RandomPortfolios::of(&prepared.source.market, &window.id, &window.days)
    }
    .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let scores = run(&config, &prepared, folder.path());
    let scores = scores
        .into_iter()
        .map(|(cell, bundle)| ((cell.agent.id, cell.mask.level.label()), final_nav_fen(&bundle)));
    (scores.collect(), luck)
}

#[test]
fn skill_memory_and_luck_are_told_apart() {
    let (scores, luck) = scores();
    let pinned = PINNED.iter().flat_map(|(agent, bright, blinded)| {
        [("bright", *bright), ("blinded", *blinded)].map(|(level, fen)| (((*agent).to_owned(), level), fen))
    });
    assert_eq!(scores, pinned.collect());
    let gain = |agent: &str, level| Fen(scores[&(agent.to_owned(), level)]).to_yuan() / 1e6 - 1.0;
    let gap = |agent| gain(agent, "bright") - gain(agent, "blinded");
    let apart = luck.difference_sd;
    println!("luck: sd of a difference {apart:.4}");

    // Perfect foresight is far above everybody who has none, and no mask takes anything from it.
    assert!(40.0 * apart < gain("oracle", "blinded") - gain("momentum", "blinded"));
    assert!(gap("oracle").abs() < f64::EPSILON);
    // Memory is as good as foresight while names and days are told, and worth nothing once they are not.
    assert!(40.0 * apart < gap("cheater"));
    assert!(gain("cheater", "blinded").abs() < f64::EPSILON);
    // Numbers are worth the same under every mask; and nobody without foresight is out of luck's reach.
    assert!(gap("momentum").abs() < f64::EPSILON);
    for agent in ["momentum", "equal-weight", "random"] {
        assert!(gap(agent).abs() < 4.0 * apart, "{agent}");
        assert!(gain(agent, "blinded").abs() < 5.0 * apart, "{agent}");
    }
}

/// What a plan says of agents that throw no dice.
#[test]
fn where_names_are_shown_the_seeds_of_agents_without_dice_repeat() {
    let config = experiment(
        5,
        r#"
masks = [{ level = "bright" }, { level = "date-blind" }]
modes = ["memory-only", "fixed-candidate", "open-research"]
seeds = [1, 2]
agents = [
    { id = "oracle", control = "oracle" },
    { id = "cheater", builtin = "cheater" },
    { id = "momentum", builtin = "momentum" },
    { id = "equal-weight", builtin = "equal-weight" },
    { id = "researcher", builtin = "researcher" },
    { id = "schema-breaker", builtin = "schema-breaker" },
    { id = "random", builtin = "random" },
]
"#,
    );
    let prepared = prepare(&config, market(11), key(7));
    let folder = tempfile::tempdir().unwrap();
    let ended = run(&config, &prepared, folder.path());
    let (first, second): (Vec<_>, Vec<_>) = ended.iter().partition(|(cell, _)| cell.seed == 1);
    let mut thrown = 0;
    for ((cell, left), (_, right)) in first.into_iter().zip(second) {
        let is_same = final_nav_fen(left) == final_nav_fen(right);
        if cell.agent.id == "random" {
            thrown += usize::from(!is_same);
        } else {
            assert!(is_same, "{}", cell.id);
        }
    }
    assert_eq!(thrown, 6, "other dice fall otherwise");
}

#[test]
fn a_control_is_nothing_else_and_there_is_no_other() {
    let refused = |agent: &str| {
        let text = format!(
            "name = \"x\"\nwindows = [{{ id = \"w\", last_days = 2 }}]\nagents = [{{ id = \"a\", {agent} }}]"
        );
        ExperimentConfig::parse(&text).unwrap_err().to_string()
    };
    for other in [
        "builtin = \"hold\"",
        "model = \"m\"",
        "vendor = \"openai\"",
        "base_url = \"http://127.0.0.1/v1\"",
        "command = [\"agent\"]",
        "external = \"mcp\"",
    ] {
        let key = other.split(' ').next().unwrap();
        let error = refused(&format!("control = \"oracle\", {other}"));
        let misfits = [
            format!("`{key}` does not belong to a control"),
            "`control` does not belong to an outside".to_owned(),
        ];
        assert!(misfits.iter().any(|misfit| error.contains(misfit)), "{error}");
    }
    let error = refused("control = \"prophet\"");
    assert!(
        error.contains("unknown variant `prophet`, expected `oracle` or `signals`"),
        "{error}"
    );
    assert!(refused("model = \"oracle\"").contains("needs either"));
}
