//! Time stands still in these tests and is moved on when everybody waits.

use super::*;

fn limits(requests: u32, tokens: u32, in_flight: u32) -> RateLimits {
    RateLimits {
        requests_per_minute: NonZeroU32::new(requests),
        tokens_per_minute: NonZeroU32::new(tokens),
        in_flight: NonZeroU32::new(in_flight),
    }
}

fn gate(limits: RateLimits) -> Arc<RateGate> {
    Arc::new(RateGate::new(limits))
}

const WELL: CallEnd = CallEnd::Well { tokens: None };

/// Seconds after which the calls began.
async fn beginnings(gate: &Arc<RateGate>, request_tokens: u64, calls: usize) -> Vec<u64> {
    let start = Instant::now();
    let mut found = Vec::new();
    for _ in 0..calls {
        let slot = gate.enter(request_tokens).await;
        found.push(start.elapsed().as_secs());
        slot.end(WELL);
    }
    found
}

#[tokio::test(start_paused = true)]
async fn requests_beyond_a_minutes_worth_come_evenly() {
    let found = beginnings(&gate(limits(4, 0, 0)), 1, 7).await;
    assert_eq!(found, [0, 0, 0, 0, 15, 30, 45]);
}

#[tokio::test(start_paused = true)]
async fn a_dear_request_waits_for_its_tokens() {
    let gate = gate(limits(0, 600, 0));
    assert_eq!(beginnings(&gate, 300, 4).await, [0, 0, 30, 60]);
    // More than a minute's worth takes a full bucket, and is not refused for ever.
    assert_eq!(beginnings(&gate, 6_000, 2).await, [60, 120]);
}

/// What a reply has is known after it came: the next request pays for it.
#[tokio::test(start_paused = true)]
async fn tokens_of_replies_are_owed() {
    let gate = gate(limits(0, 600, 0));
    let start = Instant::now();
    let slot = gate.enter(100).await;
    slot.end(CallEnd::Well { tokens: Some(700) });
    gate.enter(0).await.end(WELL);
    // 600 are owed and 500 are left.
    assert_eq!(start.elapsed().as_secs(), 10);
}

/// Calls that have all begun at once, each told to whoever ends it.
async fn enter_all(gate: &Arc<RateGate>, calls: usize) -> Vec<Slot> {
    let mut slots = Vec::new();
    for _ in 0..calls {
        slots.push(gate.enter(0).await);
    }
    slots
}

#[tokio::test(start_paused = true)]
async fn a_busy_provider_is_left_alone_by_all_and_asked_less_at_once() {
    let gate = gate(limits(0, 0, 8));
    let start = Instant::now();
    let wait = Duration::from_secs(20);
    // All of them hear that it is busy: that is one event, not eight.
    for slot in enter_all(&gate, 8).await {
        slot.end(CallEnd::Busy { wait });
    }
    assert_eq!(gate.limit(), 4);
    let slots = enter_all(&gate, 4).await;
    assert_eq!(start.elapsed(), wait, "nobody asks during the pause");
    let fifth = Arc::clone(&gate);
    let fifth = tokio::spawn(async move { drop(fifth.enter(0).await) });
    tokio::task::yield_now().await;
    assert!(!fifth.is_finished(), "no more than the limit at once");
    for slot in slots {
        slot.end(CallEnd::Otherwise);
    }
    fifth.await.unwrap();
    assert_eq!(gate.limit(), 4, "nothing is learnt from them");
}

#[tokio::test(start_paused = true)]
async fn the_limit_halves_down_to_one_and_grows_by_one_at_a_time() {
    let gate = gate(limits(0, 0, 3));
    for expected in [1, 1] {
        gate.enter(0).await.end(CallEnd::Busy {
            wait: Duration::from_secs(1),
        });
        assert_eq!(gate.limit(), expected);
    }
    let mut grown = Vec::new();
    for _ in 0..8 {
        gate.enter(0).await.end(WELL);
        grown.push(gate.limit());
    }
    assert_eq!(grown, [2, 2, 3, 3, 3, 3, 3, 3]);
}

#[tokio::test(start_paused = true)]
async fn without_limits_a_busy_provider_still_sets_one() {
    let gate = gate(RateLimits::default());
    let mut slots = enter_all(&gate, 10).await;
    slots.pop().unwrap().end(CallEnd::Busy { wait: Duration::ZERO });
    assert_eq!(gate.limit(), 5);
}

#[tokio::test]
async fn who_uses_one_key_shares_one_gate() {
    let name = |key: &str, base_url: &str| KeyName {
        key: key.to_owned(),
        base_url: base_url.to_owned(),
    };
    let gates = Gates::new(BTreeMap::from([(name("A", "x"), limits(0, 0, 2))]));
    assert!(Arc::ptr_eq(
        &gates.of(&name("A", "x")),
        &gates.of(&name("A", "x"))
    ));
    assert!(!Arc::ptr_eq(
        &gates.of(&name("A", "x")),
        &gates.of(&name("A", "y"))
    ));
    assert_eq!(
        (
            gates.of(&name("A", "x")).limit(),
            gates.of(&name("B", "x")).limit()
        ),
        (2, u32::MAX)
    );
    let both = limits(5, 0, 1).and(limits(3, 9, 0));
    assert_eq!(both, limits(3, 9, 1));
}
