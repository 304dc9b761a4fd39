//! Puts the attackers to every rung, and the strategies.

use super::forecast::mean_slopes;
use super::leakage::ClassLeakage;
use super::record::{CURVE_FORMAT, Curve, FactorSight, Recovery, ReturnDifference, Rung, StrategyCost};
use super::signals::signal_days;
use super::strategy::{FactorStrategy, FactorWeights};
use crate::CertifyError;
use crate::attacker_record::database_attackers;
use crate::compose::count_probes;
use crate::paths::CertifyPaths;
use crate::probe_inputs::ProbeInputs;
use crate::progress::ProgressFn;
use crate::run::CertifyRun;
use ktd_bundle::summary::Summary;
use ktd_env::factors::Factor;
use ktd_experiment::cells::Cell;
use ktd_io::parallel::in_parallel;
use ktd_masking::{Level, MaskSettings, Numeric};
use ktd_probes::judge::AcceptanceRule;
use ktd_probes::{ProbeKind, Stretch};

/// Fidelity of a score on one rung.
#[derive(Debug, Clone, Copy, PartialEq)]
struct ScoreFidelity {
    /// Mean over days of its rank correlation with the same score of exact numbers.
    rank_correlation: Option<f64>,
    /// Days compared.
    days: usize,
}

/// Fidelity of what one rung shows.
#[derive(Debug, Clone, PartialEq)]
pub struct RungFidelity {
    sight: FactorSight,
    strategies: Vec<ScoreFidelity>,
}

impl RungFidelity {
    /// From scores in the order of [`scores`].
    fn of(scores: &[ScoreFidelity]) -> Self {
        let (factors, rest) = scores.split_at(Factor::ALL.len().min(scores.len()));
        let (forecast, strategies) = rest.split_at(1.min(rest.len()));
        let known: Vec<f64> = factors
            .iter()
            .filter_map(|score| score.rank_correlation)
            .collect();
        let named = Factor::ALL.iter().zip(factors);
        Self {
            sight: FactorSight {
                factors: named
                    .map(|(factor, score)| (factor.name().to_owned(), score.rank_correlation))
                    .collect(),
                mean: mean(&known),
                forecast: forecast.first().and_then(|score| score.rank_correlation),
                days: factors.iter().map(|score| score.days).max().unwrap_or(0),
            },
            strategies: strategies.to_vec(),
        }
    }
}

/// What is compared: each factor alone, the forecast, and each strategy.
fn scores(forecast: FactorWeights) -> Vec<FactorWeights> {
    let alone = Factor::ALL.map(|one| Factor::ALL.map(|factor| f64::from(u8::from(factor == one))));
    let strategies = FactorStrategy::ALL.map(FactorStrategy::weights);
    alone.into_iter().chain([forecast]).chain(strategies).collect()
}

/// Run over all rungs, in a directory for each.
#[derive(Debug, Clone)]
pub struct CurveRun(pub CertifyRun);

impl CurveRun {
    /// The same run on one rung, blinded, in a directory of its own. The key that was drawn for the first rung serves all,
    /// so that every rung is asked the same questions.
    #[must_use]
    pub fn on(&self, numeric: Numeric) -> CertifyRun {
        let mut run = self.0.clone();
        run.config.mask = MaskSettings {
            level: Level::Blinded,
            numeric,
        };
        let paths = |numeric: Numeric| CertifyPaths::new(&self.0.paths.root().join(numeric.label()));
        run.paths = paths(numeric);
        let first = Numeric::ALL.into_iter().next().filter(|first| *first != numeric);
        if let (None, Some(first)) = (&run.config.mask_key_file, first) {
            let key = paths(first).mask_key();
            // A relative one would be looked up beside the configuration.
            run.config.mask_key_file = Some(std::path::absolute(&key).unwrap_or(key));
        }
        run
    }

    /// How often the attacks progress, at most.
    #[must_use]
    pub fn progress_total(&self) -> usize {
        Numeric::ALL.len() * self.0.progress_total(false)
    }

    /// What the attackers recover on each rung. What is on disk is kept.
    ///
    /// # Errors
    /// [`CertifyError`] as `ktd probe`.
    pub fn recoveries(&self, progress: ProgressFn<'_>) -> Result<Vec<Vec<Recovery>>, CertifyError> {
        Numeric::ALL
            .into_iter()
            .map(|numeric| self.recovery(numeric, progress))
            .collect()
    }

    fn recovery(&self, numeric: Numeric, progress: ProgressFn<'_>) -> Result<Vec<Recovery>, CertifyError> {
        let run = self.on(numeric);
        let record = run.attack(progress)?;
        let rule = AcceptanceRule {
            mask: MaskSettings {
                level: Level::Blinded,
                numeric,
            },
            criteria: run.criteria(),
            attackers: database_attackers().len(),
        };
        let counted = count_probes(&run.paths, &record, &database_attackers())?;
        let found = counted.recovered.iter().map(|count| {
            let rate = rule.rate(count)?;
            Ok(Recovery {
                attacker: rate.attacker,
                kind: rate.kind,
                measure: rate.measure,
                share: rate.share,
                interval: rate.interval,
                simultaneous: rate.simultaneous,
                chance: rate.chance,
            })
        });
        found.collect()
    }

