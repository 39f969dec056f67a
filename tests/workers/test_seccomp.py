"""The call filter, run by a plain interpreter: which call of which processor is refused how."""

from __future__ import annotations

import itertools
import re
import struct
from pathlib import Path

import pytest

from tests.requirements import need
from tests.workers.bpf import verdict
from workers import seccomp

# linux/audit.h: EM_X86_64 62, EM_AARCH64 183, 64 bits, little endian
AUDIT = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
I386, ARM = 0x40000003, 0x40000028
MACHINES = sorted(AUDIT)

# (x86_64, aarch64), from asm/unistd_64.h and asm-generic/unistd.h; None where there is none
NUMBERS: dict[str, tuple[int, int | None]] = {
    "read": (0, 63),
    "write": (1, 64),
    "mmap": (9, 222),
    "ioctl": (16, 29),
    "socket": (41, 198),
    "socketpair": (53, 199),
    "clone": (56, 220),
    "fork": (57, None),
    "vfork": (58, None),
    "execve": (59, 221),
    "kill": (62, 129),
    "fcntl": (72, 25),
    "flock": (73, 32),
    "truncate": (76, 45),
    "chmod": (90, None),
    "fchmodat": (268, 53),
    "ptrace": (101, 117),
    "prctl": (157, 167),
    "mount": (165, 40),
    "futex": (202, 98),
    "sched_setaffinity": (203, 122),
    "sched_getaffinity": (204, 123),
    "tgkill": (234, 131),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "exit_group": (231, 94),
    "keyctl": (250, 219),
    "unshare": (272, 97),
    "prlimit64": (302, 261),
    "setrlimit": (160, 164),
    "memfd_create": (319, 279),
    "bpf": (321, 280),
    "io_uring_setup": (425, 425),
    "clone3": (435, 435),
    "landlock_create_ruleset": (444, 444),
    "shmget": (29, 194),
    "shmdt": (67, 197),
    "msgsnd": (69, 189),
    "semop": (65, 193),
    "mq_open": (240, 180),
    "mq_notify": (244, 184),
    "vmsplice": (278, 75),
    "io_setup": (206, 0),
    "syncfs": (306, 267),
    "timer_create": (222, 107),
    "mremap": (25, 216),
    "bind": (49, 200),
    "setsockopt": (54, 208),
    "close_range": (436, 436),
    "fsync": (74, 82),
    "fdatasync": (75, 83),
    "msync": (26, 227),
    "seccomp": (317, 277),
    "fadvise64": (221, 223),
    "sync_file_range": (277, 84),
    "madvise": (28, 233),
    "open": (2, None),
    "openat": (257, 56),
    "openat2": (437, 437),
    "preadv2": (327, 286),
    "utimensat": (280, 88),
    "utimes": (235, None),
    "mincore": (27, 232),
    "remap_file_pages": (216, 234),
    "readahead": (187, 213),
    "setxattr": (188, 5),
    "fsetxattr": (190, 7),
}
NEXT_AFTER_KNOWN = 451  # cachestat, Linux 6.5

AF_UNIX, AF_INET, AF_NETLINK, AF_VSOCK = 1, 2, 16, 40
# clone(2)'s flags: glibc's for a thread, and for fork
THREAD, FORK = 0x3D0F00, 0x1200011
FILES = 0x400
NEW_USER, NEW_NET, NEW_NS = 0x10000000, 0x40000000, 0x20000
SHARED, PRIVATE, VALIDATE, ANONYMOUS, GROWSDOWN, HUGETLB = 1, 2, 3, 0x20, 0x100, 0x40000
POPULATE = 0x8000
SIGCONT = 18  # asm/signal.h
HIGH = 1 << 32
"""A bit above those that the kernel looks at; it must not hide the others."""


NO_SUCH_CALL = "there is no such call"


