//! The prompt-only control: bright data under the text of a mask. It has a place of its own everywhere, and is no mask.

use ktd_bundle::BundlePaths;
use ktd_bundle::open::read_header;
use ktd_episode::verify::verify;
use ktd_experiment::mask_arm::MaskInstruction;
use ktd_experiment::mask_hash::mask_hash;
use ktd_kit::Recorded;
use ktd_kit::copy;
use ktd_kit::episode::{OnPanel, relabel, runtime};
use ktd_kit::this_program;
use ktd_masking::{Level, MaskSettings, Numeric};
use std::path::Path;
use std::sync::OnceLock;

const BRIGHT: MaskSettings = MaskSettings {
    level: Level::Bright,
    numeric: Numeric::Exact,
};

fn control() -> &'static Path {
    static SCENE: OnceLock<OnPanel> = OnceLock::new();
    let scene = SCENE.get_or_init(|| {
        OnPanel::new(
            5,
            3,
            r#"
            masks = [{ level = "bright", instruction = "blinded" }]
            modes = ["open-research"]
            agents = [{ id = "researcher", builtin = "researcher" }]
            "#,
        )
    });
    &scene.bundle
}

/// Why a copy without its private part is refused.
fn refused(forge: impl FnOnce(&Path)) -> String {
    let folder = tempfile::tempdir().unwrap();
    copy(control(), folder.path());
    std::fs::remove_dir_all(folder.path().join("private")).unwrap();
    forge(folder.path());
    let verified = runtime().block_on(verify(folder.path(), None, &this_program()));
    verified.unwrap_err().to_string()
}

#[test]
fn bright_data_stand_under_the_text_of_the_mask() {
    let paths = BundlePaths::new(control());
    let header = read_header(&paths).unwrap();
    assert!(
        header.cell.contains("__bright-as-blinded-exact__"),
        "{}",
        header.cell
    );
    assert_eq!(
        (header.mask.level, header.mask.instruction),
        (Level::Bright, Some(MaskInstruction::Blinded))
    );
    for level in Level::ALL {
        let mask = MaskSettings { level, ..BRIGHT };
        assert_ne!(header.mask.hash, Some(mask_hash(mask)));
    }
    let cassette = Recorded::read(&paths.exchanges()).unwrap();
    let requests: Vec<&str> = cassette
        .sends()
        .map(|sent| sent.intent.request.as_str())
        .collect();
    assert!(!requests.is_empty());
    for request in requests {
        assert!(request.contains("Stocks are shown by aliases such as asset_0042"));
        assert!(!request.contains("Stocks are shown by their exchange codes"));
        assert!(request.contains("\\\"as_of\\\":\\\"20"), "the day is a date");
    }
    let verified = runtime()
        .block_on(verify(control(), None, &this_program()))
        .unwrap();
    assert!(
        verified
            .checks
            .iter()
            .any(|check| check.contains("bright-as-blinded/exact")),
        "{verified:?}"
    );
}

#[test]
fn no_relabelled_control_passes_for_bright_or_for_a_mask() {
    let opening = refused(|bundle| {
        relabel(bundle, |header| {
            header.mask.instruction = None;
            header.mask.hash = Some(mask_hash(BRIGHT));
        });
    });
    assert!(
        opening.contains("opens with the text of another mask"),
        "{opening}"
    );
    let blinded = MaskSettings {
        level: Level::Blinded,
        ..BRIGHT
    };
    let shown = refused(|bundle| {
        relabel(bundle, |header| {
            header.mask.level = Level::Blinded;
            header.mask.instruction = None;
            header.mask.hash = Some(mask_hash(blinded));
            header.window.dates = None;
        });
    });
    assert!(shown.contains("it shows"), "{shown}");
}

#[test]
fn the_text_of_another_level_over_a_mask_is_refused() {
    let both = refused(|bundle| {
        let paths = BundlePaths::new(bundle);
        let header = std::fs::read_to_string(paths.header()).unwrap();
        let header = header.replace("\"level\": \"bright\"", "\"level\": \"date-blind\"");
        std::fs::write(paths.header(), header).unwrap();
    });
    assert!(
        both.contains("`mask.instruction` stands with the level bright alone"),
        "{both}"
    );
}
