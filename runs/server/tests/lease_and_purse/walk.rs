//! The model beside a real server: drawn steps, also of workers that come too late, through the functions of `schema.sql`. After each
//! step the tables are what the model says.

use crate::database::{Database, Hold, HoldState, How, Outcome, UnitState};
use ktd_server::ServerDatabase;
use sqlx::{Connection, PgConnection, Row};
use std::collections::BTreeMap;
use std::fmt::Debug;

const STEPS: u32 = 4_000;
const UNITS: usize = 3;
const AT_ONCE: usize = 3;
/// Longer than the walk.
const LEASE_SECONDS: f64 = 1_000.0;

struct Walk {
    server: PgConnection,
    model: Database,
    study: i64,
    drawn: u64,
    seen: BTreeMap<String, u32>,
}

fn name(unit: usize) -> String {
    format!("u{unit}")
}

/// A variant as the server spells it.
fn word(of: impl Debug) -> String {
    format!("{of:?}").to_lowercase()
}

impl Walk {
    /// A number below another (Knuth's MMIX generator).
    fn draw(&mut self, below: usize) -> usize {
        self.drawn = self
            .drawn
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.drawn >> 33).unwrap() % below
    }

    fn draw_amount(&mut self, below: u16) -> u16 {
        u16::try_from(self.draw(below.into())).unwrap()
    }

    async fn tell(&mut self, statement: &'static str, unit: usize) {
        let told = sqlx::query(statement).bind(self.study).bind(name(unit));
        told.execute(&mut self.server).await.unwrap();
    }

    /// Whoever acts is the present owner or one of the two before.
    fn draw_epoch(&mut self, unit: usize) -> u16 {
        let back = self.draw_amount(3);
        self.model.units[unit].epoch.saturating_sub(back).max(1)
    }

    fn same<T: Debug + PartialEq>(&mut self, what: &str, found: &T, expected: &T) {
        assert_eq!(
            found, expected,
            "{what}: the server, and the model {:#?}",
            self.model
        );
        *self.seen.entry(format!("{what} {found:?}")).or_default() += 1;
    }

    async fn step(&mut self) {
        let unit = self.draw(UNITS);
        let epoch = self.draw_epoch(unit);
        match self.draw(100) {
            0..15 => self.claim().await,
            15..50 => self.reserve(unit, epoch).await,
            50..80 => self.settle().await,
            80..86 => self.ended(unit, epoch).await,
            86..89 => {
                let renewed = "SELECT ktd.renew($1, $2, $3, $4)";
                let renewed = sqlx::query_scalar::<_, bool>(renewed)
                    .bind(self.study)
                    .bind(name(unit));
                let renewed = renewed
                    .bind(i64::from(epoch))
                    .bind(LEASE_SECONDS)
                    .fetch_one(&mut self.server);
                let renewed = renewed.await.unwrap();
                self.same("renew", &renewed, &self.model.is_alive(unit, epoch));
            }
            89..92 => {
                self.tell(
                    "UPDATE ktd.lease SET until = '2000-01-01' WHERE study = $1 AND unit = $2",
                    unit,
                )
                .await;
                self.model.units[unit].is_alive = false;
                if self.draw(2) == 0 {
                    self.tell("SELECT ktd.expire($1) WHERE $2 <> ''", unit).await;
                    for unit in 0..UNITS {
                        self.model.expire(unit, None);
                    }
                }
            }
            92 => {
                let (cancelled, expected) = (
                    self.changed("SELECT ktd.cancel($1, $2)", unit).await,
                    self.model.cancel(unit),
                );
                self.same("cancel", &cancelled, &expected);
            }
            _ => self.go_on(unit).await,
        }
    }

    async fn changed(&mut self, statement: &'static str, unit: usize) -> bool {
        let changed = sqlx::query_scalar::<_, i64>(statement)
            .bind(self.study)
            .bind(vec![name(unit)]);
        changed.fetch_one(&mut self.server).await.unwrap() == 1
    }

    async fn claim(&mut self) {
        let claimed = "SELECT unit, epoch FROM ktd.claim($1, '', 'w', $2, ktd.now_us())";
        let claimed = sqlx::query_as::<_, (Option<String>, Option<i64>)>(claimed)
            .bind(self.study)
            .bind(LEASE_SECONDS);
        let (unit, epoch) = claimed.fetch_one(&mut self.server).await.unwrap();
        let expected = self
            .model
            .claim()
            .map(|(unit, epoch)| (name(unit), i64::from(epoch)));
        assert_eq!(unit.zip(epoch), expected, "claim, of {:#?}", self.model);
    }

    async fn reserve(&mut self, unit: usize, epoch: u16) {
        let (ask, most) = (self.draw_amount(u16::MAX), 1 + self.draw_amount(25));
        // The same again changes nothing.
        for _ in 0..2 {
            let reserved = "SELECT outcome FROM ktd.reserve($1, $2, $3, $4, $5, $6, '{100,60}', $7, $8)";
            let reserved = sqlx::query_scalar::<_, String>(reserved)
                .bind(self.study)
                .bind(name(unit));
            let reserved = reserved
                .bind(i64::from(epoch))
                .bind(i64::from(ask))
                .bind(i64::from(most));
            let reserved = reserved.bind(vec!["experiment".to_owned(), format!("cell {}", name(unit))]);
            let reserved = reserved
                .bind(format!("key of {}", self.study))
                .bind(i64::try_from(AT_ONCE).unwrap());
            let reserved = reserved.fetch_one(&mut self.server).await.unwrap();
            let expected = self.model.reserve((unit, epoch, ask), most, None);
            self.same("reserve", &reserved, &word(expected));
            if expected != Outcome::Held {
                return;
            }
        }
    }

    /// Any call, also one that was settled or counted whole, for at most what was held.
    async fn settle(&mut self) {
        let place = self.draw(self.model.holds.len().max(1));
        let Some((&key, hold)) = self.model.holds.iter().nth(place) else {
            return;
        };
        let amount = hold.amount;
        let cost = Some(self.draw_amount(amount + 1)).filter(|_| self.draw(4) != 0);
        let is_answered = self.draw(2) == 0;
        let settled = "SELECT ktd.settle($1, $2, $3, $4, $5, $6)";
        let settled = sqlx::query_scalar::<_, bool>(settled)
            .bind(self.study)
            .bind(name(key.0));
        let settled = settled
            .bind(i64::from(key.1))
            .bind(i64::from(key.2))
            .bind(cost.map(i64::from))
            .bind(is_answered);
        let settled = settled.fetch_one(&mut self.server).await.unwrap();
        let expected = self.model.settle(key, (cost, is_answered), None);
        self.same("settle", &settled, &expected);
    }

    async fn ended(&mut self, unit: usize, epoch: u16) {
        let how = [How::Done, How::Back, How::Failed, How::Capped][self.draw(4)];
        let ended = "SELECT ktd.ended($1, $2, $3, $4, 0, NULL, NULL, NULL)";
        let ended = sqlx::query_scalar::<_, bool>(ended)
            .bind(self.study)
            .bind(name(unit));
        let ended = ended
            .bind(i64::from(epoch))
            .bind(word(how))
            .fetch_one(&mut self.server);
        let (ended, expected) = (ended.await.unwrap(), self.model.ended(unit, epoch, how));
        self.same("ended", &ended, &expected);
    }

    /// Units wait again, and now and then it is another day with another cap, so that the walk goes on.
    async fn go_on(&mut self, unit: usize) {
        let (retried, expected) = (
            self.changed("SELECT ktd.retry($1, $2)", unit).await,
            self.model.retry(unit, None),
        );
        self.same("retry", &retried, &expected);
        if self.draw(2) == 0 {
            self.tell(
                "UPDATE ktd.unit SET not_before = '2000-01-01' WHERE study = $1 AND id = $2",
                unit,
            )
            .await;
            self.model.units[unit].is_paused = false;
        }
        if self.model.units[unit].state == UnitState::Done {
            self.tell(
                "UPDATE ktd.unit SET state = 'waiting' WHERE study = $1 AND id = $2",
                unit,
            )
            .await;
            self.model.units[unit].state = UnitState::Waiting;
        }
        if self.draw(12) == 0 {
            self.tell(
                "DELETE FROM ktd.hold WHERE study = $1 AND state <> 'open' AND $2 <> ''",
                unit,
            )
            .await;
            self.tell(
                "UPDATE ktd.scope SET spent = 0, whole = 0 WHERE study = $1 AND $2 <> ''",
                unit,
            )
            .await;
            self.model.holds.retain(|_, hold| hold.state == HoldState::Open);
            self.model.scopes.iter_mut().for_each(|scope| scope.spent = 0);
        }
    }

    /// The tables, as the model would have them.
    async fn compare(&mut self, step: u32) {
        let mut found = self.model.clone();
        let units = "SELECT u.state, u.fruitless, coalesce(l.epoch, 0), coalesce(l.until > clock_timestamp(), false),
            u.not_before > clock_timestamp() FROM ktd.unit u LEFT JOIN ktd.lease l ON l.study = u.study AND l.unit = u.id
            WHERE u.study = $1 ORDER BY u.place";
        let rows = sqlx::query(units)
            .bind(self.study)
            .fetch_all(&mut self.server)
            .await
            .unwrap();
        for (unit, row) in found.units.iter_mut().zip(rows) {
            unit.state = state_of(row.get(0));
            unit.fruitless = u8::try_from(row.get::<i32, _>(1)).unwrap();
            unit.epoch = u16::try_from(row.get::<i64, _>(2)).unwrap();
            (unit.is_alive, unit.is_paused) = (row.get(3), row.get(4));
        }
        let unlike = "SELECT count(*) FROM ktd.scope s WHERE s.study = $1 AND s.whole <> (SELECT coalesce(sum(h.cost), 0)
            FROM ktd.hold h WHERE h.study = s.study AND h.state = 'whole' AND s.id = ANY (h.scopes))";
        let unlike = sqlx::query_scalar::<_, i64>(unlike).bind(self.study);
        let unlike = unlike.fetch_one(&mut self.server).await.unwrap();
        assert_eq!(
            unlike, 0,
            "step {step}: scopes that count whole what no call is counted at"
        );
        let holds =
            "SELECT unit, epoch, ask, amount, state, coalesce(cost, 0) FROM ktd.hold WHERE study = $1";
        let rows = sqlx::query(holds)
            .bind(self.study)
            .fetch_all(&mut self.server)
            .await
            .unwrap();
        let number = |row: &sqlx::postgres::PgRow, place| u16::try_from(row.get::<i64, _>(place)).unwrap();
        found.holds = rows
            .iter()
            .map(|row| {
                let unit = row.get::<String, _>(0)[1..].parse().unwrap();
                let states = [HoldState::Open, HoldState::Settled, HoldState::Whole];
                let state = states
                    .into_iter()
                    .find(|state| word(state) == row.get::<String, _>(4))
                    .unwrap();
                let hold = Hold {
                    amount: number(row, 3),
                    state,
                    cost: number(row, 5),
                };
                ((unit, number(row, 1), number(row, 2)), hold)
            })
            .collect();
        let scopes = "SELECT name, spent, held FROM ktd.scope WHERE study = $1";
        for row in sqlx::query(scopes)
            .bind(self.study)
            .fetch_all(&mut self.server)
            .await
            .unwrap()
        {
            let place = row
                .get::<String, _>(0)
                .strip_prefix("cell u")
                .map_or(0, |unit| 1 + unit.parse::<usize>().unwrap());
            (found.scopes[place].spent, found.scopes[place].held) = (number(&row, 1), number(&row, 2));
        }
        assert_eq!(found, self.model, "step {step}: the server, and the model");
        assert_eq!(self.model.wrong(), None, "step {step}: {:#?}", self.model);
    }
}