def judge(machine: str, name: str, *arguments: int, **options: object) -> str:
    """What becomes of a call on a machine."""
    number = NUMBERS[name][machine == "aarch64"]
    if number is None:
        return NO_SUCH_CALL
    program = seccomp.program(machine, **options)  # type: ignore[arg-type]
    return verdict(program, AUDIT[machine], number, arguments)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("read", (), "allow"),
        ("write", (), "allow"),
        ("execve", (), "allow"),
        ("futex", (), "allow"),
        ("exit_group", (), "allow"),
        ("sched_getaffinity", (), "allow"),
        ("landlock_create_ruleset", (), "EPERM"),
        ("kill", (1, 9), "allow"),  # in its own namespace there is nobody else
        ("prlimit64", (7, 7), "allow"),  # RLIMIT_NOFILE
        ("prlimit64", (0, 10), "EPERM"),  # RLIMIT_LOCKS
        ("prlimit64", (0, 10 + HIGH), "EPERM"),
        ("setrlimit", (10,), "EPERM"),
        ("setrlimit", (7,), "allow"),
        ("ptrace", (), "EPERM"),
        ("mount", (), "EPERM"),
        ("keyctl", (), "EPERM"),
        ("unshare", (), "EPERM"),
        ("bpf", (), "EPERM"),
        ("io_uring_setup", (), "EPERM"),
        ("memfd_create", (), "EPERM"),
        ("shmget", (), "EPERM"),
        ("shmdt", (), "EPERM"),
        ("msgsnd", (), "EPERM"),
        ("semop", (), "EPERM"),
        ("mq_open", (), "EPERM"),
        ("mq_notify", (), "EPERM"),
        ("vmsplice", (), "EPERM"),
        ("io_setup", (), "EPERM"),
        ("syncfs", (), "EPERM"),
        ("timer_create", (), "EPERM"),
        ("mremap", (), "EPERM"),
        ("setsockopt", (0, 1, 7), "EPERM"),  # SOL_SOCKET, SO_SNDBUF
        ("setsockopt", (0, 1, 20), "allow"),  # SO_RCVTIMEO
        ("bind", (), "allow"),
        ("setxattr", (), "EPERM"),
        ("fsetxattr", (), "EPERM"),
        ("prctl", (1, 0), "EPERM"),  # PR_SET_PDEATHSIG
        ("prctl", (62,), "EPERM"),  # PR_SCHED_CORE
        ("prctl", (15,), "done"),  # PR_SET_NAME
        ("prctl", (16,), "allow"),  # PR_GET_NAME
        ("prctl", (22, 2), "EPERM"),  # PR_SET_SECCOMP
        ("seccomp", (1,), "EPERM"),
        ("prctl", (63,), "EINVAL"),  # that of Linux 6.3, PR_SME_SET_VL
        ("prctl", (78, 1, 1 << 24), "EINVAL"),  # PR_FUTEX_HASH, PR_FUTEX_HASH_SET_SLOTS
        ("prctl", (0x53564D41,), "EINVAL"),  # PR_SET_VMA
        ("close_range", (3, 9, 0), "allow"),
        ("close_range", (3, 9, 2), "EPERM"),  # CLOSE_RANGE_UNSHARE
        ("close_range", (3, 9, 4), "allow"),  # CLOSE_RANGE_CLOEXEC
        ("fsync", (3,), "done"),
        ("fdatasync", (3,), "done"),
        ("sync_file_range", (3,), "done"),
        # posix_fadvise(2): sequential, will need, don't need
        ("fadvise64", (3, 0, 0, 2), "allow"),
        ("fadvise64", (3, 0, 0, 3), "allow"),
        ("fadvise64", (3, 0, 0, 4), "EPERM"),
        ("fadvise64", (3, 0, 0, 4 | HIGH), "EPERM"),
        # asm-generic/mman-common.h: normal, don't need, free, huge pages, wipe on fork
        ("madvise", (0, 0, 0), "allow"),
        ("madvise", (0, 0, 4), "allow"),
        ("madvise", (0, 0, 8), "allow"),
        ("madvise", (0, 0, 14), "allow"),
        ("madvise", (0, 0, 18), "allow"),
        ("madvise", (0, 0, 19), "allow"),
        ("madvise", (0, 0, 12), "EINVAL"),  # MADV_MERGEABLE
        ("madvise", (0, 0, 20), "EINVAL"),  # MADV_COLD
        ("madvise", (0, 0, 21 | HIGH), "EINVAL"),  # MADV_PAGEOUT
        ("madvise", (0, 0, 22), "EINVAL"),  # MADV_POPULATE_READ
        ("madvise", (0, 0, 23), "EINVAL"),  # MADV_POPULATE_WRITE
        ("madvise", (0, 0, 25), "EINVAL"),  # MADV_COLLAPSE
        ("madvise", (0, 0, 99), "EINVAL"),  # of no kernel yet
        ("openat2", (), "ENOSYS"),
        ("utimensat", (), "done"),
        ("utimes", (), "done"),
        ("msync", (0, 1, 1), "allow"),  # MS_ASYNC
        ("msync", (0, 1, 4), "done"),  # MS_SYNC
        ("flock", (), "EPERM"),
        ("sched_setaffinity", (), "EPERM"),
        ("fork", (), "EPERM"),
        ("vfork", (), "EPERM"),
        ("clone3", (), "ENOSYS"),
        ("clone", (THREAD,), "allow"),
        ("clone", (FORK,), "EPERM"),
        ("clone", (THREAD & ~FILES,), "EPERM"),
        ("clone", (THREAD | NEW_USER,), "EPERM"),
        ("clone", (THREAD | NEW_NET,), "EPERM"),
        ("clone", (FORK | HIGH,), "EPERM"),
        ("socket", (AF_UNIX,), "EAFNOSUPPORT"),
        ("socket", (AF_INET,), "EAFNOSUPPORT"),
        ("socket", (AF_NETLINK,), "EAFNOSUPPORT"),
        ("socket", (AF_VSOCK,), "EAFNOSUPPORT"),
        ("socketpair", (AF_UNIX, 1), "allow"),
        ("socketpair", (AF_UNIX, 2), "EPERM"),
        ("socketpair", (AF_INET, 1), "EAFNOSUPPORT"),
        ("ioctl", (0, 0x5412), "EPERM"),  # TIOCSTI
        ("ioctl", (0, 0x5412 | HIGH), "EPERM"),
        ("ioctl", (0, 0x541C), "EPERM"),  # TIOCLINUX
        ("ioctl", (0, 0x541B), "allow"),  # FIONREAD
        ("ioctl", (0, 0x8901), "ENOTTY"),  # FIOSETOWN
        ("ioctl", (0, 0xC020660B), "ENOTTY"),  # FS_IOC_FIEMAP, which may have files written
        ("fcntl", (0, 3), "allow"),  # F_GETFL
        ("fcntl", (0, 6), "EPERM"),  # F_SETLK
        ("fcntl", (0, 37), "EPERM"),  # F_OFD_SETLK
        ("fcntl", (0, 1024), "EPERM"),  # F_SETLEASE
        ("fcntl", (0, 8), "allow"),  # F_SETOWN
        ("fcntl", (0, 10), "EPERM"),  # F_SETSIG
        ("fcntl", (0, 1031), "allow"),  # F_SETPIPE_SZ
        ("fcntl", (0, 1036), "EPERM"),  # F_SET_RW_HINT
        ("fcntl", (0, 1100), "EPERM"),  # of no kernel yet
        ("kill", (1, 15), "allow"),
        ("kill", (1, SIGCONT), "EPERM"),
        ("kill", (1, SIGCONT | HIGH), "EPERM"),
        ("tkill", (1, SIGCONT), "EPERM"),
        ("tgkill", (1, 1, 6), "allow"),
        ("tgkill", (1, 1, SIGCONT), "EPERM"),
        ("rt_sigqueueinfo", (1, SIGCONT), "EPERM"),
        ("rt_tgsigqueueinfo", (1, 1, SIGCONT), "EPERM"),
        ("mmap", (0, 0, 0, PRIVATE | ANONYMOUS), "allow"),
        ("mmap", (0, 0, 0, SHARED), "allow"),
        ("mmap", (0, 0, 0, PRIVATE | ANONYMOUS | HUGETLB), "EPERM"),
        ("mmap", (0, 0, 0, SHARED | ANONYMOUS), "EPERM"),
        ("mmap", (0, 0, 0, VALIDATE | ANONYMOUS), "EPERM"),
        ("mmap", (0, 0, 0, SHARED | ANONYMOUS | HIGH), "EPERM"),
        ("mmap", (0, 0, 0, PRIVATE | ANONYMOUS | GROWSDOWN), "EPERM"),
        ("mmap", (0, 0, 0, PRIVATE | ANONYMOUS | POPULATE), "EPERM"),
        ("mmap", (0, 0, 0, SHARED | POPULATE | HIGH), "EPERM"),
        ("madvise", (0, 0, 23 | HIGH), "EINVAL"),  # MADV_POPULATE_WRITE
        ("mincore", (), "EPERM"),
        ("remap_file_pages", (), "EPERM"),
        ("readahead", (), "EPERM"),
        ("truncate", (), "allow"),
        ("fchmodat", (), "allow"),
    ],
)
def test_calls_of_a_boxed_bot(
    machine: str, name: str, arguments: tuple[int, ...], expected: str
) -> None:
    """A bot of one process, with no memory group around it."""
    assert judge(machine, name, *arguments) in (expected, NO_SUCH_CALL)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("mmap", (0, 0, 0, SHARED | ANONYMOUS), "allow"),
        ("mmap", (0, 0, 0, PRIVATE | ANONYMOUS | GROWSDOWN), "allow"),
        ("mmap", (0, 0, 0, PRIVATE | ANONYMOUS | HUGETLB), "EPERM"),
        ("mmap", (0, 0, 0, PRIVATE | ANONYMOUS | POPULATE), "EPERM"),
        ("mremap", (), "allow"),
        ("setsockopt", (0, 1, 7), "allow"),
        ("socket", (AF_UNIX,), "allow"),
        ("socket", (AF_INET,), "EAFNOSUPPORT"),
        ("socket", (AF_NETLINK,), "EAFNOSUPPORT"),
        ("socket", (AF_VSOCK,), "EAFNOSUPPORT"),
        ("socket", (AF_INET | HIGH,), "EAFNOSUPPORT"),
        ("socketpair", (AF_UNIX, 2), "allow"),
        ("timer_create", (), "EPERM"),
        ("fork", (), "allow"),
        ("clone", (FORK,), "allow"),
        ("clone", (THREAD,), "allow"),
        ("clone", (THREAD & ~FILES,), "EPERM"),
        ("close_range", (3, 9, 2), "EPERM"),
        ("clone", (FORK | NEW_USER,), "EPERM"),
        ("clone", (FORK | NEW_NS,), "EPERM"),
        ("clone3", (), "ENOSYS"),
        ("memfd_create", (), "EPERM"),
        ("fsetxattr", (), "EPERM"),
        # It is told that this was done, and it was not.
        ("utimensat", (), "done"),
        ("mincore", (), "EPERM"),
        ("readahead", (), "EPERM"),
        ("flock", (), "EPERM"),
        ("kill", (2, SIGCONT), "allow"),
        ("seccomp", (1,), "EPERM"),
        ("prctl", (22, 2), "EPERM"),  # PR_SET_SECCOMP
        ("prctl", (15,), "done"),  # PR_SET_NAME
        ("fadvise64", (3, 0, 0, 4), "EPERM"),  # POSIX_FADV_DONTNEED
        ("madvise", (0, 0, 21), "EINVAL"),  # MADV_PAGEOUT
        ("ioctl", (0, 0xC020660B), "ENOTTY"),  # FS_IOC_FIEMAP
        ("sync_file_range", (3,), "done"),
    ],
)
def test_calls_of_several_processes_in_a_group(
    machine: str, name: str, arguments: tuple[int, ...], expected: str
) -> None:
    """What a memory group counts is let through, and forking where it is wished."""
    options = {"single_process": False, "metered_memory": True}
    assert judge(machine, name, *arguments, **options) in (expected, NO_SUCH_CALL)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("socket", (AF_UNIX,), "EAFNOSUPPORT"),
        # socket(2)'s types: stream, datagram, raw, packets in sequence; then SOCK_CLOEXEC
        ("socketpair", (AF_UNIX, 1), "allow"),
        ("socketpair", (AF_UNIX, 1 | 0o2000000), "allow"),
        ("socketpair", (AF_UNIX, 2), "EPERM"),
        ("socketpair", (AF_UNIX, 2 | 0o2000000), "EPERM"),
        ("socketpair", (AF_UNIX, 3), "EPERM"),
        ("socketpair", (AF_UNIX, 5), "allow"),
        ("socketpair", (AF_INET, 1), "EAFNOSUPPORT"),
        ("bind", (), "EPERM"),
        ("kill", (77, 9), "EPERM"),
        ("tgkill", (77, 77, 6), "allow"),  # how a process aborts
        ("tgkill", (77, 77, SIGCONT), "EPERM"),
        ("tgkill", (78, 78, 9), "EPERM"),
        ("prlimit64", (0, 7), "allow"),
        ("prlimit64", (0, 10), "EPERM"),  # RLIMIT_LOCKS
        ("prlimit64", (78, 7), "EPERM"),
        ("prctl", (1,), "EPERM"),  # PR_SET_PDEATHSIG
        ("prctl", (15,), "done"),  # PR_SET_NAME
        ("fcntl", (0, 8), "EPERM"),  # F_SETOWN
        ("fcntl", (0, 10), "EPERM"),  # F_SETSIG
        ("fcntl", (0, 3), "allow"),
        ("ioctl", (0, 0x8901), "ENOTTY"),  # FIOSETOWN
        ("ioctl", (0, 0x40086602), "ENOTTY"),  # FS_IOC_SETFLAGS
        ("ioctl", (0, 0x401C5820), "ENOTTY"),  # FS_IOC_FSSETXATTR
        ("ioctl", (0, 0x5401), "allow"),  # TCGETS
        ("ioctl", (0, 0x541B), "allow"),  # FIONREAD
        ("ioctl", (0, 0x5412), "EPERM"),  # TIOCSTI
        ("truncate", (), "EPERM"),
        ("chmod", (), "EPERM"),
        ("utimensat", (), "EPERM"),
        ("fchmodat", (), "EPERM"),
    ],
)
def test_calls_without_namespaces(
    machine: str, name: str, arguments: tuple[int, ...], expected: str
) -> None:
    """Nobody else can be reached by way of the user that a bot shares with the worker."""
    options = {"without_namespaces": True, "own_pid": 77}
    assert judge(machine, name, *arguments, **options) in (expected, NO_SUCH_CALL)


