//! The benchmark's 25 features and when each is known.

use crate::instant::SessionInstant;

/// What a feature is made of; it decides which protocol moves it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FeatureKind {
    /// Ratios of single prices: no protocol moves them.
    Lag,
    /// A statistic over a window: moved by a centred window.
    Rolling,
    /// A mean over the peers of a name: moved by a graph that looks ahead, and with the feature it is the mean of.
    Peer,
}

/// A feature with its contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeatureSpec {
    /// Its name.
    pub name: &'static str,
    /// What it is made of.
    pub kind: FeatureKind,
    /// Its formula, where `C[k]` lies k sessions back.
    pub formula: &'static str,
    /// Whether a statistic over a window is in it, which a centred window moves.
    pub reads_window: bool,
    /// Of a feature of the name itself its expression, statistics over windows in brackets; of one of the peers the feature
    /// that it is the mean of.
    source: &'static str,
}

impl FeatureSpec {
    const fn new(name: &'static str, kind: FeatureKind, formula: &'static str, source: &'static str) -> Self {
        let reads_window = matches!(kind, FeatureKind::Rolling);
        Self {
            name,
            kind,
            formula,
            reads_window,
            source,
        }
    }

    const fn peer(
        name: &'static str,
        formula: &'static str,
        source: &'static str,
        reads_window: bool,
    ) -> Self {
        let kind = FeatureKind::Peer;
        Self {
            name,
            kind,
            formula,
            reads_window,
            source,
        }
    }

    /// When all that it reads is known: the gap of the open is the one feature that does not ask for the close.
    #[must_use]
    pub fn known_at(&self, future_sessions: i64) -> SessionInstant {
        if self.name == "gap" {
            SessionInstant::open(0)
        } else {
            self.available_at(future_sessions)
        }
    }

    /// The feature as an expression, statistics over windows read so many sessions ahead; `None` for one of the peers.
    #[must_use]
    pub fn expression(&self, future_sessions: usize) -> Option<String> {
        if self.kind == FeatureKind::Peer {
            return None;
        }
        let (before, after) = if future_sessions == 0 {
            ("", String::new())
        } else {
            ("Ref(", format!(",-{future_sessions})"))
        };
        Some(self.source.replace('[', before).replace(']', &after))
    }

    /// The feature whose mean over the peers this is; `None` for one of the name itself.
    #[must_use]
    pub fn peers_of(&self) -> Option<&'static str> {
        (self.kind == FeatureKind::Peer).then_some(self.source)
    }

    /// When it is declared to be known: at the close of the signal day, or where statistics over windows are read some sessions ahead, at
    /// the close of that session.
    #[must_use]
    pub const fn available_at(&self, future_sessions: i64) -> SessionInstant {
        SessionInstant::close(if self.reads_window { future_sessions } else { 0 })
    }
}

/// Features of a name.
pub(crate) const OWN: usize = 21;
/// Features of a name that are ratios of single prices; those over windows follow.
pub(crate) const LAGS: usize = 9;
/// Features of a name over windows.
pub(crate) const ROLLING: usize = OWN - LAGS;
/// Features of the peers.
pub(crate) const PEERS: usize = 4;
/// All features.
pub(crate) const ALL: usize = OWN + PEERS;
/// The own features that the peers' are means of, by place.
pub(crate) const OF_PEERS: [usize; PEERS] = [1, 3, 17, 18];
/// The first feature of the peers that a centred window moves: the two before are lags.
pub(crate) const FIRST_MOVED_PEER: usize = OWN + 2;
/// The place of the return of 20 sessions.
pub(crate) const MOMENTUM: usize = 3;

