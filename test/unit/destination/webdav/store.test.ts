/** What a WebDAV server does with an upload that it keeps a part of. */
import { beforeEach, describe, expect, test } from 'vitest';
import { claimName, temporaryName } from '../../../../src/destination/new-file.ts';
import type { Folder } from '../../../../src/destination/webdav/folder.ts';
import type { DavEntry } from '../../../../src/destination/webdav/multistatus.ts';
import { storeObject, type Storing } from '../../../../src/destination/webdav/store.ts';

const { signal } = new AbortController();
const body = Buffer.alloc(1_000, 1);

/** What is there, by name; folders end in a slash. */
let stored: Map<string, Buffer>;
/** How much of an upload stays, and of an object that is moved. */
let kept: { readonly onPut: number; readonly onMove: number };

/** What the server does not remove, and what is remembered to be removed later. */
let stuck: readonly string[];
let remembered: string[];
/** What is done just before the server looks into a folder. */
let onList: () => void;
/** By name, where it is not the usual one. */
let times: Map<string, number>;

beforeEach(() => {
  stored = new Map();
  stuck = [];
  remembered = [];
  onList = () => {};
  times = new Map();
  kept = { onPut: 1, onMove: 1 };
});

const part = (bytes: Buffer, share: number): Buffer => bytes.subarray(0, Math.floor(bytes.length * share));

function entryOf(name: string): DavEntry | undefined {
  const bytes = stored.get(name);
  const modifiedMs = times.get(name) ?? 1_000;
  return bytes && { path: name, isFolder: name.endsWith('/'), size: bytes.length, modifiedMs };
}

const folder: Folder = {
  url: 'https://dav.example/backup',
  look: async (name) => entryOf(name),
  children: async (name) => {
    onList();
    const inside = [...stored.keys()].filter((one) => one.startsWith(`${name}/`));
    const found = new Map<string, DavEntry>();
    for (const one of inside) {
      const entry = entryOf(one);
      if (entry !== undefined) found.set(one.slice(name.length + 1).replace(/\/$/, ''), entry);
    }
    return found;
  },
  put: async (name, bytes) => {
    stored.set(name, part(Buffer.from(bytes), kept.onPut));
    return 'stored';
  },
  makeFolder: async (name) => {
    if (stored.has(`${name}/`)) return 'exists';
    stored.set(`${name}/`, Buffer.alloc(0));
    return 'made';
  },
  move: async (from, to) => {
    if (stored.has(to)) return 'exists';
    stored.set(to, part(stored.get(from) ?? Buffer.alloc(0), kept.onMove));
    stored.delete(from);
    return 'moved';
  },
  remove: async (name) => {
    if (stuck.includes(name)) throw new Error('The line is lost');
    return stored.delete(name) ? 'removed' : 'absent';
  },
  read: async () => ({ kind: 'absent', size: 0, start: 0, bytes: Buffer.alloc(0) }),
  close: () => {},
};

const storing = (): Storing => ({
  folder,
  abilities: { claims: true, keeps: true },
  key: 'packs/one',
  paced: undefined,
  known: new Set(['packs/']),
  left: (name) => void remembered.push(name),
});

describe('an upload', () => {
  test('that is kept whole has its name, and nothing else stays', async () => {
    expect(await storeObject(storing(), body, signal)).toEqual({ size: 1_000, modifiedMs: 1_000 });
    expect([...stored]).toEqual([['packs/one', body]]);
  });

  test.each([
    ['cut short', { onPut: 0.5, onMove: 1 }],
    ['kept as nothing', { onPut: 0, onMove: 1 }],
    ['cut when it gets its name', { onPut: 1, onMove: 0.9 }],
  ])('that is %s is corrupt, and nothing of it stays', async (_, share) => {
    kept = share;
    await expect(storeObject(storing(), body, signal)).rejects.toMatchObject({
      kind: 'corrupt-reply',
      retry: 'now',
    });
    expect([...stored.keys()]).toEqual([]);
    expect(remembered).toEqual([]);
  });

  test('whose name cannot be taken from it again is not removed later, when the name may be that of another', async () => {
    kept = { onPut: 1, onMove: 0.9 };
    stuck = ['packs/one'];
    await expect(storeObject(storing(), body, signal)).rejects.toMatchObject({ kind: 'corrupt-reply' });
    expect(remembered).toEqual([]);
  });
});

