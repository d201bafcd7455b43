/** The queue under random requests, crashes, cancellations, pauses and restarts, against a model of what must hold. */
// Turn 6 of 8.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Job, JobTrigger } from '../../src/jobs/job.ts';
import { MOST_DEATHS, isTerminal } from '../../src/jobs/job-states.ts';
import { settle } from '../support/manual-clock.ts';
import type { FakeEngine } from '../unit/jobs/fake-engines.ts';
import { backupOf, runnerSite, type RunnerSite } from '../unit/jobs/runner-site.ts';

const MINUTE = 60_000;

type Command =
  | {
      readonly kind: 'submit';
      readonly source: number;
      readonly destination: number;
      readonly trigger: JobTrigger;
    }
  | {
      readonly kind: 'store' | 'die' | 'complete' | 'unreachable' | 'fail' | 'cancel';
      readonly which: number;
    }
  | { readonly kind: 'pause'; readonly minutes: number | null; readonly interrupt: boolean }
  | { readonly kind: 'pass'; readonly minutes: number }
  | { readonly kind: 'resume' | 'restart' | 'crash' | 'loseDatabase' };

const which = fc.nat(20);
const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('submit' as const),
      source: fc.nat(2),
      destination: fc.nat(2),
      trigger: fc.constantFrom('api' as const, 'schedule' as const, 'watch' as const),
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        ...(['store', 'die', 'die', 'die', 'die', 'complete', 'unreachable', 'fail', 'cancel'] as const),
      ),
      which,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('pause' as const),
      minutes: fc.option(fc.integer({ min: 1, max: 20 })),
      interrupt: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('pass' as const), minutes: fc.integer({ min: 1, max: 16 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constantFrom('resume', 'resume', 'restart', 'crash', 'loseDatabase') }),
  },
);

/** What must be true of a job that was accepted. */
interface Expected {
  attempt: number;
  deaths: number;
  /** Whether this attempt stored anything. */
  stored: boolean;
  interrupted: boolean;
  canceled: boolean;
  /** As it was when it ended. */
  final: Job | undefined;
}

class Trial {
  readonly site: RunnerSite;
  readonly expected = new Map<string, Expected>();

  constructor(site: RunnerSite) {
    this.site = site;
  }

  async run(step: Command): Promise<void> {
    const { runner, clock } = this.site;
    switch (step.kind) {
      case 'submit':
        this.#submit(step);
        break;
      case 'pass':
        await this.site.pass(step.minutes * MINUTE);
        break;
      case 'pause':
        await runner.pause(
          step.minutes === null ? null : clock.now() + step.minutes * MINUTE,
          step.interrupt,
        );
        break;
      case 'resume':
        runner.resume();
        break;
      case 'restart':
        await this.site.restart();
        break;
      case 'crash':
      case 'loseDatabase':
        // What an attempt has stored is known to the database alone: without it the death counts.
        if (step.kind === 'loseDatabase') for (const one of this.expected.values()) one.stored = false;
        for (const id of this.#running()) this.#dies(id);
        await this.site.crash(() => {
          if (step.kind === 'loseDatabase') rmSync(join(this.site.directory, 'state.db'));
        });
        break;
      case 'cancel':
        this.#cancel(step.which);
        break;
      default:
        this.#engine(step.kind, step.which);
    }
    await settle();
    this.check();
  }

  #submit({ source, destination, trigger }: Command & { readonly kind: 'submit' }): void {
    const job = this.site.runner.submit(backupOf(`/${source}`, `d${destination}`), trigger);
    if (this.expected.has(job.id)) {
      // One that waits stands for it.
      expect(trigger).not.toBe('api');
      expect(job).toMatchObject({ status: 'queued', started_at: null });
      return;
    }
    const nothing = { attempt: 1, deaths: 0, stored: false, interrupted: false, canceled: false };
    this.expected.set(job.id, { ...nothing, final: undefined });
  }

