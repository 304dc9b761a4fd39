#!/usr/bin/env python3
"""Workers on one queue and one purse, with a real PostgreSQL and a vendor that keeps its own ledger: they are killed, stopped and
woken, the server dies and comes back, a cap is reached by eight at once, and studies of other kinds than episodes are run.

usage: tests/scripts/many_workers.py KTD [--kills 12] [--restarts 3] [--stops 2] [--exact-stops 1] [--partitions 1] [--seeds 6] [--only kinds,cap]

KTD was built with `--features server`. A private PostgreSQL cluster on a socket in a temporary folder is started and ended here.
Exit code 1 where finished records are not those of one machine, the vendor's ledger does not lie between what was settled and
that with what was counted whole, more was asked again than was under way at a fault, or a cap was passed. Exit code 77, with a
sentence, where there is no PostgreSQL. Nothing is judged by how long it took.
"""
import argparse
import collections
import contextlib
import glob
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from http.server import ThreadingHTTPServer
from pathlib import Path

import object_store
import scripted_vendor
from server_line import ServerLine, ports_of
import slurm_node

HERE = Path(__file__).resolve().parent
LAUNCHERS = HERE.parent.parent / "examples" / "launchers"
# Short where a lease shall run out; long where none shall, however busy the machine is.
LEASE_SECONDS, LONG_LEASE_SECONDS = 3, 60
WORKERS = 4
# Units that compute: about as many days as take so long here, told from some of so many days.
COMPUTED_SECONDS, COMPUTED_DAYS, COMPUTED_DAYS_MAX, COMPUTED_TRIED = 0.05, 22, 150, 200
AT_ONCE = 2
PATIENCE_SECONDS = 240
MILLION = 1_000_000


# Scenes that are run where none is named, in two processes side by side, for most of them wait; and those that are run where they are named.
HALVES = ["kills,stops,stops-held,stops-sent,terms,restarts,outage,partition,cut,rates", "model,cap,refused,kinds,bucket,slurm,ray"]
BY_HAND = {"bucket-kinds", "bucket-stops"}
# What a folder has beside the results: times of files, the looks at test days in their order, and what nobody else reads.
NOT_COMPARED = {"index.jsonl", "register.json", "lock"}
FORMULAS = """
splits = { train = ["2022-03-07", "2023-02-22"], valid = ["2023-02-23", "2023-08-14"]TEST }
"""
KINDS = {
    "leakage": """
synthetic = { seed = 3, names = 24, days = 800 }
horizons = [5, 20]
protocols = ["EXEC_CLOSE", "EXEC_OPEN"]
models = ["momentum", "ridge"]
""",
    "alpha-eval": FORMULAS.replace("TEST", ', test = ["2023-08-15", "2024-02-13"]') + """
pools = [{ id = "bars", builtin = "alpha158", first = 5 }]
noise = { mode = "input", draws = 1 }
batch_mb = 0
""",
    "alpha-mine": FORMULAS.replace("TEST", "") + """
method = "gp"
gp = { population = 12, children = 6, generations = 3 }
""",
    "alpha-judge": """
prices = "prices.json"
budget = { experiment = "5.00" }
pools = [{ id = "alpha158", builtin = "alpha158", first = 12 }]
batch = 4
parallel = 1
agents = [{ id = "gpt", vendor = "vllm", model = "counted", base_url = "http://127.0.0.1:PORT/v1", max_output_tokens = 400 }]
""",
    "certificate": """
synthetic = { seed = 1, names = 300, days = 800 }
mask = { level = "blinded", numeric = "banded" }
seed = 1
probes = { day = 20, days = 20, episode = 10, linked = 20, anchored = 20 }
stretches = 3
training = 20
control_probes = 40
block_probes = 30
thresholds = { top1 = 0.5, top5 = 0.7, date20 = 0.7, joint = 0.5, same = 0.5, sector = 0.7 }
""",
}


# Large enough that a process's own beginning is small beside it.
SPREAD = {
    "alpha-eval": KINDS["alpha-eval"].replace("first = 5", "first = 158").replace("draws = 1", "draws = 6").replace("batch_mb = 0", "batch_mb = 16"),
    "certificate": """
synthetic = { seed = 1, names = 300, days = 800 }
mask = { level = "blinded", numeric = "banded" }
seed = 1
probes = { day = 3000, days = 3000, episode = 300, linked = 600, anchored = 600 }
control_probes = 600
block_probes = 500
""",
}


class Ledger:
    """What the vendor was asked and has charged, by its own count."""

    def __init__(self):
        self.lock = threading.Lock()
        self.begin(0.0)

    def begin(self, latency):
        with self.lock:
            self.asked, self.at, self.charged, self.latency = [], [], 0, latency
            # A worker whose calls are told from those of others, and when it made them.
            self.apart, self.of_apart = None, []
            self.under_way, self.most_at_once, self.refuses = 0, 0, False


