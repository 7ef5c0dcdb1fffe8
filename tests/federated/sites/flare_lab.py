"""A federation on the loopback interface: real certificates, a server process and site processes, stopped for sure."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from sklearn_deid import make_clinical_notes, write_corpus

HOST, LEAD = "localhost", "lead@example.org"
LONGEST_WAIT = 240.0
# Asks the kernel to kill the process when the tests end in whatever way (FLARE's job processes watch theirs).
DIE_WITH_PARENT = (
    "import ctypes, os, sys; ctypes.CDLL(None).prctl(1, 9); os.execv(sys.executable, [sys.executable, *sys.argv[1:]])"
)
# A process that imports the packages of others once, and becomes one process for each command: PyTorch takes seconds,
# and so does the search for garbage at the end of Python. The kernel ends a command that takes too long.
RUN_COMMANDS = """
import gc, importlib, json, os, signal, sys
import nvflare.cli, sklearn.model_selection, skorch, torch._dynamo

gc.freeze()
for line in sys.stdin:
    module, longest, *words = json.loads(line)
    if not (child := os.fork()):
        signal.alarm(longest)
        for number, name in enumerate((os.devnull, "stdout", "stderr")):
            os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC), number)
        sys.argv = words
        try:
            end = importlib.import_module(module).main()
        except SystemExit as told:
            end = told.code
        print(end or "", end="", file=sys.stderr, flush=True)
        sys.stdout.flush()
        os._exit(bool(end))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Lab:
    """Everything in one folder; `close` kills whatever was started."""

    def __init__(self, root, sites):
        self.root, self.sites, self.port = Path(root), sites, free_port()
        self.processes = {}
        # FLARE writes records of certificates into the home of the user.
        (self.root / "home").mkdir()
        self.environment = {
            **os.environ,
            "HOME": str(self.root / "home"),
            "OMP_NUM_THREADS": "1",
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        run = [sys.executable, "-c", RUN_COMMANDS]
        self.commands = subprocess.Popen(run, cwd=self.root, env=self.environment, **pipes)

    # ---- the commands of the documentation

    def command(self, *words):
        module = {"nvflare": "nvflare.cli", "sklearn-deid": "sklearn_deid.cli"}[words[0]]
        print(json.dumps([module, int(LONGEST_WAIT), *map(str, words)]), file=self.commands.stdin, flush=True)
        end = self.commands.stdout.readline()
        told, error = ((self.root / name).read_text() for name in ("stdout", "stderr"))
        assert end == "0\n", f"{words}: {end} {told[-2000:]} {error[-2000:]}"
        return told

    def plan(self, *options):
        named = [word for site in self.sites for word in ("--site", site)]
        self.command(
            *("sklearn-deid", "federate", "plan", "lab", "--project", "lab", "--server", HOST, "--port", self.port),
            *("--lead", LEAD, *named, *options),
        )

    def certify(self):
        """Each participant makes its key and gets a certificate."""
        told = self.command("nvflare", "cert", "init", "--profile", "lab/profile.yml", "-o", "ca")
        fingerprint = next(line for line in told.splitlines() if "fingerprint" in line).split(": ")[1]
        for name in (HOST, LEAD, *self.sites):
            request = f"requests/{name}"
            self.command("nvflare", "cert", "request", "-p", f"lab/participants/{name}.yml", "--out", request)
            approve = ("--profile", "lab/profile.yml", "--out", f"{name}.signed.zip", f"{request}/{name}.request.zip")
            self.command("nvflare", "cert", "approve", "-c", "ca", *approve)
            package = (f"{name}.signed.zip", "--request-dir", request, "-w", "ws", "--fingerprint", fingerprint)
            self.command("nvflare", "package", *package)

    def kit(self, name):
        return self.root / "ws" / "lab" / "prod_00" / name

    def prepare(self, options):
        """The server's kit, and each site's with its number of notes and its own options."""
        self.command("sklearn-deid", "federate", "server", self.kit(HOST), "--agreement", "lab/federation.json")
        for number, (site, (n_notes, *own)) in enumerate(options.items()):
            write_corpus(make_clinical_notes(n_notes, random_state=number + 1), self.root / "notes" / site, "brat")
            self.command(
                *("sklearn-deid", "federate", "site", self.kit(site), "--agreement", "lab/federation.json"),
                *("--corpus", f"notes/{site}", *own),
            )

    def submit(self, folder="lab/session"):
        told = self.command(
            "nvflare", "--format", "json", "job", "submit", "-j", folder, "--startup-kit", self.kit(LEAD)
        )
        return json.loads(told[told.index("{") :])["data"]["job_id"]

    # ---- processes

    def start(self, name):
        """In the foreground of a process group of its own: FLARE's start.sh would restart what a test kills."""
        log = (self.root / f"{name}.log").open("ab")
        module = "server" if name == HOST else "client"
        options = ["-m", str(self.kit(name)), "-s", f"fed_{module}.json", "--set", "secure_train=true"]
        identity = f"org={'coordinator' if name == HOST else name.replace('-', '_')}"
        own = [identity, "config_folder=config"] if name == HOST else [f"uid={name}", identity, "config_folder=config"]
        (self.kit(name) / "transfer").mkdir(exist_ok=True)
        self.processes[name] = subprocess.Popen(
            [
                sys.executable,
                "-c",
                DIE_WITH_PARENT,
                "-u",
                "-m",
                f"nvflare.private.fed.app.{module}.{module}_train",
                *options,
                *own,
            ],
            env=self.environment,
            cwd=self.kit(name),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        log.close()

    def start_all(self):
        for name in (HOST, *self.sites):
            self.start(name)
        for site in self.sites:
            self.wait_for_site(site, 0)

    def wait_for_site(self, site, seen):
        """Until the server's log, from this place on, says that it knows the site."""

        def is_known():
            news = self.log(HOST)[seen:]
            return f"New client {site}@" in news or f"Re-activate the client: {site} at" in news

        self.wait(is_known, f"{site} is known")

    def restart_server(self, look=lambda: None):
        """Kill it, start it, and wait for the sites, which come back by themselves; returns what `look` sees between.

        Before the kill, a site may still change what would be seen.
        """
        seen = len(self.log(HOST))
        self.kill(HOST)
        found = look()
        self.start(HOST)
        for site in self.sites:
            self.wait_for_site(site, seen)
        return found

    def kill(self, name):
        """The site with all its processes, at once and without warning."""
        self._send(name, signal.SIGKILL)
        self.processes.pop(name).wait(timeout=30)

    def _send(self, name, what):
        for pid in _descendants(self.processes[name].pid):
            try:
                os.kill(pid, what)
            except ProcessLookupError:
                pass

    def suspend(self, name):
        """As a computer that sleeps: connections stay, and nobody answers."""
        self._send(name, signal.SIGSTOP)

    def resume(self, name):
        self._send(name, signal.SIGCONT)

    def close(self):
        self.commands.communicate()
        for name in list(self.processes):
            self.kill(name)

    # ---- what can be seen from outside

    def events(self, job=None, **wanted):
        """Events of the server's log with these values."""
        path = self.kit(HOST) / "deid-state" / "events.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
        wanted = wanted if job is None else {**wanted, "job": job}
        return [line for line in lines if all(line.get(key) == value for key, value in wanted.items())]

    def history(self, site):
        path = self.kit(site) / "deid-state" / "history.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def log(self, name):
        return (self.root / f"{name}.log").read_text(errors="replace")

    def wait(self, condition, what):
        end = time.monotonic() + LONGEST_WAIT
        while not condition():
            assert time.monotonic() < end, f"{what}: {self.report()}"
            time.sleep(0.2)

    def wait_for_end(self, job):
        self.wait(lambda: self.events(job, event="end"), f"session {job} ends")
        return self.events(job, event="end")[0]

    def report(self):
        return "\n".join(f"--- {name}\n{self.log(name)[-3000:]}" for name in (HOST, *self.sites))


def _descendants(ancestor):
    """All processes below a process, whatever sessions they have made for themselves."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
    found = {ancestor}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found
