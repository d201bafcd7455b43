/** What the storage can do without any key: lose, spoil, hide, go back, lie. */
import type { SeededRandom } from '../support/seeded-random.ts';
import { FIRST_MOMENT_MS } from '../simulator/machine.ts';
import type { ObjectStorage } from '../simulator/storage.ts';
import { DAY, HOUR, MINUTE } from '../simulator/times.ts';
import type { Attack } from './powers.ts';
import { HOSTS } from './scene.ts';
import type { Lies } from './storage-view.ts';
import { recordsIn, writersIn } from './what-is-stored.ts';

const KINDS = [
  'packs/',
  'index/',
  'snapshots/',
  'heads/',
  'trash/',
  'leases/',
  'keys/',
  'config/',
  'copies/',
];

export class StorageTricks {
  readonly #storage: ObjectStorage;
  readonly #lies: Lies;
  #spoiled = false;

  constructor({ storage, lies }: { readonly storage: ObjectStorage; readonly lies: Lies }) {
    this.#storage = storage;
    this.#lies = lies;
  }

  takeSpoiled(): boolean {
    const spoiled = this.#spoiled;
    this.#spoiled = false;
    return spoiled;
  }

  play(what: Attack, random: SeededRandom): string {
    const storage = this.#storage;
    const lies = this.#lies;
    const kind = KINDS[random.below(KINDS.length)] ?? 'packs/';
    const keys = storage.keys().filter((key) => key.startsWith(kind));
    const key = keys[random.below(Math.max(1, keys.length))] ?? '';
    const body = storage.get(key)?.body;
    const to = random.next() < 0.3 ? HOSTS[random.below(HOSTS.length)] : undefined;
    lies.told += 1;
    switch (what) {
      case 'delete':
        if (!this.#maySpoil(key)) return 'leaves the last copy';
        storage.delete(key);
        this.#spoiled = true;
        return `removes ${key}`;
      case 'truncate': {
        if (body === undefined || !this.#maySpoil(key)) return 'leaves the last copy';
        const other = Buffer.from(
          body.subarray(0, random.next() < 0.5 ? body.length : random.below(body.length + 1)),
        );
        if (other.length === body.length && other.length > 0)
          other[random.below(other.length)]! ^= 1 << random.below(8);
        storage.put(key, other);
        this.#spoiled = true;
        return `spoils ${key}`;
      }
      case 'swap': {
        const other = keys[random.below(Math.max(1, keys.length))] ?? '';
        const otherBody = storage.get(other)?.body;
        if (body === undefined || otherBody === undefined || !this.#maySpoil(key))
          return 'leaves the last copy';
        storage.put(key, otherBody);
        this.#spoiled = true;
        return `puts ${other} in the place of ${key}`;
      }
      case 'hide': {
        lies.to = to;
        const share = random.next() < 0.6 ? 0 : 0.5;
        for (const one of keys) if (one === key || random.next() < share) lies.hidden.add(one);
        return `hides ${key} and its like from ${to ?? 'all'}`;
      }
      case 'roll-back': {
        lies.to = to;
        const how = random.below(3);
        if (how === 0) {
          const sinceMs = storage
            .keys()
            .map((one) => storage.get(one)?.modifiedMs ?? 0)
            .sort((a, b) => a - b);
          const from = sinceMs[random.below(sinceMs.length)] ?? 0;
          for (const one of storage.keys())
            if ((storage.get(one)?.modifiedMs ?? 0) > from) lies.hidden.add(one);
          return `shows what there was at ${(from - FIRST_MOMENT_MS) / 1_000} s to ${to ?? 'all'}`;
        }
        if (how === 1) {
          const rings = storage.keys().filter((one) => /(ring-|config\/)\d+$/.test(one));
          const newest = rings[random.below(Math.max(1, rings.length))] ?? '';
          const number = /\d+$/.exec(newest)?.[0];
          for (const one of rings) if (one.endsWith(newest.replace('copies/', ''))) lies.hidden.add(one);
          return `hides number ${String(number)} (${newest}) from ${to ?? 'all'}`;
        }
        const writers = writersIn(storage);
        const { writer, seq } = writers[random.below(Math.max(1, writers.length))] ?? { writer: '', seq: 0 };
        const from = Math.max(1, seq - random.below(2));
        for (const one of recordsIn(storage))
          if (one.writer === writer && one.seq >= from) lies.hidden.add(one.key);
        for (const one of storage.keys())
          if (one.startsWith(`heads/${writer}/`) && Number(one.slice(-16)) >= from) lies.hidden.add(one);
        return `hides all of ${writer} from ${from} on from ${to ?? 'all'}`;
      }
      case 'show-all':
        lies.end();
        return 'tells the truth again';
      case 'reorder':
        lies.reordered = true;
        return 'lists in another order';
      case 'clock':
        lies.to = to;
        lies.clockMs =
          ([6 * MINUTE, HOUR, 4 * DAY, 400 * DAY][random.below(4)] ?? HOUR) * (random.next() < 0.5 ? -1 : 1);
        return `has a clock that is off by ${lies.clockMs / HOUR} h`;
      case 'extra-names':
        for (const one of EXTRA) if (random.next() < 0.4) lies.extra.add(one);
        return 'lists what is not there';
      default:
        throw new Error(`the storage cannot ${what}`);
    }
  }

  /** Without a slot, its ring and the configuration there is nothing to go on with: those stay in one place. */
  #maySpoil(key: string): boolean {
    if (!/^(copies\/)?(keys|config)\//.test(key)) return this.#storage.get(key) !== undefined;
    const other = key.startsWith('copies/') ? key.slice('copies/'.length) : `copies/${key}`;
    return this.#storage.get(other)?.body.equals(this.#storage.get(key)?.body ?? Buffer.alloc(0)) === true;
  }
}

const EXTRA = [
  'config/9007199254740993',
  'config/0',
  'config/77',
  'keys/ring-77',
  `heads/${'cd'.repeat(16)}/0000000000000007`,
  `heads/${'cd'.repeat(16)}/9999999999999999`,
  `trash/${'cd'.repeat(32)}`,
  `snapshots/${'cd'.repeat(32)}`,
  `packs/cd/${'cd'.repeat(32)}`,
  `index/${'cd'.repeat(32)}`,
  'leases/prune/9999999999999999',
  'snapshots/../../x',
  '',
];
