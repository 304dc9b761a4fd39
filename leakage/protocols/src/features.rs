//! Features of one session.

use crate::graph::PeerGraph;
use crate::panel::{BarField, BarGrid, cell};
use crate::rolling::WindowStats;
use crate::schema::{OF_PEERS, OWN, PEERS};

/// Own features of a name, in the order of the schema.
pub(crate) type OwnFeatures = [f64; OWN];
/// Features of the peers, in the order of the schema.
pub(crate) type PeerFeatures = [f64; PEERS];

/// The own features of all names on a session; statistics of windows are handed in, those of this session or of a later
/// one. Missing is NaN.
pub(crate) fn own_features(bars: &BarGrid, session: usize, stats: &[WindowStats]) -> Vec<OwnFeatures> {
    let back = |sessions: usize| {
        session
            .checked_sub(sessions)
            .map_or(&[][..], |session| bars.row(BarField::Close, session))
    };
    let past = [back(1), back(5), back(10), back(20)];
    let row = |field| bars.row(field, session);
    let (open, high, low) = (row(BarField::Open), row(BarField::High), row(BarField::Low));
    let (close, volume) = (row(BarField::Close), row(BarField::Volume));
    let of_name = |name: usize| {
        let bar = [open, high, low, close, volume].map(|row| cell(row, name));
        let past = past.map(|row| cell(row, name));
        own_of(bar, past, stats.get(name).unwrap_or(&[f64::NAN; _]))
    };
    (0..bars.names()).map(of_name).collect()
}

fn own_of(bar: [f64; 5], past: [f64; 4], stats: &WindowStats) -> OwnFeatures {
    let [open, high, low, close, volume] = bar;
    let [ret_1, ret_5, ret_10, ret_20] = past.map(|past| close / past - 1.0);
    let [before, ..] = past;
    let [
        ma_5,
        ma_10,
        ma_20,
        ma_60,
        vol_5,
        vol_20,
        vol_60,
        rmean_5,
        volume_20,
        range_5,
        max_20,
        min_20,
    ] = *stats;
    [
        ret_1,
        ret_5,
        ret_10,
        ret_20,
        open / before - 1.0,
        close / open - 1.0,
        (high - low) / close,
        (high - open.max(close)) / close,
        (open.min(close) - low) / close,
        close / ma_5 - 1.0,
        close / ma_10 - 1.0,
        close / ma_20 - 1.0,
        close / ma_60 - 1.0,
        vol_5,
        vol_20,
        vol_60,
        rmean_5,
        volume / volume_20,
        range_5,
        close / max_20 - 1.0,
        close / min_20 - 1.0,
    ]
}

/// The weighted means of the peers' features, weights shared anew among the peers that have the feature; NaN without one.
pub(crate) fn peer_features(graph: Option<&PeerGraph>, own: &[OwnFeatures]) -> Vec<PeerFeatures> {
    let Some(graph) = graph else {
        return vec![[f64::NAN; PEERS]; own.len()];
    };
    let of_name = |peers: &Vec<(usize, f64)>| {
        OF_PEERS.map(|place| {
            PeerGraph::mean_over(peers, |peer| {
                own.get(peer).map_or(f64::NAN, |row| cell(row, place))
            })
        })
    };
    graph.peers().iter().map(of_name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphWindow, peer_graphs};
    use crate::panel::tests::market;
    use crate::rolling::window_stats;

    #[test]
    fn lags_and_shape_by_hand() {
        let bars = market(70, 3, 8);
        let stats = window_stats(&bars);
        let own = own_features(&bars, 65, &stats[65 * 3..66 * 3]);
        let value = |field, session| bars.value(field, session, 1);
        let close = value(BarField::Close, 65);
        let near = |found: f64, by_hand: f64| assert!((found - by_hand).abs() < 1e-15, "{found} {by_hand}");
        near(own[1][3], close / value(BarField::Close, 45) - 1.0);
        near(
            own[1][4],
            value(BarField::Open, 65) / value(BarField::Close, 64) - 1.0,
        );
        near(
            own[1][6],
            (value(BarField::High, 65) - value(BarField::Low, 65)) / close,
        );
        let volumes: f64 = (46..=65).map(|session| value(BarField::Volume, session)).sum();
        assert!((own[1][17] - value(BarField::Volume, 65) / (volumes / 20.0)).abs() < 1e-12);
        assert!(own.iter().flatten().all(|value| value.is_finite()));
        assert!(own_features(&bars, 3, &stats[9..12])[0][1].is_nan());
    }

    #[test]
    fn weights_are_shared_among_peers_that_have_the_feature() {
        let bars = market(130, 4, 8);
        let graphs = peer_graphs(&bars, GraphWindow::trailing(252), 2);
        let graph = graphs
            .iter()
            .find(|graph| graph.sessions().contains(&127))
            .unwrap();
        let mut own = vec![[1.0; OWN]; 4];
        let peers = &graph.peers()[0];
        assert_eq!(peers.len(), 2);
        own[peers[0].0] = [f64::NAN; OWN];
        own[peers[1].0] = [7.0; OWN];
        assert!((peer_features(Some(graph), &own)[0][0] - 7.0).abs() < 1e-15);
        own[peers[1].0] = [f64::NAN; OWN];
        assert!(peer_features(Some(graph), &own)[0][0].is_nan());
        assert!(peer_features(None, &own)[3][3].is_nan());
    }
}
