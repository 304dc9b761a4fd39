//! The plan of a masked step takes no text from outside a mask.
use ktd_agents::StepPlan;
use ktd_unmasked::OpenPrompt;

fn with_a_task(plan: StepPlan) -> StepPlan {
    StepPlan {
        user: OpenPrompt::new().outside(&format!("Buy SH{}", 600_519)),
        ..plan
    }
}

fn main() {}
