//! What stands between a payer and an endpoint: the key's gate and the budget.

use super::budget::{Budget, BudgetNews, Reservation, Spender};
use super::gates::Gates;
use super::key_name::KeyName;
use super::payer::Payer;
use super::rate_gate::{CallEnd, EndpointNews, RateGate, Slot, Waits};
use super::shared::{Denied, SharedAccounts, SharedCall, SharedHold, shared_accounts};
use crate::cap_reached::CapReached;
use ktd_agents::Usage;
use ktd_experiment::amount::Picodollars;
use ktd_experiment::price_table::TokenPricing;
use ktd_io::lock::FileLock;
use ktd_record::exchanges::ExchangeOutcome;
use ktd_record::tariff::{Charge, Decoded, Tariff};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Bytes of a request that are taken for one token, before its provider has counted them.
const BYTES_PER_TOKEN: u64 = 4;

/// A wait for a rate that the log tells.
const LOGGED_WAIT: Duration = Duration::from_secs(1);

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

/// A payer's way to an endpoint.
#[derive(Debug)]
pub struct Meter {
    tariff: Tariff,
    spender: Spender,
    key: KeyName,
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
    /// The unit that asks is not this process's any more, or cannot be proved to be.
    Lease(String),
}

/// Money held for one call, here or by a server.
#[derive(Debug)]
enum Held {
    Here(Reservation),
    OnServer(Box<dyn SharedHold>),
}

impl Metering {
    /// The meter of a payer.
    #[must_use]
    pub fn meter(&self, payer: &Payer) -> Meter {
        Meter {
            tariff: payer.tariff.clone(),
            spender: payer.spender.clone(),
            key: payer.key.clone(),
            budget: self.budget.clone(),
            gate: self.gates.of(&payer.key),
        }
    }
}

impl Meter {
    /// The vendor's id.
    #[must_use]
    pub fn vendor(&self) -> &str {
        &self.spender.vendor
    }

    /// The key whose rates hold.
    #[must_use]
    pub const fn key(&self) -> &KeyName {
        &self.key
    }

    /// How long nobody may use the key.
    #[must_use]
    pub fn paused_for(&self) -> Option<Duration> {
        self.gate.paused_for()
    }

    /// Who asks, by its id.
    #[must_use]
    pub fn spender(&self) -> &str {
        &self.spender.id
    }

    /// Whether nobody is paid: a built-in agent answers.
    #[must_use]
    pub fn is_free(&self) -> bool {
        *self.tariff.basis() == TokenPricing::Free
    }

    /// Whether the endpoint has ever answered, in this run.
    #[must_use]
    pub fn is_heard(&self) -> bool {
        self.gate.is_heard()
    }

    /// The most that a request of so many bytes can cost, where that is known.
    #[must_use]
    pub fn most(&self, request_bytes: usize) -> Option<Picodollars> {
        self.tariff.most(request_bytes)
    }

    /// What a recorded send is charged that nobody answered; nothing of any other.
    #[must_use]
    pub fn charge_of_lost(&self, request_bytes: usize, outcome: &ExchangeOutcome) -> Charge {
        match outcome {
            ExchangeOutcome::Failed { .. } => self.tariff.charge_decoded(request_bytes, Some(outcome), None),
            ExchangeOutcome::Reply { .. } | ExchangeOutcome::Refused { .. } => Charge::Nothing,
        }
    }

    /// What was counted above what it cost of sends that nobody answered counts no more: their request was answered.
    pub fn take_back(&self, above: Picodollars) {
        // A server lets what it counted whole stand: its sum bounds the vendor's from above.
        if let Some(budget) = self.budget.as_ref().filter(|budget| !budget.is_on_server()) {
            budget.take_back(&self.spender, above);
        }
    }

    /// How long the endpoint has answered nobody.
    #[must_use]
    pub fn silent_for(&self) -> Option<Duration> {
        self.gate.silent_for()
    }

