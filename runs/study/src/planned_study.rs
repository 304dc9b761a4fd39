//! What a study would ask and cost, before anybody is asked.

use crate::identity::{check_same_study, read_header};
use crate::inputs::Inputs;
use crate::kind::{Planned, StudyKind};
use crate::opening::Opening;
use crate::plan_lines::PlanLine;
use crate::recorded_units::RecordedUnits;
use crate::report::{Report, Section, Shown};
use crate::study::OpenedStudy;
use crate::unit_requests::{AlikeRequests, UnitRequests};
use crate::{StudyError, StudyRun, UnitId, kind_of};
use ktd_client::AskedModel;
use ktd_experiment::amount::Picodollars;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// What a study asks and costs.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct StudyPlan {
    /// Its name.
    pub study: String,
    /// Its kind.
    pub kind: String,
    /// Where its results go.
    pub folder: String,
    /// Units in all.
    pub units: usize,
    /// Units that are finished there already.
    pub finished: usize,
    /// Who is asked, and what those units of theirs cost that are not finished.
    pub asked: Vec<PlannedModel>,
}

/// What a model is asked by the units of a study that are not finished.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct PlannedModel {
    /// Its agent.
    pub agent: String,
    /// Its name at its vendor.
    pub model: String,
    /// What it is asked for.
    pub role: String,
    /// Its units that are not finished.
    pub units: usize,
    /// What they usually ask; left out where the kind cannot say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usual: Option<RequestSum>,
    /// What they ask at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<RequestSum>,
}

/// Requests with their tokens and cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct RequestSum {
    /// Requests.
    pub requests: u64,
    /// Their tokens.
    pub tokens_in: u64,
    /// Tokens of the replies.
    pub tokens_out: u64,
    /// What they cost; left out without a price.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_picodollars: Option<u64>,
}

/// The plan of the study of a file whose results go to a folder. Nothing is asked, run or written.
///
/// # Errors
/// [`StudyError`] for keys that do not go together, a world that cannot be read, and a folder that holds another study.
pub(crate) fn plan_study<K: StudyKind>(
    keys: K::Keys,
    (base, out): (&Path, &Path),
    run: &StudyRun<'_>,
) -> Result<StudyPlan, StudyError> {
    check_same_study::<K>(out, &keys)?;
    let header = kind_of(out).map(|_| read_header::<K>(out)).transpose()?;
    let at = Opening::unkept(base, out, run.threads);
    let world = K::open_planned(&keys, &at, header.as_ref().map(|header| &header.decides))?;
    let study = OpenedStudy::<K>::over((keys, world, Inputs::Unkept), (base, out), run)?;
    let finished = finished(&study, header.is_some())?;
    let missing: Vec<&Planned<K::Unit>> = study
        .plan
        .iter()
        .filter(|unit| !finished.contains(&unit.id))
        .collect();
    Ok(StudyPlan {
        study: K::name(&study.keys).to_owned(),
        kind: K::NAME.to_owned(),
        folder: out.display().to_string(),
        units: study.plan.len(),
        finished: finished.len(),
        asked: asked(&study, &missing, base)?,
    })
}

/// The units that are finished in the study's folder, decided by what would decide them now.
fn finished<K: StudyKind>(study: &OpenedStudy<K>, is_begun: bool) -> Result<BTreeSet<UnitId>, StudyError> {
    if !is_begun {
        return Ok(BTreeSet::new());
    }
    let recorded = RecordedUnits::read(&study.out, K::OWN)?;
    let missing: BTreeSet<UnitId> = recorded.missing().into_iter().collect();
    let asked = PlanLine::all(&study.plan, &study.decided)?;
    let finished = recorded.0.into_iter().map(|(unit, _)| unit);
    let finished = finished.filter(|unit| !missing.contains(&unit.id) && asked.contains(unit));
    Ok(finished.map(|unit| unit.id).collect())
}

