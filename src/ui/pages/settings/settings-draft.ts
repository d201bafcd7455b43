/**
 * Works on a draft of the settings: reads and changes single values, finds what differs, and applies changes to newer
 * settings.
 */

/** Names of settings and indexes of lists, from the root on. */
export type KeyPath = readonly (string | number)[];

type Fields = Readonly<Record<string, unknown>>;

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A path as people write it: `sources[0].exclude.largerThan`. */
export function shownPath(path: KeyPath): string {
  return path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join('');
}

/** Whether the place of a problem is at `path` or within it. */
export function isWithin(field: string, path: KeyPath): boolean {
  const shown = shownPath(path);
  return field === shown || field.startsWith(`${shown}.`) || field.startsWith(`${shown}[`);
}

/** The value at a path; undefined if there is none. */
export function valueAt(root: unknown, path: KeyPath): unknown {
  let value = root;
  for (const part of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Readonly<Record<string | number, unknown>>)[part];
  }
  return value;
}

/** A copy with another value at `path`; undefined removes it. Missing objects on the way are made. */
export function withValue<Root>(root: Root, path: KeyPath, value: unknown): Root {
  return replaced(root, path, value) as Root;
}

function replaced(at: unknown, [part, ...rest]: KeyPath, value: unknown): unknown {
  if (part === undefined) return value;
  if (typeof part === 'number') {
    const list: readonly unknown[] = Array.isArray(at) ? at : [];
    if (rest.length === 0 && value === undefined) return list.toSpliced(part, 1);
    return list.toSpliced(part, 1, replaced(list[part], rest, value));
  }
  const fields = isFields(at) ? at : {};
  if (rest.length > 0 || value !== undefined)
    return { ...fields, [part]: replaced(fields[part], rest, value) };
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== part));
}

/** Whether two values are equal. The order of names does not matter. */
export function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((value, index) => isSame(value, other[index]));
  if (!isFields(one) || !isFields(other)) return one === other;
  const names = Object.keys(one);
  return (
    names.length === Object.keys(other).length &&
    names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
  );
}

/** One value that differs. Undefined means that it does not exist. */
export interface Change {
  /** The path in the newer settings; of a removed value, in the older ones. */
  readonly path: KeyPath;
  readonly before: unknown;
  readonly after: unknown;
}

/**
 * The smallest values that differ. Entries of `sources` are identified by the paths they back up. A missing value
 * equals null, which is what it becomes.
 */
export function changesOf(before: unknown, after: unknown, path: KeyPath = []): readonly Change[] {
  if (isSame(before ?? null, after ?? null)) return [];
  if (isFields(before) && isFields(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) => changesOf(before[name], after[name], [...path, name]));
  }
  const old = entriesByPath(before);
  const now = entriesByPath(after);
  if (old === undefined || now === undefined) return [{ path, before, after }];
  return [
    ...[...now].flatMap(([key, { index, entry }]) => changesOf(old.get(key)?.entry, entry, [...path, index])),
    ...[...old]
      .filter(([key]) => !now.has(key))
      .map(([, { index, entry }]) => ({ path: [...path, index], before: entry, after: undefined })),
  ];
}

/** Applies the changes from `base` to `mine` to `theirs`. If both changed the same value, `mine` wins. */
export function rebase<Root>(base: Root, mine: Root, theirs: Root): Root {
  return rebased(base, mine, theirs) as Root;
}

function rebased(base: unknown, mine: unknown, theirs: unknown): unknown {
  if (isSame(mine, base)) return theirs;
  if (isSame(theirs, base)) return mine;
  if (isFields(base) && isFields(mine) && isFields(theirs)) {
    const names = new Set([...Object.keys(theirs), ...Object.keys(mine)]);
    return Object.fromEntries(
      [...names]
        .map((name) => [name, rebased(base[name], mine[name], theirs[name])] as const)
        .filter(([, value]) => value !== undefined),
    );
  }
  const [ofBase, ofMine, ofTheirs] = [entriesByPath(base), entriesByPath(mine), entriesByPath(theirs)];
  if (ofBase === undefined || ofMine === undefined || ofTheirs === undefined) return mine;
  return [...new Set([...ofTheirs.keys(), ...ofMine.keys()])]
    .map((key) => rebased(ofBase.get(key)?.entry, ofMine.get(key)?.entry, ofTheirs.get(key)?.entry))
    .filter((entry) => entry !== undefined);
}

interface Entry {
  readonly index: number;
  readonly entry: Fields;
}

/** The entries of a list of sources, by their path and the number of earlier entries with it. Undefined for other values. */
function entriesByPath(list: unknown): ReadonlyMap<string, Entry> | undefined {
  if (!Array.isArray(list)) return undefined;
  const seen = new Map<string, number>();
  const entries = new Map<string, Entry>();
  for (const [index, entry] of list.entries()) {
    if (!isFields(entry) || typeof entry['path'] !== 'string') return undefined;
    const count = seen.get(entry['path']) ?? 0;
    seen.set(entry['path'], count + 1);
    entries.set(`${count}:${entry['path']}`, { index, entry });
  }
  return entries;
}

/** The key for the name of a setting: `sources[].schedule`, `destinations.NAME.url`. */
export function settingName(path: KeyPath): string {
  return shownPath(
    path.map((part, index) => (index === 1 && path[0] === 'destinations' ? 'NAME' : part)),
  ).replaceAll(/\[\d+\]/g, '[]');
}
