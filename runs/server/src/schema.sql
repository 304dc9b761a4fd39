-- Everything that decides who runs a unit and what may be spent. Each function is one transaction, in one order of locks: units, leases,
-- gates, holds, scopes by id. Units are locked without their keys (NO KEY), for a new hold looks at the key of its unit after it has locked
-- scopes. Time is the server's clock alone. Amounts are picodollars, moments microseconds since 1970. Of what a scope has spent, "whole" is what
-- calls are counted at whose end nobody knows: a sum over all calls of a large study would take minutes.
CREATE SCHEMA IF NOT EXISTS ktd;
CREATE TABLE IF NOT EXISTS ktd.version (version integer PRIMARY KEY);
INSERT INTO ktd.version SELECT 3 WHERE NOT EXISTS (SELECT FROM ktd.version);
CREATE SEQUENCE IF NOT EXISTS ktd.worker_number;
CREATE TABLE IF NOT EXISTS ktd.study (
  id bigserial PRIMARY KEY, name text NOT NULL, kind text NOT NULL, file text NOT NULL, folder text NOT NULL UNIQUE,
  program text NOT NULL);
CREATE TABLE IF NOT EXISTS ktd.unit (
  study bigint NOT NULL REFERENCES ktd.study ON DELETE CASCADE, id text NOT NULL, place integer NOT NULL, lane text NOT NULL,
  after text[] NOT NULL, state text NOT NULL, fruitless integer NOT NULL DEFAULT 0, not_before timestamptz NOT NULL DEFAULT now(),
  done_at bigint, class text, error text, hint text, PRIMARY KEY (study, id));
CREATE INDEX IF NOT EXISTS unit_waiting ON ktd.unit (study, lane, place) WHERE state = 'waiting';
CREATE INDEX IF NOT EXISTS unit_running ON ktd.unit (study) WHERE state = 'running';
CREATE TABLE IF NOT EXISTS ktd.lease (
  study bigint NOT NULL, unit text NOT NULL, epoch bigint NOT NULL, worker text NOT NULL, until timestamptz NOT NULL,
  PRIMARY KEY (study, unit), FOREIGN KEY (study, unit) REFERENCES ktd.unit ON DELETE CASCADE);
CREATE TABLE IF NOT EXISTS ktd.scope (
  id bigserial PRIMARY KEY, study bigint NOT NULL REFERENCES ktd.study ON DELETE CASCADE, name text NOT NULL, cap bigint,
  spent bigint NOT NULL DEFAULT 0, held bigint NOT NULL DEFAULT 0, whole bigint NOT NULL DEFAULT 0, UNIQUE (study, name));
CREATE TABLE IF NOT EXISTS ktd.hold (
  study bigint NOT NULL, unit text NOT NULL, epoch bigint NOT NULL, ask bigint NOT NULL, amount bigint NOT NULL,
  scopes bigint[] NOT NULL, state text NOT NULL, cost bigint, key text, PRIMARY KEY (study, unit, epoch, ask),
  FOREIGN KEY (study, unit) REFERENCES ktd.unit ON DELETE CASCADE);
CREATE INDEX IF NOT EXISTS hold_open ON ktd.hold (study, unit) WHERE state = 'open';
CREATE INDEX IF NOT EXISTS hold_at_once ON ktd.hold (key) WHERE state = 'open' AND key IS NOT NULL;
CREATE TABLE IF NOT EXISTS ktd.gate (key text PRIMARY KEY, minute bytea NOT NULL);
CREATE TABLE IF NOT EXISTS ktd.worker (name text PRIMARY KEY, limits text[] NOT NULL DEFAULT '{}', seen timestamptz NOT NULL);

CREATE OR REPLACE FUNCTION ktd.now_us() RETURNS bigint LANGUAGE sql VOLATILE AS
  $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint $$;

