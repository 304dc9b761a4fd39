#!/usr/bin/env python3
"""What a queue that grows costs its server: statements of units as workers send them, by processes of pgbench beside each other.

    tests/scripts/queue_growth.py --units 1000000

One study of so many units of one call each; none is asked of anybody, and no program runs but PostgreSQL. At each stage milliseconds a
unit are printed of a stretch with synchronous commits, and processor time a unit of all since the stage before, which is walked without them; at
the end the rows of each table, their bytes and what vacuum left behind. Exit code 1: units were taken twice, or money does not add up;
77: no PostgreSQL here."""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from many_workers import Postgres

HERE = Path(__file__).resolve().parent
SCHEMA = HERE.parent.parent / "runs/server/src/schema.sql"
CLIENTS = 4
TABLES = ["unit", "lease", "hold", "scope", "gate"]
# What a worker sends for a unit of one call.
UNIT = """
SELECT unit, epoch FROM ktd.claim(1, '', 'w', 30.0, 9000000000000000) \\gset
SELECT outcome FROM ktd.reserve(1, :unit, :epoch, 0, 1000, ARRAY['experiment', 'cell ' || :unit], '{9000000000000000,NULL}', 'key', 1000);
SELECT ktd.settle(1, :unit, :epoch, 0, 900, true);
SELECT ktd.ended(1, :unit, :epoch, 'done', 0.0, NULL, NULL, NULL);
"""


def walk(postgres, script, units, *, synchronous):
    """Takes so many units from the queue, each to its end; seconds that it took."""
    if units < CLIENTS:
        return 0.0
    setting = "on" if synchronous else "off"
    postgres.tell(f"ALTER DATABASE postgres SET synchronous_commit = {setting}")
    command = [f"{postgres.bin}/pgbench", "-h", str(postgres.socket), "-U", "ktd", "-n", "-M", "prepared", "-f", str(script)]
    command += ["-c", str(CLIENTS), "-j", "1", "-t", str(units // CLIENTS), "postgres"]
    began = time.monotonic()
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode:
        raise SystemExit(ran.stdout + ran.stderr)
    return time.monotonic() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--units", type=int, default=20_000)
    parser.add_argument("--stretch", type=int, default=2_000, help="units whose cost is measured at each stage")
    given = parser.parse_args()
    if given.units < 10 * given.stretch:
        parser.error("--units must be ten times --stretch at least: seven stretches are measured")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        home.chmod(0o755)
        postgres = Postgres(home)
        if postgres.bin is None:
            print("no PostgreSQL on this machine: a queue is not grown")
            sys.exit(77)
        postgres.begin()
        try:
            is_right = grow(postgres, home / "unit.sql", given)
        finally:
            postgres.stop()
    sys.exit(0 if is_right else 1)


def grow(postgres, script, given):
    script.write_text(UNIT)
    subprocess.run([f"{postgres.bin}/psql", "-h", str(postgres.socket), "-U", "ktd", "postgres", "-q", "-f", str(SCHEMA)], check=True, capture_output=True)
    postgres.tell("INSERT INTO ktd.study (name, kind, file, folder, program) VALUES ('growth', 'experiment', 'f', '/f', 'p')")
    began = time.monotonic()
    postgres.tell(f"""INSERT INTO ktd.unit (study, id, place, lane, after, state)
        SELECT 1, 'gpt-blinded-open-research-a-s' || n, n, '', '{{}}', 'waiting' FROM generate_series(1, {given.units}) n""")
    print(f"{given.units} units were put into the queue in {time.monotonic() - began:.0f} s")
    done = 0
    for stage in [0, *(share * given.units // 100 for share in (1, 10, 25, 50, 75)), given.units - given.stretch]:
        began, server = done, postgres.processor_seconds()
        walk(postgres, script, stage - done, synchronous=False)
        done += max(0, stage - done) // CLIENTS * CLIENTS
        took = walk(postgres, script, given.stretch, synchronous=True)
        done += given.stretch // CLIENTS * CLIENTS
        server = 1000 * (postgres.processor_seconds() - server) / (done - began)
        print(f"{done:>9} done: {1000 * took / given.stretch:.2f} ms a unit with {CLIENTS} at once and synchronous commits; "
              f"{server:.2f} ms of the server's processors a unit since {began}, with its vacuum", flush=True)
    for table in TABLES:
        rows = int(postgres.tell(f"SELECT count(*) FROM ktd.{table}"))
        size = int(postgres.tell(f"SELECT pg_total_relation_size('ktd.{table}')"))
        dead, vacuums = postgres.tell(f"SELECT n_dead_tup, autovacuum_count FROM pg_stat_user_tables WHERE relname = '{table}' AND schemaname = 'ktd'").split("|")
        print(f"table {table}: {rows} rows, {size / 1e6:.0f} MB with indexes, {size / max(rows, 1):.0f} bytes a row; {dead} dead rows, {vacuums} vacuums")
    again, spent, settled = (int(figure) for figure in postgres.tell("""SELECT (SELECT count(*) FROM ktd.lease WHERE epoch <> 1),
        (SELECT spent FROM ktd.scope WHERE name = 'experiment'), (SELECT sum(cost) FROM ktd.hold)""").split("|"))
    began = time.monotonic()
    postgres.tell("SELECT count(*) FILTER (WHERE state = 'waiting'), count(*) FILTER (WHERE state = 'done') FROM ktd.unit WHERE study = 1")
    print(f"counting the units, the longest statement of `ktd status`, took {time.monotonic() - began:.1f} s")
    print(f"{again} units were taken twice; {spent} were spent, and {settled} by the calls")
    return again == 0 and spent == settled


if __name__ == "__main__":
    main()