def vendor(ledger):
    class Vendor(object_store.Quiet):
        def do_POST(self):
            raw = self.rfile.read(int(self.headers["content-length"]))
            answer = scripted_vendor.answer(raw)
            is_flat = answer["model"] == "flat"
            if is_flat:
                answer["usage"]["completion_tokens"] = 400
            tokens = answer["usage"]
            if ledger.apart and self.client_address[1] in ports_of(ledger.apart):
                ledger.of_apart.append(time.monotonic())
            if ledger.refuses:
                with ledger.lock:
                    ledger.at.append(time.monotonic())
                self.tell(401, {"error": {"message": "this key is no key", "type": "invalid_request_error"}})
                return
            with ledger.lock:
                ledger.asked.append(hashlib.sha256(raw).hexdigest())
                ledger.at.append(time.monotonic())
                # Picodollars a token: see `prices`.
                ledger.charged += tokens["completion_tokens"] * 2 * MILLION + (0 if is_flat else tokens["prompt_tokens"] * MILLION)
                ledger.under_way += 1
                ledger.most_at_once = max(ledger.most_at_once, ledger.under_way)
            time.sleep(ledger.latency)
            with ledger.lock:
                ledger.under_way -= 1
            self.tell(200, answer)

        def tell(self, status, answer):
            reply = json.dumps(answer).encode()
            # Without a date, which no two runs share.
            self.send_response_only(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(reply)))
            self.end_headers()
            self.wfile.write(reply)

    return Vendor


class Postgres:
    def __init__(self, home):
        self.bin = next(iter(sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)), None)
        if self.bin is None and shutil.which("initdb"):
            self.bin = str(Path(shutil.which("initdb")).parent)
        self.data, self.socket = home / "pg", home / "socket"

    def run(self, program, *arguments):
        command = [f"{self.bin}/{program}", *arguments]
        if os.geteuid() == 0:
            command = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", *command]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")

    def begin(self):
        for folder in [self.data, self.socket]:
            folder.mkdir()
            if os.geteuid() == 0:
                shutil.chown(folder, "nobody")
        self.run("initdb", "-D", str(self.data), "-U", "ktd", "--auth=trust")
        self.start()
        return f"postgresql:///postgres?host={self.socket}&user=ktd"

    def start(self):
        options = f"-k {self.socket} -c listen_addresses=''"
        self.run("pg_ctl", "-D", str(self.data), "-o", options, "-l", f"{self.data}/log", "-w", "start")

    def tell(self, statement):
        command = [f"{self.bin}/psql", "-h", str(self.socket), "-U", "ktd", "postgres", "-A", "-t", "-q", "-c", statement]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def slow_commits(self):
        """Commits of holds that take as long as the table `slow` says."""
        self.tell("""CREATE TABLE slow AS SELECT 0.0::float8 AS seconds;
            CREATE FUNCTION slowly() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                PERFORM pg_sleep(seconds) FROM slow WHERE seconds > 0; RETURN NULL; END $$;
            CREATE CONSTRAINT TRIGGER slowly AFTER INSERT ON ktd.hold DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION slowly()""")

    def signal(self, which):
        leader = (self.data / "postmaster.pid").read_text().split()[0]
        children = subprocess.run(["pgrep", "-P", leader], capture_output=True, text=True).stdout.split()
        for process in [leader, *children]:
            try:
                os.kill(int(process), which)
            except ProcessLookupError:
                pass

    def processor_seconds(self):
        """What the server and those that it served took, once they have hung up."""
        leader = (self.data / "postmaster.pid").read_text().split()[0]
        figures = Path(f"/proc/{leader}/stat").read_text().rsplit(")", 1)[1].split()
        return sum(int(ticks) for ticks in figures[11:15]) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.run("pg_ctl", "-D", str(self.data), "-m", "immediate", "-w", "stop")


