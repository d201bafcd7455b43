/** Programs that share what they may share, and what they must not: one repository, one state directory, copies of one. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { archive, type ArchiveSummary } from '../../src/archiver/archive.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { systemClock } from '../../src/base/clock.ts';
import { SILENT_CHECK, type Finding } from '../../src/repository/check/check-report.ts';
import { check } from '../../src/repository/check/check.ts';
import { openRepository } from '../../src/repository/opening.ts';
import type { Snapshot } from '../../src/repository/snapshots.ts';
import { never, openEngine, requestFor, type Engine } from '../support/engine.ts';
import type { SeededRandom } from '../support/seeded-random.ts';

const WRITERS = [2, 5, 20] as const;
export const SHARINGS = ['writers', 'processes', 'copies', 'copies at one moment'] as const;
export type Sharing = (typeof SHARINGS)[number];

export interface SharingResult {
  readonly rounds: Readonly<Record<Sharing, number>>;
  readonly backups: number;
  /** Copies that were noticed. */
  readonly noticed: number;
  /** Records that two copies gave one number, because they wrote at one moment. */
  readonly forks: number;
}

const FILES = 6;
const FILE_BYTES = 30_000;
/** What a run adds that finds all files stored: its directories, whose times are their own. */
const MOST_TREE_BYTES = 20_000;

export async function sweepSharing(count: number, random: SeededRandom): Promise<SharingResult> {
  const rounds: Record<Sharing, number> = { writers: 0, processes: 0, copies: 0, 'copies at one moment': 0 };
  const total = { backups: 0, noticed: 0, forks: 0 };
  for (let round = 0; round < count; round += 1) {
    const sharing = SHARINGS[round % SHARINGS.length] ?? 'writers';
    const writers = WRITERS[Math.floor(round / SHARINGS.length) % WRITERS.length] ?? 2;
    await using engine = await openEngine({ destination: 'local' });
    fill(engine, random);
    const { summaries, noticed } = await PLAYED[sharing](engine, writers, random);
    const forks = await expectSound(engine, summaries, sharing);
    rounds[sharing] += 1;
    total.backups += summaries.length;
    total.noticed += noticed;
    total.forks += forks;
  }
  return { rounds, ...total };
}

interface Played {
  readonly summaries: readonly ArchiveSummary[];
  readonly noticed: number;
}

type Play = (engine: Engine, writers: number, random: SeededRandom) => Promise<Played>;

const PLAYED: Readonly<Record<Sharing, Play>> = {
  /** Machines that save the same files at the same time. */
  writers: async (engine, writers) => {
    const machines = Array.from({ length: writers }, (_, i) => new Machine(engine, `machine-${i}`));
    const first = await Promise.all(machines.map((machine) => machine.backUp()));
    const second = await Promise.all(machines.map((machine) => machine.backUp()));
    const late = await new Machine(engine, 'late').backUp();
    // Whatever they stored twice in their haste, what is stored is not stored again.
    for (const { bytesNew } of [...second, late]) expect(bytesNew).toBeLessThan(MOST_TREE_BYTES);
    const summaries = [...first, ...second, late];
    expect(new Set(summaries.map(writerOf)).size).toBe(writers + 1);
    return { summaries, noticed: 0 };
  },
  /** Processes that share a state directory: one writer, and no number twice. */
  processes: async (engine, writers) => {
    const machine = new Machine(engine, 'machine');
    const summaries = [await machine.backUp()];
    const processes = Array.from({ length: writers }, async () => await machine.backUp());
    summaries.push(...(await Promise.all(processes)));
    expect(new Set(summaries.map(writerOf)).size).toBe(1);
    return { summaries, noticed: 0 };
  },
  /** Copies of a machine that take turns, in any order. */
  copies: async (engine, writers, random) => {
    const original = new Machine(engine, 'original');
    const summaries = [await original.backUp()];
    const all = [original, ...copiesOf(original, writers - 1)];
    const turns = [...all, ...all].sort(() => random.next() - 0.5);
    for (const machine of turns) summaries.push(await machine.backUp());
    expect(new Set(all.map(({ writer }) => writer)).size).toBe(writers);
    expect(noticedBy(summaries)).toBe(writers - 1);
    return { summaries, noticed: writers - 1 };
  },
  'copies at one moment': async (engine, writers) => {
    const original = new Machine(engine, 'original');
    const summaries = [await original.backUp()];
    const all = [original, ...copiesOf(original, writers - 1)];
    summaries.push(...(await Promise.all(all.map((machine) => machine.backUp()))));
    // Whoever has found the number taken goes on as another from here on.
    for (const machine of all) summaries.push(await machine.backUp());
    expect(new Set(all.map(({ writer }) => writer)).size).toBe(writers);
    expect(noticedBy(summaries)).toBe(writers - 1);
    return { summaries, noticed: writers - 1 };
  },
};

