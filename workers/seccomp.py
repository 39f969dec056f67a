"""The system calls a boxed bot may not make, as a program for the kernel's filter.

The namespaces are the first wall of a box and this filter is the second: it takes away what
no namespace covers (keyrings, io_uring, vsock, locks and watches on shared files, scheduling)
and what kernels had bugs in. It is a list of refusals, so that any language runs; but calls
newer than the tables below are answered with ENOSYS, as by an older kernel.

A program is a list of classic BPF instructions (linux/filter.h) over ``struct seccomp_data``:
the call's number, the processor's architecture and six arguments. Numbers are those of the
kernel's headers asm/unistd_64.h (x86_64) and asm-generic/unistd.h (aarch64). This module needs
the standard library alone and nothing of this package, since it is also loaded inside a box.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from errno import EAFNOSUPPORT, EINVAL, ENOSYS, ENOTTY, EOPNOTSUPP, EPERM

NEWEST_CALL = 450
"""The last call that was looked at for the tables, set_mempolicy_home_node of Linux 5.17."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """A processor as the filter sees it."""

    audit: int
    """AUDIT_ARCH_... of linux/audit.h."""
    direct: int
    """O_DIRECT of asm/fcntl.h."""
    calls: dict[str, int]
    """The numbers of the calls that are refused or looked into."""


def _numbers(table: str) -> dict[str, int]:
    words = (word.split("=") for word in table.split())
    return {name: int(number) for name, number in words}


# Groups of calls by the reason why no bot gets them; a name that a processor lacks is skipped.
OTHER_PROCESSES = """
    ptrace process_vm_readv process_vm_writev kcmp pidfd_open pidfd_getfd pidfd_send_signal
    process_madvise process_mrelease
"""
# No namespace divides these: through them two bots could meet.
SHARED_BY_ALL = """
    add_key request_key keyctl flock inotify_init inotify_init1 inotify_add_watch
    inotify_rm_watch fanotify_init fanotify_mark
"""
# Memory that is charged to no process, and that may outlive it; vmsplice keeps a huge page for
# each slot of a pipe, Landlock every rule that it is told, and a file in memory, as standard error
# is one, any number of values that are hung on it.
MEMORY_OF_NOBODY = """
    memfd_create memfd_secret shmget shmat shmctl shmdt msgget msgsnd msgrcv msgctl
    semget semop semctl semtimedop mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify
    mq_getsetattr vmsplice landlock_create_ruleset landlock_add_rule landlock_restrict_self
    setxattr lsetxattr fsetxattr
"""
# Filters of its own can have the kernel write into its log at every call.
KERNEL_LOG = """
    seccomp
"""
# Counted for the whole machine, or done to all its disks.
WHOLE_MACHINE = """
    io_setup sync syncfs
"""
# A timer's signal may be SIGCONT, and wake a bot that is stopped between its turns.
WAKING = """
    timer_create
"""
# A piece of the stack, moved and made longer, is still counted as stack: by no limit.
GROWING = """
    mremap
"""
# They run long in the kernel, where no stop is heeded before the end; none is of use to a game.
DEAF_TO_STOPS = """
    mincore remap_file_pages readahead
"""
# Large and often broken parts of the kernel that a game has no use for.
KERNEL = """
    io_uring_setup io_uring_enter io_uring_register bpf perf_event_open userfaultfd
    mount umount2 pivot_root chroot move_mount open_tree fsopen fsconfig fsmount fspick
    mount_setattr unshare setns name_to_handle_at open_by_handle_at
    init_module finit_module delete_module create_module query_module get_kernel_syms
    kexec_load kexec_file_load reboot swapon swapoff acct syslog quotactl quotactl_fd
    settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname iopl ioperm
    lookup_dcookie nfsservctl vhangup uselib _sysctl sysfs ustat modify_ldt personality
"""
# A bot keeps the processor, the priority and the memory that it was given.
SCHEDULING = """
    sched_setaffinity sched_setscheduler sched_setparam sched_setattr setpriority ioprio_set
    mbind set_mempolicy set_mempolicy_home_node migrate_pages move_pages
"""
# What Landlock leaves open (landlock(7) names them): changes to files that the user owns ...
FILE_MODES = """
    truncate chmod fchmod fchmodat chown fchown lchown fchownat utime utimes futimesat
    utimensat removexattr lremovexattr fremovexattr
