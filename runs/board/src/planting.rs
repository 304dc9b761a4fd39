//! Planted accounts on a panel: which headline recovers what was planted, and how far exposures beyond the limits of
//! winsorising move returns.

use super::settings::ModelSettings;
use crate::BoardError;
use crate::fitted::FittedModel;
use drawing::{Drawing, draws_of};
use ktd_attribution::Panel;
use ktd_attribution::account::WeightBasis;
use ktd_attribution::model::{ExtraStyle, ModelConfig};
use ktd_attribution::planting::{
    CandidateExposures, PlantedAgent, PlantedDesign, PlantedMarket, PlantingError, Recovered,
    RecoverySummary, SkillHorizon, TailFit, outside_luck, summarise, summarise_part,
};
use ktd_env::Market;
use ktd_io::parallel::{Tell, Ticks};
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::Range;

mod drawing;
mod tables;

/// Names among which the skill of famous names chooses: those whose own returns move the factors most.
const FAMOUS_NAMES: usize = 40;

/// Shares of the variance of specific returns that shocks of sectors are given: none, and about what they have on the CSI 300.
const SECTOR_SHARES: [f64; 2] = [0.0, 0.17];
/// Draws of accounts among sectors to one of the others: a share of 5 % needs many.
const SECTOR_DRAWS: u64 = 5;

/// How planted accounts are drawn.
#[derive(Debug, Clone)]
pub struct PlantingOptions {
    /// The factor model.
    pub settings: ModelSettings,
    /// Return days, as places of the calendar.
    pub days: Range<usize>,
    /// Draws of the specific returns.
    pub draws: u64,
    /// The seed of the first; the others follow.
    pub seed: u64,
    /// Names of an account.
    pub names: usize,
    /// Trading days from one choice of names to the next.
    pub hold_days: usize,
    /// Replicates of each interval.
    pub replicates: u32,
    /// Threads.
    pub threads: usize,
}

/// What was recovered.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct PlantingReport {
    /// Trading days.
    pub days: usize,
    /// Draws.
    pub draws: u64,
    /// Names of an account.
    pub names: usize,
    /// Trading days from one choice to the next.
    pub hold_days: usize,
    /// The share of a name's own exposure beyond the limits that moves the panel's own returns.
    pub tail: f64,
    /// Its 95 % interval.
    pub tail_interval: (f64, f64),
    /// What the same measure finds in one draw of planted tails of 0 and of 1.
    pub tail_of_planted: (f64, f64),
    /// What each candidate recovers.
    pub rows: Vec<PlantingRow>,
    /// Accounts that are invested by what they expect of the market.
    pub timing: Vec<TimingRow>,
    /// Accounts that hold the most of a style that the model lacks.
    pub hidden: Vec<HiddenRow>,
    /// Accounts among names whose sectors share shocks; none where the panel has no sectors.
    pub sectors: Vec<SectorRow>,
}

/// One planted account that holds the most of a style that moves returns and that the model lacks.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct HiddenRow {
    /// The style.
    pub style: String,
    /// Draws.
    pub draws: u64,
    /// Which share of the style's daily returns on what was held passes for selection.
    pub passes: f64,
    /// Its standard error over draws.
    pub passes_error: f64,
    /// Mean of what is said to be selection a day less the true one.
    pub bias: f64,
    /// Its standard error.
    pub bias_error: f64,
    /// The same by a model that has the style.
    pub bias_with: f64,
    /// Its standard error.
    pub bias_with_error: f64,
}

/// One planted account that times the market, under the headline.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct TimingRow {
    /// The account.
    pub agent: String,
    /// Draws.
    pub draws: u64,
    /// Mean true timing of the market a day.
    pub planted: f64,
    /// Mean of what is said of it less that.
    pub bias: f64,
    /// Its standard error.
    pub bias_error: f64,
    /// Mean of what is said to be selection less the true one.
    pub selection_bias: f64,
    /// Its standard error.
    pub selection_bias_error: f64,
    /// The share of draws outside the 95 % band of luck that is drawn among names alike.
    pub outside: f64,
}

