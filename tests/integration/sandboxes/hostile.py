"""Scripts that try to get out of a sandbox, or to bring the machine down. Each is Python that defines `attempt`.

What it returns, if anything, is what it got away with; what it raises is what stopped it. `at` holds what the test laid
out for it to find: a secret file, a listening socket, somebody else's process.
"""

from dataclasses import dataclass

PRELUDE = '''
import ctypes, errno, glob, json, mmap, os, resource, signal, socket, stat, struct, subprocess, sys, threading, time
at = json.load(open('at.json'))
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long

def put(path, text):
    """Written at once, or an error."""
    file = os.open(path, os.O_WRONLY)
    os.write(file, text.encode())
    return path

def call(number, *arguments):
    """A system call, by its number on x86-64 and on arm64."""
    number = number[0 if os.uname().machine == "x86_64" else 1]
    arguments = [ctypes.c_char_p(a) if isinstance(a, bytes) else ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    got = libc.syscall(ctypes.c_long(number), *arguments)
    if got == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return got
'''
REPORT = """
print("trying", flush=True)
try:
    got = attempt()
except BaseException as error:
    print(json.dumps({"stopped": type(error).__name__ + " " + str(error)[:200]}), flush=True)
else:
    print(json.dumps({"got": repr(got)[:500] if got else None}), flush=True)
"""


@dataclass(frozen=True)
class Escape:
    name: str
    script: str
    works_bare: bool = False  # tried without a sandbox too, where it does no harm: it has to succeed there
    within: bool = False  # in a container it may succeed, and reaches nothing but the container itself

    @property
    def source(self) -> str:
        return PRELUDE + self.script + REPORT


def lines(name: str, *body: str, **options) -> Escape:
    return Escape(
        name, "def attempt():\n" + "".join(f"    {line}\n" for text in body for line in text.splitlines()), **options
    )


