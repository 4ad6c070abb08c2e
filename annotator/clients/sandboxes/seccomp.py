"""The system calls that a sandboxed script is refused, as the program that the kernel runs before each of them.

Classic BPF as in `man 2 seccomp`; the numbers are those of the kernel's own tables (syscall_64.tbl, unistd.h).
"""

import errno
import platform
import struct
from dataclasses import dataclass
from functools import lru_cache

CLONE_NEW = 0x7E020080  # any new namespace, user namespaces too, from which all else would follow
TERMINAL_INPUT = (0x5412, 0x541C)  # TIOCSTI and TIOCLINUX type into the terminal of whoever started us
UNIX, INET, INET6, NETLINK = 1, 2, 10, 16
X32 = 0x40000000  # the x86-64 kernel's other numbering, which would get around these

LOAD, EQUAL, AT_LEAST, ANY_OF, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, ERRNO, KILL = 0x7FFF0000, 0x00050000, 0x80000000
NUMBER, ARCHITECTURE = 0, 4

# name: (x86-64, arm64), none where there is no such call
REFUSED: dict[str, tuple[int | None, int | None]] = {
    # other processes
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "pidfd_getfd": (438, 438), "process_madvise": (440, 440),
    # mounts and namespaces
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "unshare": (272, 97), "setns": (308, 268),
    "name_to_handle_at": (303, 264), "open_by_handle_at": (304, 265),
    # large parts of the kernel that a script has no use for
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "bpf": (321, 280),
    "perf_event_open": (298, 241), "userfaultfd": (323, 282), "fanotify_init": (300, 262),
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    # the machine itself
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "acct": (163, 89), "swapon": (167, 224), "swapoff": (168, 225),
    "reboot": (169, 142), "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266),
    "adjtimex": (159, 171), "sethostname": (170, 161), "setdomainname": (171, 162), "syslog": (103, 116),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "lookup_dcookie": (212, 18), "vhangup": (153, 58),
    "iopl": (172, None), "ioperm": (173, None), "modify_ldt": (154, None), "uselib": (134, None),
}  # fmt: skip
# Memory that belongs to no process: a control group counts it, nothing else does.
UNCOUNTED: dict[str, tuple[int, int]] = {"memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194)}


@dataclass(frozen=True, kw_only=True)
class Machine:
    place: int  # in the pairs above
    audit: int  # AUDIT_ARCH_…
    clone: int
    clone3: int
    ioctl: int
    socket: int


MACHINES = {
    "x86_64": Machine(place=0, audit=0xC000003E, clone=56, clone3=435, ioctl=16, socket=41),
    "aarch64": Machine(place=1, audit=0xC00000B7, clone=220, clone3=435, ioctl=29, socket=198),
}


def is_known(machine: str = "") -> bool:
    return (machine or platform.machine()) in MACHINES


@lru_cache
def program(machine: str = "", *, memory_is_counted: bool) -> bytes:
    """The filter, as bubblewrap reads it: allow all but the above."""
    here = MACHINES[machine or platform.machine()]
    numbers = [pair[here.place] for pair in (REFUSED if memory_is_counted else REFUSED | UNCOUNTED).values()]
    parts = [
        _load(ARCHITECTURE), _step(EQUAL, here.audit, yes=1), _give(KILL),
        _load(NUMBER), _step(AT_LEAST, X32, no=1), _give(ERRNO | errno.ENOSYS),
        *(_refuse(number) for number in numbers if number is not None),
        _refuse(here.clone3, errno.ENOSYS),  # its flags lie in memory, out of sight: libraries then use clone
        _only(here.clone, [_load(_argument(0)), _step(ANY_OF, CLONE_NEW, no=1), _give(ERRNO | errno.EPERM)]),
        _only(here.ioctl, [_load(_argument(1)), *(_refuse(request) for request in TERMINAL_INPUT)]),
        _only(here.socket, _families()),
        _give(ALLOW),
    ]  # fmt: skip
    return b"".join(parts)


def _families() -> list[bytes]:
    """Unix, IPv4 and IPv6 sockets, and of netlink only what lists interfaces."""
    bad = _give(ERRNO | errno.EAFNOSUPPORT)
    plain = [_step(EQUAL, family, no=1) + _give(ALLOW) for family in (UNIX, INET, INET6)]
    routes = [_step(EQUAL, NETLINK, yes=1), bad, _load(_argument(2)), _step(EQUAL, 0, yes=1), bad]
    return [_load(_argument(0)), *plain, *routes]


def _only(number: int, body: list[bytes]) -> bytes:
    """Steps for one call alone; the call's number is at hand again afterwards."""
    steps = b"".join(body) + _load(NUMBER)
    return _step(EQUAL, number, no=len(steps) // 8) + steps


def _refuse(value: int, error: int = errno.EPERM) -> bytes:
    return _step(EQUAL, value, no=1) + _give(ERRNO | error)


def _argument(place: int) -> int:
    return 16 + 8 * place  # its low half: both machines are little-endian


def _load(offset: int) -> bytes:
    return struct.pack("<HBBI", LOAD, 0, 0, offset)


def _step(test: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    """Compare, then leave out so many steps."""
    return struct.pack("<HBBI", test, yes, no, value)


def _give(answer: int) -> bytes:
    return struct.pack("<HBBI", RETURN, 0, 0, answer)
