/**
 * One simulated computer: its clocks, its source of randomness, its disk, and the process on it that is killed, put to
 * sleep and started again. What it has waited for is delivered by the world's events; an event of a process that has
 * died is dropped, so that the process stops between two awaits as a killed one does, and none of its `finally` runs.
 */
import type { Clock } from '../../src/base/clock.ts';
import { seededRandom, type SeededRandom } from '../support/seeded-random.ts';
import { Disk } from './disk.ts';
import { Entropy } from './entropy.ts';
import type { SimulatedEvent } from './event-queue.ts';
import type { Fault, FaultKind } from './plan.ts';
import { SourceTree } from './source-tree.ts';
import type { World } from './world.ts';

/** Begins at 2023-11-14T22:13:20Z. */
export const FIRST_MOMENT_MS = 1_700_000_000_000;

/** What a process waits for. */
type Waiting = 'timer' | 'call';

/** Faults that may hit any call; the others need one that they fit. */
export type CallKind = 'file' | 'put' | 'get' | 'stat' | 'list' | 'delete';

/** Where the state directories of programs begin. */
export const STATE_ROOT = '/state';

export class Machine {
  readonly name: string;
  readonly world: World;
  /** What crypto gives to the programs of this machine. A cloned machine goes on with a copy. */
  entropy: Entropy;
  /** Decides how long calls take and what a fault hits; never seen by a program. */
  readonly chance: SeededRandom;
  readonly state: Disk;
  readonly sources: SourceTree;
  /** The drive that holds the repository, where that is a directory. */
  drive: Disk | undefined;
  /** Ends what the program at work does, as a person or a service manager would. */
  cancel: (() => void) | undefined;
  /** Told when the process has died, with what it waits for. */
  onDeath: ((powerLoss: boolean) => void) | undefined;
  /** Who else sleeps and loses power with it. */
  fate: readonly Machine[] = [this];
  /** True time until which it cannot reach the storage. */
  offlineUntilMs = 0;
  steps = 0;
  /** What it is doing, or has done last: when that was planned for, and the first call of it. */
  #operation: { readonly atMs: number; readonly firstStep: number } | undefined;
  /** Lists that lack objects, always the same ones, until some true time. */
  lacking: { readonly prefix: string; readonly untilMs: number; readonly number: number } | undefined;
  #faults: Fault[] = [];
  /** Rises with every process that is started here. */
  pid: number;
  longestSleepMs = 0;
  /** When a list of the tombstones that it asked for was begun, by its storage; in milliseconds since 1970. */
  lookedMs: number | undefined;
  /** The same of the last one behind which it asked for a list of packs: a look before a commit does, a commit does not. */
  reliedMs: number | undefined;
  /** How long it had slept when it set about storing something, by key. */
  readonly #sending = new Map<string, number>();
  #salts = 0n;
  /** How far the wall clock is ahead of true time, in milliseconds. */
  wallOffsetMs = 0;
  #bootMs = 0;
  #sleptMs = 0;
  #asleepSinceMs: number | undefined;
  #wakesAtMs = 0;
  /** Events that came while the machine was asleep. */
  readonly #held: {
    readonly waiting: Waiting;
    readonly restMs: number;
    readonly run: () => void;
    readonly event: SimulatedEvent;
  }[] = [];

  constructor(world: World, name: string, seed: number) {
    this.world = world;
    this.name = name;
    this.entropy = new Entropy(seed);
    this.chance = seededRandom(seed + 1);
    this.state = new Disk(this.chance, () => this.wallMs);
    this.sources = new SourceTree(`/data`, () => this.wallMs);
    this.pid = world.nextPid();
  }

  nextSalt(): bigint {
    this.#salts += 1n;
    return this.#salts;
  }

  /** Becomes what a copy of the other machine is: its disk, and the state that its random numbers come from. */
  becomeCopyOf(original: Machine): void {
    this.state.cloneFrom(original.state);
    this.entropy = original.entropy.copy();
    this.#salts = original.#salts;
  }

  begin(atMs: number): void {
    this.#operation = { atMs, firstStep: this.steps };
  }

  plan(faults: readonly Fault[]): void {
    this.#faults = [...faults];
  }

  /** Takes the fault that hits the call that is about to be made, if one is due that fits. */
  faultOf(call: CallKind, key: string): Fault | undefined {
    this.steps += 1;
    const path = `${call} ${key}`;
    const at = this.#faults.findIndex(({ step, kind, at: part, duringMs }) => {
      if (duringMs !== undefined && duringMs !== this.#operation?.atMs) return false;
      const from = duringMs === undefined ? 0 : (this.#operation?.firstStep ?? 0);
      return from + step <= this.steps && fits(kind, call) && (part === undefined || path.includes(part));
    });
    if (at < 0) return undefined;
    const [fault] = this.#faults.splice(at, 1);
    if (fault !== undefined)
      this.world.tell(
        this.name,
        `fault ${fault.kind} (${fault.ms} ms) at call ${this.steps}, a ${call} of ${key}`,
        fault.kind,
      );
    return fault;
  }

  get wallMs(): number {
    return FIRST_MOMENT_MS + this.world.nowMs + this.wallOffsetMs;
  }

  sends(key: string): void {
    this.#sending.set(key, this.#sleptMs);
  }

  /** Whether it has slept since it set about storing this. */
  hasSleptSince(key: string): boolean {
    return this.#sleptMs > (this.#sending.get(key) ?? this.#sleptMs);
  }

  /** Stands still while the machine sleeps, as CLOCK_MONOTONIC does. */
  get monotonicMs(): number {
    const until = this.#asleepSinceMs ?? this.world.nowMs;
    return until - this.#bootMs - this.#sleptMs;
  }

  get isAsleep(): boolean {
    return this.#asleepSinceMs !== undefined;
  }

  /** When it wakes up, in simulated time. */
  get wakesAtMs(): number {
    return this.#wakesAtMs;
  }

  /** Runs `run` in the present process after `ms`, if that still lives then. */
  after(ms: number, waiting: Waiting, run: () => void): SimulatedEvent {
    const { pid } = this;
    const event: SimulatedEvent = this.world.events.add(this.world.nowMs + ms, () => {
      if (this.pid !== pid || event.cancelled) return;
      if (this.#asleepSinceMs === undefined) {
        this.world.current = this;
        run();
        return;
      }
      // A timer counts on from where it was; an answer has long been there.
      const restMs = waiting === 'timer' ? this.world.nowMs - this.#asleepSinceMs : 0;
      this.#held.push({ waiting, restMs, run, event });
    });
    return event;
  }

  /** Waits in the present process; a killed one waits for ever. */
  async pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      this.after(ms, 'call', resolve);
    });
  }

  /** Where a path of a program lies. */
  place(path: string): { readonly disk: Disk; readonly path: string } {
    return { disk: path.startsWith(STATE_ROOT) || this.drive === undefined ? this.state : this.drive, path };
  }

  /** A call to a disk: others run meanwhile, and the machine may die before it takes effect. */
  async step(path: string): Promise<void> {
    const fault = this.faultOf('file', path);
    if (fault !== undefined && (await this.suffer(fault))) return;
    await this.pause(this.chance.next() < 0.02 ? this.chance.below(2_000) : this.chance.next());
  }

  /** What hits machines whatever they do. Never resolves for a process that has died of it. */
  async suffer({ kind, ms }: Fault): Promise<boolean> {
    switch (kind) {
      case 'kill-before':
      case 'kill-after':
      case 'power-before':
      case 'power-after':
        this.#die(kind.startsWith('power'));
        await new Promise<never>(() => {});
        return true;
      case 'sleep-before':
      case 'sleep-after':
        for (const one of this.fate) one.fallAsleep(ms);
        return false;
      case 'wall-jump':
        for (const one of this.fate) one.wallOffsetMs += ms;
        return false;
      case 'cancel':
        this.cancel?.();
        return false;
      case 'slow':
        await this.pause(ms);
        return false;
      default:
        return false;
    }
  }

  #die(powerLoss: boolean): void {
    const dead = powerLoss ? this.fate : [this];
    for (const one of dead) one.crash(powerLoss);
    if (powerLoss) this.drive?.losePower();
    for (const one of dead) one.onDeath?.(powerLoss);
  }

  fallAsleep(ms: number): void {
    if (this.#asleepSinceMs !== undefined) return;
    this.#asleepSinceMs = this.world.nowMs;
    this.longestSleepMs = Math.max(this.longestSleepMs, ms);
    this.#wakesAtMs = this.world.nowMs + ms;
    this.world.events.add(this.#wakesAtMs, () => this.#wake());
  }

  #wake(): void {
    if (this.#asleepSinceMs === undefined) return;
    this.#sleptMs += this.world.nowMs - this.#asleepSinceMs;
    this.#asleepSinceMs = undefined;
    for (const { waiting, restMs, run, event } of this.#held.splice(0)) {
      if (!event.cancelled) this.after(restMs, waiting, run);
    }
  }

  /** The process dies where it stands. With `powerLoss` the machine starts anew and has lost what was not synced. */
  crash(powerLoss: boolean): void {
    this.pid = this.world.nextPid();
    this.#held.length = 0;
    if (!powerLoss) return;
    this.#asleepSinceMs = undefined;
    this.#bootMs = this.world.nowMs;
    this.#sleptMs = 0;
    this.state.losePower();
  }

  readonly clock: Clock = {
    now: () => Math.floor(this.wallMs),
    monotonic: () => this.monotonicMs,
    sleep: async (ms, signal) => await this.sleep(ms, signal),
  };

  async sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const timer = this.after(ms, 'timer', () => resolve(undefined));
    const abort = (): void => {
      timer.cancelled = true;
      reject(signal?.reason);
    };
    signal?.addEventListener('abort', abort, { once: true });
    try {
      await promise;
    } finally {
      signal?.removeEventListener('abort', abort);
    }
  }
}

function fits(kind: FaultKind, call: CallKind): boolean {
  switch (kind) {
    case 'partial-list':
    case 'stale-list':
    case 'broken-list':
      return call === 'list';
    case 'hidden-put':
      return call === 'put';
    case 'delete-returns':
      return call === 'delete';
    case 'late':
      return call === 'put' || call === 'delete';
    case 'lost-request':
    case 'lost-reply':
    case 'outage':
    case 'storage-jump':
      return call !== 'file';
    default:
      return true;
  }
}
