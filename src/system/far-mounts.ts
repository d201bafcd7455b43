/**
 * Paths that lead to another machine, or to a program that plays a file system. Whoever touches one of these may wait for
 * ever, in a call that nothing can break off; so where a path leads is found out here without touching any.
 */
import { readlinkSync } from 'node:fs';
import { asByteString, fsPath, type ByteString } from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';
import { isElsewhere, mountTable, parseMounts, type Mount } from './mount-table.ts';

/** Links in a row, beyond which they lead nowhere. */
const MOST_LINKS = 40;

export interface FarPlace {
  /** Where its file system is mounted, and of which sort it is. */
  readonly mount: ByteString;
  readonly type: string;
  /** The path itself, links on the way to the mount resolved. */
  readonly path: ByteString;
}

/**
 * Undefined for what lies on the disks of this machine, or nowhere. What the whole system lies on does not count: nothing
 * works without it in any case.
 * @param path absolute
 */
export function farPlaceOf(path: ByteString, table = mountTable()): FarPlace | undefined {
  const far = farMountsOf(table);
  if (far.size === 0) return undefined;
  const names = namesOf(path);
  let here = asByteString('/');
  for (let links = 0; ;) {
    const name = names.shift();
    if (name === undefined) return undefined;
    if (name === '..') {
      here = asByteString(here.slice(0, Math.max(1, here.lastIndexOf('/'))));
      continue;
    }
    const next = asByteString(here === '/' ? `/${name}` : `${here}/${name}`);
    const type = far.get(next);
    if (type !== undefined) return { mount: next, type, path: asByteString([next, ...names].join('/')) };
    const leadsTo = linkAt(next);
    if (leadsTo === undefined) {
      here = next;
      continue;
    }
    links += 1;
    if (links > MOST_LINKS) return undefined;
    names.unshift(...namesOf(leadsTo));
    if (leadsTo.startsWith('/')) here = asByteString('/');
  }
}

/** Tables are long and rarely change, and some ask for thousands of paths. */
let read: { readonly table: string; readonly far: ReadonlyMap<ByteString, string> } = {
  table: '',
  far: new Map(),
};

/** Where file systems from elsewhere are mounted, and of which sort each is. */
export function farMountsOf(table = mountTable()): ReadonlyMap<ByteString, string> {
  if (read.table !== table) read = { table, far: farMounts(parseMounts(table)) };
  return read.far;
}

/** Of several at one place the last one counts. What is mounted on demand asks its server when it is touched. */
function farMounts(mounts: readonly Mount[]): ReadonlyMap<ByteString, string> {
  const last = new Map(mounts.map(({ path, type }) => [path, type]));
  const isFar = (type: string): boolean => isElsewhere(type) || type === 'fuseblk' || type === 'autofs';
  return new Map([...last].filter(([path, type]) => path !== '/' && isFar(type)));
}

function namesOf(path: ByteString): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.');
}

function linkAt(path: ByteString): ByteString | undefined {
  try {
    return asByteString(readlinkSync(fsPath(path), 'latin1'));
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
