#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Work on a mount, and check that no data is lost or changed.

    workload.py WORKLOAD DIRECTORY [SERVER-DIRECTORY]

DIRECTORY is on the mount, and empty or absent. If the server runs in this guest,
SERVER-DIRECTORY is the server's name of the same directory. Compares the written data there,
and again on the mount after dropping the client's caches.
"""

import contextlib
import errno
import fcntl
import mmap
import os
import random
import struct
import sys
import time

CHUNK = 100003  # for reading: a prime, so that reads straddle everything
MIB = 1 << 20


def pattern(seed, size):
    """The octets for a seed; the same each time"""
    return random.Random(str(seed)).randbytes(size)


def write_all(fd, data, offset):
    view = memoryview(data)
    while view:
        done = os.pwrite(fd, view, offset)
        view, offset = view[done:], offset + done


def write_file(path, data):
    with open(path, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def read_file(path):
    parts = []
    with open(path, "rb", buffering=0) as file:
        while part := file.read(CHUNK):
            parts.append(part)
    return b"".join(parts)


def read_direct(path, size, offset=0, shift=0):
    """Read with O_DIRECT, to memory that begins @shift octets behind a page's start."""
    memory = mmap.mmap(-1, size + shift)
    fd = os.open(path, os.O_RDONLY | os.O_DIRECT)
    try:
        done = 0
        while done < size:
            view = memoryview(memory)[shift + done:shift + size]
            more = os.preadv(fd, [view], offset + done)
            view.release()
            if not more:
                break
            done += more
        return memory[shift:shift + done]
    finally:
        os.close(fd)


def drop_caches():
    os.sync()
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("3\n")


def same(what, data, expected):
    if data == expected:
        return
    where = next((i for i, (a, b) in enumerate(zip(data, expected)) if a != b),
                 min(len(data), len(expected)))
    sys.exit(f"{what}: {len(data)} octets instead of {len(expected)}, "
             f"or different from octet {where} on")


def check_that(condition, complaint):
    if not condition:
        sys.exit(complaint)


def views(directory, server):
    """Yield each view of a directory to compare, and drop the caches first."""
    if server:
        yield server
    drop_caches()
    yield directory


def in_children(count, function):
    """Run function(number) in processes of their own; all must succeed."""
    children = []
    for number in range(count):
        child = os.fork()
        if not child:
            status = 1
            try:
                function(number)
                status = 0
            finally:
                os._exit(status)
        children.append(child)
    for child in children:
        check_that(os.waitpid(child, 0)[1] == 0, "a child process failed")


# Workloads

def files(directory, server):
    """Write many small files, and some whose sizes no chunk size divides."""
    sizes = [n * n % 9973 for n in range(150)]
    sizes += [0, 1, 3, 4096, 65535, 65537, MIB - 1, MIB, 2 * MIB + 12345]
    for number, size in enumerate(sizes):
        path = f"{directory}/{number % 7}"
        os.makedirs(path, exist_ok=True)
        with open(f"{path}/{number}", "wb") as file:
            file.write(pattern(number, size))
    os.sync()
    for view in views(directory, server):
        for number, size in enumerate(sizes):
            path = f"{view}/{number % 7}/{number}"
            same(path, read_file(path), pattern(number, size))


def offsets(directory, server):
    """Write and read at odd offsets, with odd lengths, past 1 MiB. Use the page cache, and also
    O_DIRECT with memory that is not aligned."""
    rng = random.Random(1)
    image = bytearray(pattern(0, 3 * MIB + 777))
    lengths = [1, 3, 511, 4095, 4096, 4097, 8192, 12289, 65535, 262147, MIB + 5]
    path = f"{directory}/offsets"
    cached = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    direct = os.open(path, os.O_RDWR | os.O_DIRECT)
    # No holes: nfsd of Linux 6.1 reads holes of a tmpfs wrongly, over TCP as well.
    write_all(cached, image, 0)
    for number in range(66):
        length = lengths[number % len(lengths)]
        offset = rng.randrange(len(image) - length)
        data = pattern(number, length)
        # Python's bytes objects begin with a header, so the data are not aligned.
        write_all(direct if number % 3 == 2 else cached, data, offset)
        image[offset:offset + length] = data
    os.fsync(cached)
    os.close(direct)
    os.close(cached)
    for view in views(directory, server):
        same(f"{view}/offsets", read_file(f"{view}/offsets"), image)
    for number in range(44):
        length = lengths[number % len(lengths)]
        offset = rng.randrange(len(image))
        same(f"O_DIRECT {length}@{offset}",
             read_direct(path, length, offset, rng.randrange(4096)),
             image[offset:offset + length])


def names(directory, server):
    """Fill a directory, so that its listing is long, with symbolic links to long targets."""
    wanted = {f"{number:03d}{'-name' * 20}" for number in range(200)}
    for name in wanted:
        os.symlink(name * 30, f"{directory}/{name}")
    for view in views(directory, server):
        check_that(set(os.listdir(view)) == wanted, f"{view}: not the listing")
        for name in sorted(wanted)[::10]:
            same(f"link {view}/{name}", os.readlink(f"{view}/{name}"), name * 30)


