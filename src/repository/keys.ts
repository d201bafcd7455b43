import { randomBytes } from 'node:crypto';
import { DestinationError, RepositoryError } from '../base/errors.ts';
import type { Argon2Cost } from '../codec/kdf.ts';
import type { Keyring, SlotKind } from '../format/keyring.ts';
import { createSlot, decodeSlot, openRing, sealRing, type Secret } from './key-slots.ts';
import { listNumbered } from './listing.ts';
import { sha256 } from './objects.ts';
import { Repository } from './repository.ts';
import { isDamage } from './chunk-index.ts';

export interface KeyInfo {
  /** 32 hex digits. */
  readonly slot: string;
  readonly kind: SlotKind;
  readonly label: string;
  /** Undefined when the slot file is missing or damaged. */
  readonly createdMs: number | undefined;
  /** The slot this repository was opened with. */
  readonly current: boolean;
  /** `unknown`: the keyring does not list it, so it opens nothing; what a broken-off `addKey` leaves. */
  readonly state: 'sound' | 'missing' | 'damaged' | 'unknown';
}

/** The repository as it is after its keys were changed; the one before must not be used any more. */
export interface KeyChange {
  readonly repository: Repository;
  readonly slot: string;
}

export interface NewKey {
  readonly secret: Secret;
  readonly label: string;
  /** For passphrases. */
  readonly cost: Argon2Cost;
}

/** Every key slot, those that the keyring lists first. */
export async function listKeys(repository: Repository, signal: AbortSignal): Promise<KeyInfo[]> {
  const { slots } = repository.keyring;
  const keys: KeyInfo[] = [];
  for (const { slot, kind, label, file } of slots) {
    const stored = await readSlotFile(repository, slot, signal);
    const sound =
      stored?.slot !== undefined && (file === undefined || file.toString('hex') === stored.digest);
    keys.push({
      slot,
      kind,
      label,
      createdMs: stored?.slot?.createdMs,
      current: slot === repository.slot.slot,
      state: stored === undefined ? 'missing' : sound ? 'sound' : 'damaged',
    });
  }
  for await (const page of repository.destination.list('keys/', signal)) {
    for (const { key } of page) {
      const name = key.slice('keys/'.length);
      if (!/^[0-9a-f]{32}$/.test(name) || slots.some(({ slot }) => slot === name)) continue;
      const stored = await readSlotFile(repository, name, signal);
      if (stored?.slot === undefined) continue;
      const { kind, label, createdMs } = stored.slot;
      keys.push({ slot: name, kind, label, createdMs, current: false, state: 'unknown' });
    }
  }
  return keys;
}

/**
 * Lets another secret open the repository. The slot is stored first, then the keyring that knows it: in between, the
 * new secret opens nothing and the old ones everything.
 *
 * @throws {RepositoryError} REPOSITORY_LOCKED when the keys are changed elsewhere at the same time
 */
export async function addKey(repository: Repository, key: NewKey, signal: AbortSignal): Promise<KeyChange> {
  const now = await withNewestRing(repository, signal);
  if (now.keyring.slots.length >= 64) {
    throw new RepositoryError('LIMIT_EXCEEDED', 'The repository has 64 keys, which is the limit', {
      hint: 'Remove one that is no longer needed.',
    });
  }
  const facts = { label: key.label, cost: key.cost, createdMs: repository.clock.now() };
  const { file, known } = await createSlot(now.keyring.repository, key.secret, now.slot.ringAuth, facts);
  await now.destination.put(`keys/${known.slot}`, file, signal);
  const keyring = { ...now.keyring, slots: [...now.keyring.slots, known] };
  return { repository: await replaceRing(now, keyring, signal), slot: known.slot };
}

/**
 * Takes a key away: a new keyring without it, whose new generation of keys it never sees, then its file. Whoever kept
 * a copy of the slot and of the old keyring can still read what was stored until now.
 *
 * @param slot 32 hex digits
 * @throws {RepositoryError} REFUSED when no passphrase or recovery code would be left, or there is no such slot
 */
