//! Which requests are answered: those of this machine's own pages. A page of another site that found the port, or a name
//! that was turned to loopback, gets nothing.

use axum::extract::Request;
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, Method};

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It would change something.
    Method,
    /// It was sent to another name.
    Host,
    /// A page of another site sent it.
    Origin,
}

/// Checks method, host and origin.
pub(super) fn check(request: &Request, port: u16) -> Result<(), Refusal> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Err(Refusal::Method);
    }
    check_headers(request.headers(), port)
}

fn check_headers(headers: &HeaderMap, port: u16) -> Result<(), Refusal> {
    let own = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let mut hosts = headers.get_all(HOST).iter();
    let host = hosts.next().and_then(|host| host.to_str().ok());
    if hosts.next().is_some() || !host.is_some_and(|host| own.iter().any(|name| name == host)) {
        return Err(Refusal::Host);
    }
    let is_own_origin = |origin: &str| own.iter().any(|name| origin == format!("http://{name}"));
    if text(ORIGIN.as_str()).is_some_and(|origin| !is_own_origin(origin)) {
        return Err(Refusal::Origin);
    }
    // A link on another site may open a page here, which that site cannot read; anything else from there is refused.
    let is_foreign = text("sec-fetch-site").is_some_and(|site| matches!(site, "cross-site" | "same-site"));
    let is_opened = text("sec-fetch-mode") == Some("navigate") && text("sec-fetch-dest") == Some("document");
    if is_foreign && !is_opened {
        return Err(Refusal::Origin);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checked(headers: &[(&'static str, &'static str)]) -> Result<(), Refusal> {
        let headers = headers.iter().map(|(name, value)| {
            (
                name.parse::<axum::http::HeaderName>().unwrap(),
                value.parse().unwrap(),
            )
        });
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value);
        }
        check_headers(&map, 7000)
    }

    #[test]
    fn a_name_that_was_turned_to_loopback_gets_nothing() {
        assert_eq!(checked(&[("host", "127.0.0.1:7000")]), Ok(()));
        assert_eq!(checked(&[("host", "localhost:7000")]), Ok(()));
        for host in [
            "evil.example",
            "evil.example:7000",
            "127.0.0.1:7001",
            "127.0.0.1",
            "127.0.0.1:7000.evil.example",
        ] {
            assert_eq!(checked(&[("host", host)]), Err(Refusal::Host), "{host}");
        }
        assert_eq!(checked(&[]), Err(Refusal::Host));
        assert_eq!(
            checked(&[("host", "127.0.0.1:7000"), ("host", "evil.example")]),
            Err(Refusal::Host)
        );
    }

    #[test]
    fn other_sites_read_nothing() {
        let host = ("host", "127.0.0.1:7000");
        assert_eq!(checked(&[host, ("origin", "http://127.0.0.1:7000")]), Ok(()));
        for origin in [
            "https://evil.example",
            "null",
            "http://127.0.0.1:7001",
            "http://127.0.0.1:7000.evil.example",
        ] {
            assert_eq!(
                checked(&[host, ("origin", origin)]),
                Err(Refusal::Origin),
                "{origin}"
            );
        }
        let foreign = ("sec-fetch-site", "cross-site");
        assert_eq!(checked(&[host, foreign]), Err(Refusal::Origin));
        let (navigates, frame) = (("sec-fetch-mode", "navigate"), ("sec-fetch-dest", "iframe"));
        assert_eq!(checked(&[host, foreign, navigates, frame]), Err(Refusal::Origin));
        assert_eq!(
            checked(&[host, foreign, navigates, ("sec-fetch-dest", "document")]),
            Ok(())
        );
    }
}
