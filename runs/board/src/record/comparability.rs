//! What a reader must hold equal before rows are compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an agent's runs were asked, and what they used. Of each setting every value that a run has, each once.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Comparability {
    /// When the model thinks.
    pub thinking: Vec<String>,
    /// Temperatures as the requests name them; `not sent` where a request leaves it to the provider.
    pub temperature: Vec<String>,
    /// Bounds on generated tokens as the requests name them.
    pub max_output_tokens: Vec<String>,
    /// Tool calls a step.
    pub max_tool_calls: Vec<String>,
    /// Submissions of a step that may be corrected.
    pub schema_retries: Vec<String>,
    /// Names of the models that answered, as the provider says.
    pub served_models: Vec<String>,
    /// How submissions are forced, as declared.
    pub force: Vec<String>,
    /// Tokens of requests and replies a step, a mean over runs, cut off; `null` where those of a run are not known.
    pub tokens_per_step: Option<u64>,
    /// US dollars a step, a mean over runs; `null` where those of a run are not known.
    pub paid_usd_per_step: Option<f64>,
    /// Settings in which its runs differ, and figures that are known of some runs alone.
    pub mixed: Vec<String>,
}
