/** The promises that hold at every moment of a simulation, looked at after each step in what is really stored. */
import { createHash } from 'node:crypto';
import { unknownGeneration } from '../../src/codec/keys.ts';
import { fillTable, readPackDirectory, withLast, type ChunkIndex } from '../../src/repository/chunk-index.ts';
import { packKey } from '../../src/repository/objects/listing.ts';
import type { Repository } from '../../src/repository/repository.ts';
import { readSnapshot, type Snapshot } from '../../src/repository/snapshots.ts';
import { readTombstones, type Tombstone, type Tombstones } from '../../src/repository/tombstones.ts';
import type { JudgeOptions } from './judge-options.ts';
import { JudgedForgetting } from './judged-forgetting.ts';
import { JudgedKeys } from './judged-keys.ts';
import { JudgedPacks } from './judged-packs.ts';
import { LateRecords } from './late-records.ts';
import { GRACE_MS } from './times.ts';
import { Violation } from './promises.ts';
import { Sessions } from './sessions.ts';
import { readFiles } from './snapshot-files.ts';
import type { Storage } from './storage.ts';

/** So long anything looks at one list at most. */
const OPERATION_MS = 3_600_000;
/** Of times in whole seconds, and of the way from the storage's clock to an answer. */
const ROUNDING_MS = 10_000;
const HEADER_SALT_AT = 12;
const HEADER_SALT_END = 44;
const { signal } = new AbortController();

interface JudgedSnapshot {
  readonly snapshot: Snapshot;
  readonly needs: ReadonlySet<string>;
  /** By the clock of who judges. */
  readonly seenMs: number;
}

export class Judge {
  readonly #storage: Storage;
  readonly #repository: Repository;
  readonly #options: JudgeOptions;
  readonly #packs = new JudgedPacks();
  readonly #keys: JudgedKeys;
  readonly #snapshots = new Map<string, JudgedSnapshot>();
  /** Names of records by writer and number. */
  readonly #records = new Map<string, Set<string>>();
  /** Names of records that the next one of their writer names. */
  readonly #followed = new Set<string>();
  /** Names of tombstones: after power was lost they are looked at again, and say nothing new. */
  readonly #knownTombstones = new Set<string>();
  /** Snapshots of backups that have said so. */
  readonly #completed = new Set<string>();
  readonly #salts = new Map<string, string>();
  readonly #forgetting = new JudgedForgetting();
  /** Since when packs are marked. */
  readonly #marked = new Map<string, number>();
  /** Snapshots whose packs went before they came. */
  readonly #late = new Map<string, Violation>();
  /** Snapshots that came when the keys were gone under which they are sealed; nobody can tell whose they are. */
  readonly #sealedTooLate = new Map<string, Violation>();
  readonly #sessions = new Sessions();
  readonly #lateRecords = new LateRecords();
  #tombstones: Tombstones | undefined;
  #forked = false;

  constructor(storage: Storage, repository: Repository, options: JudgeOptions) {
    this.#storage = storage;
    this.#repository = repository;
    this.#options = options;
    this.#keys = new JudgedKeys(storage, repository);
  }

  get forked(): boolean {
    return this.#forked;
  }

  /** What stands and is not forgotten. */
  get live(): readonly Snapshot[] {
    return this.#live().map(({ snapshot }) => snapshot);
  }

  /** Looks at what has changed in the storage. @throws {Violation} */
  async look(): Promise<void> {
    const changed = this.#storage.takeChanged();
    if (changed.length === 0) return;
    const under = (prefix: string): string[] => changed.filter((key) => key.startsWith(prefix));
    for (const key of changed) this.#lookAtSalt(key);
    if (under('keys/ring-').length > 0) {
      await this.#keys.follow();
      this.#packs.removeUnknown((generation) => this.#repository.keys.knows(generation));
    }
    for (const key of under('packs/')) await this.#lookAtPack(key);
    for (const key of under('leases/session.')) {
      const storedMs = this.#storage.get(key)?.modifiedMs;
      const nowMs = this.#repository.clock.now();
      // A directory sleeps with the machine, maybe between what is stored and this look; it has the clock of who judges.
      const { isStore } = this.#options;
      const signMs = isStore ? nowMs : (storedMs ?? nowMs);
      const shownMs = isStore ? (storedMs ?? nowMs) : nowMs;
      this.#sessions.see(key, storedMs, { signMs, visibleMs: nowMs, shownMs });
    }
    const trash = under('trash/');
    if (trash.length > 0) await this.#lookAtTombstones(trash);
    for (const key of under('snapshots/')) await this.#lookAtSnapshot(key);
    for (const key of [...under('snapshots/'), ...trash]) this.#lookAtVanished(key);
    if (changed.some((key) => key.startsWith('packs/') || key.startsWith('trash/'))) this.#requireNeeds();
  }

