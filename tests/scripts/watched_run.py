#!/usr/bin/env python3
"""What it costs to watch a run of 100 episodes for a minute: processor time of `ktd view` beside that of the run.

usage: watched_run.py KTD [SECONDS]     (standard library alone, Linux; the vendor takes SECONDS an answer, by default 2)

A client does what a page does: it follows the stream of changes, and fetches its page again at each. Exits 0 when the viewer used at most
a hundredth of the machine's processor time in that minute, else 1.
"""
import http.client
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).parent
WATCHED_SECONDS = 60
MOST_SHARE = 0.01
AGENT = '{{ id = "m{0}", model = "m{0}", max_output_tokens = 700, base_url = "http://127.0.0.1:{1}/v1" }}'
EXPERIMENT = """name = "watched"
synthetic = {{ seed = 5, names = 60, days = 330 }}
masks = [{{ level = "blinded" }}]
modes = ["open-research"]
windows = [{{ id = "w", last_days = 20 }}]
seeds = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
agents = [{agents}]
"""


def seconds_of_processor(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return sum(int(field) for field in fields[11:15]) / os.sysconf("SC_CLK_TCK")


def follow(port, page, changes):
    stream = http.client.HTTPConnection("127.0.0.1", port)
    stream.request("GET", "/events")
    for line in stream.getresponse():
        if line.startswith(b"data:"):
            changes.append(line)
            fetch(port, page)


def fetch(port, page):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("GET", page)
    return connection.getresponse().read().decode()


def watched(ktd, results, run, page):
    viewer = subprocess.Popen([ktd, "view", results, "--no-open", "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        port = next(int(found[1]) for line in viewer.stdout if (found := re.search(r"127\.0\.0\.1:(\d+)", line)))
        changes = []
        fetch(port, page)
        before = [seconds_of_processor(pid) for pid in (viewer.pid, run.pid)]
        threading.Thread(target=follow, args=(port, page, changes), daemon=True).start()
        time.sleep(WATCHED_SECONDS)
        used, of_run = (seconds_of_processor(pid) - start for pid, start in zip((viewer.pid, run.pid), before))
    finally:
        viewer.kill()
        viewer.wait()
    share = used / WATCHED_SECONDS / os.cpu_count()
    print(f"{page}: {len(changes)} changes, viewer {used:.2f} s and run {of_run:.2f} s of processor in {WATCHED_SECONDS} s: {share:.2%} of {os.cpu_count()} cores")
    return share


def main():
    ktd, takes = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "2"
    vendor = subprocess.Popen([sys.executable, HERE / "scripted_vendor.py", "0", takes], stdout=subprocess.PIPE, text=True)
    port = vendor.stdout.readline().strip()
    run = None
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "watched.toml")
            file.write_text(EXPERIMENT.format(agents=", ".join(AGENT.format(number, port) for number in range(10))))
            results = os.path.join(folder, "results")
            run = subprocess.Popen([ktd, "run", file, "--out", os.path.join(results, "watched"), "--quiet"], stdout=subprocess.DEVNULL)
            while not os.path.isdir(os.path.join(results, "watched", "cells")):
                time.sleep(0.2)
            shares = [watched(ktd, results, run, page) for page in ("/", "/x/watched.html")]
            is_under_way = run.poll() is None
            run.kill()
            run.wait()
    finally:
        vendor.kill()
    if not is_under_way:
        print("the run ended before: let the vendor take longer")
    return 0 if is_under_way and max(shares) <= MOST_SHARE else 1


if __name__ == "__main__":
    sys.exit(main())
