/** The directories in which far readers of passes keep packs for further destinations, and their removal. */
import { rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { namesIn } from '../../base/atomic-file.ts';
import type { JobStore } from '../../db/jobs.ts';
import { isTerminal } from '../../jobs/job-states.ts';

export function spoolDirectory(stateDirectory: string, pass: string): string {
  return join(allSpools(stateDirectory), pass);
}

function allSpools(stateDirectory: string): string {
  return join(stateDirectory, 'spool');
}

export interface SpoolsParts {
  readonly stateDirectory: string;
  readonly jobs: Pick<JobStore, 'ofPass'>;
  readonly trouble: (error: unknown) => void;
}

/**
 * Removes the spools of an earlier process when it is created. Nothing is lost, as their packs can be fetched from a destination.
 */
export class Spools implements AsyncDisposable {
  readonly #parts: SpoolsParts;
  #tidying: Promise<void> = Promise.resolve();

  constructor(parts: SpoolsParts) {
    this.#parts = parts;
    rmSync(allSpools(parts.stateDirectory), { recursive: true, force: true });
  }

  /** Removes, in the background, the spools of passes in which all jobs have ended. */
  tidy(): void {
    this.#tidying = this.#tidying.then(async () => await this.#removeOld()).catch(this.#parts.trouble);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tidying;
  }

  async #removeOld(): Promise<void> {
    const { stateDirectory, jobs } = this.#parts;
    for (const pass of await namesIn(allSpools(stateDirectory))) {
      const isOver = jobs.ofPass(pass).every(({ job }) => isTerminal(job.status));
      if (isOver) await rm(spoolDirectory(stateDirectory, pass), { recursive: true, force: true });
    }
  }
}