    /// Waits until a request of so many bytes may be sent, and holds the most that it can cost.
    ///
    /// # Errors
    /// [`Refused`] when it must not be sent.
    pub async fn admit(&self, request_bytes: usize) -> Result<Admitted<'_>, Refused> {
        let tokens = u64::try_from(request_bytes)
            .unwrap_or(u64::MAX)
            .div_ceil(BYTES_PER_TOKEN);
        let since = Instant::now();
        let tokens = (tokens, self.tariff.most_output_tokens());
        let server = shared_accounts();
        let turn = self.gate.turn().await;
        let mut slot = turn.place().await;
        let reserved = match &server {
            // Whoever answers within the process is never busy: nobody counts it, and a server has nothing to write.
            _ if self.is_free() => Ok(None),
            None => {
                turn.count(&mut slot, tokens).await;
                drop(turn);
                self.reserve(request_bytes).await
            }
            // A server may let it wait for calls on other machines, and it counts when it leaves.
            Some(server) => match self.reserve_on(server.as_ref(), request_bytes).await {
                Ok(held) => tokio::select! {
                    () = turn.count(&mut slot, tokens) => Ok(held),
                    why = server.refused() => Err(Refused::Lease(why)),
                },
                refused => refused,
            },
        };
        let reservation = reserved.inspect_err(|refused| {
            if let Refused::Cap(reached) = refused {
                tracing::warn!(spender = self.spender.id, %reached, "budget reached");
            }
        })?;
        let waited = since.elapsed();
        if LOGGED_WAIT <= waited {
            tracing::info!(
                spender = self.spender.id,
                ?waited,
                "waited for a key and the budget"
            );
        }
        Ok(Admitted {
            meter: self,
            request_bytes,
            slot,
            reservation,
        })
    }

    /// Holds the most that a request can cost. What is free needs no budget.
    async fn reserve(&self, request_bytes: usize) -> Result<Option<Held>, Refused> {
        let Some(budget) = self.budget.as_ref().filter(|_| !self.spender.pays_itself) else {
            return Ok(None);
        };
        let most = self.most(request_bytes).ok_or(Refused::NoBound)?;
        if most == Picodollars::ZERO {
            return Ok(None);
        }
        if budget.is_on_server() {
            let what = "a call outside any unit cannot be paid by the server";
            return Err(Refused::Lease(what.to_owned()));
        }
        let reserved = budget.reserve(&self.spender, most).await;
        reserved
            .map(|reserved| Some(Held::Here(reserved)))
            .map_err(Refused::Cap)
    }

    /// The same of a server, which also proves that the unit is still run here: what is paid elsewhere is asked for nothing.
    async fn reserve_on(
        &self,
        server: &dyn SharedAccounts,
        request_bytes: usize,
    ) -> Result<Option<Held>, Refused> {
        let budget = self.budget.as_ref().filter(|_| !self.spender.pays_itself);
        let most = match budget {
            Some(_) => self.most(request_bytes).ok_or(Refused::NoBound)?,
            None => Picodollars::ZERO,
        };
        let scopes = self.spender.scoped_caps(|scope| budget?.cap(scope));
        let at_once = self.gate.limits().in_flight;
        let call = SharedCall {
            scopes,
            most,
            at_once: at_once.map(|at_once| (self.key.clone(), at_once)),
        };
        match server.reserve(call).await {
            Ok(hold) => Ok(Some(Held::OnServer(hold))),
            Err(Denied::Cap(reached)) => Err(Refused::Cap(reached)),
            Err(Denied::Lease(why)) => Err(Refused::Lease(why)),
        }
    }
}

/// A request that may be sent. Dropped without being settled, its most counts as spent.
#[derive(Debug)]
pub struct Admitted<'a> {
    meter: &'a Meter,
    request_bytes: usize,
    slot: Slot,
    reservation: Option<Held>,
}

/// What kept an endpoint from answering.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// It counts requests, or has too much to do, and wants to be left alone for so long.
    Busy {
        /// How long.
        wait: Duration,
        /// The waits of one that has no time for anybody.
        overloaded: Option<Waits>,
    },
    /// Nobody was there.
    Unanswered(Waits),
}

/// What became of a request that was sent.
#[derive(Debug)]
pub struct Settled {
    /// What it was charged.
    pub charge: Charge,
    /// What is new of its endpoint.
    pub endpoint: Option<EndpointNews>,
    /// What is new of the budget.
    pub budget: Vec<BudgetNews>,
}

impl Admitted<'_> {
    /// Lets it be sent, looked at last before it is.
    ///
    /// # Errors
    /// [`Refused::Lease`] where what a server lent ran out meanwhile, or this process was told to end.
    pub fn leave(&self) -> Result<(), Refused> {
        match &self.reservation {
            Some(Held::OnServer(hold)) => hold.leave().map_err(Refused::Lease),
            Some(Held::Here(_)) | None => Ok(()),
        }
    }

    /// The request was sent, and this is recorded of it. `decoded` is what its reply holds for the charge, where it is one.
    /// Tells what it was charged, and what those who wait should know.
    #[must_use]
    pub fn settle(
        self,
        outcome: &ExchangeOutcome,
        decoded: Option<Decoded>,
        trouble: Option<Trouble>,
    ) -> Settled {
        let tariff = &self.meter.tariff;
        let charge = tariff.charge_decoded(self.request_bytes, Some(outcome), decoded);
        let usage = match &charge {
            Charge::Used { usage, .. } => Some(usage),
            Charge::Nothing | Charge::Incomplete { .. } | Charge::Unknown { .. } => None,
        };
        let endpoint = self.slot.end(match (trouble, outcome) {
            (Some(Trouble::Busy { wait, overloaded }), _) => CallEnd::Busy { wait, overloaded },
            (Some(Trouble::Unanswered(waits)), _) => CallEnd::Unanswered(waits),
            (
                None,
                ExchangeOutcome::Reply {
                    status: 200..=299, ..
                },
            ) => CallEnd::Well {
                tokens: usage.map(|usage| usage.input().saturating_add(usage.output())),
                reply_tokens: usage.map(Usage::output),
            },
            (None, ExchangeOutcome::Reply { .. } | ExchangeOutcome::Refused { .. }) => CallEnd::Otherwise,
            // It did not leave, or nobody said what to make of it.
            (None, ExchangeOutcome::Failed { .. }) => CallEnd::NotMade,
        });
        // Without an amount the most stays spent. A server knows what was charged from what may have been, which it counts whole.
        let (is_known, is_answered) = match &charge {
            Charge::Nothing => (true, false),
            Charge::Used { .. } => (true, true),
            Charge::Incomplete { .. } => (false, true),
            Charge::Unknown { .. } => (false, false),
        };
        let budget = match (self.reservation, charge.amount()) {
            (Some(Held::Here(reservation)), Some(amount)) => reservation.settle(amount),
            (Some(Held::OnServer(hold)), amount) => {
                hold.settle(amount.filter(|_| is_known), is_answered);
                Vec::new()
            }
            (Some(Held::Here(_)) | None, _) => Vec::new(),
        };
        Settled {
            charge,
            endpoint,
            budget,
        }
    }
}
