/** Objects that nobody with a key has made, where they are in the way. */
import type { SeededRandom } from '../support/seeded-random.ts';
import type { ObjectStorage } from '../simulator/storage.ts';
import { headKey, named, nextNumber, writersIn } from './what-is-stored.ts';

export interface Garbage {
  readonly key: string;
  readonly body: Buffer;
  /** docs/security.md says that this holds others up. */
  readonly holdsUp?: 'garbage-snapshot' | 'garbage-head' | 'session';
}

export function garbageOf(storage: ObjectStorage, random: SeededRandom): Garbage {
  const body = bytesOf(random);
  const writers = writersIn(storage);
  const { writer, seq } = writers[random.below(Math.max(1, writers.length))] ?? {
    writer: 'ab'.repeat(16),
    seq: 0,
  };
  const stranger = random.bytes(16).toString('hex');
  const far = [0, 1, 2, 900, 5_000, 9_000_000_000_000_000][random.below(6)] ?? 0;
  const hex = random.bytes(32).toString('hex');
  const number = (prefix: string): string =>
    `${prefix}${Math.min(nextNumber(storage, prefix) + far, 9_007_199_254_740_991)}`;
  const epoch = String(nextNumber(storage, 'leases/prune/') + far).padStart(16, '0');
  const all: readonly Garbage[] = [
    { key: headKey(writer, seq + 1 + far), body, holdsUp: 'garbage-head' },
    { key: headKey(stranger, 1 + far), body, holdsUp: 'garbage-head' },
    { key: number('config/'), body },
    { key: number('copies/config/'), body },
    { key: number('keys/ring-'), body },
    { key: number('copies/keys/ring-'), body },
    { key: `keys/${stranger}`, body },
    { key: `copies/keys/${stranger}`, body },
    { key: named('snapshots/', body), body, holdsUp: 'garbage-snapshot' },
    { key: `snapshots/${hex}`, body, holdsUp: 'garbage-snapshot' },
    { key: named('trash/', body), body },
    { key: `trash/${hex}`, body },
    { key: named('index/', body), body },
    { key: `index/${hex}`, body },
    { key: named('packs/', body), body },
    { key: `packs/${hex.slice(0, 2)}/${hex}`, body },
    { key: `leases/prune/${epoch}`, body },
    {
      key: `leases/session.${stranger.slice(0, 16)}/${String(1 + far).padStart(16, '0')}`,
      body,
      holdsUp: 'session',
    },
    { key: 'reserve/1', body },
  ];
  return all[random.below(all.length)] ?? { key: `index/${hex}`, body };
}

function bytesOf(random: SeededRandom): Buffer {
  switch (random.below(5)) {
    case 0:
      return Buffer.alloc(0);
    case 1:
      return random.bytes(300);
    // CBOR that says that a newer program is needed.
    case 2:
      return Buffer.from('a1617602', 'hex');
    // A header: of a newer format, or of a generation that nobody knows.
    default: {
      const body = random.bytes(400);
      body.write('HF1\0', 0, 'latin1');
      body[4] = 1 + random.below(2);
      body[5] = 1 + random.below(9);
      body[6] = 1;
      body[7] = random.below(2);
      body.writeUInt32BE([1, 2, 3, 900, 0xffff_ffff][random.below(5)] ?? 1, 8);
      body.writeUInt32BE(body[7] === 0 ? 0 : 1 + random.below(3), 76);
      return body;
    }
  }
}
