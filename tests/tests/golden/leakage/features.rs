//! Features and graphs against pandas and numpy.

use super::market::{GoldenMarket, csv_rows, number};
use super::{protocol, text};
use ktd_leakage::{FEATURES, FeatureGrid, GraphWindow, LeakageSettings, Switch, peer_graphs};

#[test]
fn features_follow_pandas() {
    let (Some(market), Some(golden)) = (GoldenMarket::read(), text("features.csv.gz")) else {
        return;
    };
    let grid = FeatureGrid::new(&market.bars, &LeakageSettings::BENCHMARK);
    let header: Vec<&str> = golden.lines().next().unwrap().split(',').skip(3).collect();
    assert!(
        header
            .iter()
            .copied()
            .eq(FEATURES.iter().map(|feature| feature.name))
    );
    let (mut compared, mut missing) = (0, 0);
    let mut session_features = (String::new(), Vec::new());
    for row in csv_rows(&golden) {
        let switch = protocol(row[0]);
        let wanted = format!("{}{}", row[0], row[1]);
        if session_features.0 != wanted {
            session_features = (wanted, grid.features(switch, market.session(row[1])));
        }
        let found = session_features.1[market.name(row[2])];
        for (place, (cell, found)) in row[3..].iter().zip(found).enumerate() {
            // Of this protocol the set holds the features of the peers alone.
            if switch == Switch::StructGraph && place < 21 {
                continue;
            }
            let expected = number(cell);
            if expected.is_nan() {
                assert!(
                    found.is_nan(),
                    "{} {} {}: {found}",
                    row[0],
                    row[1],
                    FEATURES[place].name
                );
                missing += 1;
                continue;
            }
            let apart = (found - expected).abs();
            assert!(
                apart <= 1e-9 * expected.abs() + 1e-12,
                "{} {} {} {}: {found} for {expected}",
                row[0],
                row[1],
                row[2],
                FEATURES[place].name
            );
            compared += 1;
        }
    }
    println!("{compared} features compared, {missing} missing on both sides");
    assert!(0 < compared);
}

#[test]
fn peers_follow_pandas() {
    let (Some(market), Some(golden)) = (GoldenMarket::read(), text("graph.csv")) else {
        return;
    };
    let settings = LeakageSettings::BENCHMARK;
    let graphs = |window| peer_graphs(&market.bars, window, settings.graph_peers);
    let trailing = graphs(GraphWindow::trailing(settings.graph_days));
    let symmetric = graphs(GraphWindow::symmetric(settings.graph_days));
    let mut compared = 0;
    for row in csv_rows(&golden) {
        let graphs = if row[0] == "trailing" {
            &trailing
        } else {
            &symmetric
        };
        let is_month = |first: usize| market.dates[first].starts_with(row[1]);
        let graph = graphs
            .iter()
            .find(|graph| is_month(graph.sessions().start))
            .unwrap();
        let (peer, weight) = (market.name(row[3]), number(row[4]));
        let peers = &graph.peers()[market.name(row[2])];
        let found = peers.iter().find(|(name, _)| *name == peer).unwrap();
        assert!((found.1 - weight).abs() <= 1e-10, "{row:?}: {}", found.1);
        compared += 1;
    }
    println!("{compared} weights compared");
    assert!(0 < compared);
}
