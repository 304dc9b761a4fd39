"""A Slurm cluster of this machine alone, as its owner starts one: a node, no accounts, all of it in one folder."""
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

PATIENCE_SECONDS = 60
SETTINGS = """
ClusterName=ktd
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={home}/munge.socket
SlurmctldPort={port}
SlurmdPort={next_port}
StateSaveLocation={home}/state
SlurmdSpoolDir={home}/spool
SlurmctldPidFile={home}/slurmctld.pid
SlurmdPidFile={home}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=2,batch_sched_delay=1
MpiDefault=none
# More processors than there are: workers wait for answers.
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs=16 RealMemory=64000 State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def is_installed():
    return os.geteuid() == 0 and all(shutil.which(program) for program in ["munged", "slurmctld", "slurmd", "sbatch"])


class SlurmNode:
    def __init__(self, home):
        self.home, self.processes = Path(home) / "slurm", []
        self.environment = {**os.environ, "SLURM_CONF": f"{self.home}/slurm.conf"}

    def __enter__(self):
        for folder in ["state", "spool"]:
            (self.home / folder).mkdir(parents=True)
        key = self.home / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        with socket.socket() as one, socket.socket() as other:
            one.bind(("127.0.0.1", 0))
            other.bind(("127.0.0.1", 0))
            ports = {"port": one.getsockname()[1], "next_port": other.getsockname()[1]}
        settings = SETTINGS.format(host=socket.gethostname().split(".")[0], home=self.home, **ports)
        (self.home / "slurm.conf").write_text(settings)
        files = [f"--{name}-file={self.home}/munge.{name}" for name in ["key", "pid", "log", "seed"]]
        self.start("munged", "--force", "--foreground", f"--socket={self.home}/munge.socket", *files)
        self.wait_for(lambda: (self.home / "munge.socket").exists(), "munged made no socket")
        self.start("slurmctld", "-D")
        self.start("slurmd", "-D")
        self.wait_for(lambda: "idle" in self.tell("sinfo", "-h", "-o", "%T"), "the node is not idle")
        return self

    def __exit__(self, *_):
        for process in reversed(self.processes):
            process.terminate()
            process.wait()

    def start(self, *command):
        log = open(self.home / f"{command[0]}.out", "wb")
        self.processes.append(subprocess.Popen(command, env=self.environment, stdout=log, stderr=log))

    def wait_for(self, holds, otherwise):
        until = time.monotonic() + PATIENCE_SECONDS
        while not holds():
            if until < time.monotonic():
                raise SystemExit(f"Slurm: {otherwise}; see {self.home}")
            time.sleep(0.2)

    def tell(self, *command, **more):
        told = subprocess.run(command, env={**self.environment, **more}, capture_output=True, text=True)
        return told.stdout.strip()

    def tasks(self, job):
        """The state of each task of an array that has not ended."""
        lines = self.tell("squeue", "-h", "-r", "-j", job, "-o", "%K %T").splitlines()
        return dict(line.split() for line in lines)