READING = [
    lines("read the database file", "return open(at['secret']).read()", works_bare=True),
    lines("read the environment of the worker", "return os.environ['DATABASE_URL']", works_bare=True),
    lines(
        "find a secret in anybody's environment",
        "for path in glob.glob('/proc/[0-9]*/environ'):",
        "    try:",
        "        text = open(path, 'rb').read()",
        "    except OSError:",
        "        continue",
        "    if at['token'].encode() in text: return path",
        works_bare=True,
    ),
    lines(
        "read the first process's environment",
        "text = open('/proc/1/environ', 'rb').read()",
        "return at['token'].encode() in text",
    ),
    lines(
        "see other people's processes",
        "return [p for p in glob.glob('/proc/[0-9]*/cmdline') if at['victim_mark'].encode() in open(p, 'rb').read()]",
        works_bare=True,
    ),
    lines(
        "go through another's root",
        "return open('/proc/%d/root%s' % (at['victim'], at['secret'])).read()",
        works_bare=True,
    ),
    lines("go through the first process's root", "return open('/proc/1/root' + at['secret']).read()"),
    lines("go through one's own root", "return open('/proc/self/root' + at['secret']).read()", works_bare=True),
    lines(
        "climb out of the working folder", "return open('../' * 40 + at['secret'].lstrip('/')).read()", works_bare=True
    ),
    lines(
        "read through a symbolic link",
        "os.symlink(at['secret'], 'link')",
        "return open('link').read()",
        works_bare=True,
    ),
    lines(
        "make a hard link of a secret", "os.link(at['secret'], 'hard')", "return open('hard').read()", works_bare=True
    ),
    lines("read passwords", "return open('/etc/shadow').read()"),
    lines(
        "list the worker's home", "return [n for n in os.listdir(at['home']) if n == at['home_mark']]", works_bare=True
    ),
    lines("look into the log of the machine", "return os.listdir('/var/log')"),
    lines("read the kernel's log", "return os.open('/dev/kmsg', os.O_RDONLY)"),
    lines(
        "ask the kernel for its log",
        "buffer = ctypes.create_string_buffer(100)",
        "return call((103, 116), 3, buffer, 100)",
    ),
    lines("read the machine's memory", "return [os.open(path, os.O_RDONLY) for path in ('/dev/mem', '/proc/kcore')]"),
    lines(
        "find descriptors that were left open",
        "got = []",
        "for fd in range(3, 256):",
        "    try: got.append(os.readlink('/proc/self/fd/%d' % fd))",
        "    except OSError: continue",
        "return [path for path in got if path.startswith('/') and '/proc/' not in path]",
    ),
    lines(
        "make a disk and read it",
        "os.mknod('disk', stat.S_IFBLK | 0o666, os.makedev(254, 0))",
        "return open('disk', 'rb').read(16)",
    ),
    lines(
        "open a file by its number",
        "return call((304, 265), -100, ctypes.create_string_buffer(struct.pack('IiQ', 8, 1, 2), 32), 0)",
    ),
    lines(
        "leave a link where the output is",
        "os.remove('script.py'); os.symlink(at['secret'], 'script.py')",
        "print(open('script.py').read())",
        works_bare=False,
    ),
]
WRITING = [
    lines(
        "write beside the secret",
        "open(at['outside'] + '/written', 'w').write('x')",
        "return 'written'",
        works_bare=True,
    ),
    lines(
        "write to the system",
        "got = []",
        "for folder in ('/', '/usr', '/usr/bin', '/etc', '/dev', '/proc', '/sys', '/root', '/var', '/run', '/home', '/opt'):",
        "    try: open(folder + '/concord-escaped', 'w').close(); got.append(folder)",
        "    except OSError: pass",
        "return got",
    ),
    lines(
        "write into the interpreter",
        "open(os.path.dirname(os.__file__) + '/escaped.py', 'w').close()",
        "return 'written'",
    ),
    lines("change a program of the system", "os.chmod('/usr/bin/env', 0o777)", "return 'changed'"),
    lines(
        "have the kernel run a program",
        "put('/proc/sys/kernel/core_pattern', '|/tmp/job/x')",
        "return 'set'",
    ),
    lines("press a magic key", "put('/proc/sysrq-trigger', 'h')", "return 'pressed'"),
    lines("escape the out-of-memory killer", "put('/proc/self/oom_score_adj', '-1000')", "return 'spared'"),
    lines(
        "leave the control group",
        "got = []",
        "for path in glob.glob('/sys/fs/cgroup/**/cgroup.procs', recursive=True):",
        "    try: got.append(put(path, '0'))",
        "    except OSError: pass",
        "return got",
    ),
    lines(
        "raise its own bounds",
        "got = []",
        "for name in ('RLIMIT_NPROC', 'RLIMIT_NOFILE'):",
        "    hard = resource.getrlimit(getattr(resource, name))[1]",
        "    try: resource.setrlimit(getattr(resource, name), (hard + 1, hard + 1)); got.append(name)",
        "    except (ValueError, OSError): pass",
        "return got",
    ),
]
REACHING = [
    lines(
        "connect to this machine",
        "socket.create_connection(('127.0.0.1', at['tcp']), 3)",
        "return 'connected'",
        works_bare=True,
    ),
    lines("connect by IPv6", "socket.create_connection(('::1', at['tcp6']), 3)", "return 'connected'", works_bare=True),
    lines("connect to the world", "socket.create_connection(('192.0.2.1', 80), 3)", "return 'connected'"),
    lines(
        "send a datagram",
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'escaped', ('127.0.0.1', at['udp']))",
        works_bare=True,
    ),
    lines(
        "connect to a socket file",
        "s = socket.socket(socket.AF_UNIX); s.connect(at['unix'])",
        "return 'connected'",
        works_bare=True,
    ),
    lines(
        "connect to an abstract socket",
        "s = socket.socket(socket.AF_UNIX); s.connect('\\0' + at['abstract'])",
        "return 'connected'",
        works_bare=True,
    ),
    lines(
        "talk to the container engine",
        "got = []",
        "for path in ('/var/run/docker.sock', '/run/docker.sock', '/run/podman/podman.sock', at['engine']):",
        "    s = socket.socket(socket.AF_UNIX)",
        "    try: s.connect(path); got.append(path)",
        "    except OSError: pass",
        "return got",
        works_bare=True,
    ),
    lines(
        "listen to the kernel",
        "s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 9); s.bind((0, 1))",
        "return s.recv(1) if False else 'heard'",
    ),
    lines(
        "see network cards",
        "return [name for _, name in socket.if_nameindex() if name not in ('lo', 'tunl0', 'sit0', 'ip6tnl0', 'gre0', 'gretap0', 'erspan0', 'ip_vti0', 'ip6_vti0', 'ip6gre0')]",
    ),
    lines("forge packets", "return socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)"),
    lines("sniff packets", "return socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0x0300)"),
    lines(
        "talk to the hypervisor",
        "s = socket.socket(40, socket.SOCK_STREAM); s.settimeout(2); s.connect((2, 1024))",
        "return 'connected'",
    ),
    lines("ask for a name", "return socket.getaddrinfo('example.org', 80)"),
]
RISING = [
    lines("become root", "os.setuid(0)", "return os.getuid() == 0"),
    lines("become root in all ways", "os.setresuid(0, 0, 0)", "return os.getuid() == 0"),
    lines("become somebody else", "os.setresuid(1, 1, 1)", "return os.getuid() == 1"),
    lines("join a group", "os.setgroups([0])", "return os.getgroups()"),
    lines("hold capabilities", "text = open('/proc/self/status').read()", "return [l for l in text.splitlines() if l.startswith(('CapPrm', 'CapEff', 'CapBnd')) and int(l.split()[1], 16)]"),
    lines("be root", "return os.getuid() == 0 or os.geteuid() == 0 or 0 in os.getgroups()"),
    lines(
        "rise by a program that rises",
        "programs = [p for p in glob.glob('/usr/bin/*') if os.path.isfile(p) and os.stat(p).st_mode & stat.S_ISUID]",
        "flags = [line.split()[5] for line in open('/proc/self/mountinfo') if line.split()[4] == '/usr']",
        "status = open('/proc/self/status').read()",
        "return None if 'NoNewPrivs:\\t1' in status else programs or flags",
    ),
    lines(
        "make a program that rises",
        "import shutil; shutil.copy('/bin/sh', 'sh'); os.chown('sh', 0, 0); os.chmod('sh', 0o4755)",
        "return subprocess.run(['./sh', '-p', '-c', 'id -u'], capture_output=True).stdout",
    ),
    lines("change another's program", "return call((101, 117), 16, at['victim'], 0, 0)"),
    lines("trace the first process", "got = call((101, 117), 16, 1, 0, 0) + 1", "os.waitpid(1, 0x40000000); call((101, 117), 17, 1, 0, 0)", "return got", within=True),
    lines(
        "read another's memory",
        "buffer = ctypes.create_string_buffer(16)",
        "local = struct.pack('QQ', ctypes.addressof(buffer), 16)",
        "return call((310, 270), at['victim'], local, 1, struct.pack('QQ', 4096 * 16, 16), 1, 0)",
    ),
    lines("mount", "return call((165, 40), b'none', b'/tmp', b'tmpfs', 0, 0) == 0"),
    lines("make the root writable again", "return call((165, 40), b'none', b'/', b'', 32, 0) == 0"),
    lines("unmount", "return call((166, 39), b'/proc', 2) == 0"),
    lines("make a user namespace", "return call((272, 97), 0x10000000) == 0"),
    lines("make a namespace of mounts", "return call((272, 97), 0x00020000) == 0"),
    lines("start a process in a user namespace", "return call((56, 220), 0x10000000 | 17, 0, 0, 0, 0) >= 0"),
    lines("make a namespace by a program", "done = subprocess.run(['unshare', '-Ur', 'id', '-u'], capture_output=True)", "return done.returncode == 0 and done.stdout"),
    lines("enter the first process's namespaces", "return call((308, 268), os.open('/proc/1/ns/mnt', os.O_RDONLY), 0) == 0 and os.path.exists(at['secret'])"),
    lines("change the root", "os.chroot('/tmp')", "return 'changed'"),
    lines("turn the root round", "return call((155, 41), b'/tmp', b'/tmp') == 0"),
    lines("keep a key in the kernel", "return call((248, 217), b'user', b'concord', b'secret', 6, -3)"),
    lines("read keys of the kernel", "return call((250, 219), 0, -3, 1)"),
    lines("load a program into the kernel", "return call((321, 280), 0, ctypes.create_string_buffer(128), 128)"),
    lines("load a module", "return call((313, 273), os.open('script.py', os.O_RDONLY), b'', 0) == 0"),
    lines("watch the machine's counters", "return call((298, 241), ctypes.create_string_buffer(struct.pack('IIQ', 0, 112, 0), 112), -1, 0, -1, 0)"),
    lines("catch page faults", "return call((323, 282), 0)"),
    lines("queue work past the filter", "return call((425, 425), 8, ctypes.create_string_buffer(120))", within=True),
    lines("use ports of the machine", "return call((172, -1), 3) == 0"),
]  # fmt: skip
HARMING = [
    lines("signal the worker", "os.kill(at['worker'], 0)", "return 'there'", works_bare=True),
    lines("kill another's process", "os.kill(at['victim'], signal.SIGKILL)", "return 'killed'", works_bare=True),
    lines("kill everything", "os.kill(-1, 0)"),
    lines("kill the first process", "os.kill(1, signal.SIGKILL)", "time.sleep(0.3)"),
    lines("stop the worker's group", "os.killpg(at['group'], signal.SIGSTOP)", "return 'stopped'"),
    lines("reboot", "return call((169, 142), 0xfee1dead, 672274793, 0, 0) == 0"),
    lines("set the clock", "return call((227, 112), 0, struct.pack('qq', 1, 0)) == 0"),
    lines("name the machine", "socket.sethostname('escaped')", "return socket.gethostname() == 'escaped'"),
    lines("swap to a file", "return call((167, 224), b'script.py', 0) == 0"),
    lines("count everybody's processes", "return call((163, 89), b'script.py') == 0"),
    lines("type into the terminal", "import fcntl, termios; fcntl.ioctl(os.open('/dev/tty', os.O_RDWR), termios.TIOCSTI, b'x')", "return 'typed'"),
    lines("run above others", "os.nice(-10)", "return os.nice(0) < 0"),
    lines("run in real time", "os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))", "return 'real time'"),
    lines("hold memory in place", "return [1 for _ in [libc.mlockall(3)] if libc.mlockall(3) == 0 and resource.getrlimit(resource.RLIMIT_MEMLOCK)[1] > 2 ** 30]"),
]  # fmt: skip
QUIET = [*READING, *WRITING, *REACHING, *RISING]  # several of these can be tried in one container
ALL = [*READING, *WRITING, *REACHING, *RISING, *HARMING]

TOGETHER = """
import glob, json, subprocess, sys
said = {}
for path in sorted(glob.glob("escape-*.py")):
    done = subprocess.run([sys.executable, "-I", path], capture_output=True, timeout=60)
    said[path] = [done.returncode, done.stdout.decode(), done.stderr.decode()]
print(json.dumps(said))
"""
