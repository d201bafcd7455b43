/**
 * Holdfast's own places, by every name that they have: links resolved, other mounts of the same file system, and where the
 * names differ in nothing but the case of letters, by what the system calls a directory itself.
 */
import { statSync } from 'node:fs';
import {
  asByteString,
  bytesOfText,
  fsPath,
  joinBytes,
  pathAbove,
  type ByteString,
} from '../base/byte-path.ts';
import { errnoOf } from '../base/errors.ts';
import { mountOf, mountTable, parseMounts, type Mount } from './mount-table.ts';
import { whereItReallyLies } from './real-path.ts';

export interface NamedPlace {
  readonly path: string;
  /** What it is, as a noun phrase: "the repository itself". */
  readonly reason: string;
}

export interface OwnPlace {
  /** Absolute, links resolved. */
  readonly path: ByteString;
  readonly reason: string;
  /** Of the directory; undefined where that does not answer. */
  readonly identity?: string | undefined;
}

/** Those that are there, each by all paths that lead to it. */
export async function ownPlaces(
  named: readonly NamedPlace[],
  signal: AbortSignal,
): Promise<readonly OwnPlace[]> {
  const table = mountTable();
  const found = await Promise.all(
    named.map(async ({ path, reason }): Promise<readonly OwnPlace[]> => {
      const real = await whereItReallyLies(path, signal);
      if (real === undefined) return [];
      const bytes = bytesOfText(real.path);
      const identity = real.answers ? identityAt(bytes) : undefined;
      const others = otherPathsOf(bytes, table);
      return [bytes, ...others].map((one) => ({ path: one, reason, identity }));
    }),
  );
  const all = found.flat();
  return all.filter(({ path }, at) => all.findIndex((other) => other.path === path) === at);
}

/** Device and inode, as `OwnPlace` has them. */
export function identityOf({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${BigInt.asUintN(64, dev)}/${BigInt.asUintN(64, ino)}`;
}

/** The place that a path is or lies in, by whatever name. */
export function placeAround(path: ByteString, places: readonly OwnPlace[]): OwnPlace | undefined {
  const byPath = places.find((one) => isWithin(path, one.path));
  if (byPath !== undefined) return byPath;
  const identities = new Map(places.flatMap((one) => (one.identity ? [[one.identity, one] as const] : [])));
  if (identities.size === 0) return undefined;
  for (let at = path; ; at = pathAbove(at)) {
    const found = identities.get(identityAt(at) ?? '');
    if (found !== undefined || pathAbove(at) === at) return found;
  }
}

/**
 * Where other mounts show the place, the directory that it lies in, or a part of it.
 * @param table as `/proc/self/mountinfo` has it
 */
export function otherPathsOf(place: ByteString, table: string): readonly ByteString[] {
  const mounts = shownMounts(table);
  const own = mountOf(place, mounts);
  if (own === undefined) return [];
  const inside = below(place, own.path, own.root);
  return mounts.flatMap((mount) => {
    if (mount === own || mount.device !== own.device) return [];
    const path = isWithin(inside, mount.root)
      ? below(inside, mount.root, mount.path)
      : isWithin(mount.root, inside)
        ? mount.path
        : undefined;
    // Something else may be mounted over it.
    return path === undefined || mountOf(path, mounts) !== mount ? [] : [path];
  });
}

interface ShownMount extends Mount {
  readonly device: string;
  /** The directory of the file system that is shown. */
  readonly root: ByteString;
}

function shownMounts(table: string): readonly ShownMount[] {
  return table.split('\n').flatMap((line) =>
    parseMounts(line).map((mount) => {
      const [, , device = '', root = ''] = line.split(' ');
      const unescaped = root.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
        String.fromCodePoint(Number.parseInt(octal, 8)),
      );
      return { ...mount, device, root: asByteString(unescaped) };
    }),
  );
}

/** The path in another directory that it has in the first one. */
function below(path: ByteString, from: ByteString, to: ByteString): ByteString {
  const rest = path.slice(from === '/' ? 1 : from.length + 1);
  return rest === '' ? to : joinBytes(to, asByteString(rest));
}

function isWithin(path: ByteString, directory: ByteString): boolean {
  return path === directory || directory === '/' || path.startsWith(`${directory}/`);
}

/** Undefined where it cannot be looked at. */
function identityAt(path: ByteString): string | undefined {
  try {
    return identityOf(statSync(fsPath(path), { bigint: true }));
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