class Trial:
    def __init__(self, ktd, home, postgres, url, port, given, ledger):
        self.ktd, self.home, self.postgres, self.url, self.port, self.ledger = ktd, home, postgres, url, port, ledger
        self.given, self.seeds, self.overhead_units = given, given.seeds, given.overhead_units
        self.wrong, self.draw, self.alone = [], random.Random(7), collections.Counter()
        # Of a store of objects, where machines share no folder: then each worker is one.
        self.store, self.machines = None, 0

    def check(self, is_right, what):
        print(("" if is_right else "WRONG: ") + what, flush=True)
        if not is_right:
            self.wrong.append(what)

    def file(self, name, model="counted", cap="50.00", seeds=None, days=4, rates="", at_once=AT_ONCE, **only):
        """An experiment; `only` some of its agents and modes, and windows of so many days."""
        agents = [
            f'{{ id = "gpt", vendor = "vllm", model = "{model}", base_url = "http://127.0.0.1:{self.port}/v1", max_output_tokens = 400{rates} }}',
            '{ id = "momentum", builtin = "momentum" }',
        ]
        agents = [agent for agent in agents if f'"{only.get("agents", "")}' in agent]
        windows = zip("ab", only.get("windows", [days, days + 1]))
        (self.home / f"{name}.toml").write_text(
            f"""
name = "many"
synthetic = {{ seed = 5, names = 30, days = 330 }}
prices = "prices.json"
output = "{name}"
mask_key_file = "key"
parallel_cells = {at_once}
masks = [{{ level = "blinded" }}]
modes = ["{only.get("modes", "open-research")}"]
seeds = {list(range(1, (seeds or self.seeds) + 1))}
windows = [{", ".join(f'{{ id = "{id}", last_days = {days} }}' for id, days in windows)}]
budget = {{ experiment = "{cap}" }}
agents = [{", ".join(agents)}]
"""
        )

    def environment(self):
        if self.store is None:
            return dict(os.environ)
        self.machines += 1
        return {**os.environ, **self.store.environment(), "KTD_CACHE": str(self.home / "machines" / str(self.machines))}

    def tell(self, *arguments):
        command = [self.ktd, "--json", *arguments]
        told = subprocess.run(command, cwd=self.home, capture_output=True, text=True, env=self.environment())
        if told.returncode:
            raise SystemExit(f"{' '.join(command)}: {told.stdout}{told.stderr}")
        return json.loads(told.stdout)

    def enqueue(self, name, file=None):
        out = f"s3://{object_store.BUCKET}/{name}" if self.store else name
        return self.tell("enqueue", file or f"{name}.toml", "--server", self.url, "--out", out)["study"]

    def state(self, study):
        studies = self.tell("status", "--server", self.url)["studies"]
        return next(of for of in studies if of["study"] == study)

    def worker(self, study, lease_seconds=LEASE_SECONDS, url=None):
        command = [self.ktd, "--quiet", "worker", "--drain", "--server", url or self.url, "--study", str(study)]
        command += ["--lease-seconds", str(lease_seconds)]
        log = open(self.home / "workers.log", "ab")
        return subprocess.Popen(command, cwd=self.home, stdout=log, stderr=log, env={**self.environment(), "KTD_LOG": "warn"})

    def drain(self, study, workers):
        """Lets workers end by themselves; whoever is missing is started again."""
        until = time.monotonic() + PATIENCE_SECONDS
        codes = []
        for worker in workers:
            try:
                codes.append(worker.wait(max(1, until - time.monotonic())))
            except subprocess.TimeoutExpired:
                worker.kill()
                codes.append(worker.wait())
        state = self.state(study)
        if state["dead"]:
            print(f"retried: {[dead['unit'] for dead in state['dead']]}")
            self.tell("retry", str(study), "--server", self.url)
            return self.drain(study, [self.worker(study)])
        return codes

    def published(self, name, places="**/*", files=None):
        found = {}
        for path in sorted((self.home / name).glob(places)):
            place = path.relative_to(self.home / name)
            is_meant = path.name not in NOT_COMPARED if files is None else path.name in files
            # A copy of a bucket has notes of its own, and may have a journal without a line.
            is_of_copy = place.parts[0] == ".taken" or (path.name == "units.open.jsonl" and path.is_file() and not path.stat().st_size)
            if path.is_file() and "private" not in place.parts and is_meant and not is_of_copy:
                found[str(place)] = hashlib.sha256(path.read_bytes()).hexdigest()
        return found

    def compare(self, what, one, many, **which):
        one, many = self.published(one, **which), self.published(many, **which)
        different = [path for path in {*one, *many} if one.get(path) != many.get(path)]
        self.check(one and not different, f"{what}: {len(many)} files as one machine writes them; {sorted(different)[:5]} differ")

    def money(self, what, study, under_way, alone=None):
        """What was paid and asked, beside what one machine asks for the same file (that of most scenes, where no other is given)."""
        state = self.state(study)
        settled, whole = state["settled_picodollars"], state["counted_whole_picodollars"]
        held = sum(scope["held_picodollars"] for scope in state["scopes"])
        spent = next(scope["spent_picodollars"] for scope in state["scopes"] if scope["scope"] == "experiment")
        charged = self.ledger.charged
        again = (collections.Counter(self.ledger.asked) - (self.alone if alone is None else alone)).total()
        self.check(settled <= charged <= settled + whole, f"{what}: settled {settled} <= charged {charged} <= {settled + whole}")
        calls = "SELECT coalesce(sum(cost), 0) || ' ' || coalesce(sum(cost) FILTER (WHERE state = 'whole'), 0)"
        calls = self.postgres.tell(f"{calls} FROM ktd.hold WHERE study = {study}").split()
        self.check((held, spent, whole) == (0, *map(int, calls)), f"{what}: nothing is held, and the purse says what its calls add up to")
        self.check(again <= under_way, f"{what}: {again} requests were sent again, at most {under_way} were under way")
        self.check(state["waiting"] == 0 and not state["running"] and not state["dead"], f"{what}: {state['finished']} units finished")

    def undisturbed(self):
        self.ledger.begin(0.05)
        self.file("one")
        self.tell("--quiet", "run", "one.toml")
        self.alone = collections.Counter(self.ledger.asked)
        self.ledger.begin(0.05)
        self.file("calm")
        study = self.enqueue("calm")
        before = self.postgres.processor_seconds()
        codes = self.drain(study, [self.worker(study, LONG_LEASE_SECONDS) for _ in range(WORKERS)])
        self.check(set(codes) == {0}, f"calm: workers ended with {codes}")
        seconds, calls = self.postgres.processor_seconds() - before, self.alone.total()
        print(f"calm: the server took {1000 * seconds / calls:.1f} ms of processor time a request, with the claims of its units")
        is_same = collections.Counter(self.ledger.asked) == self.alone
        self.check(is_same, f"calm: the vendor was asked the {self.alone.total()} requests of one machine")
        others = self.postgres.tell("SELECT count(*) FROM ktd.gate WHERE key NOT LIKE '%://%'")
        self.check(others == "0", f"calm: of {others} that no vendor answers the calls were counted")
        self.compare("calm", "one", "calm", places="cells/*/**/*")
        self.money("calm", study, 0)
        state = self.state(study)
        self.check(state["settled_picodollars"] == self.ledger.charged, "calm: settled to the last picodollar")
        for command in ["verify", "replay", "report"]:
            told = subprocess.run([self.ktd, "--quiet", command, "calm"], cwd=self.home, capture_output=True, text=True)
            self.check(told.returncode == 0, f"calm: ktd {command} reads it {told.stderr.strip()[:200]}")

    def model(self):
        """All orders of a small model, and the functions of this server beside it, in a database of their own."""
        self.postgres.tell("CREATE DATABASE model")
        command = "cargo test --locked -p ktd-server -p ktd-cli -p ktd-kit --features ktd-cli/server,ktd-server/trial --test lease_and_purse"
        environment = {**os.environ, "KTD_TEST_SERVER": self.url.replace("/postgres?", "/model?")}
        walked = subprocess.run(command.split(), cwd=HERE.parent.parent, env=environment)
        self.check(walked.returncode == 0, "model: every order of a small model, and the server's functions beside it")

    def disturbed(self, name, times, disturb, under_way, lease_seconds=LEASE_SECONDS, urls=(None,) * WORKERS):
        """Workers beside which something goes wrong so many times; their records are those of one machine but for sends again."""
        self.ledger.begin(0.25)
        self.file(name)
        study = self.enqueue(name)
        workers = [self.worker(study, lease_seconds, url) for url in urls]
        done = 0
        while done < times:
            asked = len(self.ledger.asked)
            until = time.monotonic() + 20
            # A fault is tried while calls are made, not while workers start.
            while len(self.ledger.asked) < asked + 3 and time.monotonic() < until:
                time.sleep(0.05)
            state = self.state(study)
            if not state["waiting"] and not state["running"]:
                break
            disturb(study, workers)
            done += 1
        codes = self.drain(study, workers)
        print(f"{name}: {done} faults of {times}")
        if self.store:
            cell = next((self.home / "one" / "cells").iterdir()).name
            self.read_from_store(name, lambda at: [["report", at], ["leaderboard", at], ["verify", at], ["replay", f"{at}/cells/{cell}"]])
        self.compare(name, "one", name, places="cells/*/**/*", files={"events.jsonl", "header.json"})
        self.money(name, study, done * under_way)
        return codes

    def read_from_store(self, name, commands):
        """Commands read a study where it lies; what one of them took of it then lies in this folder, as if it had been written here."""
        address, environment = f"s3://{object_store.BUCKET}/{name}", self.environment()
        for command in commands(address):
            told = subprocess.run([self.ktd, *command], cwd=self.home, capture_output=True, text=True, env=environment)
            self.check(told.returncode == 0, f"{name}: ktd {' '.join(command)} reads it {told.stderr.strip()[-300:]}")
        (copy,) = Path(environment["KTD_CACHE"]).glob("buckets/*/read")
        (self.home / name).symlink_to(copy)

    def grown(self, name):
        """A finished study with one more seed: what was finished is not asked again, and the report is of all."""
        self.ledger.begin(0.0)
        self.file(name, seeds=self.seeds + 1)
        study = self.enqueue(name)
        self.drain(study, [self.worker(study, LONG_LEASE_SECONDS) for _ in range(2)])
        asked, a_seed = len(self.ledger.asked), self.alone.total() // self.seeds
        self.check(asked == a_seed, f"{name}, grown: {asked} requests were made, of {a_seed} of one seed")
        told = self.tell("report", f"s3://{object_store.BUCKET}/{name}")
        self.check(len(told["cells"]) == 4 * (self.seeds + 1), f"{name}, grown: {len(told['cells'])} cells are reported")

    @contextlib.contextmanager
    def in_bucket(self):
        """Workers that share no folder."""
        program = object_store.moto_server(self.home)
        if program is None:
            print("bucket: not tried, for moto cannot be installed here (pip install 'moto[server]')")
            yield None
            return
        self.store = object_store.ObjectStore(program, self.home)
        try:
            yield self.store
        finally:
            self.store.stop()
            self.store = None

    def bucket(self):
        """A worker is killed, the store is slow, then away; a store that overwrites is refused."""
        with self.in_bucket() as store:
            if store is None:
                return

            def away(study, workers):
                store.is_away = True
                time.sleep(LEASE_SECONDS + 2)
                store.is_away = False

            def slow(study, workers):
                store.slow_seconds = 0.5
                time.sleep(LEASE_SECONDS + 2)
                store.slow_seconds = 0.0

            for is_wrong in [True, False]:
                store.overwrites = is_wrong
                told = subprocess.run([self.ktd, "doctor", "--bucket", f"s3://{object_store.BUCKET}/x"], capture_output=True, text=True, env=self.environment())
                found = ("overwrites" in told.stdout, told.returncode)
                self.check(found == (is_wrong, int(is_wrong)), f"bucket: a store that overwrites ({is_wrong}): {told.stdout.strip()[:300]}")
            self.disturbed("bucket-kills", max(1, self.given.kills // 3), self.kill, AT_ONCE)
            self.grown("bucket-kills")
            self.disturbed("bucket-slow", 1, slow, 0, LONG_LEASE_SECONDS)
            self.disturbed("bucket-away", 1, away, 0, LONG_LEASE_SECONDS)

    def bucket_stops(self):
        """All workers of a bucket stand still past their leases, and wake."""
        with self.in_bucket() as store:
            if store:
                self.disturbed("bucket-stops", self.given.stops, self.stand_still, AT_ONCE)
                self.disturbed("bucket-stops-held", self.given.exact_stops, self.stand_still_held, WORKERS * AT_ONCE)
                self.disturbed("bucket-stops-sent", self.given.exact_stops, self.stand_still_sent, WORKERS * AT_ONCE)

    def bucket_kinds(self):
        with self.in_bucket() as store:
            if store:
                self.kinds("bucket-")

    def cuts(self):
        """One worker reaches the vendor and no server any more, for longer than its lease; the others go on, and then it does."""
        line = ServerLine(self.postgres.socket / ".s.PGSQL.5432")

        def cut(study, workers):
            self.ledger.apart, self.ledger.of_apart = workers[0].pid, []
            until = time.monotonic() + PATIENCE_SECONDS
            while not self.ledger.of_apart and workers[0].poll() is None and time.monotonic() < until:
                time.sleep(0.02)
            line.whole.clear()
            over = time.monotonic() + LEASE_SECONDS
            # They come when it is at work, and so have most of the study left, however fast this machine is.
            workers += [self.worker(study) for _ in range(WORKERS - len(workers))]
            late = others = 0
            while time.monotonic() < over + 3 or (not others and time.monotonic() < until):
                time.sleep(0.1)
                late = sum(over < at for at in self.ledger.of_apart)
                others = sum(over < at for at in self.ledger.at) - late
            made = len(self.ledger.of_apart)
            self.check(made and not late and others, f"cut: it made {made} calls, {late} of them after its lease; the others made {others} after that")
            line.whole.set()

        through = f"postgresql://ktd@127.0.0.1:{line.port}/postgres"
        codes = self.disturbed("cut", self.given.cuts, cut, 2 * AT_ONCE, urls=[through])
        self.check(set(codes) == {0}, f"cut: workers ended by themselves, with {codes}")

    def kill(self, study, workers):
        place = self.draw.randrange(len(workers))
        workers[place].send_signal(signal.SIGKILL)
        workers[place].wait()
        workers[place] = self.worker(study)

    def stand_still(self, study, workers):
        worker = self.draw.choice(workers)
        worker.send_signal(signal.SIGSTOP)
        time.sleep(LEASE_SECONDS + 1)
        worker.send_signal(signal.SIGCONT)

    def stand_still_held(self, study, workers):
        """All stand still between the answer to a reservation and its call: the commit is slow, and takes place while they do."""
        self.postgres.tell("UPDATE slow SET seconds = 1")
        while self.postgres.tell("SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'PgSleep'") == "0":
            if not self.state(study)["running"]:
                break
        for worker in workers:
            worker.send_signal(signal.SIGSTOP)
        self.postgres.tell("UPDATE slow SET seconds = 0")
        asked = len(self.ledger.asked)
        time.sleep(LEASE_SECONDS + 1.5)
        for worker in workers:
            worker.send_signal(signal.SIGCONT)
        if len(self.ledger.asked) != asked:
            self.check(False, "no call left while all stood still")

    def stand_still_sent(self, study, workers):
        """All stand still between a call and what it cost: the vendor has taken it, and has not answered."""
        asked = len(self.ledger.asked)
        while len(self.ledger.asked) == asked and self.state(study)["running"]:
            time.sleep(0.01)
        for worker in workers:
            worker.send_signal(signal.SIGSTOP)
        time.sleep(LEASE_SECONDS + 1)
        for worker in workers:
            worker.send_signal(signal.SIGCONT)

    def end_in_order(self, study, workers):
        place = self.draw.randrange(len(workers))
        workers[place].terminate()
        workers[place].wait()
        workers[place] = self.worker(study, LONG_LEASE_SECONDS)

    def rates(self):
        """Requests of a key in any minute, over all workers; the last seconds are left for those that were long on their way."""
        most, seconds = 40, 50
        self.ledger.begin(0.0)
        self.file("rates", seeds=2, rates=f", rates = {{ requests_per_minute = {most}, burst = 10 }}")
        study = self.enqueue("rates")
        workers = [self.worker(study, LONG_LEASE_SECONDS) for _ in range(WORKERS)]
        # Whoever is told to end while calls wait for their minute has sent none of them, and pays for none.
        while len(self.ledger.asked) < 15 and any(worker.poll() is None for worker in workers):
            time.sleep(0.05)
        for worker in workers:
            worker.terminate()
        time.sleep(1)
        asked = len(self.ledger.asked)
        codes = [worker.wait(PATIENCE_SECONDS) for worker in workers]
        later = len(self.ledger.asked) - asked
        self.check(later == 0, f"rates: {later} requests left a second after their workers were told to end (exit codes {codes})")
        ended = self.state(study)["counted_whole_picodollars"]
        self.check(ended == 0, f"rates: {ended} counted whole of calls that waited for their minute then")
        self.drain(study, [self.worker(study, LONG_LEASE_SECONDS) for _ in range(WORKERS)])
        at = self.ledger.at
        found = max(sum(begin <= other < begin + seconds for other in at) for begin in at)
        self.check(most < len(at) and found <= most, f"rates: of {len(at)} requests at most {found} in {seconds} s, of {most} in a minute")
        self.money("rates", study, 0)
        at_once = 3
        self.ledger.begin(0.25)
        self.file("at-once", seeds=4, rates=f", rates = {{ in_flight = {at_once} }}")
        study = self.enqueue("at-once")
        self.drain(study, [self.worker(study, LONG_LEASE_SECONDS) for _ in range(WORKERS)])
        found = self.ledger.most_at_once
        self.check(found <= at_once, f"at-once: {found} calls were under way at once on {WORKERS} workers, of {at_once}")
        self.money("at-once", study, 0)

    def refused(self):
        """A vendor that refuses everybody, as with a wrong key: units are dead after three tries each, and finish once it is mended."""
        self.ledger.begin(0.0)
        self.ledger.refuses = True
        self.file("refused", seeds=2, agents="gpt")
        study = self.enqueue("refused")
        codes = [worker.wait(PATIENCE_SECONDS) for worker in [self.worker(study) for _ in range(2)]]
        state = self.state(study)
        dead, tries = state["dead"], len(self.ledger.at)
        self.check(dead and not state["waiting"] and not state["running"], f"refused: {len(dead)} units are dead (exit codes {codes})")
        self.check(tries == 3 * len(dead), f"refused: {tries} requests of {len(dead)} units were refused")
        self.check(all("401" in unit["error"] for unit in dead), f"refused: {dead[:1]} says why")
        self.ledger.refuses = False
        self.drain(study, [])
        self.money("refused", study, len(self.ledger.asked))

    def kinds(self, where=""):
        """Studies of other kinds: two workers, of which one is killed where nobody is asked, make the files of one machine; a
        certificate, which draws a nonce, is made again from its record."""
        for kind, text in KINDS.items():
            self.ledger.begin(0.0)
            one, many = f"{where}{kind}-one", f"{where}{kind}-many"
            (self.home / f"{kind}.toml").write_text(f'kind = "{kind}"\nname = "{kind}"\n' + text.replace("PORT", str(self.port)))
            self.tell("--quiet", "run", f"{kind}.toml", "--out", one)
            alone = collections.Counter(self.ledger.asked)
            self.ledger.begin(0.0)
            study = self.enqueue(many, f"{kind}.toml")
            workers = [self.worker(study) for _ in range(2)]
            if not alone:
                time.sleep(1)
                self.kill(study, workers)
            self.drain(study, workers)
            self.money(many, study, 0, alone)
            if self.store:
                self.read_from_store(many, lambda at: [["report", at], ["verify", at]])
            if kind == "certificate":
                told = subprocess.run([self.ktd, "--quiet", "verify", many, "--deep"], cwd=self.home, capture_output=True, text=True)
                self.check(told.returncode == 0, f"{many}: made again from its record {told.stderr.strip()[:200]}")
            else:
                self.compare(many, one, many)

    def spread(self):
        """Computing on one machine, and by one, two and four workers on it: seconds and processor time; of formulas the same files."""
        for kind, text in SPREAD.items():
            (self.home / f"{kind}.toml").write_text(f'kind = "{kind}"\nname = "{kind}"\n' + text)
            alone, one = self.timed(lambda: self.tell("--quiet", "run", f"{kind}.toml", "--out", f"{kind}-one"))
            print(f"spread {kind}: {alone:.1f} s of processor time on one machine, in {one:.1f} s", flush=True)
            for count in [1, 2, 4]:
                name = f"{kind}-{count}"
                study, server = self.enqueue(name, f"{kind}.toml"), self.postgres.processor_seconds()
                own, took = self.timed(lambda: [worker.wait() for worker in [self.worker(study, LONG_LEASE_SECONDS) for _ in range(count)]])
                server = self.postgres.processor_seconds() - server
                print(f"spread {kind}, {count} workers: {own:.1f} s of processor time ({own / alone:.3f}) and {server:.1f} s of the server, in {took:.1f} s")
                if kind != "certificate":
                    self.compare(name, f"{kind}-one", name)

    def timed(self, work):
        """Processor time of processes that end in it, and seconds."""
        began, before = time.monotonic(), os.times()
        work()
        now = os.times()
        return now.children_user + now.children_system - before.children_user - before.children_system, time.monotonic() - began

    def launched(self, name, launch):
        """What a launcher as it is shipped starts; the records and the money that come of it."""
        self.ledger.begin(0.25)
        self.file(name)
        study = self.enqueue(name)
        # An operator's `ktd` is on the path by that name.
        (self.home / "bin").mkdir(exist_ok=True)
        (self.home / "bin" / "ktd").unlink(missing_ok=True)
        (self.home / "bin" / "ktd").symlink_to(self.ktd)
        under_way = launch({"KTD_SERVER": self.url, "PATH": f"{self.home}/bin:{os.environ['PATH']}"})
        self.compare(name, "one", name, places="cells/*/**/*", files={"events.jsonl", "header.json"})
        self.money(name, study, under_way)
        if under_way == 0:
            settled = self.state(study)["settled_picodollars"]
            self.check(settled == self.ledger.charged, f"{name}: settled to the last picodollar, for calls were waited for")

    def slurm(self):
        """The array of Slurm, of which one task is cancelled and one put back into the queue."""
        if not slurm_node.is_installed():
            print("slurm: not tried, for this machine has no Slurm, or this is not root (slurm-wlm and munge)")
            return

        def launch(environment):
            with slurm_node.SlurmNode(self.home) as node:
                output = f"--output={self.home}/slurm-%a.out"
                job = node.tell("sbatch", "--parsable", "--array=1-4", output, str(LAUNCHERS / "slurm.sh"), **environment)
                node.wait_for(lambda: 12 < len(self.ledger.asked), "no worker asked anybody")
                node.tell("scancel", f"{job}_1")
                node.tell("scontrol", "requeue", f"{job}_2")
                until = time.monotonic() + PATIENCE_SECONDS
                while node.tasks(job) and time.monotonic() < until:
                    time.sleep(0.5)
                self.check(not node.tasks(job), f"slurm: every task of job {job} ended")
            return 0

        self.launched("slurm", launch)

    def ray(self):
        """Tasks of Ray, of which one is killed with its worker and started again."""
        ray = Path(sys.executable).parent / "ray"
        if not ray.exists():
            print("ray: not tried, for this Python has no Ray (pip install ray)")
            return

        def launch(environment):
            environment = {**os.environ, **environment, "RAY_ADDRESS": "auto"}
            quiet = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
            subprocess.run([ray, "start", "--head", "--num-cpus=8", "--include-dashboard=false"], check=True, **quiet)
            try:
                driver = subprocess.Popen([sys.executable, LAUNCHERS / "ray_workers.py", "4"], **quiet)
                while len(self.ledger.asked) < 12 and driver.poll() is None:
                    time.sleep(0.1)
                workers = subprocess.run(["pgrep", "-f", "ktd worker --drain"], capture_output=True, text=True).stdout.split()
                status = Path(f"/proc/{workers[0]}/status").read_text()
                task = int(status.split("PPid:")[1].split()[0])
                os.kill(int(workers[0]), signal.SIGKILL)
                os.kill(task, signal.SIGKILL)
                self.check(driver.wait(PATIENCE_SECONDS) == 0, f"ray: {len(workers)} workers, and all tasks ended")
            finally:
                subprocess.run([ray, "stop", "--force"], **quiet)
            return AT_ONCE

        self.launched("ray", launch)

    def overhead(self):
        """Units that wait, and units that compute, against the time that they would take with a queue that costs nothing."""
        waits, computes, latency = self.overhead_units
        self.ledger.begin(latency)
        wide = {"seeds": waits, "agents": "gpt", "modes": "memory-only", "windows": [1]}
        self.file("waits-one", at_once=WORKERS * AT_ONCE, **wide)
        began = time.monotonic()
        self.tell("--quiet", "run", "waits-one.toml")
        print(f"waits: {waits} units on one machine, {WORKERS * AT_ONCE} at once: {time.monotonic() - began:.1f} s")
        self.ledger.begin(latency)
        self.file("waits", **wide)
        study = self.enqueue("waits")
        self.judged("waits", study, (waits, self.ledger), lambda calls: calls * latency / (WORKERS * AT_ONCE), (WORKERS, AT_ONCE))
        self.ledger.begin(0.0)
        # More at once than there are processors would take longer without a queue, too.
        cores = min(WORKERS, os.cpu_count())
        unit = {"seeds": COMPUTED_TRIED, "agents": "momentum", "windows": [COMPUTED_DAYS]}
        self.file("computed-tried", at_once=cores, **unit)
        tried, _ = self.timed(lambda: self.tell("--quiet", "run", "computed-tried.toml"))
        days = round(COMPUTED_DAYS * COMPUTED_SECONDS * COMPUTED_TRIED / tried)
        unit |= {"seeds": computes, "windows": [min(max(days, 2), COMPUTED_DAYS_MAX)]}
        self.file("computed-one", at_once=cores, **unit)
        alone, took = self.timed(lambda: self.tell("--quiet", "run", "computed-one.toml"))
        print(f"computes: {computes} units on one machine: {took:.1f} s, {1000 * alone / computes:.0f} ms of processor time a unit of {unit['windows'][0]} days")
        self.file("computes", at_once=1, **unit)
        study = self.enqueue("computes")
        self.judged("computes", study, (computes, self.ledger), lambda _: alone / cores, (cores, 1))
        self.compare("computes", "computed-one", "computes", places="cells/*/**/*")

    def judged(self, name, study, units, ideal, workers):
        (units, ledger), (count, at_once) = units, workers
        load, server, codes = os.getloadavg()[0], self.postgres.processor_seconds(), []
        own, took = self.timed(lambda: codes.extend(worker.wait() for worker in [self.worker(study, LONG_LEASE_SECONDS) for _ in range(count)]))
        self.check(set(codes) == {0}, f"{name}: workers ended with {codes}")
        server = self.postgres.processor_seconds() - server
        best = ideal(len(ledger.asked))
        print(f"{name}: {units} units, {len(ledger.asked)} calls, {count} workers of {at_once} at once: {took:.1f} s, ideal {best:.1f} s, "
              f"{took / best:.2f} of it; {1000 * own / units:.0f} ms of processor time a unit, {1000 * server / units:.1f} ms of the server; load before {load:.1f}")

    def cap(self):
        self.ledger.begin(0.0)
        # 400 tokens of output at 2 dollars a million are 0.0008 dollars: 100 calls.
        self.file("cap", model="flat", cap="0.08", seeds=8)
        study = self.enqueue("cap")
        codes = self.drain(study, [self.worker(study) for _ in range(8)])
        asked = len(self.ledger.asked)
        self.check(asked <= 100, f"cap: {asked} calls of 100 were made")
        spent = next(scope for scope in self.state(study)["scopes"] if scope["scope"] == "experiment")
        self.check(spent["spent_picodollars"] == spent["cap_picodollars"], "cap: what is not settled was counted whole, and all is spent")
        self.check(set(codes) == {3}, f"cap: workers ended with {codes}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ktd")
    parser.add_argument("--kills", type=int, default=12)
    parser.add_argument("--restarts", type=int, default=3)
    parser.add_argument("--stops", type=int, default=2)
    parser.add_argument("--exact-stops", type=int, default=1, help="of all workers, between hold and call and between call and cost, each")
    parser.add_argument("--partitions", type=int, default=1)
    parser.add_argument("--cuts", type=int, default=1, help="of the line between one worker and the server")
    parser.add_argument("--seeds", type=int, default=6, help="episodes are four times as many")
    parser.add_argument("--overhead-units", default="1000,2000,2.0", type=lambda text: (*map(int, text.split(",")[:2]), float(text.split(",")[2])),
                        help="of --only overhead: units that wait, units that compute, seconds that a call takes")
    parser.add_argument("--only", help="scenes, by their names and with commas between them (default: all but those that are run by hand)")
    given = parser.parse_args()
    if not given.only:
        command = [sys.executable, __file__, *sys.argv[1:], "--only"]
        codes = {half.wait() for half in [subprocess.Popen([*command, half]) for half in HALVES]}
        sys.exit(codes.pop() if len(codes) == 1 else 1)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        home.chmod(0o755)
        postgres = Postgres(home)
        if postgres.bin is None:
            print("no PostgreSQL on this machine: workers on one queue are not tried")
            sys.exit(77)
        ledger = Ledger()
        server = ThreadingHTTPServer(("127.0.0.1", 0), vendor(ledger))
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        (home / "key").write_text(hashlib.sha256(b"a key for trials").hexdigest() + "\n")
        row = {"asof": "2026-11", "source": "test", "output": 2.0}
        rows = [{"model": "counted", "input": 1.0, **row}, {"model": "flat", "input": 0.0, **row}]
        (home / "prices.json").write_text(json.dumps({"rows": rows}))
        url = postgres.begin()
        trial = Trial(str(Path(given.ktd).resolve()), home, postgres, url, server.server_address[1], given, ledger)

        def restart(study, workers):
            postgres.stop()
            time.sleep(0.5)
            postgres.start()

        def silent(study, workers):
            time.sleep(LEASE_SECONDS + 1)
            asked = len(ledger.asked)
            time.sleep(2)
            trial.check(len(ledger.asked) == asked, "no call left while no lease could be proved")

        def outage(study, workers):
            postgres.stop()
            silent(study, workers)
            postgres.start()

        def partition(study, workers):
            """The server answers nobody, and closes no connection."""
            postgres.signal(signal.SIGSTOP)
            silent(study, workers)
            postgres.signal(signal.SIGCONT)

        try:
            trial.tell("doctor", "--server", url)
            postgres.slow_commits()
            scenes = {
                "model": trial.model,
                "kills": lambda: trial.disturbed("kills", given.kills, trial.kill, AT_ONCE),
                "stops": lambda: trial.disturbed("stops", given.stops, trial.stand_still, AT_ONCE),
                "stops-held": lambda: trial.disturbed("stops-held", given.exact_stops, trial.stand_still_held, WORKERS * AT_ONCE),
                "stops-sent": lambda: trial.disturbed("stops-sent", given.exact_stops, trial.stand_still_sent, WORKERS * AT_ONCE),
                "terms": lambda: trial.disturbed("terms", given.stops, trial.end_in_order, 0, LONG_LEASE_SECONDS),
                "restarts": lambda: trial.disturbed("restarts", given.restarts, restart, WORKERS * AT_ONCE),
                "outage": lambda: trial.disturbed("outage", 1, outage, WORKERS * AT_ONCE),
                "partition": lambda: trial.disturbed("partition", given.partitions, partition, WORKERS * AT_ONCE),
                "cut": trial.cuts,
                "cap": trial.cap,
                "rates": trial.rates,
                "refused": trial.refused,
                "kinds": trial.kinds,
                "bucket": trial.bucket,
                "bucket-kinds": trial.bucket_kinds,
                "bucket-stops": trial.bucket_stops,
                "slurm": trial.slurm,
                "ray": trial.ray,
            }
            assert BY_HAND | set(",".join(HALVES).split(",")) == set(scenes), "each scene is of a half, or run by hand"
            if given.only in ["overhead", "spread"]:
                getattr(trial, given.only)()
            else:
                # What the others are compared with.
                trial.undisturbed()
                for name in given.only.split(","):
                    scenes[name]()
        finally:
            log = home / "workers.log"
            if trial.wrong and log.exists():
                print(log.read_text()[-6000:])
            try:
                postgres.stop()
            except subprocess.CalledProcessError:
                pass
    print(f"{len(trial.wrong)} wrong")
    sys.exit(1 if trial.wrong else 0)


if __name__ == "__main__":
    main()
