//! Every request and reply of an episode, one zstd frame a record.
//!
//! A record is written whole before anything depends on it, so a reply once received is never asked for again.
//! Killed in the middle of a frame, the torn frame is cut off when the store is opened again.

use crate::bundle::chain::{first_difference, sha256_hex};
use crate::error::RunError;
use ktd_agents::{TransportError, WireReply, WireRequest};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

const COMPRESSION_LEVEL: i32 = 3;
/// A record larger than this is no record: the largest reply is a few megabytes.
const MAX_RECORD_BYTES: usize = 256 << 20;

/// Which request of an episode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// 1-based step.
    pub step: usize,
    /// 0-based request of the step.
    pub ordinal: u32,
    /// 0-based attempt at the same request; an infrastructure fault adds one.
    pub attempt: u32,
}

/// What came back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// A complete reply.
    Reply {
        /// HTTP status.
        status: u16,
        /// Allow-listed headers.
        headers: BTreeMap<String, String>,
        /// The body, when it is UTF-8.
        #[serde(skip_serializing_if = "Option::is_none")]
        body: Option<String>,
        /// The body's bytes in hexadecimal, when it is not.
        #[serde(skip_serializing_if = "Option::is_none")]
        body_hex: Option<String>,
    },
    /// No complete reply.
    Failed {
        /// The stable name of the failure.
        code: String,
        /// Whether sending it again may help.
        retryable: bool,
        /// What was said.
        detail: String,
    },
}

/// One request with what came back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// Which request.
    pub at: Place,
    /// SHA-256 of path and canonical JSON (RFC 8785) of the request.
    pub key: String,
    /// The path below the provider's base URL.
    pub path: String,
    /// The request's exact body.
    pub request: String,
    /// What came back.
    pub outcome: Outcome,
}

/// The key of a request: SHA-256 of its path and its canonical JSON.
#[must_use]
pub fn request_key(request: &WireRequest) -> String {
    let canonical = serde_json::from_slice::<serde_json::Value>(request.body())
        .ok()
        .and_then(|value| serde_json_canonicalizer::to_vec(&value).ok())
        .unwrap_or_else(|| request.body().to_vec());
    let mut bytes = request.path().as_bytes().to_vec();
    bytes.push(b'\n');
    bytes.extend(canonical);
    sha256_hex(&bytes)
}

impl Outcome {
    /// Keeps what a transport returned.
    #[must_use]
    pub fn of(result: &Result<WireReply, TransportError>) -> Self {
        match result {
            Ok(reply) => {
                let text = String::from_utf8(reply.body.clone()).ok();
                let hex = text.is_none().then(|| ktd_masking::hex(&reply.body));
                let headers = reply.headers.clone();
                Self::Reply {
                    status: reply.status,
                    headers,
                    body: text,
                    body_hex: hex,
                }
            }
            Err(error) => Self::Failed {
                code: error.code().to_owned(),
                retryable: error.is_retryable(),
                detail: error.to_string(),
            },
        }
    }

    /// The reply again, if it was one.
    #[must_use]
    pub fn reply(&self) -> Option<WireReply> {
        match self {
            Self::Reply {
                status,
                headers,
                body,
                body_hex,
            } => {
                let bytes = match (body, body_hex) {
                    (Some(text), _) => text.clone().into_bytes(),
                    (None, Some(hex)) => unhex(hex),
                    (None, None) => Vec::new(),
                };
                let mut reply = WireReply::new(*status, bytes);
                reply.headers.clone_from(headers);
                Some(reply)
            }
            Self::Failed { .. } => None,
        }
    }
}

