-- A walk of drawn steps through the functions of runs/server/src/schema.sql, in a database of its own: workers that take, hold,
-- settle, end, come too late, and leases that run out between any two of them. After every step what must always hold is looked at.
-- The first thing that does not ends the walk with an error. psql -v steps=20000 -v draw=0.5 -f lease_and_purse.sql
SELECT setseed(:draw);
SET walk.steps = :steps;
INSERT INTO ktd.study (name, kind, file, folder, program) VALUES ('walk', 'k', 'f', 'walk' || :draw, 'p');
DO $$
DECLARE
  s bigint := (SELECT max(id) FROM ktd.study);
  step integer; op double precision; u text; e bigint; now_epoch bigint; is_alive boolean; r record; ok boolean; a bigint; before_count bigint;
  late integer := 0; capped integer := 0; held integer := 0; whole integer := 0;
BEGIN
  INSERT INTO ktd.unit (study, id, place, lane, after, state)
    SELECT s, 'u' || n, n, '', CASE WHEN n = 3 THEN '{u1}' ELSE '{}' END::text[], 'waiting' FROM generate_series(1, 3) n;
  FOR step IN 1 .. current_setting('walk.steps')::integer LOOP
    op := random();
    u := 'u' || (1 + floor(random() * 3))::integer;
    SELECT l.epoch, l.until > clock_timestamp() INTO now_epoch, is_alive FROM ktd.lease l WHERE l.study = s AND l.unit = u;
    -- Whoever acts is the present owner or one of the two before.
    e := greatest(coalesce(now_epoch, 1) - floor(random() * 3)::bigint, 1);
    is_alive := coalesce(is_alive AND e = now_epoch, false);
    IF op < 0.15 THEN
      SELECT * INTO r FROM ktd.claim(s, '', 'w', 1000, ktd.now_us());
      IF r.unit = 'u3' AND (SELECT state FROM ktd.unit WHERE study = s AND id = 'u1') <> 'done' THEN
        RAISE EXCEPTION 'step %: u3 was taken before u1 was done', step;
      END IF;
    ELSIF op < 0.50 THEN
      a := floor(random() * 1000000)::bigint;
      SELECT * INTO r FROM ktd.reserve(s, u, e, a, 1 + floor(random() * 25)::bigint, ARRAY['experiment', 'cell ' || u], ARRAY[100, 60]);
      IF (r.outcome = 'lease') = is_alive THEN
        RAISE EXCEPTION 'step %: reserve of epoch % of % (%, alive %) says %', step, e, u, now_epoch, is_alive, r.outcome;
      END IF;
      late := late + (r.outcome = 'lease')::integer;
      capped := capped + (r.outcome = 'cap')::integer;
      IF r.outcome = 'held' THEN
        held := held + 1;
        -- The same again changes nothing.
        before_count := (SELECT sum(sc.held) FROM ktd.scope sc WHERE sc.study = s);
        PERFORM ktd.reserve(s, u, e, a, 5, ARRAY['experiment', 'cell ' || u], ARRAY[100, 60]);
        IF before_count <> (SELECT sum(sc.held) FROM ktd.scope sc WHERE sc.study = s) THEN
          RAISE EXCEPTION 'step %: a call was held twice', step;
        END IF;
      END IF;
    ELSIF op < 0.80 THEN
      -- Any call of the unit, also one that was settled or counted whole: its cost is at most what was held.
      SELECT * INTO r FROM ktd.hold h WHERE h.study = s AND h.unit = u ORDER BY random() LIMIT 1;
      IF FOUND THEN
        ok := ktd.settle(s, u, r.epoch, r.ask, floor(random() * (r.amount + 1))::bigint);
        IF ok = (r.state = 'settled') THEN
          RAISE EXCEPTION 'step %: a call that was % was settled: %', step, r.state, ok;
        END IF;
      END IF;
    ELSIF op < 0.86 THEN
      ok := ktd.ended(s, u, e, (ARRAY['done', 'back', 'failed', 'capped'])[1 + floor(random() * 4)::integer], 0, NULL, NULL, NULL);
      IF ok <> is_alive THEN
        RAISE EXCEPTION 'step %: epoch % of % ended its lease: %, alive %', step, e, u, ok, is_alive;
      END IF;
    ELSIF op < 0.89 THEN
      ok := ktd.renew(s, u, e, 1000);
      IF ok <> is_alive THEN
        RAISE EXCEPTION 'step %: epoch % of % was renewed: %, alive %', step, e, u, ok, is_alive;
      END IF;
    ELSIF op < 0.92 THEN
      -- The worker stands still, or the machine is gone.
      UPDATE ktd.lease SET until = clock_timestamp() - interval '1 s' WHERE study = s AND unit = u;
      IF random() < 0.5 THEN PERFORM ktd.expire(s); END IF;
    ELSIF op < 0.93 THEN
      PERFORM ktd.cancel(s, ARRAY[u]);
    ELSE
      PERFORM ktd.retry(s, '{}');
      UPDATE ktd.unit SET state = 'waiting', done_at = NULL WHERE study = s AND state = 'done' AND random() < 0.5;
      -- Another day, another cap: the walk goes on.
      IF random() < 0.08 THEN
        DELETE FROM ktd.hold WHERE study = s AND state <> 'open';
        UPDATE ktd.scope SET spent = 0 WHERE study = s;
      END IF;
    END IF;
    FOR r IN SELECT sc.*, coalesce((SELECT sum(h.amount) FROM ktd.hold h WHERE sc.id = ANY (h.scopes) AND h.state = 'open'), 0) open_sum,
               coalesce((SELECT sum(h.cost) FROM ktd.hold h WHERE sc.id = ANY (h.scopes) AND h.state <> 'open'), 0) paid_sum
             FROM ktd.scope sc WHERE sc.study = s LOOP
      IF r.cap < r.spent + r.held OR r.held <> r.open_sum OR r.spent <> r.paid_sum THEN
        RAISE EXCEPTION 'step %: scope % has % spent and % held of %, its calls % and %', step, r.name, r.spent, r.held, r.cap,
          r.paid_sum, r.open_sum;
      END IF;
    END LOOP;
    PERFORM FROM ktd.hold h JOIN ktd.lease l ON l.study = h.study AND l.unit = h.unit
      WHERE h.study = s AND h.state = 'open' AND h.epoch < l.epoch;
    IF FOUND THEN RAISE EXCEPTION 'step %: a call of an older epoch is still open', step; END IF;
    PERFORM FROM ktd.unit x WHERE x.study = s AND x.state <> 'running'
      AND EXISTS (SELECT FROM ktd.lease l WHERE l.study = s AND l.unit = x.id AND l.until > clock_timestamp());
    IF FOUND THEN RAISE EXCEPTION 'step %: a unit that nobody runs has a living lease', step; END IF;
  END LOOP;
  SELECT count(*) INTO whole FROM ktd.hold WHERE study = s AND state = 'whole';
  IF 0 IN (late, capped, held) THEN RAISE EXCEPTION 'the walk never came too late (%), to a cap (%) or held (%)', late, capped, held; END IF;
  RAISE NOTICE '% steps: % held, % refused as late, % at a cap, % whole at the end', current_setting('walk.steps'), held, late, capped, whole;
  DELETE FROM ktd.study WHERE id = s;
END $$;
