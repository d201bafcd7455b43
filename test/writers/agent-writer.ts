/** A machine whose agent is asked for backups over the Desktop API, and that is killed, stopped and started again. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  prepareAgent,
  startAgent,
  storeSettings,
  type RunningAgent,
  type ShownJob,
} from '../sweep/agent-program.ts';
import { shown } from './command-writer.ts';
import type { AttemptEnd, Disturbance, Ledger } from './ledger.ts';
import { freeze, sampleProcess, signalProcess, type ProcessSample } from './processes.ts';
import type { Machine } from './site.ts';
import { writeAgainAndAgain, type Rhythm } from './writer.ts';

/** How long a job may take, sleeps included. */
const PATIENCE_MS = 1_200_000;

export class AgentWriter {
  readonly machine: Machine;
  /** By process id, since an agent that was started again is another process. */
  readonly samples = new Map<number, ProcessSample[]>();
  readonly #ledger: Ledger;
  readonly #startAnew: () => Promise<RunningAgent>;
  /** Whether the agent itself is killed and stopped, or only its engines. */
  readonly #suffers: boolean;
  #agent: RunningAgent;
  #frozen = false;

  private constructor(
    machine: Machine,
    ledger: Ledger,
    suffers: boolean,
    startAnew: () => Promise<RunningAgent>,
    agent: RunningAgent,
  ) {
    this.machine = machine;
    this.#ledger = ledger;
    this.#suffers = suffers;
    this.#startAnew = startAnew;
    this.#agent = agent;
  }

  static async start(machine: Machine, ledger: Ledger, keep: number, suffers: boolean): Promise<AgentWriter> {
    const place = await prepareAgent(machine.place, {
      ...storeSettings(machine.place),
      retention: { keepLast: keep, keepDaily: null, keepWeekly: null, keepMonthly: null, keepWithin: null },
      conditions: { onBattery: 'run', onMetered: 'run' },
    });
    const startAnew = async (): Promise<RunningAgent> => await startAgent(place, machine.environment);
    return new AgentWriter(machine, ledger, suffers, startAnew, await startAnew());
  }

  sample(): void {
    const { pid } = this.#agent;
    const sample = this.#frozen ? undefined : sampleProcess(pid);
    if (sample === undefined) return;
    const known = this.samples.get(pid);
    if (known === undefined) this.samples.set(pid, [sample]);
    else known.push(sample);
  }

  async run(rhythm: Rhythm): Promise<void> {
    const own = ['kill engine', 'freeze engine'] as const;
    const kinds = this.#suffers ? ([...own, 'kill agent', 'freeze agent'] as const) : own;
    await writeAgainAndAgain(this.machine, this.#ledger, rhythm, kinds, async ({ disturbed, source }) => {
      const { id } = await this.#agent.submit('/backup', { source });
      const job = this.#finished('/backup', id);
      if (disturbed !== undefined) await this.#disturb(disturbed, rhythm.stopped);
      return endOf(await job);
    });
  }

  /** Asks the agent for a prune; undefined while it sleeps. */
  async prune(): Promise<ShownJob | undefined> {
    if (this.#frozen) return undefined;
    const { id } = await this.#agent.submit('/prune', { apply_retention: true });
    return await this.#finished('/prune', id);
  }

  async stop(): Promise<number | null> {
    return await this.#agent.stop();
  }

  /** An agent that sleeps or is being started again does not answer, which is no failure of the job. */
  async #finished(path: string, id: string): Promise<ShownJob> {
    const endMs = performance.now() + PATIENCE_MS;
    let last = 'nothing';
    while (performance.now() < endMs) {
      try {
        const job = await this.#agent.job(path, id);
        if (job.finished_at !== null) return job;
        last = `${job.status}: ${job.waiting_for ?? job.phase}`;
      } catch (error) {
        if (!(error instanceof Error)) throw error;
        last = error.message;
      }
      await sleep(500);
    }
    throw new Error(
      `${this.machine.name}: ${id} did not end within ${PATIENCE_MS / 60_000} minutes (${last})`,
    );
  }

  async #disturb({ kind, afterMs, lastsMs }: Disturbance, stopped: AbortSignal): Promise<void> {
    await sleep(afterMs);
    const engines = this.#agent.engines();
    switch (kind) {
      case 'kill engine':
        for (const engine of engines) if (signalProcess(engine, 'SIGKILL')) this.#ledger.hit(kind);
        return;
      case 'freeze engine':
        if ((await freeze(engines, lastsMs, stopped)) > 0) this.#ledger.hit(shown(kind, lastsMs));
        return;
      case 'kill agent':
        await this.#agent.kill('agent and engines');
        this.#ledger.hit(engines.length > 0 ? `${kind} at work` : kind);
        this.#agent = await this.#startAnew();
        return;
      default:
        this.#frozen = true;
        await freeze([this.#agent.pid, ...engines], lastsMs, stopped);
        this.#frozen = false;
        this.#ledger.hit(shown(engines.length > 0 ? `${kind} at work` : kind, lastsMs));
    }
  }
}

function endOf(job: ShownJob): AttemptEnd {
  if (job.status === 'completed' && job.snapshot_id !== null)
    return { kind: 'completed', snapshot: job.snapshot_id };
  const { error } = job;
  return { kind: 'failed', reason: `${job.status} ${error?.code}: ${error?.message}`, excused: false };
}
