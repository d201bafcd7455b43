/** Plays a plan: an attacker against hosts that know nothing of it, then what the administrator does, and whether all that has to hold does. */
import { archive } from '../../src/archiver/archive.ts';
import { SILENT } from '../../src/archiver/report/observer.ts';
import { HoldfastError } from '../../src/base/errors.ts';
import type { Finding } from '../../src/repository/check/check-report.ts';
import { openRepository } from '../../src/repository/opening.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { listSnapshots } from '../../src/repository/snapshots.ts';
import { directDestination } from '../simulator/direct-destination.ts';
import { STATE_ROOT } from '../simulator/machine.ts';
import { ObjectStorage } from '../simulator/storage.ts';
import { World } from '../simulator/world.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { Attacker, type AttackStep } from './attacker.ts';
import { requestOf } from './backup-request.ts';
import { CallCounter } from './call-counter.ts';
import { asProcess, doDeed } from './deeds.ts';
import { endingOf } from './ending.ts';
import { isExcused } from './excused.ts';
import { Judge } from './judge.ts';
import { stepText, type AttackPlan, type Deed, type Step } from './plan.ts';
import { hasKey, ownsStorage } from './powers.ts';
import { Broken } from './promises.ts';
import { QuickMachine } from './quick-machine.ts';
import { runAlone } from './run-alone.ts';
import { enterWorld, HOSTS, sceneOf, SECRETS, THIEF, type Host, type Scene } from './scene.ts';
import { Sealing } from './sealing.ts';
import { Lies, viewOf } from './storage-view.ts';
import { rememberedAndHidden } from './told.ts';
import { storedBy } from './judged.ts';

export interface Outcome {
  readonly violation: Broken | undefined;
  readonly trace: readonly string[];
  readonly counts: ReadonlyMap<string, number>;
}

export async function simulate(
  plan: AttackPlan,
  options: { readonly traced?: boolean } = {},
): Promise<Outcome> {
  const scene = await sceneOf(plan.isOld ? 'old' : 'new');
  const play = new Play(plan, scene, options.traced === true);
  return await play.run();
}

class Play {
  readonly #plan: AttackPlan;
  readonly #world: World;
  readonly #scene: Scene;
  readonly #storage: ObjectStorage;
  readonly #lies = new Lies();
  readonly #kept: Map<string, Buffer>;
  readonly #storedMs = new WeakMap<Buffer, number>();
  readonly #machines = new Map<Host, QuickMachine>();
  readonly #judgeMachine: QuickMachine;
  readonly #judge: Judge;
  readonly #attacker: Attacker;
  readonly #calls: CallCounter;
  readonly #counts = new Map<string, number>();
  readonly #signal = new AbortController().signal;
  /** For the calls of the host that does something next. */
  #meanwhile: AttackStep[] = [];
  #spoiled = false;
  #lied = false;
  #keyRemoved = false;
  /** Attacks are over: everything has to succeed. */
  #calm = false;
  #failure: Broken | undefined;
  #runs = 0;
  /** By the attacker, when it opened the repository last. */
  #ringsSeen = 0;
  /** Keys of snapshots that somebody has forgotten: whether they are still there is nobody's concern. */
  readonly #forgotten: Set<string>;

  constructor(plan: AttackPlan, scene: Scene, traced: boolean) {
    this.#plan = plan;
    this.#scene = scene;
    this.#world = new World({ traced });
    enterWorld(this.#world);
    HOSTS.forEach((name, n) => {
      const machine = new QuickMachine(this.#world, name, plan.seed * 64 + n + 2);
      const before = scene.machines.get(name);
      if (before !== undefined) {
        machine.state.cloneFrom(before.state);
        machine.sources.copyFrom(before.sources);
      }
      this.#machines.set(name, machine);
    });
    this.#judgeMachine = new QuickMachine(this.#world, 'judge', plan.seed * 64 + 1);
    this.#storage = new ObjectStorage(this.#world, { coarseTimes: false });
    for (const { key, body, storedMs } of scene.objects) {
      this.#world.nowMs = storedMs;
      this.#storage.put(key, body);
    }
    this.#world.nowMs = scene.nowMs;
    this.#kept = new Map(scene.kept);
    this.#forgotten = new Set([`snapshots/${scene.forgotten}`]);
    this.#judge = new Judge(scene.runs);
    const { world, storage, lies, kept } = {
      world: this.#world,
      storage: this.#storage,
      lies: this.#lies,
      kept: this.#kept,
    };
    const { chunks } = scene;
    this.#attacker = new Attacker({ plan, world, storage, lies, kept, storedMs: this.#storedMs, chunks });
    if (hasKey(plan.power)) this.#attacker.sealing = scene.sealing;
    this.#ringsSeen = this.#rings();
    this.#calls = new CallCounter(this.#storage, {
      fault: () => this.#faultNow(),
      meanwhile: (call) => this.#actMeanwhile(call),
      stored: (key) => this.#keep(key),
    });
  }