export async function removeKey(
  repository: Repository,
  slot: string,
  signal: AbortSignal,
): Promise<KeyChange> {
  const now = await withNewestRing(repository, signal);
  const keys = await listKeys(now, signal);
  const gone = keys.find((key) => key.slot === slot);
  if (gone === undefined) {
    throw new RepositoryError('REFUSED', `The repository has no key ${slot}`, {
      hint: 'List the keys with: holdfast keys list',
    });
  }
  if (gone.state !== 'unknown') requireEnoughLeft(keys, gone);
  if (gone.state === 'unknown') {
    await now.destination.delete(`keys/${slot}`, signal);
    return { repository: now, slot };
  }
  const newest = Math.max(...now.keyring.generations.map(({ g }) => g));
  const keyring: Keyring = {
    ...now.keyring,
    slots: now.keyring.slots.filter((one) => one.slot !== slot),
    generations: [
      ...now.keyring.generations.map((one) => ({ ...one, state: 'old' as const })),
      { g: newest + 1, key: randomBytes(32), state: 'current' },
    ],
  };
  const changed = await replaceRing(now, keyring, signal);
  await changed.destination.delete(`keys/${slot}`, signal);
  return { repository: changed, slot };
}

/** Puts a new secret in the place of a key; in between both open the repository. */
export async function replaceKey(
  repository: Repository,
  slot: string,
  key: NewKey,
  signal: AbortSignal,
): Promise<KeyChange> {
  const added = await addKey(repository, key, signal);
  const { repository: changed } = await removeKey(added.repository, slot, signal);
  return { repository: changed, slot: added.slot };
}

function requireEnoughLeft(keys: readonly KeyInfo[], gone: KeyInfo): void {
  const left = keys.filter((key) => key.slot !== gone.slot && key.state === 'sound');
  const forPeople = ({ kind }: KeyInfo): boolean => kind !== 'machine';
  const enough = left.length > 0 && (left.some(forPeople) || !keys.some(forPeople) || !forPeople(gone));
  if (enough) return;
  throw new RepositoryError(
    'REFUSED',
    'This is the last passphrase or recovery code that opens the repository',
    {
      hint: 'Add another one first.',
    },
  );
}

/** The repository with the ring that is in force now, which another host may have changed since it was opened. */
async function withNewestRing(repository: Repository, signal: AbortSignal): Promise<Repository> {
  const { destination, slot } = repository;
  const newest = Math.max(0, ...(await ringNumbers(repository, signal)));
  if (newest <= repository.ringNumber) return repository;
  const keyring = openRing(await destination.get(`keys/ring-${newest}`, undefined, signal), newest, slot);
  return withKeyring(repository, keyring, newest);
}

async function ringNumbers(repository: Repository, signal: AbortSignal): Promise<number[]> {
  return await listNumbered(repository.destination, 'keys/ring-', signal);
}

async function replaceRing(
  repository: Repository,
  keyring: Keyring,
  signal: AbortSignal,
): Promise<Repository> {
  const n = repository.ringNumber + 1;
  try {
    await repository.destination.put(
      `keys/ring-${n}`,
      sealRing(keyring, n, repository.slot.ringAuth),
      signal,
    );
  } catch (error) {
    if (!(error instanceof DestinationError) || error.kind !== 'exists') throw error;
    throw new RepositoryError(
      'REPOSITORY_LOCKED',
      'The keys of this repository were changed at the same time',
      {
        hint: 'Look at the list of keys, then try again.',
        retry: 'later',
        cause: error,
      },
    );
  }
  await repository.writer.remember({ ring: n });
  return withKeyring(repository, keyring, n);
}

function withKeyring(repository: Repository, keyring: Keyring, ringNumber: number): Repository {
  const { destination, clock, config, writer, slot } = repository;
  return new Repository({ destination, clock, config, writer, keyring, ringNumber, slot });
}

async function readSlotFile(
  repository: Repository,
  slot: string,
  signal: AbortSignal,
): Promise<{ slot: ReturnType<typeof decodeSlot> | undefined; digest: string } | undefined> {
  let bytes: Buffer;
  try {
    bytes = await repository.destination.get(`keys/${slot}`, undefined, signal);
  } catch (error) {
    if (error instanceof DestinationError && error.kind === 'not-found') return undefined;
    throw error;
  }
  try {
    const decoded = decodeSlot(bytes, `keys/${slot}`);
    return { slot: decoded.slot === slot ? decoded : undefined, digest: sha256(bytes) };
  } catch (error) {
    if (!isDamage(error)) throw error;
    return { slot: undefined, digest: '' };
  }
}
