//! Sizes beyond which a file is a slip of the pen and no plan: no sum of them overflows.

use super::kind_counts::KindCounts;
use crate::CertifyError;
use ktd_probes::ProbeKind;

/// Probes of a kind, of a control, or to learn from.
pub(super) const PROBES_MOST: usize = 1_000_000;
/// Steps of an episode, and trading days that a joint recovery may miss: about four years.
pub(super) const STEPS_MOST: usize = 1_000;
/// Stocks given away of one episode: an agent looks at three of them a step.
pub(super) const GIVEN_AWAY_MOST: usize = 20;
/// Stretches of a panel.
pub(super) const STRETCHES_MOST: usize = 1_000;

/// The sizes of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sizes<'a> {
    /// Probes of each kind.
    pub(super) probes: KindCounts,
    /// Probes of each kind that the combination learns from.
    pub(super) training: usize,
    /// Probes of each control.
    pub(super) control_probes: usize,
    /// Stocks that are given away of an asking agent's episode, in turn.
    pub(super) given_away: &'a [usize],
    /// Steps that the kinds `days` and `linked` show.
    pub(super) days: usize,
    /// Steps of an episode.
    pub(super) episode_steps: usize,
    /// Trading days within which the day of a joint recovery lies.
    pub(super) joint_days: usize,
    /// Stretches.
    pub(super) stretches: usize,
}

impl Sizes<'_> {
    /// Whether every size is one that a set may have.
    ///
    /// # Errors
    /// [`CertifyError::Input`] naming the first that is not.
    pub(super) fn check(&self) -> Result<(), CertifyError> {
        let kinds = ProbeKind::ALL.map(|kind| {
            let name = format!("probes.{}", kind.label());
            (name, self.probes.of(kind), 0, PROBES_MOST)
        });
        let others = [
            ("training", self.training, 1, PROBES_MOST),
            ("control_probes", self.control_probes, 1, PROBES_MOST),
            ("days", self.days, 1, STEPS_MOST),
            ("episode_steps", self.episode_steps, 1, STEPS_MOST),
            ("joint_days", self.joint_days, 0, STEPS_MOST),
            ("stretches", self.stretches, 1, STRETCHES_MOST),
        ];
        let others = others.map(|(name, size, least, most)| (name.to_owned(), size, least, most));
        if self.given_away.is_empty() || !self.given_away.is_sorted_by(|left, right| left < right) {
            return Err(CertifyError::input(
                format!("`given_away` is {:?}", self.given_away),
                "name one number of stocks, or several, each larger than the one before, such as [1, 3, 10]",
            ));
        }
        let given_away = self.given_away.iter();
        let given_away = given_away.map(|stocks| ("given_away".to_owned(), *stocks, 1, GIVEN_AWAY_MOST));
        let mut sizes = kinds.into_iter().chain(others).chain(given_away);
        match sizes.find(|(_, size, least, most)| size < least || most < size) {
            None => Ok(()),
            Some((name, size, least, most)) => Err(CertifyError::input(
                format!("`{name}` is {size}"),
                format!("it lies between {least} and {most}"),
            )),
        }
    }
}
