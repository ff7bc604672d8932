"""Hosts that are network namespaces of this machine, joined by a switch with a
line of a given rate to each (tc tbf in both directions), and where that is wanted
with a share of a core for each.  Needs root."""

import os
import pathlib
import subprocess

CGROUP = pathlib.Path("/sys/fs/cgroup")
PERIOD = 5000  # microseconds of a share: short beside a mini-batch
BURST = {10: "15kb", 100: "32kb", 1000: "256kb", 10000: "4096kb"}  # of tbf, by Mbit/s


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, stderr=subprocess.PIPE)


def why_not():
    """Why there can be no hosts here; "" if there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    for program in ("ip", "tc"):
        if subprocess.run(["which", program], stdout=subprocess.DEVNULL,
                          check=False).returncode != 0:
            return f"no '{program}': install iproute2"
    return ""


class Share:
    """A control group that has so much of one core, None: no limit, before all else
    that the machine does; of the second version or the first."""

    def __init__(self, name, cores, core):
        """core: its number.  A quota is dealt to the cores in slices, and what is left on
        one a thread on another does not get."""
        self.core = ["taskset", "-c", str(core)] if cores else []
        first = CGROUP / "cpu"
        self.folder = (first if first.is_dir() else CGROUP) / name
        self.folder.mkdir()
        quota = round(cores * PERIOD) if cores else None
        if first.is_dir():
            (self.folder / "cpu.shares").write_text("262144")
            (self.folder / "cpu.cfs_period_us").write_text(f"{PERIOD}")
            (self.folder / "cpu.cfs_quota_us").write_text(f"{quota or -1}")
        else:
            (self.folder / "cpu.weight").write_text("10000")
            (self.folder / "cpu.max").write_text(f"{quota or 'max'} {PERIOD}")

    def around(self, command):
        return ["sh", "-c", f'echo $$ >{self.folder}/cgroup.procs; exec "$@"', "sh", *self.core,
                *command]


class Hosts:
    """`count` hosts 10.77.0.1 ..., each with a line of `mbit` Mbit/s, full duplex."""

    def __init__(self, count, mbit, cores=()):
        """cores: of each host, None where it is not limited; left out: what it gets
        beside all else."""
        self.mbit = mbit
        self.cores, self.shares = cores, {}
        self.prefix = f"dlt{os.getpid()}"
        self.names = [f"{self.prefix}-{i}" for i in range(count)]
        self.switch = f"{self.prefix}-s"
        self.processes = []

    def __enter__(self):
        try:
            ip("netns", "add", self.switch)
            ip("-n", self.switch, "link", "add", "switch", "type", "bridge")
            ip("-n", self.switch, "link", "set", "switch", "up")
            for i, name in enumerate(self.names):
                self.join(i, name)
            for i, cores in enumerate(self.cores):
                own = sorted(os.sched_getaffinity(0))
                self.shares[i] = Share(self.names[i], cores, own[i % len(own)])
        except subprocess.CalledProcessError as error:
            self.__exit__()
            raise SystemExit(f"peers: {' '.join(error.cmd)}: "
                             f"{error.stderr.decode().strip()}") from None
        return self

    def join(self, i, name):
        ip("netns", "add", name)
        ip("-n", name, "link", "add", "eth0", "type", "veth", "peer", "name", f"port{i}",
           "netns", self.switch)
        ip("-n", name, "address", "add", f"{self.address(i)}/24", "dev", "eth0")
        ip("-n", name, "link", "set", "lo", "up")
        ip("-n", name, "link", "set", "eth0", "up")
        ip("-n", self.switch, "link", "set", f"port{i}", "master", "switch")
        ip("-n", self.switch, "link", "set", f"port{i}", "up")
        for space, device in ((name, "eth0"), (self.switch, f"port{i}")):
            subprocess.run(["tc", "-n", space, "qdisc", "add", "dev", device, "root", "tbf",
                            "rate", f"{self.mbit}mbit", "burst", BURST.get(self.mbit, "64kb"),
                            "latency", "200ms"], check=True, stderr=subprocess.PIPE)

    def __exit__(self, *_):
        self.kill()
        for name in [*self.names, self.switch]:
            subprocess.run(["ip", "netns", "delete", name], stderr=subprocess.DEVNULL,
                           check=False)
        for share in self.shares.values():
            share.folder.rmdir()

    def address(self, i):
        return f"10.77.0.{i + 1}"

    def start(self, i, command, **options):
        """A process on host i."""
        command = ["ip", "netns", "exec", self.names[i], *map(str, command)]
        if i in self.shares:
            command = self.shares[i].around(command)
        process = subprocess.Popen(command, **options)
        self.processes.append(process)
        return process

    def kill(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()
        self.processes = []


def sent_bytes(pid="self"):
    """What the line of a process's host has carried away from it so far."""
    for line in pathlib.Path(f"/proc/{pid}/net/dev").read_text().splitlines():
        name, _, counts = line.partition(":")
        if name.strip() == "eth0":
            return int(counts.split()[8])
    raise SystemExit("peers: no eth0")
