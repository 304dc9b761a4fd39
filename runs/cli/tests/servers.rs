//! Schemas of what commands on servers print, as they are published.

use ktd_cli::printed_schemas;

const PUBLISHED: [(&str, &str); 4] = [
    (
        "servers/status",
        include_str!("../../../docs/schemas/servers/status.schema.json"),
    ),
    (
        "servers/enqueue",
        include_str!("../../../docs/schemas/servers/enqueue.schema.json"),
    ),
    (
        "servers/worker",
        include_str!("../../../docs/schemas/servers/worker.schema.json"),
    ),
    (
        "servers/requeued",
        include_str!("../../../docs/schemas/servers/requeued.schema.json"),
    ),
];

/// Each is made of the type that is printed.
#[test]
fn what_is_published_of_servers_is_made_of_the_types() {
    let printed: Vec<_> = printed_schemas()
        .into_iter()
        .filter(|of| of.file.starts_with("servers/"))
        .collect();
    assert_eq!(printed.len(), PUBLISHED.len());
    for of in printed {
        let (_, published) = PUBLISHED.iter().find(|(file, _)| *file == of.file).unwrap();
        let text = format!("{:#}\n", of.schema);
        assert!(
            *published == text,
            "docs/schemas/{}.schema.json is to be\n{text}",
            of.file
        );
    }
}
