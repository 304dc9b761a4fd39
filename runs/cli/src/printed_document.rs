//! What a command may print under `--json`.

use schemars::JsonSchema;
use serde::Serialize;

/// A document that a command prints, which the list of `documents` names: no other can be printed.
pub(crate) trait PrintedDocument: Serialize + JsonSchema {}
