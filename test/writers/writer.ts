/** What every writer does: change its source, note what stands there, back it up, say what became of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { asByteString } from '../../src/base/byte-path.ts';
import { entriesOnDisk } from '../support/tree-manifest.ts';
import type { SeededRandom } from '../support/seeded-random.ts';
import { changeCorpus } from '../sweep/corpus.ts';
import type { Attempt, AttemptEnd, Disturbance, Ledger } from './ledger.ts';
import type { Machine } from './site.ts';

/** Leases are given up after five minutes: a longer sleep is one that others may have pruned in. */
const LONG_SLEEP_MS = 330_000;

export interface Rhythm {
  /** Mean pause between two backups of one writer. */
  readonly pauseMs: number;
  /** Least length of every sixth pause: an agent then gives back the memory that it is done with. */
  readonly restMs?: number;
  /** Nobody is killed or stopped for long after this. */
  readonly calmFromMs: number;
  /** Ends pauses and sleeps, so that what is under way comes to its end. */
  readonly stopped: AbortSignal;
}

/** Backs up again and again until it is told to stop. */
export async function writeAgainAndAgain(
  machine: Machine,
  ledger: Ledger,
  rhythm: Rhythm,
  kinds: readonly Disturbance['kind'][],
  backUp: (attempt: Attempt) => Promise<AttemptEnd>,
): Promise<void> {
  const { name, source, random } = machine;
  await pause(rhythm.pauseMs * random.next(), rhythm.stopped);
  for (let version = 1; !rhythm.stopped.aborted; version += 1) {
    if (version > 1) changeCorpus(source, version, random);
    const manifest = entriesOnDisk(asByteString(source));
    const disturbed = version === 1 ? undefined : drawDisturbance(random, kinds, rhythm);
    const attempt = ledger.begin({ writer: name, source, version, manifest, disturbed });
    ledger.end(attempt, await backUp(attempt));
    const pauseMs = rhythm.pauseMs * (0.5 + random.next());
    await pause(version % 6 === 0 ? Math.max(pauseMs, rhythm.restMs ?? 0) : pauseMs, rhythm.stopped);
  }
}

/** One backup in five is hit: a tenth of them for longer than a lease lives, if there is time. */
function drawDisturbance(
  random: SeededRandom,
  kinds: readonly Disturbance['kind'][],
  { calmFromMs }: Rhythm,
): Disturbance | undefined {
  const [hit, which, when, how] = [random.next(), random.below(kinds.length), random.next(), random.next()];
  const kind = kinds[which];
  const leftMs = calmFromMs - Date.now();
  if (hit >= 0.2 || kind === undefined || leftMs <= 0) return undefined;
  const long = how < 0.35 && leftMs > LONG_SLEEP_MS;
  const lastsMs = kind.startsWith('kill') ? 0 : long ? LONG_SLEEP_MS : 5_000 + how * 60_000;
  return { kind, afterMs: 150 + when * 2_500, lastsMs };
}

async function pause(ms: number, stopped: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stopped }).catch(() => {});
}
