//! What answers for an agent: the endpoint of a model, or a program that speaks lines.

use crate::AskingError;
use crate::model::endpoint_of;
use ktd_agents::{HttpTransport, Transport};
use ktd_client::AskedModel;
use ktd_client::endpoint::patience;
use ktd_client::outside_agent::{BridgeTransport, ChildCommand, ProcessAgent};
use ktd_client::progress::{Progress as _, Silent};
use std::path::Path;

/// What answers for an agent of an experiment.
#[expect(missing_debug_implementations, reason = "a transport may hold a key")]
pub enum Answerer {
    /// The endpoint of a model.
    Model(Box<HttpTransport>),
    /// A program that speaks lines: one process for all conversations of a record, which come one after the other.
    Program(Box<BridgeTransport<ProcessAgent>>),
    /// An agent of the program's own.
    Builtin(Box<dyn Transport>),
}

impl Answerer {
    /// The answerer of an agent. `base` is where relative paths start. Nothing is sent or started.
    ///
    /// # Errors
    /// [`AskingError`] for a key, a program or a variable that is missing.
    pub fn of(asked: &AskedModel, base: &Path) -> Result<Self, AskingError> {
        let Some(program) = asked.agent.program() else {
            return Ok(Self::Model(Box::new(endpoint_of(asked, base)?)));
        };
        let command = ChildCommand::of_agent(program, base)
            .map_err(|error| AskingError::input(format!("agent {:?}: {error}", asked.id()), error.hint()))?;
        let process = ProcessAgent::new(command, patience(program.timeout_seconds));
        Ok(Self::Program(Box::new(process.bridge())))
    }

    /// Where requests go.
    #[must_use]
    pub fn transport(&self) -> &dyn Transport {
        match self {
            Self::Model(endpoint) => &**endpoint,
            Self::Program(bridge) => &**bridge,
            Self::Builtin(agent) => &**agent,
        }
    }

    /// How many requests it may get at once, where so many are wanted.
    #[must_use]
    pub const fn at_once(&self, wanted: usize) -> usize {
        match self {
            Self::Model(_) | Self::Builtin(_) => wanted,
            Self::Program(_) => 1,
        }
    }

    /// Notes which conversation comes next, which a program is told.
    pub fn begin(&self, step: usize) {
        if let Self::Program(bridge) = self {
            bridge.agent().watched(&Silent).step_began("", step, 0);
        }
    }

    /// Ends a program: with a goodbye where everything was answered, at once where it was not.
    pub async fn close(&self, is_complete: bool) {
        if let Self::Program(bridge) = self {
            bridge.agent().close(is_complete).await;
        }
    }
}
