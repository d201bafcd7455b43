/** What must hold at the end: everything that was reported is there and restores, and nothing else is wrong. */
import { join } from 'node:path';
import { asByteString } from '../../src/base/byte-path.ts';
import { removeTree } from '../support/remove-tree.ts';
import { readRepository } from '../support/independent-reader.ts';
import { entriesOnDisk, sha256, type ManifestEntry } from '../support/tree-manifest.ts';
import { PASSPHRASE, jsonLines, run, succeed } from '../sweep/program.ts';
import type { Attempt, Ledger } from './ledger.ts';
import type { WritersSite } from './site.ts';
import { errorsOf } from './upkeep.ts';

export interface Verdict {
  readonly live: number;
  readonly restored: number;
  /** Snapshots whose backup was killed after it had made them. */
  readonly unreported: number;
  readonly files: number;
  readonly bytes: number;
}

interface LiveSnapshot {
  readonly id: string;
  readonly source: string;
}

const AT_ONCE = 2;

/** Violations go into the ledger. */
export async function judge(site: WritersSite, ledger: Ledger): Promise<Verdict> {
  const place = site.machine('judge');
  const listed = jsonLines(await succeed(place, ['snapshots', '--json']));
  const live = listed.map((line) => ({
    id: String(line['id']),
    source: String((line['paths'] as string[])[0]),
  }));
  requireReportedLive(live, ledger);
  const waiting = [...live];
  let restored = 0;
  const work = async (): Promise<void> => {
    for (let snapshot = waiting.pop(); snapshot !== undefined; snapshot = waiting.pop())
      if (await restores(site, snapshot, ledger)) restored += 1;
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const { files, bytes } = readIndependently(site, live, ledger);
  const checked = await run(place, ['check', '--read-data', '--json']);
  if (checked.code !== 0) ledger.violations.push(`check --read-data: ${checked.stderr} ${errorsOf(checked)}`);
  const findings = jsonLines(checked).at(-1)?.['findings'];
  const errors = Array.isArray(findings)
    ? findings.filter((one: { severity?: unknown }) => one.severity === 'error' || one.severity === 'warning')
    : [findings];
  for (const error of errors) ledger.violations.push(`check --read-data: ${JSON.stringify(error)}`);
  const reported = new Set(ledger.attempts.map((attempt) => snapshotOf(attempt)));
  return {
    live: live.length,
    restored,
    unreported: live.filter(({ id }) => !reported.has(id)).length,
    files,
    bytes,
  };
}

function snapshotOf({ end }: Attempt): string | undefined {
  return end?.kind === 'completed' ? end.snapshot : undefined;
}

/** Retention keeps the newest of each source; whatever was forgotten beside it is older. */
function requireReportedLive(live: readonly LiveSnapshot[], ledger: Ledger): void {
  const there = new Set(live.map(({ id }) => id));
  const newest = new Map<string, Attempt>();
  for (const attempt of ledger.attempts)
    if (attempt.end?.kind === 'completed') newest.set(attempt.writer, attempt);
  for (const [writer, attempt] of newest) {
    const id = snapshotOf(attempt);
    if (id !== undefined && !there.has(id))
      ledger.violations.push(`${writer}: its newest snapshot ${id} is not listed`);
  }
}

/** What a live snapshot may hold: what its backup found, or for one that was killed any of what the killed ones found. */
function manifestsFor({ id, source }: LiveSnapshot, ledger: Ledger): readonly (readonly ManifestEntry[])[] {
  const own = ledger.attempts.filter((attempt) => attempt.source === source);
  const exact = own.find((attempt) => snapshotOf(attempt) === id);
  if (exact !== undefined) return [exact.manifest];
  return own.filter(({ end }) => end?.kind !== 'completed').map(({ manifest }) => manifest);
}

async function restores(site: WritersSite, snapshot: LiveSnapshot, ledger: Ledger): Promise<boolean> {
  const target = join(site.restored, snapshot.id);
  try {
    const place = site.machine('judge');
    await succeed(place, ['restore', snapshot.id, '--target', target, '--quiet']);
    const actual = lines(entriesOnDisk(asByteString(join(target, snapshot.source))), target);
    const expected = manifestsFor(snapshot, ledger).map((manifest) => lines(manifest, ''));
    if (expected.some((manifest) => manifest.join('\n') === actual.join('\n'))) return true;
    const missing = (expected[0] ?? []).filter((line) => !actual.includes(line));
    ledger.violations.push(
      `snapshot ${snapshot.id} of ${snapshot.source} restores to something else: ${missing.slice(0, 2).join(' ')}`,
    );
  } catch (error) {
    ledger.violations.push(
      `snapshot ${snapshot.id}: ${error instanceof Error ? error.message : String(error)}`,
    );
  } finally {
    removeTree(target);
  }
  return false;
}

function lines(entries: readonly ManifestEntry[], above: string): readonly string[] {
  return entries.map((entry) => JSON.stringify({ ...entry, path: entry.path.slice(above.length) })).sort();
}

/** Every file of every live snapshot once more, by the reader that was written from the format's description alone. */
function readIndependently(
  { repository }: WritersSite,
  live: readonly LiveSnapshot[],
  ledger: Ledger,
): Pick<Verdict, 'files' | 'bytes'> {
  let files = 0;
  let bytes = 0;
  for (const snapshot of live) {
    const manifests = manifestsFor(snapshot, ledger).map(
      (manifest) =>
        new Map(manifest.filter(({ type }) => type === 'file').map((entry) => [entry.path, entry.sha256])),
    );
    const found = new Map<string, string>();
    const secret = { passphrase: PASSPHRASE };
    for (const { path, content } of readRepository(repository, secret, {
      weakCost: true,
      only: snapshot.id,
    })) {
      if (content === undefined) continue;
      found.set(path, sha256(content));
      files += 1;
      bytes += content.length;
    }
    const same = (manifest: ReadonlyMap<string, string | undefined>): boolean =>
      manifest.size === found.size && [...manifest].every(([path, hash]) => found.get(path) === hash);
    if (!manifests.some(same))
      ledger.violations.push(`the independent reader finds something else in snapshot ${snapshot.id}`);
  }
  return { files, bytes };
}
