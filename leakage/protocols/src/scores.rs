//! Scores of the rows of a year by a family that was fitted on the rows before it.

use crate::bench::{LeakageBench, YearSplit};
use crate::error::LeakageError;
use crate::key::{ModelFamily, Purpose, RunKey};
use crate::ridge_model::RidgeModel;
use crate::scaler::Scaler;
use crate::schema::MOMENTUM;
use crate::sequences::NameSequences;
use ktd_learners::{
    BoostedTrees, BoostingSettings, Chance, FittedNet, LearnError, NetChances, NetData, NetShape, Training,
};

/// Scores of the rows of a year.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct YearScores {
    pub(crate) scores: Vec<f64>,
    pub(crate) validation_loss: Option<f64>,
}

impl YearScores {
    const fn of(scores: Vec<f64>) -> Self {
        let validation_loss = None;
        Self {
            scores,
            validation_loss,
        }
    }
}

const fn net_of(family: ModelFamily) -> Option<(NetShape, Training)> {
    match family {
        ModelFamily::Momentum | ModelFamily::Ridge | ModelFamily::Trees => None,
        ModelFamily::GraphMlp => Some((NetShape::GRAPH_MLP, Training::PERCEPTRONS)),
        ModelFamily::Lstm => Some((NetShape::LSTM, Training::SEQUENCES)),
        ModelFamily::Transformer => Some((NetShape::TRANSFORMER, Training::SEQUENCES)),
    }
}

/// The scores of the rows of the test year, in order; NaN where a sequence is too short.
pub(crate) fn year_scores(
    bench: &LeakageBench,
    key: &RunKey,
    split: &YearSplit,
) -> Result<YearScores, LeakageError> {
    let columns = bench.rows().columns(key.switch, true);
    let asked = bench.rows().of_sessions(&split.year_sessions);
    if key.family == ModelFamily::Momentum {
        let scores = columns.get(MOMENTUM).and_then(|column| column.get(asked));
        return Ok(YearScores::of(scores.unwrap_or(&[]).to_vec()));
    }
    if key.family == ModelFamily::Ridge {
        let model = RidgeModel::of_split(bench, key.switch, (key.horizon, key.year), split, true)?;
        return Ok(YearScores::of(model.scores(&columns, asked)));
    }
    let labels = bench.fit_labels(key.switch, key.horizon, split)?;
    let scaler = Scaler::of_fit(&columns, key.switch, &split.fit_rows);
    let failed = |error| LeakageError::Fit {
        family: key.family.name(),
        year: key.year,
        error,
    };
    if let Some((shape, training)) = net_of(key.family) {
        let sequences = NameSequences::of(bench.rows(), &scaler, &columns, split, shape.lookback());
        return net_scores(shape, training, &sequences, &labels, key).map_err(failed);
    }
    let rows = scaler.gather(&columns, split.fit_rows.iter().copied());
    let asked = scaler.gather(&columns, asked);
    let mut stream = key.stream(Purpose::Columns);
    let mut next = || stream.next_u64();
    let settings = BoostingSettings::BENCHMARK;
    let fit = BoostedTrees::fit(
        &rows,
        columns.len(),
        &labels,
        &settings,
        &mut Chance::new(&mut next),
    );
    Ok(YearScores::of(fit.map_err(failed)?.predict(&asked)))
}

fn net_scores(
    shape: NetShape,
    training: Training,
    sequences: &NameSequences,
    labels: &[f64],
    key: &RunKey,
) -> Result<YearScores, LearnError> {
    let streams = [Purpose::Weights, Purpose::Rows, Purpose::Dropout].map(|purpose| key.stream(purpose));
    let [mut weights, mut rows, mut dropout] = streams;
    let mut weights = || weights.next_u64();
    let mut rows = || rows.next_u64();
    let mut dropout = || dropout.next_u64();
    let mut chances = NetChances {
        weights: Chance::new(&mut weights),
        rows: Chance::new(&mut rows),
        dropout: Chance::new(&mut dropout),
    };
    let data = NetData::new(sequences.table(), &shape);
    let (train, validate) = (sequences.train(labels), sequences.validate(labels));
    let fit = FittedNet::<f32>::fit(
        shape,
        &training,
        &data,
        (&train.0, &train.1),
        (&validate.0, &validate.1),
        &mut chances,
    )?;
    let (places, table_rows): (Vec<usize>, Vec<usize>) = sequences.asked().iter().copied().unzip();
    let mut scores = vec![f64::NAN; sequences.asked_rows()];
    for (place, score) in places.into_iter().zip(fit.predict(&data, &table_rows)?) {
        if let Some(cell) = scores.get_mut(place) {
            *cell = score;
        }
    }
    let validation_loss = fit.validation_loss();
    Ok(YearScores {
        scores,
        validation_loss,
    })
}
