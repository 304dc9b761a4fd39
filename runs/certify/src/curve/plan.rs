//! Puts the attackers to every rung, and the strategies.

use super::record::{CURVE_FORMAT, Curve, Recovery, Rung, StrategyCost};
use super::signals::signal_days;
use super::strategy::Strategy;
use crate::CertifyError;
use crate::Tick;
use crate::figure::Rule;
use crate::ground::Ground;
use crate::paths::CertifyPaths;
use crate::session::{CertifyRun, count_probes, database_attackers};
use ktd_episode::run::CellResult;
use ktd_io::parallel::in_parallel;
use ktd_masking::{Level, MaskSettings, Numeric};
use ktd_probes::{ProbeKind, Stretch};

/// How well a strategy sees on one rung.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sight {
    /// Mean over days of the rank correlation of its signals with those of exact numbers.
    pub rank_correlation: Option<f64>,
    /// Days compared.
    pub days: usize,
}

/// One run over all rungs, in a directory for each.
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

    /// How often the attacks tick, at most.
    #[must_use]
    pub fn ticks(&self) -> usize {
        Numeric::ALL.len() * self.0.ticks(false)
    }

    /// What the attackers recover on each rung. What is on disk is kept.
    ///
    /// # Errors
    /// [`CertifyError`] as `ktd probe`.
    pub fn recoveries(&self, tick: Tick<'_>) -> Result<Vec<Vec<Recovery>>, CertifyError> {
        Numeric::ALL
            .into_iter()
            .map(|numeric| self.recovery(numeric, tick))
            .collect()
    }

    fn recovery(&self, numeric: Numeric, tick: Tick<'_>) -> Result<Vec<Recovery>, CertifyError> {
        let run = self.on(numeric);
        let record = run.attack(false, tick)?;
        let rule = Rule {
            mask: MaskSettings {
                level: Level::Blinded,
                numeric,
            },
            confidence: run.config.confidence,
            thresholds: run.config.thresholds,
            attackers: database_attackers().len(),
        };
        let counted = count_probes(&run.paths, &record, &database_attackers())?;
        let found = counted.counts.iter().map(|count| {
            let figure = rule.figure(count)?;
            Ok(Recovery {
                attacker: figure.attacker,
                kind: figure.kind,
                measure: figure.measure,
                share: figure.share,
                interval: figure.interval,
                chance: figure.chance,
            })
        });
        found.collect()
    }

    /// What the strategies see on each rung: strategy by strategy.
    ///
    /// # Errors
    /// [`CertifyError::Input`] when the stretches do not fit the panel.
    pub fn sights(&self, ground: &Ground, stretches: &[Stretch]) -> Result<Vec<Vec<Sight>>, CertifyError> {
        let days = signal_days(stretches);
        let of_rung = |numeric: Numeric| {
            let found = in_parallel(&days, self.0.threads, |day| day.correlations(ground, numeric));
            let found: Vec<_> = found.into_iter().collect::<Result<_, _>>()?;
            let of_strategy = |place: usize| {
                let seen: Vec<f64> = found.iter().filter_map(|day| *day.get(place)?).collect();
                Sight {
                    rank_correlation: mean(&seen),
                    days: seen.len(),
                }
            };
            Ok((0..Strategy::ALL.len()).map(of_strategy).collect())
        };
        Numeric::ALL.into_iter().map(of_rung).collect()
    }

    /// The curve.
    ///
    /// # Errors
    /// [`CertifyError`] of the first episode that stopped.
    pub fn draw(
        &self,
        ground: &Ground,
        recoveries: Vec<Vec<Recovery>>,
        sights: &[Vec<Sight>],
        episodes: Vec<CellResult>,
    ) -> Result<Curve, CertifyError> {
        let traded = Traded::read(episodes)?;
        let rungs = Numeric::ALL.into_iter().zip(recoveries).zip(sights);
        let rungs = rungs.map(|((numeric, recovery), sight)| Rung {
            numeric: numeric.label().to_owned(),
            recovery,
            strategies: Strategy::ALL
                .into_iter()
                .zip(sight)
                .map(|(strategy, sight)| StrategyCost {
                    rank_correlation: sight.rank_correlation,
                    days: sight.days,
                    ..traded.cost(strategy, numeric)
                })
                .collect(),
        });
        let kinds = ProbeKind::ALL.map(|kind| (kind.label().to_owned(), self.0.config.probes.of(kind)));
        Ok(Curve {
            format: CURVE_FORMAT,
            ktd: env!("CARGO_PKG_VERSION").to_owned(),
            data: ground.source.record.clone(),
            confidence: self.0.config.confidence,
            probes: kinds.into(),
            rungs: rungs.collect(),
        })
    }
}

/// Total returns of episodes: strategy, rung, window.
struct Traded(Vec<(String, String, String, f64)>);

impl Traded {
    fn read(episodes: Vec<CellResult>) -> Result<Self, CertifyError> {
        let mut traded = Vec::with_capacity(episodes.len());
        for episode in episodes {
            let summary = episode.result?;
            let cell = episode.cell;
            if let Some(value) = summary.metrics.total_return.value {
                let numeric = cell.mask.numeric.label().to_owned();
                traded.push((cell.agent.id, numeric, cell.window.id, value));
            }
        }
        Ok(Self(traded))
    }

    fn of(&self, strategy: Strategy, numeric: Numeric) -> Vec<(&str, f64)> {
        let is_asked = |(agent, on, ..): &&(String, String, String, f64)| {
            agent == strategy.builtin() && on == numeric.label()
        };
        let found = self.0.iter().filter(is_asked);
        found
            .map(|(_, _, window, value)| (window.as_str(), *value))
            .collect()
    }

    fn cost(&self, strategy: Strategy, numeric: Numeric) -> StrategyCost {
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
            strategy: strategy.builtin().to_owned(),
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
fn spread(values: &[f64]) -> Option<(f64, f64)> {
    let middle = mean(values).filter(|_| 2 <= values.len())?;
    let squares: f64 = values
        .iter()
        .map(|value| (value - middle) * (value - middle))
        .sum();
    let count = values.len() as f64;
    Some((middle, (squares / (count - 1.0) / count).sqrt()))
}
