//! An episode left at a step: what stands before it is copied and charged to nobody, what follows is asked live.

use ktd_baselines::named;
use ktd_bundle::BundlePaths;
use ktd_bundle::open::read_header;
use ktd_client::ClientError;
use ktd_client::progress::Silent;
use ktd_episode::EpisodeError;
use ktd_episode::open_bundle::OpenBundle;
use ktd_episode::verify::verify;
use ktd_episode::{EpisodeInput, branch_cell, branch_episode, replay_episode};
use ktd_experiment::agent::{AgentConfig, AgentKind, ModelAgent};
use ktd_experiment::provider::{Provider as Endpoint, builtin_table};
use ktd_io::FileError;
use ktd_io::sha256::sha256_hex;
use ktd_kit::Recorded;
use ktd_kit::episode::{OnPanel, files, runtime};
use ktd_kit::episode::{bodies, chain_anew};
use ktd_kit::provider::{Attempt, Provider};
use ktd_kit::this_program;
use ktd_record::RecordError;
use ktd_record::exchanges::Sent;
use std::path::Path;

const STEPS: usize = 5;

const FIRST: &str = r#"
masks = [{ level = "blinded", numeric = "rescaled" }]
modes = ["open-research"]
agents = [{ id = "first", builtin = "momentum" }]
"#;

fn scene() -> OnPanel {
    OnPanel::new(5, STEPS, FIRST)
}

/// Leaves a bundle at a step; the branch's agent, `None` for the one before, is played by a provider.
fn branch(
    from: &Path,
    step: usize,
    agent: Option<&str>,
    provider: &Provider,
    out: &Path,
) -> Result<(), EpisodeError> {
    let original = OpenBundle::open(from, None)?;
    let agent = agent.map(AgentConfig::builtin);
    let table = builtin_table()?;
    let agent = agent
        .map(|agent| Endpoint::of(&agent, &table).map(|endpoint| (agent, endpoint)))
        .transpose()?;
    let cell = branch_cell(&original.cell, &original.paths, step, agent, None)?;
    let input: EpisodeInput<'_> = original.input();
    let paths = BundlePaths::new(out);
    let branch = branch_episode(&input, &original.paths, &cell, &paths, provider, &Silent);
    runtime().block_on(branch).map(|_| ())
}

fn provider(name: &str, script: &[Attempt]) -> Provider {
    Provider::new(named(name, 1).unwrap(), script)
}

fn lines(bundle: &Path) -> Vec<String> {
    bodies(&BundlePaths::new(bundle).events())
}

/// The events up to the end of so many steps.
fn until(lines: &[String], steps: usize) -> &[String] {
    let mut ends = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| line.contains("\"kind\":\"step_end\""));
    let end = steps
        .checked_sub(1)
        .map_or(0, |before| ends.nth(before).unwrap().0 + 1);
    &lines[..end]
}

fn sends(bundle: &Path) -> Vec<Sent> {
    let cassette = Recorded::read(&BundlePaths::new(bundle).exchanges()).unwrap();
    cassette.sends().cloned().collect()
}

fn assert_whole(bundle: &Path) {
    let verified = runtime().block_on(verify(bundle, None, &this_program()));
    assert!(
        verified
            .as_ref()
            .is_ok_and(|verified| verified.unchecked.is_empty()),
        "{verified:?}"
    );
    let open = OpenBundle::open(bundle, None).unwrap();
    let replayed = runtime().block_on(replay_episode(&open.input(), &open.paths, &Silent));
    assert!(replayed.is_ok(), "{replayed:?}");
}

