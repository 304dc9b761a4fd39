use super::*;
use proptest::prelude::*;

const CELLS: u8 = 4;

/// Two vendors, by turns.
fn spender(cell: u8) -> Spender {
    Spender {
        id: format!("c{cell}"),
        vendor: format!("v{}", cell % 2),
        pays_itself: false,
    }
}

fn caps(experiment: u64, cell: u64, vendor: u64) -> Caps {
    Caps {
        experiment: Some(Picodollars(experiment)),
        cell: Some(Picodollars(cell)),
        vendor: BTreeMap::from([("v1".to_owned(), Picodollars(vendor))]),
        currency: None,
    }
}

/// What can happen to an experiment.
#[derive(Debug, Clone)]
enum Happens {
    /// A cell wants to make a call of at most so much.
    Call { cell: u8, most: u64 },
    /// A call under way ends and costs so many thousandths of its most.
    End { cell: u8, thousandths: u64 },
    /// The program is killed and run again with these caps: what is on disk is counted, and calls under way are
    /// unknown.
    Kill { experiment: u64, cell: u64, vendor: u64 },
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        5 => (0..CELLS, 0..40_u64).prop_map(|(cell, most)| Happens::Call { cell, most }),
        4 => (0..CELLS, 0..=1_000_u64).prop_map(|(cell, thousandths)| Happens::End { cell, thousandths }),
        1 => (0..400_u64, 0..200_u64, 0..300_u64)
            .prop_map(|(experiment, cell, vendor)| Happens::Kill { experiment, cell, vendor }),
    ]
}

/// What stands in the bundles: a call is written before it is made, at its most, and again when it has ended.
#[derive(Debug, Default)]
struct Disk {
    calls: Vec<(u8, u64)>,
}

impl Disk {
    fn spent(&self, is_in: impl Fn(u8) -> bool) -> u64 {
        let calls = self.calls.iter().filter(|(cell, _)| is_in(*cell));
        calls.map(|(_, cost)| cost).sum()
    }

    fn counted(&self, caps: Caps) -> Arc<Budget> {
        let budget = Budget::new(caps);
        for (cell, cost) in &self.calls {
            budget.count(&spender(*cell), Picodollars(*cost));
        }
        Arc::new(budget)
    }

    fn of_scope(&self, scope: &Scope) -> u64 {
        match scope {
            Scope::Experiment => self.spent(|_| true),
            Scope::Spender(id) => self.spent(|cell| spender(cell).id == *id),
            Scope::Vendor(id) => self.spent(|cell| spender(cell).vendor == *id),
        }
    }
}

fn scopes() -> Vec<Scope> {
    let mut scopes: Vec<Scope> = (0..CELLS).flat_map(|cell| spender(cell).scopes()).collect();
    scopes.sort();
    scopes.dedup();
    scopes
}

/// What is spent and held never exceeds a cap, unless it did before the cap was lowered; and sums are exact.
fn check(budget: &Budget, disk: &Disk, before: &BTreeMap<Scope, u64>) {
    for scope in scopes() {
        let account = budget.account(&scope);
        assert_eq!(
            account.spent.0 + account.reserved.0,
            disk.of_scope(&scope),
            "{scope}"
        );
        if let Some(cap) = budget.cap(&scope) {
            let most = cap.0.max(before.get(&scope).copied().unwrap_or(0));
            assert!(disk.of_scope(&scope) <= most, "{scope}: {account:?} of {cap:?}");
        }
    }
}

fn spent_by_scope(disk: &Disk) -> BTreeMap<Scope, u64> {
    scopes()
        .into_iter()
        .map(|scope| {
            let spent = disk.of_scope(&scope);
            (scope, spent)
        })
        .collect()
}

