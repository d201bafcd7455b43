/** When each key of a repository was last proven to bring files back, as far as this machine has seen it. */
import { join } from 'node:path';
import { namesIn, readFileIfPresent, writeFileAtomically } from '../../base/atomic-file.ts';

function pathOf(stateDirectory: string, repositoryId: string): string {
  return join(stateDirectory, 'repositories', `${repositoryId}.drills.json`);
}

/** Ids of the repositories that this machine has opened. */
export async function openedRepositories(stateDirectory: string): Promise<readonly string[]> {
  const names = await namesIn(join(stateDirectory, 'repositories'));
  return names.flatMap((name) => /^([0-9a-f]{32})\.json$/.exec(name)?.[1] ?? []);
}

/** The last drill of any key of a repository, in milliseconds since 1970; undefined when there was none. */
export async function lastKeyDrill(
  stateDirectory: string,
  repositoryId: string,
): Promise<number | undefined> {
  const times = [...(await drilledKeys(stateDirectory, repositoryId)).values()];
  return times.length === 0 ? undefined : Math.max(...times);
}

/** The last drill of each key: milliseconds since 1970, by slot. A file that cannot be understood counts as none. */
export async function drilledKeys(
  stateDirectory: string,
  repositoryId: string,
): Promise<ReadonlyMap<string, number>> {
  const stored = await readFileIfPresent(pathOf(stateDirectory, repositoryId));
  if (stored === undefined) return new Map();
  let value: unknown;
  try {
    value = JSON.parse(stored.toString('utf8'));
  } catch {
    return new Map();
  }
  if (typeof value !== 'object' || value === null) return new Map();
  return new Map(
    Object.entries(value).flatMap(([slot, atMs]: [string, unknown]) =>
      typeof atMs === 'number' && Number.isSafeInteger(atMs) ? [[slot, atMs] as const] : [],
    ),
  );
}

/** @throws {StateError} */
export async function rememberDrill(
  stateDirectory: string,
  repositoryId: string,
  slot: string,
  atMs: number,
): Promise<void> {
  const known = await drilledKeys(stateDirectory, repositoryId);
  const drills = Object.fromEntries([...known, [slot, atMs]]);
  await writeFileAtomically(pathOf(stateDirectory, repositoryId), `${JSON.stringify(drills)}\n`);
}
