//! How an endpoint is reached: its address, its headers, and the proxy on the way to it.

use crate::dialect::Auth;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{NoProxy, Proxy, Url};
use secrecy::{ExposeSecret, SecretString};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

/// Settings of one endpoint. The caller reads the environment; nothing here does.
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
    /// Proxies on the way to the endpoint.
    pub proxy: ProxySettings,
    /// How long connecting may take.
    pub connect_timeout: Duration,
    /// How long one attempt may take, from connecting to the last byte.
    pub timeout: Duration,
}

impl HttpSettings {
    /// What must not show in any record: keys, and passwords of proxies.
    pub(super) fn secrets(&self) -> Vec<SecretString> {
        let headers = self.secret_headers.iter().map(|(_, value)| value.clone());
        let proxies = [&self.proxy.http, &self.proxy.https];
        let passwords = proxies.into_iter().flatten().filter_map(password_of);
        self.api_key
            .iter()
            .cloned()
            .chain(headers)
            .chain(passwords)
            .collect()
    }
}

/// Addresses of HTTP proxies. An endpoint on the machine itself (`localhost`, `127.0.0.1`, `[::1]`) is always reached
/// directly.
#[derive(Debug, Clone, Default)]
pub struct ProxySettings {
    /// The proxy for `http` endpoints; it may hold a password.
    pub http: Option<SecretString>,
    /// The proxy for `https` endpoints; it may hold a password.
    pub https: Option<SecretString>,
    /// Hosts that are reached directly, separated by commas, as in `NO_PROXY`.
    pub bypass: Option<String>,
}

impl ProxySettings {
    /// Whether these settings name a proxy for `base_url`. Its host may still be among those to bypass.
    #[must_use]
    pub fn names_one_for(&self, base_url: &str) -> bool {
        Url::parse(base_url).is_ok_and(|address| self.address_for(&address).is_some())
    }

    fn address_for(&self, endpoint: &Url) -> Option<&SecretString> {
        let address = match endpoint.scheme() {
            "https" => self.https.as_ref(),
            _ => self.http.as_ref(),
        };
        address.filter(|_| !is_loopback(endpoint))
    }

    fn for_endpoint(&self, endpoint: &Url) -> Result<Option<Proxy>, SetupError> {
        let Some(address) = self.address_for(endpoint) else {
            return Ok(None);
        };
        let proxy = parse_proxy(address.expose_secret()).ok_or(SetupError::Proxy)?;
        let bypass = self.bypass.as_deref().and_then(NoProxy::from_string);
        Ok(Some(proxy.no_proxy(bypass)))
    }
}

/// An HTTP proxy; its scheme may be left out, as in `proxy.example:3128`.
fn parse_proxy(address: &str) -> Option<Proxy> {
    let address = if address.contains("://") {
        Url::parse(address)
    } else {
        Url::parse(&format!("http://{address}"))
    };
    let address = address
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"))?;
    Proxy::all(address).ok()
}

fn is_loopback(address: &Url) -> bool {
    let host = address.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn password_of(proxy: &SecretString) -> Option<SecretString> {
    let address = Url::parse(proxy.expose_secret()).ok()?;
    address.password().map(SecretString::from)
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
    /// The proxy's address is not that of an HTTP proxy.
    #[error("the proxy for this endpoint is not an http or https address")]
    Proxy,
    /// The HTTP client could not be built.
    #[error("failed to build the HTTP client: {detail}")]
    Client {
        /// The client's message.
        detail: String,
    },
}

impl SetupError {
    /// How to fix it.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::BaseUrl => "write it as `https://host/v1`; a key belongs in the key or in a header",
            Self::ApiKey => "look for a line break or a quotation mark around the key",
            Self::Header { .. } => "use a name of letters and dashes and a value of visible ASCII",
            Self::Proxy => {
                "fix the proxy variables of the environment (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`): write \
                 `http://host:port`, or name the endpoint's host in `NO_PROXY`; SOCKS proxies are not supported"
            }
            Self::Client { .. } => "check that the system has root certificates (package ca-certificates)",
        }
    }
}

/// An endpoint whose settings were checked.
pub(super) struct Endpoint {
    /// Without a slash at the end: paths begin with one.
    pub(super) base_url: String,
    pub(super) headers: HeaderMap,
    pub(super) proxy: Option<Proxy>,
}

impl Endpoint {
    pub(super) fn new(settings: &HttpSettings) -> Result<Self, SetupError> {
        let base_url = settings.base_url.trim_end_matches('/').to_owned();
        let address = Url::parse(&base_url).map_err(|_| SetupError::BaseUrl)?;
        // Paths are appended to it, and it shows in records: no query, and no credentials inside.
        let is_plain = address.query().is_none()
            && address.fragment().is_none()
            && address.username().is_empty()
            && address.password().is_none();
        if !matches!(address.scheme(), "http" | "https") || !is_plain {
            return Err(SetupError::BaseUrl);
        }
        Ok(Self {
            base_url,
            headers: headers(settings)?,
            proxy: settings.proxy.for_endpoint(&address)?,
        })
    }
}

/// The headers of every request; those that hold secrets are marked as such.
fn headers(settings: &HttpSettings) -> Result<HeaderMap, SetupError> {
    let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
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
    Ok(headers)
}

/// A header value that prints as `Sensitive`.
fn secret_value(text: &SecretString) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(text.expose_secret()).ok()?;
    value.set_sensitive(true);
    Some(value)
}