"""
# ... and, before its sixth version, signals to the user's other processes.
SIGNALS = """
    kill tkill rt_sigqueueinfo rt_tgsigqueueinfo
"""
# A note that a bot could leave on a device that anybody may write to.
TIMES = """
    utime utimes futimesat utimensat
"""
# Names of sockets, of which the host's processes have theirs.
NAMES = """
    bind
"""

X86_64 = Architecture(
    0xC000003E,
    0x4000,
    _numbers(
        """
        ptrace=101 process_vm_readv=310 process_vm_writev=311 kcmp=312 pidfd_open=434
        pidfd_getfd=438 pidfd_send_signal=424 process_madvise=440 process_mrelease=448
        add_key=248 request_key=249 keyctl=250 flock=73 inotify_init=253
        inotify_init1=294 inotify_add_watch=254 inotify_rm_watch=255 fanotify_init=300
        fanotify_mark=301 memfd_create=319 memfd_secret=447 shmget=29 shmat=30 shmctl=31
        shmdt=67 msgget=68 msgsnd=69 msgrcv=70 msgctl=71 semget=64 semop=65 semctl=66
        semtimedop=220 mq_open=240 mq_unlink=241 mq_timedsend=242 mq_timedreceive=243
        mq_notify=244 mq_getsetattr=245 io_uring_setup=425 io_uring_enter=426
        io_uring_register=427 bpf=321 perf_event_open=298 userfaultfd=323 mount=165
        umount2=166 pivot_root=155 chroot=161 move_mount=429 open_tree=428 fsopen=430
        fsconfig=431 fsmount=432 fspick=433 mount_setattr=442 unshare=272 setns=308
        name_to_handle_at=303 open_by_handle_at=304 init_module=175 finit_module=313
        delete_module=176 create_module=174 query_module=178 get_kernel_syms=177
        kexec_load=246 kexec_file_load=320 reboot=169 swapon=167 swapoff=168 acct=163
        syslog=103 quotactl=179 quotactl_fd=443 settimeofday=164 clock_settime=227
        clock_adjtime=305 adjtimex=159 sethostname=170 setdomainname=171 iopl=172
        ioperm=173 lookup_dcookie=212 nfsservctl=180 vhangup=153 uselib=134 _sysctl=156
        sysfs=139 ustat=136 modify_ldt=154 personality=135 sched_setaffinity=203
        sched_setscheduler=144 sched_setparam=142 sched_setattr=314 setpriority=141
        ioprio_set=251 mbind=237 set_mempolicy=238 set_mempolicy_home_node=450
        migrate_pages=256 move_pages=279 truncate=76 chmod=90 fchmod=91 fchmodat=268
        chown=92 fchown=93 lchown=94 fchownat=260 utime=132 utimes=235 futimesat=261
        utimensat=280 setxattr=188 lsetxattr=189 fsetxattr=190 removexattr=197
        lremovexattr=198 fremovexattr=199 kill=62 tkill=200 tgkill=234
        rt_sigqueueinfo=129 rt_tgsigqueueinfo=297 fork=57 vfork=58 clone=56 clone3=435
        socket=41 socketpair=53 ioctl=16 fcntl=72 mmap=9 prctl=157 prlimit64=302
        setsockopt=54 vmsplice=278 io_setup=206 sync=162 syncfs=306 timer_create=222 mremap=25
        mincore=27 remap_file_pages=216 readahead=187
        bind=49 setrlimit=160 landlock_create_ruleset=444 landlock_add_rule=445
        landlock_restrict_self=446 close_range=436 fsync=74 fdatasync=75 msync=26
        seccomp=317 fadvise64=221 sync_file_range=277 madvise=28 open=2 openat=257 openat2=437
        preadv2=327
        """
    ),
)

AARCH64 = Architecture(
    0xC00000B7,
    0x10000,
    _numbers(
        """
        ptrace=117 process_vm_readv=270 process_vm_writev=271 kcmp=272 pidfd_open=434
        pidfd_getfd=438 pidfd_send_signal=424 process_madvise=440 process_mrelease=448
        add_key=217 request_key=218 keyctl=219 flock=32 inotify_init1=26
        inotify_add_watch=27 inotify_rm_watch=28 fanotify_init=262 fanotify_mark=263
        memfd_create=279 memfd_secret=447 shmget=194 shmat=196 shmctl=195 shmdt=197
        msgget=186 msgsnd=189 msgrcv=188 msgctl=187 semget=190 semop=193 semctl=191
        semtimedop=192 mq_open=180 mq_unlink=181 mq_timedsend=182 mq_timedreceive=183
        mq_notify=184 mq_getsetattr=185 io_uring_setup=425 io_uring_enter=426
        io_uring_register=427 bpf=280 perf_event_open=241 userfaultfd=282 mount=40
        umount2=39 pivot_root=41 chroot=51 move_mount=429 open_tree=428 fsopen=430
        fsconfig=431 fsmount=432 fspick=433 mount_setattr=442 unshare=97 setns=268
        name_to_handle_at=264 open_by_handle_at=265 init_module=105 finit_module=273
        delete_module=106 kexec_load=104 kexec_file_load=294 reboot=142 swapon=224
        swapoff=225 acct=89 syslog=116 quotactl=60 quotactl_fd=443 settimeofday=170
        clock_settime=112 clock_adjtime=266 adjtimex=171 sethostname=161
        setdomainname=162 lookup_dcookie=18 nfsservctl=42 vhangup=58 personality=92
        sched_setaffinity=122 sched_setscheduler=119 sched_setparam=118 sched_setattr=274
        setpriority=140 ioprio_set=30 mbind=235 set_mempolicy=237
        set_mempolicy_home_node=450 migrate_pages=238 move_pages=239 truncate=45
        fchmod=52 fchmodat=53 fchown=55 fchownat=54 utimensat=88 setxattr=5 lsetxattr=6
        fsetxattr=7 removexattr=14 lremovexattr=15 fremovexattr=16 kill=129 tkill=130
        tgkill=131 rt_sigqueueinfo=138 rt_tgsigqueueinfo=240 clone=220 clone3=435
        socket=198 socketpair=199 ioctl=29 fcntl=25 mmap=222 prctl=167 prlimit64=261
        setsockopt=208 vmsplice=75 io_setup=0 sync=81 syncfs=267 timer_create=107 mremap=216
        mincore=232 remap_file_pages=234 readahead=213
        bind=200 setrlimit=164 landlock_create_ruleset=444 landlock_add_rule=445
        landlock_restrict_self=446 close_range=436 fsync=82 fdatasync=83 msync=227
        seccomp=277 fadvise64=223 sync_file_range=84 madvise=233 openat=56 openat2=437
        preadv2=286
        """
    ),
)

ARCHITECTURES = {"x86_64": X86_64, "aarch64": AARCH64}
"""The architectures by the machine's name as os.uname() tells it."""

