//! A small synthetic panel, probes of it, and line-ups that are put before them.

use crate::attackers::scripted::Script;
use ktd_agents::Transport;
use ktd_asking::{Answerer, AskedRecord, OpenModels};
use ktd_baselines::BuiltinTransport;
use ktd_certify::CertifyError;
use ktd_certify::language_attackers::{LanguageAnswer, LanguageConfig, Questions};
use ktd_env::exchange::Rules;
use ktd_env::factors::FactorConfig;
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{FactorTable, Market};
use ktd_episode::control::cheater;
use ktd_experiment::rules_config::RulesConfig;
use ktd_guard::{Guard, Guards};
use ktd_masking::{Level, MaskKey, MaskSettings, Numeric};
use ktd_probes::{Aid, Gold, Probe, ProbeKind, ProbeMaker, ProbePlan, RecoveryTally};
use ktd_tools::{ToolLimits, Toolbox};
use std::path::{Path, PathBuf};
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

/// The first model of a `[language]` table, with its folder in `output`.
pub(crate) fn asked(language: &str, output: &Path) -> Asked {
    Asked::new(toml::from_str(language).unwrap(), output, output)
}

impl Set {
    /// What answers recovered.
    pub(crate) fn tally(&self, answers: &[LanguageAnswer]) -> RecoveryTally {
        assert_eq!(answers.len(), self.probes.len());
        let mut tally = RecoveryTally::default();
        for (probe, gold) in self.probes.iter().zip(&self.gold) {
            let answer = answers
                .iter()
                .find(|answer| (answer.kind, answer.number) == (probe.kind, probe.number))
                .unwrap();
            tally.add(answer.answer(&scene().market).as_ref(), gold, 20);
        }
        tally
    }
}

/// A model that is asked, and where its record lies.
pub(crate) struct Asked {
    config: LanguageConfig,
    models: OpenModels,
    folder: PathBuf,
    base: PathBuf,
}

fn guard(mask: MaskSettings) -> &'static Guard {
    static GUARDS: OnceLock<Guards> = OnceLock::new();
    GUARDS
        .get_or_init(Guards::default)
        .of(mask.level, &scene().market)
}

impl Asked {
    pub(crate) fn new(config: LanguageConfig, base: &Path, output: &Path) -> Self {
        let units = output.join("units");
        let folder = units.join("probes.m");
        let own = |_: usize| vec![folder.clone()];
        let models = config.asking(1).unwrap().open_over(base, output, &own).unwrap();
        Self {
            config,
            models,
            folder,
            base: base.to_owned(),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    fn questions<'s>(&self, set: &'s Set) -> Questions<'s> {
        Questions {
            mask: set.mask,
            probes: &set.probes,
            guard: guard(set.mask),
            schema_retries: self.config.schema_retries,
        }
    }

    /// Puts a set to it over a transport.
    pub(crate) async fn ask(
        &self,
        set: &Set,
        transport: &dyn Transport,
    ) -> Result<Vec<LanguageAnswer>, CertifyError> {
        let (models, retries) = (&self.models, self.config.retries);
        let record = AskedRecord::continued(
            &self.folder,
            &models.models[0],
            &models.metering,
            retries,
            transport,
        );
        let record = record.unwrap();
        let parallel = self.config.parallel;
        let answers = self
            .questions(set)
            .put(record.conversations(), parallel, &|_| {})
            .await?;
        record.finish().unwrap();
        Ok(answers)
    }

    /// The same at its endpoint, or of the built-in attacker.
    pub(crate) async fn ask_itself(&self, set: &Set) -> Result<Vec<LanguageAnswer>, CertifyError> {
        let model = &self.models.models[0];
        if model.agent.builtin_name().is_some() {
            let cheater = BuiltinTransport::new(Arc::new(cheater(&scene().market)));
            return self.ask(set, &cheater).await;
        }
        let answerer = Answerer::of(model, &self.base).unwrap();
        self.ask(set, answerer.transport()).await
    }

    /// The answers that its record gives with nobody to ask.
    pub(crate) async fn recall(&self, set: &Set) -> Result<Vec<LanguageAnswer>, CertifyError> {
        let record =
            AskedRecord::closed(&self.folder, &self.models.models[0], &self.models.metering).unwrap();
        self.questions(set).put(record.conversations(), 1, &|_| {}).await
    }
}

/// Puts a set to a model whose words a script decides.
pub(crate) async fn ask(
    asked: &Asked,
    set: &Set,
    script: &Script,
) -> Result<Vec<LanguageAnswer>, CertifyError> {
    asked.ask(set, script).await
}
