"""A slow, plain interpreter of the kernel's filter programs, for tests.

After the description of classic BPF in the kernel's Documentation/networking/filter.rst; the
operations are those that linux/seccomp.h's users may use and our filter does use.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from errno import errorcode


def verdict(program: bytes, audit: int, number: int, arguments: Sequence[int] = ()) -> str:
    """What the kernel would do with a call: ``allow``, or an error's name.

    ``done`` is said of a call that is left out, and answered as if it had been made.

    Args:
        program: an array of ``struct sock_filter``.
        audit: the architecture.
        number: of the call.
        arguments: up to six of 64 bits; the others are 0.
    """
    padded = [*arguments, *[0] * (6 - len(arguments))]
    # struct seccomp_data: nr, arch, instruction pointer, arguments
    data = struct.pack("=iIQ6Q", number - (number >> 31 << 32), audit, 0, *padded)
    code = list(struct.iter_unpack("=HBBI", program))
    assert len(code) <= 4096
    accumulator = at = 0
    while True:
        operation, if_true, if_false, operand = code[at]
        at += 1
        if operation == 0x20:  # A = data[k]
            assert operand % 4 == 0
            (accumulator,) = struct.unpack_from("=I", data, operand)
        elif operation == 0x54:  # A &= k
            accumulator &= operand
        elif operation == 0x06:  # return k
            return _name(operand)
        else:
            holds = {
                0x15: accumulator == operand,
                0x25: accumulator > operand,
                0x35: accumulator >= operand,
                0x45: accumulator & operand != 0,
            }[operation]
            at += if_true if holds else if_false


def _name(value: int) -> str:
    """A filter's return value in a word; see linux/seccomp.h."""
    action, data = value & 0xFFFF0000, value & 0xFFFF
    if action == 0x00050000:
        return errorcode[data] if data else "done"
    assert action == 0x7FFF0000
    return "allow"