# linux/bpf_common.h
LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
EQUAL, GREATER, AT_LEAST, ANY_BIT = 0x15, 0x25, 0x35, 0x45  # BPF_JMP | ... | BPF_K
AND = 0x54  # BPF_ALU | BPF_AND | BPF_K
RETURN = 0x06  # BPF_RET | BPF_K
# linux/seccomp.h
ALLOW = 0x7FFF0000
ERRNO = 0x00050000
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data

AF_UNIX = 1
SOCK_TYPE, SOCK_STREAM, SOCK_SEQPACKET = 0xF, 1, 5
# Of SOL_SOCKET, the only level that sockets of AF_UNIX have.
SO_SNDBUF, SO_SNDBUFFORCE = 7, 32
CLONE_FILES, CLONE_THREAD = 0x00000400, 0x00010000
CLOSE_RANGE_UNSHARE = 2
MS_SYNC = 4
# CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
CLONE_NEW = 0x7E020000
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
# What terminals and pipes are asked; other numbers change files (FS_IOC_SETFLAGS), have the disk
# write what it has put off (FS_IOC_FIEMAP) or choose who gets a pipe's signals (FIOSETOWN).
IOCTL_KIND, TERMINALS = 0xFFFFFF00, 0x5400
# F_GETLK, F_SETLK, F_SETLKW, F_OFD_GETLK, F_OFD_SETLK, F_OFD_SETLKW
FCNTL_LOCKS = (5, 6, 7, 36, 37, 38)
# Sent in a loop by several threads it undoes a stop before all of them have met it.
SIGCONT = 18
# Where these calls name the signal.
SIGNAL_ARGUMENTS = {"kill": 1, "tkill": 1, "rt_sigqueueinfo": 1, "rt_tgsigqueueinfo": 2}
# F_SETLEASE, F_NOTIFY
FCNTL_WATCHES = (1024, 1026)
# F_SETSIG: of a pipe that the referee reads the signal may be SIGCONT, as a timer's.
FCNTL_WAKING = (10,)
# F_SETOWN, F_SETOWN_EX: a pipe that becomes ready can send a signal to anybody.
FCNTL_SIGNALS = (8, 15)
# F_GET_RW_HINT. The next, its setter, leaves a note on a file that one may only read; at later
# ones nobody looked.
NEWEST_COMMAND = 1035
F_SETFL = 4
RWF_DONTCACHE = 0x80
POSIX_FADV_DONTNEED = 4
# MADV_NORMAL, RANDOM, SEQUENTIAL, WILLNEED, DONTNEED, FREE, REMOVE, DONTFORK, DOFORK, HUGEPAGE,
# NOHUGEPAGE, DONTDUMP, DODUMP, WIPEONFORK, KEEPONFORK: what interpreters and libraries advise.
# Others throw files out of the cache (COLD, PAGEOUT), share pages with strangers (MERGEABLE), or go
# on for long after a stop (POPULATE_READ, POPULATE_WRITE, COLLAPSE). Those are answered as by an
# older kernel, and programs do without.
MADVICE = (0, 1, 2, 3, 4, 8, 9, 10, 11, 14, 15, 16, 17, 18, 19)
MAP_TYPE, MAP_SHARED, MAP_SHARED_VALIDATE, MAP_ANONYMOUS, MAP_GROWSDOWN = 0xF, 1, 3, 0x20, 0x100
MAP_HUGETLB = 0x40000
# Fills a whole map in one call, deaf to stops, as MADV_POPULATE_READ and _WRITE do.
MAP_POPULATE = 0x8000
# With the first a bot would outlive its worker, with the second have a core's twin stand idle.
PR_SET_PDEATHSIG, PR_SET_NAME, PR_SET_SECCOMP, PR_SCHED_CORE = 1, 15, 22, 62
# As for calls; a later one makes a table of locks in the kernel's memory, as large as one likes.
NEWEST_OPTION = PR_SCHED_CORE
# By it a bot is found that outlived its worker all the same.
RLIMIT_LOCKS = 10

