import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import type { Destination, ListedObject } from '../../../src/destination/destination.ts';
import { createMemoryDestination } from '../../../src/destination/memory.ts';
import {
  FirstLook,
  type KeyCopies,
  type KeyCopy,
  type KnownPlace,
  type LookExtent,
} from '../../../src/repository/first-look.ts';
import type { Secret } from '../../../src/repository/slots/key-slots.ts';
import { addKey, removeKey } from '../../../src/repository/keys/keys.ts';
import { createRepository, openRepository } from '../../../src/repository/opening.ts';
import { deleteTwice } from '../../../src/repository/objects/second-copies.ts';
import { recordingDestination, type RecordingDestination } from '../../support/recording-destination.ts';

const { signal } = new AbortController();
const secret: Secret = { kind: 'machine', secret: randomBytes(32) };
const cost = { m: 64, t: 1, p: 1 };

/** A destination in memory as if it were far away, with lists as object stores have them. */
function farDestination({ flatLists = true } = {}): RecordingDestination {
  const inner = createMemoryDestination();
  const list = async function* (prefix: string, own: AbortSignal): AsyncGenerator<readonly ListedObject[]> {
    const all: ListedObject[] = [];
    for await (const page of inner.list(prefix, own)) all.push(...page);
    all.sort((a, b) => (a.key < b.key ? -1 : 1));
    for (let at = 0; at < all.length; at += 1000) yield all.slice(at, at + 1000);
  };
  const properties = { ...inner.properties, remote: true, flatLists };
  return recordingDestination({ ...inner, list, properties });
}

function keptCopies(): KeyCopies & { readonly kept: KeyCopy[] } {
  const kept: KeyCopy[] = [];
  let place: KnownPlace = { complete: false, large: false };
  return {
    kept,
    get known() {
      return { ...place, listed: kept.map(({ listed }) => listed) };
    },
    read: ({ key, size, modifiedMs }) =>
      kept.find(
        ({ listed }) => listed.key === key && listed.size === size && listed.modifiedMs === modifiedMs,
      )?.bytes,
    replace: (copies, known) => {
      kept.splice(0, kept.length, ...copies);
      place = known;
    },
  };
}

async function keysIn(destination: Destination, prefix: string): Promise<readonly string[]> {
  const keys: string[] = [];
  for await (const page of destination.list(prefix, signal)) keys.push(...page.map(({ key }) => key));
  return keys;
}

async function put(destination: Destination, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) await destination.put(key, Buffer.from('x'), signal);
}

const noCopies: KeyCopies = {
  read: () => undefined,
  replace: () => {},
  known: { complete: false, large: false, listed: [] },
};

