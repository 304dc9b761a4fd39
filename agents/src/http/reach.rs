//! Whether an endpoint can be connected to.

use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// An endpoint that no connection can be opened to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url}: {detail}")]
pub struct Unreachable {
    /// The address as it was configured.
    pub url: String,
    /// What was wrong.
    pub detail: String,
}

/// Opens a connection to an `http` or `https` address and closes it: no request is sent.
///
/// # Errors
/// [`Unreachable`] for another kind of address, a name without an address, or a connection that is refused or takes too
/// long.
pub fn reach(url: &str) -> Result<(), Unreachable> {
    let unreachable = |detail: &str| Unreachable {
        url: url.to_owned(),
        detail: detail.to_owned(),
    };
    let (scheme, rest) = url
        .split_once("://")
        .ok_or_else(|| unreachable("not an http or https address"))?;
    let host = rest.split('/').next().unwrap_or_default();
    let port = if scheme == "https" { 443 } else { 80 };
    let has_port = host
        .rsplit_once(':')
        .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let address = if has_port {
        host.to_owned()
    } else {
        format!("{host}:{port}")
    };
    let mut addresses = address
        .to_socket_addrs()
        .map_err(|error| unreachable(&error.to_string()))?;
    let first = addresses
        .next()
        .ok_or_else(|| unreachable("the name has no address"))?;
    TcpStream::connect_timeout(&first, CONNECT_TIMEOUT)
        .map(drop)
        .map_err(|error| unreachable(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn a_listening_port_is_reached_and_what_is_no_address_is_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        assert_eq!(reach(&url), Ok(()));
        let error = reach("localhost").unwrap_err();
        assert_eq!(error.to_string(), "localhost: not an http or https address");
    }
}
