//! A proxy on loopback between `ktd` and a model that spoils replies, by a fixed schedule on the count of requests.

use futures::future::BoxFuture;
use ktd_agents::{
    Auth, HttpSettings, HttpTransport, ProxySettings, REPLY_BYTES_MAX, Transport, TransportError, WireReply,
    WireRequest,
};
use ktd_kit::Vendor;
use ktd_kit::vendor::{Message, Then, json_reply, reply};
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufReader, Read, Write};
use std::net::SocketAddr;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

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
    pub(crate) fn start(model: SocketAddr, schedule: &[Deed]) -> Self {
        let schedule: Schedule = Arc::new(Mutex::new(schedule.iter().copied().collect()));
        let shared = Arc::clone(&schedule);
        let proxy = Vendor::new(move |request, stream| {
            pass(request, stream, model, &shared)?;
            Ok(Then::Close)
        })
        .address;
        let nobody = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
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

/// One request through the proxy; the connection ends with it.
fn pass(
    request: &Message,
    stream: &mut TcpStream,
    model: SocketAddr,
    schedule: &Mutex<VecDeque<Deed>>,
) -> std::io::Result<()> {
    if request.path().starts_with("/silence/") {
        return until_closed(stream);
    }
    if request.path().starts_with("/stall/") {
        let begun = json_reply(&[b' '; 64]);
        stream.write_all(&begun[..begun.len() - 32])?;
        return until_closed(stream);
    }
    let deed = schedule.lock().unwrap().pop_front().unwrap_or(Deed::Good);
    match deed {
        Deed::HangUp => Ok(()),
        Deed::Babble => stream.write_all(b"SSH-2.0-OpenSSH_9.6\r\n"),
        Deed::Answer(_, status, headers, body) => {
            stream.write_all(&last_reply(status, headers, body.as_bytes()))
        }
        Deed::Flood => stream.write_all(&last_json_reply(&vec![b' '; REPLY_BYTES_MAX + 1])),
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
                ask(model, request);
            }
            let body = ask(model, request);
            hand_back(stream, deed, body)
        }
    }
}

/// Waits for the client to give up.
fn until_closed(stream: &mut TcpStream) -> std::io::Result<()> {
    stream.read(&mut [0]).map(|_| ())
}

/// A reply after which the connection is closed.
fn last_reply(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    reply(status, &format!("{headers}connection: close\r\n"), body)
}

/// A good reply after which the connection is closed.
fn last_json_reply(body: &[u8]) -> Vec<u8> {
    last_reply("200 OK", "content-type: application/json\r\n", body)
}

/// The model's body.
fn ask(model: SocketAddr, request: &Message) -> Vec<u8> {
    let mut stream = TcpStream::connect(model).unwrap();
    let request = [request.head.as_bytes(), b"\r\n\r\n", &request.body].concat();
    stream.write_all(&request).unwrap();
    let answer = Message::read(&mut BufReader::new(stream)).unwrap();
    answer.unwrap().body
}

/// Hands the model's body back, as the deed does it.
fn hand_back(stream: &mut TcpStream, deed: Deed, mut body: Vec<u8>) -> std::io::Result<()> {
    let middle = body.len() / 2;
    let bytes = match deed {
        Deed::Cut => {
            let whole = last_json_reply(&body);
            whole[..whole.len() - middle].to_vec()
        }
        Deed::CutWhole => last_json_reply(&body[..middle]),
        Deed::FalseCoding => last_reply("200 OK", "content-encoding: gzip\r\n", &body),
        Deed::Double => last_json_reply(&[body.as_slice(), &body].concat()),
        Deed::Garble => {
            body[middle] = 0xff;
            last_json_reply(&body)
        }
        Deed::Scramble => {
            let brace = body.iter().rposition(|byte| *byte == b'{').unwrap();
            body[brace] = b']';
            last_json_reply(&body)
        }
        _ => last_json_reply(&body),
    };
    let step = if deed == Deed::Trickle { 97 } else { bytes.len() };
    for few in bytes.chunks(step) {
        stream.write_all(few)?;
        stream.flush()?;
    }
    Ok(())
}
