//! What stands between a cell and its endpoint: the key's gate and the budget.

use super::budget::{Budget, CapReached, Payer, Reservation};
use super::rate_gate::{Ended, Gates, KeyName, RateGate, Slot};
use ktd_bundle::exchanges::Outcome;
use ktd_bundle::tariff::{Charge, Decoded, Tariff};
use ktd_experiment::amount::Picodollars;
use ktd_experiment::cells::Cell;
use ktd_io::lock::FileLock;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of a request that are taken for one token, before its provider has counted them.
const BYTES_PER_TOKEN: u64 = 4;

/// What the cells of a run share.
#[derive(Debug, Default)]
pub struct Metering {
    /// The budget, where there is one.
    pub budget: Option<Arc<Budget>>,
    /// The gates of the keys.
    pub gates: Gates,
    /// Held while money is spent under a budget.
    pub lock: Option<FileLock>,
}

/// One cell's way to its endpoint.
#[derive(Debug)]
pub struct Meter {
    tariff: Tariff,
    payer: Payer,
    budget: Option<Arc<Budget>>,
    gate: Arc<RateGate>,
}

/// Why a call may not be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// A cap has no room for it.
    Cap(CapReached),
    /// There is a budget, but the call has no price or no bound.
    NoBound,
}

impl Metering {
    /// The meter of a cell.
    #[must_use]
    pub fn of(&self, cell: &Cell) -> Meter {
        Meter {
            tariff: Tariff::of_cell(cell),
            payer: payer(cell),
            budget: self.budget.clone(),
            gate: self.gates.of(&key_name(cell)),
        }
    }
}

/// Who pays for a cell's calls.
#[must_use]
pub fn payer(cell: &Cell) -> Payer {
    Payer {
        cell: cell.id.clone(),
        vendor: cell.provider.dialect.id.clone(),
    }
}

/// Whose limits hold for a cell's calls. A built-in agent has no key: it shares its name with none.
#[must_use]
pub fn key_name(cell: &Cell) -> KeyName {
    let agent = &cell.agent;
    let api_key = agent.model().and_then(|model| model.api_key.as_ref());
    KeyName {
        key: api_key.map(ToString::to_string).unwrap_or_default(),
        base_url: if agent.is_ours() {
            agent.model_name().to_owned()
        } else {
            cell.provider.base_url.clone()
        },
    }
}

impl Meter {
    /// Waits until a request of so many bytes may be sent, and holds the most that it can cost.
    ///
    /// # Errors
    /// [`Refused`] when it must not be sent.
    pub async fn admit(&self, request_bytes: usize) -> Result<Admitted<'_>, Refused> {
        let tokens = u64::try_from(request_bytes)
            .unwrap_or(u64::MAX)
            .div_ceil(BYTES_PER_TOKEN);
        let slot = self.gate.enter(tokens).await;
        let reservation = self.reserve(request_bytes).await?;
        Ok(Admitted {
            meter: self,
            request_bytes,
            slot,
            reservation,
        })
    }

    /// Holds the most that a request can cost. What is free needs no budget.
    async fn reserve(&self, request_bytes: usize) -> Result<Option<Reservation>, Refused> {
        let Some(budget) = &self.budget else {
            return Ok(None);
        };
        let most = self.tariff.most(request_bytes).ok_or(Refused::NoBound)?;
        if most == Picodollars::ZERO {
            return Ok(None);
        }
        let reserved = budget.reserve(&self.payer, most).await;
        reserved.map(Some).map_err(Refused::Cap)
    }
}

/// A request that may be sent. Dropped without being settled, its most counts as spent.
#[derive(Debug)]
pub struct Admitted<'a> {
    meter: &'a Meter,
    request_bytes: usize,
    slot: Slot,
    reservation: Option<Reservation>,
}

impl Admitted<'_> {
    /// The request was sent, and this is recorded of it. `busy` is how long a busy provider is to be left alone.
    /// `decoded` is what its reply holds for the charge, where it is one.
    pub fn settle(self, outcome: &Outcome, decoded: Option<Decoded>, busy: Option<Duration>) {
        let is_needed = self.reservation.is_some() || self.meter.gate.counts_tokens();
        let charge = is_needed.then(|| {
            self.meter
                .tariff
                .charge_decoded(self.request_bytes, Some(outcome), decoded)
        });
        let tokens = match &charge {
            Some(Charge::Used { usage, .. }) => Some(usage.input().saturating_add(usage.output())),
            Some(Charge::Nothing | Charge::Incomplete { .. } | Charge::Unknown { .. }) | None => None,
        };
        self.slot.end(match (busy, outcome) {
            (Some(wait), _) => Ended::Busy { wait },
            (
                None,
                Outcome::Reply {
                    status: 200..=299, ..
                },
            ) => Ended::Well { tokens },
            (None, Outcome::Reply { .. } | Outcome::Failed { .. } | Outcome::Refused { .. }) => {
                Ended::Otherwise
            }
        });
        // Without an amount the most stays spent.
        if let (Some(reservation), Some(amount)) =
            (self.reservation, charge.and_then(|charge| charge.amount()))
        {
            reservation.settle(amount);
        }
    }
}
