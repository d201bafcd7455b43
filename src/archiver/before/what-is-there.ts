import type { ChunkIndex, KnownPack } from '../../repository/chunk-index.ts';
import { loadForWriting } from '../../repository/contents/index-for.ts';
import { CIPHER_GCM } from '../../format/header.ts';
import type { NotedPack } from '../../repository/ledger.ts';
import { listNamed } from '../../repository/objects/listing.ts';
import { ChunkTable } from '../../repository/packs/chunk-table.ts';
import type { Repository } from '../../repository/repository.ts';
import { listSnapshots, type SnapshotList } from '../../repository/snapshots.ts';
import { readTombstones } from '../../repository/tombstones.ts';

/**
 * What a run can build on: all snapshots and chunks. With a write-only key, no snapshots, and only the chunks that this
 * machine has stored itself. Chunks of packs that are about to be deleted count as absent.
 * @param options as for `listSnapshots`; `damaged` packs count as absent, too
 */
export async function whatIsThere(
  repository: Repository,
  signal: AbortSignal,
  options: { readonly plain: boolean; readonly remembered?: boolean; readonly damaged?: ReadonlySet<string> },
): Promise<{ readonly snapshots: SnapshotList; readonly index: ChunkIndex }> {
  if (repository.isWriteOnly) {
    const tombstones = await readTombstones(repository, signal);
    const index = await loadLedger(repository, tombstones.packs, signal);
    return { snapshots: { live: [], damaged: [], forgotten: [], tombstones }, index };
  }
  const { plain, damaged = new Set(), ...listing } = options;
  const snapshots = await listSnapshots(repository, signal, listing);
  const { packs: marked } = snapshots.tombstones;
  const index = await loadForWriting(repository, { marked: new Set([...marked, ...damaged]), plain }, signal);
  return { snapshots, index };
}

/** Bytes of a chunk id that are noted. */
const SHORT_ID = 16;

/**
 * An index of the chunks that this machine has stored, limited to packs that the current listing shows; it replaces the
 * index objects.
 * @param without packs to treat as absent, because they are about to be deleted
 */
async function loadLedger(
  { destination, ledger }: Repository,
  without: ReadonlySet<string>,
  signal: AbortSignal,
): Promise<ChunkIndex> {
  const listed = await listNamed(destination, 'packs/', signal);
  const noted: NotedPack[] = [];
  const gone: string[] = [];
  for (const pack of ledger.packs()) {
    if (listed.get(pack.name)?.size !== pack.length) gone.push(pack.name);
    else if (!without.has(pack.name)) noted.push(pack);
  }
  ledger.dropPacks(gone);
  const chunks = noted.reduce((sum, { ids }) => sum + ids.length / SHORT_ID, 0);
  const table = ChunkTable.create(chunks, noted.length);
  const packs: KnownPack[] = [];
  for (const { name, kind, length, ids } of noted) {
    for (let at = 0; at < ids.length; at += SHORT_ID)
      table.add(ids, at, { pack: packs.length, segment: 0, offset: 0, length: 0 });
    const unread = { generation: 0, salt: Buffer.alloc(0), sealedBy: 0, segments: new Uint32Array() };
    packs.push({ name, kind, cipher: CIPHER_GCM, length, ...unread });
  }
  return {
    packs,
    table,
    chunks,
    damaged: [],
    indexNames: [],
    uncovered: [],
    missing: [],
    leftOut: new Set(),
  };
}
