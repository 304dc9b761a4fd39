//! One recorded exchange and its reading.

use super::asked::Asked;
use ktd_agents::{Dialect, DialectTable, Expected, ModelTurn, ReplyFault, Verdict, Wire};
use serde::Deserialize;
use serde_json::Value;

/// A recorded exchange. Other members of its line are left aside.
#[derive(Debug, Deserialize)]
pub struct Exchange {
    /// Who answered; a row of the table of dialects, else the plain one is taken.
    #[serde(default)]
    pub vendor: String,
    /// What the recording calls it.
    #[serde(default)]
    pub scenario: String,
    /// The request's path, which tells the wire.
    pub path: String,
    /// The request's body.
    #[serde(default)]
    pub request: Value,
    /// HTTP status.
    pub status: u16,
    /// The reply's body: text, or the JSON itself.
    pub body: Value,
}

/// A recorded exchange as a run would read it.
#[derive(Debug)]
pub struct Reading {
    /// The exchange.
    pub exchange: Exchange,
    /// The wire its path tells; `None` for a path of none.
    pub wire: Option<Wire>,
    /// The turn or the fault; `None` without a wire.
    pub reply: Option<Result<ModelTurn, ReplyFault>>,
    /// Which of the six outcomes it is; `None` without a wire.
    pub verdict: Option<Verdict>,
}

/// Other names of rows in recordings.
const ALIASES: [(&str, &str); 5] = [
    ("gemini", "google"),
    ("kimi", "moonshot"),
    ("glm", "zhipu"),
    ("llama.cpp", "llamacpp"),
    ("zai", "zhipu"),
];

impl Exchange {
    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn read(line: &[u8]) -> Result<Self, String> {
        serde_json::from_slice(line).map_err(|error| error.to_string())
    }

    /// Reads the reply as a run would.
    #[must_use]
    pub fn judge(self, table: &DialectTable) -> Reading {
        let Some(wire) = Wire::of_path(&self.path) else {
            return Reading {
                exchange: self,
                wire: None,
                reply: None,
                verdict: None,
            };
        };
        let dialect = dialect_of(&self.vendor, wire, table);
        let body = self
            .body
            .as_str()
            .map_or_else(|| self.body.to_string(), str::to_owned);
        let asked = Asked::read(wire, &self.request);
        let tools: Vec<&str> = asked.tools.iter().map(String::as_str).collect();
        let expected = Expected {
            tools: &tools,
            forced: asked.forced,
            submission: asked.wanted.as_deref(),
            self_hosted: dialect.self_hosted,
        };
        let reply = wire.decode(self.status, body.as_bytes(), &dialect);
        let verdict = Verdict::of(reply.as_ref(), &expected);
        Reading {
            exchange: self,
            wire: Some(wire),
            reply: Some(reply),
            verdict: Some(verdict),
        }
    }
}

fn dialect_of(vendor: &str, wire: Wire, table: &DialectTable) -> Dialect {
    let vendor = vendor.to_ascii_lowercase();
    let alias = ALIASES
        .iter()
        .find(|(name, _)| *name == vendor)
        .map(|(_, id)| *id);
    let row = table.find(alias.unwrap_or(&vendor));
    row.map_or_else(Dialect::plain, |row| row.on(wire).unwrap_or_else(|| row.clone()))
}