  #cancel(index: number): void {
    const ids = [...this.expected.keys()];
    const id = ids[index % Math.max(1, ids.length)];
    if (id === undefined) return;
    if (isTerminal(this.site.job(id).status)) {
      expect(() => this.site.runner.cancel(id)).toThrow('has already ended');
      return;
    }
    this.site.runner.cancel(id);
    this.#of(id).canceled = true;
  }

  #engine(what: 'store' | 'die' | 'complete' | 'unreachable' | 'fail', index: number): void {
    const { running } = this.site.engines;
    const engine: FakeEngine | undefined = running[index % Math.max(1, running.length)];
    if (engine === undefined) return;
    const { id } = engine.job;
    const expected = this.#of(id);
    switch (what) {
      case 'store':
        engine.progress(1);
        expected.stored = true;
        return;
      case 'complete':
        engine.complete();
        return;
      case 'die':
        this.#dies(id);
        engine.die();
        return;
      case 'fail':
        engine.fail('WRONG_PASSPHRASE');
        return;
      case 'unreachable':
        Object.assign(expected, { attempt: expected.attempt + 1, deaths: 0, stored: false });
        engine.fail('DESTINATION_UNREACHABLE');
    }
  }

  #dies(id: string): void {
    const expected = this.#of(id);
    const deaths = expected.stored ? 0 : expected.deaths + 1;
    const interrupted = deaths >= MOST_DEATHS;
    const attempt = interrupted ? expected.attempt : expected.attempt + 1;
    Object.assign(expected, { deaths, attempt, interrupted, stored: false });
  }

  #running(): readonly string[] {
    return this.site.book.running().map(({ job }) => job.id);
  }

  #of(id: string): Expected {
    const expected = this.expected.get(id);
    if (expected === undefined) throw new Error(`${id} was never asked for`);
    return expected;
  }

  check(): void {
    const { site } = this;
    expect(site.troubles).toEqual([]);
    const jobs = [...site.state.database.jobs.all()].map(({ job }) => job);
    // Nothing is lost, and nothing comes from nowhere.
    expect(jobs.map(({ id }) => id)).toEqual([...this.expected.keys()]);
    for (const job of jobs) this.#checkJob(job);
    const running = jobs.filter(({ status }) => status === 'running');
    const places = running.flatMap(({ spec }) => [
      spec.destination,
      spec.type === 'backup' ? spec.source : '',
    ]);
    expect(new Set(places).size).toBe(places.length);
    const engines = site.engines.running.map(({ job }) => job.id);
    expect(engines.sort()).toEqual(running.map(({ id }) => id).sort());
    // Each was told to have ended once.
    const told = site.ended.map(({ id }) => id);
    expect(told.sort()).toEqual(
      jobs
        .filter(({ status }) => isTerminal(status))
        .map(({ id }) => id)
        .sort(),
    );
  }

  #checkJob(job: Job): void {
    const expected = this.#of(job.id);
    if (expected.final !== undefined) {
      expect(job).toEqual(expected.final);
      return;
    }
    // A planned stop makes no difference to the attempt, and begins a new count of what is stored.
    if (job.status === 'queued') expected.stored = false;
    if (job.status !== 'canceled') expect(job.attempt).toBe(expected.attempt);
    expect(job.error?.code === 'JOB_INTERRUPTED').toBe(expected.interrupted);
    if (expected.interrupted) expect(job.status).toBe('failed');
    if (expected.canceled) expect(job.status).toBe('canceled');
    if (isTerminal(job.status)) expected.final = job;
  }

  /** With nothing in the way, every job comes to an end. */
  async finish(): Promise<void> {
    this.site.runner.resume();
    for (let round = 0; round < 200; round += 1) {
      await this.site.pass(MINUTE);
      for (const engine of this.site.engines.running) engine.complete();
      await settle();
      if (this.site.book.queued().length === 0 && this.site.engines.running.length === 0) break;
    }
    this.check();
    expect(this.site.book.queued()).toEqual([]);
  }
}

describe('the queue', () => {
  it('keeps its promises whatever happens in whatever order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 30, size: 'max' }), async (steps) => {
        const site = await runnerSite();
        const trial = new Trial(site);
        try {
          for (const step of steps) await trial.run(step);
          await trial.finish();
        } finally {
          await site.remove();
        }
      }),
      { numRuns: 40, endOnFailure: true },
    );
  });
});
