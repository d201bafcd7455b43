import { describe, expect, it } from 'vitest';
import { RepositoryError } from '../../../src/base/errors.ts';
import { DEFAULT_COST } from '../../../src/codec/kdf.ts';
import { encodeCbor, type CborMap } from '../../../src/format/cbor.ts';
import type { Keyring, KnownSlot } from '../../../src/format/keyring.ts';
import {
  createSlot,
  openRing,
  openSlot,
  sealRing,
  type OpenSlot,
  type Secret,
} from '../../../src/repository/slots/key-slots.ts';
import { planTries } from '../../../src/repository/slots/slot-cost.ts';
import { memoryBytes } from '../../../src/system/machine-memory.ts';
import { ringFile, slotFile, keyringBytes } from '../../support/independent-writer.ts';
import {
  publicOf,
  uncbor,
  without,
  hkdf,
  join,
  gcmSeal,
  hmac,
} from '../../support/independent-primitives.ts';
import { secretBytes } from '../../support/test-keys.ts';
import { decodeSlot, type SlotFile } from '../../../src/repository/slots/slot-file.ts';

const repository = secretBytes('repository', 16);
const ringAuth = secretBytes('ring authentication');
const cost = { m: 64, t: 1, p: 1 };
const passphrase = (text: string): Secret => ({ kind: 'passphrase', text });
const machine: Secret = { kind: 'machine', secret: secretBytes('machine') };

async function slotFor(secret: Secret, createdMs = 1, label = 'label') {
  const made = await createSlot(repository, secret, ringAuth, { label, createdMs, cost });
  return { ...made, slot: decodeSlot(made.file, 'slot') };
}

async function codeOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    if (error instanceof RepositoryError) return error.code;
    throw error;
  }
  return 'opened';
}

function keyring(slots: readonly KnownSlot[]): Keyring {
  return {
    repository,
    idData: secretBytes('1'),
    idTree: secretBytes('2'),
    idPlain: secretBytes('3'),
    cdc: secretBytes('4'),
    admin: secretBytes('5'),
    adminPublic: secretBytes('6'),
    generations: [{ g: 1, key: secretBytes('7'), state: 'current' }],
    minFormat: 1,
    slots,
  };
}

/** A slot file with other values in its map, everything else as it was. */
function withFields(file: Buffer, fields: CborMap): SlotFile {
  return decodeSlot(encodeCbor({ ...(uncbor(file) as CborMap), ...fields }), 'slot');
}

const MIB = 1_048_576;

