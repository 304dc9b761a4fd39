//! What a probe costs: making one of each kind, and putting all attackers to one day and to one episode, on a
//! synthetic panel of 300 names over 1,200 days. Probes change from call to call, so that no day's rows stay in the cache.

use criterion::Criterion;
use ktd_env::exchange::Rules;
use ktd_env::factors::FactorConfig;
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{FactorTable, Market};
use ktd_masking::{Level, MaskKey, MaskSettings, Numeric};
use ktd_probes::{Aid, Attackers, Database, DatabaseSource, ProbeKind, ProbeMaker, ProbePlan, ProbeText};
use ktd_tools::{ToolLimits, Toolbox};
use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

const NAMES: u32 = 300;
const DAYS: u32 = 1_200;
/// Stretches of the plan.
const STRETCHES: usize = 4;
/// Steps of an episode.
const STEPS: usize = 30;
/// Different probes of each attack.
const PROBES: usize = 8;

/// What all probes share.
struct Stage {
    market: Market,
    factors: FactorTable,
    toolbox: Toolbox,
    rules: Rules,
    limits: ToolLimits,
}

impl Stage {
    fn new() -> Result<Self, Box<dyn Error>> {
        let market = generate(&SynthConfig {
            seed: 19,
            names: NAMES,
            days: DAYS,
        })?;
        let day = |place: usize| market.day_at(place).ok_or("the panel is too short");
        let (first, last) = (
            day(ProbePlan::HISTORY_DAYS - 1)?,
            day(market.calendar().len() - 1)?,
        );
        Ok(Self {
            factors: FactorTable::new(&market, &FactorConfig::KTD, first, last)?,
            toolbox: Toolbox::new()?,
            rules: Rules::default(),
            limits: ToolLimits::default(),
            market,
        })
    }

    fn plan(&self, numeric: Numeric) -> Result<ProbePlan, Box<dyn Error>> {
        let (stretches, _) = ProbePlan::spread(&self.market, Some(STRETCHES), STEPS)?;
        Ok(ProbePlan {
            seed: 1,
            mask: MaskSettings {
                level: Level::Blinded,
                numeric,
            },
            key: MaskKey::from_bytes([7; 32]),
            days: 5,
            episode_steps: STEPS,
            aid: Aid::None,
            windows: Vec::new(),
            given_away: vec![3],
            stretches,
        })
    }

    fn make(&self, plan: &ProbePlan, kind: ProbeKind, number: usize) -> Option<ProbeText> {
        let maker = ProbeMaker {
            market: &self.market,
            factors: &self.factors,
            toolbox: &self.toolbox,
            rules: &self.rules,
            limits: &self.limits,
            plan,
        };
        maker.make(kind, number).map(|(probe, _)| probe.text())
    }

    fn database(&self) -> Database {
        Database::new(&DatabaseSource {
            market: &self.market,
            factors: &self.factors,
            toolbox: &self.toolbox,
            rules: &self.rules,
        })
    }
}

fn making(criterion: &mut Criterion, stage: &Stage) -> Result<(), Box<dyn Error>> {
    let plan = stage.plan(Numeric::Exact)?;
    let mut group = criterion.benchmark_group("make a probe");
    for kind in ProbeKind::ALL {
        stage.make(&plan, kind, 0).ok_or("no probe can be made")?;
        let mut numbers = 0..;
        group.bench_function(kind.label(), |bench| {
            bench.iter(|| black_box(numbers.next().and_then(|number| stage.make(&plan, kind, number))));
        });
    }
    group.finish();
    Ok(())
}

fn attacking(criterion: &mut Criterion, stage: &Stage) -> Result<(), Box<dyn Error>> {
    let database = stage.database();
    let mut group = criterion.benchmark_group("all attackers");
    for numeric in [Numeric::Exact, Numeric::Banded] {
        let plan = stage.plan(numeric)?;
        let attackers = Attackers::new(&database, numeric);
        for kind in [ProbeKind::Day, ProbeKind::Episode] {
            let probes: Vec<ProbeText> = (0..PROBES)
                .filter_map(|number| stage.make(&plan, kind, number))
                .collect();
            let mut turns = probes.iter().cycle();
            group.bench_function(format!("{} {}", numeric.label(), kind.label()), |bench| {
                bench.iter(|| {
                    turns
                        .next()
                        .map(|probe| attackers.answer(&database, black_box(probe), 1))
                });
            });
        }
    }
    group.finish();
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let stage = Stage::new()?;
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(5))
        .configure_from_args();
    making(&mut criterion, &stage)?;
    attacking(&mut criterion, &stage)?;
    criterion.final_summary();
    Ok(())
}
