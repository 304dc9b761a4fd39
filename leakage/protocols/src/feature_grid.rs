//! Features of every session under all protocols.

use crate::features::{OwnFeatures, PeerFeatures, own_features, peer_features};
use crate::graph::{GraphWindow, PeerGraph, peer_graphs};
use crate::panel::BarGrid;
use crate::rolling::{WindowStats, window_stats};
use crate::schema::{ALL, FIRST_MOVED_PEER, LAGS, OWN, PEERS, ROLLING};
use crate::settings::LeakageSettings;
use crate::switch::Switch;

/// Columns that a protocol moves, behind the clean ones.
const MOVED_ROLLING: usize = ALL;
const MOVED_PEERS: usize = MOVED_ROLLING + ROLLING;
const GRAPH_PEERS: usize = MOVED_PEERS + (ALL - FIRST_MOVED_PEER);
/// Columns of all protocols, those that they share once.
pub(crate) const COLUMNS: usize = GRAPH_PEERS + PEERS;

/// The column of a feature under a protocol.
pub(crate) const fn column_of(switch: Switch, feature: usize) -> usize {
    match switch {
        Switch::TempCenter if LAGS <= feature && feature < OWN => MOVED_ROLLING + feature - LAGS,
        Switch::TempCenter if FIRST_MOVED_PEER <= feature => MOVED_PEERS + feature - FIRST_MOVED_PEER,
        Switch::StructGraph if OWN <= feature => GRAPH_PEERS + feature - OWN,
        Switch::Clean
        | Switch::TempCenter
        | Switch::ExecOpen
        | Switch::NormGlobal
        | Switch::StructGraph
        | Switch::ExecClose
        | Switch::LabelOverlap => feature,
    }
}

/// Statistics of windows and peers' graphs of a panel, from which the features of a session are made.
#[derive(Debug, Clone)]
pub struct FeatureGrid<'a> {
    bars: &'a BarGrid,
    future_sessions: usize,
    stats: Vec<WindowStats>,
    trailing: Vec<PeerGraph>,
    symmetric: Vec<PeerGraph>,
}

/// The features of all names on one session.
struct SessionFeatures {
    own: Vec<OwnFeatures>,
    moved: Vec<OwnFeatures>,
    peers: Vec<PeerFeatures>,
    moved_peers: Vec<PeerFeatures>,
    graph_peers: Vec<PeerFeatures>,
}

impl<'a> FeatureGrid<'a> {
    /// Prepares a panel.
    #[must_use]
    pub fn new(bars: &'a BarGrid, settings: &LeakageSettings) -> Self {
        let graphs = |window| peer_graphs(bars, window, settings.graph_peers);
        Self {
            bars,
            future_sessions: settings.future_days,
            stats: window_stats(bars),
            trailing: graphs(GraphWindow::trailing(settings.graph_days)),
            symmetric: graphs(GraphWindow::symmetric(settings.graph_days)),
        }
    }

    /// The features of each name on a session under a protocol, in the order of the schema; missing is NaN.
    #[must_use]
    pub fn features(&self, switch: Switch, session: usize) -> Vec<[f64; ALL]> {
        let of_name = |cells: [f64; COLUMNS]| {
            std::array::from_fn(|feature| cells.get(column_of(switch, feature)).copied().unwrap_or(f64::NAN))
        };
        self.cells(session).map(of_name).collect()
    }

    /// The columns of all protocols of each name on a session.
    pub(crate) fn cells(&self, session: usize) -> impl Iterator<Item = [f64; COLUMNS]> + use<> {
        let graph = |graphs| PeerGraph::on(graphs, session);
        let own = own_features(self.bars, session, self.of_session(session));
        let moved = own_features(
            self.bars,
            session,
            self.of_session(session + self.future_sessions),
        );
        let features = SessionFeatures {
            peers: peer_features(graph(&self.trailing), &own),
            moved_peers: peer_features(graph(&self.trailing), &moved),
            graph_peers: peer_features(graph(&self.symmetric), &own),
            own,
            moved,
        };
        (0..features.own.len()).map(move |name| features.cells(name))
    }

