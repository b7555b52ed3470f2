"""Turns into a command for which the kernel has no IPv6: socket(AF_INET6) fails, as it does after booting with ipv6.disable=1."""

import ctypes
import os
import struct
import sys

# Of each architecture: its number for seccomp, and that of the system call `socket`.
ARCHITECTURES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
AF_INET6 = 10
EAFNOSUPPORT = 97
PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
PR_SET_NO_NEW_PRIVS = 38
# Instructions, and where they look: offsets in struct seccomp_data.
LOAD, JUMP_UNLESS_EQUAL, RETURN = 0x20, 0x15, 0x06
CALL, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
REFUSE, ALLOW = 0x00050000, 0x7FFF0000

if os.uname().machine not in ARCHITECTURES:
    sys.exit(f"no filter is known for {os.uname().machine}")
architecture, socket_call = ARCHITECTURES[os.uname().machine]
# Code, jump if equal, jump if not, operand.
steps = [
    (LOAD, 0, 0, ARCHITECTURE),
    (JUMP_UNLESS_EQUAL, 0, 5, architecture),
    (LOAD, 0, 0, CALL),
    (JUMP_UNLESS_EQUAL, 0, 3, socket_call),
    (LOAD, 0, 0, FIRST_ARGUMENT),
    (JUMP_UNLESS_EQUAL, 0, 1, AF_INET6),
    (RETURN, 0, 0, REFUSE | EAFNOSUPPORT),
    (RETURN, 0, 0, ALLOW),
]
code = b"".join(struct.pack("HBBI", *step) for step in steps)


class Program(ctypes.Structure):
    """struct sock_fprog"""

    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


libc = ctypes.CDLL(None, use_errno=True)
program = Program(len(steps), code)
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
    PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0
):
    sys.exit(os.strerror(ctypes.get_errno()))
os.execvp(sys.argv[1], sys.argv[1:])
