//! The transport against a server of our own on loopback.

use super::*;
use crate::chat::{ChatRequest, Message, ReplyFormat, Sampling, Thinking, ToolChoice};
use crate::dialect::{Auth, Dialect};
use crate::wire::FaultKind;
use crate::wire_format::Wire;
use ktd_masking::{Prompt, Schema, ToolSpec};
use secrecy::SecretString;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

const KEY: &str = "sk-canary-0123456789";
const TEAM_KEY: &str = "canary/team/0123";

/// One request as the server saw it.
#[derive(Debug, Clone)]
struct Heard {
    head: String,
    body: Vec<u8>,
}

/// What the server does with every request.
#[derive(Debug, Clone)]
enum Manner {
    Answer(String),
    Silence,
}

type Log = Arc<Mutex<Vec<Heard>>>;

async fn serve(manner: Manner) -> (SocketAddr, Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let log = Log::default();
    let shared = Arc::clone(&log);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(handle(stream, manner.clone(), Arc::clone(&shared)));
        }
    });
    (address, log)
}

async fn handle(mut stream: TcpStream, manner: Manner, log: Log) {
    let mut bytes = Vec::new();
    let mut buffer = [0_u8; 4096];
    loop {
        let count = stream.read(&mut buffer).await.unwrap();
        if count == 0 {
            return;
        }
        bytes.extend_from_slice(&buffer[..count]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            continue;
        };
        let head = String::from_utf8(bytes[..end].to_vec())
            .unwrap()
            .to_ascii_lowercase();
        let length = head
            .split("content-length: ")
            .nth(1)
            .map_or(0, |rest| rest.lines().next().unwrap().trim().parse().unwrap());
        if bytes.len() < end + 4 + length {
            continue;
        }
        let body = bytes[end + 4..end + 4 + length].to_vec();
        log.lock().unwrap().push(Heard { head, body });
        match manner {
            Manner::Answer(text) => stream.write_all(text.as_bytes()).await.unwrap(),
            Manner::Silence => std::future::pending().await,
        }
        return;
    }
}

fn answer(status: &str, headers: &str, body: &str) -> Manner {
    Manner::Answer(format!(
        "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n{body}",
        body.len()
    ))
}

fn settings(base_url: &str) -> HttpSettings {
    HttpSettings {
        base_url: base_url.to_owned(),
        auth: Auth::Bearer,
        api_key: Some(SecretString::from(KEY)),
        headers: BTreeMap::from([("x-version".to_owned(), "2023-06-01".to_owned())]),
        secret_headers: vec![("x-team".to_owned(), SecretString::from(TEAM_KEY))],
        proxy: ProxySettings::default(),
        connect_timeout: PATIENCE,
        timeout: PATIENCE,
    }
}

fn transport(address: SocketAddr, timeout: Duration) -> HttpTransport {
    HttpTransport::new(&HttpSettings {
        timeout,
        ..settings(&format!("http://{address}/v1/"))
    })
    .unwrap()
}

fn request() -> WireRequest {
    let request: ChatRequest = ChatRequest {
        model: "m".to_owned(),
        messages: vec![Message::User(
            Prompt::new().text("Grüße \u{1f980} \"quoted\" \\ / </script>"),
        )],
        tools: Arc::from([ToolSpec {
            name: "submit_action",
            description: "Submits.",
            parameters: Schema::of::<Vec<bool>>(),
        }]),
        tool_choice: ToolChoice::Named("submit_action"),
        reply_format: ReplyFormat::Free,
        thinking: Thinking::VendorDefault,
        sampling: Sampling {
            temperature: Some(0.1),
            ..Sampling::default()
        },
        cache_key: None,
    };
    Wire::ChatCompletions.encode(&request, &Dialect::plain())
}

