//! The probes of positive controls.

use super::probe_inputs::{ProbeInputs, wanted};
use super::set_plan::SetPlan;
use ktd_masking::MaskKey;
use ktd_probes::judge::ControlSet;
use ktd_probes::{ProbeKind, ProbePlan};

/// How the probes of a control are drawn.
#[must_use]
pub(crate) fn plan_of(control: ControlSet, inputs: &ProbeInputs, plan: &SetPlan) -> ProbePlan {
    let key = if control == ControlSet::SmallKey {
        small_key()
    } else {
        inputs.key.derive(control.label())
    };
    let probing = plan.probing(control.mask(), key, control.label());
    let steps = episode_steps(control, probing.episode_steps);
    ProbePlan {
        aid: control.aid(),
        episode_steps: steps,
        ..probing
    }
}

/// Steps of a control's episodes: what links periods needs some of them.
fn episode_steps(control: ControlSet, steps: usize) -> usize {
    if control.kind().is_asked() {
        steps.max(ProbePlan::LONGEST_CONTROL_STEPS)
    } else {
        steps
    }
}

/// So many probes of the control's kind, and none of another.
pub(crate) fn only(control: ControlSet, most: usize) -> impl Fn(ProbeKind) -> usize {
    move |kind| if kind == control.kind() { most } else { 0 }
}

/// What the combination learns from before a control, and how much.
#[must_use]
pub(crate) fn training(
    control: ControlSet,
    inputs: &ProbeInputs,
    plan: &SetPlan,
) -> (ProbePlan, Vec<(ProbeKind, usize)>) {
    let training = plan.training(control.mask(), &inputs.key, control.label());
    let steps = episode_steps(control, training.episode_steps);
    let training = ProbePlan {
        aid: control.aid(),
        episode_steps: steps,
        ..training
    };
    let least = plan
        .training_of(control.kind())
        .min(control.probes(plan.control_probes));
    (training, wanted(&only(control, least)))
}

/// The number 7 as a key.
fn small_key() -> MaskKey {
    let mut bytes = [0; 32];
    if let Some(last) = bytes.last_mut() {
        *last = 7;
    }
    MaskKey::from_bytes(bytes)
}
