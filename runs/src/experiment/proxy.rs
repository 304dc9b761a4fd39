//! The proxies that the environment names.

use ktd_agents::ProxySettings;
use secrecy::SecretString;

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
