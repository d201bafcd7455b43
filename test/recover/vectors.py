"""Runs the test vectors of the format through recover.py: vectors.py RECOVER VECTORS HASHES. Prints how many held of each
kind, as JSON. HASHES is `[{"length", "key" | null, "hash"}]` of messages whose byte i is i mod 251."""

import importlib.util
import json
import os
import sys
import tempfile

spec = importlib.util.spec_from_file_location("recover", sys.argv[1])
recover = importlib.util.module_from_spec(spec)
spec.loader.exec_module(recover)

with open(sys.argv[2], encoding="utf-8") as file:
    vectors = json.load(file)
with open(sys.argv[3], encoding="utf-8") as file:
    hashes = json.load(file)
hexed = bytes.fromhex
counts = {}


def holds(kind, got, wanted):
    if got != wanted:
        sys.exit(f"{kind}: {got!r} instead of {wanted!r}")
    counts[kind] = counts.get(kind, 0) + 1


def refused(kind, action):
    try:
        action()
    except (recover.Refused, recover.Unreadable):
        counts[kind] = counts.get(kind, 0) + 1
    else:
        sys.exit(f"{kind}: accepted")


def keys_with(**changed):
    keyring = {
        "repo": hexed(vectors["repo"]),
        "gens": [{"g": 1, "key": hexed(vectors["root_key"]), "state": "current"}],
        **{name: hexed(vectors["chunk_ids"][name]) for name in ("id_data", "id_tree", "id_plain")},
        **changed,
    }
    return recover.Keys(keyring)


