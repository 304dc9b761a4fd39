//! A curve as a kind of study: a unit for what a rung leaks and one for what episodes earn on it, and one for what all rungs show.

use super::earned::{EpisodeReturn, earned, strategy_cost};
use super::leakage::ClassLeakage;
use super::record::{Curve, Rung};
use super::recovery::Recovery;
use super::report::curve_report;
use super::sight::{RungSight, sights};
use crate::CertifyError;
use crate::attack_run::ProbeStream;
use crate::attacker_record::database_attackers;
use crate::compose::count;
use crate::config::CertifyConfig;
use crate::paths::PROBES;
use crate::probe_inputs::wanted;
use crate::set_plan::SetPlan;
use crate::world::MaskWorld;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use ktd_masking::{Level, Numeric};
use ktd_probes::ProbeKind;
use ktd_probes::judge::AcceptanceRule;
use ktd_study::{Hands, Opening, Planned, Report, StudyError, StudyKind, UnitId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What each rung of numbers leaks, and what it costs.
#[derive(Debug, Clone, Copy)]
pub struct CurveStudy;

/// What decides a unit beside its study.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(tag = "unit", rename_all = "snake_case")]
pub enum CurveUnit {
    /// The attackers of the database on the probes of a rung.
    Leakage {
        /// The rung.
        numeric: Numeric,
    },
    /// What is left to see on every rung.
    Sight,
    /// Episodes of the strategies on a rung.
    Earned {
        /// The rung.
        numeric: Numeric,
    },
}

/// What a unit came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "unit", content = "found", rename_all = "snake_case")]
pub enum CurveFound {
    /// Of [`CurveUnit::Leakage`].
    Leakage(Vec<Recovery>),
    /// Of [`CurveUnit::Sight`], from exact numbers down.
    Sight(Vec<RungSight>),
    /// Of [`CurveUnit::Earned`].
    Earned(Vec<EpisodeReturn>),
}

impl StudyKind for CurveStudy {
    const NAME: &'static str = "curve";
    const COMMAND: &'static str = "ktd curve";
    const FORMAT: u32 = 1;
    const STEPS: &'static str = "probes learned from or attacked";
    const PANEL_HASH: Option<&'static str> = Some("/data/panel_blake3");
    const PLACES: &'static [&'static str] = &["/panel"];

    type Keys = CertifyConfig;
    type World = MaskWorld;
    type Unit = CurveUnit;
    type Event = ();
    type Found = CurveFound;
    type Summary = Curve;

    fn name(keys: &CertifyConfig) -> &str {
        &keys.name
    }

    fn panel(keys: &mut CertifyConfig) -> Option<&mut PathBuf> {
        keys.panel.as_mut()
    }

    fn output(keys: &CertifyConfig) -> Option<&Path> {
        keys.output.as_deref()
    }

    fn check(keys: &CertifyConfig) -> Result<(), StudyError> {
        Ok(keys.check()?)
    }

    /// One after the other: each uses all threads for its probes.
    fn at_once(_keys: &CertifyConfig) -> Option<usize> {
        Some(1)
    }

    fn open(keys: &CertifyConfig, at: &Opening<'_>) -> Result<MaskWorld, StudyError> {
        // A key signs certificates, and nobody but the attackers of the database is asked.
        let keys = CertifyConfig {
            key: None,
            ..keys.clone()
        };
        MaskWorld::open(&keys, at)
    }

    fn open_recorded(
        keys: &CertifyConfig,
        at: &Opening<'_>,
        recorded: &Value,
    ) -> Result<MaskWorld, StudyError> {
        MaskWorld::recorded(keys, at, recorded)
    }

    fn decides(world: &MaskWorld) -> Value {
        let criteria = world.keys.criteria();
        json!({
            "plan": world.rung(Numeric::Exact),
            "data": world.source.record,
            "confidence": criteria.confidence,
            "key_commitment": world.key.commitment(),
        })
    }

    fn units(keys: &CertifyConfig, world: &MaskWorld) -> Result<Vec<Planned<CurveUnit>>, StudyError> {
        let learned: usize = keys.probes.kinds().map(|kind| world.plan.training_of(kind)).sum();
        let steps = u64::try_from(learned + world.steps_of_set()).unwrap_or(u64::MAX);
        let mut plan = vec![Planned::line("sight".to_owned(), CurveUnit::Sight).steps(0)];
        for numeric in Numeric::ALL {
            let id = |what: &str| format!("{what}.{}", numeric.label());
            plan.push(Planned::line(id("leakage"), CurveUnit::Leakage { numeric }).steps(steps));
            plan.push(Planned::line(id("earned"), CurveUnit::Earned { numeric }).steps(0));
        }
        Ok(plan)
    }

    fn run<'a>(
        world: &'a MaskWorld,
        unit: &'a CurveUnit,
        hands: &'a mut Hands<'_, ()>,
    ) -> LocalBoxFuture<'a, Result<CurveFound, StudyError>> {
        async move {
            Ok(match unit {
                CurveUnit::Leakage { numeric } => CurveFound::Leakage(world.leakage(*numeric, hands)?),
                CurveUnit::Sight => CurveFound::Sight(sights(&world.workspace()?.inputs, &world.plan)?),
                CurveUnit::Earned { numeric } => CurveFound::Earned(earned(world, *numeric).await?),
            })
        }
        .boxed_local()
    }

    fn conclude(keys: &CertifyConfig, found: Vec<(UnitId, CurveFound)>) -> Result<Curve, StudyError> {
        let (mut leaked, mut seen, mut episodes) = (Vec::new(), Vec::new(), Vec::new());
        for (_, found) in found {
            match found {
                CurveFound::Leakage(found) => leaked.push(found),
                CurveFound::Sight(found) => seen = found,
                CurveFound::Earned(found) => episodes.push(found),
            }
        }
        let exact = episodes.first().cloned().unwrap_or_default();
        let rungs = Numeric::ALL.into_iter().zip(leaked).zip(seen).zip(episodes);
        let rungs = rungs.map(|(((numeric, recovery), sight), episodes)| Rung {
            numeric,
            leakage: ClassLeakage::of(&recovery),
            recovery,
            strategies: sight
                .strategies
                .iter()
                .map(|seen| strategy_cost(seen, &episodes, (numeric != Numeric::Exact).then_some(&*exact)))
                .collect(),
            sight: sight.sight,
        });
        Ok(Curve {
            name: keys.name.clone(),
            confidence: keys.confidence,
            probes: ProbeKind::ALL.map(|kind| (kind, keys.probes.of(kind))).into(),
            rungs: rungs.collect(),
        })
    }

    fn report(_keys: &CertifyConfig, summary: &Curve) -> Result<Report, StudyError> {
        Ok(curve_report(summary))
    }
}

