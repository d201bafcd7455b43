/** Resolves a name that a user gives to a snapshot. */
import { RepositoryError } from '../base/errors.ts';
import { holdfastThere } from '../base/holdfast-command.ts';
import { groupForLatest, storeChoice, storedByText } from '../base/stored-by.ts';
import type { Snapshot } from './snapshots.ts';

export interface ResolvedSnapshot {
  readonly snapshot: Snapshot;
  /** Newer snapshots by write-only keys, which `latest` skips where full keys have stored snapshots. */
  readonly newer: readonly Snapshot[];
}

/**
 * Resolves `latest`, `latest~2`, an id or the beginning of one. `latest` is the newest snapshot by full keys; where
 * there is none, the newest by the only write-only key that stored any.
 * @param snapshots oldest first
 * @throws {RepositoryError} SNAPSHOT_NOT_FOUND; REFUSED where several write-only keys could be meant
 */
export function resolveNamed(snapshots: readonly Snapshot[], name: string): ResolvedSnapshot {
  const back = /^latest(?:~(\d{1,6}))?$/.exec(name);
  if (back === null) return { snapshot: byId(snapshots, name), newer: [] };
  const choice = groupForLatest(snapshots, ({ storedBy }) => storedBy);
  if (choice === undefined) throw severalKeys(snapshots, name);
  const snapshot = choice.group.at(-1 - Number(back[1] ?? 0));
  if (snapshot === undefined) throw notSoMany(snapshots, choice.group, name);
  return { snapshot, newer: choice.newer };
}

/** Like `resolveNamed`, for callers that do not report newer snapshots of other keys. */
export function resolveSnapshot(snapshots: readonly Snapshot[], name: string): Snapshot {
  return resolveNamed(snapshots, name).snapshot;
}

function byId(snapshots: readonly Snapshot[], name: string): Snapshot {
  const matches = /^[0-9a-f]{4,64}$/.test(name) ? snapshots.filter((one) => one.id.startsWith(name)) : [];
  const only = matches[0];
  if (matches.length === 1 && only !== undefined) return only;
  throw notFound(
    matches.length === 0
      ? (tooShortText(name, 4) ?? `There is no snapshot "${name}"`)
      : `"${name}" is the beginning of ${matches.length} snapshots`,
  );
}

/** What to say of an id with too few digits to be looked up; undefined for all other words. */
export function tooShortText(name: string, least: number): string | undefined {
  return name.length < least && /^[0-9a-f]+$/.test(name)
    ? `"${name}" is too short: an id needs at least ${least} digits`
    : undefined;
}

function notSoMany(all: readonly Snapshot[], group: readonly Snapshot[], name: string): RepositoryError {
  if (all.length === 0) return notFound('There are no snapshots yet');
  const [first] = group;
  const of = first === undefined || group.length === all.length ? '' : ` of ${storedByText(first.storedBy)}`;
  return notFound(`There is no snapshot "${name}": the repository has ${group.length}${of}`);
}

function notFound(message: string): RepositoryError {
  return new RepositoryError('SNAPSHOT_NOT_FOUND', message, {
    hint: `List the snapshots with: ${holdfastThere`snapshots`}`,
  });
}

/**
 * Several write-only keys stored snapshots and none vouches for the others: an attacker with one machine's key could
 * pass off its snapshots as another machine's.
 */
function severalKeys(snapshots: readonly Snapshot[], name: string): RepositoryError {
  const keys = new Map(snapshots.map(({ storedBy }) => [storeChoice(storedBy), storedByText(storedBy)]));
  const listed = [...keys.values()].slice(0, KEYS_SHOWN).join(', ');
  const more = keys.size > KEYS_SHOWN ? ` and ${keys.size - KEYS_SHOWN} more` : '';
  return new RepositoryError(
    'REFUSED',
    `"${name}" could be a snapshot of several write-only keys: ${listed}${more}`,
    {
      hint: `Choose one of the keys with ${[...keys.keys()]
        .slice(0, KEYS_SHOWN)
        .map((key) => `--stored-by ${key}`)
        .join(' or ')}, or name a snapshot: ${holdfastThere`snapshots`}`,
    },
  );
}

const KEYS_SHOWN = 5;
