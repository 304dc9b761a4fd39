//! Chat models behind an HTTP endpoint, whatever wire it speaks.
//!
//! What a server sends is rid of the endpoint's secrets before anyone sees it, so that no record can hold one.
//!
//! `async-openai` knows the endpoint, the headers and the request; its hidden retries, its typed replies and its
//! reading of errors are left out, because every attempt must pass the run's own ledger and the bytes of request
//! and reply are evidence. Its service hook gives us both ends of the exchange.

use crate::dialect::Auth;
use crate::transport::{Transport, TransportError, WireReply};
use crate::wire::REPLY_BYTES_MAX;
use crate::wire::WireRequest;
use async_openai::Client;
use async_openai::config::Config;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use async_openai::traits::RequestOptionsBuilder;
use futures::future::BoxFuture;
use redact::Redactor;
use reqwest::header::{AUTHORIZATION, CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Body, Response};
use secrecy::{ExposeSecret, SecretString};
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

mod reach;
mod redact;

pub use reach::{Unreachable, reach};

/// How an endpoint is reached. The caller reads the environment; nothing here does.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// The address requests' paths are appended to, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// How the key is sent.
    pub auth: Auth,
    /// The key, where the endpoint wants one.
    pub api_key: Option<SecretString>,
    /// Headers of every request that are no secret, such as a version.
    pub headers: BTreeMap<String, String>,
    /// Further headers whose values are secrets, for some gateways take keys there.
    pub secret_headers: Vec<(String, SecretString)>,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long one attempt may take, from connecting to the last byte.
    pub timeout: Duration,
}

/// An endpoint that cannot be used as configured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SetupError {
    /// The base URL is not a plain `http` or `https` address.
    #[error("base URL is not an http or https address without query and credentials")]
    BaseUrl,
    /// The API key holds characters no header can carry.
    #[error("API key holds characters that no HTTP header can carry")]
    ApiKey,
    /// A header's name or value cannot be sent.
    #[error("header {name:?} cannot be sent")]
    Header {
        /// The header's name.
        name: String,
    },
    /// The HTTP client could not be built.
    #[error("failed to build the HTTP client: {detail}")]
    Client {
        /// What the client said.
        detail: String,
    },
}

impl SetupError {
    /// How to mend it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::BaseUrl => "write it as `https://host/v1`; a key belongs in the key or in a header",
            Self::ApiKey => "look for a line break or a quotation mark around the key",
            Self::Header { .. } => "use a name of letters and dashes and a value of visible ASCII",
            Self::Client { .. } => "check that the system has root certificates (package ca-certificates)",
        }
    }
}

/// A [`Transport`] over HTTP. One `send` is exactly one HTTP request, without redirects, proxies or retries.
#[derive(Debug, Clone)]
pub struct HttpTransport {
    client: reqwest::Client,
    endpoint: Arc<Endpoint>,
    redactor: Redactor,
}

impl HttpTransport {
    /// A transport to the endpoint `settings` describe. Nothing is sent yet.
    ///
    /// # Errors
    /// [`SetupError`] when the address, the key or a header cannot be used.
    pub fn new(settings: &HttpSettings) -> Result<Self, SetupError> {
        // Fails only when a provider is installed already, which is as good.
        drop(rustls::crypto::ring::default_provider().install_default());
        let endpoint = Arc::new(Endpoint::new(settings)?);
        let client = reqwest::Client::builder()
            .no_proxy()
            // Each request has a connection of its own: over one connection of HTTP/2 a server lets some hundred
            // requests through at once, and the others would wait unseen while their time runs out.
            .http1_only()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .connect_timeout(settings.connect_timeout)
            .timeout(settings.timeout)
            .build()
            .map_err(|error| SetupError::Client {
                detail: explain(&error.without_url()),
            })?;
        let secrets = settings.secret_headers.iter().map(|(_, value)| value);
        let redactor = Redactor::new(settings.api_key.iter().chain(secrets));
        Ok(Self {
            client,
            endpoint,
            redactor,
        })
    }

    async fn exchange(&self, request: &WireRequest) -> Result<WireReply, TransportError> {
        let not_sent = |detail: &str| TransportError::NotSent {
            detail: detail.to_owned(),
        };
        let body = std::str::from_utf8(request.body()).map_err(|_| not_sent("the body is not UTF-8"))?;
        let json: &RawValue = serde_json::from_str(body).map_err(|_| not_sent("the body is not JSON"))?;
        let service = Attempt {
            client: self.client.clone(),
            body: Arc::from(request.body()),
            redactor: self.redactor.clone(),
        };
        let sent: Result<IgnoredAny, OpenAIError> =
            Client::build(self.client.clone(), Arc::clone(&self.endpoint) as Arc<dyn Config>)
                .with_http_service(service)
                .chat()
                .path(request.path())
                .map_err(|_| not_sent("the path is empty"))?
                .create_byot(json)
                .await;
        match sent {
            Err(OpenAIError::Boxed(end)) => match end.downcast::<Exchange>() {
                Ok(exchange) => exchange.0,
                Err(_) => Err(not_sent("the exchange was lost")),
            },
            Ok(_) | Err(_) => Err(not_sent("the request could not be built")),
        }
    }
}