Instruction = tuple[int, int, int, int]
"""Code, jump if true, jump if false, operand."""


def refuse(error: int) -> Instruction:
    """Answers the call with an error number; with 0 it says that it did what it did not."""
    return (RETURN, 0, 0, ERRNO | error)


def load_argument(number: int) -> Instruction:
    """Loads the lower half of an argument: that is all the kernel looks at in those used here."""
    return (LOAD, 0, 0, ARGUMENTS + 8 * number)


def program(
    machine: str,
    *,
    single_process: bool = True,
    metered_memory: bool = False,
    without_namespaces: bool = False,
    own_pid: int = 0,
    building: bool = False,
    file_modes: bool = False,
) -> bytes:
    """The filter for a bot, or for what builds one.

    Args:
        machine: the processor, a key of `ARCHITECTURES`.
        single_process: threads, but no further processes.
        metered_memory: a memory group counts all that the bot uses. Where none does, memory
            that RLIMIT_DATA does not count is refused: shared anonymous and growing maps, maps
            that are moved, larger buffers of sockets, and all sockets but connected pairs.
        without_namespaces: nothing but this filter and Landlock stands around the bot; then
            sockets, signals to others and changes of file metadata are refused as well.
        own_pid: the process that will run under the filter, needed ``without_namespaces``; it
            may signal itself, and 0 nobody.
        building: it is a build, which nobody stops between turns: calls that are deaf to stops are
            its own affair. Whole files may be locked; compilers do, to share what they keep.
        file_modes: metadata of files may be changed ``without_namespaces`` as well, because the
            user has none but those that it just made.

    Returns:
        The instructions as the kernel takes them, an array of ``struct sock_filter``.
    """
    architecture = ARCHITECTURES[machine]
    code: list[Instruction] = [
        (LOAD, 0, 0, ARCHITECTURE),
        # By the gate of another kind of programs numbers mean other calls. Nobody is killed for
        # that, since the kernel's log would say so each time, and a build can start any number.
        (EQUAL, 1, 0, architecture.audit),
        refuse(ENOSYS),
        (LOAD, 0, 0, NUMBER),
    ]
    # Their flags lie in memory, where no filter sees them; every libc falls back to older calls.
    for name in ("clone3", "openat2"):
        code += [(EQUAL, 0, 1, architecture.calls[name]), refuse(ENOSYS)]
    # Those of the x32 interface have the highest numbers of all.
    code += [(GREATER, 0, 1, NEWEST_CALL), refuse(ENOSYS)]
    refused = KERNEL_LOG + OTHER_PROCESSES + SHARED_BY_ALL + MEMORY_OF_NOBODY + KERNEL + SCHEDULING
    refused += WHOLE_MACHINE + WAKING
    if not metered_memory:
        refused += GROWING
    if single_process:
        refused += " fork vfork"
    if building:
        refused = refused.replace(" flock ", " ")
    else:
        refused += DEAF_TO_STOPS
    if without_namespaces:
        refused += NAMES + (SIGNALS if file_modes else FILE_MODES + SIGNALS)
    numbers = {architecture.calls[name] for name in refused.split() if name in architecture.calls}
    for first, last in _ranges(numbers):
        code += [(AT_LEAST, 0, 2, first), (GREATER, 1, 0, last), refuse(EPERM)]
    rules = _argument_rules(
        single_process, metered_memory, without_namespaces, building, own_pid, architecture.direct
    )
    for name, rule in rules:
        if name not in architecture.calls:
            continue
        # Each rule reloads the accumulator and ends in a verdict, or falls through to ALLOW.
        body = [*rule, (RETURN, 0, 0, ALLOW)]
        code += [(EQUAL, 0, len(body), architecture.calls[name]), *body]
    code.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in code)