@pytest.mark.parametrize(("machine", "direct"), [("x86_64", 0o40000), ("aarch64", 0o200000)])
def test_no_file_is_read_past_the_cache(machine: str, direct: int) -> None:
    """O_DIRECT, whose number is the processor's own (asm/fcntl.h), as where no file can have it."""
    assert judge(machine, "open", 0, direct) in ("EINVAL", NO_SUCH_CALL)
    assert judge(machine, "openat", 0, 0, direct | 0o2000000) == "EINVAL"
    assert judge(machine, "openat", 0, 0, 0o2000000) == "allow"
    assert judge(machine, "fcntl", 0, 4, direct) == "EINVAL"  # F_SETFL
    assert judge(machine, "fcntl", 0, 4, 0o4000) == "allow"  # O_NONBLOCK
    assert judge(machine, "fcntl", 0, 2, direct) == "allow"  # F_SETFD
    # linux/fs.h: RWF_DONTCACHE, RWF_NOWAIT
    assert judge(machine, "preadv2", 3, 0, 0, 0, 0, 0x80) == "ENOTSUP"
    assert judge(machine, "preadv2", 3, 0, 0, 0, 0, 0x08) == "allow"


@pytest.mark.parametrize("machine", MACHINES)
def test_no_call_has_two_rules(machine: str) -> None:
    """Each rule ends in a verdict, so that a second one would never be asked."""
    direct = seccomp.ARCHITECTURES[machine].direct
    for options in itertools.product((False, True), repeat=4):
        names = [name for name, _ in seccomp._argument_rules(*options, 77, direct)]
        assert len(names) == len(set(names))


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("mmap", (0, 0, 0, PRIVATE | ANONYMOUS | POPULATE)),
        ("mincore", ()),
        ("readahead", ()),
        ("utimensat", ()),
        ("fork", ()),
    ],
)
def test_calls_of_a_build(machine: str, name: str, arguments: tuple[int, ...]) -> None:
    """Nobody stops it between turns, so it may do what takes long; it sets the times of files."""
    options = {"single_process": False, "building": True}
    assert judge(machine, name, *arguments, **options) in ("allow", NO_SUCH_CALL)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("options", "flock", "record_lock"),
    [
        ({}, "EPERM", "EPERM"),
        ({"single_process": False, "metered_memory": True}, "EPERM", "EPERM"),
        ({"single_process": False, "building": True}, "allow", "EPERM"),
        ({"single_process": False, "building": True, "metered_memory": True}, "allow", "EPERM"),
    ],
)
def test_locks_of_a_build(
    machine: str, options: dict[str, bool], flock: str, record_lock: str
) -> None:
    """A whole file has one lock for each that opened it, its parts any number, counted nowhere."""
    assert judge(machine, "flock", **options) == flock
    assert judge(machine, "fcntl", 0, 6, **options) == record_lock  # F_SETLK