    /// What is left to see on each rung. The forecast is fitted on the stretches that the attackers learn on.
    ///
    /// # Errors
    /// [`CertifyError::Input`] when the stretches do not fit the panel.
    pub fn fidelities(
        &self,
        inputs: &ProbeInputs,
        (stretches, training): (&[Stretch], &[Stretch]),
    ) -> Result<Vec<RungFidelity>, CertifyError> {
        let days = signal_days(stretches);
        let scores = scores(mean_slopes(inputs, training)?);
        let of_rung = |numeric: Numeric| {
            let found = in_parallel(&days, self.0.threads, |day| {
                day.correlations(inputs, numeric, &scores)
            });
            let found: Vec<Vec<Option<f64>>> = found.into_iter().collect::<Result<_, _>>()?;
            let of_score = |place: usize| {
                let seen: Vec<f64> = found.iter().filter_map(|day| *day.get(place)?).collect();
                ScoreFidelity {
                    rank_correlation: mean(&seen),
                    days: seen.len(),
                }
            };
            let of_scores: Vec<ScoreFidelity> = (0..scores.len()).map(of_score).collect();
            Ok(RungFidelity::of(&of_scores))
        };
        Numeric::ALL.into_iter().map(of_rung).collect()
    }

    /// The curve.
    ///
    /// # Errors
    /// [`CertifyError`] of the first episode that stopped.
    pub fn draw(
        &self,
        inputs: &ProbeInputs,
        recoveries: Vec<Vec<Recovery>>,
        fidelities: &[RungFidelity],
        episodes: Vec<(Cell, Summary)>,
    ) -> Result<Curve, CertifyError> {
        let traded = Traded::read(episodes);
        let rungs = Numeric::ALL.into_iter().zip(recoveries).zip(fidelities);
        let rungs = rungs.map(|((numeric, recovery), fidelity)| Rung {
            numeric,
            leakage: ClassLeakage::of(&recovery),
            recovery,
            sight: fidelity.sight.clone(),
            strategies: FactorStrategy::ALL
                .into_iter()
                .zip(&fidelity.strategies)
                .map(|(strategy, fidelity)| StrategyCost {
                    rank_correlation: fidelity.rank_correlation,
                    days: fidelity.days,
                    ..traded.cost(strategy, numeric)
                })
                .collect(),
        });
        let kinds = ProbeKind::ALL.map(|kind| (kind, self.0.config.probes.of(kind)));
        Ok(Curve {
            format: CURVE_FORMAT,
            ktd: env!("CARGO_PKG_VERSION").to_owned(),
            data: inputs.source.record.clone(),
            confidence: self.0.config.confidence,
            probes: kinds.into(),
            rungs: rungs.collect(),
        })
    }
}

/// Total return of an episode.
struct EpisodeReturn {
    agent: String,
    numeric: Numeric,
    window: String,
    value: f64,
}

/// Total returns of episodes.
struct Traded(Vec<EpisodeReturn>);

impl Traded {
    fn read(episodes: Vec<(Cell, Summary)>) -> Self {
        let mut traded = Vec::with_capacity(episodes.len());
        for (cell, summary) in episodes {
            if let Some(value) = summary.account.and_then(|account| account.total_return.value) {
                traded.push(EpisodeReturn {
                    agent: cell.agent.id,
                    numeric: cell.mask.numeric,
                    window: cell.window.id,
                    value,
                });
            }
        }
        Self(traded)
    }

    fn of(&self, strategy: FactorStrategy, numeric: Numeric) -> Vec<(&str, f64)> {
        let is_asked = |found: &&EpisodeReturn| found.agent == strategy.builtin() && found.numeric == numeric;
        let found = self.0.iter().filter(is_asked);
        found.map(|found| (found.window.as_str(), found.value)).collect()
    }

    fn cost(&self, strategy: FactorStrategy, numeric: Numeric) -> StrategyCost {
        let (here, exact) = (self.of(strategy, numeric), self.of(strategy, Numeric::Exact));
        let values: Vec<f64> = here.iter().map(|(_, value)| *value).collect();
        let pairs: Vec<f64> = here
            .iter()
            .filter_map(|(window, value)| {
                let (_, other) = exact.iter().find(|(of, _)| of == window)?;
                Some(value - other)
            })
            .collect();
        StrategyCost {
            strategy,
            rank_correlation: None,
            days: 0,
            mean_return: mean(&values),
            difference: (numeric != Numeric::Exact).then(|| spread(&pairs)).flatten(),
            episodes: values.len(),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "some hundred values")]
fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Mean and its standard error.
#[expect(clippy::cast_precision_loss, reason = "some hundred values")]
fn spread(values: &[f64]) -> Option<ReturnDifference> {
    let middle = mean(values).filter(|_| 2 <= values.len())?;
    let squares: f64 = values
        .iter()
        .map(|value| (value - middle) * (value - middle))
        .sum();
    let count = values.len() as f64;
    Some(ReturnDifference {
        mean: middle,
        standard_error: (squares / (count - 1.0) / count).sqrt(),
    })
}