describe('a first look', () => {
  it('answers every list from one, until it ends', async () => {
    const inner = farDestination();
    await put(inner, 'keys/a', 'packs/00/b', 'trash/c');
    inner.reset();
    const look = new FirstLook(inner, 'everything', noCopies);
    const { destination } = look;
    expect(await keysIn(destination, 'keys/')).toEqual(['keys/a']);
    expect(await keysIn(destination, 'packs/')).toEqual(['packs/00/b']);
    expect(await keysIn(destination, 'snapshots/')).toEqual([]);
    expect(inner.count('list')).toBe(1);
    await put(inner, 'packs/00/d');
    expect(await keysIn(destination, 'packs/')).toEqual(['packs/00/b']);
    look.end();
    expect(await keysIn(destination, 'packs/')).toEqual(['packs/00/b', 'packs/00/d']);
  });

  it.each(['put', 'delete'] as const)(
    'ends with the first %s, so that a run sees what it did',
    async (act) => {
      const inner = farDestination();
      await put(inner, 'packs/00/a');
      const { destination } = new FirstLook(inner, 'everything', noCopies);
      expect(await keysIn(destination, 'packs/')).toEqual(['packs/00/a']);
      if (act === 'put') await put(destination, 'packs/00/b');
      else await destination.delete('packs/00/a', signal);
      expect(await keysIn(destination, 'packs/')).toEqual(act === 'put' ? ['packs/00/a', 'packs/00/b'] : []);
    },
  );

  it('shows leases as they are now, and goes on when one is taken', async () => {
    const inner = farDestination();
    const { destination } = new FirstLook(inner, 'everything', noCopies);
    expect(await keysIn(destination, 'leases/')).toEqual([]);
    await keysIn(destination, 'packs/');
    await put(destination, 'leases/prune/1');
    expect(await keysIn(destination, 'leases/')).toEqual(['leases/prune/1']);
    inner.reset();
    await keysIn(destination, 'packs/');
    expect(inner.calls).toEqual([]);
  });

  it('of a page knows what comes before its end, and asks for the rest', async () => {
    const inner = farDestination();
    await put(inner, 'config/1', 'keys/a', 'snapshots/s');
    await put(inner, ...Array.from({ length: 1200 }, (_, n) => `packs/00/${n}`));
    const { destination } = new FirstLook(inner, 'page', noCopies);
    inner.reset();
    expect(await keysIn(destination, 'keys/')).toEqual(['keys/a']);
    expect(await keysIn(destination, 'config/')).toEqual(['config/1']);
    expect(inner.calls.map(({ key }) => key)).toEqual(['']);
    expect(await keysIn(destination, 'packs/')).toHaveLength(1200);
    expect(await keysIn(destination, 'snapshots/')).toEqual(['snapshots/s']);
    expect(inner.calls.map(({ key }) => key)).toEqual(['', 'packs/', 'snapshots/']);
  });

  it('where lists go folder by folder asks for all that a backup needs at once, packs after what names them', async () => {
    const inner = farDestination({ flatLists: false });
    await put(inner, 'keys/a', 'snapshots/s', 'packs/00/b');
    inner.reset();
    const look = new FirstLook(inner, 'everything', noCopies);
    const { destination } = look;
    expect(await keysIn(destination, 'keys/')).toEqual(['keys/a']);
    expect(await keysIn(destination, 'packs/')).toEqual(['packs/00/b']);
    expect(await keysIn(destination, 'snapshots/')).toEqual(['snapshots/s']);
    const asked = ['keys/', 'config/', 'trash/', 'snapshots/', 'index/', 'packs/'];
    expect(inner.calls.map(({ key }) => key)).toEqual(asked);
    expect(await keysIn(destination, 'heads/')).toEqual([]);
    look.end();
    await keysIn(destination, 'packs/');
    expect(inner.calls.map(({ key }) => key)).toEqual([...asked, 'heads/', 'packs/']);
  });

  it('of a page is none where lists go folder by folder', async () => {
    const inner = farDestination({ flatLists: false });
    const { destination } = new FirstLook(inner, 'page', noCopies);
    await keysIn(destination, 'keys/');
    expect(inner.calls.map(({ key }) => key)).toEqual(['keys/']);
  });

  it('tries again after a list that failed', async () => {
    const inner = farDestination();
    let failing = true;
    const list: Destination['list'] = (prefix, own) => {
      if (failing) throw new Error('no network');
      return inner.list(prefix, own);
    };
    const { destination } = new FirstLook({ ...inner, properties: inner.properties, list }, 'page', noCopies);
    await expect(keysIn(destination, 'keys/')).rejects.toThrow('no network');
    failing = false;
    expect(await keysIn(destination, 'keys/')).toEqual([]);
  });
});

