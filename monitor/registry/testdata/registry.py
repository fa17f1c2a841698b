"""A second writer of instances.json, and a strict reader, for the tests.

  registry.py write DIR FIRST COUNT   registers COUNT pids from FIRST on, one after the other
  registry.py load DIR                prints the pids, or dies of what it does not expect
  registry.py hold DIR                holds the lock until its standard input closes
  registry.py try DIR                 says whether the lock is "free" or "taken"

It behaves as the programs that share the file do: the lock is the real
filelock package's, a file is written whole and put in the place of the old one,
and records are built with exactly the names below.
"""

import dataclasses
import json
import os
import pathlib
import sys
import time

import filelock


@dataclasses.dataclass
class Instance:
    pid: int
    port: int
    started_at: float
    last_heartbeat: float
    context: str | None
    modes: list
    project_name: str | None
    project_root: str | None
    state: str
    zombie_detected_at: float | None = None

    def __post_init__(self):
        assert isinstance(self.pid, int) and isinstance(self.port, int)
        assert isinstance(self.started_at, float) and isinstance(self.last_heartbeat, float)
        assert isinstance(self.modes, list)
        assert self.state in ("live_no_project", "live_with_project", "zombie")


def load(path):
    if not path.exists():
        return {"instances": {}}, {}
    with path.open(encoding="utf-8") as f:
        data = json.load(f)
    return data, {int(k): Instance(**v) for k, v in data["instances"].items()}


def save(path, data, instances):
    data["instances"] = {str(k): dataclasses.asdict(v) for k, v in instances.items()}
    temporary = path.with_name(f"python-{os.getpid()}.tmp")
    with temporary.open("w", encoding="utf-8") as f:
        json.dump(data, f, indent=2)
    temporary.replace(path)


def main():
    what, directory = sys.argv[1], pathlib.Path(sys.argv[2])
    path = directory / "instances.json"
    lock = filelock.FileLock(str(directory / "instances.lock"))
    if what == "hold":
        with lock:
            print("held", flush=True)
            sys.stdin.read()
        return
    if what == "try":
        try:
            with lock.acquire(timeout=0):
                print("free")
        except filelock.Timeout:
            print("taken")
        return
    if what == "load":
        with lock:
            print(*sorted(load(path)[1]))
        return
    first, count = int(sys.argv[3]), int(sys.argv[4])
    for pid in range(first, first + count):
        with lock:
            data, instances = load(path)
            now = time.time()
            data["events"] = data.get("events", 0) + 1
            instances[pid] = Instance(pid, pid, now, now, "ide", ["a"], "ä", "/ä", "live_with_project")
            save(path, data, instances)


main()