impl MaskWorld {
    /// The same questions on a rung, blinded.
    fn rung(&self, numeric: Numeric) -> SetPlan {
        SetPlan {
            level: Level::Blinded,
            numeric,
            ..self.plan.clone()
        }
    }

    /// What the attackers recover on a rung. Probes are made as they are read; none is kept.
    fn leakage(&self, numeric: Numeric, hands: &Hands<'_, ()>) -> Result<Vec<Recovery>, StudyError> {
        let (plan, workspace) = (self.rung(numeric), self.workspace()?);
        let inputs = &workspace.inputs;
        let probing = plan.probing(plan.mask(), self.key.clone(), PROBES);
        let count_of = |kind| plan.probes.of(kind);
        let probes = || -> Result<ProbeStream<'_>, CertifyError> {
            let made = inputs.made(&probing, wanted(&count_of), |probe, _| probe.text());
            Ok(Box::new(made.flat_map(|made| match made {
                Ok(made) => made.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(error)],
            })))
        };
        let answers = workspace.attack(&plan, &count_of).answers(&probes, &|done| {
            hands.advance(u64::try_from(done).unwrap_or(u64::MAX));
        })?;
        let mut gold = Vec::new();
        let terms = (plan.mask(), plan.joint_days);
        let keys = inputs.made(&probing, wanted(&count_of), |probe, gold| {
            workspace.gold_line(terms, &probe.text(), &gold)
        });
        for keys in keys {
            gold.extend(keys?);
        }
        let rule = AcceptanceRule {
            mask: plan.mask(),
            criteria: self.keys.criteria(),
            attackers: database_attackers().len(),
            models: 0,
        };
        let mut found = Vec::new();
        for (attacker, lines) in &answers {
            for counted in count(attacker, &gold, lines, &plan)?.recovered {
                let rate = rule.rate(&counted).map_err(CertifyError::from)?;
                found.push(Recovery {
                    attacker: rate.attacker,
                    kind: rate.kind,
                    measure: rate.measure,
                    share: rate.share,
                    interval: rate.interval,
                    simultaneous: rate.simultaneous,
                    chance: rate.chance,
                });
            }
        }
        Ok(found)
    }
}
