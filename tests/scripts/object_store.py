"""A real S3 server (moto) on loopback, and a store before it that is slow, away, or overwrites what was to be written once."""
import http.client
import os
import shutil
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

BUCKET = "ktd"
INSTALL_SECONDS = 240


def moto_server(home):
    """The program, installed below `home` where it is not there; none where it cannot be had."""
    here = Path(sys.executable).parent / "moto_server"
    found = here if here.exists() else shutil.which("moto_server")
    if found:
        return str(found)
    try:
        subprocess.run([sys.executable, "-m", "venv", home / "moto"], check=True, capture_output=True, timeout=60)
        pip = [home / "moto/bin/pip", "install", "-q", "moto[server]"]
        subprocess.run(pip, check=True, capture_output=True, timeout=INSTALL_SECONDS)
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        return None
    return str(home / "moto/bin/moto_server")


class Quiet(BaseHTTPRequestHandler):
    """Answers without a log; who is killed hangs up."""

    protocol_version = "HTTP/1.1"

    def handle(self):
        try:
            super().handle()
        except ConnectionError:
            pass

    def log_message(self, *_):
        pass


class ObjectStore:
    """`program` on a port of its own, and a door before it whose faults can be turned on."""

    def __init__(self, program, home):
        self.slow_seconds, self.is_away, self.overwrites = 0.0, False, False
        self.log = open(home / "moto.log", "ab")
        self.door = ThreadingHTTPServer(("127.0.0.1", 0), self.handler())
        self.door.daemon_threads = True
        self.port = self.door.server_address[1]
        threading.Thread(target=self.door.serve_forever, daemon=True).start()
        with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as free:
            self.behind = free.server_address[1]
        command = [program, "-H", "127.0.0.1", "-p", str(self.behind)]
        self.process = subprocess.Popen(command, stdout=self.log, stderr=self.log)
        until = time.monotonic() + 60
        while True:
            try:
                self.ask("PUT", f"/{BUCKET}")
                return
            except OSError:
                if until < time.monotonic():
                    raise
                time.sleep(0.2)

    def environment(self):
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.port}",
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "any",
            "AWS_SECRET_ACCESS_KEY": "any",
        }

    def ask(self, method, path, body=None, headers=None):
        server = http.client.HTTPConnection("127.0.0.1", self.behind, timeout=60)
        try:
            server.request(method, path, body, headers or {})
            answer = server.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            server.close()

    def handler(store):
        class Door(Quiet):
            def pass_on(self):
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                time.sleep(store.slow_seconds)
                headers = dict(self.headers.items())
                if store.overwrites:
                    headers.pop("if-none-match", None)
                status, told, reply = (503, [], b"") if store.is_away else store.ask(self.command, self.path, body, headers)
                self.send_response_only(status)
                for name, value in told:
                    if name.lower() not in ("content-length", "transfer-encoding", "connection") or self.command == "HEAD":
                        self.send_header(name, value)
                if self.command != "HEAD":
                    self.send_header("content-length", str(len(reply)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(reply)

            do_GET = do_PUT = do_HEAD = do_DELETE = do_POST = pass_on

        return Door

    def stop(self):
        self.door.shutdown()
        self.process.kill()
        self.process.wait()
        self.log.close()
