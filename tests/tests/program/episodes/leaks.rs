//! The last look before a request leaves: what a level hides stops the episode, and nothing is sent.
//!
//! Types leave no way to plant a leak in a request. So the market is given a company that is called as a phrase of the
//! prompts: the guard cannot know that it is none.

use super::perturb::with_company;
use ktd_baselines::named;
use ktd_bundle::BundlePaths;
use ktd_client::ClientError;
use ktd_client::progress::Silent;
use ktd_episode::EpisodeError;
use ktd_episode::{EpisodeInput, run_episode};
use ktd_kit::Recorded;
use ktd_kit::episode::{experiment, files, key, market, prepare, run as run_cells, runtime, shared};
use ktd_kit::provider::Provider;
use std::path::Path;

fn config(level: &str) -> ktd_experiment::config::ExperimentConfig {
    let rest = format!(
        r#"
        masks = [{{ level = "{level}" }}]
        modes = ["open-research"]
        agents = [{{ id = "a", builtin = "hold" }}]
        "#
    );
    experiment(2, &rest)
}

fn run(company: &str, provider: &Provider, output: &Path) -> EpisodeError {
    let config = config("blinded");
    let prepared = prepare(&config, with_company(&market(5), company), key(6));
    let shared = shared(&prepared);
    let input = EpisodeInput {
        shared: &shared,
        cell: &prepared.cells[0],
        key: key(6),
    };
    let paths = BundlePaths::new(output);
    let run = run_episode(&input, &paths, provider, &Silent);
    runtime().block_on(run).unwrap_err()
}

fn place(error: &EpisodeError) -> (usize, &str, &str) {
    match error {
        EpisodeError::Client(ClientError::Leak { step, kind, pointer }) => (*step, *kind, pointer.as_str()),
        other => panic!("{other}"),
    }
}

#[test]
fn a_leak_in_the_first_request_is_never_sent() {
    let folder = tempfile::tempdir().unwrap();
    let provider = Provider::new(named("hold", 1).unwrap(), &[]);
    let error = run("Price Limits", &provider, folder.path());
    assert_eq!(place(&error), (1, "company name", "/messages/0/content"));
    assert!(provider.sent().is_empty(), "it was sent");
    let paths = BundlePaths::new(folder.path());
    assert_eq!(Recorded::read(&paths.exchanges()).unwrap().sends().count(), 0);
    assert!(!paths.summary().exists());
    // Running again meets the same leak and sends nothing either.
    let again = run("Price Limits", &provider, folder.path());
    assert_eq!(place(&again), place(&error));
    assert!(provider.sent().is_empty());
}

#[test]
fn a_leak_in_a_later_request_stops_the_episode_there() {
    let folder = tempfile::tempdir().unwrap();
    let provider = Provider::new(named("hold", 1).unwrap(), &[]);
    let error = run("Research for this step is over", &provider, folder.path());
    assert_eq!(place(&error), (1, "company name", "/messages/3/content"));
    assert_eq!(provider.sent().len(), 1, "the research request alone");
    let events = std::fs::read_to_string(BundlePaths::new(folder.path()).events()).unwrap();
    assert!(
        !events.contains("\"decision\""),
        "a stopped episode decides nothing"
    );
}

#[test]
fn what_a_level_shows_is_no_leak() {
    let folder = tempfile::tempdir().unwrap();
    for level in ["bright", "date-blind"] {
        let config = config(level);
        let prepared = prepare(&config, with_company(&market(5), "Price Limits"), key(6));
        let ran = run_cells(&config, &prepared, folder.path());
        assert!(!files(&ran[0].1).is_empty(), "{level}");
    }
}