/// One planted account where the shocks of sectors make up a share of the variance of specific returns, under the headline.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct SectorRow {
    /// That share, as planted.
    pub sector_share: f64,
    /// Draws.
    pub draws: u64,
    /// The account.
    pub agent: String,
    /// Mean true selection a day.
    pub planted: f64,
    /// Mean of estimate less truth.
    pub bias: f64,
    /// Its standard error.
    pub bias_error: f64,
    /// Mean of what the shocks of sectors made of the true selection.
    pub sector_planted: f64,
    /// Mean of what is said of it less that.
    pub sector_bias: f64,
    /// Its standard error.
    pub sector_bias_error: f64,
    /// Of dice: the share of draws outside the 95 % band of luck that is drawn among everyone, and among names alike.
    pub outside: Option<[f64; 2]>,
}

/// One planted account under one candidate.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct PlantingRow {
    /// Share of a name's own exposure beyond the limits that moves returns, as planted.
    pub tail: f64,
    /// The account.
    pub agent: String,
    /// With which exposures it is attributed.
    pub exposures: String,
    /// On which weights.
    pub basis: String,
    /// Mean true selection a day.
    pub planted: f64,
    /// Mean of estimate less truth.
    pub bias: f64,
    /// Its standard error.
    pub bias_error: f64,
    /// Root mean square of estimate less truth.
    pub error: f64,
    /// Share of draws whose 95 % interval holds what was planted.
    pub coverage: f64,
}

/// Plants accounts on a panel and recovers them. `tell` hears how many draws of all tables are done.
///
/// # Errors
/// [`BoardError`] when the factor model cannot be fitted over the days.
pub fn plant(
    market: &Market,
    options: &PlantingOptions,
    tell: Tell<'_>,
) -> Result<PlantingReport, BoardError> {
    let refused = |error: &dyn std::fmt::Display| {
        BoardError::input(
            format!("the planted accounts: {error}"),
            "choose days with full history on the panel",
        )
    };
    let fitted = FittedModel::of(market, &options.settings, options.days.clone())?;
    let config = fitted.model.config().clone();
    let first = config.first_needed_day(options.days.start);
    let panel = Panel::from_market(market, first..options.days.end).map_err(|error| refused(&error))?;
    let planted =
        PlantedMarket::new(&panel, &config, options.days.clone()).map_err(|error| refused(&error))?;
    let measured = planted
        .tail_fit((options.replicates, options.seed))
        .map_err(|error| refused(&error))?;
    let found = |tail| -> Result<f64, BoardError> {
        let fit = planted.planted_tail_fit(tail, (options.replicates, options.seed));
        Ok(fit.map_err(|error| refused(&error))?.share)
    };
    let tail_of_planted = (found(0.0)?, found(1.0)?);
    let agents = agents(&planted);
    let mut rows = Vec::new();
    let (tails, has_sectors) = (tails(&measured), !market.sectors().is_empty());
    let drawing = Drawing {
        options,
        ticks: Ticks::of(draws_of(options, tails.len(), has_sectors), tell),
    };
    for tail in tails {
        let design = PlantedDesign {
            tail,
            sector_share: 0.0,
            candidates: CandidateExposures::ALL.to_vec(),
            agents: agents.iter().map(|(_, agent)| *agent).collect(),
            names: options.names,
            hold_days: options.hold_days,
        };
        let draws = drawing
            .recover(&planted, &design, options.draws)
            .map_err(|error| refused(&error))?;
        for (place, (name, _)) in agents.iter().enumerate() {
            let own: Vec<&Recovered> = draws.iter().filter_map(|draw| draw.get(place)).collect();
            rows.extend(summarise(&own).iter().map(|summary| row(tail, name, summary)));
        }
    }
    let timing = timing_rows(&planted, &drawing).map_err(|error| refused(&error))?;
    let sectors = has_sectors.then(|| sector_rows(&planted, &drawing)).transpose();
    Ok(PlantingReport {
        timing,
        hidden: hidden_rows(&panel, &config, &drawing).map_err(|error| refused(&error))?,
        sectors: sectors.map_err(|error| refused(&error))?.unwrap_or_default(),
        days: planted.days(),
        draws: options.draws,
        names: options.names,
        hold_days: options.hold_days,
        tail: measured.share,
        tail_interval: measured.interval,
        tail_of_planted,
        rows,
    })
}