  /**
   * A request that a machine has sent after it slept for longer than the grace period may store a snapshot of what is
   * gone: nobody can keep it from that. Its run then has to forget it before it is completed.
   * @param broken machines on which a run was broken off or has failed: it may not have come to that
   */
  requireWithdrawn(broken: ReadonlySet<string>): void {
    for (const [id, violation] of this.#late) {
      const standing = this.#tombstones?.snapshots.has(id) === true ? undefined : this.#snapshots.get(id);
      if (standing !== undefined && !broken.has(standing.snapshot.record.host)) throw violation;
    }
    for (const [id, violation] of this.#sealedTooLate) {
      const isForgotten = this.#tombstones?.snapshots.has(id) === true;
      const isStored = this.#storage.get(`snapshots/${id}`) !== undefined;
      if (isStored && !isForgotten && broken.size === 0) throw violation;
    }
  }

  /** A backup has said that this snapshot stands. */
  requireCompleted(id: string): void {
    const late = this.#late.get(id) ?? this.#sealedTooLate.get(id);
    if (late !== undefined) throw late;
    this.#completed.add(id);
    // Others may have forgotten it since.
    if (this.#snapshots.has(id) || this.#tombstones?.snapshots.has(id) === true) return;
    throw new Violation('completed-restorable', `snapshot ${id} is not stored`);
  }

  /** What a machine did has ended, with a failure or without. @throws {Violation} for what it had to take back */
  ended(machine: string, failure: unknown): void {
    const stands = (key: string): boolean =>
      this.#storage.get(key) !== undefined &&
      this.#tombstones?.snapshots.has(key.slice(key.indexOf('/') + 1)) !== true;
    this.#lateRecords.ended(machine, failure, stands);
  }

  #lookAtSalt(key: string): void {
    const body = this.#storage.get(key)?.body;
    if (body === undefined || key.startsWith('keys/')) return;
    if (body.length < HEADER_SALT_END || !body.subarray(0, 3).equals(Buffer.from('HF1'))) return;
    const salt = body.toString('latin1', HEADER_SALT_AT, HEADER_SALT_END);
    const name = createHash('sha256').update(body).digest('base64');
    const known = this.#salts.get(salt);
    if (known !== undefined && known !== name)
      throw new Violation('salt-unique', `${key} has the salt of another object`);
    this.#salts.set(salt, name);
  }

  async #lookAtPack(key: string): Promise<void> {
    const name = key.slice(key.lastIndexOf('/') + 1);
    const stored = this.#storage.get(key);
    if (stored === undefined) {
      this.#packs.remove(name);
      this.#requireWaited(name);
      return;
    }
    if (this.#packs.has(name)) return;
    try {
      this.#packs.add(await readPackDirectory(this.#repository, name, stored.body.length, signal));
    } catch (error) {
      // Of a run that slept until its keys were gone: it finds out, and stores everything again.
      if (unknownGeneration(error) === undefined)
        throw new Violation('snapshot-whole', `pack ${name} does not open`, error);
    }
  }

