import { corrupt, DestinationError } from '../../base/errors.ts';
import type { ListedObject } from '../../destination/destination.ts';
import { OBJECT_TYPES } from '../../format/header.ts';
import { hasRetired, isRetired } from '../../format/keyring.ts';
import { decodeChainContext, decodeHead } from '../../format/records.ts';
import { type ChainRecord, chainView } from '../chain-view.ts';
import { type Head, headPlace } from '../chain.ts';
import { highestNumbers } from '../chains/verify-chains.ts';
import { isDamage } from '../chunk-index.ts';
import { openConfig, usableConfig } from '../configuration.ts';
import { openLease, parseLeaseKey } from '../lease-objects.ts';
import { openRecord } from '../objects/objects.ts';
import { mapParallel } from '../objects/parallel.ts';
import type { Repository } from '../repository.ts';
import { readSnapshot, type SnapshotList } from '../snapshots.ts';
import type { CheckedIndex } from './check-index.ts';
import { type Findings, readObjectName } from './check-report.ts';

/** Reads every head and reports damaged and misplaced ones. Of these only the place that their key states is used. */
export async function checkHeads(
  repository: Repository,
  listed: readonly ListedObject[],
  findings: Findings,
  signal: AbortSignal,
): Promise<Head[]> {
  const heads = new Map<string, Head>();
  for (const { key } of listed) {
    const chain = headPlace(key);
    if (chain !== undefined) heads.set(key, { chain, record: undefined, live: undefined });
  }
  await eachObject(repository, listed, findings, signal, (key, bytes) => {
    const place = headPlace(key);
    if (place === undefined) return;
    const { context, plaintext } = openRecord(repository.keys, OBJECT_TYPES.head, bytes, key);
    const head = { chain: decodeChainContext(context, key), ...decodeHead(plaintext, key) };
    if (head.chain.writer !== place.writer || head.chain.seq !== place.seq) {
      throw corrupt(key, 'it is stored under another key');
    }
    heads.set(key, head);
  });
  return [...heads.values()];
}

/** How many missing numbers below the oldest configuration are reported. Interrupted inits use up few. */
const MOST_BELOW = 10;

/** Opens every configuration. The one in force was checked when the repository was opened; older ones were not. */
export async function checkConfigs(
  repository: Repository,
  listed: readonly ListedObject[],
  findings: Findings,
  signal: AbortSignal,
): Promise<void> {
  const { number: inForce } = await usableConfig(repository, signal);
  const numbers = new Set<number>();
  const bound: number[] = [];
  const unbound: number[] = [];
  await eachObject(repository, listed, findings, signal, (key, bytes) => {
    const number = Number(/^config\/(\d{1,9})$/.exec(key)?.[1]);
    if (Number.isNaN(number)) return;
    if (number <= inForce) numbers.add(number);
    const opened = openConfig(repository.keyring, repository.keys, bytes, number);
    (opened.bound ? bound : unbound).push(number);
  });
  const firstBound = Math.min(...bound);
  for (const number of unbound.filter((n) => n > firstBound))
    findings.addPlanted(`config/${number}`, 'it was signed for no number, and one below it was');
  tellMissing(numbers, inForce, findings);
  // When a generation is retired, the configurations sealed under it are deleted, so missing low numbers are normal.
  if (hasRetired(repository.keyring)) return;
  const oldest = numbers.size === 0 ? inForce : Math.min(...numbers);
  for (let n = Math.max(1, oldest - MOST_BELOW); n < oldest; n += 1)
    findings.add(
      'note',
      `config/${n}`,
      'an older configuration is missing, or belonged to an init that was interrupted',
    );
}

/** Reports each gap between numbers as one finding, since it may cover almost all numbers. */
function tellMissing(numbers: ReadonlySet<number>, newest: number, findings: Findings): void {
  let before: number | undefined;
  for (const n of [...numbers, newest].sort((a, b) => a - b)) {
    if (before !== undefined && n === before + 2)
      findings.add('note', `config/${n - 1}`, 'an older configuration is missing');
    else if (before !== undefined && n > before + 2)
      findings.add('note', `config/${n - 1}`, `${n - before - 1} older configurations up to it are missing`);
    before = n;
  }
}

export async function checkLeases(
  repository: Repository,
  listed: readonly ListedObject[],
  findings: Findings,
  signal: AbortSignal,
): Promise<void> {
  await eachObject(repository, listed, findings, signal, (key, bytes) => {
    const lease = parseLeaseKey(key);
    if (lease !== undefined) openLease(repository, bytes, lease.purpose, lease.epoch);
  });
}

/** Opens the snapshots that are forgotten but still stored. */
export async function checkForgotten(
  repository: Repository,
  ids: readonly string[],
  findings: Findings,
  signal: AbortSignal,
): Promise<ChainRecord[]> {
  const records: ChainRecord[] = [];
  for (const id of ids) {
    try {
      const { chain } = await readSnapshot(repository, id, signal);
      records.push({ name: id, chain });
    } catch (error) {
      if (!isDamage(error)) throw error;
      // Prune may have removed the snapshot since it was listed.
      const removed = error.cause instanceof DestinationError && error.cause.kind === 'not-found';
      if (removed) continue;
      const draft = findings.addError(`snapshot ${id}`, error);
      // Snapshots under a retired generation, which the storage has brought back, are explained elsewhere (`acceptReturned`).
      if (draft.lacking === undefined)
        draft.because('it is forgotten: prune removes it after the grace period');
    }
  }
  return records;
}

/** Reads the objects and passes their bytes to `open`; errors that it throws are reported under the object's key. */
async function eachObject(
  repository: Repository,
  listed: readonly ListedObject[],
  findings: Findings,
  signal: AbortSignal,
  open: (key: string, bytes: Buffer) => void,
): Promise<void> {
  const { destination } = repository;
  await mapParallel(listed, destination.properties.maxParallel, async ({ key }) => {
    try {
      const bytes = await destination.get(key, undefined, signal);
      await repository.withKeys(() => open(key, bytes), signal);
    } catch (error) {
      if (!isDamage(error)) throw error;
      // Heads and leases are replaced constantly, so one may be gone by now.
      if (error instanceof DestinationError && error.kind === 'not-found') return;
      findings.addError(key, error);
    }
  });
}

/**
 * Distinguishes objects under retired generations that the storage has brought back (returned-objects.ts) from damaged
 * ones: everything that a returned object could say is known otherwise.
 */
export function needlessUnderRetired(
  repository: Repository,
  snapshots: SnapshotList,
  { claims }: Pick<CheckedIndex, 'claims'>,
): (object: string, generation: number) => boolean {
  const { tombstones } = snapshots;
  const highest = highestNumbers(chainView(repository, snapshots, [], []));
  const isNeedless = (object: string): boolean => {
    const head = headPlace(object);
    if (head !== undefined) return head.seq <= (highest.get(head.writer) ?? 0);
    const config = /^config\/(\d+)$/.exec(object)?.[1];
    // The configuration in force is never under a retired generation.
    if (config !== undefined) return true;
    if (object.startsWith('leases/')) return true;
    const { kind, name = '' } = readObjectName(object) ?? {};
    if (kind === 'tombstone' || kind === 'snapshot') return tombstones.snapshots.has(name);
    return kind === 'index object' || (kind === 'pack' && !claims.has(name));
  };
  return (object, generation) => isRetired(repository.keyring, generation) && isNeedless(object);
}
