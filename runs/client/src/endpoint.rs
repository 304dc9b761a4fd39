//! An agent's endpoint, with its key.

use crate::ClientError;
use ktd_agents::{HttpSettings, HttpTransport, ProxySettings};
use ktd_experiment::agent::{ApiKeySource, ModelAgent, ProxySource};
use ktd_experiment::provider::Provider;
use ktd_io::whole_file::read_input;
use secrecy::SecretString;
use std::path::Path;
use std::time::Duration;

const DEFAULT_TIMEOUT_SECONDS: u64 = 600;
const DEFAULT_CONNECT_TIMEOUT_SECONDS: u64 = 20;

/// The endpoint of the agent of this id, with its key.
///
/// # Errors
/// [`ClientError::Input`] for a missing key or an unusable endpoint.
pub fn http(
    (id, model): (&str, &ModelAgent),
    provider: &Provider,
    base: &Path,
) -> Result<HttpTransport, ClientError> {
    let dialect = &provider.dialect;
    let settings = HttpSettings {
        base_url: provider.base_url.clone(),
        auth: dialect.auth,
        api_key: api_key(id, model, base)?,
        headers: dialect.headers.clone(),
        secret_headers: Vec::new(),
        proxy: proxy_of(model),
        connect_timeout: Duration::from_secs(
            model
                .connect_timeout_seconds
                .unwrap_or(DEFAULT_CONNECT_TIMEOUT_SECONDS),
        ),
        timeout: patience(model.timeout_seconds),
    };
    HttpTransport::new(&settings)
        .map_err(|error| ClientError::input(format!("agent {id:?}: {error}"), error.hint()))
}

/// The proxies on the way to an agent's endpoint: none, unless the agent names where they are. An episode must not hang on
/// an environment that its file does not name.
#[must_use]
pub fn proxy_of(model: &ModelAgent) -> ProxySettings {
    match model.proxy {
        None => ProxySettings::default(),
        Some(ProxySource::Environment) => proxy_of_environment(),
    }
}

/// The proxies of `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy`, the lower-case spelling first. An empty
/// variable counts as absent.
#[must_use]
pub fn proxy_of_environment() -> ProxySettings {
    let all = || variable("all_proxy");
    let address = |name| variable(name).or_else(all).map(SecretString::from);
    ProxySettings {
        http: address("http_proxy"),
        https: address("https_proxy"),
        bypass: variable("no_proxy"),
    }
}

fn variable(name: &str) -> Option<String> {
    let read = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
    read(name).or_else(|| read(&name.to_ascii_uppercase()))
}

/// The longest wait for an agent's answer, where it says so or not.
#[must_use]
pub fn patience(timeout_seconds: Option<u64>) -> Duration {
    Duration::from_secs(timeout_seconds.unwrap_or(DEFAULT_TIMEOUT_SECONDS))
}

/// The key, from the environment or a file. It is never written anywhere.
fn api_key(id: &str, model: &ModelAgent, base: &Path) -> Result<Option<SecretString>, ClientError> {
    match &model.api_key {
        None => Ok(None),
        Some(ApiKeySource::Environment(variable)) => key_of_environment(id, variable).map(Some),
        Some(ApiKeySource::File(path)) => key_of_file(id, &base.join(path)).map(Some),
    }
}

fn key_of_environment(id: &str, variable: &str) -> Result<SecretString, ClientError> {
    let key = std::env::var(variable).map_err(|_| {
        ClientError::input(
            format!("agent {id:?}: the environment variable {variable} is not set"),
            format!("export {variable}=... before running, or remove `api_key_env`"),
        )
    })?;
    Ok(SecretString::from(key))
}

fn key_of_file(id: &str, path: &Path) -> Result<SecretString, ClientError> {
    let key = read_input(path)?;
    let key = key.trim();
    if key.is_empty() {
        let what = format!("agent {id:?}: the key file {} is empty", path.display());
        return Err(ClientError::input(
            what,
            "write the key into it, and nothing else",
        ));
    }
    Ok(SecretString::from(key.to_owned()))
}

/// Why a key file is not as safe as it should be; `None` when it is, or when there is none.
#[cfg(unix)]
#[must_use]
pub fn key_file_warning(path: &Path) -> Option<String> {
    use std::os::unix::fs::PermissionsExt;
    const OTHERS: u32 = 0o077;
    let mode = path.metadata().ok()?.permissions().mode();
    (mode & OTHERS != 0).then(|| {
        format!(
            "the key file {} may be read by others: chmod 600 {0}",
            path.display()
        )
    })
}

/// Why a key file is not as safe as it should be: not known on this system.
#[cfg(not(unix))]
#[must_use]
pub fn key_file_warning(_: &Path) -> Option<String> {
    None
}
