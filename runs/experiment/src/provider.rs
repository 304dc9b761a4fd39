//! An agent's endpoint as it will be spoken to: wire, dialect, force level and thinking, all decided before day one.

use crate::ExperimentError;
use crate::agent::{AgentConfig, AgentKind, ModelAgent};
pub use ktd_agents::ForceLevel;
use ktd_agents::{Dialect, DialectTable, Endpoint, ThinkingPolicy, Wire};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How an agent's model is spoken to. It stands in the header whole, so that a bundle replays with the dialect it was
/// made with.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// The wire.
    pub wire: Wire,
    /// The address that requests' paths are appended to; empty for a built-in agent.
    pub base_url: String,
    /// How submissions are forced, as declared.
    pub force: ForceLevel,
    /// When the model thinks.
    pub thinking: ThinkingPolicy,
    /// What the endpoint accepts and how it spells it, on this wire.
    pub dialect: Dialect,
}

/// The table of dialects without an experiment's own rows.
///
/// # Errors
/// [`ExperimentError::Input`] only when the program itself is broken.
pub fn builtin_table() -> Result<DialectTable, ExperimentError> {
    DialectTable::builtin().map_err(|error| ExperimentError::input(error.to_string(), error.hint()))
}

/// The table of dialects with vendors of one's own, which go before rows of the same id.
///
/// # Errors
/// [`ExperimentError::Input`] for a row that cannot be used.
pub fn table_with(own: &[Dialect]) -> Result<DialectTable, ExperimentError> {
    let refused = |error: ktd_agents::TableError| ExperimentError::input(error.to_string(), error.hint());
    let own = DialectTable::of(own.to_vec()).map_err(refused)?;
    Ok(own.before(builtin_table()?))
}

/// The row of an agent that names no vendor.
const DEFAULT_VENDOR: &str = "compatible";

impl Provider {
    /// The provider of an agent.
    ///
    /// # Errors
    /// [`ExperimentError::Input`] for a vendor, wire or region that there is not, a force level stronger than the endpoint
    /// honours, thinking that it cannot switch, and a temperature that it refuses.
    pub fn of(agent: &AgentConfig, table: &DialectTable) -> Result<Self, ExperimentError> {
        match &agent.kind {
            AgentKind::Model(model) => of_endpoint(&agent.id, model, table),
            // Whoever answers here has no address, and what a plain endpoint of that wire honours.
            AgentKind::Builtin(builtin) => {
                let model = ModelAgent {
                    force: builtin.force,
                    ..ModelAgent::default()
                };
                resolved(&agent.id, &model, table)
            }
            AgentKind::Control(_) => resolved(&agent.id, &ModelAgent::default(), table),
            AgentKind::Program(_) | AgentKind::Client(_) => Ok(outside()),
        }
    }
}

/// The provider of a model behind an endpoint, which has an address.
fn of_endpoint(id: &str, model: &ModelAgent, table: &DialectTable) -> Result<Provider, ExperimentError> {
    let provider = resolved(id, model, table)?;
    if provider.base_url.is_empty() {
        let what = format!("agent {id:?} has no address");
        return Err(ExperimentError::input(
            what,
            "write base_url = \"http://127.0.0.1:8000/v1\"",
        ));
    }
    Ok(provider)
}

/// What the vendor's row makes of an agent's settings.
fn resolved(id: &str, model: &ModelAgent, table: &DialectTable) -> Result<Provider, ExperimentError> {
    let row = row(id, model, table)?;
    let (endpoint, dialect) = endpoint(id, model, row)?;
    let thinking = model.thinking.unwrap_or_default();
    check_thinking(id, &dialect, thinking)?;
    if let Some(range) = model
        .temperature
        .and_then(|value| dialect.refuses_temperature(value))
    {
        let what = format!("agent {id:?}: the temperature is not within {range}");
        let hint = format!(
            "{} takes no other; leave `temperature` out for its default",
            dialect.name
        );
        return Err(ExperimentError::input(what, hint));
    }
    Ok(Provider {
        wire: endpoint.wire,
        base_url: base_url(id, model, &endpoint)?,
        force: force(id, model.force, &dialect, thinking)?,
        thinking,
        dialect,
    })
}