#[test]
fn another_agent_goes_on_from_every_step() {
    let scene = scene();
    let (events, sent) = (lines(&scene.bundle), sends(&scene.bundle));
    for step in 1..=STEPS {
        let out = scene.at(&format!("branch-{step}"));
        let live = provider("hold", &[]);
        branch(&scene.bundle, step, Some("hold"), &live, &out).unwrap();
        assert_eq!(
            until(&lines(&out), step - 1),
            until(&events, step - 1),
            "step {step}"
        );
        let copied: Vec<Sent> = sends(&out)
            .into_iter()
            .filter(|sent| sent.intent.at.step < step)
            .collect();
        let before: Vec<Sent> = sent
            .iter()
            .filter(|sent| sent.intent.at.step < step)
            .cloned()
            .collect();
        assert_eq!(copied, before, "step {step}");
        assert_eq!(
            live.sent().len() + copied.len(),
            sends(&out).len(),
            "step {step}: what was copied is not asked for"
        );
        assert!(
            live.sent()
                .iter()
                .all(|body| String::from_utf8_lossy(body).contains("\"hold\""))
        );
        let header = read_header(&BundlePaths::new(&out)).unwrap();
        let left = header.branch.unwrap();
        let bytes = std::fs::read(scene.bundle.join("events.jsonl")).unwrap();
        assert_eq!((left.step, left.agent.id.as_str()), (step, "first"));
        assert_eq!(
            (left.events_sha256, header.agent.id.as_str()),
            (sha256_hex(&bytes), "hold")
        );
        assert!(header.cell.starts_with(&left.cell) && header.cell != left.cell);
        assert_whole(&out);
    }
}

#[test]
fn the_same_agent_does_the_same_again() {
    let scene = scene();
    let out = scene.at("same");
    let live = provider("momentum", &[]);
    branch(&scene.bundle, 3, None, &live, &out).unwrap();
    assert!(
        lines(&out) == lines(&scene.bundle),
        "the same replies give the same events"
    );
    assert_eq!(sends(&out), sends(&scene.bundle));
    let own = sends(&out).iter().filter(|sent| 3 <= sent.intent.at.step).count();
    assert_eq!(live.sent().len(), own);
}

