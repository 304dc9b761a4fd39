//! Why a table of keys is no agent.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// The label of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Builtin,
    Control,
    Model,
    Program,
    Client,
}

impl Display for Kind {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Builtin => "a built-in agent (`builtin`)",
            Self::Control => "a control (`control`)",
            Self::Model => "a model behind an endpoint (`model`)",
            Self::Program => "an outside program (`command`)",
            Self::Client => "an outside client (`external`)",
        })
    }
}

/// Why a table of keys is no agent. Each says how to fix it, for whoever reads the table takes no other hint on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InvalidAgent {
    #[error(
        "`agent.id` is {0:?}, but it must be 1 to 200 letters, digits, `-`, `_` or `.`, the first neither `-` nor `.`, \
         because it names a directory: choose another id"
    )]
    Id(String),
    #[error(
        "agent {0:?} needs either `builtin`, or `control`, or `model` with `vendor` or `base_url`, or `command`, or \
         `external`: for example, write builtin = \"momentum\", or model = \"...\", vendor = \"deepseek\""
    )]
    NoKind(String),
    #[error("agent {id:?}: `{key}` does not belong to {kind}: remove it{more}")]
    Misfit {
        id: String,
        key: String,
        kind: Kind,
        more: &'static str,
    },
    #[error("agent {id:?} has the keys of {kind}, but its `kind` is another one: remove `kind`")]
    OtherKind { id: String, kind: Kind },
    #[error("agent {0:?} has no `model`: write the provider's name of the model")]
    NoModel(String),
    #[error(
        "agent {0:?} has a `model`, which needs either `vendor` or `base_url`: for example, write vendor = \"deepseek\""
    )]
    NoAddress(String),
    // The address is not shown: the key may be in it.
    #[error(
        "agent {0:?}: `base_url` holds credentials or a query: write it as \"https://host/v1\", and name the key in \
         `api_key_env` or `api_key_file`"
    )]
    Credentials(String),
    #[error(
        "agent {id:?} is a control of scores, which needs `{key}`: for example, write control = \"signals\", \
         scores = \"scores.csv\", strategy = \"top20\""
    )]
    NoScores { id: String, key: &'static str },
    #[error(
        "agent {id:?}: `cutoff` is {text:?}, but the last day of its training data must be a date: for example, write \
         cutoff = \"2025-01-31\""
    )]
    Cutoff { id: String, text: String },
    #[error(
        "agent {0:?} trades a pool of formulas, which needs `pool`: for example, write builtin = \"formula\", \
         pool = \"results/gp\""
    )]
    NoPool(String),
    #[error("agent {0:?} has both `api_key_env` and `api_key_file`: remove one of the two")]
    TwoApiKeys(String),
    // The text is not shown: it may be the key.
    #[error(
        "agent {0:?}: `api_key_env` is the name of an environment variable, such as DEEPSEEK_API_KEY, and this is no name of one: \
         if it is the key itself, take it out of the file and export it"
    )]
    NoVariable(String),
}
