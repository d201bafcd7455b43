/**
 * Finds Holdfast's own places under all of their names: through links, through other mounts of the same file system,
 * and, where file names ignore case, by the identity of directories.
 */
import { statSync } from 'node:fs';
import { asByteString, isWithin, joinBytes, pathAbove, type ByteString } from '../base/byte-path.ts';
import { fsPath, treePath } from '../base/tree-path.ts';
import { errnoOf } from '../base/errors.ts';
import { mountOf, mountTable, parseMounts, type Mount } from './mount-table.ts';
import { whereItReallyLies } from './where-it-lies.ts';

export interface NamedPlace {
  readonly path: string;
  /** What the place is, as a noun phrase: "the repository itself". */
  readonly reason: string;
}

export interface OwnPlace {
  /** Absolute, with links resolved. */
  readonly path: ByteString;
  readonly reason: string;
  /** Identity of the directory; undefined where it does not answer. */
  readonly identity?: string | undefined;
}

/** The existing places, each with all paths that lead to it. */
export async function ownPlaces(
  named: readonly NamedPlace[],
  signal: AbortSignal,
): Promise<readonly OwnPlace[]> {
  const table = mountTable();
  const found = await Promise.all(
    named.map(async ({ path, reason }): Promise<readonly OwnPlace[]> => {
      const real = await whereItReallyLies(path, signal);
      if (real === undefined) return [];
      const bytes = treePath(real.path);
      const identity = real.answers ? identityAt(bytes) : undefined;
      const others = otherPathsOf(bytes, table);
      return [bytes, ...others].map((one) => ({ path: one, reason, identity }));
    }),
  );
  const all = found.flat();
  return all.filter(({ path }, at) => all.findIndex((other) => other.path === path) === at);
}

/** Device and inode in the form of `OwnPlace.identity`. */
export function identityOf({ dev, ino }: { readonly dev: bigint; readonly ino: bigint }): string {
  return `${BigInt.asUintN(64, dev)}/${BigInt.asUintN(64, ino)}`;
}

/** The place that contains the path or is equal to it, under any name. */
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
 * The paths at which other mounts show the place, a directory that contains it, or a part of it.
 * @param table content of `/proc/self/mountinfo`
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
    // Another file system may be mounted over it.
    return path === undefined || mountOf(path, mounts) !== mount ? [] : [path];
  });
}

interface ShownMount extends Mount {
  readonly device: string;
  /** The directory within the file system that is mounted. */
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

/** Translates a path below `from` into the corresponding path below `to`. */
function below(path: ByteString, from: ByteString, to: ByteString): ByteString {
  const rest = path.slice(from === '/' ? 1 : from.length + 1);
  return rest === '' ? to : joinBytes(to, asByteString(rest));
}

/** Device and inode of what is at the path; undefined where it cannot be examined. */
export function identityAt(path: ByteString): string | undefined {
  try {
    return identityOf(statSync(fsPath(path), { bigint: true }));
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}