/// Sends one request to a server of this manner.
async fn exchange(manner: Manner, timeout: Duration) -> (Result<WireReply, TransportError>, Vec<Heard>) {
    let (address, log) = serve(manner).await;
    let result = transport(address, timeout).send(&request()).await;
    let heard = log.lock().unwrap().clone();
    (result, heard)
}

const PATIENCE: Duration = Duration::from_secs(30);

#[tokio::test]
async fn the_bytes_hashed_are_the_bytes_sent_and_the_bytes_received_are_returned() {
    let body = "{ \"choices\" :[],\"odd\":1.50 }\n";
    let (reply, heard) = exchange(
        answer("200 OK", "x-request-id: r1\r\nset-cookie: no\r\n", body),
        PATIENCE,
    )
    .await;
    let reply = reply.unwrap();
    assert_eq!((reply.status, reply.body.as_slice()), (200, body.as_bytes()));
    assert_eq!(
        reply.headers,
        BTreeMap::from([("x-request-id".to_owned(), "r1".to_owned())])
    );
    assert_eq!(heard.len(), 1);
    assert_eq!(heard[0].body, request().body());
    assert!(
        heard[0]
            .head
            .starts_with("post /v1/chat/completions http/1.1\r\n")
    );
    assert!(heard[0].head.contains(&format!("authorization: bearer {KEY}")));
    assert!(heard[0].head.contains("content-type: application/json"));
    assert!(heard[0].head.contains(&format!("x-team: {TEAM_KEY}")));
    assert!(heard[0].head.contains("x-version: 2023-06-01"));
    let text = String::from_utf8(heard[0].body.clone()).unwrap();
    assert!(text.contains(r#""tool_choice":{"function":{"name":"submit_action"},"type":"function"}"#));
}

#[tokio::test]
async fn every_status_is_one_request_and_a_whole_reply() {
    for (status, kind) in [
        ("429 Too Many Requests", FaultKind::RateLimited),
        ("500 Internal Server Error", FaultKind::ServerError),
        ("503 Service Unavailable", FaultKind::Overloaded),
        ("307 Temporary Redirect", FaultKind::Redirected),
        ("400 Bad Request", FaultKind::BadRequest),
    ] {
        let headers = "retry-after: 2\r\nlocation: /v1/elsewhere\r\n";
        let (reply, heard) = exchange(answer(status, headers, "<html>no</html>"), PATIENCE).await;
        let reply = reply.unwrap();
        assert_eq!(heard.len(), 1, "{status}");
        assert_eq!(reply.body, b"<html>no</html>");
        assert_eq!(reply.headers["location"], "/v1/elsewhere");
        assert_eq!(reply.retry_after_seconds(), Some(2));
        assert_eq!(
            Wire::ChatCompletions
                .decode(reply.status, &reply.body, &Dialect::plain())
                .unwrap_err()
                .kind(),
            kind
        );
    }
}

#[tokio::test]
async fn silence_is_a_timeout_after_one_request() {
    let (result, heard) = exchange(Manner::Silence, Duration::from_secs(1)).await;
    assert_eq!(result.unwrap_err(), TransportError::Timeout);
    assert_eq!(heard.len(), 1);
}

#[tokio::test]
async fn a_reply_that_breaks_off_is_not_a_reply() {
    let cut = Manner::Answer("HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{\"choices\"".to_owned());
    let (result, heard) = exchange(cut, PATIENCE).await;
    let error = result.unwrap_err();
    assert_eq!(error.code(), "interrupted");
    assert!(error.is_retryable());
    assert_eq!(heard.len(), 1);
}

#[tokio::test]
async fn a_closed_port_is_a_failure_to_connect() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = transport(address, PATIENCE).send(&request()).await.unwrap_err();
    assert_eq!(error.code(), "connect");
    assert!(!format!("{error} {error:?}").contains(KEY));
}

#[tokio::test]
async fn the_key_never_shows() {
    let (address, _) = serve(Manner::Silence).await;
    let transport = transport(address, PATIENCE);
    let settings = settings("not an address");
    let error = HttpTransport::new(&settings).unwrap_err();
    assert_eq!(error, SetupError::BaseUrl);
    assert!(!format!("{transport:?} {settings:?} {error:?}").contains("canary"));
}

#[test]
fn a_base_url_is_plain() {
    for base_url in [
        "ftp://h/v1",
        "h/v1",
        "https://user:canary@h/v1",
        "https://h/v1?key=canary",
        "",
    ] {
        assert_eq!(
            HttpTransport::new(&settings(base_url)).unwrap_err(),
            SetupError::BaseUrl,
            "{base_url}"
        );
    }
}

#[test]
fn keys_and_headers_that_cannot_be_sent_are_refused() {
    let settings = |key: &str, name: &str| HttpSettings {
        api_key: Some(SecretString::from(key)),
        secret_headers: vec![(name.to_owned(), SecretString::from("v"))],
        ..settings("https://localhost/v1")
    };
    assert_eq!(
        HttpTransport::new(&settings("a\nb", "x")).unwrap_err(),
        SetupError::ApiKey
    );
    let error = HttpTransport::new(&settings("a", "bad name")).unwrap_err();
    assert_eq!(
        error,
        SetupError::Header {
            name: "bad name".to_owned()
        }
    );
    assert!(HttpTransport::new(&settings("a", "x-good")).is_ok());
}

#[tokio::test]
async fn the_key_goes_where_the_vendor_wants_it() {
    for (auth, header) in [
        (Auth::Bearer, format!("authorization: bearer {KEY}\r\n")),
        (Auth::XApiKey, format!("\r\nx-api-key: {KEY}\r\n")),
        (Auth::XGoogApiKey, format!("\r\nx-goog-api-key: {KEY}\r\n")),
    ] {
        let (address, log) = serve(answer("200 OK", "", "{}")).await;
        let transport = HttpTransport::new(&HttpSettings {
            auth,
            ..settings(&format!("http://{address}"))
        });
        transport.unwrap().send(&request()).await.unwrap();
        let head = log.lock().unwrap()[0].head.clone();
        assert!(head.contains(&header), "{head}");
        assert_eq!(head.matches(KEY).count(), 1, "{head}");
    }
}

#[tokio::test]
async fn only_listed_headers_are_kept_and_no_secret_that_the_server_repeats() {
    let body = format!(
        r#"{{"error":{{"message":"key {KEY} of {}","type":"sk\u002dcanary\u002D0123456789"}}}}"#,
        TEAM_KEY.replace('/', "\\/")
    );
    let headers = format!(
        "request-id: r-{KEY}\r\nanthropic-ratelimit-requests-reset: 2026-01-02T03:04:05Z\r\n\
         x-ratelimit-remaining-tokens: 7\r\nretry-after-ms: 1200\r\nset-cookie: {KEY}\r\nopenai-organization: o\r\n"
    );
    for status in ["400 Bad Request", "401 Unauthorized", "200 OK"] {
        let (reply, _) = exchange(answer(status, &headers, &body), PATIENCE).await;
        let reply = reply.unwrap();
        let kept: Vec<&str> = reply.headers.keys().map(String::as_str).collect();
        assert_eq!(
            kept,
            [
                "anthropic-ratelimit-requests-reset",
                "request-id",
                "retry-after-ms",
                "x-ratelimit-remaining-tokens"
            ]
        );
        assert_eq!(reply.headers["request-id"], "r-[redacted]");
        assert_eq!(reply.retry_after_seconds(), Some(2));
        assert_eq!(
            String::from_utf8(reply.body.clone()).unwrap(),
            r#"{"error":{"message":"key [redacted] of [redacted]","type":"[redacted]"}}"#
        );
        let fault = Wire::Messages
            .decode(reply.status, &reply.body, &Dialect::plain())
            .unwrap_err();
        assert!(!format!("{reply:?} {fault} {fault:?}").contains("canary"));
    }
}

#[tokio::test]
async fn no_failure_holds_a_secret() {
    for text in [
        format!("{KEY}\r\n\r\n"),
        format!("HTTP/1.1 200 OK\r\n{KEY}: \u{0}\r\n\r\n"),
        format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n{KEY}\r\n"),
        format!("HTTP/1.1 200 OK\r\ncontent-encoding: br\r\ncontent-length: 20\r\n\r\n{KEY}"),
    ] {
        let (result, _) = exchange(Manner::Answer(text), PATIENCE).await;
        let error = result.unwrap_err();
        assert_eq!(error.code(), "interrupted");
        assert!(!format!("{error} {error:?}").contains("canary"));
    }
}

#[tokio::test]
async fn a_body_cut_in_a_chunk_is_interrupted() {
    let cut = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n14\r\n{\"choices\"".to_owned();
    let (result, heard) = exchange(Manner::Answer(cut), PATIENCE).await;
    assert_eq!(result.unwrap_err().code(), "interrupted");
    assert_eq!(heard.len(), 1);
}

/// Settings with this proxy for both schemes.
fn through(proxy: &str, base_url: &str) -> HttpSettings {
    HttpSettings {
        proxy: ProxySettings {
            http: Some(SecretString::from(proxy)),
            https: Some(SecretString::from(proxy)),
            bypass: None,
        },
        ..settings(base_url)
    }
}

#[tokio::test]
async fn a_proxy_is_used_for_other_machines_and_its_password_never_shows() {
    let (address, log) = serve(answer("200 OK", "x-request-id: canary-pass\r\n", "{}")).await;
    let settings = through(
        &format!("http://user:canary-pass@{address}"),
        "http://vendor.invalid/v1",
    );
    let transport = HttpTransport::new(&settings).unwrap();
    let reply = transport.send(&request()).await.unwrap();
    let head = log.lock().unwrap()[0].head.clone();
    assert!(
        head.starts_with("post http://vendor.invalid/v1/chat/completions http/1.1\r\n"),
        "{head}"
    );
    assert!(head.contains("proxy-authorization: basic "), "{head}");
    assert!(!format!("{transport:?} {settings:?}").contains("canary-pass"));
    assert_eq!(reply.headers["x-request-id"], "[redacted]");
}

#[tokio::test]
async fn the_machine_itself_and_named_hosts_are_reached_without_a_proxy() {
    let (address, log) = serve(answer("200 OK", "", "{}")).await;
    let settings = through("http://proxy.invalid:1", &format!("http://{address}"));
    HttpTransport::new(&settings)
        .unwrap()
        .send(&request())
        .await
        .unwrap();
    assert!(log.lock().unwrap()[0].head.starts_with("post /chat/completions "));
    for (base_url, is_named) in [
        ("https://vendor.example/v1", true),
        ("http://localhost:11434/v1", false),
        ("http://[::1]:8000/v1", false),
        ("not an address", false),
    ] {
        assert_eq!(settings.proxy.names_one_for(base_url), is_named, "{base_url}");
    }
    let bypassed = HttpSettings {
        proxy: ProxySettings {
            bypass: Some("vendor.invalid".to_owned()),
            ..through(&format!("http://{address}"), "").proxy
        },
        ..self::settings("http://vendor.invalid/v1")
    };
    let error = HttpTransport::new(&bypassed).unwrap().send(&request()).await;
    assert_eq!(error.unwrap_err().code(), "connect");
    assert_eq!(log.lock().unwrap().len(), 1);
}

#[test]
fn a_proxy_that_cannot_be_used_is_refused_and_not_ignored() {
    for proxy in ["socks5://127.0.0.1:1080", "not an address", "ftp://h"] {
        let error = HttpTransport::new(&through(proxy, "https://vendor.example/v1")).unwrap_err();
        assert_eq!(error, SetupError::Proxy, "{proxy}");
        assert!(error.hint().contains("NO_PROXY"));
    }
}
