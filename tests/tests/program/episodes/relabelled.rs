//! A bundle that was given another mask, mode or agent, with every hash computed anew, is refused: its own prompts tell.

use ktd_bundle::BundlePaths;
use ktd_bundle::bundle_ref::BundleRef;
use ktd_bundle::finished_episode::{FinishedEpisode, OpenedBundle};
use ktd_bundle::header::Header;
use ktd_bundle::open::read_header;
use ktd_episode::verify::{Verified, verify};
use ktd_experiment::agent::{AgentConfig, AgentKind, ModelAgent};
use ktd_experiment::mask_hash::mask_hash;
use ktd_io::whole_file::json_bytes;
use ktd_kit::copy;
use ktd_kit::episode::{OnPanel, experiment, key, market, prepare, relabel, rewrite_exchanges, run, runtime};
use ktd_kit::this_program;
use ktd_masking::{Level, MaskSettings, Mode, Numeric};
use ktd_record::program_record::ProgramRecord;
use std::path::Path;
use std::sync::Arc;
use std::sync::OnceLock;

/// A bundle of an agent that calls tools and trades, at true prices.
fn exact() -> &'static Path {
    static SCENE: OnceLock<OnPanel> = OnceLock::new();
    let scene = SCENE.get_or_init(|| {
        OnPanel::new(
            5,
            3,
            r#"
            masks = [{ level = "blinded", numeric = "exact" }]
            modes = ["open-research"]
            agents = [{ id = "researcher", builtin = "researcher" }]
            "#,
        )
    });
    &scene.bundle
}

/// What verifying and reading for a board say of a copy, which is published without its private part.
fn said(forge: impl FnOnce(&Path)) -> [Result<(), String>; 2] {
    let folder = tempfile::tempdir().unwrap();
    copy(exact(), folder.path());
    std::fs::remove_dir_all(folder.path().join("private")).unwrap();
    forge(folder.path());
    let verified = runtime().block_on(verify(folder.path(), None, &this_program()));
    let read = BundleRef::read(folder.path())
        .and_then(OpenedBundle::read)
        .and_then(|opened| FinishedEpisode::read(opened, &mut ()));
    [
        verified.map(|_| ()).map_err(|error| error.to_string()),
        read.map(|_| ()).map_err(|error| error.to_string()),
    ]
}

fn assert_refused(part: &str, forge: impl FnOnce(&Path)) {
    for said in said(forge) {
        let error = said.unwrap_err();
        assert!(
            error.contains(part) && error.contains("header.json says"),
            "{error}"
        );
    }
}