def _argument_rules(
    single_process: bool,
    metered_memory: bool,
    without_namespaces: bool,
    building: bool,
    own_pid: int,
    direct: int,
) -> Iterator[tuple[str, list[Instruction]]]:
    """Calls whose arguments decide."""
    flags = load_argument(0)
    clone = [flags, (ANY_BIT, 0, 1, CLONE_NEW), refuse(EPERM)]
    if single_process:
        clone += [(ANY_BIT, 1, 0, CLONE_THREAD), refuse(EPERM)]
    # With a table of files of its own each thread would have as many as the limit allows.
    clone += [(ANY_BIT, 0, 2, CLONE_THREAD), (ANY_BIT, 1, 0, CLONE_FILES), refuse(EPERM)]
    yield "clone", clone
    own_files = [load_argument(2), (ANY_BIT, 0, 1, CLOSE_RANGE_UNSHARE), refuse(EPERM)]
    yield "close_range", own_files
    only_unix = [flags, (EQUAL, 1, 0, AF_UNIX), refuse(EAFNOSUPPORT)]
    # Without namespaces a name leads to the host's sockets. And what was sent to one that has a
    # name is kept after the sender was closed, so that no limit on open files bounds it.
    only_pairs = without_namespaces or not metered_memory
    yield "socket", [refuse(EAFNOSUPPORT)] if only_pairs else only_unix
    # A socket for datagrams may write to any that has a name.
    connected = [load_argument(1), (AND, 0, 0, SOCK_TYPE), (EQUAL, 2, 0, SOCK_STREAM)]
    connected += [(EQUAL, 1, 0, SOCK_SEQPACKET), refuse(EPERM)]
    yield "socketpair", [*only_unix, *(connected if only_pairs else ())]
    command = load_argument(1)
    terminals = [command, (AND, 0, 0, IOCTL_KIND), (EQUAL, 1, 0, TERMINALS), refuse(ENOTTY)]
    yield "ioctl", [*terminals, command, *_equal_any(TIOCSTI, TIOCLINUX)]
    signals = FCNTL_SIGNALS if without_namespaces else ()
    # Of locks on parts of a file the kernel keeps any number, and no memory group counts them.
    refused = (*FCNTL_LOCKS, *FCNTL_WATCHES, *FCNTL_WAKING, *signals)
    newer = [(GREATER, 0, 1, NEWEST_COMMAND), refuse(EPERM)]
    # Past the cache every reading has the disk work, and write first what it has put off.
    past_cache = [(ANY_BIT, 0, 1, direct), refuse(EINVAL)]
    setting = [(EQUAL, 0, 4, F_SETFL), load_argument(2), *past_cache, (RETURN, 0, 0, ALLOW)]
    yield "fcntl", [command, *newer, *_equal_any(*refused), *setting]
    yield "open", [load_argument(1), *past_cache]
    yield "openat", [load_argument(2), *past_cache]
    yield "preadv2", [load_argument(5), (ANY_BIT, 0, 1, RWF_DONTCACHE), refuse(EOPNOTSUPP)]
    # What all need of the system's files is thrown out of the cache by any who may read them.
    yield "fadvise64", [load_argument(3), *_equal_any(POSIX_FADV_DONTNEED)]
    known = [(EQUAL, len(MADVICE) - number, 0, one) for number, one in enumerate(MADVICE)]
    yield "madvise", [load_argument(2), *known, refuse(EINVAL)]
    # Huge pages come out of the machine's pool, which no memory group counts.
    maps = [load_argument(3), (ANY_BIT, 0, 1, MAP_HUGETLB), refuse(EPERM)]
    if not building:
        maps += [(ANY_BIT, 0, 1, MAP_POPULATE), refuse(EPERM)]
    if not metered_memory:
        maps += [
            (ANY_BIT, 0, 1, MAP_GROWSDOWN),
            refuse(EPERM),
            (ANY_BIT, 0, 4, MAP_ANONYMOUS),
            (AND, 0, 0, MAP_TYPE),
            (EQUAL, 1, 0, MAP_SHARED),
            (EQUAL, 0, 1, MAP_SHARED_VALIDATE),
            refuse(EPERM),
        ]
        yield "setsockopt", [load_argument(2), *_equal_any(SO_SNDBUF, SO_SNDBUFFORCE)]
    yield "mmap", maps
    # Even for a file that one may only read the disk writes all that it has put off. Nothing of a
    # bot's or a build's is to outlast a crash of the machine.
    unneeded = "fsync fdatasync sync_file_range" + ("" if building else TIMES)
    for name in unneeded.split():
        yield name, [refuse(0)]
    yield "msync", [load_argument(2), (ANY_BIT, 0, 1, MS_SYNC), refuse(0)]
    options = [(GREATER, 0, 1, NEWEST_OPTION), refuse(EINVAL)]
    # Its name stands in the kernel's log if it crashes, line breaks and all.
    options += [(EQUAL, 0, 1, PR_SET_NAME), refuse(0)]
    yield "prctl", [flags, *options, *_equal_any(PR_SET_PDEATHSIG, PR_SET_SECCOMP, PR_SCHED_CORE)]
    yield "setrlimit", [flags, *_equal_any(RLIMIT_LOCKS)]
    its_own = [flags, (EQUAL, 1, 0, 0), refuse(EPERM)]
    limits = [load_argument(1), *_equal_any(RLIMIT_LOCKS)]
    yield "prlimit64", [*(its_own if without_namespaces else ()), *limits]
    # Processes that may be several are frozen by their group.
    waking = tuple(_equal_any(SIGCONT)) if single_process else ()
    for name, number in SIGNAL_ARGUMENTS.items():
        yield name, [load_argument(number), *waking]
    only_itself = [flags, (EQUAL, 1, 0, own_pid), refuse(EPERM)]
    yield "tgkill", [*(only_itself if without_namespaces else ()), load_argument(2), *waking]


def _equal_any(*values: int) -> Iterator[Instruction]:
    """Refuses any of these values."""
    for value in values:
        yield from ((EQUAL, 0, 1, value), refuse(EPERM))


def _ranges(numbers: set[int]) -> Iterator[tuple[int, int]]:
    """Runs of consecutive numbers, first and last, in order."""
    ordered = sorted(numbers)
    first = last = ordered[0]
    for number in ordered[1:]:
        if number != last + 1:
            yield first, last
            first = number
        last = number
    yield first, last
