//! A certificate as a kind of study: the probes, the commitment, a set and its attackers, each language model, the verdict.

use super::attacker_record::attackers_of;
use super::certificate::Certificate;
use super::comparison::compare_certificates;
use super::compose::{compose, count};
use super::config::CertifyConfig;
use super::control_probes;
use super::external_probes;
use super::gold_line::GoldLine;
use super::language_attackers::Questions;
use super::paths::{ANSWERS, COMMITMENT, GUESSES, PROBES, SetPaths};
use super::probe_inputs::ProbeSet;
use super::report::{MaskReport, mask_report};
use super::set_record::{Origin, SetRecord};
use super::sets::{ProbeSource, SetToMake, probe_stream, write_answers};
use super::signed::SignedCertificate;
use super::units::{CertificateFound, CertificateUnit};
use super::world::MaskWorld;
use super::{answer_line::AnswerLine, attempts::AttemptCounts, attempts::AttemptSubject, commitment};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use ktd_asking::{Answerer, AskingSettings};
use ktd_client::AskedModel;
use ktd_io::crash_points::{CrashPoint, passes};
use ktd_io::line_file::line_bytes;
use ktd_io::whole_file::{JSON_LIMIT_BYTES, json_bytes, read_bounded};
use ktd_probes::judge::ControlSet;
use ktd_probes::{Probe, ProbeKind};
use ktd_study::{Hands, Opening, Planned, Report, StudyError, StudyKind, UnitId};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Probes of a mask, put to attackers; with a key, certified.
#[derive(Debug, Clone, Copy)]
pub struct CertificateStudy;

const SET: &str = "set";
/// The control of language models.
const BRIGHT: ControlSet = ControlSet::BrightDay;

