"""A PostgreSQL server of its own for a test, from the programs of an installed PostgreSQL."""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path


def program(name):
    """Path of a program of PostgreSQL; Debian keeps them outside of the search path. None without PostgreSQL."""
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(found[-1]) if found else None)


class PostgresServer:
    """Server that listens on a Unix socket only. It can be killed, and started again on the same data."""

    def __init__(self):
        # A short path: the name of a Unix socket has at most 107 bytes.
        self.folder = Path(tempfile.mkdtemp(prefix="pg-"))
        # PostgreSQL refuses to run as root.
        self.user = {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
        if self.user:
            shutil.chown(self.folder, "nobody", "nogroup")
        options = ["--auth=trust", "--username=deid", "--no-sync", "--encoding=UTF8", "--locale=C"]
        self._run("initdb", *options, "--pgdata=data")
        self.process = None

    @property
    def url(self):
        """SQLAlchemy URL."""
        return f"postgresql+psycopg://deid@/postgres?host={self.folder}"

    def start(self):
        """Start the server, and wait until it answers."""
        command = [program("postgres"), "-D", "data", "-k", str(self.folder), "-c", "listen_addresses=", "-F"]
        end = time.monotonic() + 300  # a busy machine takes its time to recover
        while time.monotonic() < end:
            # Processes of a killed server end a moment later, and a new server is refused until then.
            if self.process is None or self.process.poll() is not None:
                log = (self.folder / "log").open("ab")
                self.process = subprocess.Popen(command, cwd=self.folder, stderr=log, stdout=log, **self.user)
                log.close()
            if self._run("pg_isready", "-h", str(self.folder), check=False) == 0:
                return
            time.sleep(0.1)
        raise RuntimeError("The server does not start.")

    def kill(self):
        """Kill the server (SIGKILL)."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def remove(self):
        """Kill the server and remove its data."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, name, *options, check=True):
        command = [program(name), *options]
        return subprocess.run(command, cwd=self.folder, check=check, capture_output=True, **self.user).returncode