def storm(directory, server):
    """Create, link, rename and unlink files in one directory, in several processes."""
    def work(number):
        rng = random.Random(number)
        for step in range(40):
            name = f"{directory}/{number}"
            with open(f"{name}.new", "wb") as file:
                file.write(pattern((number, step), 100))
            os.link(f"{name}.new", f"{name}.link")
            os.rename(f"{name}.new", f"{name}.{step % 5}")
            os.unlink(f"{name}.link")
            os.mkdir(f"{name}.dir")
            os.rename(f"{name}.dir", f"{name}.other")
            os.rmdir(f"{name}.other")
            if rng.randrange(4) == 0:
                os.unlink(f"{name}.{step % 5}")
                with open(f"{name}.{step % 5}", "wb") as file:
                    file.write(pattern((number, step), 100))

    in_children(3, work)
    wanted = {f"{n}.{i}": pattern((n, 35 + i), 100)
              for n in range(3) for i in range(5)}
    for view in views(directory, server):
        check_that(set(os.listdir(view)) == set(wanted), f"{view}: not the listing")
        for name, data in wanted.items():
            same(f"{view}/{name}", read_file(f"{view}/{name}"), data)


def parallel(directory, server):
    """Write and read small pieces of files past the caches, in several processes. Each process
    has its own file, so no RPC waits for a directory."""
    count, size, steps = 12, 65536, 40

    def image(number, fd=None):
        rng = random.Random(number)
        data = bytearray(pattern(number, size))
        for step in range(steps):
            piece = pattern((number, step), rng.randrange(1, 3000))
            offset = rng.randrange(size - len(piece))
            data[offset:offset + len(piece)] = piece
            if fd is not None:
                write_all(fd, piece, offset)
                same(f"{directory}/{number}, step {step}",
                     os.pread(fd, len(piece), offset), piece)
        return data

    def work(number):
        write_file(f"{directory}/{number}", pattern(number, size))
        fd = os.open(f"{directory}/{number}", os.O_RDWR | os.O_DIRECT)
        image(number, fd)
        os.close(fd)

    in_children(count, work)
    for view in views(directory, server):
        for number in range(count):
            same(f"{view}/{number}", read_file(f"{view}/{number}"), image(number))


def is_refused(lock, *arguments):
    """Return: True if another process holds this lock."""
    try:
        lock(*arguments)
        return False
    except OSError as error:
        if error.errno in (errno.EAGAIN, errno.EACCES):
            return True
        raise


def in_child(function):
    """Return: the function's result. It runs in its own process, which has no locks yet."""
    child = os.fork()
    if not child:
        status = 2
        try:
            status = 0 if function() else 1
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    check_that(status in (0, 1), "a child process failed")
    return status == 0


def range_refused(path, start, length):
    """Return: True if another process can't lock this range."""
    def attempt():
        with open(path, "r+b") as file:
            return is_refused(fcntl.lockf, file, fcntl.LOCK_EX | fcntl.LOCK_NB,
                              length, start)

    return in_child(attempt)