    fn of_session(&self, session: usize) -> &[WindowStats] {
        let from = session.saturating_mul(self.bars.names());
        let to = from.saturating_add(self.bars.names());
        self.stats.get(from..to).unwrap_or(&[])
    }
}

impl SessionFeatures {
    fn cells(&self, name: usize) -> [f64; COLUMNS] {
        let own = |rows: &[OwnFeatures]| rows.get(name).copied().unwrap_or([f64::NAN; OWN]);
        let peers = |rows: &[PeerFeatures]| rows.get(name).copied().unwrap_or([f64::NAN; PEERS]);
        let (clean, moved) = (own(&self.own), own(&self.moved));
        let (near, moved_peers) = (peers(&self.peers), peers(&self.moved_peers));
        let graph_peers = peers(&self.graph_peers);
        let mut cells = [f64::NAN; COLUMNS];
        let of_clean = clean.into_iter().chain(near);
        let of_moved = moved
            .into_iter()
            .skip(LAGS)
            .chain(moved_peers.into_iter().skip(FIRST_MOVED_PEER - OWN));
        for (cell, value) in cells.iter_mut().zip(of_clean.chain(of_moved).chain(graph_peers)) {
            *cell = value;
        }
        cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::panel::tests::market;

    #[test]
    fn the_means_of_a_column_are_those_of_the_schema() {
        let bars = market(300, 12, 7);
        let settings = LeakageSettings::BENCHMARK;
        let grid = FeatureGrid::new(&bars, &settings);
        let rows: Vec<_> = (0..300)
            .flat_map(|session| grid.features(Switch::Clean, session))
            .collect();
        let graphs = peer_graphs(
            &bars,
            GraphWindow::trailing(settings.graph_days),
            settings.graph_peers,
        );
        let returns: Vec<f64> = rows.iter().map(|row| row[1]).collect();
        let means = crate::graph::peer_means(&graphs, &returns, 12);
        assert_eq!(means.len(), rows.len());
        for (mean, row) in means.iter().zip(&rows) {
            assert_eq!(mean.to_bits(), row[OWN].to_bits());
        }
        assert!(means[299 * 12].is_finite() && means[0].is_nan());
        // A graph of the whole panel is known from its first session on.
        let whole = peer_graphs(&bars, GraphWindow::whole(300), 5);
        assert!(crate::graph::peer_means(&whole, &returns, 12)[8 * 12].is_finite());
    }

    #[test]
    fn a_protocol_moves_its_own_features_alone() {
        let bars = market(300, 12, 7);
        let grid = FeatureGrid::new(&bars, &LeakageSettings::BENCHMARK);
        let clean = grid.features(Switch::Clean, 200);
        let changed = |switch| -> Vec<usize> {
            let other = grid.features(switch, 200);
            (0..ALL)
                .filter(|feature| {
                    let mut names = clean.iter().zip(&other);
                    names.any(|(a, b)| a[*feature].to_bits() != b[*feature].to_bits())
                })
                .collect()
        };
        assert_eq!(
            changed(Switch::TempCenter),
            (LAGS..OWN).chain([23, 24]).collect::<Vec<_>>()
        );
        assert_eq!(changed(Switch::StructGraph), (OWN..ALL).collect::<Vec<_>>());
        for switch in [
            Switch::ExecOpen,
            Switch::ExecClose,
            Switch::NormGlobal,
            Switch::LabelOverlap,
        ] {
            assert!(changed(switch).is_empty());
        }
        let later = grid.features(Switch::Clean, 203);
        let centred = grid.features(Switch::TempCenter, 200);
        // A deviation stands alone in its feature: it is that of three sessions later.
        assert_eq!(centred[4][14].to_bits(), later[4][14].to_bits());
        assert!(grid.features(Switch::TempCenter, 298)[0][14].is_nan());
    }
}