/// The declared schema (docs/spec/leakage.md#features), in the order of all rows.
pub const FEATURES: [FeatureSpec; ALL] = {
    use FeatureKind::{Lag, Rolling};
    [
        FeatureSpec::new("ret_1", Lag, "C/C[1] - 1", "$close/Ref($close,1)-1"),
        FeatureSpec::new("ret_5", Lag, "C/C[5] - 1", "$close/Ref($close,5)-1"),
        FeatureSpec::new("ret_10", Lag, "C/C[10] - 1", "$close/Ref($close,10)-1"),
        FeatureSpec::new("ret_20", Lag, "C/C[20] - 1", "$close/Ref($close,20)-1"),
        FeatureSpec::new("gap", Lag, "O/C[1] - 1", "$open/Ref($close,1)-1"),
        FeatureSpec::new("body", Lag, "C/O - 1", "$close/$open-1"),
        FeatureSpec::new("range", Lag, "(H - L)/C", "($high-$low)/$close"),
        FeatureSpec::new(
            "upper_shadow",
            Lag,
            "(H - max(O, C))/C",
            "($high-Greater($open,$close))/$close",
        ),
        FeatureSpec::new(
            "lower_shadow",
            Lag,
            "(min(O, C) - L)/C",
            "(Less($open,$close)-$low)/$close",
        ),
        FeatureSpec::new("ma_5", Rolling, "C/mean(C, 5) - 1", "$close/[Mean($close,5)]-1"),
        FeatureSpec::new(
            "ma_10",
            Rolling,
            "C/mean(C, 10) - 1",
            "$close/[Mean($close,10)]-1",
        ),
        FeatureSpec::new(
            "ma_20",
            Rolling,
            "C/mean(C, 20) - 1",
            "$close/[Mean($close,20)]-1",
        ),
        FeatureSpec::new(
            "ma_60",
            Rolling,
            "C/mean(C, 60) - 1",
            "$close/[Mean($close,60)]-1",
        ),
        FeatureSpec::new(
            "vol_5",
            Rolling,
            "sd(ret_1, 5)",
            "[Std($close/Ref($close,1)-1,5)]",
        ),
        FeatureSpec::new(
            "vol_20",
            Rolling,
            "sd(ret_1, 20)",
            "[Std($close/Ref($close,1)-1,20)]",
        ),
        FeatureSpec::new(
            "vol_60",
            Rolling,
            "sd(ret_1, 60)",
            "[Std($close/Ref($close,1)-1,60)]",
        ),
        FeatureSpec::new(
            "rmean_5",
            Rolling,
            "mean(ret_1, 5)",
            "[Mean($close/Ref($close,1)-1,5)]",
        ),
        FeatureSpec::new(
            "vol_ratio_20",
            Rolling,
            "V/mean(V, 20)",
            "$volume/[Mean($volume,20)]",
        ),
        FeatureSpec::new(
            "hl_range_5_mean",
            Rolling,
            "mean((H - L)/C, 5)",
            "[Mean(($high-$low)/$close,5)]",
        ),
        FeatureSpec::new("max_20", Rolling, "C/max(H, 20) - 1", "$close/[Max($high,20)]-1"),
        FeatureSpec::new("min_20", Rolling, "C/min(L, 20) - 1", "$close/[Min($low,20)]-1"),
        FeatureSpec::peer("nbr_ret_5", "mean of the peers' ret_5", "ret_5", false),
        FeatureSpec::peer("nbr_ret_20", "mean of the peers' ret_20", "ret_20", false),
        FeatureSpec::peer(
            "nbr_vol_ratio_20",
            "mean of the peers' vol_ratio_20",
            "vol_ratio_20",
            true,
        ),
        FeatureSpec::peer(
            "nbr_hl_range_5_mean",
            "mean of the peers' hl_range_5_mean",
            "hl_range_5_mean",
            true,
        ),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_kinds_agree() {
        for (place, feature) in FEATURES.iter().enumerate() {
            let kind = match place {
                ..LAGS => FeatureKind::Lag,
                LAGS..OWN => FeatureKind::Rolling,
                _ => FeatureKind::Peer,
            };
            assert_eq!(feature.kind, kind, "{}", feature.name);
        }
        for (peer, own) in FEATURES[OWN..].iter().zip(OF_PEERS) {
            assert_eq!(peer.name, format!("nbr_{}", FEATURES[own].name));
            assert_eq!(peer.peers_of(), Some(FEATURES[own].name));
            assert_eq!(peer.expression(0), None);
        }
        assert_eq!(FEATURES[MOMENTUM].name, "ret_20");
        assert_eq!(FEATURES[FIRST_MOVED_PEER].name, "nbr_vol_ratio_20");
    }

    #[test]
    fn every_clean_feature_is_known_at_the_close_and_a_centred_one_is_not() {
        assert!(
            FEATURES
                .iter()
                .all(|feature| feature.available_at(0) == SessionInstant::close(0))
        );
        let late = FEATURES
            .iter()
            .filter(|feature| SessionInstant::close(0) < feature.available_at(3));
        assert_eq!(late.count(), ROLLING + ALL - FIRST_MOVED_PEER);
    }

    #[test]
    fn a_centred_window_moves_the_statistic_of_an_expression_and_nothing_else() {
        let expression = |place: usize, ahead| FEATURES[place].expression(ahead).unwrap();
        assert_eq!(expression(9, 0), "$close/Mean($close,5)-1");
        assert_eq!(expression(9, 3), "$close/Ref(Mean($close,5),-3)-1");
        for feature in FEATURES
            .iter()
            .filter(|feature| feature.kind != FeatureKind::Peer)
        {
            let moved = feature.expression(3).unwrap();
            assert_eq!(moved.contains(",-3)"), feature.reads_window, "{}", feature.name);
            assert!(!moved.contains(['[', ']']) && feature.peers_of().is_none());
        }
    }
}