impl Transport for HttpTransport {
    fn send<'a>(&'a self, request: &'a WireRequest) -> BoxFuture<'a, Result<WireReply, TransportError>> {
        Box::pin(self.exchange(request))
    }
}

/// The endpoint as `async-openai` wants it. Its own configuration would read the environment.
#[derive(Debug)]
struct Endpoint {
    base_url: String,
    api_key: SecretString,
    headers: HeaderMap,
}

impl Endpoint {
    fn new(settings: &HttpSettings) -> Result<Self, SetupError> {
        let base_url = settings.base_url.trim_end_matches('/').to_owned();
        let address = reqwest::Url::parse(&base_url).map_err(|_| SetupError::BaseUrl)?;
        // Paths are appended to it, and it shows in records: no query, and no credentials inside.
        let is_plain = address.query().is_none()
            && address.fragment().is_none()
            && address.username().is_empty()
            && address.password().is_none();
        if !matches!(address.scheme(), "http" | "https") || !is_plain {
            return Err(SetupError::BaseUrl);
        }
        let mut headers = HeaderMap::new();
        if let Some(key) = &settings.api_key {
            let (name, value) = match settings.auth {
                Auth::Bearer => (
                    AUTHORIZATION,
                    secret_value(&format!("Bearer {}", key.expose_secret()).into()),
                ),
                Auth::XApiKey => (HeaderName::from_static("x-api-key"), secret_value(key)),
                Auth::XGoogApiKey => (HeaderName::from_static("x-goog-api-key"), secret_value(key)),
            };
            headers.insert(name, value.ok_or(SetupError::ApiKey)?);
        }
        let open = settings
            .headers
            .iter()
            .map(|(name, value)| (name, HeaderValue::from_str(value).ok()));
        let secret = settings
            .secret_headers
            .iter()
            .map(|(name, value)| (name, secret_value(value)));
        for (name, value) in open.chain(secret) {
            let refused = || SetupError::Header { name: name.clone() };
            let header = HeaderName::try_from(name).map_err(|_| refused())?;
            headers.insert(header, value.ok_or_else(refused)?);
        }
        Ok(Self {
            base_url,
            api_key: settings.api_key.clone().unwrap_or_default(),
            headers,
        })
    }
}

impl Config for Endpoint {
    fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }

    fn api_base(&self) -> &str {
        &self.base_url
    }

    fn api_key(&self) -> &SecretString {
        &self.api_key
    }
}

/// A header value that prints as `Sensitive`.
fn secret_value(text: &SecretString) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text.expose_secret()).ok()?;
    value.set_sensitive(true);
    Some(value)
}

/// One attempt at one request: sends it once and reads the whole reply, whatever its status.
#[derive(Debug, Clone)]
struct Attempt {
    client: reqwest::Client,
    body: Arc<[u8]>,
    redactor: Redactor,
}

/// The end of an attempt. It travels as the service's error, which `async-openai` hands through untouched; a
/// response it would read itself, losing the status, the headers and the bytes.
#[derive(Debug, thiserror::Error)]
#[error("the exchange ended")]
struct Exchange(Result<WireReply, TransportError>);

impl tower_service::Service<HttpRequestFactory> for Attempt {
    type Response = Response;
    type Error = OpenAIError;
    type Future = BoxFuture<'static, Result<Response, OpenAIError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), OpenAIError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, factory: HttpRequestFactory) -> Self::Future {
        let attempt = self.clone();
        Box::pin(async move {
            let request = factory.build().await?;
            Err(OpenAIError::Boxed(Box::new(Exchange(attempt.run(request).await))))
        })
    }
}

impl Attempt {
    async fn run(self, request: reqwest::Request) -> Result<WireReply, TransportError> {
        if request.body().and_then(Body::as_bytes) != Some(&*self.body) {
            return Err(TransportError::NotSent {
                detail: "its bytes changed on the way".to_owned(),
            });
        }
        let failure = |error| self.redacted(failure(error));
        let mut response = self.client.execute(request).await.map_err(failure)?;
        let status = response.status().as_u16();
        let headers = self.kept_headers(response.headers());
        // What was not asked for cannot be read, and could not be searched for secrets.
        if let Some(coding) = response.headers().get(CONTENT_ENCODING)
            && coding != "identity"
        {
            return Err(TransportError::Interrupted {
                detail: "it came in a content coding that was not asked for".to_owned(),
            });
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(failure)? {
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

    fn redacted(&self, error: TransportError) -> TransportError {
        let clean = |detail: &str| self.redactor.text(detail);
        match error {
            TransportError::Connect { detail } => TransportError::Connect {
                detail: clean(&detail),
            },
            TransportError::Interrupted { detail } => TransportError::Interrupted {
                detail: clean(&detail),
            },
            TransportError::NotSent { detail } => TransportError::NotSent {
                detail: clean(&detail),
            },
            error @ (TransportError::Timeout | TransportError::ReplyTooLarge { .. }) => error,
        }
    }
}

fn is_kept(name: &str) -> bool {
    matches!(
        name,
        "content-type" | "request-id" | "retry-after" | "retry-after-ms" | "x-request-id"
    ) || ["x-ratelimit-", "anthropic-ratelimit-"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
}

fn failure(error: reqwest::Error) -> TransportError {
    // An address may hold a key in its query.
    let error = error.without_url();
    let detail = explain(&error);
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
