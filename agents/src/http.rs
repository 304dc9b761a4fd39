//! Chat models behind an `OpenAI`-compatible HTTP endpoint.
//!
//! `async-openai` knows the endpoint, the headers and the request; its hidden retries, its typed replies and its
//! reading of errors are left out, because every attempt must pass the run's own ledger and the bytes of request
//! and reply are evidence. Its service hook gives us both ends of the exchange.

use crate::transport::{Transport, TransportError, WireReply};
use crate::wire::REPLY_BYTES_MAX;
use crate::wire::WireRequest;
use async_openai::Client;
use async_openai::config::Config;
use async_openai::error::OpenAIError;
use async_openai::middleware::HttpRequestFactory;
use async_openai::traits::RequestOptionsBuilder;
use futures::future::BoxFuture;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Body, Response};
use secrecy::{ExposeSecret, SecretString};
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// How an endpoint is reached. The caller reads the environment; nothing here does.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// The address requests' paths are appended to, such as `https://api.openai.com/v1`.
    pub base_url: String,
    /// The bearer token, where the endpoint wants one.
    pub api_key: Option<SecretString>,
    /// Further headers. Their values are kept as secrets, for some vendors take keys there.
    pub headers: Vec<(String, SecretString)>,
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
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .timeout(settings.timeout)
            .build()
            .map_err(|error| SetupError::Client {
                detail: explain(&error.without_url()),
            })?;
        Ok(Self { client, endpoint })
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
            let text = SecretString::from(format!("Bearer {}", key.expose_secret()));
            headers.insert(AUTHORIZATION, secret_value(&text).ok_or(SetupError::ApiKey)?);
        }
        for (name, value) in &settings.headers {
            let refused = || SetupError::Header { name: name.clone() };
            let value = secret_value(value).ok_or_else(refused)?;
            headers.insert(HeaderName::try_from(name).map_err(|_| refused())?, value);
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
        let mut response = self.client.execute(request).await.map_err(failure)?;
        let mut reply = WireReply {
            status: response.status().as_u16(),
            headers: kept_headers(response.headers()),
            body: Vec::new(),
        };
        while let Some(chunk) = response.chunk().await.map_err(failure)? {
            if REPLY_BYTES_MAX - reply.body.len() < chunk.len() {
                return Err(TransportError::ReplyTooLarge {
                    limit_bytes: REPLY_BYTES_MAX,
                });
            }
            reply.body.extend_from_slice(&chunk);
        }
        Ok(reply)
    }
}

fn kept_headers(headers: &HeaderMap) -> BTreeMap<String, String> {
    let is_kept = |name: &str| {
        matches!(
            name,
            "content-type" | "request-id" | "retry-after" | "retry-after-ms" | "x-request-id"
        ) || name.starts_with("x-ratelimit-")
    };
    headers
        .iter()
        .filter(|(name, _)| is_kept(name.as_str()))
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
        .collect()
}

fn failure(error: reqwest::Error) -> TransportError {
    // An address may hold a key in its query.
    let error = error.without_url();
    let detail = explain(&error);
    if error.is_timeout() {
        TransportError::Timeout
    } else if error.is_connect() {
        TransportError::Connect { detail }
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
