//! Nothing that a mask hides stands in what is sent, but the one code that a probe gives away.

use crate::attackers::answers::MODEL;
use crate::attackers::scene::{BLINDED, ask, asked, at, scene};
use crate::attackers::scripted::{Say, Script};
use ktd_masking::Level;
use ktd_probes::ProbeKind;
use std::collections::BTreeSet;

/// The codes of the panel whose six digits stand in a text by themselves.
fn codes_in(text: &str) -> BTreeSet<String> {
    let runs: BTreeSet<&str> = text
        .split(|character: char| !character.is_ascii_digit())
        .filter(|run| run.len() == 6)
        .collect();
    let codes = scene().market.names().map(|(_, info)| info.ticker.reveal());
    codes
        .filter(|code| runs.contains(&code[2..]))
        .map(str::to_owned)
        .collect()
}

#[tokio::test]
async fn no_code_name_or_date_is_sent_under_a_mask_but_the_one_that_is_given_away() {
    let set = scene().probes(BLINDED, &ProbeKind::FIXED, 3);
    let declines = || vec![Say::Text("No.".to_owned())];
    let script = Script::new(set.probes.iter().map(|probe| (probe, declines())));
    let folder = tempfile::tempdir().unwrap();
    let attackers = asked(MODEL, folder.path());
    ask(&attackers, &set, &script).await.unwrap();
    let market = &scene().market;
    for probe in &set.probes {
        let given: BTreeSet<String> = probe
            .exhibits
            .iter()
            .filter_map(|exhibit| Some(exhibit.anchor.as_ref()?.code.to_inline()))
            .collect();
        assert_eq!(given.len(), usize::from(probe.kind == ProbeKind::Anchored));
        let requests = script.requests_about(probe);
        assert_eq!(requests.len(), 3);
        for request in requests {
            let text = request.to_string();
            assert_eq!(codes_in(&text), given, "{:?}", probe.kind);
            for name in market.names().flat_map(|(_, info)| &info.company_names) {
                assert!(!text.contains(name.as_str()), "{name}");
            }
            for date in market.calendar() {
                let date = date.reveal();
                assert!(
                    !text.contains(&date) && !text.contains(&date.replace('-', "")),
                    "{date}"
                );
            }
        }
    }
}

#[tokio::test]
async fn what_a_broken_mask_shows_is_stopped_before_it_is_sent() {
    for (level, kind) in [
        (Level::Bright, "code"),
        (Level::StockBlind, "date"),
        (Level::DateBlind, "code"),
    ] {
        // The probes are made under a weaker mask than the one they are asked under.
        let mut set = scene().probes(at(level), &[ProbeKind::Day], 2);
        set.mask = BLINDED;
        let script = Script::new(set.probes.iter().map(|probe| (probe, vec![Say::Filtered])));
        let folder = tempfile::tempdir().unwrap();
        let attackers = asked(MODEL, folder.path());
        let error = ask(&attackers, &set, &script).await.unwrap_err().to_string();
        assert!(
            error.contains(&format!("hidden {kind}")) && error.contains("probe day-0"),
            "{error}"
        );
        assert!(script.requests().is_empty());
    }
}

#[tokio::test]
async fn giving_one_code_away_lets_no_other_pass() {
    let mut set = scene().probes(BLINDED, &[ProbeKind::Anchored], 2);
    // The first probe's code in the second's exhibit is another stock's.
    let code = set.probes[0].exhibits[0].anchor.clone().unwrap().code;
    assert_ne!(
        Some(&code),
        set.probes[1].exhibits[0]
            .anchor
            .as_ref()
            .map(|anchor| &anchor.code)
    );
    set.probes[1].exhibits[0].target = code;
    let script = Script::new(set.probes.iter().map(|probe| (probe, vec![Say::Filtered])));
    let folder = tempfile::tempdir().unwrap();
    let attackers = asked(MODEL, folder.path());
    let error = ask(&attackers, &set, &script).await.unwrap_err().to_string();
    assert!(
        error.contains("probe anchored-1") && error.contains("hidden code"),
        "{error}"
    );
    assert!(script.requests_about(&set.probes[1]).is_empty());
}