impl StudyKind for CertificateStudy {
    const NAME: &'static str = "certificate";
    const COMMAND: &'static str = "ktd certify";
    const FORMAT: u32 = 2;
    const STEPS: &'static str = "probes made, learned from, attacked or asked";
    const ASKS: bool = true;
    const PANEL_HASH: Option<&'static str> = Some("/panel_blake3");
    const PLACES: &'static [&'static str] = &["/panel"];

    type Keys = CertifyConfig;
    type World = MaskWorld;
    type Unit = CertificateUnit;
    type Event = ();
    type Found = CertificateFound;
    type Summary = MaskReport;

    fn name(keys: &CertifyConfig) -> &str {
        &keys.name
    }

    fn panel(keys: &mut CertifyConfig) -> Option<&mut PathBuf> {
        keys.panel.as_mut()
    }

    fn output(keys: &CertifyConfig) -> Option<&Path> {
        keys.output.as_deref()
    }

    /// A key that signs, and probes of somebody else, are no settings of its record.
    fn goes_on_with(
        decides: &Value,
        recorded: &CertifyConfig,
        file: Option<&CertifyConfig>,
    ) -> (&'static str, String) {
        let is_signed = decides.get("signed_by").is_some_and(|key| !key.is_null());
        let is_given = decides.get("probes") == Some(&json!(Origin::Given));
        let (key, nonce) = file.map_or((None, None), |file| (file.key.as_ref(), file.nonce.as_ref()));
        let recorded = recorded.nonce.as_ref();
        let options = [
            (is_signed && key.is_none()).then(|| " --key KEY".to_owned()),
            is_given.then(|| " --probes DIR".to_owned()),
            recorded
                .filter(|recorded| Some(*recorded) != nonce)
                .map(|nonce| format!(" --nonce {nonce}")),
        ];
        let command = if is_signed { Self::COMMAND } else { "ktd probe" };
        (command, options.into_iter().flatten().collect())
    }

    fn check(keys: &CertifyConfig) -> Result<(), StudyError> {
        Ok(keys.check()?)
    }

    fn asking(keys: &CertifyConfig) -> Option<AskingSettings<'_>> {
        keys.language.asking(keys.seed)
    }

    fn answerer(world: &MaskWorld, asked: &AskedModel) -> Option<Answerer> {
        world.answerer(asked)
    }

    /// One after the other: each uses all threads for its probes.
    fn at_once(_keys: &CertifyConfig) -> Option<usize> {
        Some(1)
    }

    fn open(keys: &CertifyConfig, at: &Opening<'_>) -> Result<MaskWorld, StudyError> {
        MaskWorld::open(keys, at)
    }

    fn open_recorded(
        keys: &CertifyConfig,
        at: &Opening<'_>,
        recorded: &Value,
    ) -> Result<MaskWorld, StudyError> {
        MaskWorld::recorded(keys, at, recorded)
    }

    fn decides(world: &MaskWorld) -> Value {
        world.decides()
    }

    fn units(keys: &CertifyConfig, world: &MaskWorld) -> Result<Vec<Planned<CertificateUnit>>, StudyError> {
        let put = world.steps_of_set();
        let steps = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let set = UnitId::from(SET.to_owned());
        let mut plan = vec![Planned::line(SET.to_owned(), CertificateUnit::Set).steps(steps(put))];
        let mut before = vec![set.clone()];
        if world.signed_by.is_some() {
            let own = Planned::line("commitment".to_owned(), CertificateUnit::Commitment).steps(0);
            before.push(own.id.clone());
            plan.push(own.after(vec![set]));
        }
        if keys.commit_only {
            return Ok(plan);
        }
        let own = &world.plan;
        let has_asked = ProbeKind::ALL
            .into_iter()
            .any(|kind| kind.is_asked() && 0 < own.probes.of(kind));
        let training: usize = keys.probes.kinds().map(|kind| own.training_of(kind)).sum();
        plan.extend(world.planned_answers(training, &before));
        let agents = &keys.language.agents;
        let mut sets = vec![None];
        if world.signed_by.is_some() {
            let bright = (!agents.is_empty()).then_some(BRIGHT);
            for control in ControlSet::of(own.numeric, has_asked).chain(bright) {
                let unit = Planned::line(control_id(control), CertificateUnit::Control { control });
                let count = control.probes(own.control_probes);
                let learned = own.training_of(control.kind()).min(count);
                plan.push(unit.steps(steps(2 * count + learned)).after(before.clone()));
            }
            sets.extend(bright.map(Some));
        }
        for control in sets {
            for (place, agent) in agents.iter().enumerate() {
                let unit = CertificateUnit::Asked {
                    control,
                    agent: agent.id.clone(),
                    schema_retries: keys.language.schema_retries,
                };
                let set = control.map_or(PROBES, ControlSet::label);
                let count = control.map_or(put, |control| control.probes(own.control_probes));
                let after = control.map(|control| UnitId::from(control_id(control)));
                plan.push(
                    Planned::folder(SetPaths::asked_unit(set, &agent.id), unit)
                        .asking(place)
                        .steps(steps(count))
                        .after(before.iter().cloned().chain(after).collect()),
                );
            }
        }
        if world.signed_by.is_some() {
            let after = plan.iter().map(|unit| unit.id.clone()).collect();
            let verdict = Planned::line("verdict".to_owned(), CertificateUnit::Verdict);
            plan.push(verdict.steps(0).after(after));
        }
        Ok(plan)
    }

    fn run<'a>(
        world: &'a MaskWorld,
        unit: &'a CertificateUnit,
        hands: &'a mut Hands<'_, ()>,
    ) -> LocalBoxFuture<'a, Result<CertificateFound, StudyError>> {
        async move {
            match unit {
                CertificateUnit::Set => world.set(hands),
                CertificateUnit::Commitment => world.commit(hands),
                CertificateUnit::Lessons => world.lessons(hands),
                CertificateUnit::AnswerBlock { block, of_block } => {
                    world.answer_block((*block, *of_block), hands)
                }
                CertificateUnit::Answers => world.answers(hands),
                CertificateUnit::Control { control } => world.control(*control, hands),
                CertificateUnit::Asked {
                    control,
                    schema_retries,
                    ..
                } => world.asked(*control, *schema_retries, hands).await,
                CertificateUnit::Verdict => world.verdict(hands),
            }
        }
        .boxed_local()
    }

    /// Attackers of the database answer again before anything new is signed.
    fn stands_alone(world: &MaskWorld, unit: &CertificateUnit) -> bool {
        let is_signed = world.signed_by.is_some();
        !(is_signed && unit.is_attack())
    }

    fn conclude(
        keys: &CertifyConfig,
        found: Vec<(UnitId, CertificateFound)>,
    ) -> Result<MaskReport, StudyError> {
        for (_, found) in &found {
            if let CertificateFound::Certified(signed) = found {
                let checked = signed.check_signature(Path::new("certificate.json"));
                checked
                    .map_err(|error| StudyError::from(error).at("units.jsonl, what the verdict came to"))?;
            }
        }
        MaskReport::of(keys, found.into_iter().map(|(_, found)| found))
    }

    fn report(keys: &CertifyConfig, summary: &MaskReport) -> Result<Report, StudyError> {
        Ok(mask_report(keys, summary))
    }
}

