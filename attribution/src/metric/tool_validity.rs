//! How often a tool call was one that could be answered.

use ktd_stats::Undefined;

/// Counts of tool calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ToolValidity {
    /// Calls that named a tool and kept to its schema, and were answered.
    pub answered: u32,
    /// Calls that were refused: unknown tool, bad arguments, unknown alias.
    pub refused: u32,
}

impl ToolValidity {
    /// Calls answered over all calls.
    ///
    /// # Errors
    /// [`Undefined::NoToolCalls`] when no tool was called.
    pub fn rate(&self) -> Result<f64, Undefined> {
        let calls = f64::from(self.answered) + f64::from(self.refused);
        if 0.0 < calls {
            return Ok(f64::from(self.answered) / calls);
        }
        Err(Undefined::NoToolCalls)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seven_of_eight() {
        let counts = ToolValidity {
            answered: 7,
            refused: 1,
        };
        assert_eq!(counts.rate(), Ok(0.875));
    }

    #[test]
    fn an_agent_without_tools_has_no_rate() {
        assert_eq!(ToolValidity::default().rate(), Err(Undefined::NoToolCalls));
    }
}
