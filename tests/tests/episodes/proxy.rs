//! A proxy on loopback between `ktd` and a model that spoils replies, by a fixed schedule on the count of requests.

use super::wire_server::{Message, json_reply, listen, read_message, reply, write};
use futures::future::BoxFuture;
use ktd_agents::{
    Auth, HttpSettings, HttpTransport, ProxySettings, REPLY_BYTES_MAX, Transport, TransportError, WireReply,
    WireRequest,
};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

/// What the proxy does with one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Hands it on, and the reply back.
    Good,
    /// Hands the reply back a few bytes at a time.
    Trickle,
    /// Asks the model twice and hands the second reply back.
    AskTwice,
    /// Closes the connection in the middle of the body.
    Cut,
    /// Ends the body in the middle of the JSON as if that were its end.
    CutWhole,
    /// Closes the connection before any byte.
    HangUp,
    /// Answers with something that is not HTTP.
    Babble,
    /// Says that the body is compressed, which it is not.
    FalseCoding,
    /// No server listens at the address.
    Refuse,
    /// Never answers.
    Silence,
    /// Begins to answer and never ends.
    Stall,
    /// Sends the body twice in one reply.
    Double,
    /// Garbles bytes so that the body is not UTF-8.
    Garble,
    /// Garbles bytes so that the body is not JSON.
    Scramble,
    /// Sends more bytes than any answer needs.
    Flood,
    /// Answers by itself, with this status, these header lines and this body.
    Answer(&'static str, &'static str, &'static str, &'static str),
}

const HTML: &str = "<!doctype html><html><body>502 Bad Gateway</body></html>";
const ZERO: &str = r#"{"id":"z","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":null}}],"usage":{"prompt_tokens":9,"completion_tokens":0,"total_tokens":9}}"#;

/// Nothing said, nothing generated.
pub(crate) const ZERO_OUTPUT: Deed = Deed::Answer("zero_output", "200 OK", "", ZERO);

/// Every way to spoil an attempt.
pub(crate) const FAULTS: [Deed; 23] = [
    Deed::Cut,
    Deed::CutWhole,
    Deed::HangUp,
    Deed::Babble,
    Deed::FalseCoding,
    Deed::Refuse,
    Deed::Silence,
    Deed::Stall,
    Deed::Double,
    Deed::Garble,
    Deed::Scramble,
    Deed::Flood,
    Deed::Answer(
        "rate_limited",
        "429 Too Many Requests",
        "retry-after: 0\r\n",
        r#"{"error":{"message":"slow down","type":"rate_limit_error"}}"#,
    ),
    Deed::Answer(
        "rate_limited",
        "200 OK",
        "",
        r#"{"error":{"message":"slow down","code":429}}"#,
    ),
    Deed::Answer(
        "bad_gateway",
        "502 Bad Gateway",
        "content-type: text/html\r\n",
        HTML,
    ),
    Deed::Answer(
        "bad_gateway",
        "200 OK",
        "",
        r#"{"error":{"message":"Provider returned error","code":502}}"#,
    ),
    Deed::Answer(
        "overloaded",
        "529 Overloaded",
        "",
        r#"{"error":{"type":"overloaded_error","message":"overloaded"}}"#,
    ),
    Deed::Answer(
        "overloaded",
        "503 Service Unavailable",
        "",
        "upstream connect error",
    ),
    Deed::Answer(
        "server_error",
        "500 Internal Server Error",
        "",
        r#"{"error":{"message":"oops"}}"#,
    ),
    Deed::Answer("request_expired", "408 Request Timeout", "", ""),
    Deed::Answer(
        "empty_envelope",
        "200 OK",
        "",
        r#"{"id":"x","choices":[],"usage":null}"#,
    ),
    Deed::Answer("not_json", "200 OK", "content-type: text/html\r\n", HTML),
    ZERO_OUTPUT,
];

impl Deed {
    /// The name that the spoiled attempt must be counted under; `None` where it is not spoiled.
    pub(crate) const fn code(self) -> Option<&'static str> {
        match self {
            Self::Good | Self::Trickle | Self::AskTwice => None,
            Self::Cut | Self::HangUp | Self::Babble | Self::FalseCoding => Some("interrupted"),
            Self::CutWhole => Some("body_truncated"),
            Self::Refuse => Some("connect"),
            Self::Silence | Self::Stall => Some("timeout"),
            Self::Double | Self::Garble | Self::Scramble => Some("not_json"),
            Self::Flood => Some("reply_too_large"),
            Self::Answer(code, ..) => Some(code),
        }
    }
}

type Schedule = Arc<Mutex<VecDeque<Deed>>>;

/// The way to the model through the proxy, as a transport.
///
/// Only the schedule decides what times out: a client in a hurry sends the requests that get no answer, under a path
/// of their own, and a patient one sends all others. So no machine is too slow for the test, and none waits for long.
pub(crate) struct Proxied {
    schedule: Schedule,
    patient: HttpTransport,
    silence: HttpTransport,
    stall: HttpTransport,
    refuse: HttpTransport,
}