-- Calls that nobody is known to have ended count as spent whole.
CREATE OR REPLACE FUNCTION ktd.count_whole(s bigint, u text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE h record;
BEGIN
  FOR h IN SELECT * FROM ktd.hold WHERE study = s AND unit = u AND state = 'open' ORDER BY epoch, ask FOR UPDATE LOOP
    PERFORM FROM ktd.scope WHERE id = ANY (h.scopes) ORDER BY id FOR UPDATE;
    UPDATE ktd.scope SET held = held - h.amount, spent = spent + h.amount, whole = whole + h.amount WHERE id = ANY (h.scopes);
    UPDATE ktd.hold SET state = 'whole', cost = amount WHERE (study, unit, epoch, ask) = (s, u, h.epoch, h.ask);
  END LOOP;
END $$;

-- Units whose worker has not renewed: they wait again, or are dead after three epochs without an answer. All leases are locked
-- before the first scope; one that somebody reserves by at this moment is looked at next time.
CREATE OR REPLACE FUNCTION ktd.expire(s bigint) RETURNS void LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE u text; lost text[] := '{}';
BEGIN
  FOR u IN SELECT x.id FROM ktd.unit x WHERE x.study = s AND x.state = 'running' AND
             (SELECT l.until FROM ktd.lease l WHERE l.study = s AND l.unit = x.id) <= clock_timestamp()
           ORDER BY x.id FOR NO KEY UPDATE SKIP LOCKED LOOP
    PERFORM FROM ktd.lease WHERE study = s AND unit = u AND until <= clock_timestamp() FOR NO KEY UPDATE SKIP LOCKED;
    IF FOUND THEN lost := lost || u; END IF;
  END LOOP;
  FOREACH u IN ARRAY lost LOOP
    PERFORM ktd.count_whole(s, u);
    UPDATE ktd.unit SET state = CASE WHEN fruitless >= 3 THEN 'dead' ELSE 'waiting' END, class = 'lost',
      error = 'its worker vanished', hint = 'look at the machine''s memory and log' WHERE study = s AND id = u;
  END LOOP;
END $$;

-- What there is, at one moment: the time, units to take now, those that wait for a moment, those that run. By the indexes of those that wait and run,
-- whatever the planner believes of a queue that was empty a minute ago: what is finished is never read.
CREATE OR REPLACE FUNCTION ktd.looked(s bigint, OUT now bigint, OUT is_open boolean, OUT is_later boolean, OUT is_running boolean)
LANGUAGE plpgsql STABLE SET enable_seqscan = off AS $$
BEGIN
  now := ktd.now_us();
  is_open := EXISTS (SELECT FROM ktd.unit u WHERE u.study = s AND u.state = 'waiting' AND u.not_before <= clock_timestamp()
    AND (u.after = '{}' OR NOT EXISTS (SELECT FROM ktd.unit b WHERE b.study = s AND b.id = ANY (u.after) AND b.state <> 'done')));
  is_later := is_open OR EXISTS (SELECT FROM ktd.unit u WHERE u.study = s AND u.state = 'waiting'
    AND (u.after = '{}' OR NOT EXISTS (SELECT FROM ktd.unit b WHERE b.study = s AND b.id = ANY (u.after) AND b.state <> 'done')));
  is_running := EXISTS (SELECT FROM ktd.unit WHERE study = s AND state = 'running');
END $$;

-- The first unit that waits, in the order of the index.
CREATE OR REPLACE FUNCTION ktd.claim(s bigint, l text, w text, seconds float8, seen bigint, OUT unit text, OUT epoch bigint)
LANGUAGE plpgsql SET enable_seqscan = off SET enable_sort = off AS $$
BEGIN
  SELECT u.id INTO unit FROM ktd.unit u
    WHERE u.study = s AND u.lane = l AND u.state = 'waiting' AND u.not_before <= clock_timestamp() AND (
      u.after = '{}' OR NOT EXISTS (
        SELECT FROM ktd.unit b WHERE b.study = s AND b.id = ANY (u.after) AND (b.state <> 'done' OR b.done_at > seen)))
    ORDER BY u.place LIMIT 1 FOR NO KEY UPDATE OF u SKIP LOCKED;
  IF unit IS NULL THEN RETURN; END IF;
  INSERT INTO ktd.lease AS old VALUES (s, claim.unit, 1, w, clock_timestamp() + make_interval(secs => seconds))
    ON CONFLICT ON CONSTRAINT lease_pkey DO UPDATE SET epoch = old.epoch + 1, worker = w, until = EXCLUDED.until
    RETURNING old.epoch INTO claim.epoch;
  UPDATE ktd.unit x SET state = 'running', fruitless = fruitless + 1 WHERE x.study = s AND x.id = claim.unit;
END $$;

CREATE OR REPLACE FUNCTION ktd.renew(s bigint, u text, e bigint, seconds float8) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE ktd.lease SET until = clock_timestamp() + make_interval(secs => seconds)
    WHERE study = s AND unit = u AND epoch = e AND until > clock_timestamp();
  RETURN FOUND;
END $$;

-- Holds money in all scopes or in none: 'held', 'lease', 'cap' with the scope, or 'later'. Of a key with a limit so many calls of living
-- leases are held at once.
CREATE OR REPLACE FUNCTION ktd.reserve(s bigint, u text, e bigint, a bigint, most bigint, names text[], caps bigint[],
  limited_key text, at_once bigint, OUT outcome text, OUT full_scope text, OUT full_cap bigint, OUT full_spent bigint) LANGUAGE plpgsql AS $$
DECLARE r record; is_full boolean := false; ids bigint[] := '{}';
BEGIN
  PERFORM FROM ktd.lease WHERE study = s AND unit = u AND epoch = e AND until > clock_timestamp() FOR SHARE;
  IF NOT FOUND THEN outcome := 'lease'; RETURN; END IF;
  -- The answer to the same call may have been lost on its way.
  PERFORM FROM ktd.hold WHERE (study, unit, epoch, ask) = (s, u, e, a);
  IF FOUND THEN outcome := 'held'; RETURN; END IF;
  IF limited_key IS NOT NULL THEN
    INSERT INTO ktd.gate VALUES (limited_key, '') ON CONFLICT DO NOTHING;
    PERFORM FROM ktd.gate WHERE key = limited_key FOR UPDATE;
    IF at_once <= (SELECT count(*) FROM ktd.hold h JOIN ktd.lease l ON (l.study, l.unit, l.epoch) = (h.study, h.unit, h.epoch)
                   WHERE h.key = limited_key AND h.state = 'open' AND l.until > clock_timestamp()) THEN
      outcome := 'later'; RETURN;
    END IF;
  END IF;
  INSERT INTO ktd.scope (study, name, cap) SELECT s, n, c FROM unnest(names, caps) AS x(n, c) ORDER BY n
    ON CONFLICT DO NOTHING;
  FOR r IN SELECT * FROM ktd.scope WHERE study = s AND name = ANY (names) ORDER BY id FOR UPDATE LOOP
    ids := ids || r.id;
    IF r.cap < r.spent + most THEN
      outcome := 'cap'; full_scope := r.name; full_cap := r.cap; full_spent := r.spent;
      RETURN;
    END IF;
    is_full := is_full OR coalesce(r.cap < r.spent + r.held + most, false);
  END LOOP;
  IF is_full THEN outcome := 'later'; RETURN; END IF;
  UPDATE ktd.scope SET held = held + most WHERE id = ANY (ids);
  INSERT INTO ktd.hold VALUES (s, u, e, a, most, ids, 'open', NULL, limited_key);
  outcome := 'held';
END $$;

-- What a call cost; without a cost it counts as spent whole. One that was counted whole meanwhile is known now: what it was counted
-- above that is given back. An answer brings its unit further; a refusal, or a call that never left, does not.
CREATE OR REPLACE FUNCTION ktd.settle(s bigint, u text, e bigint, a bigint, c bigint, is_answered boolean)
  RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE h record;
BEGIN
  PERFORM FROM ktd.unit WHERE study = s AND id = u FOR NO KEY UPDATE;
  SELECT * INTO h FROM ktd.hold WHERE (study, unit, epoch, ask) = (s, u, e, a) AND state <> 'settled' FOR UPDATE;
  -- The answer to the same call was lost.
  IF NOT FOUND THEN RETURN false; END IF;
  UPDATE ktd.hold SET state = CASE WHEN c IS NULL THEN 'whole' ELSE 'settled' END, cost = coalesce(c, amount)
    WHERE (study, unit, epoch, ask) = (s, u, e, a);
  PERFORM FROM ktd.scope WHERE id = ANY (h.scopes) ORDER BY id FOR UPDATE;
  UPDATE ktd.scope SET held = held - CASE h.state WHEN 'open' THEN h.amount ELSE 0 END, spent = spent + coalesce(c, h.amount) - coalesce(h.cost, 0),
    whole = whole + CASE WHEN c IS NULL THEN h.amount ELSE 0 END - coalesce(h.cost, 0)
    WHERE id = ANY (h.scopes);
  UPDATE ktd.unit SET fruitless = 0 WHERE study = s AND id = u AND fruitless <> 0 AND is_answered;
  RETURN true;
END $$;

-- Ends a lease: 'done', 'back' (nobody's fault), 'capped' or 'failed'.
CREATE OR REPLACE FUNCTION ktd.ended(s bigint, u text, e bigint, how text, wait float8, c text, err text, h text)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM ktd.unit WHERE study = s AND id = u FOR NO KEY UPDATE;
  UPDATE ktd.lease SET until = clock_timestamp()
    WHERE study = s AND unit = u AND epoch = e AND until > clock_timestamp();
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM ktd.count_whole(s, u);
  UPDATE ktd.unit SET
    state = CASE WHEN how IN ('done', 'capped') THEN how WHEN how = 'failed' AND fruitless >= 3 THEN 'dead' ELSE 'waiting' END,
    fruitless = CASE how WHEN 'failed' THEN fruitless ELSE greatest(fruitless - 1, 0) END,
    not_before = clock_timestamp() + make_interval(secs => wait),
    done_at = CASE how WHEN 'done' THEN ktd.now_us() END, class = c, error = err, hint = h
    WHERE study = s AND id = u;
  RETURN true;
END $$;

-- Takes units out: a running one is its worker's no more from this moment. Nobody takes it before its worker knows that, whose lease
-- would have ended then. All leases are locked before the first scope.
CREATE OR REPLACE FUNCTION ktd.cancel(s bigint, names text[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE u text; taken text[] := '{}';
BEGIN
  FOR u IN SELECT id FROM ktd.unit WHERE study = s AND state IN ('waiting', 'running', 'capped')
           AND (names = '{}' OR id = ANY (names)) ORDER BY id FOR NO KEY UPDATE LOOP
    UPDATE ktd.unit x SET not_before = l.until FROM ktd.lease l
      WHERE x.study = s AND x.id = u AND l.study = s AND l.unit = u AND l.until > clock_timestamp();
    UPDATE ktd.lease SET until = clock_timestamp() WHERE study = s AND unit = u AND until > clock_timestamp();
    taken := taken || u;
  END LOOP;
  FOREACH u IN ARRAY taken LOOP
    PERFORM ktd.count_whole(s, u);
    UPDATE ktd.unit SET state = 'cancelled' WHERE study = s AND id = u;
  END LOOP;
  RETURN cardinality(taken);
END $$;

CREATE OR REPLACE FUNCTION ktd.retry(s bigint, names text[]) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE n bigint;
BEGIN
  UPDATE ktd.unit SET state = 'waiting', fruitless = 0
    WHERE study = s AND state IN ('dead', 'capped', 'cancelled') AND (names = '{}' OR id = ANY (names));
  GET DIAGNOSTICS n = ROW_COUNT;
  RETURN n;
END $$;