@pytest.mark.parametrize("machine", MACHINES)
def test_foreign_calls_are_not_there(machine: str) -> None:
    """Calls by way of another architecture's interface have other numbers, so none is allowed.

    None kills either: the kernel writes of each such end into its log.
    """
    program = seccomp.program(machine)
    others = {I386, ARM, *AUDIT.values()} - {AUDIT[machine]}
    assert {verdict(program, audit, 0) for audit in others} == {"ENOSYS"}
    x32_bit = 0x40000000
    assert verdict(program, AUDIT[machine], x32_bit | 0) == "ENOSYS"
    assert verdict(program, AUDIT[machine], 0xFFFFFFFF) == "ENOSYS"


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_of_later_kernels_are_not_there(machine: str) -> None:
    """What nobody looked at is answered as by a kernel that lacks it."""
    program = seccomp.program(machine)
    numbers = range(NEXT_AFTER_KNOWN, NEXT_AFTER_KNOWN + 100)
    assert {verdict(program, AUDIT[machine], number) for number in numbers} == {"ENOSYS"}
    assert verdict(program, AUDIT[machine], NEXT_AFTER_KNOWN - 1) == "EPERM"


@pytest.mark.parametrize("machine", MACHINES)
def test_jumps_stay_inside(machine: str) -> None:
    """No program is longer than the kernel takes, and each ends in a return."""
    for options in itertools.product((False, True), repeat=3):
        single, metered, bare = options
        program = seccomp.program(
            machine, single_process=single, metered_memory=metered, without_namespaces=bare
        )
        code = list(struct.iter_unpack("=HBBI", program))
        assert len(code) < 4096
        assert code[-1][0] == 0x06
        for at, (operation, if_true, if_false, _) in enumerate(code):
            if operation & 7 == 5:
                assert at + 1 + max(if_true, if_false) < len(code)


@pytest.mark.parametrize(
    ("machine", "header"),
    [
        ("x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
        ("aarch64", "/usr/include/asm-generic/unistd.h"),
    ],
)
def test_numbers_are_the_kernels(machine: str, header: str) -> None:
    """Every number of the tables stands in the kernel's header, and no name is missing there."""
    need(Path(header).exists(), f"{header} is not installed (linux-libc-dev)")
    found = re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", Path(header).read_text())
    numbers = {name: int(number) for name, number in found}
    known = seccomp.ARCHITECTURES[machine].calls
    assert known == {name: numbers[name] for name in known}
    groups = [
        value for name, value in vars(seccomp).items() if isinstance(value, str) and name.isupper()
    ]
    listed = {word for group in groups for word in group.split()}
    assert listed & numbers.keys() <= known.keys()