fn asked<K: StudyKind>(
    study: &OpenedStudy<K>,
    missing: &[&Planned<K::Unit>],
    base: &Path,
) -> Result<Vec<PlannedModel>, StudyError> {
    let Some(settings) = K::asking(&study.keys) else {
        return Ok(Vec::new());
    };
    let (models, _) = settings.models(base)?;
    let mut asked = Vec::new();
    for (place, model) in models.iter().enumerate() {
        let is_own = |unit: &&Planned<K::Unit>| unit.model == Some(place);
        let Some(first) = study.plan.iter().find(is_own) else {
            continue;
        };
        let own: Vec<_> = missing.iter().copied().filter(is_own).collect();
        let requests: Option<Vec<UnitRequests>> = own
            .iter()
            .map(|unit| K::requests(&study.world, &unit.unit, &model.agent))
            .collect();
        let sum = |part: fn(&UnitRequests) -> &[AlikeRequests], price: Price| {
            let requests = requests.as_ref()?;
            Some(RequestSum::of(requests.iter().flat_map(part), |alike| {
                price(model, alike)
            }))
        };
        asked.push(PlannedModel {
            agent: model.id().to_owned(),
            model: model.agent.model_name().to_owned(),
            role: study.role(first).0,
            units: own.len(),
            usual: sum(|unit| &unit.usual, usual_price),
            most: sum(|unit| &unit.most, most_price),
        });
    }
    Ok(asked)
}

type Price = fn(&AskedModel, &AlikeRequests) -> Option<Picodollars>;

fn usual_price(model: &AskedModel, alike: &AlikeRequests) -> Option<Picodollars> {
    model
        .payer
        .tariff
        .basis()
        .usual(alike.tokens_in, alike.tokens_out)
}

fn most_price(model: &AskedModel, alike: &AlikeRequests) -> Option<Picodollars> {
    let basis = model.payer.tariff.basis();
    basis.most(alike.tokens_in, Some(alike.tokens_out))
}

impl RequestSum {
    fn of<'r>(
        all: impl Iterator<Item = &'r AlikeRequests>,
        price: impl Fn(&AlikeRequests) -> Option<Picodollars>,
    ) -> Self {
        let mut sum = Self {
            cost_picodollars: Some(0),
            ..Self::default()
        };
        for alike in all {
            let times = |each: u64| each.saturating_mul(alike.count);
            sum.requests = sum.requests.saturating_add(alike.count);
            sum.tokens_in = sum.tokens_in.saturating_add(times(alike.tokens_in));
            sum.tokens_out = sum.tokens_out.saturating_add(times(alike.tokens_out));
            let cost = price(alike).map(|one| times(one.0));
            sum.cost_picodollars = sum
                .cost_picodollars
                .zip(cost)
                .map(|(sum, own)| sum.saturating_add(own));
        }
        sum
    }
}

impl StudyPlan {
    /// The plan for people.
    #[must_use]
    pub fn report(&self) -> Report {
        let heads = [
            ("agent", Left),
            ("model", Left),
            ("role", Left),
            ("units", Right),
            ("requests", Right),
            ("tokens in", Right),
            ("tokens out", Right),
            ("cost", Right),
            ("at most requests", Right),
            ("at most cost", Right),
        ];
        let asked = TableData::new("Who is asked", heads).with_rows(self.asked.iter().map(PlannedModel::row));
        let asked = if self.asked.is_empty() {
            asked
        } else {
            asked.with_note(
                "of units that are not finished, as nearly as can be said before; nobody was asked",
            )
        };
        let left = self.units - self.finished;
        let who = match self.asked.len() {
            0 => "nobody is asked".to_owned(),
            count => format!("{count} models are asked"),
        };
        Report {
            title: self.study.clone(),
            verdict: format!(
                "{}, a study of kind {}: {} units, of which {} are finished in {} and {left} are not; {who}.",
                self.study, self.kind, self.units, self.finished, self.folder
            ),
            sections: vec![Section::new("Who is asked").table("asked", asked, Shown::Everywhere)],
            ..Report::default()
        }
    }
}

impl PlannedModel {
    fn row(&self) -> Vec<TableCell> {
        let text = |text: &str| TableCell::Text(text.to_owned());
        let unknown = || TableCell::Missing("the kind cannot say before".to_owned());
        let count = |sum: Option<RequestSum>, part: fn(&RequestSum) -> u64| {
            sum.map_or_else(unknown, |sum| {
                TableCell::Count(usize::try_from(part(&sum)).unwrap_or(usize::MAX))
            })
        };
        let cost = |sum: Option<RequestSum>| match sum.map(|sum| sum.cost_picodollars) {
            None => unknown(),
            Some(None) => TableCell::Missing("the model has no price".to_owned()),
            Some(Some(cost)) => TableCell::Text(Picodollars(cost).to_string()),
        };
        vec![
            text(&self.agent),
            text(&self.model),
            text(&self.role),
            TableCell::Count(self.units),
            count(self.usual, |sum| sum.requests),
            count(self.usual, |sum| sum.tokens_in),
            count(self.usual, |sum| sum.tokens_out),
            cost(self.usual),
            count(self.most, |sum| sum.requests),
            cost(self.most),
        ]
    }
}