/// Accounts that are invested by what they expect of the market: by chance, and with some knowledge.
fn timing_rows(planted: &PlantedMarket, drawing: &Drawing<'_>) -> Result<Vec<TimingRow>, PlantingError> {
    let options = drawing.options;
    let timer = |information| PlantedAgent::MarketTimer { information };
    let agents = [
        ("timer, right in 50 %", timer(0.0)),
        ("timer, right in 60 %", timer(0.2)),
        ("timer, right in 80 %", timer(0.6)),
    ];
    let design = PlantedDesign {
        tail: 0.0,
        sector_share: 0.0,
        candidates: vec![CandidateExposures::LeftOut],
        agents: agents.iter().map(|(_, agent)| *agent).collect(),
        names: options.names,
        hold_days: options.hold_days,
    };
    let draws = options.draws.saturating_mul(SECTOR_DRAWS);
    let found = drawing.recover(planted, &design, draws)?;
    let mut rows = Vec::new();
    for (place, (agent, _)) in agents.iter().enumerate() {
        let own: Vec<&Recovered> = found.iter().filter_map(|draw| draw.get(place)).collect();
        let summaries = summarise(&own);
        let mut summaries = summaries.iter();
        let selection = summaries.find(|summary| summary.candidate.basis == WeightBasis::HEADLINE);
        if let Some((selection, timing)) = selection.zip(summarise_part(&own, |draw| draw.timing)) {
            rows.push(TimingRow {
                agent: (*agent).to_owned(),
                draws,
                planted: timing.planted,
                bias: timing.bias,
                bias_error: timing.bias_error,
                selection_bias: selection.bias,
                selection_bias_error: selection.bias_error,
                outside: outside_luck(&own).map_or(f64::NAN, |[_, alike]| alike),
            });
        }
    }
    Ok(rows)
}

/// Accounts that hold the most of a style which moves returns as it does on the panel, and which the nine do not hold.
fn hidden_rows(
    panel: &Panel,
    config: &ModelConfig,
    drawing: &Drawing<'_>,
) -> Result<Vec<HiddenRow>, PlantingError> {
    let options = drawing.options;
    let mut rows = Vec::new();
    for style in ExtraStyle::ALL {
        let config = ModelConfig {
            extra_styles: vec![style],
            ..config.clone()
        };
        let planted = PlantedMarket::new(panel, &config, options.days.clone())?;
        let design = PlantedDesign {
            tail: 0.0,
            sector_share: 0.0,
            candidates: vec![CandidateExposures::LeftOut, CandidateExposures::WithoutExtra],
            agents: vec![PlantedAgent::Style(config.styles.len())],
            names: options.names,
            hold_days: options.hold_days,
        };
        let draws = drawing.recover(&planted, &design, options.draws)?;
        let draws: Vec<&Recovered> = draws.iter().flatten().collect();
        let summaries = summarise(&draws);
        let of = |exposures| {
            let mut own = summaries.iter().map(|summary| (summary.candidate, summary));
            own.find_map(|(candidate, summary)| {
                (candidate.exposures == exposures && candidate.basis == WeightBasis::HEADLINE)
                    .then_some(summary)
            })
        };
        let shares = summarise_part(&draws, |draw| Some([0.0, draw.hidden_share?]));
        let found = of(CandidateExposures::LeftOut).zip(of(CandidateExposures::WithoutExtra));
        if let Some(((with, without), shares)) = found.zip(shares) {
            rows.push(HiddenRow {
                style: style.word().to_owned(),
                draws: options.draws,
                passes: shares.bias,
                passes_error: shares.bias_error,
                bias: without.bias,
                bias_error: without.bias_error,
                bias_with: with.bias,
                bias_with_error: with.bias_error,
            });
        }
    }
    Ok(rows)
}