describe('a key slot', () => {
  it('opens with its secret, however the passphrase is composed, and with nothing else', async () => {
    const { slot, open } = await slotFor(passphrase('Gr\u00F6\u00DFe'));
    const opened = await openSlot([slot], passphrase('Gro\u0308\u00DFe'), true);

    expect(opened).toEqual(open);
    expect(opened.ringAuth.equals(ringAuth)).toBe(true);
    for (const wrong of ['Gr\u00F6\u00DFe ', 'gr\u00F6\u00DFe', '', 'Gro\u00DFe'])
      expect(await codeOf(() => openSlot([slot], passphrase(wrong), true))).toBe('WRONG_PASSPHRASE');
    expect(await codeOf(() => openSlot([slot], machine, true))).toBe('WRONG_PASSPHRASE');
    expect(await codeOf(() => openSlot([], passphrase('x'), true))).toBe('WRONG_PASSPHRASE');
  });

  it('is never made with, or opened by, a passphrase in which something stands for what was lost', async () => {
    expect(await codeOf(() => slotFor(passphrase('p\uFFFDss')))).toBe('REFUSED');
    expect(await codeOf(() => slotFor(passphrase('pass\uD800')))).toBe('REFUSED');
    const { slot } = await slotFor(passphrase('pass'));
    await expect(openSlot([slot], passphrase('pass\uD800'), true)).rejects.toMatchObject({
      code: 'WRONG_PASSPHRASE',
      message: expect.stringContaining('half of a character') as unknown,
    });
  });

  it('of recovery codes and machines opens without stretching', async () => {
    for (const kind of ['recovery', 'machine'] as const) {
      const { slot, open } = await slotFor({ kind, secret: secretBytes(kind) });

      expect(slot.cost).toBeUndefined();
      expect(await openSlot([slot], { kind, secret: secretBytes(kind) }, false)).toEqual(open);
      expect(await codeOf(() => openSlot([slot], { kind, secret: secretBytes('x') }, false))).toBe(
        'WRONG_PASSPHRASE',
      );
    }
  });

  it('is damage with any of its fields changed, before or behind the commitment', async () => {
    const { file } = await slotFor(machine);
    const changes: CborMap[] = [
      { label: 'other' },
      { created: 2 },
      { repo: Buffer.alloc(16) },
      { public: Buffer.alloc(32) },
      { nonce: Buffer.alloc(12) },
      { ct: Buffer.alloc(80) },
      { added: 'later' },
    ];

    for (const change of changes)
      expect(await codeOf(() => openSlot([withFields(file, change)], machine, false))).toBe('CORRUPT_DATA');
    for (const change of [{ commit: Buffer.alloc(32) }, { slot: Buffer.alloc(16) }])
      expect(await codeOf(() => openSlot([withFields(file, change)], machine, false))).toBe(
        'WRONG_PASSPHRASE',
      );
  });

  it('may have fields that only a later version knows, if they were there when it was sealed', async () => {
    const parts = { repo: repository, slot: secretBytes('slot', 16), nonce: secretBytes('nonce', 12) };
    const secret = secretBytes('machine');
    const own = secretBytes('slot private');
    const plain = slotFile({
      ...parts,
      kind: 3,
      kdf: null,
      label: '',
      created: 1,
      secret,
      private: own,
      ringAuth,
    });
    const map = { ...uncbor(plain), added_later: ['x'] };
    const okm = hkdf(secret, parts.slot, join('hf1/slot/v1'), 64);
    const ct = gcmSeal(
      okm.subarray(0, 32),
      parts.nonce,
      join('hf1/slot', without(map, 'ct')),
      join(own, ringAuth),
    );
    const opened = await openSlot([decodeSlot(encodeCbor({ ...map, ct }), 'slot')], machine, false);

    expect(opened.private).toEqual(own);
  });

  it('is refused by cost before any memory is spent', async () => {
    const { file } = await slotFor(passphrase('x'));
    const salt = Buffer.alloc(32);
    const refused = async (m: number, t: number, p: number, weak = false): Promise<string> =>
      await codeOf(() => openSlot([withFields(file, { kdf: { m, t, p, salt } })], passphrase('x'), weak));
    const started = performance.now();
    const most = Math.min(1_048_576, Math.max(262_144, Math.floor(memoryBytes() / 4_096)));

    expect(await refused(65_535, 1, 1)).toBe('LIMIT_EXCEEDED');
    expect(await refused(64, 1, 1)).toBe('LIMIT_EXCEEDED');
    expect(await refused(most + 1, 1, 1)).toBe('LIMIT_EXCEEDED');
    expect(await refused(1_048_577, 1, 1, true)).toBe('LIMIT_EXCEEDED');
    expect(await refused(2 ** 32, 1, 1)).toBe('LIMIT_EXCEEDED');
    expect(await refused(65_536, 9, 1)).toBe('LIMIT_EXCEEDED');
    expect(await refused(65_536, 0, 1)).toBe('LIMIT_EXCEEDED');
    expect(await refused(65_536, 1, 9)).toBe('LIMIT_EXCEEDED');
    expect(await refused(65_536, 1, 0)).toBe('LIMIT_EXCEEDED');
    expect(await refused(7, 1, 1, true)).toBe('LIMIT_EXCEEDED');
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  it('of the usual cost is tried on a small machine, and refused in words where it takes more than there is', async () => {
    const { file } = await slotFor(passphrase('x'));
    const usual = withFields(file, { kdf: { ...DEFAULT_COST, salt: Buffer.alloc(32) } });
    const dearer = withFields(file, { kdf: { ...DEFAULT_COST, m: 524_288, salt: Buffer.alloc(32) } });
    const on = (memory: number, ...slots: readonly SlotFile[]): ReturnType<typeof planTries> =>
      planTries(slots, 'passphrase', false, undefined, memory);

    expect(on(512 * MIB, usual, dearer).tried).toEqual([usual]);
    expect(on(460 * MIB, usual).tried).toEqual([usual]);
    expect(on(256 * MIB, usual)).toMatchObject({
      tried: [],
      refused: { code: 'LIMIT_EXCEEDED', message: expect.stringContaining('256.0 MiB of memory to open') },
    });
    expect(on(4_096 * MIB, usual, dearer).tried).toEqual([usual, dearer]);
  });

  it('that is refused or does not fit leaves the others to be tried', async () => {
    const right = await slotFor(passphrase('right'), 9);
    const expensive = withFields((await slotFor(passphrase('right'))).file, {
      kdf: { m: 2 ** 30, t: 1, p: 1, salt: Buffer.alloc(32) },
    });
    const others = await Promise.all(
      [2, 3, 4, 5, 6].map(async (n) => (await slotFor(passphrase('other'), n)).slot),
    );

    expect(await openSlot([expensive, ...others, right.slot], passphrase('right'), true)).toEqual(right.open);
    expect(await codeOf(() => openSlot([expensive, ...others], passphrase('right'), true))).toBe(
      'LIMIT_EXCEEDED',
    );
    expect(await codeOf(() => openSlot(others, passphrase('right'), true))).toBe('WRONG_PASSPHRASE');
  });

  it('that would take too long with all the others is not tried, and that is said', async () => {
    const right = (await slotFor(passphrase('right'))).slot;
    const other = (await slotFor(passphrase('other'))).slot;
    const work = cost.m * cost.t;

    expect((await openSlot([other, right], passphrase('right'), true, 2 * work)).slot).toBe(right.slot);
    await expect(openSlot([other, right], passphrase('right'), true, 2 * work - 1)).rejects.toMatchObject({
      code: 'WRONG_PASSPHRASE',
      message: expect.stringContaining('1 key slot was not tried') as unknown,
      details: { slotsNotTried: 1 },
    });
  });

  it('of the usual cost is tried whatever others were planted, and not for long', async () => {
    const { file } = await slotFor(passphrase('x'));
    const salt = Buffer.alloc(32);
    const usual = withFields(file, { created: 9_000, kdf: { ...DEFAULT_COST, salt } });
    const planted = (m: number, t: number): SlotFile =>
      withFields(file, { created: 0, kdf: { m, t, p: 1, salt } });
    const most = Math.min(1_048_576, Math.max(262_144, Math.floor(memoryBytes() / 4_096)));
    for (const one of [planted(65_536, 1), planted(262_143, 3), planted(262_144, 3), planted(most, 8)]) {
      const slots = [...Array.from({ length: 63 }, () => one), usual];
      const { tried } = planTries(slots, 'passphrase', false);

      expect(tried).toContain(usual);
      const work = tried.map((slot) => (slot.cost?.m ?? 0) * (slot.cost?.t ?? 0)).reduce((a, b) => a + b);
      expect(work).toBeLessThanOrEqual(64 * 262_144 * 3);
    }
  });

  it('is not made with a label that could not be read again', async () => {
    const long = 'ä'.repeat(64);

    expect((await slotFor(machine, 1, long)).slot.label).toBe(long);
    expect(await codeOf(() => slotFor(machine, 1, `${long}.`))).toBe('LIMIT_EXCEEDED');
  });

  it('is damage when it is larger than 8 KiB or asks for a newer version to be read', async () => {
    const { file } = await slotFor(machine);

    expect(await codeOf(() => decodeSlot(Buffer.concat([file, Buffer.alloc(8_192)]), 'slot'))).toBe(
      'CORRUPT_DATA',
    );
    expect(await codeOf(() => withFields(file, { v: 2 }))).toBe('NEWER_FORMAT');
    expect(await codeOf(() => withFields(file, { kind: 5 }))).toBe('CORRUPT_DATA');
  });
});

describe('a ring', () => {
  it('gives its keyring to every slot that it was sealed to', async () => {
    const slots = [await slotFor(machine), await slotFor({ kind: 'recovery', secret: secretBytes('r') })];
    const ring = keyring(slots.map(({ known }) => known));
    const bytes = sealRing(ring, 3, ringAuth);

    for (const { open } of slots) expect(openRing(bytes, 3, open)).toEqual(ring);
  });

  it('keeps a slot out that was removed from it', async () => {
    const [kept, removed] = [await slotFor(machine), await slotFor(machine)];
    const bytes = sealRing(keyring([kept.known]), 2, ringAuth);

    expect(await codeOf(() => openRing(bytes, 2, removed.open))).toBe('WRONG_PASSPHRASE');
    expect(await codeOf(() => openRing(bytes, 2, kept.open))).toBe('opened');
  });

  it('is damage when somebody without the authentication key made it, or it is stored under another number', async () => {
    const { open, known } = await slotFor(machine);
    const slots = [
      {
        slot: Buffer.from(known.slot, 'hex'),
        public: known.public,
        ephemeral: secretBytes('e'),
        nonce: secretBytes('n', 12),
      },
    ];
    const forged = (auth: Buffer): Buffer =>
      ringFile(repository, 1, keyringBytes({ repo: repository, forged: true }), auth, slots);
    const sound = sealRing(keyring([known]), 1, ringAuth);

    expect(await codeOf(() => openRing(forged(secretBytes('x')), 1, open))).toBe('CORRUPT_DATA');
    expect(await codeOf(() => openRing(sound, 2, open))).toBe('CORRUPT_DATA');
    expect(await codeOf(() => openRing(sealRing(keyring([known]), 1, secretBytes('x')), 1, open))).toBe(
      'CORRUPT_DATA',
    );
    for (let at = 0; at < sound.length; at += 7) {
      const changed = Buffer.from(sound);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(await codeOf(() => openRing(changed, 1, open))).toBe('CORRUPT_DATA');
    }
  });

  it('asks for a newer version only when it is authentic', async () => {
    const { open, known } = await slotFor(machine);
    const map = uncbor(sealRing(keyring([known]), 1, ringAuth)) as CborMap;

    expect(await codeOf(() => openRing(encodeCbor({ ...map, v: 2 }), 1, open))).toBe('CORRUPT_DATA');
    const { auth: _, ...rest } = { ...map, v: 2 } as Record<string, CborMap[string]>;
    const auth = hmac(ringAuth, encodeCbor(rest));
    expect(await codeOf(() => openRing(encodeCbor({ ...rest, auth }), 1, open))).toBe('NEWER_FORMAT');
  });

  it('does not open with another private key', async () => {
    const { known } = await slotFor(machine);
    const other: OpenSlot = { slot: known.slot, private: secretBytes('other'), ringAuth, writeOnly: false };

    expect(publicOf('X25519', other.private)).not.toEqual(known.public);
    expect(await codeOf(() => openRing(sealRing(keyring([known]), 1, ringAuth), 1, other))).toBe(
      'CORRUPT_DATA',
    );
  });
});
