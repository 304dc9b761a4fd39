//! Time stands still in these tests and is moved on when everybody waits.

use super::super::gates::Gates;
use super::super::key_name::KeyName;
use super::*;
use std::collections::BTreeMap;

fn limits(requests: u32, tokens: u32, in_flight: u32) -> RateLimits {
    RateLimits {
        requests_per_minute: NonZeroU32::new(requests),
        tokens_per_minute: NonZeroU32::new(tokens),
        burst: None,
        in_flight: NonZeroU32::new(in_flight),
    }
}

fn gate(limits: RateLimits) -> Arc<RateGate> {
    Arc::new(RateGate::new(limits, None))
}

impl RateGate {
    async fn enter(self: &Arc<Self>, request_tokens: u64, reply_tokens_max: Option<u64>) -> Slot {
        let turn = self.turn().await;
        let mut slot = turn.place().await;
        turn.count(&mut slot, (request_tokens, reply_tokens_max)).await;
        slot
    }
}

const WELL: CallEnd = CallEnd::Well {
    tokens: None,
    reply_tokens: None,
};

/// Seconds after which the calls began.
async fn beginnings(gate: &Arc<RateGate>, request_tokens: u64, calls: usize) -> Vec<u64> {
    let start = Instant::now();
    let mut found = Vec::new();
    for _ in 0..calls {
        let slot = gate.enter(request_tokens, None).await;
        found.push(start.elapsed().as_secs());
        slot.end(WELL);
    }
    found
}

#[tokio::test(start_paused = true)]
async fn a_minute_has_its_worth_wherever_it_begins() {
    let found = beginnings(&gate(limits(4, 0, 0)), 1, 9).await;
    // A burst of one, then four in any minute.
    for (first, fifth) in found.iter().zip(found.iter().skip(4)) {
        assert!((60..63).contains(&(fifth - first)), "{found:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_holds_its_most_until_its_tokens_are_known() {
    let gate = gate(limits(0, 600, 0));
    let start = Instant::now();
    let slot = gate.enter(100, Some(500)).await;
    slot.end(CallEnd::Well {
        tokens: Some(300),
        reply_tokens: Some(200),
    });
    // 300 were used, and the next reply is taken to have 200 as this one.
    gate.enter(100, Some(500)).await.end(WELL);
    assert!(start.elapsed().as_secs() < 1);
    gate.enter(100, Some(500)).await.end(WELL);
    assert!((60..63).contains(&start.elapsed().as_secs()));
}

#[tokio::test(start_paused = true)]
async fn processes_that_share_a_key_share_its_minute() {
    let folder = tempfile::tempdir().unwrap();
    let of_process = || Arc::new(RateGate::new(limits(12, 0, 0), Some((folder.path(), "key"))));
    let (first, second) = (of_process(), of_process());
    let (first, second) = tokio::join!(beginnings(&first, 0, 9), beginnings(&second, 0, 9));
    let mut all: Vec<u64> = first.into_iter().chain(second).collect();
    all.sort_unstable();
    for (first, thirteenth) in all.iter().zip(all.iter().skip(12)) {
        assert!(60 <= thirteenth - first, "{all:?}");
    }
    assert!(*all.last().unwrap() < 75, "{all:?}");
}

/// Calls that have all begun at once, each told to whoever ends it.
async fn enter_all(gate: &Arc<RateGate>, calls: usize) -> Vec<Slot> {
    let mut slots = Vec::new();
    for _ in 0..calls {
        slots.push(gate.enter(0, None).await);
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
        slot.end(CallEnd::Busy {
            wait,
            overloaded: None,
        });
    }
    assert_eq!(gate.limit(), 4);
    let slots = enter_all(&gate, 4).await;
    // Timers end on the next whole millisecond.
    assert_eq!(
        start.elapsed().as_secs(),
        wait.as_secs(),
        "nobody asks during the pause"
    );
    let fifth = Arc::clone(&gate);
    let fifth = tokio::spawn(async move { drop(fifth.enter(0, None).await) });
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
        gate.enter(0, None).await.end(CallEnd::Busy {
            wait: Duration::from_secs(1),
            overloaded: None,
        });
        assert_eq!(gate.limit(), expected);
    }
    let mut grown = Vec::new();
    for _ in 0..8 {
        gate.enter(0, None).await.end(WELL);
        grown.push(gate.limit());
    }
    assert_eq!(grown, [2, 2, 3, 3, 3, 3, 3, 3]);
}

#[tokio::test(start_paused = true)]
async fn without_limits_a_busy_provider_still_sets_one() {
    let gate = gate(RateLimits::default());
    let mut slots = enter_all(&gate, 10).await;
    slots.pop().unwrap().end(CallEnd::Busy {
        wait: Duration::ZERO,
        overloaded: None,
    });
    assert_eq!(gate.limit(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_silent_endpoint_is_asked_by_one_ever_more_rarely_until_it_is_back() {
    let gate = gate(limits(0, 0, 8));
    let start = Instant::now();
    let waits = Waits {
        first: Duration::from_secs(1),
        longest: Duration::from_mins(1),
    };
    let mut told = Vec::new();
    for slot in enter_all(&gate, 8).await {
        told.extend(slot.end(CallEnd::Unanswered(waits)));
    }
    assert_eq!(told, [EndpointNews::Silent], "it is one event");
    let mut asked = Vec::new();
    for _ in 0..8 {
        let slot = gate.enter(0, None).await;
        asked.push(start.elapsed().as_secs());
        assert_eq!((gate.limit(), slot.end(CallEnd::Unanswered(waits))), (1, None));
    }
    assert_eq!(asked, [1, 3, 7, 15, 31, 63, 123, 183]);
    let slot = gate.enter(0, None).await;
    let news = slot.end(WELL);
    assert!(
        matches!(news, Some(EndpointNews::Back { after }) if after.as_secs() == 243),
        "{news:?}"
    );
    assert_eq!(gate.limit(), 8, "as before");
    gate.enter(0, None).await.end(WELL);
    assert_eq!(start.elapsed().as_secs(), 243, "the pause is over");
}

#[tokio::test]
async fn who_uses_one_key_shares_one_gate() {
    let name = |key: &str, base_url: &str| KeyName {
        key: key.to_owned(),
        base_url: base_url.to_owned(),
    };
    let limited = BTreeMap::from([(name("A", "x"), limits(0, 0, 2))]);
    let gates = Gates::new(limited, None);
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