/// How an outside agent is asked. No model server's parser is in between, so that all it says is its own.
fn outside() -> Provider {
    let dialect = Dialect {
        id: "outside-agent".to_owned(),
        name: "the bridge to an outside agent".to_owned(),
        self_hosted: false,
        ..Dialect::plain()
    };
    Provider {
        wire: Wire::ChatCompletions,
        base_url: String::new(),
        force: ForceLevel::Named,
        thinking: ThinkingPolicy::default(),
        dialect,
    }
}

fn row<'a>(id: &str, model: &ModelAgent, table: &'a DialectTable) -> Result<&'a Dialect, ExperimentError> {
    let vendor = model.vendor.as_deref().unwrap_or(DEFAULT_VENDOR);
    table.find(vendor).ok_or_else(|| {
        let known: Vec<&str> = table.rows().iter().map(|row| row.id.as_str()).collect();
        let what = format!("agent {id:?}: there is no vendor {vendor:?}");
        let hint = format!(
            "it is one of {}, or a row of your own under [[dialects]]",
            known.join(", ")
        );
        ExperimentError::input(what, hint)
    })
}

/// The endpoint of the agent's wire, and the row as it is there.
fn endpoint(id: &str, model: &ModelAgent, row: &Dialect) -> Result<(Endpoint, Dialect), ExperimentError> {
    let wire = model
        .wire
        .or_else(|| row.endpoints.first().map(|endpoint| endpoint.wire));
    let dialect = wire.and_then(|wire| row.on(wire));
    let found = dialect.and_then(|dialect| Some((dialect.endpoints.first()?.clone(), dialect)));
    found.ok_or_else(|| {
        let known: Vec<&str> = row
            .endpoints
            .iter()
            .map(|endpoint| endpoint.wire.label())
            .collect();
        let asked = wire.map_or("none", Wire::label);
        let what = format!("agent {id:?}: {} does not speak the wire {asked}", row.name);
        ExperimentError::input(what, format!("it speaks {}", known.join(", ")))
    })
}

fn base_url(id: &str, model: &ModelAgent, endpoint: &Endpoint) -> Result<String, ExperimentError> {
    let of_region = |region: &String| {
        endpoint.other_urls.get(region).cloned().ok_or_else(|| {
            let known: Vec<&str> = endpoint.other_urls.keys().map(String::as_str).collect();
            let what = format!("agent {id:?}: there is no region {region:?}");
            ExperimentError::input(what, format!("there are: {}", known.join(", ")))
        })
    };
    match (&model.base_url, &model.region) {
        (Some(url), _) => Ok(url.clone()),
        (None, Some(region)) => of_region(region),
        (None, None) => Ok(endpoint.base_url.clone()),
    }
}

fn check_thinking(id: &str, dialect: &Dialect, policy: ThinkingPolicy) -> Result<(), ExperimentError> {
    let switch = &dialect.thinking;
    let cannot = match policy {
        ThinkingPolicy::VendorDefault => None,
        ThinkingPolicy::Always => (switch.on.is_none() && !switch.by_default).then_some("on"),
        ThinkingPolicy::Never => (switch.off.is_none() && switch.by_default).then_some("off"),
        ThinkingPolicy::ThinkThenForce => (switch.off.is_none()).then_some("off"),
    };
    let Some(way) = cannot else {
        return Ok(());
    };
    let what = format!(
        "agent {id:?}: thinking cannot be switched {way} at {}",
        dialect.name
    );
    Err(ExperimentError::input(
        what,
        "write thinking = \"vendor-default\", or a row of your own with `thinking`",
    ))
}

