/** One repository and the machines that use it, each with a state directory, a source and a clock of its own. */
import { mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import { openLocalDestination } from '../../src/destination/local/local.ts';
import { createRepository } from '../../src/repository/opening.ts';
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';
import { makeCorpus, type CorpusScale } from '../sweep/corpus.ts';
import { PASSPHRASE, type Place } from '../sweep/program.ts';
import type { RunSettings } from './settings.ts';

/** The cheapest passphrase that agents open a repository with. */
const COST = { m: 65_536, t: 1, p: 1 };
/** About 2 MB in 130 files, so that a backup takes a second or two and many fit into an hour. */
const SCALE: CorpusScale = { smallFiles: 120, largeFiles: 6, largeBytes: 250_000 };
/** So small that each backup makes several packs, and prune has something to decide about. */
const PACK_TARGET = 1_048_576;
const SEGMENT_TARGET = 262_144;
/** Sources that begin alike, so that writers share chunks. */
const KINDS_OF_SOURCE = 4;

const HOUR_MS = 3_600_000;
/** How far the clocks of every fifth and every seventh machine are behind, and ahead. */
const WRONG_CLOCKS = { behindMs: 75 * HOUR_MS, aheadMs: 400 * 24 * HOUR_MS };

export interface Machine {
  readonly name: string;
  readonly place: Place;
  readonly source: string;
  readonly random: SeededRandom;
  /** Added to the true time. */
  readonly clockMs: number;
  /** Beside those of every machine. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface WritersSite {
  readonly directory: string;
  readonly repository: string;
  /** For restores that are compared and removed. */
  readonly restored: string;
  machine(name: string, clockMs?: number): Place & { readonly environment: Record<string, string> };
  writer(number: number): Machine;
}

export async function makeSite(settings: RunSettings): Promise<WritersSite> {
  const directory = realpathSync(mkdtempSync(join(settings.scratch ?? tmpdir(), 'holdfast-writers-')));
  const repository = join(directory, 'repository');
  const restored = join(directory, 'restored');
  for (const name of ['sources', 'states', 'restored']) mkdirSync(join(directory, name), { mode: 0o700 });
  const destination = await openLocalDestination(repository, { create: true });
  const created = await createRepository(
    destination,
    {
      clock: systemClock,
      stateDirectory: join(directory, 'states', 'creator'),
      secrets: [{ secret: { kind: 'passphrase', text: PASSPHRASE }, label: 'writers' }],
      cost: COST,
      packTarget: PACK_TARGET,
      segmentTarget: SEGMENT_TARGET,
      graceSeconds: settings.graceSeconds,
    },
    new AbortController().signal,
  );
  await created.close();
  const machine: WritersSite['machine'] = (name, clockMs = 0) => ({
    repository,
    state: join(directory, 'states', name),
    cache: join(directory, 'cache'),
    environment: movedClock(clockMs),
  });
  return {
    directory,
    repository,
    restored,
    machine,
    writer(number) {
      const name = `writer-${String(number).padStart(2, '0')}`;
      const source = join(directory, 'sources', name);
      makeCorpus(source, SCALE, seededRandom(settings.seed + (number % KINDS_OF_SOURCE)));
      const clockMs = number % 5 === 3 ? -WRONG_CLOCKS.behindMs : number % 7 === 4 ? WRONG_CLOCKS.aheadMs : 0;
      const { environment, ...place } = machine(name, clockMs);
      const random = seededRandom(settings.seed * 1_000 + number);
      return { name, place, source, random, clockMs, environment };
    },
  };
}

/** A wall clock that is wrong from the start; monotonic time and the storage's clock stay right. */
function movedClock(byMs: number): Record<string, string> {
  if (byMs === 0) return {};
  const module = `const now=Date.now.bind(Date);Date.now=()=>Math.trunc(now()+(${byMs}))`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(module)}` };
}