const PATIENCE: Duration = Duration::from_mins(5);
const HURRY: Duration = Duration::from_millis(50);

impl Proxied {
    /// A proxy before the model at `model`; after the schedule it is good.
    pub(crate) async fn start(model: SocketAddr, schedule: &[Deed]) -> Self {
        let schedule: Schedule = Arc::new(Mutex::new(schedule.iter().copied().collect()));
        let shared = Arc::clone(&schedule);
        let proxy = listen(move |stream| pass(stream, model, Arc::clone(&shared))).await;
        let nobody = TcpListener::bind("127.0.0.1:0")
            .await
            .unwrap()
            .local_addr()
            .unwrap();
        let client = |address: SocketAddr, path: &str, timeout| {
            HttpTransport::new(&HttpSettings {
                base_url: format!("http://{address}/{path}"),
                auth: Auth::Bearer,
                api_key: None,
                headers: BTreeMap::new(),
                secret_headers: Vec::new(),
                proxy: ProxySettings::default(),
                connect_timeout: timeout,
                timeout,
            })
            .unwrap()
        };
        Self {
            schedule,
            patient: client(proxy, "v1", PATIENCE),
            silence: client(proxy, "silence", HURRY),
            stall: client(proxy, "stall", HURRY),
            refuse: client(nobody, "v1", PATIENCE),
        }
    }

    /// How many deeds are still to come.
    pub(crate) fn to_come(&self) -> usize {
        self.schedule.lock().unwrap().len()
    }
}

impl Transport for Proxied {
    fn send<'a>(&'a self, request: &'a WireRequest) -> BoxFuture<'a, Result<WireReply, TransportError>> {
        let mut schedule = self.schedule.lock().unwrap();
        let client = match schedule.front() {
            Some(Deed::Silence) => &self.silence,
            Some(Deed::Stall) => &self.stall,
            Some(Deed::Refuse) => &self.refuse,
            _ => return self.patient.send(request),
        };
        schedule.pop_front();
        client.send(request)
    }
}

/// One request through the proxy.
async fn pass(mut stream: TcpStream, model: SocketAddr, schedule: Schedule) {
    let Some(request) = read_message(&mut stream).await else {
        return;
    };
    if request.head.starts_with("POST /silence/") {
        return std::future::pending().await;
    }
    if request.head.starts_with("POST /stall/") {
        let begun = json_reply(&[b' '; 64]);
        stream.write_all(&begun[..begun.len() - 32]).await.ok();
        return std::future::pending().await;
    }
    let deed = schedule.lock().unwrap().pop_front().unwrap_or(Deed::Good);
    match deed {
        Deed::HangUp => {}
        Deed::Babble => write(&mut stream, b"SSH-2.0-OpenSSH_9.6\r\n").await,
        Deed::Answer(_, status, headers, body) => {
            write(&mut stream, &reply(status, headers, body.as_bytes())).await;
        }
        Deed::Flood => write(&mut stream, &json_reply(&vec![b' '; REPLY_BYTES_MAX + 1])).await,
        Deed::Silence | Deed::Stall | Deed::Refuse => panic!("{deed:?} is not the proxy's"),
        Deed::Good
        | Deed::Trickle
        | Deed::AskTwice
        | Deed::Cut
        | Deed::CutWhole
        | Deed::FalseCoding
        | Deed::Double
        | Deed::Garble
        | Deed::Scramble => {
            if deed == Deed::AskTwice {
                ask(model, &request).await;
            }
            let body = ask(model, &request).await;
            hand_back(&mut stream, deed, body).await;
        }
    }
}

/// The model's body.
async fn ask(model: SocketAddr, request: &Message) -> Vec<u8> {
    let mut stream = TcpStream::connect(model).await.unwrap();
    let request = [request.head.as_bytes(), b"\r\n\r\n", &request.body].concat();
    stream.write_all(&request).await.unwrap();
    read_message(&mut stream).await.unwrap().body
}

/// Hands the model's body back, as the deed does it.
async fn hand_back(stream: &mut TcpStream, deed: Deed, mut body: Vec<u8>) {
    let middle = body.len() / 2;
    let bytes = match deed {
        Deed::Cut => {
            let whole = json_reply(&body);
            whole[..whole.len() - middle].to_vec()
        }
        Deed::CutWhole => json_reply(&body[..middle]),
        Deed::FalseCoding => reply("200 OK", "content-encoding: gzip\r\n", &body),
        Deed::Double => json_reply(&[body.as_slice(), &body].concat()),
        Deed::Garble => {
            body[middle] = 0xff;
            json_reply(&body)
        }
        Deed::Scramble => {
            let brace = body.iter().rposition(|byte| *byte == b'{').unwrap();
            body[brace] = b']';
            json_reply(&body)
        }
        _ => json_reply(&body),
    };
    if deed == Deed::Trickle {
        for few in bytes.chunks(97) {
            stream.write_all(few).await.unwrap();
            stream.flush().await.unwrap();
        }
        return write(stream, b"").await;
    }
    write(stream, &bytes).await;
}