for key in sorted({one["key"] for one in hashes}, key=str):
    asked = [one for one in hashes if one["key"] == key]
    messages = [bytes(i % 251 for i in range(251)) * (one["length"] // 251 + 1) for one in asked]
    messages = [message[: one["length"]] for message, one in zip(messages, asked)]
    for got, one in zip(recover.blake3(messages, key and hexed(key)), asked):
        holds("blake3", got.hex(), one["hash"])
for one in vectors["argon2id"]:
    kdf = {"salt": hexed(one["salt"]), "m": one["m"], "t": one["t"], "p": one["p"]}
    holds("argon2id", recover.stretch(one["passphrase"], kdf, "vector", True).hex(), one["out"])
for one in vectors["hkdf"]:
    got = recover.hkdf(hexed(one["ikm"]), hexed(one["salt"]), one["info"].encode(), one["length"])
    holds("hkdf", got.hex(), one["out"])
for one in vectors["expand"]:
    holds("expand", recover.expand(hexed(one["prk"]), one["info"].encode(), one["length"]).hex(), one["out"])
for one in vectors["recovery_codes"]:
    holds("recovery code", recover.recovery_secret(one["code"]).hex(), one["secret"])
    holds("recovery code", recover.recovery_secret(one["code"].lower().replace("-", " ")).hex(), one["secret"])
    wrong = one["code"][:5] + ("A" if one["code"][5] != "A" else "B") + one["code"][6:]
    refused("mistyped recovery code", lambda wrong=wrong: recover.recovery_secret(wrong))

with tempfile.TemporaryDirectory() as directory:
    os.mkdir(os.path.join(directory, "keys"))
    destination = recover.Destination(directory)

    def store(key, data):
        path = os.path.join(directory, key)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(data)

    slots = {}
    for one in vectors["slots"]:
        data = hexed(one["file"])
        name = recover.read_cbor(data, "slot")["slot"].hex()
        store(f"keys/{name}", data)
        slot = slots[name] = recover.read_slot(destination, f"keys/{name}")
        opened = recover.open_slot(slot, hexed(one["secret"]))
        holds("slot", (opened[0].hex(), opened[1].hex()), (one["private"], one["ring_auth"]))
        holds("slot of another secret", recover.open_slot(slot, bytes(32)), None)
    one = vectors["ring"]
    store(f"keys/ring-{one['n']}", hexed(one["file"]))
    slot = {"slot": hexed(one["slot"]), "repo": hexed(vectors["repo"])}
    complaints = []
    ring = recover.ring_in_force(destination, slot, hexed(one["ring_auth"]), complaints.append)
    keyring = recover.open_keyring(ring, slot, hexed(one["private"]))
    holds("ring", recover.write_cbor(keyring).hex(), one["keyring"])
    holds("ring without complaint", complaints, [])
    holds("ring of another key", recover.ring_in_force(destination, slot, bytes(32), complaints.append), None)

    keys = keys_with()
    for one in vectors["object_keys"]:
        kind = next((kind for kind, name in recover.KEY_NAMES.items() if name == one["name"].encode()), None)
        if kind is None:
            continue  # heads, leases and local files, which readers do not open
        wanted = (one["key"], one["commitment"])
        single = recover.Keys({"repo": hexed(one["repo"]), "gens": [{"g": 1, "key": hexed(one["root"])}]})
        holds("object key", tuple(item.hex() for item in single.of_object(kind, 1, hexed(one["salt"]))), wanted)
    for one in vectors["parts"]:
        header, q = hexed(one["header"]), one["q"]
        if header[5] not in recover.KEY_NAMES:
            continue
        segment = one.get("segment")
        part = recover.struct.pack(">IIB", q, segment["raw"], segment["compression"]) if segment else bytes(9)
        arguments = keys, header, hexed(one["context"]), q, part
        holds("part", recover.open_part(*arguments, hexed(one["sealed"]), "part").hex(), one["plaintext"])
        broken = bytearray(hexed(one["sealed"]))
        broken[0] ^= 1
        refused("damaged part", lambda arguments=arguments, broken=broken: recover.open_part(*arguments, broken, "part"))
    for value, encoded in vectors["varints"]:
        cursor = recover.Cursor(hexed(encoded), "varint")
        holds("varint", cursor.varint(), int(value))
        cursor.end()
    for value, encoded in vectors["svarints"]:
        cursor = recover.Cursor(hexed(encoded), "svarint")
        holds("svarint", cursor.svarint(), int(value))
        cursor.end()
    for one in vectors["chunk_ids"]["ids"]:
        snapshot = {"plain": one["plain"], **({"salt": hexed(one["salt"])} if one.get("salt") else {})}
        key = keys.of_ids(snapshot)[0 if one["of"] == "data" else 1]
        holds("id key", key.hex(), one["key"])
        holds("chunk id", recover.blake3([hexed(vectors["chunk_ids"]["chunk"])], key)[0][:24].hex(), one["id"])

    for one in vectors["packs"]:
        data, name = hexed(one["bytes"]), one["name"]
        store(recover.pack_key(name), data)
        header, segments, lengths, ids = recover.read_pack_directory(destination, keys, name, len(data))
        wanted = [hexed(chunk) for segment in one["segments"] for chunk in segment["chunks"]]
        raws = [recover.open_segment(destination, keys, name, header, q, item) for q, item in enumerate(segments)]
        holds("pack", b"".join(raws), b"".join(wanted))
        holds("pack", lengths, [len(chunk) for chunk in wanted])
        holds("pack", ids, [value[:24] for value in recover.blake3(wanted, hexed(one["id_key"]))])
    one = vectors["index"]
    _, packs = (None, None)
    header = recover.make_header(keys, recover.INDEX, 1, 1, bytes(32))
    sealing = recover.AESGCM(keys.of_object(recover.INDEX, 1, bytes(32))[0])
    sealed = sealing.encrypt(bytes(12), b"\0" + hexed(one["raw"]), header + keys.repo + bytes(8) + bytes(9))
    name = recover.hashlib.sha256(header + sealed).hexdigest()
    store(f"index/{name}", header + sealed)
    older, packs = recover.read_index_object(destination, keys, name)
    holds("index object", older, one["supersedes"])
    for pack in vectors["packs"]:
        length, (header, segments, lengths, ids) = packs[pack["name"]]
        own = recover.read_pack_directory(destination, keys, pack["name"], len(pack["bytes"]) // 2)
        facts = [(item.offset, item.stored, item.raw, item.compression, item.chunks) for item in segments]
        wanted = [(item.offset, item.stored, item.raw, item.compression, item.chunks) for item in own[1]]
        holds("index object", (header, facts, lengths, ids), (own[0], wanted, own[2], [item[:16] for item in own[3]]))
    one = vectors["compressed_index"]
    plain, raw = hexed(one["plaintext"]), hexed(one["raw"])
    holds("compressed index", recover.unzstd(plain[5:], int.from_bytes(plain[1:5], "big"), "index"), raw)
    one = vectors["snapshot"]
    store(f"snapshots/{one['name']}", hexed(one["object"]))
    worked = recover.Keys(keyring)
    snapshot = recover.read_snapshot(destination, worked, one["name"])
    # Not in the object: the reader learns them from its key and its place.
    for learned in ("stored_by", "counts_at"):
        del snapshot[learned]
    holds("snapshot", recover.write_cbor(snapshot).hex(), one["plaintext"])

trees = vectors["trees"]


class Single:
    """A tree of one chunk."""

    def __init__(self, chunk):
        self.chunk = chunk

    def read(self, _id, _key):
        return self.chunk


def tree_of(chunk):
    return recover.Tree(Single(chunk), keys, {"root": bytes(24), "plain": False})


holds("empty leaf", list(tree_of(hexed(trees["empty_leaf"])).entries(bytes(24))), [])
KINDS = ("file", "directory", "symlink", "fifo", "socket", "char-device", "block-device")
entries = list(tree_of(hexed(trees["leaf"]["bytes"])).entries(bytes(24)))
holds("leaf", len(entries), len(trees["leaf"]["entries"]))
for entry, wanted in zip(entries, trees["leaf"]["entries"]):
    got = KINDS[entry.kind - 1], entry.name.decode("latin-1"), entry.mode, entry.uid, entry.gid, entry.mtime
    same = ("type", "name", "mode", "uid", "gid")
    holds("entry", got, (*(wanted[name] for name in same), int(wanted["mtimeNs"])))
cursor, form = tree_of(hexed(trees["branch"]["bytes"])).open(bytes(24))
children = tree_of(b"").branch(cursor, None, None)
holds("branch", [(name.hex(), child.hex()) for name, child in children], [(one["first"], one["id"]) for one in trees["branch"]["children"]])
whole = recover.Entry()
whole.flags, whole.ids, whole.size, whole.holes = recover.INDIRECT, bytes(24), 1 << 40, ()
ids = [item.hex() for item in tree_of(hexed(trees["list"]["bytes"])).chunk_ids(whole)]
holds("list", ids, trees["list"]["ids"])

for bad in ("a161761801", "a1617601ff", "a2617601617602", "a26162016161ff", "a16176fb3ff0000000000000", "a16176c001", "a1617b9f01ff"):
    refused("CBOR that is not deterministic", lambda bad=bad: recover.read_cbor(hexed(bad), "record"))
print(json.dumps(counts))