/** A state directory, and a program that opens the repository anew for each backup. */
class Machine {
  readonly #engine: Engine;
  readonly name: string;
  readonly state: string;
  /** Of the last backup. */
  writer = '';

  constructor(engine: Engine, name: string) {
    this.#engine = engine;
    this.name = name;
    this.state = join(engine.directory, name);
    mkdirSync(this.state, { recursive: true });
  }

  copy(name: string): Machine {
    const copied = new Machine(this.#engine, name);
    cpSync(this.state, copied.state, { recursive: true });
    return copied;
  }

  async backUp(): Promise<ArchiveSummary> {
    const { calls, secret, source } = this.#engine;
    const options = { clock: systemClock, stateDirectory: this.state };
    const repository = await openRepository(calls, secret, options, never);
    const summary = await archive(requestFor(repository, [source], { host: this.name }), SILENT, never);
    this.writer = writerOf(summary);
    return summary;
  }
}

function fill({ source }: Engine, random: SeededRandom): void {
  for (let i = 0; i < FILES; i += 1) writeFileSync(join(source, `file-${i}`), random.bytes(FILE_BYTES));
}

function copiesOf(original: Machine, count: number): readonly Machine[] {
  return Array.from({ length: count }, (_, i) => original.copy(`copy-${i}`));
}

function writerOf({ snapshot }: ArchiveSummary): string {
  return snapshot.chain.writer;
}

function noticedBy(summaries: readonly ArchiveSummary[]): number {
  return summaries.filter(({ foreign }) => foreign !== undefined).length;
}

/** Every snapshot is there and is the source; nothing is wrong but what copies did at one moment. Returns how often that was. */
async function expectSound(
  engine: Engine,
  summaries: readonly ArchiveSummary[],
  sharing: Sharing,
): Promise<number> {
  const snapshots = await engine.snapshots();
  const made = summaries.map(({ snapshot }) => snapshot.id);
  expect(snapshots.map(({ id }) => id).sort(), sharing).toEqual(made.sort());
  for (const snapshot of snapshots) expect(await engine.differences(snapshot), sharing).toEqual([]);
  const options = { readData: 'all' as const, workers: 0 };
  const { findings } = await check(engine.repository, options, SILENT_CHECK, never);
  const forks = forksOf(snapshots);
  if (sharing !== 'copies at one moment') expect(forks).toBe(0);
  const told = findings.filter(({ severity }) => severity !== 'note');
  expect(told.map(shownFinding), sharing).toEqual(forks === 0 ? [] : [expect.stringContaining('warning')]);
  return forks;
}

/** Numbers of a writer that several snapshots have. */
function forksOf(snapshots: readonly Snapshot[]): number {
  const numbers = snapshots.map(({ chain }) => `${chain.writer}/${chain.seq}`);
  return new Set(numbers.filter((number, at) => numbers.indexOf(number) !== at)).size;
}

function shownFinding({ severity, object, what }: Finding): string {
  return `${severity}: ${object}: ${what}`;
}
