/** Plays a plan: machines that back up, forget and prune, what befalls them, and whether everything promised holds. */
import { SILENT_CHECK } from '../../src/repository/check/check-report.ts';
import { check } from '../../src/repository/check/check.ts';
import { openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { directDestination } from './direct-destination.ts';
import { Disk } from './disk.ts';
import { excuseFor } from './excuse.ts';
import { Judge } from './judge.ts';
import { FIRST_MOMENT_MS, Machine } from './machine.ts';
import { DRIVE_ROOT, operate, type Place } from './operations.ts';
import { LIES, type MachinePlan, type Operation, type Plan } from './plan.ts';
import { OperationTimes } from './operation-times.ts';
import { Violation } from './promises.ts';
import { enterWorld, repositoryImage, secret } from './repository-image.ts';
import { SourceChanges } from './source-changes.ts';
import type { Manifest } from './source-tree.ts';
import { DriveStorage, fillDrive, ObjectStorage, type Storage } from './storage.ts';
import { GRACE_MS } from './times.ts';
import { World } from './world.ts';

const { signal } = new AbortController();

/** Longer than any plan with all its sleeps. */
const LIMIT_MS = 120 * 86_400_000;
/** Between the end of the plan and the first prune after it: every session has expired by then. */
const QUIET_MS = 3_600_000;

export interface Outcome {
  readonly violation: Violation | undefined;
  readonly trace: readonly string[];
  /** How often each fault came about, and how operations ended. */
  readonly counts: ReadonlyMap<string, number>;
}

export async function simulate(plan: Plan, options: { readonly traced?: boolean } = {}): Promise<Outcome> {
  const objects = await repositoryImage();
  const simulation = await Simulation.begin(plan, objects, options.traced === true);
  return await simulation.play();
}

interface Actor {
  readonly machine: Machine;
  readonly plan: MachinePlan;
  next: number;
  runs: number;
  done: boolean;
}

class Simulation {
  readonly #plan: Plan;
  readonly #world: World;
  readonly #place: Place;
  readonly #judge: Judge;
  readonly #judging: Repository;
  readonly #judgeMachine: Machine;
  readonly #actors: Actor[] = [];
  readonly #expected: Map<string, Manifest>;
  readonly #sourceChanges: SourceChanges;
  readonly #drive: Disk | undefined;
  readonly #counts = new Map<string, number>();
  /** Faults are over: every operation has to succeed. */
  #calm = false;
  #failure: Violation | undefined;
  readonly #broken = new Set<string>();
  readonly #prunes = new OperationTimes();
  readonly #retentions = new OperationTimes();
  readonly #isCloned: boolean;
  /** The storage breaks its contract in this plan. */
  readonly #isLied: boolean;

  static async begin(plan: Plan, objects: ReadonlyMap<string, Buffer>, traced: boolean): Promise<Simulation> {
    const world = new World({ traced });
    enterWorld(world);
    const judge = new Machine(world, 'judge', plan.seed * 64 + 1);
    world.current = judge;
    const storage = new ObjectStorage(world, plan);
    let stored: Storage = storage;
    let drive: Disk | undefined;
    if (plan.storage === 'directory') {
      drive = new Disk(judge.chance, () => judge.wallMs);
      fillDrive(drive, DRIVE_ROOT, objects);
      stored = new DriveStorage(drive, DRIVE_ROOT);
    } else for (const [key, body] of objects) storage.put(key, body);
    stored.takeChanged();
    const clock = judge.clock;
    const judging = await openRepository(
      directDestination(stored),
      secret,
      { clock, stateDirectory: undefined },
      signal,
    );
    const place = {
      storage: drive === undefined ? storage : undefined,
      conditionalCreate: plan.conditionalCreate,
      secret,
    };
    return new Simulation(plan, { world, judge, stored, drive, judging, place });
  }

  private constructor(
    plan: Plan,
    parts: {
      readonly world: World;
      readonly judge: Machine;
      readonly stored: Storage;
      readonly drive: Disk | undefined;
      readonly judging: Repository;
      readonly place: Place;
    },
  ) {
    this.#plan = plan;
    this.#world = parts.world;
    this.#place = parts.place;
    this.#judging = parts.judging;
    this.#judgeMachine = parts.judge;
    this.#drive = parts.drive;
    this.#sourceChanges = new SourceChanges(plan.seed);
    this.#expected = new Map();
    this.#isCloned = plan.machines.some(({ cloneOf }) => cloneOf !== undefined);
    this.#isLied = plan.machines.some(({ faults }) => faults.some(({ kind }) => LIES.has(kind)));
    this.#judge = new Judge(parts.stored, parts.judging, {
      expected: this.#expected,
      isCloned: this.#isCloned,
      isLied: this.#isLied,
      overslept: (host) => (host === undefined ? this.#isAnyOverslept : this.#overslept(host)),
      isStore: this.#drive === undefined,
      reliedMs: (host) => this.#machine(host)?.reliedMs,
      retentionsSinceMs: () => this.#retentionsSinceMs(),
      prunesSinceMs: () => FIRST_MOMENT_MS + this.#prunes.sinceMs(this.#world.nowMs),
      sleeper: (key) => this.#actors.find(({ machine }) => machine.hasSleptSince(key))?.machine.name,
      prunersSleptMs: () =>
        Math.max(
          0,
          ...this.#actors.map(({ machine, plan }) =>
            /^(pruner|keeper)/.test(plan.name) ? machine.longestSleepMs : 0,
          ),
        ),
    });
    for (const machine of plan.machines) this.#addActor(machine, parts.stored);
  }

  #addActor(plan: MachinePlan, stored: Storage): void {
    const machine = new Machine(this.#world, plan.name, this.#plan.seed * 64 + placeOf(plan.name));
    machine.plan(plan.faults);
    machine.drive = this.#drive;
    const actor: Actor = { machine, plan, next: 0, runs: 0, done: false };
    this.#actors.push(actor);
    // Processes of one computer.
    if (this.#drive !== undefined) {
      const machines = this.#actors.map((one) => one.machine);
      for (const one of machines) one.fate = machines;
    }
    machine.onDeath = (powerLoss) => {
      if (powerLoss && stored instanceof DriveStorage) stored.markAllChanged();
      this.#count('death');
      this.#broken.add(plan.name);
      this.#judgeEnd(plan.name, new Error('it died'));
      for (const times of [this.#prunes, this.#retentions]) times.end(plan.name, this.#world.nowMs);
      if (!actor.done)
        machine.after(5_000 + machine.chance.below(60_000), 'timer', () => void this.#act(actor));
    };
    for (let file = 0; file < 4; file += 1) this.#sourceChanges.change(machine);
  }

  async play(): Promise<Outcome> {
    const onRejection = (error: unknown): void =>
      this.#fail(new Violation('no-false-alarm', 'a promise was left rejected', error));
    process.on('unhandledRejection', onRejection);
    try {
      await this.#playAll();
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.#failure ??= error;
    } finally {
      process.off('unhandledRejection', onRejection);
    }
    for (const [kind, count] of this.#world.fired) this.#counts.set(`fault ${kind}`, count);
    return { violation: this.#failure, trace: this.#world.trace ?? [], counts: this.#counts };
  }

  async #playAll(): Promise<void> {
    for (const actor of this.#actors) {
      this.#world.current = actor.machine;
      void this.#act(actor);
    }
    await this.#runUntilDone();
    this.#judge.requireWithdrawn(this.#broken);
    // What such a machine has left is for a person to forget.
    if (!this.#plan.settles || this.#isAnyOverslept) return;
    this.#calm = true;
    await this.#judgeAfterwards();
  }

  async #runUntilDone(): Promise<void> {
    const ended = await this.#world.run(
      () => this.#failure !== undefined || this.#actors.every(({ done }) => done),
      LIMIT_MS,
      async () => {
        const { current } = this.#world;
        this.#world.current = this.#judgeMachine;
        await this.#judge.look();
        this.#world.current = current;
      },
    );
    if (this.#failure !== undefined) throw this.#failure;
    if (ended === 'done') return;
    const waiting = this.#actors.filter(({ done }) => !done).map(({ machine }) => machine.name);
    throw new Violation('no-hang', `${waiting.join(', ')} never came to an end (${ended})`);
  }

  /** Does one operation after the other, from where the machine stands. */
  async #act(actor: Actor): Promise<void> {
    const { machine, plan } = actor;
    for (
      let operation = plan.operations[actor.next];
      operation !== undefined;
      operation = plan.operations[actor.next]
    ) {
      await machine.pause(Math.max(0, operation.atMs - this.#world.nowMs));
      if (actor.next === 0 && actor.runs === 0 && plan.cloneOf !== undefined)
        this.#clone(machine, plan.cloneOf);
      machine.begin(operation.atMs);
      await this.#operate(actor, operation.do);
      actor.next += 1;
    }
    actor.done = true;
  }

  async #operate(actor: Actor, what: Operation['do']): Promise<void> {
    const { machine } = actor;
    actor.runs += 1;
    const name = `run-${machine.name}-${actor.runs}`;
    this.#sourceChanges.change(machine);
    this.#world.tell(machine.name, `begins ${what} (${name})`);
    if (what.endsWith('prune') || what === 'rekey') this.#prunes.begin(machine.name, this.#world.nowMs);
    if (what === 'retention') this.#retentions.begin(machine.name, this.#world.nowMs);
    const cancel = new AbortController();
    machine.cancel = () => cancel.abort(new DOMException('cancelled', 'AbortError'));
    let failure: unknown;
    try {
      await operate(
        machine,
        what,
        this.#place,
        {
          name,
          expect: (run, manifest) => void this.#expected.set(run, manifest),
          completed: (id) => this.#judge.requireCompleted(id),
        },
        cancel.signal,
      );
      this.#count(what);
      this.#world.tell(machine.name, `has ended ${what} (${name})`);
    } catch (error) {
      failure = error;
      this.#world.tell(
        machine.name,
        `fails ${what} (${name}): ${error instanceof Error ? error.message : String(error)}`,
      );
      this.#broken.add(machine.name);
      this.#judgeFailure(what, error, cancel.signal.aborted);
    }
    this.#judgeEnd(machine.name, cancel.signal.aborted ? cancel.signal.reason : failure);
    for (const times of [this.#prunes, this.#retentions]) times.end(machine.name, this.#world.nowMs);
  }

  #judgeEnd(machine: string, failure: unknown): void {
    try {
      this.#judge.ended(machine, failure);
    } catch (error) {
      if (!(error instanceof Violation)) throw error;
      this.#fail(error);
    }
  }

  #judgeFailure(what: Operation['do'], error: unknown, cancelled: boolean): void {
    if (error instanceof Violation) {
      this.#fail(error);
      return;
    }
    const reason = excuseFor(error, {
      isCancelled: cancelled,
      isCloned: this.#isCloned,
      isForked: this.#judge.forked,
      mayLack: this.#isLied || this.#isAnyOverslept,
    });
    if (reason === undefined || (this.#calm && reason !== 'fork'))
      this.#fail(new Violation(this.#calm ? 'sound-afterwards' : 'no-false-alarm', `${what} failed`, error));
    else this.#count(`${what}: ${reason}`);
  }

  #machine(name: string): Machine | undefined {
    return this.#actors.find(({ plan }) => plan.name === name)?.machine;
  }

  /** A list that lies shows what was forgotten later, or not at all. */
  #retentionsSinceMs(): number {
    const looked = (machine: string): number | undefined => {
      const ms = this.#isLied ? undefined : this.#machine(machine)?.lookedMs;
      return ms === undefined ? undefined : ms - FIRST_MOMENT_MS;
    };
    return FIRST_MOMENT_MS + this.#retentions.sinceMs(this.#world.nowMs, looked);
  }

  get #isAnyOverslept(): boolean {
    return this.#actors.some(({ plan }) => this.#overslept(plan.name));
  }

  #overslept(name: string): boolean {
    return this.#actors.some(({ machine }) => machine.name === name && machine.longestSleepMs >= GRACE_MS);
  }

  #fail(violation: Violation): void {
    this.#failure ??= violation;
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }

  #clone(machine: Machine, name: string): void {
    const original = this.#actors.find((actor) => actor.machine.name === name)?.machine;
    if (original === undefined) return;
    machine.becomeCopyOf(original);
    this.#world.tell(machine.name, `is now a copy of ${name}`);
  }

  /** Without faults: everybody backs up once more, prune runs before and after the grace period, and a check finds nothing. */
  async #judgeAfterwards(): Promise<void> {
    this.#judgeMachine.wallOffsetMs = 0;
    const writers = this.#actors.filter(({ plan }) => plan.name.startsWith('writer'));
    const pruner = this.#actors.find(({ plan }) => plan.name.startsWith('pruner'));
    await this.#afterwards(writers, 'backup');
    if (pruner !== undefined) {
      await this.#afterwards([pruner], 'prune');
      this.#world.nowMs += GRACE_MS;
      await this.#afterwards([pruner], 'prune');
    }
    this.#world.current = this.#judgeMachine;
    const { findings } = await check(this.#judging, { readData: 'all', workers: 0 }, SILENT_CHECK, signal);
    const errors = findings.filter(({ severity }) => severity === 'error');
    const forks = errors.filter(({ what }) => what.includes('a copy of its machine also writes here'));
    const others = errors.filter((one) => !forks.includes(one));
    if (others.length > 0 && !this.#judge.forked)
      throw new Violation('sound-afterwards', `check: ${others[0]?.object}: ${others[0]?.what}`);
  }

  async #afterwards(actors: readonly Actor[], what: Operation['do']): Promise<void> {
    for (const actor of actors) {
      actor.machine.plan([]);
      actor.machine.offlineUntilMs = 0;
      actor.done = false;
      const run = async (): Promise<void> => {
        await actor.machine.pause(QUIET_MS);
        await this.#operate(actor, what);
        actor.done = true;
      };
      this.#world.current = actor.machine;
      void run();
    }
    await this.#runUntilDone();
  }
}

/** The same for a machine whatever other machines there are: plans are made smaller. */
function placeOf(name: string): number {
  const number = Number(name.at(-1)) * 2;
  const firsts = { writer: 0, pruner: 20, clone: 40, keeper: 50 };
  return number + (Object.entries(firsts).find(([kind]) => name.startsWith(kind))?.[1] ?? 60);
}
