//! What of the found is shown.

use crate::bundle_ref::BundleRef;
use ktd_record::RecordError;
use std::collections::BTreeSet;

/// What is shown of what was found; an empty list is everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EpisodeFilter {
    /// Windows by name.
    pub windows: Vec<String>,
    /// Agents by name.
    pub agents: Vec<String>,
    /// Decision modes.
    pub modes: Vec<String>,
    /// Mask levels.
    pub levels: Vec<String>,
}

type Key = fn(&BundleRef) -> &str;

impl EpisodeFilter {
    fn lists(&self) -> [(&'static str, &[String], Key); 4] {
        [
            ("window", &self.windows, |found| &found.header.window.id),
            ("agent", &self.agents, |found| &found.header.agent.id),
            ("mode", &self.modes, |found| found.header.mode.label()),
            ("mask", &self.levels, |found| found.header.mask.level_label()),
        ]
    }

    /// Whether an episode is shown. A branch never is: its first steps are another episode's.
    #[must_use]
    pub fn has(&self, found: &BundleRef) -> bool {
        let takes = |(_, list, key): (_, &[String], Key)| {
            list.is_empty() || list.iter().any(|asked| asked == key(found))
        };
        found.header.branch.is_none() && self.lists().into_iter().all(takes)
    }

    /// Refuses a word that no named episode has, so that a slip of the pen is not an empty row.
    ///
    /// # Errors
    /// [`RecordError::Input`] with the words that there are.
    pub fn check(&self, named: &[BundleRef]) -> Result<(), RecordError> {
        for (what, list, key) in self.lists() {
            let known: BTreeSet<&str> = named.iter().map(key).collect();
            if let Some(asked) = list.iter().find(|asked| !known.contains(asked.as_str())) {
                let known: Vec<&str> = known.into_iter().collect();
                return Err(RecordError::input(
                    format!("no finished episode has the {what} {asked:?}"),
                    format!("fix the spelling, or use one of: {}", known.join(", ")),
                ));
            }
        }
        Ok(())
    }
}