def flock_refused(path):
    def attempt():
        with open(path, "r+b") as file:
            return is_refused(fcntl.flock, file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    return in_child(attempt)


def locks(directory, server):
    """Lock byte ranges and whole files in two processes, and check that the server knows the
    locks. Then two processes count under a lock."""
    path = f"{directory}/locks"
    write_file(path, bytes(100))
    with open(path, "r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX, 10, 20)
        for view in [directory] + ([server] if server else []):
            check_that(range_refused(f"{view}/locks", 25, 1),
                       f"{view}: a locked range can be locked")
            check_that(not range_refused(f"{view}/locks", 30, 10),
                       f"{view}: a free range can't be locked")
        fcntl.lockf(file, fcntl.LOCK_UN, 10, 20)
        check_that(not range_refused(path, 20, 10), "an unlocked range is locked")
    with open(path, "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        check_that(flock_refused(path), "a locked file can be locked")
        check_that(not server or range_refused(f"{server}/locks", 0, 1),
                   "the server knows nothing of the client's flock")
        fcntl.flock(file, fcntl.LOCK_UN)
        check_that(not flock_refused(path), "an unlocked file is locked")
    wait_for_lock(path)
    count(path)


def count(path):
    write_file(path, struct.pack("Q", 0))

    def work(_):
        with open(path, "r+b", buffering=0) as file:
            for _ in range(20):
                while is_refused(fcntl.lockf, file,
                                 fcntl.LOCK_EX | fcntl.LOCK_NB, 8):
                    time.sleep(0.005)
                number = struct.unpack("Q", os.pread(file.fileno(), 8, 0))[0]
                os.pwrite(file.fileno(), struct.pack("Q", number + 1), 0)
                fcntl.lockf(file, fcntl.LOCK_UN, 8)

    in_children(2, work)
    number = struct.unpack("Q", read_file(path))[0]
    check_that(number == 40, f"the counter is {number}, not 40")


def wait_for_lock(path):
    """Check that a process sleeps until another one gives the lock back."""
    with open(path, "r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        child = os.fork()
        if not child:
            with open(path, "r+b") as mine:
                fcntl.lockf(mine, fcntl.LOCK_EX)
            os._exit(0)
        time.sleep(0.3)
        check_that(os.waitpid(child, os.WNOHANG) == (0, 0),
                   "a lock that is held was given to another")
        fcntl.lockf(file, fcntl.LOCK_UN)
    check_that(os.waitpid(child, 0)[1] == 0, "the process that waited failed")


def sparse(directory, server):
    """Use holes, and copies that the server makes, which only NFS 4.2 has."""
    data = pattern(0, 2 * MIB + 99)
    write_file(f"{directory}/source", data)
    source = os.open(f"{directory}/source", os.O_RDONLY)
    target = os.open(f"{directory}/target", os.O_RDWR | os.O_CREAT, 0o644)
    done = 0
    while done < len(data):
        done += os.copy_file_range(source, target, len(data) - done, done, done)
    os.fsync(target)
    hole = os.open(f"{directory}/hole", os.O_RDWR | os.O_CREAT, 0o644)
    os.pwrite(hole, b"end", 5 * MIB)
    os.fsync(hole)
    check_that(os.lseek(hole, 0, os.SEEK_DATA) >= 4 * MIB, "no hole is seen")
    os.posix_fallocate(hole, 0, 6 * MIB)
    for fd in (source, target, hole):
        os.close(fd)
    for view in views(directory, server):
        same(f"{view}/target", read_file(f"{view}/target"), data)
        same(f"{view}/hole", read_file(f"{view}/hole"),
             bytes(5 * MIB) + b"end" + bytes(MIB - 3))


def acl(directory, server):
    """Use POSIX ACLs, which only NFS 3 has, as an RPC program of their own."""
    everyone = 0xffffffff
    entries = [(1, 7, everyone), (2, 5, 1000), (4, 4, everyone),
               (16, 5, everyone), (32, 0, everyone)]
    value = struct.pack("<I", 2)
    value += b"".join(struct.pack("<HHI", *entry) for entry in entries)
    write_file(f"{directory}/acl", b"")
    os.setxattr(f"{directory}/acl", "system.posix_acl_access", value)
    for view in views(directory, server):
        got = os.getxattr(f"{view}/acl", "system.posix_acl_access")
        same(f"ACL of {view}/acl", got, value)


def load(directory, _):
    """Write, read and rename until DIRECTORY/stop exists. There may be no error and no wrong
    octet, even if the server or the network fails.
    Environment variables: LOAD_PAUSE has the seconds between rounds. LOAD_FORGETFUL says that
    the server restarts, and then forgets the last RPCs that it executed. When the client sends a
    RENAME or REMOVE again, the server may not find the file. The reads still check the result."""
    rng = random.Random(2)
    pause = float(os.environ.get("LOAD_PAUSE", "0"))
    done_already = [FileNotFoundError] if "LOAD_FORGETFUL" in os.environ else []
    alive = {}
    longest = step = 0
    while not os.path.exists(f"{directory}/stop"):
        start = time.monotonic()
        size = rng.choice([100, 4096, 40001, 262144])
        path = f"{directory}/{step}"
        write_file(f"{path}.new", pattern(step, size))
        with contextlib.suppress(*done_already):
            os.rename(f"{path}.new", path)
        alive[step] = size
        again = rng.choice(list(alive))
        same(f"{directory}/{again}",
             read_direct(f"{directory}/{again}", alive[again]),
             pattern(again, alive[again]))
        if len(alive) > 30:
            victim = rng.choice(list(alive))
            with contextlib.suppress(*done_already):
                os.unlink(f"{directory}/{victim}")
            del alive[victim]
        longest = max(longest, time.monotonic() - start)
        step += 1
        # Replace the file in one step, because others may read it at any time.
        with open("/run/load.rounds.new", "w", encoding="ascii") as file:
            file.write(f"{step}\n")
        os.rename("/run/load.rounds.new", "/run/load.rounds")
        time.sleep(pause)
    drop_caches()
    for number, size in alive.items():
        same(f"{directory}/{number}", read_file(f"{directory}/{number}"),
             pattern(number, size))
    print(f"load: {step} rounds, the longest took {longest:.1f} s")
    check_that(step > 0, "load: not one round")


WORKLOADS = {function.__name__: function for function in
             (files, offsets, names, storm, parallel, locks, sparse, acl, load)}


def main():
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in WORKLOADS:
        sys.exit(f"{__doc__}\nWORKLOAD: {' '.join(WORKLOADS)}")
    directory = sys.argv[2]
    server = sys.argv[3] if len(sys.argv) > 3 else None
    os.makedirs(directory, exist_ok=True)
    start = time.monotonic()
    WORKLOADS[sys.argv[1]](directory, server)
    print(f"{sys.argv[1]}: {time.monotonic() - start:.1f} s")


if __name__ == "__main__":
    main()
