//! Panel, factors, tools and database of one run, and what is made and answered with them.

use super::attack_run::AttackRun;
use super::control_probes;
use super::gold_line::GoldLine;
use super::paths::PROBES;
use super::probe_inputs::{ProbeInputs, wanted};
use super::set_plan::SetPlan;
use super::set_record::Origin;
use crate::CertifyError;
use ktd_data::market_source::MarketSource;
use ktd_masking::{MaskKey, MaskSettings};
use ktd_probes::judge::{ChanceParts, ControlSet};
use ktd_probes::{Database, DatabaseSource, Gold, ProbeKind, ProbeText, SamplingDesign};

/// Workspace of a run: its inputs, and the database of its attackers.
#[derive(Debug)]
pub struct ProbeWorkspace {
    /// Panel, tools and key.
    pub inputs: ProbeInputs,
    /// What the attackers look things up in.
    pub database: Database,
}

impl ProbeWorkspace {
    /// Computes the factors and the database of a panel.
    ///
    /// # Errors
    /// [`CertifyError::Input`] when the panel is too short, or the rules do not fit.
    pub fn open(
        source: MarketSource,
        (plan, origin): (&SetPlan, Origin),
        key: MaskKey,
        threads: usize,
    ) -> Result<Self, CertifyError> {
        let inputs = ProbeInputs::new(source, plan, key, threads)?;
        let days = inputs.source.market.calendar().len();
        let database = Database::new(&DatabaseSource {
            market: &inputs.source.market,
            factors: &inputs.factors,
            toolbox: &inputs.toolbox,
            rules: &inputs.rules,
        })
        // Of probes that were given nobody knows how they were drawn.
        .with_design(match origin {
            Origin::Made => plan.design(days),
            Origin::Given => SamplingDesign::default(),
        });
        Ok(Self { inputs, database })
    }

    /// The answer key of a probe under a mask as a line, with what chance recovers of it.
    #[must_use]
    pub fn gold_line(
        &self,
        (mask, joint_days): (MaskSettings, usize),
        probe: &ProbeText,
        gold: &Gold,
    ) -> GoldLine {
        let chance = ChanceParts::of(&self.database, mask, (probe, gold), joint_days);
        let market = &self.inputs.source.market;
        GoldLine::of(market, (probe.kind, probe.number), gold, &chance)
    }

    /// The attack on probes under test of the kinds that were put.
    #[must_use]
    pub fn attack(&self, plan: &SetPlan, count: &dyn Fn(ProbeKind) -> usize) -> AttackRun<'_> {
        let lessons = |kind: ProbeKind| match count(kind) {
            0 => 0,
            _ => plan.training_of(kind),
        };
        AttackRun {
            inputs: &self.inputs,
            database: &self.database,
            numeric: plan.mask().numeric,
            training: (
                plan.training(plan.mask(), &self.inputs.key, PROBES),
                wanted(&lessons),
            ),
            seed: seed(plan, PROBES),
        }
    }

    /// The attack on a control.
    #[must_use]
    pub fn control_attack(&self, plan: &SetPlan, control: ControlSet) -> AttackRun<'_> {
        AttackRun {
            inputs: &self.inputs,
            database: &self.database,
            numeric: control.mask().numeric,
            training: control_probes::training(control, &self.inputs, plan),
            seed: seed(plan, control.label()),
        }
    }
}

fn seed(plan: &SetPlan, purpose: &str) -> u64 {
    plan.seed_for(&format!("attacks on {purpose}"))
}
