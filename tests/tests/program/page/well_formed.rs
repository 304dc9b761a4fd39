//! Is a page well-formed? As far as our pages use HTML: elements that close in order, three void elements that never do,
//! attributes in double quotes, four entities.

/// Elements that HTML never closes.
const VOID: [&str; 3] = ["meta", "input", "wbr"];

/// Panics with the place of the first fault.
pub(crate) fn check(page: &str) {
    let body = page
        .strip_prefix("<!DOCTYPE html>\n")
        .unwrap_or_else(|| panic!("no document type"));
    let mut open: Vec<&str> = Vec::new();
    let mut rest = body;
    while let Some(at) = rest.find('<') {
        text(&rest[..at], open.is_empty());
        let end = rest[at..]
            .find('>')
            .unwrap_or_else(|| panic!("a tag does not end: {}", head(rest)));
        let tag = &rest[at + 1..at + end];
        rest = &rest[at + end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            let last = open.pop();
            assert_eq!(last, Some(name), "closed out of order before {}", head(rest));
        } else {
            open.extend(Some(name_of(tag)).filter(|name| !VOID.contains(name)));
        }
    }
    text(rest, true);
    assert!(open.is_empty(), "never closed: {open:?}");
}

/// The name of a tag whose attributes are in order, each of them once.
fn name_of(tag: &str) -> &str {
    let name = tag.split(' ').next().unwrap();
    assert!(
        name.chars().all(char::is_alphanumeric) && !name.is_empty(),
        "no name: {tag}"
    );
    let mut rest = &tag[name.len()..];
    let mut seen: Vec<&str> = Vec::new();
    while !rest.is_empty() {
        let (attribute, after) = rest
            .split_once("=\"")
            .unwrap_or_else(|| panic!("no value: {tag}"));
        let (value, after) = after
            .split_once('"')
            .unwrap_or_else(|| panic!("no end of a value: {tag}"));
        let key = attribute
            .strip_prefix(' ')
            .unwrap_or_else(|| panic!("no space: {tag}"));
        assert!(
            key.chars()
                .all(|character| character.is_alphanumeric() || character == '-'),
            "{tag}"
        );
        assert!(!seen.contains(&key), "twice {key}: {tag}");
        seen.push(key);
        text(value, false);
        rest = after;
    }
    name
}

fn text(text: &str, must_be_empty: bool) {
    assert!(
        !must_be_empty || text.trim().is_empty(),
        "text outside the page: {}",
        head(text)
    );
    for after in text.split('&').skip(1) {
        let entity = after.split_once(';').map(|(entity, _)| entity);
        assert!(
            matches!(entity, Some("amp" | "lt" | "gt" | "quot")),
            "no entity: &{}",
            head(after)
        );
    }
}

fn head(text: &str) -> String {
    text.chars().take(60).collect()
}
