/** What the agent's queue tells to be noted, and whether it is. */
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect } from 'vitest';
import { HoldfastError } from '../../src/base/errors.ts';
import { isFailedQuery } from '../../src/db/database.ts';
import { createJobBook, type JobBook } from '../../src/jobs/job-book.ts';
import { canceled, completed, failed, started } from '../../src/jobs/job-states.ts';
import type { JobStatus } from '../../src/jobs/job.ts';
import { openAgentState, type AgentState } from '../../src/jobs/open-state.ts';
import { manualClock } from '../support/manual-clock.ts';
import { removeTree } from '../support/remove-tree.ts';
import { OUTCOME } from '../unit/jobs/fake-engines.ts';
import { backupOf } from '../unit/jobs/runner-site.ts';

/** One agent's state: some jobs in good order, more of them while something is wrong, and a look at all of them after. */
export class StateTrial {
  readonly #clock = manualClock();
  readonly #directory: string;
  /** Of the jobs that were noted, as was told last. */
  readonly #told = new Map<string, JobStatus>();
  /** The change of a job that was refused last. */
  readonly #tried = new Map<string, JobStatus>();
  /** Sources of jobs that were refused. */
  readonly #refused: string[] = [];
  /** A setting as it was told to be, and as it was refused to be. */
  #setting: { told: string | undefined; tried: string | undefined } = { told: undefined, tried: undefined };
  /** While something was wrong. */
  refusedToOpen = false;
  refusals = 0;

  /** Whatever is in the directory goes. */
  constructor(directory: string) {
    this.#directory = directory;
  }

  prepare(): void {
    removeTree(this.#directory);
    this.#workWith(openAgentState(this.#directory, this.#clock), 'before');
    expect(this.refusals).toBe(0);
  }

  /** What goes wrong in it is refused with an error that says so. */
  work(): void {
    let state: AgentState;
    try {
      state = openAgentState(this.#directory, this.#clock);
    } catch (error) {
      expectTyped(error);
      this.refusedToOpen = true;
      return;
    }
    this.#workWith(state, 'now');
  }

  #workWith(state: AgentState, when: string): void {
    try {
      const book = createJobBook(state, this.#clock);
      const added = [1, 2, 3, 4].map((number) => this.#add(book, `/${when}/${number}`));
      for (const [index, id] of added.entries()) {
        if (id === undefined || index === 3) continue;
        this.#change(book, id, 'running');
        const end = (['completed', 'failed', 'canceled'] as const)[index] ?? 'completed';
        if (this.#told.get(id) === 'running') this.#change(book, id, end);
      }
      this.#attempt(
        () => {
          state.database.settings.set('paused', when);
          this.#setting = { told: when, tried: undefined };
        },
        () => (this.#setting.tried = when),
      );
      this.#attempt(() => state.tidy());
      this.#attempt(() => this.#expectTold(state, 'now'));
    } finally {
      this.#attempt(() => state.close());
    }
  }

  #add(book: JobBook, source: string): string | undefined {
    return this.#attempt(
      () => {
        const { id } = book.add(backupOf(source), 'api').job;
        this.#told.set(id, 'queued');
        return id;
      },
      () => this.#refused.push(source),
    );
  }

  #change(book: JobBook, id: string, to: 'running' | 'completed' | 'failed' | 'canceled'): void {
    const nowMs = this.#clock.now();
    const error = { code: 'READ_ERROR', message: 'No.', details: {} };
    this.#attempt(
      () => {
        book.change(id, (record) => {
          if (to === 'running') return started(record, nowMs);
          if (to === 'completed') return completed(record, OUTCOME, nowMs);
          return to === 'failed' ? failed(record, error, nowMs) : canceled(record, nowMs);
        });
        this.#told.set(id, to);
      },
      () => this.#tried.set(id, to),
    );
  }

  /** It is done, or refused with an error that says so. */
  #attempt<T>(work: () => T, refused: () => void = () => {}): T | undefined {
    try {
      return work();
    } catch (error) {
      expectTyped(error);
      this.refusals += 1;
      refused();
      return undefined;
    }
  }

  #expectTold({ database }: AgentState, when: 'now' | 'after a restart'): void {
    const found = new Map([...database.jobs.all()].map(({ job }) => [job.id, job] as const));
    for (const [id, status] of this.#told) {
      const allowed = when === 'now' ? [status] : [status, this.#tried.get(id)];
      const is = found.get(id)?.status;
      expect(allowed, `job ${id}`).toContain(is);
      if (is !== undefined) this.#told.set(id, is);
    }
    for (const { id, status, spec } of found.values()) {
      if (this.#told.has(id)) continue;
      // Of what was refused nothing is left that would be done.
      expect(status, `job ${id}, which was refused`).toBe('canceled');
      expect(this.#refused).toContain(spec.type === 'backup' ? spec.source : '');
    }
    const { told, tried } = this.#setting;
    const is = database.settings.get('paused');
    expect(when === 'now' ? [told] : [told, tried ?? told]).toContain(is);
    this.#setting = { told: is, tried };
  }

  /** Nothing is wrong any more: what was told stands, and more can be done. */
  expectKept(): void {
    const raw = new Sqlite(join(this.#directory, 'state.db'));
    expect(raw.pragma('integrity_check', { simple: true })).toBe('ok');
    raw.close();
    for (const time of ['first', 'second']) {
      const state = openAgentState(this.#directory, this.#clock);
      try {
        this.#expectTold(state, 'after a restart');
        if (time === 'second') expect(state.findings).toEqual([]);
      } finally {
        state.close();
      }
    }
    const before = this.refusals;
    this.#workWith(openAgentState(this.#directory, this.#clock), 'after');
    expect(this.refusals).toBe(before);
  }
}

/** An error of the program's own, or SQLite's as it came: neither is a defect, both have a code. */
function expectTyped(error: unknown): void {
  if (error instanceof HoldfastError || isFailedQuery(error)) return;
  throw error;
}