  async #lookAtTombstones(changed: readonly string[]): Promise<void> {
    const before = this.#tombstones?.snapshots ?? new Set();
    const tombstones = await readTombstones(this.#repository, signal);
    this.#tombstones = tombstones;
    // A power failure took a tombstone back that nobody had been told of.
    for (const id of before)
      if (!tombstones.snapshots.has(id) && this.#snapshots.has(id)) this.#forgetting.takenBack(id);
    const nowMs = this.#repository.clock.now();
    this.#forgetting.see(tombstones.snapshots, nowMs);
    for (const name of tombstones.packs) if (!this.#marked.has(name)) this.#marked.set(name, nowMs);
    for (const name of this.#marked.keys()) if (!tombstones.packs.has(name)) this.#marked.delete(name);
    for (const key of changed) {
      const name = key.slice('trash/'.length);
      const tombstone = tombstones.all.find((one) => one.name === name);
      if (tombstone === undefined) continue;
      this.#lookAtRecord(name, tombstone.chain);
      if (this.#knownTombstones.has(name)) continue;
      this.#knownTombstones.add(name);
      const gone = new Set(tombstone.record.names.filter((id) => !before.has(id)));
      if (tombstone.record.kind === 'packs') this.#lookAtMark(tombstone);
      if (tombstone.record.reason === 'by hand')
        for (const id of gone) this.#forgetting.byHand(id, nowMs, this.#snapshots.get(id)?.snapshot);
      if (tombstone.record.reason === 'removed by rules') this.#requireLastKept(gone);
    }
  }

  #lookAtMark({ name, record }: Tombstone): void {
    try {
      this.#requireUnneeded(record.names);
    } catch (violation) {
      const sleeper = this.#options.sleeper(`trash/${name}`);
      if (sleeper === undefined || !(violation instanceof Violation)) throw violation;
      this.#lateRecords.add(`trash/${name}`, sleeper, violation);
    }
  }

  async #lookAtSnapshot(key: string): Promise<void> {
    const id = key.slice('snapshots/'.length);
    if (this.#storage.get(key) === undefined) {
      this.#snapshots.delete(id);
      return;
    }
    if (this.#snapshots.has(id)) return;
    // One that comes back after it was forgotten is shown to nobody; the keys for it may be gone by then.
    const isForgotten = this.#tombstones?.snapshots.has(id) === true;
    const snapshot = await this.#readSnapshot(id, isForgotten);
    if (snapshot === undefined) return;
    this.#lookAtRecord(id, snapshot.chain);
    const needs = isForgotten ? new Set<string>() : await this.#readWhole(snapshot);
    this.#requireUnmarked(snapshot, needs);
    this.#snapshots.set(id, { snapshot, needs, seenMs: this.#repository.clock.now() });
  }

  /** Undefined for one that nobody can open: forgotten, or of a machine that slept until its keys were gone. */
  async #readSnapshot(id: string, isForgotten: boolean): Promise<Snapshot | undefined> {
    try {
      return await readSnapshot(this.#repository, id, signal);
    } catch (error) {
      const violation = new Violation('snapshot-whole', `snapshot ${id} does not open`, error);
      const isSealedUnderNone = unknownGeneration(error) !== undefined;
      if (isSealedUnderNone && isForgotten) return undefined;
      if (!isSealedUnderNone || !this.#options.overslept()) throw violation;
      this.#sealedTooLate.set(id, violation);
      return undefined;
    }
  }

  #lookAtRecord(name: string, chain: Snapshot['chain']): void {
    const place = `${chain.writer}/${chain.seq}`;
    const names = this.#records.get(place) ?? new Set();
    names.add(name);
    this.#records.set(place, names);
    this.#followed.add(chain.prev);
    if (names.size < 2) return;
    this.#forked = true;
    if (!this.#options.isCloned)
      throw new Violation('no-silent-fork', `${names.size} records have the place ${place}`);
  }

  /** Power loss takes a record that its writer was not yet told of, and its number is free again; no other one goes so. */
  #lookAtVanished(key: string): void {
    const name = key.slice(key.indexOf('/') + 1);
    if (this.#storage.get(key) !== undefined || this.#tombstones?.snapshots.has(name) === true) return;
    if (this.#completed.has(name))
      throw new Violation('completed-restorable', `snapshot ${name} has gone, and nobody has forgotten it`);
    if (!this.#options.isStore) for (const names of this.#records.values()) names.delete(name);
  }

  /** Reads every file, and compares it with what was backed up. Returns the ids of all chunks. */
  async #readWhole(snapshot: Snapshot): Promise<ReadonlySet<string>> {
    const index = this.#index();
    const run = snapshot.record.tags.find((tag) => tag.startsWith('run-')) ?? '';
    const files = await this.#opened(`snapshot ${snapshot.id} of ${run}`, async () =>
      readFiles(this.#repository, index, snapshot),
    ).catch((violation: unknown) => {
      if (!(violation instanceof Violation)) throw violation;
      this.#allowLate(snapshot, violation);
      return undefined;
    });
    if (files === undefined) return new Set();
    const expected = this.#options.expected.get(run);
    if (expected === undefined) throw new Violation('snapshot-whole', `nobody made the snapshot of ${run}`);
    const { contents } = files;
    const lacking = [...expected.files].filter(([path, data]) => contents.get(path)?.equals(data) !== true);
    const strange = [...contents].filter(
      ([path, data]) => !expected.files.has(path) && expected.unreadable.get(path)?.equals(data) !== true,
    );
    const differing = [...lacking, ...strange][0]?.[0];
    if (differing !== undefined)
      throw new Violation('snapshot-whole', `${run} does not give back ${differing}`);
    return files.chunks;
  }

  /** Of what was stored again its host says nothing: whoever did it may have slept. */
  #allowLate({ id, record }: Snapshot, violation: Violation): void {
    const key = `snapshots/${id}`;
    const sleeper = record.original === undefined ? undefined : this.#options.sleeper(key);
    if (sleeper !== undefined) this.#lateRecords.add(key, sleeper, violation);
    else if (record.original !== undefined && this.#isOfOneLeft(record)) return;
    else if (record.original === undefined && this.#options.overslept(record.host))
      this.#late.set(id, violation);
    else throw violation;
  }

  /** Somebody has changed the tags of one that a machine stored too late, and died before it could take it back. */
  #isOfOneLeft({ root }: Snapshot['record']): boolean {
    return [...this.#snapshots.values()].some(
      ({ snapshot: { id, record } }) =>
        record.root.equals(root) && this.#lateRecords.wasLeft(`snapshots/${id}`),
    );
  }

  /** By true time: the storage's clock runs as that does unless it lies, and a power cut takes what was never stored. */
  #requireWaited(pack: string): void {
    if (this.#options.isLied || !this.#options.isStore) return;
    const markedMs = this.#marked.get(pack);
    const waitedMs = markedMs === undefined ? 0 : this.#repository.clock.now() - markedMs;
    if (waitedMs < GRACE_MS - ROUNDING_MS)
      throw new Violation(
        'grace-waited',
        `pack ${pack} was deleted ${Math.round(waitedMs / 1_000)} s after its mark`,
      );
  }

  /** What the parent has is taken over unseen: prune keeps it while that is live, and for a while after. */
  #requireUnmarked({ id, record }: Snapshot, needs: ReadonlySet<string>): void {
    const lookedMs = this.#options.reliedMs(record.host);
    if (this.#options.isLied || lookedMs === undefined || this.#late.has(id) || record.original !== undefined)
      return;
    const wasMarked = (pack: string): boolean => (this.#marked.get(pack) ?? Infinity) < lookedMs;
    const parent = record.parent ?? '';
    const wasLive = this.#forgetting.sinceMs(parent) >= lookedMs;
    const unseen = wasLive ? this.#snapshots.get(parent)?.needs : undefined;
    for (const chunk of needs) {
      if (unseen?.has(chunk) === true || !this.#packs.holdersOf(chunk).every(wasMarked)) continue;
      throw new Violation(
        'commit-unmarked',
        `snapshot ${id} relies on a pack that was marked before its last look`,
      );
    }
  }

  #requireUnneeded(packs: readonly string[]): void {
    const nowMs = this.#repository.clock.now();
    const marked = new Set(packs);
    const sinceMs = this.#options.prunesSinceMs();
    for (const { snapshot, needs, seenMs } of this.#live()) {
      // What was there when it began a prune has seen; what came later it has seen soon, unless it slept.
      const isOld = nowMs - seenMs >= OPERATION_MS + this.#options.prunersSleptMs();
      if (!isOld && (this.#options.isLied || seenMs >= sinceMs - ROUNDING_MS)) continue;
      if (this.#options.isLied && !this.#isToldOf(snapshot)) continue;
      for (const id of needs) {
        if (this.#packs.holdersOf(id).some((pack) => !marked.has(pack))) continue;
        throw new Violation('mark-only-unneeded', `snapshot ${snapshot.id} needs a pack that is marked now`);
      }
    }
    if (this.#options.isLied) return;
    for (const pack of packs) {
      const storedMs = this.#storage.get(packKey(pack))?.modifiedMs ?? 0;
      const session = this.#sessions.protecting(storedMs, sinceMs, nowMs);
      if (session === undefined) continue;
      throw new Violation('mark-only-unneeded', `pack ${pack} is younger than ${session}, which is at work`);
    }
  }

  /** What a list does not show, a head or a later record of its writer tells of; without these nobody can know. */
  #isToldOf({ id, chain: { writer, seq } }: Snapshot): boolean {
    // Of two with one number they tell of one.
    if ((this.#records.get(`${writer}/${seq}`)?.size ?? 0) > 1) return this.#followed.has(id);
    const head = `heads/${writer}/${String(seq).padStart(16, '0')}`;
    if (this.#storage.get(head) !== undefined) return true;
    return [...this.#records.keys()].some((place) => {
      const [other, number] = place.split('/');
      return other === writer && Number(number) > seq;
    });
  }

  #requireLastKept(gone: ReadonlySet<string>): void {
    const all = [...this.#snapshots.values()].map(({ snapshot }) => snapshot);
    this.#forgetting.requireLastKept(gone, all, this.#options.retentionsSinceMs() - ROUNDING_MS);
  }

  #index(): ChunkIndex {
    const table = fillTable(withLast(this.#packs.all, [this.#tombstones?.packs ?? new Set()]));
    return { ...table, damaged: [], indexNames: [], uncovered: [], missing: [], leftOut: new Set() };
  }

  #requireNeeds(): void {
    for (const { snapshot, needs } of this.#live()) {
      for (const id of needs) {
        if (this.#packs.holdersOf(id).length > 0) continue;
        throw new Violation(
          'snapshot-whole',
          `snapshot ${snapshot.id} of ${snapshot.record.tags[0]} has lost a chunk`,
        );
      }
    }
  }

  #live(): JudgedSnapshot[] {
    return [...this.#snapshots].flatMap(([id, one]) =>
      this.#tombstones?.snapshots.has(id) === true ? [] : [one],
    );
  }

  async #opened<T>(what: string, open: () => Promise<T>): Promise<T> {
    try {
      return await open();
    } catch (error) {
      throw new Violation('snapshot-whole', `${what} does not open`, error);
    }
  }
}
