//! What goes back to a browser, with the headers that bind it.

use super::gate::Refusal;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// Pages: own style and script, no other source, in nobody's frame.
const PAGE_POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; frame-src 'self'; \
    base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
/// A stranger's page: no script, no address but its own text.
pub(super) const FOREIGN_POLICY: &str =
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'";

/// What goes back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) kind: &'static str,
    pub(super) policy: &'static str,
    pub(super) text: String,
}

impl Answer {
    pub(super) const fn page(text: String) -> Self {
        Self {
            status: StatusCode::OK,
            kind: "text/html; charset=utf-8",
            policy: PAGE_POLICY,
            text,
        }
    }

    pub(super) const fn file(kind: &'static str, text: String) -> Self {
        Self {
            status: StatusCode::OK,
            kind,
            policy: PAGE_POLICY,
            text,
        }
    }

    fn plain(status: StatusCode, text: &str) -> Self {
        Self {
            status,
            ..Self::file("text/plain; charset=utf-8", format!("{text}\n"))
        }
    }

    pub(super) fn refused(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Method => Self::plain(StatusCode::METHOD_NOT_ALLOWED, "pages are read only"),
            Refusal::Host => Self::plain(
                StatusCode::MISDIRECTED_REQUEST,
                "open the address that ktd view printed",
            ),
            Refusal::Origin => Self::plain(StatusCode::FORBIDDEN, "pages of other sites read nothing here"),
        }
    }

    pub(super) fn missing() -> Self {
        Self::plain(StatusCode::NOT_FOUND, "there is no such page")
    }

    pub(super) fn failed() -> Self {
        Self::plain(StatusCode::INTERNAL_SERVER_ERROR, "the page could not be made")
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let headers = [
            (header::CONTENT_TYPE, self.kind),
            (header::CONTENT_SECURITY_POLICY, self.policy),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::REFERRER_POLICY, "no-referrer"),
            (header::CACHE_CONTROL, "no-store"),
        ];
        let mut response = (self.status, headers, self.text).into_response();
        let same_origin = HeaderValue::from_static("same-origin");
        response
            .headers_mut()
            .insert("cross-origin-resource-policy", same_origin.clone());
        response
            .headers_mut()
            .insert("cross-origin-opener-policy", same_origin);
        response
    }
}
