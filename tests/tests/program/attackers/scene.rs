//! A small synthetic panel, probes of it, and line-ups that are put before them.

use crate::attackers::scripted::Script;
use ktd_certify::CertifyError;
use ktd_certify::language_attackers::{LanguageAnswer, LanguageAttackers, Questions};
use ktd_env::exchange::Rules;
use ktd_env::factors::FactorConfig;
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{FactorTable, Market};
use ktd_experiment::rules_config::RulesConfig;
use ktd_masking::{Level, MaskKey, MaskSettings, Numeric};
use ktd_probes::{Aid, Gold, Probe, ProbeKind, ProbeMaker, ProbePlan, RecoveryTally};
use ktd_tools::{ToolLimits, Toolbox};
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// The parts that probes are made of.
pub(crate) struct Scene {
    pub(crate) market: Arc<Market>,
    factors: FactorTable,
    toolbox: Toolbox,
    rules: Rules,
    limits: ToolLimits,
}

/// Probes with their answer keys.
pub(crate) struct Set {
    pub(crate) mask: MaskSettings,
    pub(crate) probes: Vec<Probe>,
    pub(crate) gold: Vec<Gold>,
}

/// One for all tests.
pub(crate) fn scene() -> &'static Scene {
    static SCENE: OnceLock<Scene> = OnceLock::new();
    SCENE.get_or_init(|| {
        let market = generate(&SynthConfig {
            seed: 11,
            names: 30,
            days: 300,
        })
        .unwrap();
        let first = market.day_at(ProbePlan::HISTORY_DAYS - 1).unwrap();
        let last = market.day_at(market.calendar().len() - 1).unwrap();
        Scene {
            factors: FactorTable::new(&market, &FactorConfig::KTD, first, last).unwrap(),
            market: Arc::new(market),
            toolbox: Toolbox::new().unwrap(),
            rules: RulesConfig::default().rules().unwrap(),
            limits: ToolLimits {
                max_candidates: 4,
                max_lookback: 60,
                ..ToolLimits::default()
            },
        }
    })
}

pub(crate) const BLINDED: MaskSettings = MaskSettings {
    level: Level::Blinded,
    numeric: Numeric::Rescaled,
};

pub(crate) fn at(level: Level) -> MaskSettings {
    MaskSettings {
        level,
        numeric: Numeric::Exact,
    }
}

impl Scene {
    /// So many probes of each kind.
    pub(crate) fn probes(&self, mask: MaskSettings, kinds: &[ProbeKind], count: usize) -> Set {
        let plan = ProbePlan {
            seed: 3,
            mask,
            key: MaskKey::from_bytes([7; 32]),
            days: 2,
            episode_steps: 3,
            aid: Aid::None,
            windows: Vec::new(),
            given_away: vec![3],
            stretches: vec![262..280, 280..298],
        };
        plan.check().unwrap();
        let maker = ProbeMaker {
            market: &self.market,
            factors: &self.factors,
            toolbox: &self.toolbox,
            rules: &self.rules,
            limits: &self.limits,
            plan: &plan,
        };
        let wanted = kinds
            .iter()
            .flat_map(|kind| (0..count).map(move |number| (*kind, number)));
        let made: Vec<(Probe, Gold)> = wanted
            .map(|(kind, number)| maker.make(kind, number).unwrap())
            .collect();
        let (probes, gold) = made.into_iter().unzip();
        Set { mask, probes, gold }
    }

    /// The attackers of a `[language]` table.
    pub(crate) fn attackers(&self, language: &str, output: &Path) -> LanguageAttackers {
        LanguageAttackers::new(toml::from_str(language).unwrap(), &self.market, 1, output, output).unwrap()
    }

    /// The code of the stock behind a probe.
    pub(crate) fn code(&self, gold: &Gold) -> String {
        let info = self.market.name(gold.targets[0].name).unwrap();
        info.ticker.reveal().to_owned()
    }

    /// The date of the day behind a probe.
    pub(crate) fn date(&self, gold: &Gold) -> String {
        self.market.date(gold.targets[0].day).unwrap().reveal()
    }
}

impl Set {
    pub(crate) fn questions(&self) -> Questions<'_> {
        Questions {
            set: "probes",
            mask: self.mask,
            probes: &self.probes,
        }
    }

    /// What answers recovered.
    pub(crate) fn tally(&self, answers: &[LanguageAnswer]) -> RecoveryTally {
        assert_eq!(answers.len(), self.probes.len());
        let mut tally = RecoveryTally::default();
        for (probe, gold) in self.probes.iter().zip(&self.gold) {
            let answer = answers
                .iter()
                .find(|answer| (answer.kind, answer.number) == (probe.kind, probe.number))
                .unwrap();
            tally.add(answer.answer.as_ref(), gold, 20);
        }
        tally
    }
}

pub(crate) fn silent() {}

/// Puts a set to the attacker `m`, whose words a script decides.
pub(crate) async fn ask(
    attackers: &LanguageAttackers,
    set: &Set,
    script: &Script,
) -> Result<Vec<LanguageAnswer>, CertifyError> {
    let attacker = attackers.find("m").unwrap();
    attackers
        .ask_over(attacker, &set.questions(), script, &silent)
        .await
}