fn state_of(found: &str) -> UnitState {
    use UnitState::{Cancelled, Capped, Dead, Done, Running, Waiting};
    let mut states = [Waiting, Running, Done, Capped, Dead, Cancelled].into_iter();
    states.find(|state| word(state) == found).unwrap()
}

async fn walked(url: &str, draw: u64) {
    ServerDatabase::connect(url).await.unwrap();
    let mut server = PgConnection::connect(url).await.unwrap();
    let study = "INSERT INTO ktd.study (name, kind, file, folder, program) VALUES ('walk', 'k', 'f', $1, 'p') RETURNING id";
    let study = sqlx::query_scalar::<_, i64>(study).bind(format!("walk {draw}"));
    let study = study.fetch_one(&mut server).await.unwrap();
    sqlx::query("INSERT INTO ktd.unit (study, id, place, lane, after, state)
        SELECT $1, 'u' || n, n, '', CASE n WHEN 2 THEN '{u0}' ELSE '{}' END::text[], 'waiting' FROM generate_series(0, $2 - 1) n")
        .bind(study).bind(i32::try_from(UNITS).unwrap()).execute(&mut server).await.unwrap();
    let mut model = Database::new(UNITS, (100, 60), AT_ONCE);
    model.units[2].after = Some(0);
    let (drawn, seen) = (draw, BTreeMap::new());
    let mut walk = Walk {
        server,
        model,
        study,
        drawn,
        seen,
    };
    for step in 0..STEPS {
        walk.step().await;
        walk.compare(step).await;
    }
    println!("walk {draw}: {:?}", walk.seen);
    for outcome in ["held", "lease", "cap", "later"] {
        assert!(
            walk.seen.contains_key(&format!("reserve {outcome:?}")),
            "never {outcome}: {:?}",
            walk.seen
        );
    }
    sqlx::query("DELETE FROM ktd.study WHERE id = $1")
        .bind(study)
        .execute(&mut walk.server)
        .await
        .unwrap();
}

#[test]
fn the_functions_of_the_server_do_what_the_model_says() {
    #[expect(
        clippy::disallowed_methods,
        reason = "tests/scripts/many_workers.py says where its server is"
    )]
    let url = std::env::var("KTD_TEST_SERVER").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for draw in [3, 7] {
        runtime.block_on(walked(&url, draw));
    }
}
