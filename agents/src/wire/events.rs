//! Server-sent events: a reply that came in pieces.

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its name; empty where the server gives none.
    pub(crate) name: String,
    /// Its data lines, joined.
    pub(crate) data: String,
}

/// The events of a body, or `None` when it is no event stream. An event that the stream broke off in is left out.
pub(crate) fn read_events(text: &str) -> Option<Vec<Event>> {
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    if !["data:", "event:", "id:", "retry:", ":"]
        .iter()
        .any(|field| first.starts_with(field))
    {
        return None;
    }
    let mut events = Vec::new();
    let (mut name, mut data) = (String::new(), None::<String>);
    for line in text.split('\n') {
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            if let Some(data) = data.take() {
                events.push(Event {
                    name: std::mem::take(&mut name),
                    data,
                });
            }
            name.clear();
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut name),
            "data" => match &mut data {
                None => data = Some(value.to_owned()),
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
            },
            _ => {}
        }
    }
    // Recordings cut the blank line after the last event; its data is whole when it is JSON.
    if let Some(data) = data
        && (data == "[DONE]" || serde_json::from_str::<serde::de::IgnoredAny>(&data).is_ok())
    {
        events.push(Event { name, data });
    }
    Some(events)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_told_from_json_and_from_pages() {
        assert_eq!(read_events("{\"a\":1}"), None);
        assert_eq!(read_events("<html>"), None);
        assert_eq!(read_events(""), None);
        let events =
            read_events(": hi\r\n\r\nevent: a\r\ndata: {\"x\":\r\ndata: 1}\r\n\r\ndata: [DONE]\r\n").unwrap();
        assert_eq!(events.len(), 2);
        assert_eq!(
            (events[0].name.as_str(), events[0].data.as_str()),
            ("a", "{\"x\":\n1}")
        );
    }

    #[test]
    fn a_cut_event_is_left_out() {
        assert_eq!(read_events("data: {\"a\":1}\n\ndata: {\"b\"").unwrap().len(), 1);
    }
}