test('what another has stored in the place of an object stays, where two may create one name', async () => {
  const other = Buffer.from('of the other');
  const replacing: Folder = {
    ...folder,
    move: async (from, to) => {
      stored.delete(from);
      stored.set(to, other);
      return 'moved';
    },
  };
  const lax = { ...storing(), folder: replacing, abilities: { claims: false, keeps: false } };
  await expect(storeObject(lax, body, signal)).rejects.toMatchObject({ kind: 'corrupt-reply' });
  expect([...stored]).toEqual([['packs/one', other]]);
});

describe('a claim on the name', () => {
  const claim = `packs/${claimName('one')}/`;
  const rival = `packs/${temporaryName()}`;
  /** Made before anything that is stored now. */
  const OLD = 0;

  beforeEach(() => {
    stored.set(claim, Buffer.alloc(0));
    times.set(claim, OLD);
  });

  test('that nobody has any more, since whoever made it was not told, keeps nobody from storing', async () => {
    expect(await storeObject(storing(), body, signal)).toMatchObject({ size: 1_000 });
    expect([...stored]).toEqual([['packs/one', body]]);
  });

  /** The other writer gives the object its name when it is looked at for the second time. */
  async function besideRival(
    lists: number,
  ): Promise<{ readonly outcome: unknown; readonly isThere: boolean }> {
    let isThere = true;
    onList = () => {
      lists -= 1;
      if (lists > 0) return;
      isThere &&= stored.has(claim);
      stored.delete(rival);
      stored.set('packs/one', Buffer.from('of the other'));
    };
    const outcome = await storeObject(storing(), body, signal).catch((error: unknown) => error);
    return { outcome, isThere: isThere && stored.has(claim) };
  }

  test('is left to another writer whose temporary object is there', async () => {
    stored.set(rival, Buffer.alloc(5));
    const { outcome, isThere } = await besideRival(2);
    expect(outcome).toMatchObject({ kind: 'exists' });
    expect(isThere).toBe(true);
  });

  test('is left to another writer who gives the object its name at that moment', async () => {
    const { outcome, isThere } = await besideRival(1);
    expect(outcome).toMatchObject({ kind: 'exists' });
    expect(isThere).toBe(true);
  });

  test('is left to another writer who may have made it since one’s own object was sent', async () => {
    times.delete(claim);
    stored.set('packs/two', body);
    const { outcome, isThere } = await besideRival(2);
    expect(outcome).toMatchObject({ kind: 'exists' });
    expect(isThere).toBe(true);
  });

  test('goes before the temporary object, which shows that somebody stands behind it', async () => {
    stored.delete(claim);
    kept = { onPut: 0.5, onMove: 1 };
    const removed: string[] = [];
    const watched: Folder = {
      ...folder,
      remove: async (name, now) => {
        removed.push(name);
        return await folder.remove(name, now);
      },
    };
    await expect(storeObject({ ...storing(), folder: watched }, body, signal)).rejects.toThrow('500 bytes');
    expect(removed).toEqual([claim, expect.stringMatching(/^packs\/\.tmp-/)]);
  });

  test('that comes when the look at what was sent has failed goes again', async () => {
    stored.delete(claim);
    const broken: Folder = {
      ...folder,
      look: async () => {
        throw new Error('The line is lost');
      },
      makeFolder: async (name, now) => {
        await new Promise((resolve) => setImmediate(resolve));
        return await folder.makeFolder(name, now);
      },
    };
    await expect(storeObject({ ...storing(), folder: broken }, body, signal)).rejects.toThrow('lost');
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect([...stored.keys()]).toEqual([]);
  });

  test('that cannot be removed is not removed later, when it may be that of another', async () => {
    stored.delete(claim);
    stuck = [claim];
    await storeObject(storing(), body, signal);
    expect(remembered).toEqual([]);
  });
});