fn force(
    id: &str,
    declared: Option<ForceLevel>,
    dialect: &Dialect,
    policy: ThinkingPolicy,
) -> Result<ForceLevel, ExperimentError> {
    let strongest = dialect.strongest_force(policy);
    let force = declared.unwrap_or(strongest);
    if strongest <= force {
        return Ok(force);
    }
    let what = format!(
        "agent {id:?}: force level {force} is declared, but {} honours {strongest} at most",
        dialect.name
    );
    let switchable =
        dialect.force.plain.is_some_and(|plain| plain <= force) && dialect.thinking.off.is_some();
    let hint = if switchable {
        format!("write force = \"{strongest}\", or thinking = \"think-then-force\"")
    } else {
        format!("write force = \"{strongest}\"")
    };
    Err(ExperimentError::input(what, hint))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ExperimentConfig;

    fn provider(agent: &str) -> Result<Provider, String> {
        let text = format!(
            "name = \"x\"\nwindows = [{{ id = \"w\", last_days = 2 }}]\nagents = [{{ id = \"a\", {agent} }}]\n"
        );
        let config = ExperimentConfig::parse(&text).map_err(|error| error.to_string())?;
        let table = config.dialect_table().unwrap();
        Provider::of(&config.agents[0], &table).map_err(|error| format!("{error} | {}", error.hint()))
    }

    #[test]
    fn a_vendors_row_decides_what_is_not_said() {
        let deepseek = provider("model = \"m\", vendor = \"deepseek\"").unwrap();
        assert_eq!(
            (deepseek.force, deepseek.wire),
            (ForceLevel::Auto, Wire::ChatCompletions)
        );
        assert_eq!(deepseek.base_url, "https://api.deepseek.com");
        let forced =
            provider("model = \"m\", vendor = \"deepseek\", thinking = \"think-then-force\"").unwrap();
        assert_eq!(forced.force, ForceLevel::Named);
        let openai = provider("model = \"m\", vendor = \"openai\", wire = \"chat-completions\"").unwrap();
        assert_eq!(openai.dialect.endpoints.len(), 1);
        let abroad = provider("model = \"m\", vendor = \"zhipu\", region = \"intl\"").unwrap();
        assert!(abroad.base_url.contains("z.ai"));
    }

    #[test]
    fn what_a_vendor_does_not_take_is_told_before_the_run() {
        for (agent, part) in [
            ("model = \"m\", vendor = \"acme\"", "no vendor \"acme\""),
            (
                "model = \"m\", vendor = \"deepseek\", force = \"F0\"",
                "think-then-force",
            ),
            (
                "model = \"m\", vendor = \"zhipu\", force = \"F1\"",
                "honours F2 at most",
            ),
            (
                "model = \"m\", vendor = \"minimax\", thinking = \"never\"",
                "cannot be switched off",
            ),
            ("model = \"m\", vendor = \"qwen\", temperature = 2.0", "[0, 2)"),
            (
                "model = \"m\", vendor = \"qwen\", wire = \"messages\"",
                "does not speak",
            ),
            ("model = \"m\", vendor = \"qwen\", region = \"mars\"", "no region"),
            ("model = \"m\", vendor = \"vllm\"", "no address"),
            ("model = \"m\"", "needs either"),
            (
                "builtin = \"hold\", vendor = \"qwen\"",
                "`vendor` does not belong to a built-in agent",
            ),
            ("vendor = \"qwen\"", "no `model`"),
            (
                "model = \"m\", vendor = \"qwen\", api_key_env = \"A\", api_key_file = \"b\"",
                "both",
            ),
            (
                "model = \"m\", vendor = \"qwen\", api_key_env = \"sk-12\"",
                "this is no name of one",
            ),
        ] {
            let error = provider(agent).unwrap_err();
            assert!(error.contains(part), "{agent}: {error}");
        }
    }
}
