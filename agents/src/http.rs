//! Chat models behind an HTTP endpoint, whatever wire it speaks.
//!
//! One `send` is exactly one request: no redirect is followed and nothing is sent twice, because every attempt must
//! pass the run's own ledger. The bytes of request and reply are evidence, whatever the status. What a server sends is
//! rid of the endpoint's secrets before anyone sees it, so that no record can hold one.

mod endpoint;
mod reach;
mod redact;

pub use endpoint::{HttpSettings, ProxySettings, SetupError};
pub use reach::{Unreachable, reach};

use crate::transport::{Transport, TransportError, WireReply};
use crate::wire::{REPLY_BYTES_MAX, WireRequest};
use endpoint::Endpoint;
use futures::future::BoxFuture;
use redact::Redactor;
use reqwest::header::{CONTENT_ENCODING, HeaderMap};
use reqwest::{Response, Url};
use std::collections::BTreeMap;
use std::error::Error;

/// A [`Transport`] over HTTP. Clones share one pool of connections.
#[derive(Debug, Clone)]
pub struct HttpTransport {
    /// Sends the endpoint's headers with every request, parsed once.
    client: reqwest::Client,
    base_url: String,
    redactor: Redactor,
}

impl HttpTransport {
    /// A transport to the endpoint `settings` describe. Nothing is sent yet.
    ///
    /// # Errors
    /// [`SetupError`] when the address, the key, a header or the proxy cannot be used.
    pub fn new(settings: &HttpSettings) -> Result<Self, SetupError> {
        // Fails only when a provider is installed already, which is as good.
        drop(rustls::crypto::ring::default_provider().install_default());
        let Endpoint {
            base_url,
            headers,
            proxy,
        } = Endpoint::new(settings)?;
        // Without this, reqwest reads the environment on its own.
        let mut builder = reqwest::Client::builder().no_proxy();
        if let Some(proxy) = proxy {
            builder = builder.proxy(proxy);
        }
        let client = builder
            // Each request has a connection of its own: over one connection of HTTP/2 a server lets some hundred
            // requests through at once, and the others would wait unseen while their time runs out.
            .http1_only()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .default_headers(headers)
            .connect_timeout(settings.connect_timeout)
            .timeout(settings.timeout)
            .build()
            .map_err(|error| SetupError::Client {
                detail: explain(&error.without_url()),
            })?;
        Ok(Self {
            client,
            base_url,
            redactor: Redactor::new(&settings.secrets()),
        })
    }

    async fn exchange(&self, request: &WireRequest) -> Result<WireReply, TransportError> {
        let address = format!("{}{}", self.base_url, request.path());
        let address = Url::parse(&address).map_err(|_| TransportError::NotSent {
            detail: "the request's path does not fit the base URL".to_owned(),
        })?;
        let sent = self.client.post(address).body(request.body().to_vec());
        let response = sent.send().await.map_err(|error| self.failure(error))?;
        self.read(response).await
    }

    /// The whole reply, whatever its status.
    async fn read(&self, mut response: Response) -> Result<WireReply, TransportError> {
        // What was not asked for cannot be read, and could not be searched for secrets.
        if let Some(coding) = response.headers().get(CONTENT_ENCODING)
            && coding != "identity"
        {
            return Err(TransportError::Interrupted {
                detail: "it came in a content coding that was not asked for".to_owned(),
            });
        }
        let status = response.status().as_u16();
        let headers = self.kept_headers(response.headers());
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.failure(error))? {
            if REPLY_BYTES_MAX - body.len() < chunk.len() {
                return Err(TransportError::ReplyTooLarge {
                    limit_bytes: REPLY_BYTES_MAX,
                });
            }
            body.extend_from_slice(&chunk);
        }
        Ok(WireReply {
            status,
            headers,
            body: self.redactor.bytes(body),
        })
    }

    /// The headers worth keeping: an allow-list, so that cookies and account names never reach a record.
    fn kept_headers(&self, headers: &HeaderMap) -> BTreeMap<String, String> {
        let kept = headers.iter().filter(|(name, _)| is_kept(name.as_str()));
        kept.filter_map(|(name, value)| {
            let value = self.redactor.text(value.to_str().ok()?);
            Some((name.as_str().to_owned(), value))
        })
        .collect()
    }

    /// What went wrong, without the address, which may hold a key in its query, and without a secret.
    fn failure(&self, error: reqwest::Error) -> TransportError {
        let error = error.without_url();
        let detail = self.redactor.text(&explain(&error));
        if error.is_connect() {
            TransportError::Connect { detail }
        } else if error.is_timeout() {
            TransportError::Timeout
        } else if error.is_builder() {
            TransportError::NotSent { detail }
        } else {
            TransportError::Interrupted { detail }
        }
    }
}

impl Transport for HttpTransport {
    fn send<'a>(&'a self, request: &'a WireRequest) -> BoxFuture<'a, Result<WireReply, TransportError>> {
        Box::pin(self.exchange(request))
    }
}

fn is_kept(name: &str) -> bool {
    matches!(
        name,
        "content-type"
            | "date"
            | "location"
            | "request-id"
            | "retry-after"
            | "retry-after-ms"
            | "x-request-id"
    ) || ["x-ratelimit-", "anthropic-ratelimit-"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

/// The error with its causes, which is where the system says what happened.
fn explain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

#[cfg(test)]
mod tests;
