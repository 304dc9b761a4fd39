//! What models are asked for.

/// What a model is asked for: each agent is one model a role, with an account of its own.
#[derive(Debug, Clone, PartialEq)]
pub struct AskingRole {
    /// It names the payers of its models.
    pub name: String,
    /// Sent to vendors that take one, where an agent asks for it.
    pub seed: u64,
    /// Sent where an agent names none and its vendor takes one, instead of that of the settings.
    pub temperature: Option<f64>,
}

impl AskingRole {
    /// One role.
    #[must_use]
    pub fn one(name: &str, seed: u64) -> Vec<Self> {
        vec![Self {
            name: name.to_owned(),
            seed,
            temperature: None,
        }]
    }
}
