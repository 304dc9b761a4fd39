//! Each layer of a box is seen to matter: without it the self-test fails and nothing runs.

use crate::{prove, setup};
use ktd_boxed::{BoxError, BoxLauncher, BoxSetup};
use ktd_kit::has_boxes;
use ktd_sandbox::{Isolation, SwitchedOff};

#[test]
fn a_box_without_one_of_its_layers_is_not_used() {
    if !has_boxes() {
        return;
    }
    let layers = [
        (SwitchedOff::BoxFilter, "filter of the box"),
        (SwitchedOff::JobFilter, "process"),
        (SwitchedOff::Landlock, "landlock"),
        (SwitchedOff::ReadOnly, "write"),
        (SwitchedOff::Network, "namespaces: net"),
    ];
    for (layer, seen) in layers {
        let without = BoxSetup {
            switched_off: Some(layer),
            ..setup()
        };
        let fault = BoxLauncher::prove(without).unwrap_err();
        assert!(matches!(fault, BoxError::SelfTest { .. }), "{layer:?}: {fault}");
        assert!(fault.to_string().contains(seen), "{layer:?}: {fault}");
    }
}

#[test]
fn a_whole_box_passes_and_says_what_it_is() {
    if !has_boxes() {
        return;
    }
    let launcher = prove(setup());
    let header = launcher.header();
    assert!(header.self_test.passes() && 9 <= header.self_test.checks.len());
    assert!(header.bwrap_version.is_some() && header.filters.is_some());
    let text = serde_json::to_string(header).unwrap();
    assert_eq!(
        &serde_json::from_str::<ktd_sandbox::BoxHeader>(&text).unwrap(),
        header
    );
}

#[test]
fn landlock_alone_is_a_level_of_its_own_and_taken_only_when_asked_for() {
    if !has_boxes() || ktd_boxed::landlock_version() < 4 {
        println!("passed over: boxes, or Landlock 4");
        return;
    }
    let alone = |switched_off: Option<SwitchedOff>| BoxSetup {
        isolation: Isolation::Landlock,
        switched_off,
        ..setup()
    };
    let launcher = prove(alone(None));
    assert_eq!(launcher.header().isolation, Isolation::Landlock);
    assert_eq!(launcher.header().bwrap_version, None);
    for layer in [
        SwitchedOff::BoxFilter,
        SwitchedOff::JobFilter,
        SwitchedOff::Landlock,
    ] {
        assert!(BoxLauncher::prove(alone(Some(layer))).is_err(), "{layer:?}");
    }
}

#[test]
fn no_isolation_is_marked_as_none() {
    if !has_boxes() {
        return;
    }
    let launcher = prove(BoxSetup {
        isolation: Isolation::None,
        ..setup()
    });
    assert!(!launcher.header().isolation.counts());
    assert_eq!(launcher.header().filters, None);
}
