import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { walkFiles } from '../../../src/destination/local/walk.ts';

const never = new AbortController().signal;
let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'holdfast-walk-'));
  mkdirSync(join(root, 'leases'));
});
afterEach(() => rmSync(root, { recursive: true }));

/** @param meanwhile called for each name between the list of names and the look at the files */
async function keys(meanwhile: (name: string) => void): Promise<readonly string[]> {
  const found: string[] = [];
  const wanted = ({ name }: { readonly name: string }): boolean => {
    meanwhile(name);
    return true;
  };
  for await (const slice of walkFiles(root, 'leases', wanted, never))
    found.push(...slice.map(({ key }) => key));
  return found.sort();
}

test('a file that is replaced by another while its directory is listed is not missed with it', async () => {
  const at = (number: number): string => join(root, 'leases', String(number));
  writeFileSync(at(0), '');
  writeFileSync(at(1), '');
  let last = 1;
  // A few times in a row, as one heartbeat after the other might.
  const replace = (name: string): void => {
    if (name !== String(last) || last === 4) return;
    last += 1;
    writeFileSync(at(last), '');
    rmSync(at(last - 1));
  };
  expect(await keys(replace)).toEqual(['leases/0', 'leases/4']);
});

test('a directory that goes once its files have gone is no failure', async () => {
  writeFileSync(join(root, 'leases', 'a'), '');
  mkdirSync(join(root, 'leases', 'session'));
  writeFileSync(join(root, 'leases', 'session', '1'), '');
  const removeAll = (name: string): void => {
    if (name === '1') rmSync(join(root, 'leases', 'session'), { recursive: true });
  };
  expect(await keys(removeAll)).toEqual(['leases/a']);
});

/** Calls `onFirst` with the name of the other directory once one of the two is read: the file system says which. */
function whenOneIsRead(onFirst: (other: string) => void): (name: string) => void {
  let isFirst = true;
  return (name) => {
    if (!name.startsWith('in-') || !isFirst) return;
    isFirst = false;
    onFirst(name === 'in-a' ? 'b' : 'a');
  };
}

describe('a directory that goes between two reads', () => {
  test('and is no longer named by the one above is empty', async () => {
    for (const name of ['a', 'b']) {
      mkdirSync(join(root, 'leases', name));
      writeFileSync(join(root, 'leases', name, `in-${name}`), '');
    }
    let gone = '';
    const remove = (other: string): void => {
      gone = other;
      rmSync(join(root, 'leases', other), { recursive: true });
    };
    const found = await keys(whenOneIsRead(remove));
    expect(found).toEqual([gone === 'a' ? 'leases/b/in-b' : 'leases/a/in-a']);
  });

  test('together with the one above it is empty', async () => {
    mkdirSync(join(root, 'leases', 'above'));
    for (const name of ['a', 'b']) {
      mkdirSync(join(root, 'leases', 'above', name));
      writeFileSync(join(root, 'leases', 'above', name, `in-${name}`), '');
    }
    const removeAll = (): void => rmSync(join(root, 'leases', 'above'), { recursive: true });
    expect(await keys(whenOneIsRead(removeAll))).toEqual([]);
  });

  test('and is still named, as a link whose target is away, fails the list', async () => {
    for (const name of ['a', 'b']) {
      mkdirSync(join(root, 'drives', name), { recursive: true });
      writeFileSync(join(root, 'drives', name, `in-${name}`), '');
      symlinkSync(join(root, 'drives', name), join(root, 'leases', name));
    }
    const unmount = (other: string): void => rmSync(join(root, 'drives', other), { recursive: true });
    const listing = keys(whenOneIsRead(unmount));
    await expect(listing).rejects.toMatchObject({ kind: 'unreachable', retry: 'now' });
  });

  test('with the root itself fails the list', async () => {
    for (const name of ['a', 'b']) {
      mkdirSync(join(root, 'leases', name));
      writeFileSync(join(root, 'leases', name, `in-${name}`), '');
    }
    const pull = (): void => rmSync(root, { recursive: true });
    await expect(keys(whenOneIsRead(pull))).rejects.toMatchObject({ kind: 'unreachable' });
    mkdirSync(root);
  });
});

test('each file is given once, however often the directory is read', async () => {
  for (const name of ['a', 'b', 'c']) writeFileSync(join(root, 'leases', name), '');
  let times = 0;
  const add = (name: string): void => {
    if (name !== 'c' || (times += 1) > 1) return;
    rmSync(join(root, 'leases', 'c'));
    writeFileSync(join(root, 'leases', 'd'), '');
  };
  expect(await keys(add)).toEqual(['leases/a', 'leases/b', 'leases/d']);
});