fn assert_refused_as(part: &str, forge: impl FnOnce(&Path)) {
    for said in said(forge) {
        let error = said.unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}

/// Claims another mask, with its hash.
fn claim(mask: MaskSettings) -> impl FnOnce(&mut Header) {
    move |header| {
        header.mask.level = mask.level;
        header.mask.numeric = mask.numeric;
        header.mask.hash = Some(mask_hash(mask));
        header.window.dates = None;
    }
}

#[test]
fn an_honest_bundle_says_what_is_only_claimed() {
    assert_eq!(said(|_| ()), [Ok(()), Ok(())]);
    let claims = |verified: &Verified| verified.claimed.join("\n");
    let whole = runtime()
        .block_on(verify(exact(), None, &this_program()))
        .unwrap();
    assert!(claims(&whole).contains("nobody signed them"), "{whole:?}");
    let folder = tempfile::tempdir().unwrap();
    copy(exact(), folder.path());
    std::fs::remove_dir_all(folder.path().join("private")).unwrap();
    let public = runtime()
        .block_on(verify(folder.path(), None, &this_program()))
        .unwrap();
    assert!(
        claims(&public).contains("only private/ and the panel prove"),
        "{public:?}"
    );
    assert!(!claims(&whole).contains("private/"), "{whole:?}");
}

#[test]
fn another_mask_is_refused_by_the_text_that_explains_it() {
    for level in Level::ALL {
        for numeric in Numeric::ALL {
            let mask = MaskSettings { level, numeric };
            if mask
                != (MaskSettings {
                    level: Level::Blinded,
                    numeric: Numeric::Exact,
                })
            {
                assert_refused("opens with the text of another mask", |bundle| {
                    relabel(bundle, claim(mask));
                });
            }
        }
    }
}

/// Whoever exchanges the explaining text too leaves what was shown.
#[test]
fn another_mask_is_refused_by_what_was_shown() {
    let opening = |level, numeric| {
        let text = ktd_prompts::step_opening(MaskSettings { level, numeric });
        serde_json::to_string(&text).unwrap().trim_matches('"').to_owned()
    };
    for (level, numeric, part) in [
        (Level::Blinded, Numeric::Rescaled, "it shows `shares"),
        (Level::Blinded, Numeric::RoundedHalf, "it shows `shares"),
        (Level::Blinded, Numeric::Ranked, "it shows `"),
        (Level::Blinded, Numeric::Banded, "it shows `"),
        (Level::DateBlind, Numeric::Exact, "it shows an alias of a stock"),
        (Level::StockBlind, Numeric::Exact, "it shows a label of a day"),
    ] {
        assert_refused(part, |bundle| {
            relabel(bundle, claim(MaskSettings { level, numeric }));
            rewrite_exchanges(
                bundle,
                &opening(Level::Blinded, Numeric::Exact),
                &opening(level, numeric),
            );
        });
    }
}

#[test]
fn another_program_is_named_before_what_else_was_not_checked_and_may_come_to_the_same_events() {
    let folder = tempfile::tempdir().unwrap();
    copy(exact(), folder.path());
    let verified = || {
        runtime()
            .block_on(verify(folder.path(), None, &this_program()))
            .unwrap()
    };
    let of_another = |verified: &Verified| {
        let first = verified.unchecked.first();
        first.is_some_and(|first| first.contains("what differs may be the program's"))
    };
    assert!(!of_another(&verified()));
    for program in [
        Some(ProgramRecord {
            source_sha256: "b".repeat(64),
            commit: None,
        }),
        None,
    ] {
        relabel(folder.path(), |header| header.program = program);
        assert!(of_another(&verified()));
    }
}

#[test]
fn a_program_that_is_no_hash_is_refused() {
    assert_refused_as("40 or 64 hexadecimal digits", |bundle| {
        let mut header = read_header(&BundlePaths::new(bundle)).unwrap();
        header.program.as_mut().unwrap().source_sha256 = "\u{1b}[2J".to_owned();
        let path = BundlePaths::new(bundle).header();
        std::fs::write(&path, json_bytes(&path, &header).unwrap()).unwrap();
    });
}

/// Texts of another version cannot be compared; what they show can.
#[test]
fn prompts_of_another_version_are_said_to_be_unchecked() {
    let folder = tempfile::tempdir().unwrap();
    copy(exact(), folder.path());
    std::fs::remove_dir_all(folder.path().join("private")).unwrap();
    relabel(folder.path(), |header| header.prompts_sha256 = "0".repeat(64));
    let verified = runtime()
        .block_on(verify(folder.path(), None, &this_program()))
        .unwrap();
    assert!(
        verified
            .unchecked
            .iter()
            .any(|line| line.contains("another version of the program")),
        "{verified:?}"
    );
    relabel(
        folder.path(),
        claim(MaskSettings {
            level: Level::Blinded,
            numeric: Numeric::Banded,
        }),
    );
    let error = runtime()
        .block_on(verify(folder.path(), None, &this_program()))
        .unwrap_err()
        .to_string();
    assert!(error.contains("it shows `"), "{error}");
}

#[test]
fn another_mode_is_refused() {
    for mode in [Mode::MemoryOnly, Mode::FixedCandidate] {
        assert_refused("its system message is another mode's", |bundle| {
            relabel(bundle, |header| header.mode = mode);
        });
    }
}

#[test]
fn a_built_in_agent_is_no_vendors_model() {
    let model = |name: &str| AgentConfig {
        cohort: None,
        cutoff: None,
        id: "gpt-9".to_owned(),
        kind: AgentKind::Model(Box::new(ModelAgent {
            model: name.to_owned(),
            base_url: Some("https://models.example/v1".to_owned()),
            ..ModelAgent::default()
        })),
    };
    assert_refused("it asks the model \"researcher\"", |bundle| {
        relabel(bundle, |header| header.agent = model("gpt-9"));
    });
    assert_refused("its reply is that of a built-in agent", |bundle| {
        relabel(bundle, |header| header.agent = model("researcher"));
    });
    assert_refused("which is not of the wire", |bundle| {
        relabel(bundle, |header| {
            Arc::make_mut(&mut header.provider).wire = ktd_agents::Wire::Messages;
        });
    });
    assert_refused("it asks the model \"researcher\"", |bundle| {
        relabel(bundle, |header| header.agent = AgentConfig::builtin("momentum"));
    });
}

/// Every rung, level and mode, with agents that ask, fail and trade: nothing that is honest is refused.
#[test]
fn honest_bundles_of_every_mask_pass() {
    let masks: Vec<String> = Numeric::ALL
        .into_iter()
        .map(|numeric| format!("{{ level = \"blinded\", numeric = \"{}\" }}", numeric.label()))
        .chain(["bright", "stock-blind", "date-blind"].map(|level| format!("{{ level = \"{level}\" }}")))
        .collect();
    let config = experiment(
        3,
        &format!(
            r#"
            masks = [{}]
            modes = ["memory-only", "fixed-candidate", "open-research"]
            agents = [
                {{ id = "researcher", builtin = "researcher" }},
                {{ id = "schema-breaker", builtin = "schema-breaker" }},
                {{ id = "cheater", builtin = "cheater" }},
                {{ id = "oracle", control = "oracle" }},
            ]
            "#,
            masks.join(", ")
        ),
    );
    let folder = tempfile::tempdir().unwrap();
    let prepared = prepare(&config, market(5), key(4));
    for (cell, bundle) in run(&config, &prepared, folder.path()) {
        let read = BundleRef::read(&bundle)
            .and_then(OpenedBundle::read)
            .and_then(|opened| FinishedEpisode::read(opened, &mut ()));
        assert!(read.is_ok(), "{}: {:?}", cell.id, read.err());
    }
}
