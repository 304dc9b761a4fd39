//! What a vendor's endpoint accepts and how it spells it: a row of data, not code.

mod table;

pub use table::{DialectTable, TableError};

use crate::chat::{ChatRequest, Thinking};
use crate::force::{ForceLevel, ThinkingPolicy};
use crate::wire_format::Wire;
use crate::words::Words;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// One vendor, gateway or server. Every key has a default, so that a row says only what is peculiar.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dialect {
    /// What experiments call it.
    pub id: String,
    /// What people call it.
    pub name: String,
    /// The wires it speaks, the one to use first, each with its base URL; requests' paths are appended to that.
    pub endpoints: Vec<Endpoint>,
    /// How the key is sent.
    #[serde(default)]
    pub auth: Auth,
    /// Headers that every request needs, such as a version. Never a key.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Whether the server runs where the user says, so that there is no address to default to and a call that its
    /// parser lost is the server's fault.
    #[serde(default)]
    pub self_hosted: bool,
    /// The strongest forcing it honours.
    pub force: ForceLimits,
    /// What it takes as a reply format.
    #[serde(default)]
    pub json: JsonFormat,
    /// The member that bounds generated tokens on the Chat Completions wire.
    #[serde(default)]
    pub max_tokens: MaxTokens,
    /// Whether `parallel_tool_calls` may be sent.
    #[serde(default)]
    pub parallel_flag: bool,
    /// What is sent as a tool's `strict`; absent sends nothing. Where it is true, schemas are written in `OpenAI`'s
    /// strict subset: what was optional is required and may be null.
    #[serde(default)]
    pub strict_tools: Option<bool>,
    /// Whether a best-effort seed may be sent.
    #[serde(default)]
    pub seed: bool,
    /// What it does with a temperature.
    #[serde(default)]
    pub temperature: TemperatureLimits,
    /// How thinking is switched.
    #[serde(default)]
    pub thinking: ThinkingSwitch,
    /// Where reasoning comes and whether it must go back.
    #[serde(default)]
    pub reasoning: Reasoning,
    /// How its token counts are to be read, beyond what its wire fixes.
    #[serde(default)]
    pub usage: UsageLaws,
    /// Hints for its prompt cache.
    #[serde(default)]
    pub cache: CacheHints,
    /// Members that every request body gets.
    #[serde(default)]
    pub body: Map<String, Value>,
    /// Keys of this row that no document, error text or recorded reply confirms: probe before relying on them.
    #[serde(default)]
    pub unverified: Vec<String>,
    /// What else a user must know.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// A wire and its address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Endpoint {
    /// The wire.
    pub wire: Wire,
    /// Base URL; empty where the server runs where the user says.
    #[serde(default)]
    pub base_url: String,
    /// Other addresses of the same service, by region.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other_urls: BTreeMap<String, String>,
    /// What requests on this wire get instead of the row's `body`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Map<String, Value>>,
    /// How thinking is switched on this wire, instead of the row's `thinking`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<ThinkingSwitch>,
    /// Whether this wire takes a seed, instead of the row's `seed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<bool>,
    /// How the key is sent on this wire, instead of the row's `auth`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
}

impl Endpoint {
    /// A wire without an address and without peculiarities.
    #[must_use]
    pub const fn of(wire: Wire) -> Self {
        Self {
            wire,
            base_url: String::new(),
            other_urls: BTreeMap::new(),
            body: None,
            thinking: None,
            seed: None,
            auth: None,
        }
    }
}

/// How a key is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Auth {
    /// `Authorization: Bearer KEY`.
    #[default]
    Bearer,
    /// `x-api-key: KEY`.
    XApiKey,
    /// `x-goog-api-key: KEY`.
    XGoogApiKey,
}

/// The strongest force level that is honoured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ForceLimits {
    /// While the model thinks.
    pub thinking: ForceLevel,
    /// While it does not; absent where thinking cannot be switched off.
    #[serde(default)]
    pub plain: Option<ForceLevel>,
}

/// What is taken as a reply format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum JsonFormat {
    /// None.
    #[default]
    None,
    /// Some JSON object.
    Object,
    /// A JSON object of a given schema.
    Schema,
    /// A JSON object of a given schema in the vendor's strict mode, which makes the model keep to it.
    StrictSchema,
}

/// The member that bounds generated tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MaxTokens {
    /// `max_completion_tokens`.
    MaxCompletionTokens,
    /// `max_tokens`, which compatible servers know.
    #[default]
    MaxTokens,
}

/// What a temperature may be.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct TemperatureLimits {
    /// Least.
    pub min: f64,
    /// Most.
    pub max: f64,
    /// Whether `min` itself is refused.
    pub min_excluded: bool,
    /// Whether `max` itself is refused.
    pub max_excluded: bool,
    /// When any but the default is refused or does nothing; then none is sent.
    pub pinned: Pinned,
}

/// When a vendor takes no temperature but its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pinned {
    /// Never.
    #[default]
    Never,
    /// While the model thinks.
    WhileThinking,
    /// Always.
    Always,
}

