//! A vendor of models on loopback: HTTP/1.1 as far as tests need it.

use ktd_baselines::ChatModel;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Result, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A request, or the message that answers one.
#[derive(Debug, Clone)]
pub struct Message {
    /// The lines before the body, without the empty one.
    pub head: String,
    /// The body, as long as the head says.
    pub body: Vec<u8>,
}

impl Message {
    /// The path of a request's address.
    #[must_use]
    pub fn path(&self) -> &str {
        self.head.split(' ').nth(1).unwrap()
    }

    /// Reads a message whole; `None` where the other side has gone away before its end.
    ///
    /// # Errors
    ///
    /// What reading from the other side comes to.
    pub fn read(reader: &mut impl BufRead) -> Result<Option<Self>> {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(None);
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length: ") {
                length = value.trim().parse().unwrap();
            }
            if line.trim_end().is_empty() {
                break;
            }
            head.push_str(&line);
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        Ok(Some(Self {
            head: head.trim_end().to_owned(),
            body,
        }))
    }
}

/// What becomes of a connection when a request has been dealt with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// It is kept for the next request.
    Keep,
    /// It is closed.
    Close,
}

/// A vendor on a port of its own, until the process ends. It keeps what it is sent.
#[derive(Debug)]
pub struct Vendor {
    /// Where it listens.
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<Message>>>,
}

impl Vendor {
    /// A vendor that deals with each request in this way, each connection in a thread of its own.
    #[must_use]
    pub fn new<F>(handle: F) -> Self
    where
        F: Fn(&Message, &mut TcpStream) -> Result<Then> + Send + Sync + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::<Mutex<Vec<Message>>>::default();
        let (log, handle) = (Arc::clone(&requests), Arc::new(handle));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (log, handle) = (Arc::clone(&log), Arc::clone(&handle));
                // A client that dies closes its connection; that ends the thread, and is no fault of the vendor.
                std::thread::spawn(move || serve(&stream.unwrap(), &log, handle.as_ref()).ok());
            }
        });
        Self { address, requests }
    }

    /// A vendor of Chat Completions whose model is a built-in agent. It numbers replies in its own way, for a record with
    /// those of a built-in agent is no vendor's.
    #[must_use]
    pub fn of_model(model: Arc<dyn ChatModel>) -> Self {
        Self::new(move |request, stream| {
            let reply = String::from_utf8_lossy(&model.reply(&request.body)).replace("builtin-", "replied-");
            stream.write_all(&json_reply(reply.as_bytes()))?;
            Ok(Then::Keep)
        })
    }

    /// A vendor of Chat Completions that answers a request's body with these bytes of a reply.
    #[must_use]
    pub fn answering<F>(answer: F) -> Self
    where
        F: Fn(&Value) -> Vec<u8> + Send + Sync + 'static,
    {
        Self::new(move |request, stream| {
            let request: Value = serde_json::from_slice(&request.body).unwrap();
            stream.write_all(&answer(&request))?;
            Ok(Then::Keep)
        })
    }

    /// The address that an experiment names.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The requests so far, in the order in which they came.
    #[must_use]
    pub fn requests(&self) -> Vec<Message> {
        self.requests.lock().unwrap().clone()
    }

    /// How many requests there were so far.
    #[must_use]
    pub fn count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

/// One connection, one request after the other.
fn serve(
    mut stream: &TcpStream,
    log: &Mutex<Vec<Message>>,
    handle: &dyn Fn(&Message, &mut TcpStream) -> Result<Then>,
) -> Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut writer = stream.try_clone()?;
    while let Some(request) = Message::read(&mut reader)? {
        log.lock().unwrap().push(request.clone());
        if handle(&request, &mut writer)? == Then::Close {
            break;
        }
    }
    stream.flush()?;
    stream.shutdown(std::net::Shutdown::Write)
}

/// A reply of this status with further header lines, each ended by a line break.
#[must_use]
pub fn reply(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// A good reply.
#[must_use]
pub fn json_reply(body: &[u8]) -> Vec<u8> {
    reply("200 OK", "content-type: application/json\r\n", body)
}

/// The reply of a model that says this, 10 tokens read and 5 written.
#[must_use]
pub fn said(text: &str) -> Vec<u8> {
    ended(text, "stop", (10, 5))
}

/// The reply of a model that says this and ends for this reason, with the tokens that it read and wrote.
#[must_use]
pub fn ended(text: &str, reason: &str, tokens: (u64, u64)) -> Vec<u8> {
    turn(&json!({"role": "assistant", "content": text}), reason, tokens)
}

/// The reply of a model that calls a tool, with the tokens that it read and wrote.
#[must_use]
pub fn called(tool: &str, arguments: &Value, tokens: (u64, u64)) -> Vec<u8> {
    let call = json!({"name": tool, "arguments": arguments.to_string()});
    let call = json!({"id": "c1", "type": "function", "function": call});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    turn(&message, "tool_calls", tokens)
}

fn turn(message: &Value, reason: &str, (read, written): (u64, u64)) -> Vec<u8> {
    let usage = json!({"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written});
    let body = json!({"choices": [{"message": message, "finish_reason": reason}], "usage": usage});
    json_reply(body.to_string().as_bytes())
}
