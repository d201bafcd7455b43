/** What a WebDAV server does with an upload that it keeps a part of. */
import { beforeEach, describe, expect, test } from 'vitest';
import type { Folder } from '../../../../src/destination/webdav/folder.ts';
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

beforeEach(() => {
  stored = new Map();
  stuck = [];
  remembered = [];
  kept = { onPut: 1, onMove: 1 };
});

const part = (bytes: Buffer, share: number): Buffer => bytes.subarray(0, Math.floor(bytes.length * share));

const folder: Folder = {
  url: 'https://dav.example/backup',
  look: async (name) => {
    const bytes = stored.get(name);
    return bytes && { path: name, isFolder: name.endsWith('/'), size: bytes.length, modifiedMs: 1_000 };
  },
  children: async () => new Map(),
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