#[test]
fn a_stopped_branch_is_continued() {
    let scene = scene();
    let (whole, stopped) = (scene.at("whole"), scene.at("stopped"));
    branch(&scene.bundle, 3, Some("hold"), &provider("hold", &[]), &whole).unwrap();
    // The key is refused in the middle, then fixed; the refusal is left in the record.
    let refused = Attempt::Status(401, r#"{"error":{"message":"bad key","code":"invalid_api_key"}}"#);
    let script = [Attempt::Good, Attempt::Good, Attempt::Good, refused];
    let error = branch(
        &scene.bundle,
        3,
        Some("hold"),
        &provider("hold", &script),
        &stopped,
    )
    .unwrap_err();
    assert!(
        matches!(error, EpisodeError::Client(ClientError::Configuration { .. })),
        "{error}"
    );
    let fixed = provider("hold", &[]);
    branch(&scene.bundle, 3, Some("hold"), &fixed, &stopped).unwrap();
    assert!(lines(&stopped) == lines(&whole));
    assert_eq!(sends(&stopped).len(), sends(&whole).len() + 1, "the refused one");
    let own = sends(&whole)
        .iter()
        .filter(|sent| 3 <= sent.intent.at.step)
        .count();
    assert_eq!(fixed.sent().len(), own - 3, "nothing recorded is asked for again");
    assert_whole(&stopped);
}

#[test]
fn a_branch_of_a_branch_knows_every_agent() {
    let scene = scene();
    let (second, third) = (scene.at("second"), scene.at("third"));
    branch(&scene.bundle, 3, Some("hold"), &provider("hold", &[]), &second).unwrap();
    branch(
        &second,
        4,
        Some("equal-weight"),
        &provider("equal-weight", &[]),
        &third,
    )
    .unwrap();
    let models: Vec<String> = (1..=STEPS)
        .map(|step| {
            let sent = sends(&third).into_iter().find(|sent| sent.intent.at.step == step);
            let body: serde_json::Value = serde_json::from_str(&sent.unwrap().intent.request).unwrap();
            body["model"].as_str().unwrap().to_owned()
        })
        .collect();
    assert_eq!(
        models,
        ["momentum", "momentum", "hold", "equal-weight", "equal-weight"]
    );
    assert_whole(&third);
}

#[test]
fn what_cannot_be_left_or_written_over_is_refused() {
    let scene = scene();
    let before = files(&scene.bundle);
    let live = provider("hold", &[]);
    let refused = |step, out: &Path| {
        let error = branch(&scene.bundle, step, Some("hold"), &live, out).unwrap_err();
        let is_in_use = matches!(error, EpisodeError::File(FileError::NotEmpty { .. }));
        assert!(is_in_use || matches!(error, EpisodeError::Input(_)), "{error}");
    };
    for step in [0, STEPS + 1] {
        refused(step, &scene.at("none"));
    }
    // Its own original, and a directory with something else in a file of the bundle.
    refused(2, &scene.bundle);
    let other = scene.at("other");
    std::fs::create_dir_all(&other).unwrap();
    std::fs::write(other.join("events.jsonl"), "mine").unwrap();
    refused(2, &other);
    assert_eq!(std::fs::read(other.join("events.jsonl")).unwrap(), b"mine");
    assert!(files(&scene.bundle) == before, "the original was touched");
    assert!(live.sent().is_empty(), "something was asked live");
}

/// A record that does not hold is told before anything is asked live.
#[test]
fn a_damaged_original_is_not_left() {
    let scene = scene();
    let path = scene.bundle.join("private/ledger.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let first = text.lines().next().unwrap();
    std::fs::write(&path, format!("{first}\n")).unwrap();
    let live = provider("hold", &[]);
    let out = scene.at("out");
    let error = branch(&scene.bundle, 4, Some("hold"), &live, &out).unwrap_err();
    assert!(
        matches!(error, EpisodeError::Bundle(RecordError::Diverged { .. })),
        "{error}"
    );
    assert!(live.sent().is_empty() && !out.exists());
}

/// What a replay misses is shown beside what is recorded.
#[test]
fn a_replay_tells_the_nearest_request_and_its_first_other_field() {
    let scene = scene();
    let mut open = OpenBundle::open(&scene.bundle, None).unwrap();
    let replay = |open: &OpenBundle| {
        let input = open.input();
        let replayed = replay_episode(&input, &open.paths, &Silent);
        runtime().block_on(replayed).unwrap_err().to_string()
    };
    // One request more than is recorded: the store ends after the first.
    let path = open.paths.exchanges();
    let bytes = std::fs::read(&path).unwrap();
    let first = Recorded::read(&path).unwrap().sends().next().cloned().unwrap();
    let lines = zstd::decode_all(bytes.as_slice()).unwrap();
    let ends: Vec<usize> = (0..lines.len()).filter(|place| lines[*place] == b'\n').collect();
    std::fs::write(&path, zstd::encode_all(&lines[..=ends[1]], 3).unwrap()).unwrap();
    assert_eq!(Recorded::read(&path).unwrap().sends().next(), Some(&first));
    let message = replay(&open);
    assert!(
        message.starts_with("step 1, request 1: no reply is recorded for it; the nearest recorded request is step 1, request 0"),
        "{message}"
    );
    assert!(message.contains("/messages/2"), "{message}");
    std::fs::write(&path, &bytes).unwrap();
    // Another request at a recorded place: the agent's temperature is another one than was sent.
    let warm = AgentKind::Model(Box::new(ModelAgent {
        model: open.cell.agent.model_name().to_owned(),
        vendor: Some("compatible".to_owned()),
        temperature: Some(0.5),
        ..ModelAgent::default()
    }));
    open.cell.agent.kind = warm.clone();
    open.header.agent.kind = warm;
    let header = serde_json::to_string_pretty(&open.header).unwrap();
    std::fs::write(open.paths.header(), format!("{header}\n")).unwrap();
    let events = open.paths.events();
    chain_anew(&events, &open.header.genesis().unwrap());
    let message = replay(&open);
    assert!(
        message.starts_with(
            "step 1, request 0: it is not the recorded one; the nearest recorded request is step 1, request 0"
        ) && message.contains("it differs first at \"/temperature\": recorded nothing, now 0.5"),
        "{message}"
    );
    // The same holds for a request of which nobody knows whether it was answered.
    std::fs::write(&path, zstd::encode_all(&lines[..=ends[0]], 3).unwrap()).unwrap();
    let again = replay(&open);
    assert_eq!(again, message);
}
