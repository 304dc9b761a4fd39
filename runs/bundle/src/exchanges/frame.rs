//! One record of the store as a zstd frame with a checksum.

use super::{Intent, Outcome, Place};
use serde::{Deserialize, Serialize};

const COMPRESSION_LEVEL: i32 = 3;
/// A record larger than this is no record: the largest reply is a few megabytes.
const MAX_RECORD_BYTES: usize = 256 << 20;
const MAGIC: [u8; 4] = 0xfd2f_b528_u32.to_le_bytes();

/// What a frame holds.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Frame {
    /// Before a request is sent.
    Intent(Intent),
    /// After it.
    Outcome(Settled),
}

/// What came back for the last intent of a place.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Settled {
    pub(super) at: Place,
    pub(super) outcome: Outcome,
}

impl Frame {
    /// The frame's bytes.
    pub(super) fn to_bytes(&self) -> std::io::Result<Vec<u8>> {
        let json = serde_json::to_vec(self)?;
        let mut compressor = zstd::bulk::Compressor::new(COMPRESSION_LEVEL)?;
        compressor.include_checksum(true)?;
        compressor.compress(&json)
    }

    /// What the bytes of one whole frame hold, or what is wrong with them.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let json = zstd::bulk::decompress(bytes, MAX_RECORD_BYTES).map_err(|error| error.to_string())?;
        serde_json::from_slice(&json).map_err(|error| error.to_string())
    }
}

/// The first frame of some bytes, unless it is torn or its block headers were changed.
pub(super) fn first_frame(bytes: &[u8]) -> Option<&[u8]> {
    let size = zstd::zstd_safe::find_frame_compressed_size(bytes).ok()?;
    bytes.get(..size)
}

/// Whether a whole record stands somewhere after the first byte: only the last frame of a store can be torn, and
/// cutting off a damaged one in its middle would throw away replies that were paid for.
pub(super) fn has_later_record(bytes: &[u8]) -> bool {
    (1..bytes.len())
        .filter_map(|start| bytes.get(start..))
        .filter(|rest| rest.starts_with(&MAGIC))
        .any(|rest| first_frame(rest).is_some_and(|frame| Frame::parse(frame).is_ok()))
}
