/** What previews of 0.1 signed: configurations for no number, tombstones for no place. Some repositories still have them. */
import { OBJECT_TYPES } from '../../src/format/header.ts';
import {
  configMap,
  encodeChainContext,
  encodeSigned,
  tombstoneMap,
  type ChainPosition,
} from '../../src/format/records.ts';
import { appendRecord } from '../../src/repository/chain.ts';
import { sealObject } from '../../src/repository/objects/objects.ts';
import type { Repository } from '../../src/repository/repository.ts';

export function oldConfig(repository: Repository): Buffer {
  const context = Buffer.alloc(8);
  context.writeBigUInt64BE(1n);
  const map = configMap(repository.config);
  const plaintext = encodeSigned(map, (unsigned) => repository.sign('hf1/config', unsigned));
  return sealObject(repository.keys, OBJECT_TYPES.config, context, plaintext).bytes;
}

export async function forgetAsBefore(
  repository: Repository,
  names: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const map = tombstoneMap({ kind: 'snapshots', names, reason: 'before', atMs: 1, fence: 0 });
  const plaintext = encodeSigned(map, (unsigned) => repository.sign('hf1/tomb', unsigned));
  const seal = (position: ChainPosition) => {
    const context = encodeChainContext(position);
    const sealed = sealObject(repository.keys, OBJECT_TYPES.tombstone, context, plaintext);
    return { ...sealed, key: `trash/${sealed.name}` };
  };
  await appendRecord(repository, seal, { live: 1 }, signal);
}
