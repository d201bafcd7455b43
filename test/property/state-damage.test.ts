/** The state database under damage anywhere: whatever is hit, no job is lost that the journal knows. */
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JobRecord } from '../../src/db/jobs.ts';
import { createJobBook } from '../../src/jobs/job-book.ts';
import { canceled, completed, failed, progressed, started } from '../../src/jobs/job-states.ts';
import { openAgentState } from '../../src/jobs/open-state.ts';
import { NO_PROGRESS } from '../../src/jobs/job.ts';
import { manualClock } from '../support/manual-clock.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { held, note } from '../sweep/settings.ts';
import { OUTCOME } from '../unit/jobs/fake-engines.ts';
import { backupOf } from '../unit/jobs/runner-site.ts';

/** How many times as many damages as usual. */
const TIMES = Number(process.env['HOLDFAST_STATE_DAMAGE_TIMES'] ?? 1);
const rounds = (usual: number): readonly number[] => Array.from({ length: usual * TIMES }, (_, i) => i);

const clock = manualClock();
let directory: string;
/** Closed in good order, and as a killed process leaves it, with everything in the log. */
const left = { closed: '', killed: '' };
let jobs: readonly JobRecord[];

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-state-damage-'));
  left.closed = join(directory, 'closed');
  left.killed = join(directory, 'killed');
  const state = openAgentState(left.closed, clock);
  const book = createJobBook(state, clock);
  for (let number = 0; number < 40; number += 1) {
    const { id } = book.add(backupOf(`/home/ana/${number}`), 'api').job;
    book.log(id, 'info', 'What it said.');
    if (number % 5 === 4) continue;
    book.change(id, (record) => started(record, clock.now()));
    book.addProblem(id, { path: '/a', code: 'EACCES', message: 'It could not be read.' });
    book.show(id, (record) =>
      progressed(record, { progress: NO_PROGRESS, files: number, bytes: 7, stored: 0, ranMs: 5 }),
    );
    if (number % 5 === 3) continue;
    const ends = [completed, failed, canceled] as const;
    book.change(id, (record) => {
      if (number % 5 === 0) return ends[0](record, OUTCOME, clock.now());
      const error = { code: 'READ_ERROR', message: 'No.', details: {} };
      return number % 5 === 1 ? ends[1](record, error, clock.now()) : ends[2](record, clock.now());
    });
  }
  state.database.settings.set('machine', 'seed');
  state.database.schedules.putAll([['backup /a', { lastRun: 1, nextRun: 2 }]]);
  jobs = [...state.database.jobs.all()];
  cpSync(left.closed, left.killed, { recursive: true });
  state.close();
});

/** Damages after which every job was there. */
let withstood = 0;

afterAll(() => {
  rmSync(directory, { recursive: true });
  note(held(withstood));
});

/** What of a job does not depend on how far it had been shown to be. */
function kept({ job, bookkeeping }: JobRecord): unknown {
  if (job.finished_at !== null) return { job, bookkeeping };
  const { id, status, attempt, spec, progress } = job;
  const names = [job, progress, bookkeeping].map((record) => Object.keys(record).sort());
  return { id, status, attempt, spec, names };
}

/** Opens a damaged copy, and again, and expects every job to be there. */
function expectKept(from: string, damage: (copy: string) => void): void {
  const copy = join(directory, 'copy');
  rmSync(copy, { recursive: true, force: true });
  cpSync(from, copy, { recursive: true });
  damage(copy);
  for (const time of ['first', 'second']) {
    const state = openAgentState(copy, clock);
    try {
      expect([...state.database.jobs.all()].map(kept), time).toEqual(jobs.map(kept));
      expect(state.database.settings.get('machine')).toBe('seed');
      for (const { job } of jobs) state.database.jobs.get(job.id);
      state.database.events.after(0, undefined, 1_000);
      state.database.jobs.page({ limit: 100 });
      if (time === 'second') expect(state.findings).toEqual([]);
    } finally {
      state.close();
    }
  }
  withstood += 1;
}

function spoil(path: string, change: (bytes: Buffer) => Buffer): void {
  const before = readFileSync(path);
  const after = change(Buffer.from(before));
  expect(after.equals(before), 'the damage').toBe(false);
  writeFileSync(path, after);
}

describe('a state database', () => {
  test.each([
    ['its version', 60, 4],
    ['the name of a table', 0, 0],
  ])('in which %s was changed loses no job', (what, at, length) => {
    expectKept(left.closed, (copy) =>
      spoil(join(copy, 'state.db'), (bytes) => {
        if (length > 0) return bytes.fill(0, at, at + length);
        const place = bytes.indexOf('TABLE credentials');
        expect(place, what).toBeGreaterThan(0);
        return Buffer.concat([
          bytes.subarray(0, place),
          Buffer.from('TABLE crexentials'),
          bytes.subarray(place + 'TABLE credentials'.length),
        ]);
      }),
    );
  });

  test('in which a name within a finished job was changed has it as it was', () => {
    expectKept(left.closed, (copy) =>
      spoil(join(copy, 'state.db'), (bytes) => {
        const place = bytes.lastIndexOf('"cancelRequested"');
        expect(place).toBeGreaterThan(0);
        bytes.write('x', place + 2);
        return bytes;
      }),
    );
  });

  test.each(rounds(20))('with changed bytes loses no job (%i)', (round) => {
    const random = seededRandom(20_261_121 + round);
    expectKept(left.closed, (copy) =>
      spoil(join(copy, 'state.db'), (bytes) => {
        const length = random.next() < 0.5 ? 1 : 1 + random.below(300);
        const at = random.below(bytes.length - length);
        for (let index = at; index < at + length; index += 1)
          bytes[index] = (bytes[index] ?? 0) ^ (1 + random.below(255));
        return bytes;
      }),
    );
  });

  test.each(rounds(5))('that is cut short loses no job (%i)', (round) => {
    const random = seededRandom(20_261_221 + round);
    expectKept(left.closed, (copy) =>
      spoil(join(copy, 'state.db'), (bytes) =>
        bytes.subarray(0, round === 0 ? 0 : random.below(bytes.length)),
      ),
    );
  });

  test.each(rounds(6))('whose log is damaged loses no job (%i)', (round) => {
    const random = seededRandom(20_261_321 + round);
    expect(statSync(join(left.killed, 'state.db-wal')).size).toBeGreaterThan(100_000);
    expectKept(left.killed, (copy) => {
      rmSync(join(copy, 'state.db-shm'), { force: true });
      spoil(join(copy, 'state.db-wal'), (bytes) => {
        if (round % 2 === 0) return bytes.subarray(0, random.below(bytes.length));
        bytes.fill(0xaa, random.below(bytes.length));
        return bytes;
      });
    });
  });
});
