//! Schemas of what commands on servers print, as they are published.

use ktd_cli::printed_schemas;
use ktd_io::whole_file::{list, read_text, write_whole};
use std::collections::BTreeSet;
use std::path::Path;

const LIMIT_BYTES: u64 = 1 << 20;

/// Each is made of the type that is printed, and there is no other.
#[test]
fn what_is_published_of_servers_is_made_of_the_types() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas");
    let mut made = BTreeSet::new();
    for of in printed_schemas() {
        if !of.file.starts_with("servers/") {
            continue;
        }
        let path = folder.join(format!("{}.schema.json", of.file));
        let text = format!("{:#}\n", of.schema);
        if std::env::var_os("UPDATE").is_some() {
            write_whole(&path, text.as_bytes()).unwrap();
        }
        assert!(
            read_text(&path, LIMIT_BYTES).unwrap_or_default() == text,
            "{}: UPDATE=1 writes it",
            path.display()
        );
        made.insert(path);
    }
    let published: BTreeSet<_> = list(&folder.join("servers")).unwrap().into_iter().collect();
    assert_eq!(published, made);
}
