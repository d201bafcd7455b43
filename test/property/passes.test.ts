/** Passes under random ends, crashes, unplugged destinations and further passes: who reads, who copies, and that all end. */
// Turn 2 of 8.
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NOTHING_TO_COPY } from '../../src/engine/protocol.ts';
import type { Job } from '../../src/jobs/job.ts';
import { isTerminal } from '../../src/jobs/job-states.ts';
import type { PassPart } from '../../src/jobs/pass.ts';
import { settle } from '../support/manual-clock.ts';
import { backupOf, engineJobOf, runnerSite, type RunnerSite } from '../unit/jobs/runner-site.ts';

const MINUTE = 60_000;
const DESTINATIONS = ['a', 'b', 'c', 'd'] as const;

type Command =
  | { readonly kind: 'pass'; readonly destinations: readonly string[] }
  | { readonly kind: 'single'; readonly destination: string }
  | { readonly kind: 'plug' | 'unplug'; readonly destination: string }
  | {
      readonly kind: 'complete' | 'fail' | 'unreachable' | 'nothing' | 'die' | 'cancel';
      readonly which: number;
    }
  | { readonly kind: 'wait'; readonly minutes: number }
  | { readonly kind: 'crash' };

const destination = fc.constantFrom(...DESTINATIONS);
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('pass' as const),
      destinations: fc.shuffledSubarray([...DESTINATIONS], { minLength: 2 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('single' as const), destination }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('plug' as const, 'unplug' as const), destination }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        ...(['complete', 'complete', 'complete', 'fail', 'unreachable', 'nothing', 'die', 'cancel'] as const),
      ),
      which: fc.nat(9),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait' as const), minutes: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const) }) },
);

class Trial {
  readonly site: RunnerSite;
  /** What each running job was to do when it was begun. */
  readonly #parts: Map<string, PassPart>;
  readonly #away: Set<string>;
  /** Jobs that may have to read though others of their pass have the run. */
  readonly #empty = new Set<string>();
  readonly #ids: string[] = [];

  constructor(site: RunnerSite, parts: Map<string, PassPart>, away: Set<string>) {
    this.site = site;
    this.#parts = parts;
    this.#away = away;
  }

  async run(step: Command): Promise<void> {
    const { runner } = this.site;
    switch (step.kind) {
      case 'pass':
        this.#know(
          runner.submitPass(
            step.destinations.map((name) => backupOf('/home', name)),
            'schedule',
          ),
        );
        break;
      case 'single':
        this.#know([runner.submit(backupOf('/home', step.destination), 'schedule')]);
        break;
      case 'plug':
        this.#away.delete(step.destination);
        runner.look();
        break;
      case 'unplug':
        this.#away.add(step.destination);
        break;
      case 'wait':
        await this.site.pass(step.minutes * MINUTE);
        break;
      case 'crash':
        await this.site.crash();
        break;
      default:
        this.#end(step.kind, step.which);
    }
    await settle();
    this.#check();
  }

  #know(jobs: readonly Job[]): void {
    for (const { id } of jobs) if (!this.#ids.includes(id)) this.#ids.push(id);
  }

  #end(how: 'complete' | 'fail' | 'unreachable' | 'nothing' | 'die' | 'cancel', which: number): void {
    const { running } = this.site.engines;
    const engine = running[which % Math.max(1, running.length)];
    if (engine === undefined) return;
    const { id } = engine.job;
    switch (how) {
      case 'complete':
        engine.complete({ snapshotId: `snapshot of ${id}` });
        return;
      case 'fail':
        engine.fail('CORRUPT_DATA');
        return;
      case 'unreachable':
        engine.fail('DESTINATION_UNREACHABLE');
        return;
      case 'nothing':
        if (this.#parts.get(id)?.kind !== 'copies') return;
        this.#empty.add(id);
        engine.fail(NOTHING_TO_COPY);
        return;
      case 'die':
        engine.die();
        return;
      case 'cancel':
        this.site.runner.cancel(id);
    }
  }

  #check(): void {
    const { site } = this;
    expect(site.troubles).toEqual([]);
    const jobs = [...site.state.database.jobs.all()];
    expect(jobs.map(({ job }) => job.id).sort()).toEqual(this.#ids.toSorted());
    const running = jobs.filter(({ job }) => job.status === 'running');
    const places = running.map(({ job }) => job.spec.destination);
    expect(new Set(places).size).toBe(places.length);
    const readers = running.filter(({ job }) => this.#parts.get(job.id)?.kind !== 'copies');
    expect(readers.length).toBeLessThanOrEqual(1);
    for (const { job, bookkeeping } of running) {
      const part = this.#parts.get(job.id);
      const others = site.book.ofPass(bookkeeping.pass).filter((one) => one.job.id !== job.id);
      const made = others.filter((one) => one.job.snapshot_id !== null);
      if (part?.kind === 'copies') {
        for (const from of part.from) expect(made.map((one) => one.job.id)).toContain(from.id);
      } else if (bookkeeping.pass !== null && part?.kind === 'reads') {
        // Nothing is read once more that is there already, unless it cannot be had.
        expect(made.length === 0 || this.#empty.has(job.id)).toBe(true);
      }
    }
    // For each destination one job waits to begin, and one for what is being read just now.
    for (const name of DESTINATIONS) {
      const waiting = jobs.filter(
        ({ job, bookkeeping }) =>
          job.status === 'queued' &&
          job.started_at === null &&
          job.spec.destination === name &&
          bookkeeping.pass !== null,
      );
      expect(waiting.length).toBeLessThanOrEqual(2);
    }
  }

  /** With nothing in the way all of them come to an end, and what was not made to fail completes. */
  async finish(): Promise<void> {
    this.#away.clear();
    const spoiled = new Set(this.site.ended.map(({ id }) => id));
    for (let round = 0; round < 200; round += 1) {
      await this.site.pass(MINUTE);
      for (const engine of this.site.engines.running)
        engine.complete({ snapshotId: `snapshot of ${engine.job.id}` });
      await settle();
      this.#check();
      if (this.site.book.queued().length === 0 && this.site.engines.running.length === 0) break;
    }
    for (const id of this.#ids) {
      const { status } = this.site.job(id);
      expect(isTerminal(status)).toBe(true);
      if (!spoiled.has(id)) expect(status).toBe('completed');
    }
  }
}

describe('passes', () => {
  it('have one reader at a time, copy only what is there, and come to an end, whatever happens', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 25, size: 'max' }), async (steps) => {
        const parts = new Map<string, PassPart>();
        const away = new Set<string>();
        const site = await runnerSite({
          prepare: async (job, part) => {
            parts.set(job.id, part);
            return await Promise.resolve(engineJobOf(job));
          },
          waitingReason: async ({ spec }) =>
            await Promise.resolve(
              away.has(spec.destination) ? { code: 'destination_absent', params: {} } : null,
            ),
        });
        try {
          const trial = new Trial(site, parts, away);
          for (const step of steps) await trial.run(step);
          await trial.finish();
        } finally {
          await site.remove();
        }
      }),
      { numRuns: 20 },
    );
  });
});
