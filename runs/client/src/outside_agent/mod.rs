//! Bring your own agent: an outside program or an MCP client in the place of a model.
//!
//! The engine stays as it is. A [`BridgeTransport`] takes each Chat Completions request that has passed the guard,
//! tells the outside agent what is new in it, and turns the agent's next word into a Chat Completions reply. So mask,
//! guard, accounting, recording, resume, replay and verification are those of every model, and a bundle replays
//! without the agent. What the agent does with what it hears is its own affair: the mask protects what the harness
//! says, not what the agent knows or looks up.

mod boxed;
mod child;
mod conversation;
mod last_words;
mod line;
mod mailbox;
mod mcp;
mod process;
mod program_run;
mod steps;
mod transport;
mod turn;

pub use child::{ChildCommand, check_command, check_sources};
pub use conversation::{Conversation, SentMessages};
pub use mailbox::{AgentMailbox, EpisodeEnd};
pub use mcp::Server;
pub use process::ProcessAgent;
pub use program_run::{ProgramFailure, ProgramLimits, run_program};
pub use steps::{StepEnd, StepStatus, Steps, TrackedProgress};
pub use transport::{BridgeTransport, OutsideAgent};
pub use turn::{AgentTurn, AgentTurnError, TokenCounts};
