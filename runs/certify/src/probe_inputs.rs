//! What probes are made on and attacked with: panel, factors, tools, rules and key.

use super::set_plan::SetPlan;
use crate::CertifyError;
use ktd_data::market_source::MarketSource;
use ktd_env::FactorTable;
use ktd_env::exchange::Rules;
use ktd_env::factors::FactorConfig;
use ktd_experiment::toolbox::toolbox;
use ktd_io::parallel::in_parallel;
use ktd_masking::MaskKey;
use ktd_probes::{Gold, Probe, ProbeKind, ProbeMaker, ProbePlan, ProbeText};
use ktd_tools::{ToolLimits, Toolbox};
use std::sync::Arc;

/// Inputs of probes: the immutable parts that making and attacking them share.
#[derive(Debug)]
pub struct ProbeInputs {
    /// The panel.
    pub source: MarketSource,
    /// Its factors, from the first as-of day that has a full history to the last day.
    pub factors: FactorTable,
    /// The tools.
    pub toolbox: Arc<Toolbox>,
    /// The exchange's rules.
    pub rules: Rules,
    /// The tools' limits.
    pub limits: ToolLimits,
    /// The key that every exhibit's own is derived from.
    pub key: MaskKey,
    /// Threads.
    pub threads: usize,
}

/// Set of probes with their answer keys, in order of kind and number.
#[derive(Debug, Clone, Default)]
pub struct ProbeSet {
    /// What attackers read.
    pub probes: Vec<ProbeText>,
    /// What is behind each.
    pub gold: Vec<Gold>,
}

impl ProbeInputs {
    /// The inputs of a plan.
    ///
    /// # Errors
    /// [`CertifyError::Input`] when the panel is too short for the factors, or the rules do not fit.
    pub fn new(
        source: MarketSource,
        plan: &SetPlan,
        key: MaskKey,
        threads: usize,
    ) -> Result<Self, CertifyError> {
        let rules = plan.rules.rules()?;
        let factors = factors(&source)?;
        Ok(Self {
            factors,
            toolbox: toolbox(&plan.tools)?,
            rules,
            limits: plan.tools,
            source,
            key,
            threads: threads.max(1),
        })
    }

    /// How many probes are held at once.
    #[must_use]
    pub const fn at_once(&self) -> usize {
        const OF_A_THREAD: usize = 8;
        OF_A_THREAD * self.threads
    }

    /// Probes of kinds and numbers, made in parallel, some at a time; `keep` is what is kept of each. A probe that cannot be
    /// made, for the plan's stretches hold no member to ask about, is an error.
    pub fn made<'s, T: Send + 's>(
        &'s self,
        plan: &'s ProbePlan,
        wanted: Vec<(ProbeKind, usize)>,
        keep: impl Fn(Probe, Gold) -> T + Sync + 's,
    ) -> impl Iterator<Item = Result<Vec<T>, CertifyError>> + 's {
        let (most, all) = (self.at_once(), wanted.len());
        let maker = ProbeMaker {
            market: &self.source.market,
            factors: &self.factors,
            toolbox: &self.toolbox,
            rules: &self.rules,
            limits: &self.limits,
            plan,
        };
        (0..all).step_by(most).map(move |from| {
            let wanted = wanted.get(from..all.min(from + most)).unwrap_or_default();
            let made = in_parallel(wanted, self.threads, |(kind, number)| {
                maker.make(*kind, *number).map(|(probe, gold)| keep(probe, gold))
            });
            let named = wanted.iter().zip(made);
            named
                .map(|((kind, number), made)| made.ok_or_else(|| unmade(*kind, *number)))
                .collect()
        })
    }

    /// All probes of a plan as attackers of the database read them, with what is behind each.
    ///
    /// # Errors
    /// [`CertifyError::Input`] when the plan's stretches hold no member to ask about.
    pub fn make(
        &self,
        plan: &ProbePlan,
        count: &dyn Fn(ProbeKind) -> usize,
    ) -> Result<ProbeSet, CertifyError> {
        let mut set = ProbeSet::default();
        for made in self.made(plan, wanted(count), |probe, gold| (probe.text(), gold)) {
            for (probe, gold) in made? {
                set.probes.push(probe);
                set.gold.push(gold);
            }
        }
        Ok(set)
    }
}

/// So many probes of each kind, in order of kind and number.
pub(crate) fn wanted(count: &dyn Fn(ProbeKind) -> usize) -> Vec<(ProbeKind, usize)> {
    let of_kind = |kind| (0..count(kind)).map(move |number| (kind, number));
    ProbeKind::ALL.into_iter().flat_map(of_kind).collect()
}

fn unmade(kind: ProbeKind, number: usize) -> CertifyError {
    CertifyError::input(
        format!(
            "{} probe {number} cannot be made: the stretches hold no member of the index that traded",
            kind.label()
        ),
        "choose other stretches or windows, or a panel with members",
    )
}

fn factors(source: &MarketSource) -> Result<FactorTable, CertifyError> {
    let market = &source.market;
    let first = market.day_at(ProbePlan::HISTORY_DAYS.saturating_sub(1));
    let last = market.day_at(market.calendar().len().saturating_sub(1));
    let (Some(first), Some(last)) = (first, last) else {
        return Err(CertifyError::input(
            format!(
                "the panel has {} trading days, but probes need {} before the first",
                market.calendar().len(),
                ProbePlan::HISTORY_DAYS
            ),
            "import a panel that starts earlier",
        ));
    };
    FactorTable::new(market, &FactorConfig::KTD, first, last)
        .map_err(|error| CertifyError::input(error.to_string(), error.hint()))
}
