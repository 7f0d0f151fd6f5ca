# SPDX-License-Identifier: MIT
"""examples/shards/slurm.sh on a cluster of two nodes on this machine, of which one fails."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from hosts import run
from work import SWEEP, Work, begun, clone, hold, must_end, start, until

from zvmlab.base.errors import CannotRun, ZvmlabError
from zvmlab.base.progress import Progress

COUNT = 6
RECIPE = "examples/shards/slurm.sh"
NODES = ("node-1", "node-2")
# Nodes that answer no more are noticed within seconds, not minutes.
_CONFIG = """\
ClusterName=zvmlab
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldTimeout=10
SlurmdTimeout=10
MessageTimeout=5
KillWait=2
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=node-1 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[1]} CPUs=1
NodeName=node-2 NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[2]} CPUs=1
PartitionName=all Nodes=ALL Default=YES MaxTime=60 State=UP
"""


def _free_ports(number: int) -> list[int]:
    """Ports of this machine that nothing listens at."""
    made = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    found = [int(one.getsockname()[1]) for one in made]
    for one in made:
        one.close()
    return found


def _require() -> None:
    if os.geteuid() != 0:
        raise CannotRun("only root can start a cluster; run it with sudo")
    for program, package in (("slurmctld", "slurm-wlm"), ("munged", "munge")):
        if not shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin"):
            raise CannotRun(f"this needs: apt-get install {package}")


class Cluster:
    """Its programs; each node with processes of its own, for all of them to end with it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self.env = {"SLURM_CONF": str(folder / "slurm.conf")}

    def begin(self) -> None:
        """All of them answer."""
        folder = self._folder
        folder.mkdir(mode=0o755)
        host = socket.gethostname().partition(".")[0]
        text = _CONFIG.format(folder=folder, host=host, ports=_free_ports(3))
        (folder / "slurm.conf").write_text(text, encoding="utf-8")
        (folder / "munge.key").write_bytes(os.urandom(1024))
        (folder / "munge.key").chmod(0o600)
        (folder / "state").mkdir()
        files = [f"--{name}={folder}/munge.{name.partition('-')[0]}" for name in
                 ("key-file", "log-file", "pid-file", "seed-file", "socket")]  # fmt: skip
        self._start("munged", "/usr/sbin/munged", "--foreground", "--force", *files)
        until("munge's socket", (folder / "munge.socket").exists, self._running["munged"].poll)
        self._start("slurmctld", "/usr/sbin/slurmctld", "-D")
        spaces = ("unshare", "--mount-proc", "--pid", "--fork", "--kill-child")
        for node in NODES:
            self._start(node, *spaces, "/usr/sbin/slurmd", "-D", "-N", node)
        until("two idle nodes", lambda: self._nodes().count("idle") == len(NODES), self._ended)

    def kill(self, node: str) -> None:
        """It ends with all that it runs, and tells nobody."""
        os.kill(self._running[node].pid, signal.SIGKILL)
        self._running.pop(node).wait()

    def end(self) -> None:
        """All of them."""
        for process in reversed(self._running.values()):
            process.kill()
            process.wait()

    def _start(self, name: str, *argv: str) -> None:
        with open(self._folder / f"{name}.log", "wb") as log:
            self._running[name] = subprocess.Popen(
                argv,
                env={**os.environ, **self.env},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def _ended(self) -> str | None:
        ended = [name for name, process in self._running.items() if process.poll() is not None]
        if ended:
            raise ZvmlabError(f"{ended[0]} has ended; {self._folder}/{ended[0]}.log says why")
        return None

    def _nodes(self) -> list[str]:
        argv = ["sinfo", "--noheader", "--Node", "--format=%T"]
        env = {**os.environ, **self.env}
        done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
        return done.stdout.split()


@contextlib.contextmanager
def _cluster(folder: Path) -> Iterator[Cluster]:
    _require()
    made = Cluster(folder)
    try:
        made.begin()
        yield made
    finally:
        made.end()


def _tasks_of(node: str, env: dict[str, str]) -> set[int]:
    """Numbers of the shards that this node runs."""
    argv = ("env", f"SLURM_CONF={env['SLURM_CONF']}", "squeue", "--noheader", "--array")
    lines = [line.split() for line in run(*argv, "--format=%K %N").splitlines()]
    return {int(words[0]) for words in lines if words[1:] == [node]}


def _failed_node(work: Work, log: Path, cluster: Cluster) -> None:
    """What its node had begun, Slurm queues again; the reports are the same."""
    hold(work.tree, f'[ "${{SLURMD_NODENAME-}}" = {NODES[1]} ]')

    def on_node() -> bool:
        return bool(_tasks_of(NODES[1], cluster.env) & begun(work.tree, COUNT))

    process = start(work, log, RECIPE, str(COUNT), *SWEEP, env=cluster.env)
    try:
        until("results of a shard on the second node", on_node, process.poll)
        cluster.kill(NODES[1])
        must_end(process, log)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    work.same(work.tree / f"zvmlab-sweep/{SWEEP[0]}")


def check(work: Work, folder: Path, progress: Progress) -> None:
    """ZvmlabError for what is not as it should be."""
    own = Work(folder / "slurm-work", work.whole)
    clone(own.tree)
    with contextlib.ExitStack() as stack:
        with progress.step("Slurm: starting a cluster of two nodes"):
            cluster = stack.enter_context(_cluster(folder / "slurm"))
        with progress.step("Slurm: a sweep as a job array, of which a node fails"):
            _failed_node(own, folder / "slurm.log", cluster)
