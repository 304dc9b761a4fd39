//! Which wrong endings each accuracy rule accepts.

use super::columns::{bars, golden, text};
use super::endings::Ending;
use ktd_factor_code::{AccuracyFigures, AccuracyRules, FactorTasks};
use serde_json::Value;

#[test]
fn each_rule_accepts_the_wrong_endings_of_the_set_and_no_other() {
    let Some(expected) = text("variants.json") else {
        return;
    };
    let expected: Value = serde_json::from_str(&expected).unwrap();
    let tasks = FactorTasks::compiled_in().unwrap();
    let rules = AccuracyRules::DEFAULT;
    let panels = ["G", "R", "Q"].map(|panel| (bars(panel).unwrap(), golden(panel).unwrap()));
    for (name, ending) in Ending::ALL {
        let (mut published, mut strict) = (Vec::new(), Vec::new());
        for task in tasks.as_slice() {
            let figures = panels.each_ref().map(|(bars, golden)| {
                let candidate = ending.of(&task.definition.evaluate(bars).unwrap());
                AccuracyFigures::of(&candidate, &golden[task.id.as_str()], task.warm_up)
            });
            if figures.iter().all(|figures| figures.is_published_right(&rules)) {
                published.push(task.id.as_str());
            }
            if figures.iter().all(|figures| figures.is_right(&rules)) {
                strict.push(task.id.as_str());
            }
        }
        println!(
            "{name}: {} by the published rule, {} by the strict one",
            published.len(),
            strict.len()
        );
        assert_eq!(
            serde_json::json!({"paper": published, "strict": strict}),
            expected[name],
            "{name}"
        );
    }
}