fn control_id(control: ControlSet) -> String {
    format!("control.{}", control.label())
}

/// The set that a unit comes after.
pub(crate) fn set_of(hands: &Hands<'_, ()>) -> Result<SetRecord, StudyError> {
    let CertificateFound::Set(set) = hands.found(&UnitId::from(SET.to_owned()))? else {
        return Err(of_another_unit());
    };
    Ok(*set)
}

pub(crate) fn of_another_unit() -> StudyError {
    StudyError::difference(
        "a unit came to what another one comes to",
        "the record was changed: take it from whoever made it",
    )
}

impl MaskWorld {
    fn set(&self, hands: &mut Hands<'_, ()>) -> Result<CertificateFound, StudyError> {
        let (plan, workspace) = (&self.plan, self.workspace()?);
        let paths = self.paths.probed();
        let probing = plan.probing(plan.mask(), self.key.clone(), PROBES);
        let given = self.given.as_ref();
        let given = given.map(|root| external_probes::read(root, &self.source.market));
        let given: Option<ProbeSet> = given.transpose()?;
        let (source, count): (_, Box<dyn Fn(ProbeKind) -> usize + Sync>) = match &given {
            None => (ProbeSource::Plan(&probing), Box::new(|kind| plan.probes.of(kind))),
            Some(set) => (
                ProbeSource::Given(set),
                Box::new(|kind| set.probes.iter().filter(|probe| probe.kind == kind).count()),
            ),
        };
        let stored = SetToMake {
            workspace,
            paths: &paths,
            source,
            counts: &*count,
            mask: plan.mask(),
            joint_days: plan.joint_days,
            control: None,
        }
        .write(hands)?;
        let data = self.source.record.clone();
        let record = SetRecord {
            source_sha256: self.source_sha256.clone(),
            ..SetRecord::new(self.origin(), plan.clone(), data, &self.key, stored)
        };
        let path = self.paths.set_record();
        hands.file(super::paths::SET_RECORD, json_bytes(&path, &record)?);
        // Whoever verifies makes the probes again with it, wherever it was read from.
        hands.file(super::paths::MASK_KEY, self.key_file());
        Ok(CertificateFound::Set(Box::new(record)))
    }

    fn commit(&self, hands: &mut Hands<'_, ()>) -> Result<CertificateFound, StudyError> {
        let (set, criteria, attackers) = (set_of(hands)?, self.keys.criteria(), attackers_of(&self.keys));
        let path = self.paths.commitment();
        let sha256 = match &self.signer {
            Some(signer) => {
                let sha256 = signer.commit(&self.paths, &set, criteria, attackers)?;
                passes(CrashPoint::ProbesCommitted);
                sha256
            }
            None => commitment::recorded(&path, (&set, criteria, &attackers), self.signed_by.as_deref())?,
        };
        hands.file(COMMITMENT, read_bounded(&path, JSON_LIMIT_BYTES)?);
        Ok(CertificateFound::Committed { sha256 })
    }

