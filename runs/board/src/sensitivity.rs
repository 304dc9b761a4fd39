//! Selection under other settings of the factor model: what moves it, and what does not.

use super::by_agent::ScoredAgent;
use super::record::SensitivityRow;
use super::setting::Settings;
use ktd_attribution::SelectionSeries;
use ktd_bundle::summary::Metric;
use ktd_stats::{Sample, kendall_tau};

/// Daily selections of all ranked agents' seeds, and their selections a day, by agent.
struct Selections {
    daily: Vec<Vec<f64>>,
    a_day: Vec<f64>,
}

/// One row a setting; `agents` are the ranked ones of the headline, in order.
pub(super) fn sensitivity(settings: &Settings, agents: &[&ScoredAgent]) -> Vec<SensitivityRow> {
    let base = Selections::of(agents.iter().map(|agent| agent.score.series()));
    let row = |(setting, place): &(String, usize)| {
        let series = agents.iter().filter_map(|agent| agent.score.under(*place));
        row(setting, &base, &Selections::of(series))
    };
    settings.sensitivity.iter().map(row).collect()
}

impl Selections {
    fn of(agents: impl Iterator<Item = SelectionSeries>) -> Self {
        let (mut daily, mut a_day) = (Vec::new(), Vec::new());
        for series in agents {
            a_day.push(series.a_day());
            daily.extend(series.seeds);
        }
        Self { daily, a_day }
    }
}

fn row(setting: &str, base: &Selections, other: &Selections) -> SensitivityRow {
    let tau = Sample::new("selection", &base.a_day)
        .and_then(|left| Ok((left, Sample::new("selection", &other.a_day)?)))
        .and_then(|(left, right)| kendall_tau(&left, &right));
    let changes = base
        .daily
        .iter()
        .zip(&other.daily)
        .flat_map(|(base, other)| base.iter().zip(other).map(|(base, other)| (base - other).abs()));
    SensitivityRow {
        setting: setting.to_owned(),
        kendall_tau: tau.map_or_else(|error| Metric::missing(error.to_string()), Metric::of),
        selection: other.a_day.clone(),
        largest_daily_change: changes.fold(0.0, f64::max),
    }
}