proptest! {
    #[test]
    fn no_cap_is_exceeded_and_every_cost_is_counted_once(
        first in (0..400_u64, 0..200_u64, 0..300_u64),
        story in proptest::collection::vec(happens(), 0..120),
    ) {
        let mut disk = Disk::default();
        let mut before = BTreeMap::new();
        let mut budget = disk.counted(caps(first.0, first.1, first.2));
        // A cell makes one call at a time: the call's place on disk, and the money held for it.
        let mut under_way: BTreeMap<u8, (usize, Reservation)> = BTreeMap::new();
        for event in story {
            match event {
                Happens::Call { cell, most } if !under_way.contains_key(&cell) => {
                    match budget.try_reserve(&spender(cell), Picodollars(most)) {
                        Room::Held(held) => {
                            disk.calls.push((cell, most));
                            under_way.insert(cell, (disk.calls.len() - 1, held));
                        }
                        Room::Later => prop_assert!(!under_way.is_empty(), "nobody to wait for"),
                        Room::Never(reached) => {
                            prop_assert!(reached.cap < reached.spent.plus(reached.needed));
                        }
                    }
                }
                Happens::End { cell, thousandths } => {
                    if let Some((place, held)) = under_way.remove(&cell) {
                        disk.calls[place].1 = disk.calls[place].1 * thousandths / 1_000;
                        held.settle(Picodollars(disk.calls[place].1));
                    }
                }
                Happens::Kill { experiment, cell, vendor } => {
                    under_way.clear();
                    before = spent_by_scope(&disk);
                    budget = disk.counted(caps(experiment, cell, vendor));
                }
                Happens::Call { .. } => {}
            }
            check(&budget, &disk, &before);
        }
    }
}

/// A hundred cells at once: each waits for room while others are under way, and stops when there can be none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_cells_at_once_spend_no_more_than_the_cap() {
    let budget = Arc::new(Budget::new(caps(1_000, 1_000, 1_000)));
    let mut tasks = tokio::task::JoinSet::new();
    for cell in 0..100 {
        let budget = Arc::clone(&budget);
        tasks.spawn(async move {
            let mut spent = 0;
            while let Ok(held) = budget.reserve(&spender(cell), Picodollars(90)).await {
                tokio::task::yield_now().await;
                spent += 7;
                held.settle(Picodollars(7));
            }
            spent
        });
    }
    let spent: u64 = tasks.join_all().await.into_iter().sum();
    let account = budget.account(&Scope::Experiment);
    assert_eq!((account.spent.0, account.reserved.0), (spent, 0));
    // Nobody stops while there is room for one more call.
    assert!((911..=1_000).contains(&spent), "{spent}");
}

#[tokio::test]
async fn a_cell_waits_for_calls_under_way_and_stops_when_they_were_dear() {
    let budget = Arc::new(Budget::new(caps(100, 100, 100)));
    for (cost, fits) in [(10, true), (60, false)] {
        let held = budget.reserve(&spender(0), Picodollars(70)).await.unwrap();
        let other = Arc::clone(&budget);
        let waiting = tokio::spawn(async move { other.reserve(&spender(2), Picodollars(50)).await });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        held.settle(Picodollars(cost));
        match waiting.await.unwrap() {
            Ok(held) => {
                assert!(fits);
                held.settle(Picodollars(0));
            }
            Err(reached) => {
                assert!(!fits);
                assert_eq!(
                    (reached.scope, reached.spent, reached.needed),
                    (Scope::Experiment, Picodollars(70), Picodollars(50))
                );
            }
        }
    }
}

#[test]
fn amounts_of_a_budget_are_texts() {
    let parse = |text: &str| toml::from_str::<Caps>(text).map_err(|error| error.to_string());
    let caps = parse("experiment = \"25.00\"\nvendor = { openai = \"1.5\" }\ncurrency = \"USD\"").unwrap();
    assert_eq!(caps.experiment, Some(Picodollars(25_000_000_000_000)));
    assert_eq!(caps.vendor["openai"], Picodollars(1_500_000_000_000));
    assert!(!Caps::default().is_any() && caps.is_any());
    for (bad, part) in [
        ("experiment = 25.0", "expected a string"),
        ("cell = \"2 dollars\"", "is no amount"),
        ("currency = \"EUR\"", "USD"),
        ("total = \"1\"", "unknown field"),
    ] {
        let error = parse(bad).unwrap_err();
        assert!(error.contains(part), "{error}");
    }
}
