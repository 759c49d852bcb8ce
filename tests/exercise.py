#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""Do random operations on files of a mount, and compare each with a model in memory.

    exercise.py DIRECTORY SERVER-DIRECTORY SEED KIND...

Each KIND is a process with its own file or tree of files:

    buffered    read, write, truncate, punch holes, copy, sync
    direct      the same with O_DIRECT, at any offset and of any length
    synced      the same with O_SYNC
    reopened    the same as buffered, but reopen the file after each operation
    mapped      read and write the file by mmap()
    tree        create, rename, link and remove files; create directories

The processes run until /run/exercise.stop exists. Each process writes its number of operations
to /run/exercise.KIND. At the end, the server's file must be equal to the model, too. A process
that finds a difference prints its last operations.
"""

import collections
import ctypes
import mmap
import os
import random
import sys

from workload import drop_caches, in_children, read_file, write_all

SIZE = 1 << 20
LONGEST = 160 << 10
KEEP_SIZE, PUNCH_HOLE = 1, 2

libc = ctypes.CDLL(None, use_errno=True)
libc.fallocate.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64]


def punch(fd, offset, length):
    if libc.fallocate(fd, KEEP_SIZE | PUNCH_HOLE, offset, length):
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))


class Log:
    """The number of operations, and the last ones"""

    def __init__(self, kind):
        self.kind = kind
        self.path = f"/run/exercise.{kind}"
        self.last = collections.deque(maxlen=30)
        self.count = 0

    def add(self, *operation):
        self.last.append(operation)
        self.count += 1
        if self.count % 16 == 0:
            self.save()

    def save(self):
        # Replace the file in one step, because exercise.sh may read it at any time.
        with open(f"{self.path}.new", "w", encoding="ascii") as file:
            print(self.count, file=file)
        os.rename(f"{self.path}.new", self.path)

    def fail(self, what):
        print(f"{self.kind}, operation {self.count}: {what}; the last ones:", file=sys.stderr)
        for operation in self.last:
            print("   ", *operation, file=sys.stderr)
        sys.exit(1)


class File:
    """A file, and a model of its contents"""

    FLAGS = {"direct": os.O_DIRECT, "synced": os.O_SYNC}

    def __init__(self, directory, server, kind, rng):
        self.path = os.path.join(directory, kind)
        self.at_server = os.path.join(server, kind)
        self.kind, self.rng, self.log = kind, rng, Log(kind)
        self.model = bytearray()
        self.fd = None
        self.open(os.O_CREAT)

    def open(self, flags=0):
        self.fd = os.open(self.path, os.O_RDWR | flags | self.FLAGS.get(self.kind, 0))

    def reopen(self):
        self.log.add("reopen")
        os.close(self.fd)
        self.open()

    def range(self, end):
        offset = self.rng.randrange(end)
        return offset, self.rng.randint(1, min(LONGEST, end - offset))

    def compare(self, data, offset, length, where):
        expected = bytes(self.model[offset:offset + length])
        if data == expected:
            return
        if len(data) != len(expected):
            self.log.fail(f"{where}: {len(data)} octets at {offset}, not {len(expected)}")
        at = next(i for i, (a, b) in enumerate(zip(data, expected)) if a != b)
        count = sum(a != b for a, b in zip(data, expected))
        self.log.fail(f"{where}: {count} octets differ, the first at {offset + at}: "
                      f"{data[at]} is not {expected[at]}")

    def read(self):
        if not self.model:
            return
        offset, length = self.range(len(self.model))
        self.log.add("read", offset, length)
        memory = mmap.mmap(-1, length + 7)
        view = memoryview(memory)
        shift = self.rng.randrange(8)
        done = 0
        while done < length:
            got = os.preadv(self.fd, [view[shift + done:shift + length]], offset + done)
            if not got:
                break
            done += got
        self.compare(bytes(view[shift:shift + done]), offset, length, "read")

    def extend(self, end):
        if end > len(self.model):
            self.model.extend(bytes(end - len(self.model)))

    def write(self):
        offset, length = self.range(SIZE)
        self.log.add("write", offset, length)
        data = self.rng.randbytes(length)
        write_all(self.fd, data, offset)
        self.extend(offset + length)
        self.model[offset:offset + length] = data

    def truncate(self):
        size = self.rng.randrange(SIZE)
        self.log.add("truncate", size)
        os.ftruncate(self.fd, size)
        del self.model[size:]
        self.extend(size)

    def punch(self):
        if not self.model:
            return
        offset, length = self.range(len(self.model))
        self.log.add("punch", offset, length)
        punch(self.fd, offset, length)
        self.model[offset:offset + length] = bytes(length)

    def copy(self):
        """Copy within the file; with NFSv4.2, the server copies."""
        if len(self.model) < 2:
            return
        half = len(self.model) // 2
        offset, length = self.range(half)
        to = half + self.rng.randrange(SIZE - half)
        length = min(length, SIZE - to)
        self.log.add("copy", offset, to, length)
        done = 0
        while done < length:
            got = os.copy_file_range(self.fd, self.fd, length - done, offset + done, to + done)
            if not got:
                self.log.fail(f"copied {done} of {length} octets")
            done += got
        self.extend(to + length)
        self.model[to:to + length] = self.model[offset:offset + length]

    def sync(self):
        self.log.add("sync")
        os.fsync(self.fd)

    def read_all(self):
        self.log.add("read all")
        self.compare(read_file(self.path), 0, len(self.model), "the file")

    def step(self):
        operation = self.rng.choices(
            [self.read, self.write, self.truncate, self.punch, self.copy, self.sync],
            [40, 40, 4, 5, 5, 6])[0]
        operation()
        if self.kind == "reopened":
            self.reopen()
        elif self.log.count % 100 == 0:
            self.sync()
            self.read_all()

    def finish(self):
        os.fsync(self.fd)
        os.close(self.fd)
        drop_caches()
        self.read_all()
        self.compare(read_file(self.at_server), 0, len(self.model), "at the server")
        self.log.save()


class Mapped(File):
    def step(self):
        if self.rng.random() < 0.1 or not self.model:
            self.truncate()
            return
        offset, length = self.range(len(self.model))
        with mmap.mmap(self.fd, len(self.model)) as memory:
            if self.rng.random() < 0.5:
                self.log.add("load", offset, length)
                self.compare(memory[offset:offset + length], offset, length, "mapped")
            else:
                self.log.add("store", offset, length)
                data = self.rng.randbytes(length)
                memory[offset:offset + length] = data
                self.model[offset:offset + length] = data
            if self.rng.random() < 0.1:
                memory.flush()


class Tree:
    """Directories and files; the model is the set of their paths."""

    def __init__(self, directory, server, kind, rng):
        self.root, self.at_server = os.path.join(directory, kind), os.path.join(server, kind)
        self.rng, self.log, self.count = rng, Log(kind), 0
        os.mkdir(self.root)
        self.dirs, self.files = [self.root], []

    def new_path(self):
        self.count += 1
        return os.path.join(self.rng.choice(self.dirs), str(self.count))

    def create(self):
        path = self.new_path()
        self.log.add("create", path)
        with open(path, "xb") as file:
            file.write(path.encode())
        self.files.append(path)

    def make_directory(self):
        if len(self.dirs) > 20:
            return
        path = self.new_path()
        self.log.add("mkdir", path)
        os.mkdir(path)
        self.dirs.append(path)

    def take_file(self):
        return self.files.pop(self.rng.randrange(len(self.files)))

    def rename(self):
        if self.files:
            old, new = self.take_file(), self.new_path()
            self.log.add("rename", old, new)
            os.rename(old, new)
            self.files.append(new)

    def link(self):
        if self.files:
            old, new = self.rng.choice(self.files), self.new_path()
            self.log.add("link", old, new)
            os.link(old, new)
            self.files.append(new)

    def remove(self):
        if self.files:
            path = self.take_file()
            self.log.add("remove", path)
            os.unlink(path)

    def step(self):
        self.rng.choices([self.create, self.make_directory, self.rename, self.link, self.remove],
                         [30, 3, 20, 15, 32 if len(self.files) < 200 else 90])[0]()
        if self.log.count % 100 == 0:
            self.compare(self.root)

    def compare(self, root):
        found = {os.path.relpath(os.path.join(where, name), root)
                 for where, _, names in os.walk(root) for name in names}
        expected = {os.path.relpath(path, self.root) for path in self.files}
        if found != expected:
            self.log.fail(f"{root}: lacks {expected - found}, has {found - expected} in addition")

    def finish(self):
        self.compare(self.root)
        self.compare(self.at_server)
        self.log.save()


def run(directory, server, seed, kind):
    rng = random.Random(f"{seed} {kind}")
    model = {"mapped": Mapped, "tree": Tree}.get(kind, File)(directory, server, kind, rng)
    while not os.path.exists("/run/exercise.stop"):
        model.step()
    model.finish()
    print(f"{kind}: {model.log.count} operations, no difference", flush=True)


KINDS = ["buffered", "direct", "synced", "reopened", "mapped", "tree"]


def main():
    if len(sys.argv) < 5 or not set(sys.argv[4:]) <= set(KINDS):
        sys.exit(__doc__)
    directory, server, seed = sys.argv[1:4]
    kinds = sys.argv[4:]
    os.makedirs(directory, exist_ok=True)
    in_children(len(kinds), lambda number: run(directory, server, seed, kinds[number]))


if __name__ == "__main__":
    main()
