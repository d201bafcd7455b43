#!/usr/bin/python3
"""Restores snapshots from a Holdfast repository without Holdfast.

This one file reads a directory with a copy of a repository of formats 1 and 2, given the passphrase, the recovery code or the
machine key. It follows repository-format.md alone and shares no code with the program; "section" in the comments means
a section of that page. It changes nothing in the repository. It needs Debian 12 or later (or Python 3.9 with the
same modules) and three of its packages:

    apt install python3-cryptography python3-zstandard python3-argon2

README.md next to it says how to use it.
"""

import argparse
import base64
import concurrent.futures
import contextlib
import errno
import functools
import getpass
import hashlib
import hmac
import multiprocessing
import os
import re
import shutil
import sqlite3
import stat
import struct
import sys
import time
import unicodedata
from array import array
from collections import OrderedDict

try:
    import argon2.low_level
    import zstandard
    from cryptography.exceptions import InvalidSignature, InvalidTag
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
except ImportError as missing:
    sys.exit(f"{missing}\nInstall: apt install python3-cryptography python3-zstandard python3-argon2")

KIB, MIB = 1 << 10, 1 << 20


class Refused(Exception):
    """Nothing can be done: wrong secret, wrong argument, target that is not empty or full."""


class Unreadable(Exception):
    """An object, or a part of one, that cannot be read. Names the object."""

    def __init__(self, where, why):
        super().__init__(f"{where}: {why}")
        self.where = where


class Damage(Unreadable):
    """The stored bytes are not what a writer stored."""


class Newer(Unreadable):
    """Written by a later version of the format."""

    def __init__(self, where):
        super().__init__(where, "was written by a newer version; a newer reader is needed")


# ---------------------------------------------------------------------------------------------------------------------
# Primitives (section 2)


def expand(prk, info, length):
    out, block, count = b"", b"", 1
    while len(out) < length:
        block = hmac.new(prk, block + info + bytes([count]), "sha256").digest()
        out, count = out + block, count + 1
    return out[:length]


def hkdf(ikm, salt, info, length):
    return expand(hmac.new(salt, ikm, "sha256").digest(), info, length)


def open_gcm(key, nonce, ciphertext, aad):
    """None when it does not authenticate."""
    try:
        return AESGCM(key).decrypt(nonce, bytes(ciphertext), aad)
    except InvalidTag:
        return None


def same(a, b):
    return hmac.compare_digest(a, b)