fn unhex(text: &str) -> Vec<u8> {
    let digit = |byte: &u8| {
        char::from(*byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    text.as_bytes()
        .chunks(2)
        .filter_map(|pair| match pair {
            [high, low] => Some((digit(high)? << 4) | digit(low)?),
            _ => None,
        })
        .collect()
}

/// The recorded exchanges of an episode, by place.
#[derive(Debug, Clone, Default)]
pub struct Cassette {
    records: BTreeMap<Place, Record>,
    /// Bytes of complete frames; what follows is torn.
    whole_bytes: u64,
}

impl Cassette {
    /// Reads a store. A torn last frame is left out; a missing file is an empty cassette.
    ///
    /// # Errors
    /// [`RunError::Io`], or [`RunError::Damaged`] for a complete frame that does not hold a record.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(RunError::io("read", path)(error)),
        };
        let mut cassette = Self::default();
        let mut at = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            // The size is read from block headers; it fails when the frame is torn, or when it was changed.
            let Ok(size) = zstd::zstd_safe::find_frame_compressed_size(rest) else {
                if has_later_record(rest) {
                    let what = format!("the record at byte {at} is damaged, and others follow it");
                    return Err(RunError::damaged(path, what));
                }
                break;
            };
            let frame = rest.get(..size).unwrap_or_default();
            let record = read_frame(frame)
                .map_err(|what| RunError::damaged(path, format!("the record at byte {at}: {what}")))?;
            if cassette.records.insert(record.at, record).is_some() {
                return Err(RunError::damaged(
                    path,
                    format!("the record at byte {at} stands twice"),
                ));
            }
            at += size;
        }
        cassette.whole_bytes = u64::try_from(at).unwrap_or(u64::MAX);
        Ok(cassette)
    }

    /// The record at a place, whose request must be the one asked now.
    ///
    /// # Errors
    /// [`RunError::RequestDiffers`] with the first difference.
    pub fn find(&self, at: Place, key: &str, request: &WireRequest) -> Result<Option<&Record>, RunError> {
        let Some(record) = self.records.get(&at) else {
            return Ok(None);
        };
        if record.key == key {
            return Ok(Some(record));
        }
        let now = String::from_utf8_lossy(request.body());
        let difference = first_difference(&record.request, &now);
        Err(RunError::RequestDiffers {
            step: at.step,
            ordinal: at.ordinal,
            difference,
        })
    }

    /// Whether an answer of a request is recorded: its reply's SHA-256 is the one given.
    #[must_use]
    pub fn has_reply(&self, step: usize, ordinal: u32, reply: &str) -> bool {
        let place = |attempt| Place {
            step,
            ordinal,
            attempt,
        };
        self.records
            .range(place(0)..=place(u32::MAX))
            .filter_map(|(_, record)| record.outcome.reply())
            .any(|recorded| sha256_hex(&recorded.body) == reply)
    }

    /// Whether an attempt at a request is recorded.
    #[must_use]
    pub fn has_attempt(&self, at: Place) -> bool {
        self.records.contains_key(&at)
    }

    /// All records, in order.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.records.values()
    }

    /// How many records there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }
}

/// Whether a whole record stands somewhere after the first byte: only the last frame of a store can be torn, and
/// cutting off a damaged one in its middle would throw away replies that were paid for.
fn has_later_record(bytes: &[u8]) -> bool {
    const FRAME_MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();
    (1..bytes.len())
        .filter_map(|start| bytes.get(start..))
        .filter(|rest| rest.starts_with(&FRAME_MAGIC))
        .any(|rest| {
            zstd::zstd_safe::find_frame_compressed_size(rest)
                .ok()
                .and_then(|size| rest.get(..size))
                .is_some_and(|frame| read_frame(frame).is_ok())
        })
}

fn read_frame(frame: &[u8]) -> Result<Record, String> {
    let bytes = zstd::bulk::decompress(frame, MAX_RECORD_BYTES).map_err(|error| error.to_string())?;
    serde_json::from_slice(&bytes).map_err(|error| error.to_string())
}

/// An open store that records are appended to.
#[derive(Debug)]
pub struct ExchangeStore {
    path: PathBuf,
    file: File,
}

impl ExchangeStore {
    /// Opens a store to continue it after what `cassette` read.
    ///
    /// # Errors
    /// [`RunError::Io`] when it cannot be opened or its torn end cannot be cut off.
    pub fn continue_after(path: &Path, cassette: &Cassette) -> Result<Self, RunError> {
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .map_err(RunError::io("open", path))?;
        if file.metadata().map_err(RunError::io("read", path))?.len() != cassette.whole_bytes {
            file.set_len(cassette.whole_bytes)
                .map_err(RunError::io("cut the torn end of", path))?;
        }
        Ok(Self {
            path: path.to_owned(),
            file,
        })
    }

    /// Appends a record in one write.
    ///
    /// # Errors
    /// [`RunError::Io`].
    pub fn append(&mut self, record: &Record) -> Result<(), RunError> {
        let json = serde_json::to_vec(record)
            .map_err(|error| RunError::damaged(&self.path, format!("a record cannot be written: {error}")))?;
        let frame = compress(&json).map_err(RunError::io("compress a record of", &self.path))?;
        self.file
            .write_all(&frame)
            .map_err(RunError::io("write", &self.path))
    }
}

fn compress(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut compressor = zstd::bulk::Compressor::new(COMPRESSION_LEVEL)?;
    compressor.include_checksum(true)?;
    compressor.compress(bytes)
}
