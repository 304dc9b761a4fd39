//! Panel, factors, tools and database of one run, and what is made and answered with them.

use super::attack_run::{Answers, AttackRun, database};
use super::control_probes;
use super::gold_line::GoldLine;
use super::paths::PROBES;
use super::probe_inputs::{ProbeInputs, ProbeSet};
use super::progress::ProgressFn;
use super::set_plan::SetPlan;
use super::set_record::SetRecord;
use super::store::gold_lines;
use crate::CertifyError;
use ktd_data::market_source::MarketSource;
use ktd_masking::{MaskKey, MaskSettings};
use ktd_probes::judge::ControlSet;
use ktd_probes::{Database, ProbeKind, ProbeText};

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
        plan: &SetPlan,
        key: MaskKey,
        threads: usize,
    ) -> Result<Self, CertifyError> {
        let inputs = ProbeInputs::new(source, plan, key, threads)?;
        let days = inputs.source.market.calendar().len();
        let database = database(&inputs).with_episodes(plan.episodes(days));
        Ok(Self { inputs, database })
    }

    /// The probes under test.
    ///
    /// # Errors
    /// [`CertifyError::Input`] when the plan's stretches hold no member to ask about.
    pub fn probes(&self, plan: &SetPlan, progress: ProgressFn<'_>) -> Result<ProbeSet, CertifyError> {
        let probing = plan.probing(plan.mask(), self.inputs.key.clone(), PROBES);
        self.inputs.make(&probing, &|kind| plan.probes.of(kind), progress)
    }

    /// The answer keys of a set under a mask as lines.
    #[must_use]
    pub fn gold_lines(&self, plan: &SetPlan, mask: MaskSettings, set: &ProbeSet) -> Vec<GoldLine> {
        gold_lines(&self.inputs, &self.database, (mask, plan.joint_days), set)
    }

    /// What the attackers answer to the probes under test.
    ///
    /// # Errors
    /// [`CertifyError`] when no training can be made.
    pub fn answers(
        &self,
        record: &SetRecord,
        probes: &[ProbeText],
        progress: ProgressFn<'_>,
    ) -> Result<Answers, CertifyError> {
        let plan = &record.plan;
        let mask = plan.mask();
        let training = plan.training(mask, &self.inputs.key, PROBES);
        let kinds = |kind: ProbeKind| {
            if record.count(kind) == 0 {
                0
            } else {
                plan.training_of(kind)
            }
        };
        let training = self.inputs.make(&training, &kinds, progress)?;
        let attack = self.attack(plan, PROBES);
        Ok(attack.run(mask.numeric, &training, probes, progress))
    }

    /// A control: its probes, their keys, and what the attackers answer.
    ///
    /// # Errors
    /// [`CertifyError`] when it cannot be made.
    pub fn control(
        &self,
        control: ControlSet,
        plan: &SetPlan,
        progress: ProgressFn<'_>,
    ) -> Result<(ProbeSet, Vec<GoldLine>, Answers), CertifyError> {
        let set = control_probes::make(control, &self.inputs, plan, progress)?;
        let training = control_probes::training(control, &self.inputs, plan, progress)?;
        let gold = self.gold_lines(plan, control.mask(), &set);
        let attack = self.attack(plan, control.label());
        let answers = attack.run(control.mask().numeric, &training, &set.probes, progress);
        Ok((set, gold, answers))
    }

    fn attack(&self, plan: &SetPlan, purpose: &str) -> AttackRun<'_> {
        AttackRun {
            inputs: &self.inputs,
            database: &self.database,
            seed: plan.seed_for(&format!("attacks on {purpose}")),
        }
    }
}