impl Default for TemperatureLimits {
    fn default() -> Self {
        Self {
            min: 0.0,
            max: 2.0,
            min_excluded: false,
            max_excluded: false,
            pinned: Pinned::Never,
        }
    }
}

/// How thinking is switched: members that are merged into the body.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ThinkingSwitch {
    /// Whether the model thinks when nothing is requested.
    pub by_default: bool,
    /// What switches it on; absent where nothing does.
    pub on: Option<Map<String, Value>>,
    /// What switches it off; absent where nothing does.
    pub off: Option<Map<String, Value>>,
}

/// Where reasoning comes and whether it goes back.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Reasoning {
    /// Members of a Chat Completions message that hold reasoning, for people; turns always go back as they came.
    pub fields: Vec<String>,
    /// Whether a provider refuses a history in which its reasoning is missing.
    pub must_return: bool,
}

/// How token counts are read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct UsageLaws {
    /// Further JSON pointers, below `usage`, of the tokens read from the cache (part of the prompt's).
    pub cached: Vec<String>,
    /// JSON pointer, below `usage`, of what the provider charged, US dollars.
    pub cost: Option<String>,
    /// In words: what is inside what.
    pub law: String,
}

/// Hints for a prompt cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CacheHints {
    /// Send `prompt_cache_key`.
    pub key: bool,
    /// Mark the ends of tools, system prompt and conversation with `cache_control`.
    pub breakpoints: bool,
}

impl Dialect {
    /// A server of which nothing is known but that it speaks Chat Completions as `OpenAI` specifies it.
    #[must_use]
    pub fn plain() -> Self {
        Self {
            id: "compatible".to_owned(),
            name: "a compatible server".to_owned(),
            endpoints: Wire::ALL.map(Endpoint::of).to_vec(),
            auth: Auth::Bearer,
            headers: BTreeMap::new(),
            self_hosted: true,
            force: ForceLimits {
                thinking: ForceLevel::Named,
                plain: Some(ForceLevel::Named),
            },
            json: JsonFormat::Schema,
            max_tokens: MaxTokens::MaxCompletionTokens,
            parallel_flag: false,
            strict_tools: None,
            seed: true,
            temperature: TemperatureLimits::default(),
            thinking: ThinkingSwitch::default(),
            reasoning: Reasoning::default(),
            usage: UsageLaws::default(),
            cache: CacheHints::default(),
            body: Map::new(),
            unverified: ["force", "json", "seed"].map(str::to_owned).to_vec(),
            notes: vec!["What is spoken to when an experiment names no vendor.".to_owned()],
        }
    }

    /// The row as it is on one of its wires: that endpoint alone, with its peculiarities in the row's place.
    #[must_use]
    pub fn on(&self, wire: Wire) -> Option<Self> {
        let endpoint = self.endpoints.iter().find(|endpoint| endpoint.wire == wire)?;
        let mut row = self.clone();
        if let Some(body) = &endpoint.body {
            row.body.clone_from(body);
        }
        if let Some(thinking) = &endpoint.thinking {
            row.thinking.clone_from(thinking);
        }
        row.seed = endpoint.seed.unwrap_or(row.seed);
        row.auth = endpoint.auth.unwrap_or(row.auth);
        row.endpoints = vec![Endpoint {
            base_url: endpoint.base_url.clone(),
            other_urls: endpoint.other_urls.clone(),
            ..Endpoint::of(wire)
        }];
        Some(row)
    }

    /// Why a temperature cannot be asked of this vendor; `None` when it can.
    #[must_use]
    pub fn refuses_temperature(&self, value: f64) -> Option<String> {
        let limits = self.temperature;
        let is_below = value < limits.min || (limits.min_excluded && value <= limits.min);
        let is_above = limits.max < value || (limits.max_excluded && limits.max <= value);
        (!value.is_finite() || is_below || is_above).then(|| {
            let open = if limits.min_excluded { '(' } else { '[' };
            let close = if limits.max_excluded { ')' } else { ']' };
            format!("{open}{}, {}{close}", limits.min, limits.max)
        })
    }

    /// The temperature that is sent for `request`: what was asked for, unless the vendor refuses any but its default.
    pub(crate) fn temperature_for<W: Words>(&self, request: &ChatRequest<W>) -> Option<f64> {
        let thinks = match request.thinking {
            Thinking::VendorDefault => self.thinking.by_default,
            Thinking::On => true,
            Thinking::Off => false,
        };
        let is_pinned = match self.temperature.pinned {
            Pinned::Never => false,
            Pinned::WhileThinking => thinks,
            Pinned::Always => true,
        };
        request
            .sampling
            .temperature
            .filter(|value| value.is_finite() && !is_pinned)
    }

    /// The strongest force level under a thinking policy.
    #[must_use]
    pub fn strongest_force(&self, policy: ThinkingPolicy) -> ForceLevel {
        let thinks = match policy {
            ThinkingPolicy::VendorDefault => self.thinking.by_default,
            ThinkingPolicy::Always => true,
            ThinkingPolicy::Never | ThinkingPolicy::ThinkThenForce => false,
        };
        match self.force.plain {
            Some(plain) if !thinks => plain,
            _ => self.force.thinking,
        }
    }
}
