import type { ChainPlace, TombstoneRecord } from '../../format/records.ts';
import { believedChains, chainView } from '../chain-view.ts';
import { readNewestHeads } from '../chain.ts';
import { deleteIfAllowed } from '../objects/objects.ts';
import { COMPACTED } from '../forgotten-meanwhile.ts';
import type { Lease } from '../lease.ts';
import { markPacks } from '../mark-packs.ts';
import { PRUNE_LIMITS } from './prune-plan.ts';
import { putTombstone } from '../put-tombstone.ts';
import type { Repository } from '../repository.ts';
import type { SnapshotList } from '../snapshots.ts';
import { isOfUnsound, placesIn, type Tombstone } from '../tombstones.ts';

/** Writes the tombstones of one prune. */
export class TombstoneWriter {
  readonly #repository: Repository;
  readonly #lease: Lease;
  readonly #assertHeld: (signal: AbortSignal) => Promise<void>;
  readonly #live: number;
  readonly #snapshots: SnapshotList;
  readonly #written: Set<string>;

  /**
   * @param written receives the names of the new tombstones
   * @param assertHeld called before every write; for callers that demand more than the lease itself does
   */
  constructor(
    repository: Repository,
    lease: Lease,
    snapshots: SnapshotList,
    written: Set<string>,
    assertHeld = async (signal: AbortSignal): Promise<void> => await lease.assertHeld(signal),
  ) {
    this.#repository = repository;
    this.#lease = lease;
    this.#assertHeld = assertHeld;
    this.#written = written;
    this.#snapshots = snapshots;
    const { writer } = repository.writer.memory;
    this.#live = snapshots.live.filter(({ chain }) => chain.writer === writer).length;
  }

  /** @param placeOf places of the named records in their chains, for kind `snapshots` */
  async write(
    kind: TombstoneRecord['kind'],
    names: readonly string[],
    reason: string,
    signal: AbortSignal,
    placeOf?: ReadonlyMap<string, ChainPlace>,
  ): Promise<void> {
    for (let at = 0; at < names.length; at += PRUNE_LIMITS.namesPerTombstone) {
      await this.#assertHeld(signal);
      const some = names.slice(at, at + PRUNE_LIMITS.namesPerTombstone);
      const { storageMs: atMs, epoch: fence } = this.#lease;
      const places = placeOf && { places: some.map((name) => placeOf.get(name)) };
      this.#written.add(await this.#store(kind, { names: some, ...places, reason, atMs, fence }, signal));
    }
  }

  async #store(
    kind: TombstoneRecord['kind'],
    record: Omit<TombstoneRecord, 'kind'>,
    signal: AbortSignal,
  ): Promise<string> {
    const live = this.#live;
    if (kind === 'packs')
      return await markPacks(this.#repository, record, { live, held: this.#assertHeld }, signal);
    return (await putTombstone(this.#repository, { kind, ...record }, { live }, signal)).name;
  }

  /**
   * Removes tombstones. They are records of chains, so a new tombstone that stays names them first, and repeats what
   * they said of snapshots: that a snapshot was forgotten, or a pack is damaged, is never lost.
   *
   * @param mayStay whether the tombstones may remain if the storage refuses to delete them: they are of no more use,
   * but harmless
   */
  async retire(tombstones: readonly Tombstone[], signal: AbortSignal, mayStay = false): Promise<void> {
    if (tombstones.length === 0) return;
    for (const { record } of tombstones)
      if (isOfUnsound(record)) await this.write('packs', record.names, record.reason, signal);
    const forgotten = tombstones.flatMap(({ record }) => (record.kind === 'snapshots' ? record.names : []));
    const standing = await this.#standing(tombstones, signal);
    const names = new Set([...forgotten, ...standing.map(({ name }) => name)]);
    const places = placesIn(tombstones);
    for (const { name, chain } of standing) places.set(name, chain);
    await this.write('snapshots', [...names], COMPACTED, signal, places);
    for (const { name } of tombstones) {
      await this.#assertHeld(signal);
      const key = `trash/${name}`;
      if (mayStay) await deleteIfAllowed(this.#repository, key, signal);
      else await this.#repository.destination.delete(key, signal);
    }
  }

  /**
   * The tombstones that are records of the chains in which they lie. The holder of a write-only key may have put an
   * unbound one at any place. The new tombstone is signed, so it may state only places that are believed.
   */
  async #standing(tombstones: readonly Tombstone[], signal: AbortSignal): Promise<readonly Tombstone[]> {
    if (tombstones.every(({ bound }) => bound)) return tombstones;
    const heads = await readNewestHeads(this.#repository, signal);
    const chains = believedChains(chainView(this.#repository, this.#snapshots, [], heads));
    const isThere = ({ name, chain }: Tombstone): boolean =>
      chains
        .get(chain.writer)
        ?.bySeq.get(chain.seq)
        ?.some((one) => one.name === name) === true;
    return tombstones.filter((one) => one.bound || isThere(one));
  }

  /** Unmarks packs because snapshots need them. */
  async revive(
    packs: ReadonlySet<string>,
    tombstones: readonly Tombstone[],
    signal: AbortSignal,
  ): Promise<void> {
    const concerned = tombstones.filter(
      ({ record }) => record.kind === 'packs' && record.names.some((name) => packs.has(name)),
    );
    for (const { record } of concerned) {
      const rest = record.names.filter((name) => !packs.has(name));
      if (rest.length > 0) await this.write('packs', rest, record.reason, signal);
    }
    await this.retire(concerned, signal);
  }
}

/**
 * Tombstones that have done their work: marks of packs that are all gone and, once there are many, tombstones of
 * snapshots that are all gone. Marks of damage never end: a list may lack the pack for a while, or the storage may
 * bring it back.
 */
export function finishedTombstones(
  tombstones: readonly Tombstone[],
  listedPacks: ReadonlyMap<string, unknown>,
  storedSnapshots: ReadonlyMap<string, unknown>,
): Tombstone[] {
  const packs = tombstones.filter(
    ({ record }) =>
      record.kind === 'packs' && !isOfUnsound(record) && !record.names.some((name) => listedPacks.has(name)),
  );
  const snapshots = tombstones.filter(
    ({ record }) => record.kind === 'snapshots' && !record.names.some((name) => storedSnapshots.has(name)),
  );
  const many = snapshots.length + (packs.length > 0 ? 1 : 0) >= PRUNE_LIMITS.mergeFrom;
  return many ? [...packs, ...snapshots] : packs;
}