def unzstd(frame, raw_length, where):
    """One zstd frame that gives exactly raw_length bytes."""
    wrong = Damage(where, "the zstd frame has another length than is said of it")
    try:
        if zstandard.frame_content_size(frame) not in (-1, raw_length):
            raise wrong
        # Not a byte more is made than this, whatever the frame would give.
        raw = zstandard.ZstdDecompressor().decompress(frame, max_output_size=raw_length, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise Damage(where, f"zstd: {error}") from error
    if len(raw) != raw_length:
        raise wrong
    return raw


# BLAKE3. Python has no fast arithmetic of 32-bit words, but its long integers are fast: a number holds one word of
# each of thousands of blocks, 64 bits apart, so that an addition or shift works on all of them ("lanes") at once.

BLAKE3_IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
BLAKE3_PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
BLAKE3_MIX = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15), (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
CHUNK_START, CHUNK_END, PARENT, ROOT, KEYED_HASH = 1, 2, 4, 8, 16
LANES = 2048


def blake3_schedule():
    order, rounds = list(range(16)), []
    for _ in range(7):
        rounds.append(tuple((*mix, order[2 * i], order[2 * i + 1]) for i, mix in enumerate(BLAKE3_MIX)))
        order = [order[place] for place in BLAKE3_PERMUTATION]
    return rounds


BLAKE3_ROUNDS = blake3_schedule()


def to_lanes(values):
    return int.from_bytes(little_endian(array("Q", values)).tobytes(), "little")


def from_lanes(number, count):
    values = array("Q")
    values.frombytes(number.to_bytes(8 * count, "little"))
    return little_endian(values)


def little_endian(values):
    if sys.byteorder == "big":
        values.byteswap()
    return values


@functools.lru_cache(maxsize=64)
def every_lane(count):
    """The number with 1 in each lane."""
    return to_lanes([1]) * (((1 << (64 * count)) - 1) // ((1 << 64) - 1))


def blake3_compress(state, blocks, counters, lengths, flags, lanes):
    """`state` is 8 numbers, `blocks` the bytes of one 64-byte block for each lane; gives 8 numbers."""
    ones = every_lane(lanes)
    mask = ones * 0xFFFFFFFF
    words = little_endian(array("I", blocks))
    m = [to_lanes(words[i::16]) for i in range(16)]
    v = [*state, *(ones * word for word in BLAKE3_IV[:4]), counters, 0, lengths, flags]
    for steps in BLAKE3_ROUNDS:
        for a, b, c, d, first, second in steps:
            va, vb, vc, vd = v[a], v[b], v[c], v[d]
            va = (va + vb + m[first]) & mask
            vd ^= va
            vd = (vd >> 16 | vd << 16) & mask
            vc = (vc + vd) & mask
            vb ^= vc
            vb = (vb >> 12 | vb << 20) & mask
            va = (va + vb + m[second]) & mask
            vd ^= va
            vd = (vd >> 8 | vd << 24) & mask
            vc = (vc + vd) & mask
            vb ^= vc
            vb = (vb >> 7 | vb << 25) & mask
            v[a], v[b], v[c], v[d] = va, vb, vc, vd
    return [v[i] ^ v[i + 8] for i in range(8)]


def chaining_values(state, lanes):
    """The 8 numbers as 32 bytes a lane."""
    out = array("I", bytes(32 * lanes))
    for i, number in enumerate(state):
        out[i::8] = array("I", from_lanes(number, lanes))
    joined = little_endian(out).tobytes()
    return [joined[32 * lane : 32 * lane + 32] for lane in range(lanes)]


def blake3_leaves(leaves, key_words, base_flags):
    """`leaves` are (bytes up to 1 KiB, counter, whether it is the whole message); gives their chaining values."""
    blocks = [max(1, (len(leaf) + 63) // 64) for leaf, _, _ in leaves]
    order = sorted(range(len(leaves)), key=lambda i: -blocks[i])  # those that end first stand last
    padded = [leaves[i][0].ljust(64 * blocks[i], b"\0") for i in order]
    active = len(order)
    state = [every_lane(active) * word for word in key_words]
    counters = to_lanes([leaves[i][1] for i in order])
    done, step = [b""] * len(leaves), 0
    while active:
        staying = active
        while staying and blocks[order[staying - 1]] == step + 1:
            staying -= 1
        flags = base_flags | (CHUNK_START if step == 0 else 0)
        lane_flags = [flags] * staying + [flags | CHUNK_END | (ROOT if leaves[i][2] else 0) for i in order[staying:active]]
        lane_lengths = [64] * staying + [len(leaves[i][0]) - 64 * step for i in order[staying:active]]
        data = b"".join([leaf[64 * step : 64 * step + 64] for leaf in padded[:active]])
        state = blake3_compress(state, data, counters, to_lanes(lane_lengths), to_lanes(lane_flags), active)
        if staying < active:
            ended = chaining_values([number >> (64 * staying) for number in state], active - staying)
            for i, value in zip(order[staying:active], ended):
                done[i] = value
            kept = (1 << (64 * staying)) - 1
            state, counters = [number & kept for number in state], counters & kept
        active, step = staying, step + 1
    return done


def blake3(messages, key=None):
    """The 32-byte hashes of many messages at once, keyed when there is a key."""
    key_words = struct.unpack("<8I", key) if key else BLAKE3_IV
    base_flags = KEYED_HASH if key else 0
    leaves, owners = [], []
    for number, message in enumerate(messages):
        count = max(1, (len(message) + KIB - 1) // KIB)
        for i in range(count):
            leaves.append((bytes(message[KIB * i : KIB * (i + 1)]), i, count == 1))
            owners.append(number)
    nodes = [[] for _ in messages]
    for start in range(0, len(leaves), LANES):
        for i, value in enumerate(blake3_leaves(leaves[start : start + LANES], key_words, base_flags)):
            nodes[owners[start + i]].append(value)
    # Neighbours are joined level by level; one without a neighbour goes up as it is.
    while True:
        pairs, flags = [], []
        for row in nodes:
            for i in range(0, len(row) - 1, 2):
                pairs.append(row[i] + row[i + 1])
                flags.append(base_flags | PARENT | (ROOT if len(row) == 2 else 0))
        if not pairs:
            return [row[0] for row in nodes]
        joined = []
        for start in range(0, len(pairs), LANES):
            part = pairs[start : start + LANES]
            ones = every_lane(len(part))
            state = [ones * word for word in key_words]
            state = blake3_compress(state, b"".join(part), 0, ones * 64, to_lanes(flags[start : start + LANES]), len(part))
            joined += chaining_values(state, len(part))
        taken = iter(joined)
        for row in nodes:
            row[:] = [next(taken) for _ in range(len(row) // 2)] + (row[-1:] if len(row) % 2 else [])


# CBOR in its deterministic form.


class CborReader:
    def __init__(self, data, where):
        self.data, self.where, self.at = data, where, 0

    def fail(self, why):
        raise Damage(self.where, f"CBOR: {why}")

    def take(self, count):
        if count > len(self.data) - self.at:
            self.fail("ends early")
        self.at += count
        return self.data[self.at - count : self.at]

    def head(self):
        first = self.take(1)[0]
        major, info = first >> 5, first & 31
        if info < 24:
            return major, info
        if info > 27:
            self.fail("not deterministic")
        size = 1 << (info - 24)
        argument = int.from_bytes(self.take(size), "big")
        if major != 7 and argument < (24 if size == 1 else 1 << (4 * size)):
            self.fail("not deterministic")
        if major == 7 or argument >= 1 << 53:
            self.fail("a value this format does not have")
        return major, argument

    def value(self, depth=0):
        if depth > 64:
            self.fail("nested too deep")
        major, argument = self.head()
        if major == 0:
            return argument
        if major == 1:
            return -1 - argument
        if major == 2:
            return self.take(argument)
        if major == 3:
            try:
                return self.take(argument).decode("utf-8")
            except UnicodeDecodeError:
                self.fail("text that is not UTF-8")
        if major == 4:
            return [self.value(depth + 1) for _ in range(argument)]
        if major == 5:
            return self.map(argument, depth)
        simple = {20: False, 21: True, 22: None}
        if major != 7 or argument not in simple:
            self.fail("a value this format does not have")
        return simple[argument]

    def map(self, count, depth):
        result, last = {}, b""
        for _ in range(count):
            start = self.at
            key = self.value(depth + 1)
            encoded = self.data[start : self.at]
            if not isinstance(key, str):
                self.fail("a key that is not text")
            if encoded <= last:
                self.fail("keys out of order")
            last = encoded
            result[key] = self.value(depth + 1)
        return result


def read_cbor(data, where):
    reader = CborReader(bytes(data), where)
    value = reader.value()
    if reader.at != len(reader.data):
        reader.fail("bytes after the end")
    if not isinstance(value, dict):
        reader.fail("no map")
    return value


def write_cbor(value):
    def head(major, argument):
        if argument < 24:
            return bytes([major << 5 | argument])
        for info, size in ((24, 1), (25, 2), (26, 4), (27, 8)):
            if argument < 1 << (8 * size):
                return bytes([major << 5 | info]) + argument.to_bytes(size, "big")
        raise ValueError(argument)

    if value is False or value is True or value is None:
        return {False: b"\xf4", True: b"\xf5", None: b"\xf6"}[value]
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(map(write_cbor, value))
    items = sorted((write_cbor(key), write_cbor(item)) for key, item in value.items())
    return head(5, len(items)) + b"".join(key + item for key, item in items)


def without(record, field):
    return write_cbor({key: value for key, value in record.items() if key != field})


# What the fields of records have to be.


def is_int(value):
    return type(value) is int


def is_count(value):
    return type(value) is int and value >= 0


def is_bool(value):
    return type(value) is bool


def is_text(value):
    return type(value) is str and len(value.encode("utf-16-le")) <= 2 * 65_536


def is_bytes(length=None):
    return lambda value: type(value) is bytes and length in (None, len(value))


def is_list(item):
    return lambda value: type(value) is list and len(value) <= 1_000_000 and all(map(item, value))


def is_map(**fields):
    return lambda value: type(value) is dict and all(name in value and check(value[name]) for name, check in fields.items())


def is_names(value):
    return type(value) is dict and all(is_text(name) and len(name.encode()) <= 1024 for name in value.values())


def check_record(record, where, fields, optional=()):
    version = record.get("v")
    if is_int(version) and version > 1:
        raise Newer(where)
    if version != 1 or is_bool(version):
        raise Damage(where, "field v is wrong")
    for name, check in fields.items():
        if record.get(name) is None and name in optional:
            continue
        if name not in record or not check(record[name]):
            raise Damage(where, f"field {name} is missing or wrong")
    return record


# ---------------------------------------------------------------------------------------------------------------------
# The directory with the repository (section 3)

NAME = re.compile(r"[0-9a-f]{64}")
DECIMAL = re.compile(r"[1-9][0-9]{0,15}")
MOST_NUMBER = 999_999_999


class Destination:
    """Objects are files, keys are their paths."""

    def __init__(self, directory):
        self.directory = directory
        if not any(os.path.isdir(os.path.join(directory, folder)) for folder in ("keys", "copies/keys")):
            raise Refused(f"{directory} is no repository: it has no folder named keys")

    def names(self, folder, pattern):
        """Names in a folder that are keys of the format; a folder that is missing is empty."""
        try:
            found = os.listdir(os.path.join(self.directory, folder))
        except FileNotFoundError:
            return []
        return sorted(name for name in found if pattern.fullmatch(name))

    def numbers(self, folder, pattern):
        """Numbers of objects that follow one another, highest first, those included that only a second copy is left of."""
        found = {*self.names(folder, pattern), *self.names(f"copies/{folder}", pattern)}
        return sorted({int(name.removeprefix("ring-")) for name in found}, reverse=True)

    def read(self, key):
        try:
            with open(os.path.join(self.directory, key), "rb") as file:
                return file.read()
        except OSError as error:
            raise Damage(key, error.strerror) from error

    def read_range(self, key, offset, length):
        try:
            with open(os.path.join(self.directory, key), "rb", buffering=0) as file:
                data = os.pread(file.fileno(), length, offset)
        except OSError as error:
            raise Damage(key, error.strerror) from error
        if len(data) != length:
            raise Damage(key, "is cut short")
        return data

    def read_named(self, key):
        """An object that is named by the SHA-256 of its bytes."""
        data = self.read(key)
        if hashlib.sha256(data).hexdigest() != key[-64:]:
            raise Damage(key, "its SHA-256 is not its name")
        return data

    def modified(self, key):
        """When the storage got it, in milliseconds since 1970."""
        return os.stat(os.path.join(self.directory, key)).st_mtime_ns // 1_000_000

    def packs(self):
        """Names, lengths and times of all packs."""
        for folder in self.names("packs", re.compile(r"[0-9a-f]{2}")):
            for name in self.names(f"packs/{folder}", NAME):
                if name.startswith(folder):
                    facts = os.stat(os.path.join(self.directory, f"packs/{folder}/{name}"))
                    yield name, facts.st_size, facts.st_mtime_ns


def pack_key(name):
    return f"packs/{name[:2]}/{name}"


# ---------------------------------------------------------------------------------------------------------------------
# Secrets, slots, rings (section 4)

FORMATS = 2  # the highest min_format that this reader knows
PASSPHRASE, RECOVERY, MACHINE = 1, 2, 3
SECRETS = {PASSPHRASE: "passphrase", RECOVERY: "recovery code", MACHINE: "machine key"}
MOST_WORK = 64 * 262_144 * 3  # KiB times passes of all slots that a passphrase is tried on


def recovery_secret(typed):
    """The 32 bytes when what was typed is a recovery code, None for a passphrase. A code may come in any form that
    holds; with its dashes it is none but a code, mistyped when it does not hold."""
    letters = re.sub(r"[\s-]", "", typed).upper().translate(str.maketrans("018", "OIB"))
    data = base64.b32decode(letters) if re.fullmatch(r"[A-Z2-7]{56}", letters) else b""
    if data and hashlib.sha256(data[:32]).digest()[:3] == data[32:]:
        return data[:32]
    if re.fullmatch(r"([A-Za-z0-9]{7}-){7}[A-Za-z0-9]{7}", typed.strip()):
        raise Refused("this recovery code is mistyped: its check does not hold")
    return None


def machine_secret(data):
    """A machine key: 64 hex digits, or the 32 bytes."""
    if re.fullmatch(rb"[0-9a-f]{64}\s*", data):
        return bytes.fromhex(data.decode())
    if len(data) != 32:
        raise Refused("this is no machine key: it has 64 hex digits")
    return data


def work(slot):
    return slot["kdf"]["m"] * slot["kdf"]["t"] if slot["kind"] == PASSPHRASE else 0


def check_cost(kdf, where, any_cost):
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    # The usual cost may take three quarters of a small machine.
    usual = min(262_144, memory * 3 // 4 // KIB)
    most = min(1_048_576, max(65_536, usual, memory // 4 // KIB))
    if not any_cost and not (65_536 <= kdf["m"] <= most and 1 <= kdf["t"] <= 8 and 1 <= kdf["p"] <= 8):
        raise Damage(where, f"asks for {kdf['m']} KiB of memory, {kdf['t']} passes, {kdf['p']} lanes; --any-cost allows it")


def stretch(passphrase, kdf, where, any_cost):
    check_cost(kdf, where, any_cost)
    return argon2.low_level.hash_secret_raw(
        unicodedata.normalize("NFC", passphrase).encode(),
        kdf["salt"],
        time_cost=kdf["t"],
        memory_cost=kdf["m"],
        parallelism=kdf["p"],
        hash_len=32,
        type=argon2.low_level.Type.ID,
        version=0x13,
    )


def read_slot(destination, where):
    name = where[-32:]
    data = destination.read(where)
    if len(data) > 8 * KIB:
        raise Damage(where, "is longer than 8 KiB")
    slot = check_record(
        read_cbor(data, where),
        where,
        {
            "repo": is_bytes(16),
            "slot": is_bytes(16),
            "kind": is_count,
            "label": is_text,
            "created": is_int,
            "commit": is_bytes(32),
            "nonce": is_bytes(12),
            "public": is_bytes(32),
            "ct": is_bytes(80),
        },
    )
    if slot["slot"].hex() != name:
        raise Damage(where, "has the name of another slot")
    costs = is_map(m=is_count, t=is_count, p=is_count, salt=is_bytes(32))
    kdf_fits = costs(slot.get("kdf")) if slot["kind"] == PASSPHRASE else slot.get("kdf", 0) is None
    if not kdf_fits:
        raise Damage(where, "field kdf is wrong")
    return slot


def open_slot(slot, secret):
    """X25519 private key and ring authentication key, or None when the secret is another."""
    keys = hkdf(secret, slot["slot"], b"hf1/slot/v1", 64)
    if not same(keys[32:], slot["commit"]):
        return None
    plain = open_gcm(keys[:32], slot["nonce"], slot["ct"], b"hf1/slot" + without(slot, "ct"))
    if plain is None:
        raise Damage(f"keys/{slot['slot'].hex()}", "does not authenticate")
    return plain[:32], plain[32:]


def ring_in_force(destination, slot, ring_key, warn):
    """The first ring from the top that holds."""
    numbers = destination.numbers("keys", re.compile(r"ring-[1-9][0-9]{0,8}"))
    for n, where in ((n, f"{folder}/ring-{n}") for n in numbers for folder in ("keys", "copies/keys")):
        try:
            ring = check_record(
                read_cbor(destination.read(where), where),
                where,
                {
                    "repo": is_bytes(16),
                    "n": is_count,
                    "slots": is_list(is_map(slot=is_bytes(16), epk=is_bytes(32), nonce=is_bytes(12), ct=is_bytes())),
                    "auth": is_bytes(32),
                },
            )
            if ring["n"] != n or ring["repo"] != slot["repo"]:
                raise Damage(where, "is the ring of another number or repository")
            if not same(hmac.new(ring_key, without(ring, "auth"), "sha256").digest(), ring["auth"]):
                raise Damage(where, "its authentication does not hold")
            return ring
        except Unreadable as error:
            warn(f"{error} (passed over)")
    return None


def open_keyring(ring, slot, private):
    """The keyring, or None when the ring does not list the slot."""
    where = f"keys/ring-{ring['n']}"
    wrapped = next((item for item in ring["slots"] if item["slot"] == slot["slot"]), None)
    if wrapped is None:
        return None
    number = struct.pack(">Q", ring["n"])
    shared = X25519PrivateKey.from_private_bytes(private).exchange(X25519PublicKey.from_public_bytes(wrapped["epk"]))
    wrap = hkdf(shared, slot["slot"], b"hf1/ring/v1" + number + wrapped["epk"], 32)
    plain = open_gcm(wrap, wrapped["nonce"], wrapped["ct"], b"hf1/ring" + ring["repo"] + number + slot["slot"])
    if plain is None:
        raise Damage(where, "the keyring does not authenticate")
    length = int.from_bytes(plain[:4], "big")
    if len(plain) % 1024 or 4 + length > len(plain) or plain[4 + length :].strip(b"\0"):
        raise Damage(where, "the keyring is padded wrongly")
    keyring = read_cbor(plain[4 : 4 + length], where)
    fields = {
        "repo": is_bytes(16),
        "id_data": is_bytes(32),
        "id_tree": is_bytes(32),
        "id_plain": is_bytes(32),
        "admin_public": is_bytes(32),
        "gens": is_list(is_map(g=is_count, key=is_bytes(32), state=is_text)),
        "min_format": is_count,
    }
    for name, check in fields.items():
        if name not in keyring or not check(keyring[name]):
            raise Damage(where, f"field {name} of the keyring is wrong")
    if keyring["min_format"] > FORMATS:
        raise Refused("the repository needs a newer reader")
    if keyring["repo"] != ring["repo"]:
        raise Damage(where, "the keyring is of another repository")
    return keyring


def unlock(destination, secret, warn, any_cost=False):
    """The keyring. `secret` is (kind, text of the passphrase or 32 bytes)."""
    kind, value = secret
    slots = []
    for folder in ("keys", "copies/keys"):
        for name in destination.names(folder, re.compile(r"[0-9a-f]{32}")):
            try:
                slot = read_slot(destination, f"{folder}/{name}")
                if slot not in slots:
                    slots.append(slot)
            except Unreadable as error:
                warn(f"{error} (passed over)")
    # Cheap ones first: none that somebody planted can keep these from being tried.
    fitting = sorted((slot for slot in slots if slot["kind"] == kind), key=lambda slot: (work(slot), slot["created"]))
    if not fitting:
        raise Refused(f"the repository has no key slot for a {SECRETS[kind]}")
    left, removed = MOST_WORK, False
    for slot in fitting:
        try:
            if kind == PASSPHRASE:
                where = f"keys/{slot['slot'].hex()}"
                check_cost(slot["kdf"], where, any_cost)
                left -= work(slot)
                if left < 0:
                    warn("further key slots were not tried: all together would take too long")
                    break
                opened = open_slot(slot, stretch(value, slot["kdf"], where, any_cost))
            else:
                opened = open_slot(slot, value)
            if opened is None:
                continue
            private, ring_key = opened
            ring = ring_in_force(destination, slot, ring_key, warn)
            keyring = ring and open_keyring(ring, slot, private)
            if keyring:
                return keyring
            removed = ring is not None
            if ring is None:
                warn("no keyring holds under this slot")
        except Unreadable as error:
            warn(f"{error} (passed over)")
    if removed:
        raise Refused(f"this {SECRETS[kind]} was removed from the repository")
    raise Refused(f"this {SECRETS[kind]} opens no key slot: it is wrong, or the slots are damaged or refused (see above)")


# ---------------------------------------------------------------------------------------------------------------------
# Sealed objects (section 5)

DATA, TREE, INDEX, SNAPSHOT, CONFIG, TOMBSTONE = 1, 2, 4, 5, 6, 8
KEY_NAMES = {DATA: b"pack", TREE: b"pack", INDEX: b"index", SNAPSHOT: b"snap", CONFIG: b"config", TOMBSTONE: b"tomb"}
CONTEXT_LENGTHS = {INDEX: 0, SNAPSHOT: 56, CONFIG: 8, TOMBSTONE: 56}
HEADER = 80
PADDING_PART, DIRECTORY_PART = 0xFFFFFFFE, 0xFFFFFFFF


class Keys:
    """The keys of objects and chunk ids that follow from the keyring."""

    def __init__(self, keyring):
        self.keyring = keyring
        self.repo = keyring["repo"]
        self.roots = {item["g"]: item["key"] for item in keyring["gens"]}

    @functools.lru_cache(maxsize=256)
    def of_object(self, kind, generation, salt, number=0):
        """ObjKey and ObjCommit; `number` is that of the write-only key that sealed the object (section 12)."""
        name = KEY_NAMES[kind]
        if number:
            private, public = self.sealing(generation)
            sealer = expand(self.roots[generation], b"hf1/key/sealer" + struct.pack(">I", number), 32)
            shared = private.exchange(X25519PublicKey.from_public_bytes(salt))
            both = hkdf(shared + sealer, salt + public, b"hf1/sealed/" + name + self.repo, 64)
            return both[:32], both[32:]
        key = expand(self.roots[generation], b"hf1/key/" + name, 32)
        both = hkdf(key, salt, b"hf1/obj/" + name + self.repo, 64)
        return both[:32], both[32:]

    @functools.lru_cache(maxsize=256)
    def sealing(self, generation):
        """What write-only keys seal to: the private key, and the bytes of the public one."""
        private = X25519PrivateKey.from_private_bytes(expand(self.roots[generation], b"hf1/key/seal", 32))
        return private, private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    def mark(self, number):
        """Salt and beginning of the writer ids of a write-only key."""
        mark = hashlib.sha256(b"hf1/write-only" + self.repo + struct.pack(">I", number)).digest()
        return mark[:16], mark[16:24]

    def of_ids(self, snapshot):
        """Keys of the ids of data and of trees."""
        if snapshot["plain"]:
            plain = self.keyring["id_plain"]
            keys = plain, expand(plain, b"hf1/id/plain-tree", 32)
        else:
            keys = self.keyring["id_data"], self.keyring["id_tree"]
        if snapshot.get("salt") is not None:
            keys = tuple(expand(key, b"hf1/id/salt" + snapshot["salt"], 32) for key in keys)
        return keys

    def signed(self, record, prefix):
        try:
            public = Ed25519PublicKey.from_public_bytes(self.keyring["admin_public"])
            public.verify(record["signature"], prefix + self.repo + without(record, "signature"))
            return True
        except InvalidSignature:
            return False


def make_header(keys, kind, cipher, generation, salt, number=0):
    commit = keys.of_object(kind, generation, salt, number)[1] if cipher == 1 else bytes(32)
    return struct.pack(">4sBBBBI32s32sI", b"HF1\0", 1, kind, cipher, int(number > 0), generation, salt, commit, number)


def sealed_by(header):
    """Number of the write-only key that sealed the object, or 0."""
    return int.from_bytes(header[76:80], "big")


def is_plain(header):
    return header[6] == 0


def check_header(keys, header, where, kinds):
    """The header's type."""
    if len(header) < HEADER:
        raise Damage(where, "is cut short")
    magic, version, kind, cipher, wrap, generation, salt, commit, number = struct.unpack(">4sBBBBI32s32sI", header[:HEADER])
    if magic != b"HF1\0":
        raise Damage(where, "is no object of this format")
    if version > 1:
        raise Newer(where)
    if version != 1 or kind not in kinds or cipher > 1 or wrap != int(number > 0):
        raise Damage(where, "its header is wrong")
    if cipher == 0 and (kind not in (DATA, TREE) or commit.strip(b"\0")):
        raise Damage(where, "its header is wrong")
    if number and (cipher == 0 or kind not in (DATA, TREE, SNAPSHOT)):
        raise Damage(where, "its header is wrong")
    if cipher == 1:
        if generation not in keys.roots:
            raise Damage(where, f"is sealed under key generation {generation}, which the keyring does not have")
        try:
            expected = keys.of_object(kind, generation, salt, number)[1]
        except ValueError as error:
            raise Damage(where, "is sealed with a public key that gives no secret") from error
        if not same(expected, commit):
            raise Damage(where, "is not sealed under a key of this repository")
    return kind


def open_part(keys, header, context, q, part, sealed, where):
    aad = header + context + keys.repo + struct.pack(">Q", q) + part
    if header[6] == 0:
        plain = bytes(sealed[:-16])
        if len(sealed) < 16 or not same(blake3([aad + plain])[0][:16], bytes(sealed[-16:])):
            raise Damage(where, "its checksum does not hold")
        return plain
    generation, salt = struct.unpack(">I32s", header[8:44])
    key = keys.of_object(header[5], generation, salt, sealed_by(header))[0]
    plain = open_gcm(key, struct.pack(">IQ", 0, q), sealed, aad) if len(sealed) >= 16 else None
    if plain is None:
        raise Damage(where, "does not authenticate")
    return plain


def open_object(keys, data, where, kind):
    """Context and plaintext of an object of one part."""
    check_header(keys, data, where, (kind,))
    end = HEADER + CONTEXT_LENGTHS[kind]
    context = data[HEADER:end]
    return context, open_part(keys, data[:HEADER], context, 0, bytes(9), data[end:], where)


# Packs (5.1) and index objects (5.2).


class Segment:
    __slots__ = ("offset", "stored", "raw", "compression", "chunks")

    def __init__(self, offset, stored, raw, compression, chunks):
        self.offset, self.stored, self.raw, self.compression, self.chunks = offset, stored, raw, compression, chunks


class Cursor:
    """Reads fields from the front; running past the end is damage."""

    def __init__(self, data, where):
        self.data, self.where, self.at = data, where, 0

    def take(self, count):
        if count > len(self.data) - self.at:
            raise Damage(self.where, "ends early")
        self.at += count
        return self.data[self.at - count : self.at]

    def numbers(self, layout):
        return struct.unpack(layout, self.take(struct.calcsize(layout)))

    def end(self):
        if self.at != len(self.data):
            raise Damage(self.where, "has bytes after its end")

    def varint(self, most=8):
        data, at, value, shift = self.data, self.at, 0, 0
        while True:
            if at >= len(data):
                raise Damage(self.where, "ends early")
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
            if shift == 7 * most:
                raise Damage(self.where, "has a number that is too long")
        if (byte == 0 and shift) or (most == 8 and value >= 1 << 53):
            raise Damage(self.where, "has a number that is too long")
        self.at = at
        return value

    def svarint(self):
        value = self.varint(10)
        if value >= 1 << 64:
            raise Damage(self.where, "has a number that is too long")
        return (value >> 1) ^ -(value & 1)

    def sized(self, most):
        length = self.varint()
        if length > most:
            raise Damage(self.where, "has a name or text that is too long")
        return self.take(length)


def read_chunk_table(cursor, segment_count, chunk_count, pack_length, id_length):
    """Segments, chunk lengths and ids as pack directories and index objects list them."""
    segments, offset, where = [], HEADER, cursor.where
    for _ in range(segment_count):
        stored, raw, compression = cursor.numbers(">IIB")
        count = int.from_bytes(cursor.take(3), "big")
        if compression > 1 or count == 0 or raw > 16 * MIB or stored < 16 or (compression == 0 and stored != raw + 16):
            raise Damage(where, "has a wrong segment")
        segments.append(Segment(offset, stored, raw, compression, count))
        offset += stored
    if sum(segment.chunks for segment in segments) != chunk_count or offset > pack_length:
        raise Damage(where, "its sums are wrong")
    packed = cursor.take(3 * chunk_count)
    lengths = [int.from_bytes(packed[i : i + 3], "big") for i in range(0, len(packed), 3)]
    packed = cursor.take(id_length * chunk_count)
    ids = [packed[i : i + id_length] for i in range(0, len(packed), id_length)]
    at = 0
    for segment in segments:
        part = lengths[at : at + segment.chunks]
        if sum(part) != segment.raw or min(part) < 1 or max(part) > 8 * MIB:
            raise Damage(where, "its chunk lengths are wrong")
        at += segment.chunks
    return segments, lengths, ids, offset


def read_pack_directory(destination, keys, name, length):
    """Header, segments, chunk lengths, ids of a pack by its own directory."""
    where = pack_key(name)
    if not HEADER + 16 <= length <= 128 * MIB:
        raise Damage(where, f"has {length} bytes, which no pack has")
    header = destination.read_range(where, 0, HEADER)
    kind = check_header(keys, header, where, (DATA, TREE))
    offset, sealed_length, padding, magic = struct.unpack(">III4s", destination.read_range(where, length - 16, 16))
    if magic != b"HF1T" or offset + sealed_length + 16 != length or offset < HEADER:
        raise Damage(where, "its end is wrong: it is cut short or overwritten")
    sealed = destination.read_range(where, offset, sealed_length)
    plain = open_part(keys, header, b"", DIRECTORY_PART, bytes(9), sealed, f"{where}: directory")
    cursor = Cursor(plain, f"{where}: directory")
    version, directory_kind, segment_count, chunk_count, pack_length = cursor.numbers(">BBHII")
    if version > 1:
        raise Newer(where)
    if version != 1 or directory_kind != kind or pack_length != length:
        raise Damage(where, "its directory is of another pack")
    segments, lengths, ids, end = read_chunk_table(cursor, segment_count, chunk_count, length, 24)
    cursor.end()
    if end + padding != offset:
        raise Damage(where, "its sums are wrong")
    return header, segments, lengths, ids


def read_index_object(destination, keys, name):
    """Names of superseded index objects, and what is said of each pack."""
    where = f"index/{name}"
    _, plain = open_object(keys, destination.read_named(where), where, INDEX)
    if plain[:1] == b"\1" and len(plain) >= 5:
        length = int.from_bytes(plain[1:5], "big")
        if length > 96 * MIB:
            raise Damage(where, "is too long")
        raw = unzstd(plain[5:], length, where)
    elif plain[:1] == b"\0":
        raw = plain[1:]
    else:
        raise Damage(where, "has an unknown compression")
    cursor = Cursor(raw, where)
    version, zeros = cursor.numbers(">B3s")
    if version > 1:
        raise Newer(where)
    if version != 1 or zeros != bytes(3):
        raise Damage(where, "its version is wrong")
    (superseded,) = cursor.numbers(">I")
    older = [cursor.take(32).hex() for _ in range(superseded)]
    (count,) = cursor.numbers(">I")
    packs = {}
    for _ in range(count):
        pack, kind, cipher, segment_count, chunk_count, length, generation, salt = cursor.numbers(">32sBBHIII32s")
        (number,) = cursor.numbers(">I") if cipher == 2 else (0,)
        if kind not in (DATA, TREE) or cipher > 2 or (cipher == 2 and number == 0):
            raise Damage(where, "has a pack of an unknown kind")
        cipher = min(cipher, 1)
        segments, lengths, ids, _ = read_chunk_table(cursor, segment_count, chunk_count, length, 16)
        if cipher == 0 or generation in keys.roots:
            try:
                header = make_header(keys, kind, cipher, generation, salt, number)
            except ValueError as error:
                raise Damage(where, "has a public key that gives no secret") from error
            packs[pack.hex()] = length, (header, segments, lengths, ids)
    cursor.end()
    return older, packs


def open_segment(destination, keys, name, header, number, segment):
    """The raw bytes of a segment."""
    where = f"{pack_key(name)}: segment {number}"
    sealed = destination.read_range(pack_key(name), segment.offset, segment.stored)
    part = struct.pack(">IIB", number, segment.raw, segment.compression)
    plain = open_part(keys, header, b"", number, part, sealed, where)
    raw = unzstd(plain, segment.raw, where) if segment.compression else plain
    if len(raw) != segment.raw:
        raise Damage(where, "has another length than the directory says")
    return raw


# ---------------------------------------------------------------------------------------------------------------------
# Where chunks lie. Kept in a temporary SQLite database, which spills to disk, so that memory does not grow with the
# repository. Pack directories are the truth; index objects stand in for a directory that is damaged.


class Location:
    __slots__ = ("pack", "segment", "offset", "length")

    def __init__(self, pack, segment, offset, length):
        self.pack, self.segment, self.offset, self.length = pack, segment, offset, length


LATER_PACKS = 1 << 40  # added to the numbers of packs that can be made without a key that reads


class Index:
    def __init__(self, destination, keys, warn):
        self.destination, self.keys = destination, keys
        self.db = sqlite3.connect("", isolation_level=None)
        self.db.executescript(
            """
            PRAGMA journal_mode = OFF;
            PRAGMA synchronous = OFF;
            PRAGMA cache_size = -65536;
            CREATE TABLE packs (number INTEGER PRIMARY KEY, name TEXT, header BLOB);
            CREATE TABLE segments (pack INTEGER, number INTEGER, offset INTEGER, stored INTEGER, raw INTEGER,
              compression INTEGER, chunks INTEGER, PRIMARY KEY (pack, number)) WITHOUT ROWID;
            CREATE TABLE chunks (id BLOB, pack INTEGER, segment INTEGER, offset INTEGER, length INTEGER);
            CREATE TABLE links (key BLOB PRIMARY KEY, file INTEGER) WITHOUT ROWID;
            """
        )
        self.db.execute("BEGIN")
        unread = {}
        count = 0
        # Whoever has a write-only key can store packs that only claim to hold a chunk, and anybody ones that are not
        # encrypted: these count after all others, and by the time at which they came.
        for name, length, _ in sorted(destination.packs(), key=lambda pack: pack[2]):
            try:
                self.add(count, name, *read_pack_directory(destination, keys, name, length))
            except Unreadable as error:
                unread[name] = length, error
            count += 1
        if unread:
            self.add_from_index_objects(unread, count, warn)
        self.db.execute("CREATE INDEX chunk_ids ON chunks (id)")
        self.db.execute("COMMIT")

    def add(self, number, name, header, segments, lengths, ids):
        number += LATER_PACKS if sealed_by(header) or is_plain(header) else 0
        self.db.execute("INSERT INTO packs VALUES (?, ?, ?)", (number, name, header))
        rows, at = [], 0
        for q, segment in enumerate(segments):
            self.db.execute(
                "INSERT INTO segments VALUES (?, ?, ?, ?, ?, ?, ?)",
                (number, q, segment.offset, segment.stored, segment.raw, segment.compression, segment.chunks),
            )
            offset = 0
            for i in range(at, at + segment.chunks):
                rows.append((ids[i][:16], number, q, offset, lengths[i]))
                offset += lengths[i]
            at += segment.chunks
        self.db.executemany("INSERT INTO chunks VALUES (?, ?, ?, ?, ?)", rows)

    def add_from_index_objects(self, unread, count, warn):
        found = {}
        superseded = set()
        for name in self.destination.names("index", NAME):
            try:
                older, packs = read_index_object(self.destination, self.keys, name)
            except Unreadable as error:
                warn(str(error))
                continue
            superseded.update(older)
            wanted = {pack: said for pack, said in packs.items() if pack in unread and said[0] == unread[pack][0]}
            if wanted:
                found[name] = wanted
        for name, packs in found.items():
            for pack, (_, said) in packs.items():
                if name in superseded or pack not in unread:
                    continue
                warn(f"{unread.pop(pack)[1]} (read by index/{name})")
                self.add(count, pack, *said)
                count += 1
        for _, error in unread.values():
            warn(f"{error} (what this pack holds is missing)")

    def locations(self, chunk_id):
        rows = self.db.execute(
            "SELECT pack, segment, offset, length FROM chunks WHERE id = ? ORDER BY pack, segment, offset", (chunk_id[:16],)
        )
        return [Location(*row) for row in rows]

    def segment(self, location):
        """What open_segment needs."""
        name, header = self.db.execute("SELECT name, header FROM packs WHERE number = ?", (location.pack,)).fetchone()
        row = self.db.execute(
            "SELECT offset, stored, raw, compression, chunks FROM segments WHERE pack = ? AND number = ?",
            (location.pack, location.segment),
        ).fetchone()
        return name, header, location.segment, Segment(*row)

    def chunks_of(self, location):
        rows = self.db.execute(
            "SELECT offset, length FROM chunks WHERE pack = ? AND segment = ?", (location.pack, location.segment)
        )
        return rows.fetchall()

    def first_file(self, key, number):
        """The number of the file noted under this key; notes `number` when there is none."""
        row = self.db.execute("SELECT file FROM links WHERE key = ?", (key,)).fetchone()
        if row:
            return row[0]
        self.db.execute("INSERT INTO links VALUES (?, ?)", (key, number))
        return number


class ChunkReader:
    """Chunks one at a time, with the last segments kept in memory: for trees and for `cat`."""

    KEPT = 8

    def __init__(self, destination, keys, index):
        self.destination, self.keys, self.index = destination, keys, index
        self.kept = OrderedDict()

    def read(self, chunk_id, id_key):
        """@raises Unreadable when no copy of the chunk can be read"""
        failure = Damage(f"chunk {chunk_id.hex()}", "is in no pack that can be read")
        for location in self.index.locations(chunk_id):
            try:
                return self.read_from(location, chunk_id, id_key)
            except Unreadable as error:
                failure = error
        raise failure

    def read_from(self, location, chunk_id, id_key):
        place = location.pack, location.segment
        raw, ids = self.kept.pop(place, (None, None))
        if raw is None:
            raw, ids = open_segment(self.destination, self.keys, *self.index.segment(location)), {}
        elif (location.offset, id_key) not in ids:
            # Asked again, a segment is likely to be read to its end: hashing many chunks at once is much faster.
            rest = self.index.chunks_of(location)
            hashes = blake3([raw[offset : offset + length] for offset, length in rest], id_key)
            ids.update({(offset, id_key): value[:24] for (offset, _), value in zip(rest, hashes)})
        self.kept[place] = raw, ids
        if len(self.kept) > self.KEPT:
            self.kept.popitem(last=False)
        chunk = raw[location.offset : location.offset + location.length]
        if (ids.get((location.offset, id_key)) or blake3([chunk], id_key)[0][:24]) != chunk_id:
            raise wrong_chunk(self.index.segment(location)[0], location.segment, chunk_id)
        return chunk


def wrong_chunk(pack, segment, chunk_id):
    return Damage(f"{pack_key(pack)}: segment {segment}", f"the bytes of chunk {chunk_id.hex()} are not those of its id")


# ---------------------------------------------------------------------------------------------------------------------
# Records (section 7)


def read_config(destination, keys, n, where):
    context, plain = open_object(keys, destination.read(where), where, CONFIG)
    record = check_record(
        read_cbor(plain, where),
        where,
        {"repo": is_bytes(16), "min_format": is_count, "n": is_count, "signature": is_bytes(64)},
        optional=("n",),
    )
    if context != struct.pack(">Q", n) or record["repo"] != keys.repo or not keys.signed(record, b"hf1/config"):
        raise Damage(where, "is of another number or repository, or its signature does not hold")
    if record.get("n", n) != n:
        raise Damage(where, "was signed for another number")
    return record


def check_config(destination, keys, warn):
    """The highest configuration that is sound says which readers may read. One that is signed for no number may be an older
    one that somebody has put there: it counts where no other is."""
    numbers = destination.numbers("config", DECIMAL)
    in_order = [*(n for n in numbers if n <= MOST_NUMBER), *(n for n in numbers if n > MOST_NUMBER)]
    unbound = None
    for n in in_order:
        record = None
        for where in (f"config/{n}", f"copies/config/{n}"):
            try:
                record = read_config(destination, keys, n, where)
                break
            except Unreadable as error:
                warn(f"{error} (passed over)")
        unbound = unbound or record
        if record is not None and record.get("n") is not None:
            break
    else:
        record = unbound
    if record is None:
        warn("no configuration is sound; restoring needs nothing of it")
    elif record["min_format"] > FORMATS:
        raise Refused("the repository needs a newer reader")


def check_chain(context, where):
    """A snapshot or tombstone has a number that a record can have."""
    if not 1 <= int.from_bytes(context[16:24], "big") < 2**53:
        raise Damage(where, "has a number that no record can have")


def forgotten_snapshots(destination, keys, warn):
    """Names that tombstones say are forgotten."""
    names = set()
    for name in destination.names("trash", NAME):
        where = f"trash/{name}"
        try:
            context, plain = open_object(keys, destination.read_named(where), where, TOMBSTONE)
            record = check_record(
                read_cbor(plain, where),
                where,
                {"kind": is_text, "names": is_list(is_bytes(32)), "chain": is_bytes(56), "signature": is_bytes(64)},
                optional=("chain",),
            )
            if not keys.signed(record, b"hf1/tomb"):
                raise Damage(where, "its signature does not hold")
            if record.get("chain") not in (None, context):
                raise Damage(where, "was signed for another place")
            check_chain(context, where)
        except Unreadable as error:
            warn(f"{error} (ignored)")
            continue
        if record["kind"] == "snapshots":
            names.update(item.hex() for item in record["names"])
    return names


SNAPSHOT_COUNTS = ("files", "directories", "links", "others", "bytes", "new", "changed", "unchanged", "failed")
SNAPSHOT_FIELDS = {
    "tool": is_text,
    "host": is_text,
    "user": is_text,
    "paths": is_list(is_bytes()),
    "started": is_int,
    "finished": is_int,
    "root": is_bytes(24),
    "plain": is_bool,
    "salt": is_bytes(16),
    "tags": is_list(is_text),
    "pinned": is_bool,
    "status": lambda value: value in ("complete", "partial"),
    "errors": is_list(is_map(path=is_bytes(), code=is_text, message=is_text)),
    "errors_more": is_count,
    "counts": is_map(**{name: is_count for name in SNAPSHOT_COUNTS}),
    "owners": is_map(users=is_names, groups=is_names),
    "omitted": is_list(is_text),
    "kind": lambda value: value in ("files", "stream"),
    "write_only": is_map(number=is_count, stored=is_int),
    "run": is_bytes(24),
}
FULL_KEYS = "full"  # who stored a snapshot: full keys, or else a write-only key as NUMBER@MARK


def read_snapshot(destination, keys, name):
    where = f"snapshots/{name}"
    data = destination.read_named(where)
    if len(data) > 16 * MIB:
        raise Damage(where, "is longer than 16 MiB")
    context, plain = open_object(keys, data, where, SNAPSHOT)
    check_chain(context, where)
    snapshot = check_record(read_cbor(plain, where), where, SNAPSHOT_FIELDS, optional=("salt", "write_only", "run"))
    number = sealed_by(data[:HEADER])
    first = None if number else snapshot.get("write_only")
    if number:
        salt, writer = keys.mark(number)
        if context[:8] != writer or snapshot["plain"] or snapshot.get("salt") != salt:
            raise Damage(where, "the write-only key that sealed it may not say what it says")
    snapshot["stored_by"], snapshot["counts_at"] = FULL_KEYS, snapshot["started"]
    if number or first:
        mark = (snapshot.get("salt") or b"").hex()[:8] or "unknown"
        snapshot["stored_by"] = f"{number or first['number']}@{mark}"
        snapshot["counts_at"] = first["stored"] if first else destination.modified(where)
        snapshot["place"] = snapshot.get("run") or context[:24]
    return snapshot


# ---------------------------------------------------------------------------------------------------------------------
# Trees (section 6)

FILE, DIRECTORY, LINK, FIFO, SOCKET, CHARACTER_DEVICE, BLOCK_DEVICE = 1, 2, 3, 4, 5, 6, 7
XATTRS, SEVERAL_LINKS, HOLES, INDIRECT, CHANGED = 1, 2, 4, 8, 16
FORMAT_BITS = {
    FILE: stat.S_IFREG,
    DIRECTORY: stat.S_IFDIR,
    LINK: stat.S_IFLNK,
    FIFO: stat.S_IFIFO,
    SOCKET: stat.S_IFSOCK,
    CHARACTER_DEVICE: stat.S_IFCHR,
    BLOCK_DEVICE: stat.S_IFBLK,
}
DEEPEST = 4096
# What a snapshot can hold: directories that are the same share their chunks, so that few bytes may unfold to any number of paths.
MOST_ENTRIES, FEW_ENTRIES = 1 << 32, 100_000
# And what a file can: so many chunks whatever its size, beside one for each hole and each of the smallest chunks' bytes.
FEW_CHUNKS, SMALLEST_CHUNK, MOST_REPEATED = 65_536, 4_096, 1 << 22


class Entry:
    """`same_file` is equal for names of one file; `below` is how many entries a directory says that it has at all depths."""

    __slots__ = (
        *("kind", "flags", "name", "mode", "uid", "gid", "mtime", "xattrs", "same_file"),
        *("size", "holes", "ids", "id", "below", "target", "device"),
    )

    def count(self):
        """Of itself and all that is below it, as it says."""
        return 1 + self.below if self.kind == DIRECTORY else 1


def read_entry(cursor):
    entry, where = Entry(), cursor.where
    kind = entry.kind = cursor.take(1)[0]
    flags = entry.flags = cursor.varint()
    if kind not in FORMAT_BITS or flags > 31 or (kind != FILE and flags & (HOLES | INDIRECT | CHANGED)):
        raise Damage(where, "has an entry of an unknown type")
    name = entry.name = cursor.sized(4096)
    if name in (b"", b".", b"..") or b"/" in name or b"\0" in name:
        raise Damage(where, f"has an entry with the forbidden name '{shown(name)}'")
    entry.mode, entry.uid, entry.gid = cursor.varint(), cursor.varint(), cursor.varint()
    seconds, nanoseconds, _, ctime_nanoseconds = cursor.svarint(), cursor.varint(), cursor.svarint(), cursor.varint()
    entry.mtime = seconds * 1_000_000_000 + nanoseconds
    if entry.mode > 0o7777 or max(entry.uid, entry.gid) >= 1 << 32 or max(nanoseconds, ctime_nanoseconds) >= 1_000_000_000:
        raise Damage(where, "has an entry with impossible metadata")
    inode = cursor.varint()
    device, _ = (cursor.varint(), cursor.varint()) if flags & SEVERAL_LINKS else (0, 0)
    entry.xattrs = read_xattrs(cursor) if flags & XATTRS else []
    start = cursor.at
    if kind == FILE:
        entry.size = cursor.varint()
        entry.holes = read_holes(cursor, entry.size) if flags & HOLES else []
        count = cursor.varint()
        entry.ids = cursor.take(24 * count)
    elif kind == DIRECTORY:
        entry.id = cursor.take(24)
        _, _, entry.below = cursor.varint(), cursor.varint(), cursor.varint()
    elif kind == LINK:
        entry.target = cursor.sized(65_536)
    elif kind in (CHARACTER_DEVICE, BLOCK_DEVICE):
        entry.device = cursor.varint(), cursor.varint()
    if flags & SEVERAL_LINKS:
        content = cursor.data[start : cursor.at]
        entry.same_file = hashlib.sha256(struct.pack(">BQQ", kind, device, inode) + content).digest()
    return entry


def read_xattrs(cursor):
    xattrs = []
    for _ in range(positive(cursor)):
        name = cursor.sized(4096)
        value = cursor.sized(len(cursor.data))
        if not name or b"\0" in name or (xattrs and name <= xattrs[-1][0]):
            raise Damage(cursor.where, "has attributes out of order")
        xattrs.append((name, value))
    return xattrs


def read_holes(cursor, size):
    """(offset, length) of each hole."""
    holes, end = [], 0
    for _ in range(positive(cursor)):
        start = end + cursor.varint()
        end = start + positive(cursor)
        holes.append((start, end - start))
    if end > size:
        raise Damage(cursor.where, "has a hole beyond the end of its file")
    return holes


def positive(cursor):
    value = cursor.varint()
    if value == 0:
        raise Damage(cursor.where, "has a zero where none may be")
    return value


LEAF, BRANCH, LIST = 0, 1, 2


class Tree:
    """The tree of one snapshot."""

    def __init__(self, chunks, keys, snapshot):
        self.chunks, self.root = chunks, snapshot["root"]
        self.data_key, self.tree_key = keys.of_ids(snapshot)

    def open(self, chunk_id):
        """Cursor behind version and form, and the form."""
        where = f"tree chunk {chunk_id.hex()}"
        cursor = Cursor(self.chunks.read(chunk_id, self.tree_key), where)
        version, form = cursor.numbers(">BB")
        if version > 1:
            raise Newer(where)
        if version != 1 or form > LIST:
            raise Damage(where, "is of an unknown form")
        return cursor, form

    def entries(self, chunk_id, only=None):
        """Entries of a directory, or the one named `only`. A part that cannot be read comes as its Unreadable."""
        last = [None]
        yield from self.part(chunk_id, None, None, only, last)

    def part(self, chunk_id, level, first, only, last):
        """`level` and `first` are what the branch above says of this part; None for the whole directory."""
        try:
            cursor, form = self.open(chunk_id)
            if form == LEAF and level in (None, 0):
                entries = self.leaf(cursor, level, first, last)
            elif form == BRANCH and level != 0:
                entries, children = [], self.branch(cursor, level, first)
            else:
                raise Damage(cursor.where, "is of a form that does not belong here")
        except Unreadable as error:
            yield error
            return
        for entry in entries:
            if only is None or entry.name == only:
                yield entry
        if form == BRANCH:
            own_level = cursor.data[2]
            for i, (name, child) in enumerate(children):
                after = children[i + 1][0] if i + 1 < len(children) else None
                if only is None or (name <= only and (after is None or only < after)):
                    yield from self.part(child, own_level - 1, name, only, last)

    def leaf(self, cursor, level, first, last):
        count = cursor.varint()
        if count == 0 and level is not None:
            raise Damage(cursor.where, "has no entries")
        entries = []
        for _ in range(count):
            entry = read_entry(cursor)
            if (last[0] is not None and entry.name <= last[0]) or (not entries and first not in (None, entry.name)):
                raise Damage(cursor.where, "has entries out of order")
            last[0] = entry.name
            entries.append(entry)
        cursor.end()
        return entries

    def branch(self, cursor, level, first):
        own_level = cursor.take(1)[0]
        if not 1 <= own_level <= 8 or level not in (None, own_level):
            raise Damage(cursor.where, "is of a level that does not belong here")
        children = []
        for _ in range(positive(cursor)):
            name = cursor.sized(4096)
            if (children and name <= children[-1][0]) or (not children and first not in (None, name)):
                raise Damage(cursor.where, "has parts out of order")
            children.append((name, cursor.take(24)))
        cursor.end()
        return children

    def chunk_ids(self, entry):
        """Ids of a file's data chunks, in order."""
        ids = (entry.ids[i : i + 24] for i in range(0, len(entry.ids), 24))
        data = entry.size - sum(length for _, length in entry.holes)
        most = FEW_CHUNKS + len(entry.holes) + data // SMALLEST_CHUNK
        if not entry.flags & INDIRECT:
            if len(entry.ids) // 24 > most:
                raise Damage(f"file {shown(entry.name)}", "has more chunks than it can")
            yield from ids
            return
        seen, chunks, repeated = set(), 0, 0
        for list_id in ids:
            cursor, form = self.open(list_id)
            if form != LIST:
                raise Damage(cursor.where, "is no list")
            count = cursor.varint()
            packed = cursor.take(24 * count)
            cursor.end()
            chunks += count
            repeated += max(1, count) if list_id in seen else 0
            seen.add(list_id)
            if chunks > most or repeated > MOST_REPEATED:
                raise Damage(f"file {shown(entry.name)}", "has more chunks than it can")
            yield from (packed[i : i + 24] for i in range(0, len(packed), 24))

    def most_below(self, chunk_id, said):
        """How many entries a walk of this directory may come by: `said` of it (None for the root), if it can have as many."""
        if said is None:
            said = sum(item.count() for item in self.entries(chunk_id) if isinstance(item, Entry))
        if said <= FEW_ENTRIES:
            return said
        stored, seen, waiting, lost = 0, set(), [chunk_id], False
        while waiting and FEW_ENTRIES + stored * stored < said <= MOST_ENTRIES:
            part = waiting.pop()
            if part in seen:
                continue
            seen.add(part)
            try:
                cursor, form = self.open(part)
                if form == LEAF:
                    entries = self.leaf(cursor, None, None, [None])
                    stored += len(entries)
                    waiting += [entry.id for entry in entries if entry.kind == DIRECTORY]
                elif form == BRANCH:
                    waiting += [child for _, child in reversed(self.branch(cursor, None, None))]
            except Unreadable:
                lost = True
        most = FEW_ENTRIES + stored * stored
        if said <= min(most, MOST_ENTRIES):
            return said
        # What is lost may have been all that the rest is too small for.
        if lost and said <= MOST_ENTRIES:
            return most
        raise Damage(f"tree chunk {chunk_id.hex()}", "unfolds without end: no backup of files wrote that")

    def limit(self, chunk_id, said):
        """`most_below`, or why nothing of it is to be walked through."""
        try:
            return self.most_below(chunk_id, said)
        except Unreadable as error:
            return error

    def walk(self, path, recursive=True):
        """What is below `path` (a list of names; all for an empty one) and the directories on the way, as
        ("enter" | "entry" | "leave" | "lost", Folder, Entry or Unreadable)."""
        top = Folder(None, None)
        stack = [(top, self.entries(self.root, path[0] if path else None), None if path else self.limit(self.root, None))]
        found = not path
        while stack:
            folder, items, left = stack[-1]
            item = left if isinstance(left, Unreadable) else next(items, None)
            depth = len(stack)
            if isinstance(item, Entry) and left is not None:
                left = left - item.count()
                if left < 0:
                    item = Damage(f"directory {shown(folder.path())}", "holds more than it says")
                stack[-1] = folder, items, left
            if item is None or isinstance(left, Unreadable) or (left is not None and left < 0):
                stack.pop()
                if isinstance(item, Unreadable):
                    found = True
                    yield "lost", folder, item
                if stack:
                    yield "leave", folder, folder.entry
            elif isinstance(item, Unreadable):
                found = True
                yield "lost", folder, item
            else:
                found = found or depth == len(path)
                if item.kind != DIRECTORY:
                    if depth >= len(path):
                        yield "entry", folder, item
                elif depth > DEEPEST:
                    yield "lost", folder, Damage(f"directory {shown(item.name)}", "is nested too deep")
                else:
                    child = Folder(folder, item)
                    yield "enter", child, item
                    if depth > len(path) and not recursive:
                        continue
                    only = path[depth] if depth < len(path) else None
                    # The first that is walked through whole is looked at; those below it hold no more than they say.
                    limit = None if only is not None else item.below if depth > len(path) else self.limit(item.id, item.below)
                    stack.append((child, self.entries(item.id, only), limit))
        if not found:
            raise Refused(f"{shown(b'/'.join(path))} is not in the snapshot")

    def walk_flat(self, path, recursive):
        """("entry" | "lost", Folder, Entry or Unreadable) of what `path` names: a directory's entries, or itself."""
        for what, folder, item in self.walk(path, recursive):
            if what == "enter" and len(folder.names()) > len(path):
                yield "entry", folder.parent, item
            elif what in ("entry", "lost"):
                yield what, folder, item


class Folder:
    """A directory on the way of a walk."""

    __slots__ = ("parent", "entry")

    def __init__(self, parent, entry):
        self.parent, self.entry = parent, entry

    def names(self):
        names, folder = [], self
        while folder.parent:
            names.append(folder.entry.name)
            folder = folder.parent
        return names[::-1]

    def path(self, name=None):
        return b"/" + b"/".join(self.names() + ([] if name is None else [name]))


class Layout:
    """Lays a file's chunks one after the other, holes left out."""

    def __init__(self, entry, where):
        self.at, self.size, self.where = 0, entry.size, where
        self.holes, self.next = entry.holes, 0

    def skip_holes(self):
        while self.next < len(self.holes) and self.holes[self.next][0] == self.at:
            self.at += self.holes[self.next][1]
            self.next += 1

    def place(self, length):
        """(offset in the file, start, end in the chunk) of each piece of the next chunk."""
        pieces, start = [], 0
        while start < length:
            self.skip_holes()
            until = self.holes[self.next][0] if self.next < len(self.holes) else self.size
            end = min(length, start + until - self.at)
            if end == start:
                raise Damage(self.where, "has more data than its size")
            pieces.append((self.at, start, end))
            self.at += end - start
            start = end
        return pieces

    def end(self):
        self.skip_holes()
        if self.at != self.size:
            raise Damage(self.where, "has less data than its size")


def shown(name):
    """Bytes as text that is safe on a terminal."""
    text = name.decode("utf-8", "surrogateescape")
    safe = (c if c.isprintable() and c != "\\" else c.encode("utf-8", "surrogateescape") for c in text)
    return "".join(c if isinstance(c, str) else "".join(f"\\x{byte:02x}" for byte in c) for c in safe)


# ---------------------------------------------------------------------------------------------------------------------
# Restoring
#
# Files are made in a folder of their own in the target, under numbers, and moved to their places when they are whole.
# Contents come segment by segment, not file by file, so that each segment is opened once for all files of a batch.
# Worker processes open segments and write; this process walks the tree, makes directories, and sets metadata. Names in
# the target are only ever resolved from a descriptor of their directory and no link is followed.

BATCH = 16_384  # events, or chunks: what bounds the memory
OUT_OF_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


class Context:
    """What worker processes have from this one, by fork."""

    destination = keys = id_key = staging = None


def write_segment(name, header, number, segment, chunks):
    """Opens a segment and writes chunks of it: [(id, offset, length, [(file, pieces)])]. Gives what failed:
    [(index of the chunk, reason)]."""
    try:
        raw = memoryview(open_segment(Context.destination, Context.keys, name, header, number, segment))
    except Unreadable as error:
        return [(i, str(error)) for i in range(len(chunks))]
    if Context.id_key:
        hashes = blake3([raw[offset : offset + length] for _, offset, length, _ in chunks], Context.id_key)
        bad = {i for i, value in enumerate(hashes) if value[:24] != chunks[i][0]}
    else:
        bad = set()
    failed = [(i, str(wrong_chunk(name, number, chunks[i][0]))) for i in bad]
    for i, (_, offset, length, targets) in enumerate(chunks):
        if i in bad:
            continue
        try:
            for file, pieces in targets:
                write_pieces(file, pieces, raw[offset : offset + length])
        except OSError as error:
            if error.errno in OUT_OF_ROOM:
                raise
            failed.append((i, f"cannot be written: {error.strerror}"))
    return failed


def write_pieces(file, pieces, chunk):
    fd = os.open(str(file), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600, dir_fd=Context.staging)
    try:
        for at, start, end in pieces:
            while start < end:
                written = os.pwrite(fd, chunk[start:end], at)
                at, start = at + written, start + written
    finally:
        os.close(fd)


class Batch:
    def __init__(self):
        self.events = []
        self.segments = {}  # (pack, segment) -> [(id, Location, [(file, pieces)])]
        self.chunks = {}  # id -> the entry in segments
        self.count = 0

    def add(self, chunk_id, location, file, pieces):
        self.count += 1
        known = self.chunks.get(chunk_id)
        if known is None:
            known = self.chunks[chunk_id] = (chunk_id, location, [])
            self.segments.setdefault((location.pack, location.segment), []).append(known)
        known[2].append((file, pieces))

    def full(self):
        return self.count >= BATCH or len(self.events) >= BATCH


class Folders:
    """Descriptors of directories in the target, the last ones kept open."""

    KEPT = 128

    def __init__(self, top):
        self.top, self.open = top, OrderedDict()

    def fd(self, folder):
        way = []
        while folder.parent and folder not in self.open:
            way.append(folder)
            folder = folder.parent
        fd = self.open[folder] if folder.parent else self.top
        if folder.parent:
            self.open.move_to_end(folder)
        for folder in reversed(way):
            fd = os.open(folder.entry.name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=fd)
            self.open[folder] = fd
            if len(self.open) > self.KEPT:
                os.close(self.open.popitem(last=False)[1])
        return fd

    def close(self, folder):
        fd = self.open.pop(folder, None)
        if fd is not None:
            os.close(fd)


class Restore:
    def __init__(self, index, tree, target, options, say):
        self.index, self.tree, self.options, self.say = index, tree, options, say
        os.makedirs(target, exist_ok=True)
        if os.listdir(target):
            raise Refused(f"{target} is not empty")
        self.folders = Folders(os.open(target, os.O_RDONLY | os.O_DIRECTORY))
        self.staging_path = os.path.join(target, f".recover-{os.urandom(8).hex()}")
        os.mkdir(self.staging_path, 0o700)
        self.staging = os.open(self.staging_path, os.O_RDONLY | os.O_DIRECTORY)
        self.owners = os.geteuid() == 0 and not options.no_owners
        self.batch, self.numbers = Batch(), 0
        self.failed = {}  # number of a file -> why its content is not whole
        self.done = dict.fromkeys(("files", "directories", "links", "others", "bytes"), 0)
        self.missing, self.unset, self.unowned, self.changed = Complaints(say), Complaints(say), 0, 0

    def run(self, path):
        Context.destination, Context.keys = self.index.destination, self.index.keys
        Context.staging = self.staging
        Context.id_key = None if self.options.no_ids else self.tree.data_key
        fork = multiprocessing.get_context("fork")
        with concurrent.futures.ProcessPoolExecutor(self.options.processes, fork) as pool:
            try:
                before = None
                for batch in self.batches(path):
                    running = self.submit(pool, batch)
                    if before:
                        self.finish(*before)
                    before = batch, running
                self.finish(*before)
            except BaseException:
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        shutil.rmtree(self.staging_path)
        os.sync()

    # Planning: what is to be done in order, and which chunks it takes.

    def batches(self, path):
        for what, folder, item in self.tree.walk(path):
            if what == "lost":
                self.missing.add(folder.path(b"*"), f"a part of this directory: {item}")
            elif what == "entry":
                yield from self.plan(folder, item)
            else:
                self.batch.events.append((what, folder, item, None))
            if self.batch.full():
                yield self.take_batch()
        yield self.take_batch()

    def take_batch(self):
        batch, self.batch = self.batch, Batch()
        return batch

    def plan(self, folder, entry):
        number = self.numbers
        if entry.flags & SEVERAL_LINKS:
            first = self.index.first_file(entry.same_file, number)
            if first != number:
                self.batch.events.append(("name", folder, entry, first))
                return
        self.numbers += 1
        if entry.kind == FILE:
            yield from self.plan_content(number, folder, entry)
        self.batch.events.append(("entry", folder, entry, number))

    def plan_content(self, number, folder, entry):
        layout = Layout(entry, "its content")
        try:
            for chunk_id in self.tree.chunk_ids(entry):
                found = self.index.locations(chunk_id)
                if not found:
                    raise Damage(f"chunk {chunk_id.hex()}", "is in no pack that can be read")
                self.batch.add(chunk_id, found[0], number, layout.place(found[0].length))
                if self.batch.full():
                    yield self.take_batch()
            layout.end()
        except Unreadable as error:
            self.failed[number] = str(error)

    # Contents

    def submit(self, pool, batch):
        running = []
        for place in sorted(batch.segments):
            chunks = batch.segments[place]
            task = [(chunk_id, location.offset, location.length, targets) for chunk_id, location, targets in chunks]
            running.append((chunks, pool.submit(write_segment, *self.index.segment(chunks[0][1]), task)))
        return running

    def finish(self, batch, running):
        for chunks, future in running:
            try:
                failures = future.result()
            except concurrent.futures.process.BrokenProcessPool as error:
                raise Refused("a process was ended from outside, for want of memory perhaps: try --processes 1") from error
            for i, reason in failures:
                self.write_another_copy(*chunks[i], reason)
        for what, folder, entry, number in batch.events:
            try:
                self.handle(what, folder, entry, number)
            except OSError as error:
                if error.errno in OUT_OF_ROOM:
                    raise
                self.missing.add(folder.path(None if what in ("enter", "leave") else entry.name), error.strerror)
        self.say(f"{self.done['files']:,} files, {self.done['bytes'] / 1e6:,.0f} MB", passing=True)

    def write_another_copy(self, chunk_id, failed, targets, reason):
        for location in self.index.locations(chunk_id):
            if (location.pack, location.segment) == (failed.pack, failed.segment) or location.length != failed.length:
                continue
            chunk = chunk_id, location.offset, location.length, targets
            if not write_segment(*self.index.segment(location), [chunk]):
                self.say(f"{reason} (another copy was read)")
                return
        for file, _ in targets:
            self.failed.setdefault(file, reason)

    # Entries

    def handle(self, what, folder, entry, number):
        if what == "enter":
            os.mkdir(entry.name, 0o700, dir_fd=self.folders.fd(folder.parent))
            self.done["directories"] += 1
        elif what == "leave":
            self.set_metadata(folder.path(), self.folders.fd(folder), entry)
            self.folders.close(folder)
        else:
            path = folder.path(entry.name)
            if number in self.failed:
                self.missing.add(path, self.failed[number])
                if not self.options.keep_damaged:
                    self.drop(number, entry)
                    return
            if what == "entry":
                self.make(path, number, entry)
            self.put_in_place(path, number, folder, entry)
            self.count(entry, what == "entry")

    def drop(self, number, entry):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(str(number), dir_fd=self.staging)
        if not entry.flags & SEVERAL_LINKS:
            del self.failed[number]

    def make(self, path, number, entry):
        """The entry in the staging folder, under its number."""
        name = os.path.join(self.staging_path, str(number))
        if entry.kind == FILE:
            fd = os.open(str(number), os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600, dir_fd=self.staging)
            try:
                if os.fstat(fd).st_size != entry.size:
                    os.ftruncate(fd, entry.size)
                self.set_metadata(path, fd, entry)
            finally:
                os.close(fd)
            return
        if entry.kind == LINK:
            os.symlink(entry.target, name)
        else:
            device = os.makedev(*entry.device) if entry.kind in (CHARACTER_DEVICE, BLOCK_DEVICE) else 0
            os.mknod(name, FORMAT_BITS[entry.kind] | 0o600, device)
        self.set_metadata(path, name, entry)

    def put_in_place(self, path, number, folder, entry):
        """Under its name, which nothing has yet. A file of several names stays in the staging folder as well."""
        directory = self.folders.fd(folder)
        if entry.flags & SEVERAL_LINKS:
            try:
                os.link(str(number), entry.name, src_dir_fd=self.staging, dst_dir_fd=directory, follow_symlinks=False)
            except OSError as error:
                if entry.kind != FILE or error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK):
                    raise
                self.copy(path, number, directory, entry)
            return
        with contextlib.suppress(FileNotFoundError):
            os.stat(entry.name, dir_fd=directory, follow_symlinks=False)
            raise FileExistsError(errno.EEXIST, "the target has this name already")
        os.rename(str(number), entry.name, src_dir_fd=self.staging, dst_dir_fd=directory)

    def copy(self, path, number, directory, entry):
        """For targets without hard links."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with open(os.path.join(self.staging_path, str(number)), "rb") as source:
            with open(os.open(entry.name, flags, 0o600, dir_fd=directory), "wb") as copy:
                shutil.copyfileobj(source, copy, MIB)
                copy.flush()
                self.set_metadata(path, copy.fileno(), entry)
        self.unset.add(path, "is a copy: the target cannot give a file several names")

    def set_metadata(self, path, place, entry):
        """`place` is a descriptor, or the path of something that has no content."""
        how = {} if isinstance(place, int) else {"follow_symlinks": False}
        mode = entry.mode
        steps = []
        if self.owners:
            steps.append(("owner", lambda: os.chown(place, entry.uid, entry.gid, **how)))
        elif (entry.uid, entry.gid) != (os.geteuid(), os.getegid()):
            # Rights to act as the owner would be rights to act as whoever restores.
            self.unowned, mode = self.unowned + 1, mode & ~0o6000
        for name, value in entry.xattrs:
            steps.append((f"attribute {shown(name)}", functools.partial(os.setxattr, place, name, value, **how)))
        if entry.kind != LINK:
            steps.append(("mode", lambda: os.chmod(place, mode)))
        steps.append(("time", lambda: os.utime(place, ns=(entry.mtime, entry.mtime), **how)))
        for what, step in steps:
            try:
                step()
            except OSError as error:
                if error.errno in OUT_OF_ROOM and what == "mode":
                    raise
                self.unset.add(path, f"{what} not set: {error.strerror}")
            except (OverflowError, ValueError) as error:
                self.unset.add(path, f"{what} not set: {error}")

    def count(self, entry, first):
        kind = {FILE: "files", LINK: "links"}.get(entry.kind, "others")
        self.done[kind] += 1
        if entry.kind == FILE and first:
            self.done["bytes"] += entry.size
            self.changed += 1 if entry.flags & CHANGED else 0


class Complaints:
    """Said as they come, and the first thousand again at the end."""

    REPEATED = 1000

    def __init__(self, say):
        self.say, self.count, self.first = say, 0, []

    def add(self, path, why):
        self.count += 1
        line = f"{shown(path)}: {why}"
        self.say(line)
        if len(self.first) < self.REPEATED:
            self.first.append(line)

    def lines(self):
        yield from self.first
        if self.count > len(self.first):
            yield f"and {self.count - len(self.first):,} more, named above"


# ---------------------------------------------------------------------------------------------------------------------
# Commands


class Terminal:
    """Messages go to stderr; a passing one is overwritten by the next, and shown on a terminal only."""

    def __init__(self):
        self.passing, self.warnings = False, 0

    def say(self, text, passing=False):
        shows = sys.stderr.isatty()
        if passing and not shows:
            return
        start = "\r\033[K" if self.passing else ""
        self.passing = passing
        print(f"{start}{text}", end="" if passing else "\n", file=sys.stderr, flush=True)

    def warn(self, text):
        self.warnings += 1
        self.say(f"warning: {text}")


class Repository:
    def __init__(self, options, terminal):
        self.terminal = terminal
        self.destination = Destination(options.directory)
        self.keys = Keys(unlock(self.destination, read_secret(options), terminal.warn, options.any_cost))
        check_config(self.destination, self.keys, terminal.warn)
        forgotten = forgotten_snapshots(self.destination, self.keys, terminal.warn)
        self.forgotten, self.snapshots = set(), {}
        for name in self.destination.names("snapshots", NAME):
            if name in forgotten:
                self.forgotten.add(name)
                if not options.forgotten:
                    continue
            try:
                self.snapshots[name] = read_snapshot(self.destination, self.keys, name)
            except Unreadable as error:
                terminal.warn(str(error))

    def in_order(self):
        """Oldest first. What a write-only key stored goes by the storage's time, never back along a chain."""
        last, at = {}, {}
        for name in sorted(self.snapshots, key=lambda name: (self.snapshots[name].get("place", b""), name)):
            snapshot = self.snapshots[name]
            place = snapshot.get("place", b"")
            writer = place[:16] or name
            at[name] = last[writer] = max(snapshot["counts_at"], last.get(writer, snapshot["counts_at"]))
        return sorted(at, key=lambda name: (at[name], self.snapshots[name].get("place", b""), name))

    def choose(self, wanted, stored_by=None):
        name = self.latest(stored_by) if wanted == "latest" and self.snapshots else self.named(wanted)
        by = self.snapshots[name]["stored_by"]
        if by != FULL_KEYS:
            self.terminal.say(f"{name[:16]} was stored with write-only key {by}: whoever has that key chose its host, paths and times")
        return name

    def latest(self, stored_by):
        """The newest that full keys stored, or else the one write-only key that stored any: nothing tells who is meant of several."""
        groups = {}
        for name in self.in_order():
            by = self.snapshots[name]["stored_by"]
            if stored_by in (None, by, by.partition("@")[0]):
                groups.setdefault(by, []).append(name)
        if FULL_KEYS in groups or len(groups) == 1:
            return groups[FULL_KEYS if FULL_KEYS in groups else next(iter(groups))][-1]
        if not groups:
            raise Refused(f"no snapshot was stored by {stored_by}: see `list`")
        raise Refused(f"several write-only keys stored snapshots: choose one with --stored-by {' or '.join(sorted(groups))}")

    def named(self, wanted):
        found = [name for name in self.snapshots if len(wanted) >= 4 and name.startswith(wanted.lower())]
        if len(found) != 1:
            raise Refused(f"{'several snapshots begin' if found else 'no snapshot begins'} with {wanted}: see `list`")
        return found[0]

    def tree(self, name):
        index = Index(self.destination, self.keys, self.terminal.warn)
        return index, Tree(ChunkReader(self.destination, self.keys, index), self.keys, self.snapshots[name])


def text_of(written):
    """A text in whatever encoding its byte order mark names, UTF-8 without one. Nothing is guessed."""
    wide = written.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        return written.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError:
        raise Refused("The secret file is not text in UTF-8. Save it as plain text in UTF-8.") from None


def read_secret(options):
    if options.machine_key_file:
        with open(options.machine_key_file, "rb") as file:
            return MACHINE, machine_secret(file.read())
    if options.secret_file:
        with open(options.secret_file, "rb") as file:
            typed = re.sub(r"(?:\r?\n)+\Z", "", text_of(file.read()))
    else:
        typed = getpass.getpass("Passphrase or recovery code: ")
    code = recovery_secret(typed)
    return (RECOVERY, code) if code else (PASSPHRASE, typed)


def utc(milliseconds):
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(milliseconds // 1000))
    except (OverflowError, ValueError, OSError):
        return f"{milliseconds} ms"


def names_of(path):
    return [name for name in os.fsencode(path).split(b"/") if name not in (b"", b".")]


def list_snapshots(repository, _options):
    for name in repository.in_order():
        snapshot = repository.snapshots[name]
        counts = snapshot["counts"]
        notes = [snapshot["status"] if snapshot["status"] == "partial" else "", *snapshot["tags"]]
        notes += [] if snapshot["stored_by"] == FULL_KEYS else [f"write-only key {snapshot['stored_by']}"]
        notes += ["forgotten"] if name in repository.forgotten else []
        columns = [
            name[:16],
            utc(snapshot["counts_at"]) + " UTC",
            f"{snapshot['user']}@{snapshot['host']}",
            f"{counts['files']:,} files",
            f"{counts['bytes'] / 1e6:,.1f} MB",
            " ".join(shown(path) for path in snapshot["paths"]),
            " ".join(note for note in notes if note),
        ]
        print("  ".join(shown(column.encode("utf-8", "surrogatepass")) for column in columns if column))
    if not repository.snapshots:
        repository.terminal.say("no snapshot can be read")
    return 1 if repository.terminal.warnings else 0


def list_entries(repository, options):
    _, tree = repository.tree(repository.choose(options.snapshot, options.stored_by))
    path = names_of(options.path)
    status = 0
    for what, folder, item in tree.walk_flat(path, options.recursive):
        if what == "lost":
            repository.terminal.say(f"{shown(folder.path(b'*'))}: a part of this directory: {item}")
            status = 1
        else:
            print(long_line(item, folder.path(item.name) if options.recursive else item.name))
    return status


def long_line(entry, name):
    kind = stat.filemode(FORMAT_BITS[entry.kind] | entry.mode)
    size = entry.size if entry.kind == FILE else ",".join(map(str, entry.device)) if entry.kind >= CHARACTER_DEVICE else 0
    arrow = f" -> {shown(entry.target)}" if entry.kind == LINK else ""
    return f"{kind} {entry.uid:>6} {entry.gid:>6} {size:>14} {utc(entry.mtime // 1_000_000)} {shown(name)}{arrow}"


def write_file(repository, options):
    _, tree = repository.tree(repository.choose(options.snapshot, options.stored_by))
    path = names_of(options.path)
    entry = None
    for what, _, item in tree.walk(path):
        if what == "lost":
            raise item
        if what == "entry":
            entry = item
    if entry is None or entry.kind != FILE:
        raise Refused(f"{options.path} is no file")
    layout, at = Layout(entry, options.path), 0

    def zeros(count):
        while count > 0:
            count -= sys.stdout.buffer.write(bytes(min(count, MIB)))

    for chunk_id in tree.chunk_ids(entry):
        chunk = tree.chunks.read(chunk_id, tree.data_key)
        for offset, start, end in layout.place(len(chunk)):
            zeros(offset - at)
            sys.stdout.buffer.write(chunk[start:end])
            at = offset + end - start
    layout.end()
    zeros(entry.size - at)
    sys.stdout.buffer.flush()
    return 0


def restore(repository, options):
    name = repository.choose(options.snapshot, options.stored_by)
    snapshot = repository.snapshots[name]
    say = repository.terminal.say
    index, tree = repository.tree(name)
    run = Restore(index, tree, options.target, options, say)
    try:
        run.run(names_of(options.path))
    except OSError as error:
        raise Refused(f"{options.target}: {error.strerror or error}; what it has so far is in {run.staging_path}") from error
    done = run.done
    say(
        f"Restored from {name}: {done['files']:,} files ({done['bytes']:,} bytes), {done['directories']:,} directories, "
        f"{done['links']:,} links, {done['others']:,} others"
    )
    if run.unowned:
        say(f"{run.unowned:,} entries belong to you and not to their owner: only root can give them back")
    if run.changed:
        say(f"{run.changed:,} files were being changed while they were backed up")
    if snapshot["status"] == "partial":
        say(f"The snapshot is partial; what could not be backed up is missing ({len(snapshot['errors']) + snapshot['errors_more']:,}):")
        for item in snapshot["errors"][:1000]:
            say(f"  {shown(item['path'])}: {shown(item['code'].encode('utf-8', 'surrogatepass'))}")
    if run.unset.count:
        say(f"METADATA NOT SET ({run.unset.count:,}):")
        for line in run.unset.lines():
            say(f"  {line}")
    if run.missing.count:
        say(f"MISSING OR DAMAGED ({run.missing.count:,}):")
        for line in run.missing.lines():
            say(f"  {line}")
    return 1 if run.missing.count or run.unset.count else 0


def arguments():
    parser = argparse.ArgumentParser(
        description="Restores snapshots from a directory with a Holdfast repository, without Holdfast.",
        epilog="Exit status: 0 all done, 1 something is missing or damaged (named at the end), 2 nothing was done.",
    )
    parser.add_argument("directory", help="directory with the repository: it has the folders keys, packs, snapshots")
    secrets = parser.add_mutually_exclusive_group()
    secrets.add_argument("--secret-file", metavar="FILE", help="has the passphrase or recovery code; asked for by default")
    secrets.add_argument("--machine-key-file", metavar="FILE", help="machine.key of the machine that made the backups")
    parser.add_argument("--any-cost", action="store_true", help="accept any cost of the passphrase, also one that a repository for tests has")
    parser.add_argument("--forgotten", action="store_true", help="show forgotten snapshots too; their contents may be gone")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("list", help="the snapshots").set_defaults(run=list_snapshots)
    ls = commands.add_parser("ls", help="what a directory holds")
    ls.add_argument("-r", "--recursive", action="store_true")
    ls.set_defaults(run=list_entries)
    cat = commands.add_parser("cat", help="writes a file to stdout")
    cat.set_defaults(run=write_file)
    into = commands.add_parser("restore", help="restores into an empty directory")
    into.set_defaults(run=restore)
    for command in (ls, cat, into):
        command.add_argument("snapshot", help="beginning of its name (see list), or latest")
        command.add_argument("--stored-by", metavar="KEY", help="of latest: full, or the write-only key (see list); full keys by default")
    ls.add_argument("path", nargs="?", default="/")
    cat.add_argument("path")
    into.add_argument("target", help="directory that is empty or missing; paths are made whole below it")
    into.add_argument("--path", default="/", help="this file or directory alone")
    into.add_argument("--keep-damaged", action="store_true", help="keep damaged files, with zeros for what is missing")
    into.add_argument("--no-owners", action="store_true", help="do not set owners, even as root")
    into.add_argument("--no-ids", action="store_true", help="rely on the seals and do not hash each chunk: faster")
    into.add_argument("--processes", type=int, default=os.cpu_count() or 1, metavar="N", help="default: one for each processor")
    return parser.parse_args()


def main():
    options = arguments()
    terminal = Terminal()
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.stderr.reconfigure(errors="backslashreplace")
    try:
        return options.run(Repository(options, terminal), options)
    except (Refused, Unreadable) as error:
        terminal.say(f"recover.py: {error}")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        terminal.say(f"recover.py: {error}")
    except KeyboardInterrupt:
        terminal.say("recover.py: interrupted")
    return 2


if __name__ == "__main__":
    sys.exit(main())
