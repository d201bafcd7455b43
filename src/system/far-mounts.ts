/**
 * Finds paths that lead to another machine, or to a program that provides a file system. Touching one may block for
 * ever and cannot be interrupted, so the target of a path is found out here without touching any.
 */
import { readlinkSync } from 'node:fs';
import { asByteString, type ByteString } from '../base/byte-path.ts';
import { fsPath } from '../base/tree-path.ts';
import { errnoOf } from '../base/errors.ts';
import { isElsewhere, mountTable, parseMounts, type Mount } from './mount-table.ts';

/** The most links in a row that are followed; a path with more leads nowhere. */
const MOST_LINKS = 40;

export interface FarPlace {
  /** The mount point and the type of its file system. */
  readonly mount: ByteString;
  readonly type: string;
  /** The path itself, with links before the mount point resolved. */
  readonly path: ByteString;
}

/**
 * The remote place that a path leads to; undefined for a path on the local disks, or one that does not exist. A remote
 * root file system is ignored: nothing works without it in any case.
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

/** The last parsed table. Tables are long and rarely change, and some callers check thousands of paths. */
let read: { readonly table: string; readonly far: ReadonlyMap<ByteString, string> } = {
  table: '',
  far: new Map(),
};

/** Mount points of remote file systems, with their types. */
export function farMountsOf(table = mountTable()): ReadonlyMap<ByteString, string> {
  if (read.table !== table) read = { table, far: farMounts(parseMounts(table)) };
  return read.far;
}

/**
 * Of several mounts at one place the last one is in effect. Automount points are included, as touching them contacts a
 * server.
 */
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