    fn control(&self, control: ControlSet, hands: &Hands<'_, ()>) -> Result<CertificateFound, StudyError> {
        let (plan, workspace) = (&self.plan, self.workspace()?);
        let paths = self.paths.control(control.label());
        let probing = control_probes::plan_of(control, &workspace.inputs, plan);
        let only = control_probes::only(control, control.probes(plan.control_probes));
        let stored = SetToMake {
            workspace,
            paths: &paths,
            source: ProbeSource::Plan(&probing),
            counts: &only,
            mask: control.mask(),
            joint_days: plan.joint_days,
            control: Some(control),
        }
        .write(hands)?;
        if control != BRIGHT {
            let attack = workspace.control_attack(plan, control);
            let answers = attack.answers(&|| probe_stream(&paths, &stored.counts), &|done| {
                hands.advance(u64::try_from(done).unwrap_or(u64::MAX));
            })?;
            write_answers(hands, &paths, &answers)?;
        }
        Ok(CertificateFound::Counted {
            control: Some(control),
            recovered: Vec::new(),
            unanswered: Vec::new(),
        })
    }

    async fn asked(
        &self,
        control: Option<ControlSet>,
        schema_retries: u32,
        hands: &mut Hands<'_, ()>,
    ) -> Result<CertificateFound, StudyError> {
        let (mask, shown) = self.shown(control)?;
        let (probes, gold): (Vec<Probe>, Vec<GoldLine>) = shown.into_iter().unzip();
        let market = &self.source.market;
        let questions = Questions {
            mask,
            probes: &probes,
            guard: self.guards.of(mask.level, market),
            schema_retries,
        };
        let parallel = self.keys.language.parallel;
        let parallel = hands.answerer().map_or(1, |answerer| answerer.at_once(parallel));
        let asking = hands.asked()?.conversations();
        let agent = asking.model().id().to_owned();
        let answers = questions
            .put(asking, parallel, &|steps| hands.advance(steps))
            .await?;
        let lines = answers
            .iter()
            .map(|answer| AnswerLine::of_language(market, answer));
        let lines: Vec<AnswerLine> = lines.collect();
        hands.file(GUESSES, line_bytes(Path::new(GUESSES), &answers)?);
        hands.file(ANSWERS, line_bytes(Path::new(ANSWERS), &lines)?);
        let counted = count(&agent, &gold, &lines, &self.plan)?;
        Ok(CertificateFound::Counted {
            control,
            recovered: counted.recovered,
            unanswered: counted.unanswered,
        })
    }

    fn verdict(&self, hands: &mut Hands<'_, ()>) -> Result<CertificateFound, StudyError> {
        let (paths, path) = (&self.paths, self.paths.certificate());
        let judge = |attempts| compose(paths, self.keys.criteria(), attackers_of(&self.keys), attempts);
        let Some(signer) = &self.signer else {
            let signed = SignedCertificate::read(&path, None)?;
            let judged = judge(signed.certificate.attempts.clone())?;
            compare_certificates(&path, &signed.certificate, &judged)?;
            commitment::check_attempts(&path, &signed)?;
            hands.file(
                "attempts.jsonl",
                read_bounded(&paths.attempts(), JSON_LIMIT_BYTES)?,
            );
            hands.file("certificate.json", json_bytes(&path, &signed)?);
            return Ok(CertificateFound::Certified(Box::new(signed)));
        };
        let commitment = UnitId::from("commitment".to_owned());
        let CertificateFound::Committed { sha256 } = hands.found(&commitment)? else {
            return Err(of_another_unit());
        };
        let judged = judge(AttemptCounts::default())?;
        // The log has the verdict before the certificate exists: a kill in between hides nothing.
        let log = signer.log.judge(&sha256, judged.verdict)?;
        let certificate = Certificate {
            attempts: log.count(&AttemptSubject::of(&judged.set)),
            ..judged
        };
        let signed = SignedCertificate::sign(certificate, &signer.key)?;
        hands.file("attempts.jsonl", log.text().into_bytes());
        hands.file("certificate.json", json_bytes(&path, &signed)?);
        Ok(CertificateFound::Certified(Box::new(signed)))
    }
}
