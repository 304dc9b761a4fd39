//! What masks show has a version, and this test holds the two together.

use crate::tools::fixture::{Fixture, every_setting};
use crate::tools::snapshots::calls;
use ktd_masking::{Mode, SCHEME, hex};
use ktd_tools::{Tool, Toolbox};
use sha2::{Digest, Sha256};

/// The version, and SHA-256 over every payload of the fixture at every setting as of it.
const PINNED: (u32, &str) = (
    4,
    "3b88057dd5b16da628a3350255db714709597d15d3266c710e6fa0f81244783a",
);

#[test]
fn what_masks_show_changes_with_the_scheme_alone() {
    let fixture = Fixture::new();
    let toolbox = Toolbox::new().unwrap();
    let as_of = fixture.as_of();
    let mut hasher = Sha256::new();
    for (level, numeric) in every_setting() {
        let mask = fixture.mask(level, numeric);
        let ids = fixture.ids(&mask);
        let (of_tools, of_states) = fixture.view(&as_of, &mask, |view| {
            let answer = |tool: Tool| {
                toolbox
                    .call(view, tool.name(), &calls(&ids, tool, numeric))
                    .payload
            };
            (Tool::ALL.map(answer), Mode::ALL.map(|mode| view.state(mode)))
        });
        for payload in of_tools.iter().chain(&of_states) {
            hasher.update(payload.to_json().as_bytes());
            hasher.update(b"\n");
        }
    }
    let (scheme, digest) = PINNED;
    assert_eq!(
        (scheme, digest),
        (SCHEME, hex(&hasher.finalize()).as_str()),
        "what masks show has changed: raise `SCHEME` in masking, then pin the new number and hash here"
    );
}