  #keep(key: string): void {
    const body = this.#storage.get(key)?.body ?? Buffer.alloc(0);
    this.#kept.set(key, body);
    this.#storedMs.set(body, this.#world.nowMs);
  }

  async run(): Promise<Outcome> {
    const onRejection = (error: unknown): void => {
      this.#failure ??= new Broken('goes-on', 'a promise was left rejected', error);
    };
    process.on('unhandledRejection', onRejection);
    try {
      for (const step of this.#plan.steps) {
        await this.#play(step);
        if (this.#failure !== undefined) throw this.#failure;
      }
      await this.#end();
    } catch (error) {
      if (!(error instanceof Broken)) throw error;
      this.#failure ??= error;
    } finally {
      process.off('unhandledRejection', onRejection);
    }
    return { violation: this.#failure, trace: this.#world.trace ?? [], counts: this.#counts };
  }

  /** With a key it opens the repository as its machine does, and sees new generations for as long as the key is in use. */
  async #prepareAttacker(): Promise<void> {
    const rings = this.#rings();
    if (!hasKey(this.#plan.power) || rings === this.#ringsSeen) return;
    this.#ringsSeen = rings;
    try {
      const opened = await this.#alone(this.#machine(THIEF), async () => await this.#openDirect(THIEF));
      this.#attacker.sealing = new Sealing(opened);
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
    }
  }

  #rings(): number {
    return this.#storage.keys().filter((key) => key.startsWith('keys/ring-')).length;
  }

  async #play(step: Step): Promise<void> {
    if (step.who === 'time') {
      this.#world.nowMs += step.ms;
      return;
    }
    if (step.who === 'attacker') {
      if (step.do === 'claimed-backup') await this.#claimedBackup(step);
      else if (step.during === undefined) await this.#attack(step);
      else this.#meanwhile.push(step);
      return;
    }
    await this.#honest(step.who, step.do, step.a);
  }

  async #attack(step: AttackStep): Promise<void> {
    if (!this.#keyRemoved) await this.#prepareAttacker();
    this.#actNow(step);
    await this.#excuseSpoiled();
  }

  #actNow(step: AttackStep): void {
    const { current } = this.#world;
    this.#world.current = this.#machine(THIEF);
    const what = this.#attacker.act(step);
    this.#world.current = current;
    this.#world.tell('attacker', `${stepText(step)}: ${what}`);
    this.#count(`attack ${step.do}`);
    this.#lied ||= this.#lies.active;
  }

  #actMeanwhile(call: number): void {
    const due = this.#meanwhile.filter(({ during = 0 }) => during <= call);
    if (due.length === 0) return;
    this.#meanwhile = this.#meanwhile.filter((one) => !due.includes(one));
    for (const step of due) this.#actNow(step);
  }

  #faultNow() {
    const { fault } = this.#attacker;
    if (fault === undefined || this.#calm) return undefined;
    fault.at -= 1;
    if (fault.at > 0) return undefined;
    fault.left -= 1;
    if (fault.left <= 0) this.#attacker.fault = undefined;
    return fault.kind;
  }

  /** A backup with the stolen key that says it is another host's, of files that look like that host's and are others. */
  async #claimedBackup(step: AttackStep): Promise<void> {
    const machine = this.#machine(THIEF);
    const random = seededRandom(step.a);
    const victim = (['db1', 'admin', 'web', 'server'] as const)[random.below(4)] ?? 'db1';
    machine.sources.copyFrom(this.#machine(victim).sources);
    for (const path of machine.sources.files()) {
      const before = machine.sources.open(path);
      if (random.next() < 0.6) machine.sources.forge(path, random.bytes(before.length));
    }
    const tag = random.next() < 0.5 ? `${victim}-before-1` : 'planted';
    try {
      const { snapshot } = await this.#alone(machine, async () => {
        const repository = await this.#openDirect(THIEF);
        const isAhead = random.next() < 0.3;
        if (isAhead) machine.wallOffsetMs = 59 * 60_000;
        try {
          return await archive(requestOf(repository, machine, tag, victim), SILENT, this.#signal);
        } finally {
          machine.wallOffsetMs = 0;
        }
      });
      this.#attacker.roots.push(snapshot.record.root);
      this.#world.tell('attacker', `stores ${snapshot.id} in the name of ${victim}`);
    } catch (error) {
      // The key is removed, or what it did elsewhere is in its own way.
      if (!(error instanceof HoldfastError)) throw error;
    }
    this.#count('attack claimed-backup');
  }

  async #honest(host: Host, what: Deed, a: number): Promise<void> {
    const machine = this.#machine(host);
    this.#runs += 1;
    const tag = `${host}-run-${this.#runs}`;
    this.#world.tell(host, `begins ${what} (${tag})`);
    if (what === 'backup') this.#judge.began(tag, host, machine.sources.manifest());
    let backup: { id: string } | undefined;
    let forgotten: readonly string[] = [];
    let findings: readonly Finding[] | undefined;
    let tags = new Map<string, string>();
    const remembered = ownsStorage(this.#plan.power) ? this.#hiddenThatIsRemembered(host, what) : [];
    const toldBefore = this.#lies.told;
    try {
      await this.#inBounds(
        what,
        async () =>
          await this.#alone(
            machine,
            async () =>
              await asProcess(machine, this.#view(machine), async (repository, signal) => {
                if (what === 'forget' || what === 'retention') tags = await this.#tagsOf(repository);
                await doDeed(
                  repository,
                  machine,
                  { what, a, tag, slotOfThief: this.#scene.slotOfThief, signal },
                  {
                    backedUp: (id, manifest) => {
                      backup = { id };
                      this.#judge.completed(tag, manifest);
                    },
                    forgets: (ids) => {
                      for (const id of ids) this.#forgotten.add(`snapshots/${id}`);
                      forgotten = ids.flatMap((id) => tags.get(id) ?? []);
                      this.#judge.forgets(forgotten, 'in-doubt');
                    },
                    checked: (found) => (findings = found),
                  },
                );
              }),
          ),
      );
      if (what === 'remove-key') this.#keyRemoved = true;
      this.#judge.forgets(forgotten, 'forgotten');
      this.#count(what);
      this.#world.tell(host, `has ended ${what} (${tag}) ${backup?.id ?? ''}`);
      // What the storage told in the middle of it may have been enough.
      const isSame = this.#lies.told === toldBefore;
      if (remembered.length > 0 && isSame) this.#requireTold(host, what, findings, remembered);
    } catch (error) {
      if (error instanceof Broken) throw error;
      this.#world.tell(
        host,
        `fails ${what} (${tag}): ${error instanceof Error ? error.message : String(error)}`,
      );
      // What the storage has just done is a reason to fail.
      await this.#excuseSpoiled();
      this.#judgeFailure(what, error);
    } finally {
      this.#meanwhile = [];
    }
    await this.#excuseSpoiled(what);
  }

  /** What of honest hosts is hidden from this one, which has seen it. */
  #hiddenThatIsRemembered(host: Host, what: Deed): readonly string[] {
    if (host === 'web' || this.#lies.hidden.size === 0 || !this.#lies.tells(host)) return [];
    // What a write-only key says of its own chain stops no prune, which leaves the packs of that key alone.
    const others = what === 'check' ? [] : [this.#machine('web'), this.#machine(THIEF)];
    const hidden = rememberedAndHidden(this.#machine(host), this.#storage, this.#lies, others);
    return hidden.filter((key) => !this.#forgotten.has(key));
  }

  #requireTold(
    host: Host,
    what: Deed,
    findings: readonly Finding[] | undefined,
    hidden: readonly string[],
  ): void {
    const isSilent =
      findings === undefined
        ? what === 'prune' || what === 'retention'
        : !findings.some(({ severity }) => severity !== 'note');
    if (isSilent && this.#lies.active)
      throw new Broken('told', `${host} does ${what} without a word, though ${hidden[0]} is hidden from it`);
  }

  #judgeFailure(what: Deed, error: unknown): void {
    const facts = {
      power: this.#plan.power,
      planted: this.#attacker.planted,
      lied: this.#lied,
      spoiled: this.#spoiled,
      keyRemoved: this.#keyRemoved,
    };
    const reason = this.#calm ? undefined : isExcused(what, error, facts);
    if (reason === undefined)
      throw new Broken(
        this.#calm ? 'usable-afterwards' : 'goes-on',
        `${what} failed: ${error instanceof Error ? error.message : String(error)}`,
        error,
      );
    this.#count(`${what}: ${reason}`);
  }

  async #tagsOf(repository: Repository): Promise<Map<string, string>> {
    const { live } = await listSnapshots(repository, this.#signal);
    return new Map(
      live.filter((one) => storedBy(one) !== 1).map(({ id, record }) => [id, record.tags[0] ?? '']),
    );
  }

  /**
   * Whatever the storage has taken away nobody else has lost. Nor has a backup that relies on it, until a check has found
   * out.
   */
  async #excuseSpoiled(after?: Deed): Promise<void> {
    const isSpoiled = this.#attacker.takeSpoiled();
    const relies = after === 'backup' && this.#spoiled && !this.#calm;
    if (!isSpoiled && !relies) return;
    this.#spoiled = true;
    await this.#judging(async (repository) => await this.#judge.excuse(repository));
  }

  async #end(): Promise<void> {
    this.#lies.end();
    this.#attacker.fault = undefined;
    this.#meanwhile = [];
    // Whoever plants a tree without end does it for those who read it.
    if (this.#attacker.planted.has('endless-tree')) await this.#honest('db1', 'read', this.#plan.seed);
    if (this.#plan.restoresFirst && this.#plan.ending !== 'look') await this.#look();
    this.#calm = true;
    await endingOf({
      power: this.#plan.power,
      slotOfThief: this.#scene.slotOfThief,
      ending: this.#plan.ending,
      isSpoiled: this.#spoiled,
      pass: (ms) => void (this.#world.nowMs += ms),
      as: async (host, name, work) => await this.#inCalm(host, name, work),
      deed: async (host, what) => await this.#honest(host, what, this.#plan.seed),
      look: async () => await this.#look(),
      lacking: async () =>
        this.#spoiled ? await this.#judging(async (repository) => await this.#judge.lacking(repository)) : [],
      plantSession: () => this.#attacker.plantSession(),
      planted: (key) => this.#attacker.added.has(key),
    });
  }

  async #inCalm(
    host: Host,
    name: string,
    work: (repository: Repository, machine: QuickMachine, signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const machine = this.#machine(host);
    this.#world.tell(host, `begins ${name}, afterwards`);
    try {
      await this.#inBounds(
        name,
        async () =>
          await this.#alone(
            machine,
            async () =>
              await asProcess(
                machine,
                this.#view(machine),
                async (repository, signal) => await work(repository, machine, signal),
              ),
          ),
      );
    } catch (error) {
      if (error instanceof Broken) throw error;
      throw new Broken(
        'usable-afterwards',
        `${name} of ${host} failed: ${error instanceof Error ? error.message : String(error)}`,
        error,
      );
    }
    this.#count(`afterwards: ${name}`);
  }

  async #look(): Promise<void> {
    await this.#judging(async (repository) => await this.#judge.look(repository, this.#spoiled));
  }

  async #judging<T>(work: (repository: Repository) => Promise<T>): Promise<T> {
    return await this.#alone(this.#judgeMachine, async () => {
      const options = { clock: this.#judgeMachine.clock, stateDirectory: undefined };
      const repository = await openRepository(
        directDestination(this.#storage),
        SECRETS.admin,
        options,
        this.#signal,
      );
      return await work(repository);
    }).catch((error: unknown) => {
      if (!(error instanceof HoldfastError)) throw error;
      throw new Broken('nothing-lost', `nothing can be read: ${error.message}`, error);
    });
  }

  async #openDirect(host: Host): Promise<Repository> {
    const machine = this.#machine(host);
    const options = { clock: machine.clock, stateDirectory: STATE_ROOT };
    const watch = {
      called: () => undefined,
      stored: (_: string, key: string) => this.#keep(key),
      deleted: () => {},
      read: () => {},
    };
    const { storage, lies } = { storage: this.#storage, lies: new Lies() };
    const view = viewOf({ machine, storage, lies, watch, conditionalCreate: true });
    return await openRepository(view, SECRETS[host], options, this.#signal);
  }

  #view(machine: QuickMachine) {
    const { conditionalCreate } = this.#plan;
    return viewOf({
      machine,
      storage: this.#storage,
      lies: this.#lies,
      watch: this.#calls,
      conditionalCreate,
    });
  }

  async #inBounds<T>(what: string, work: () => Promise<T>): Promise<T> {
    this.#calls.begin(what);
    const value = await work();
    this.#calls.end();
    return value;
  }

  async #alone<T>(machine: QuickMachine, work: () => Promise<T>): Promise<T> {
    return await runAlone(this.#world, machine, work, () => this.#calls.broken !== undefined).catch(
      (error: unknown) => {
        throw this.#calls.broken ?? error;
      },
    );
  }

  #machine(name: Host): QuickMachine {
    const machine = this.#machines.get(name);
    if (machine === undefined) throw new Error(`there is no ${name}`);
    return machine;
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }
}