/// Accounts among names whose sectors share shocks: dice and skill.
fn sector_rows(planted: &PlantedMarket, drawing: &Drawing<'_>) -> Result<Vec<SectorRow>, PlantingError> {
    let options = drawing.options;
    let holding = PlantedAgent::Skill {
        information: 0.2,
        foresight: SkillHorizon::Holding,
    };
    let agents = [
        ("dice", PlantedAgent::Luck),
        ("dice in four sectors", PlantedAgent::SectorDice(4)),
        ("dice in two sectors", PlantedAgent::SectorDice(2)),
        ("skill at names, IC 0.2", holding),
        (
            "skill at sectors, IC 0.2",
            PlantedAgent::SectorSkill { information: 0.2 },
        ),
    ];
    let draws = options.draws.saturating_mul(SECTOR_DRAWS);
    let mut rows = Vec::new();
    for sector_share in SECTOR_SHARES {
        let design = PlantedDesign {
            tail: 0.0,
            sector_share,
            candidates: vec![CandidateExposures::LeftOut],
            agents: agents.iter().map(|(_, agent)| *agent).collect(),
            names: options.names,
            hold_days: options.hold_days,
        };
        let found = drawing.recover(planted, &design, draws)?;
        for (place, (agent, _)) in agents.iter().enumerate() {
            let own: Vec<&Recovered> = found.iter().filter_map(|draw| draw.get(place)).collect();
            let summaries = summarise(&own);
            let whole = summaries
                .iter()
                .find(|summary| summary.candidate.basis == WeightBasis::HEADLINE);
            if let Some((whole, sector)) = whole.zip(summarise_part(&own, |draw| draw.sector)) {
                rows.push(SectorRow {
                    sector_share,
                    draws,
                    agent: (*agent).to_owned(),
                    planted: whole.planted,
                    bias: whole.bias,
                    bias_error: whole.bias_error,
                    sector_planted: sector.planted,
                    sector_bias: sector.bias,
                    sector_bias_error: sector.bias_error,
                    outside: outside_luck(&own),
                });
            }
        }
    }
    Ok(rows)
}

/// Exposures that stop at the limits, that go on as measured, and that go on fully.
fn tails(measured: &TailFit) -> Vec<f64> {
    let best = measured.share.clamp(0.0, 1.0);
    let mut tails = vec![0.0, best, 1.0];
    tails.retain(|tail| tail.is_finite());
    tails.dedup();
    tails
}

/// Skill over the first day and over the whole holding, luck, and each style within and beyond the limits.
fn agents(planted: &PlantedMarket) -> Vec<(String, PlantedAgent)> {
    let skill = |information, foresight| PlantedAgent::Skill {
        information,
        foresight,
    };
    let mut agents = vec![
        (
            "skill, first day, IC 0.05".to_owned(),
            skill(0.05, SkillHorizon::FirstDay),
        ),
        (
            "skill, holding, IC 0.05".to_owned(),
            skill(0.05, SkillHorizon::Holding),
        ),
        ("luck".to_owned(), PlantedAgent::Luck),
    ];
    agents.push((
        "skill, holding, IC 0.2".to_owned(),
        skill(0.2, SkillHorizon::Holding),
    ));
    agents.push((
        format!("skill, holding, IC 0.2, of the {FAMOUS_NAMES} most traded"),
        PlantedAgent::FamousSkill {
            information: 0.2,
            among: FAMOUS_NAMES,
        },
    ));
    for (place, style) in planted.styles().iter().enumerate() {
        agents.push((format!("style {}", style.name()), PlantedAgent::Style(place)));
        agents.push((format!("tail {}", style.name()), PlantedAgent::Tail(place)));
    }
    agents
}

fn row(tail: f64, agent: &str, summary: &RecoverySummary) -> PlantingRow {
    PlantingRow {
        tail,
        agent: agent.to_owned(),
        exposures: summary.candidate.exposures.label().to_owned(),
        basis: summary.candidate.basis.label().to_owned(),
        planted: summary.planted,
        bias: summary.bias,
        bias_error: summary.bias_error,
        error: summary.error,
        coverage: summary.coverage,
    }
}
