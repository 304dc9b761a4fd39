//! HTTP/1.1 on loopback as far as the tests' own servers need it: one exchange a connection.

use ktd_baselines::ChatModel;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// A request or a reply.
pub(crate) struct Message {
    /// The lines before the body, without the empty one.
    pub head: String,
    pub body: Vec<u8>,
}

/// Hands every connection to a port of its own to `handle`, until the runtime ends.
pub(crate) async fn listen<F, Handled>(handle: F) -> SocketAddr
where
    F: Fn(TcpStream) -> Handled + Send + 'static,
    Handled: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(handle(stream));
        }
    });
    address
}

/// Reads a message whole; `None` when the other side goes away before its end.
pub(crate) async fn read_message(stream: &mut TcpStream) -> Option<Message> {
    let mut bytes = Vec::new();
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
            let lower = head.to_ascii_lowercase();
            let length = lower.split("content-length: ").nth(1);
            let length: usize = length.map_or(0, |rest| rest.lines().next().unwrap().trim().parse().unwrap());
            if end + 4 + length <= bytes.len() {
                let body = bytes[end + 4..end + 4 + length].to_vec();
                return Some(Message { head, body });
            }
        }
        let mut buffer = vec![0_u8; 16 * 1024];
        match stream.read(&mut buffer).await {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

/// A reply of this status with further header lines, each ended by a line break.
pub(crate) fn reply(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n");
    [head.as_bytes(), body].concat()
}

/// A good reply.
pub(crate) fn json_reply(body: &[u8]) -> Vec<u8> {
    reply("200 OK", "content-type: application/json\r\n", body)
}

/// Writes what the other side still takes.
pub(crate) async fn write(stream: &mut TcpStream, bytes: &[u8]) {
    // A client that gave up has closed its end.
    stream.write_all(bytes).await.ok();
    stream.shutdown().await.ok();
}

/// A Chat Completions server whose model is a built-in agent. It keeps what it is asked.
pub(crate) struct ModelServer {
    pub address: SocketAddr,
    heard: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl ModelServer {
    pub(crate) async fn start(model: Arc<dyn ChatModel>) -> Self {
        let heard = Arc::<Mutex<Vec<Vec<u8>>>>::default();
        let shared = Arc::clone(&heard);
        let address = listen(move |mut stream| {
            let (model, heard) = (Arc::clone(&model), Arc::clone(&shared));
            async move {
                let Some(request) = read_message(&mut stream).await else {
                    return;
                };
                heard.lock().unwrap().push(request.body.clone());
                write(&mut stream, &json_reply(&model.reply(&request.body))).await;
            }
        })
        .await;
        Self { address, heard }
    }

    /// The bodies asked so far, in order.
    pub(crate) fn heard(&self) -> Vec<Vec<u8>> {
        self.heard.lock().unwrap().clone()
    }
}