describe('copies of key files', () => {
  const options = { clock: systemClock, stateDirectory: undefined };

  async function makeRepository(inner: Destination): Promise<void> {
    const secrets = [
      { secret, label: 'one' },
      { secret: { kind: 'machine', secret: randomBytes(32) } as const, label: 'two' },
    ];
    await createRepository(inner, { ...options, secrets, cost }, signal);
  }

  async function open(inner: Destination, copies: KeyCopies, extent?: LookExtent, by: Secret = secret) {
    const look = new FirstLook(inner, extent, copies);
    return await openRepository(look.destination, by, { ...options, look }, signal);
  }

  it('open a repository without reading a key file, and are not used once it is open', async () => {
    const inner = farDestination();
    await makeRepository(inner);
    const copies = keptCopies();
    await open(inner, copies);
    expect(copies.kept.map(({ listed: { key } }) => key.replace(/[0-9a-f]{32}/, '*')).toSorted()).toEqual([
      'config/1',
      'keys/*',
      'keys/*',
      'keys/ring-1',
    ]);
    inner.reset();
    const repository = await open(inner, copies);
    expect(inner.calls.map(({ method, key }) => `${method} ${key}`)).toEqual(['list keys/', 'list config/']);
    await repository.destination.get('keys/ring-1', undefined, signal);
    expect(inner.count('get')).toBe(1);
  });

  it('are not used for an object that is another one by its size or time', async () => {
    const inner = farDestination();
    await makeRepository(inner);
    const copies = keptCopies();
    await open(inner, copies);
    const changed = copies.kept.map(({ listed, bytes }) => ({
      listed: { ...listed, modifiedMs: listed.modifiedMs - 1 },
      bytes,
    }));
    copies.replace(changed, copies.known);
    inner.reset();
    await open(inner, copies);
    expect(inner.count('get')).toBe(4);
  });

  it('are asked about one by one for a run that reads, where listing everything is too much', async () => {
    const inner = farDestination({ flatLists: false });
    await makeRepository(inner);
    const copies = keptCopies();
    await open(inner, copies, 'page');
    inner.reset();
    await open(inner, copies, 'page');
    expect(
      inner.calls.map(({ method, key }) => `${method} ${key.replace(/[0-9a-f]{32}/, '*')}`).toSorted(),
    ).toEqual([
      'stat config/1',
      'stat config/2',
      'stat keys/*',
      'stat keys/*',
      'stat keys/ring-1',
      'stat keys/ring-2',
    ]);
  });

  it('of a large place are asked about, too, once it is known to be large', async () => {
    const inner = farDestination();
    await makeRepository(inner);
    await put(inner, ...Array.from({ length: 1200 }, (_, n) => `packs/00/${n}`));
    const copies = keptCopies();
    await open(inner, copies, 'page');
    inner.reset();
    await open(inner, copies, 'page');
    expect(inner.count('list')).toBe(0);
    expect(inner.count('stat')).toBe(6);
    // A look at everything finds out that it is not any more.
    for (const key of await keysIn(inner, 'packs/')) await inner.delete(key, signal);
    await open(inner, copies, 'everything');
    inner.reset();
    await open(inner, copies, 'page');
    expect(inner.calls.map(({ method, key }) => `${method} ${key}`)).toEqual(['list ']);
  });

  it('open nothing with a key that was removed in the meantime, and what was added opens', async () => {
    const inner = farDestination({ flatLists: false });
    await makeRepository(inner);
    const elsewhere = await openRepository(inner, secret, options, signal);
    const copies = keptCopies();
    await open(inner, copies, 'page');
    const added: Secret = { kind: 'machine', secret: randomBytes(32) };
    const { repository: after } = await addKey(elsewhere, { secret: added, label: 'three', cost }, signal);
    await open(inner, copies, 'page', added);
    expect(copies.known.complete).toBe(true);
    await removeKey(after, after.slot.slot, signal);
    await expect(open(inner, copies, 'page')).rejects.toMatchObject({ code: 'WRONG_PASSPHRASE' });
    await open(inner, copies, 'page', added);
  });

  it.each([
    ['keys/ring-1', 'NO_REPOSITORY'],
    ['config/1', 'CORRUPT_DATA'],
  ])('hide nothing: without %s nothing opens', async (key, code) => {
    const inner = farDestination({ flatLists: false });
    await makeRepository(inner);
    const copies = keptCopies();
    await open(inner, copies, 'page');
    await deleteTwice(inner, key, signal);
    await expect(open(inner, copies, 'page')).rejects.toMatchObject({ code });
  });

  it('are not kept of a slot that is not as its keyring says', async () => {
    const inner = farDestination();
    await makeRepository(inner);
    const own = `keys/${(await open(inner, noCopies)).slot.slot}`;
    const slots = (await keysIn(inner, 'keys/')).filter((key) => !key.includes('ring') && key !== own);
    const copies = keptCopies();
    const get: Destination['get'] = async (key, range, until) => {
      const bytes = await inner.get(key, range, until);
      if (slots.includes(key)) bytes.fill(0, bytes.length - 4);
      return bytes;
    };
    await open({ ...inner, properties: inner.properties, get }, copies);
    expect(copies.kept.map(({ listed: { key } }) => key).toSorted()).toEqual(
      ['config/1', own, 'keys/ring-1'].toSorted(),
    );
  });
});
