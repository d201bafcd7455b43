/** Does what a plan says: plants, replays, removes, hides. At once, since it may be between two calls of somebody else. */
import { asByteString } from '../../src/base/byte-path.ts';
import { OBJECT_TYPES } from '../../src/format/header.ts';
import { LEASE_TIMES, leaseContext, leaseKey } from '../../src/repository/lease-objects.ts';
import { MINUTE } from '../simulator/times.ts';
import { seededRandom } from '../support/seeded-random.ts';
import type { ObjectStorage } from '../simulator/storage.ts';
import type { World } from '../simulator/world.ts';
import type { AttackPlan, Step } from './plan.ts';
import type { KnownChunk } from './scene.ts';
import { garbageOf } from './garbage.ts';
import { contextOf, type Sealing } from './sealing.ts';
import { StorageTricks } from './storage-tricks.ts';
import type { Lies, NetworkFault } from './storage-view.ts';
import { headKey, named, nextNumber, recordsIn, writersIn, type SeenRecord } from './what-is-stored.ts';

export type AttackStep = Extract<Step, { who: 'attacker' }>;

/** Numbers that nobody has come to, besides the next ones. */
const FAR = [1_000, 1_500, 70_000, 2_000_000, 999_999_999, 3_000_000_000, Number.MAX_SAFE_INTEGER];
const NOTHING_NEW = {
  files: 0,
  directories: 0,
  links: 0,
  others: 0,
  bytes: 0,
  new: 0,
  changed: 0,
  unchanged: 0,
  failed: 0,
};
const NO_RECORD = '0'.repeat(64);

export interface AttackerParts {
  readonly plan: AttackPlan;
  readonly world: World;
  readonly storage: ObjectStorage;
  readonly lies: Lies;
  /** Everything that there ever was. */
  readonly kept: Map<string, Buffer>;
  /** When others stored something since the attacks began, by its bytes as they are kept. */
  readonly storedMs: WeakMap<Buffer, number>;
  /** What others have stored, as if somebody had told it the ids. */
  readonly chunks: readonly KnownChunk[];
}

export class Attacker {
  readonly #parts: AttackerParts;
  readonly #tricks: StorageTricks;
  /** With the key as it was when it opened the repository last; undefined where it has none. */
  sealing: Sealing | undefined;
  /** Of trees that it has stored. */
  readonly roots: Buffer[] = [];
  /** What it did that docs/security.md says may hold others up. */
  readonly planted = new Set<
    'garbage-snapshot' | 'garbage-head' | 'session' | 'snapshot' | 'head' | 'lease-again' | 'endless-tree'
  >();
  /** Keys of all that it has stored. */
  readonly added = new Set<string>();
  fault: { readonly kind: NetworkFault; at: number; left: number } | undefined;

  constructor(parts: AttackerParts) {
    this.#parts = parts;
    this.#tricks = new StorageTricks(parts);
  }

  /** What of the storage it has taken away or spoiled since this was asked last. */
  takeSpoiled(): boolean {
    return this.#tricks.takeSpoiled();
  }

  /** Says that a backup is at work, with the key as it was. */
  plantSession(): void {
    const purpose = `session.${'cd'.repeat(8)}`;
    const epoch = nextNumber(this.#parts.storage, `leases/${purpose}/`);
    this.#add(leaseKey(purpose, epoch), this.sealing?.lease(leaseContext(purpose, epoch), 'cd'.repeat(8)));
  }

  /** Says what was done. */
  act(step: AttackStep): string {
    const { storage } = this.#parts;
    const random = seededRandom(step.a * 4_096 + step.b);
    const pick = <T>(of: readonly T[]): T | undefined => of[random.below(Math.max(1, of.length))];
    const pickFar = (next: number): number =>
      random.next() < 0.5 ? next + random.below(3) : (pick(FAR) ?? next);
    const { sealing } = this;
    switch (step.do) {
      case 'config-again':
      case 'config-made-up': {
        const n = pickFar(nextNumber(storage, 'config/'));
        const from = pick([...this.#parts.kept].filter(([key]) => key.startsWith('config/')));
        const context = Buffer.alloc(8);
        context.writeBigUInt64BE(BigInt(n));
        const body =
          step.do === 'config-again'
            ? sealing?.again('config', from?.[1] ?? Buffer.alloc(0), context)
            : random.next() < 0.5
              ? sealing?.forgedConfig(n, context, random.bytes(64))
              : sealing?.record(OBJECT_TYPES.config, context, pick(MADE_UP) ?? Buffer.alloc(1));
        return this.#add(pick([`config/${n}`, `config/${n}`, `copies/config/${n}`]) ?? '', body);
      }
      case 'tombstone-again':
      case 'tombstone-made-up': {
        const marks = [...this.#parts.kept].filter(([key]) => key.startsWith('trash/'));
        const place = this.#place(random, pickFar);
        const victims = recordsIn(storage).flatMap(({ key, name }) =>
          key.startsWith('snapshots/') ? [name] : [],
        );
        const context = random.next() < 0.15 ? undefined : contextOf(place);
        const body =
          step.do === 'tombstone-again'
            ? sealing?.again('tombstone', pick(marks)?.[1] ?? Buffer.alloc(0), context)
            : random.next() < 0.6
              ? sealing?.forgedTombstone(place, victims, random.bytes(64))
              : sealing?.record(OBJECT_TYPES.tombstone, contextOf(place), pick(MADE_UP) ?? Buffer.alloc(1));
        return this.#addNamed('trash/', body);
      }
      case 'prune-lease':
      case 'session-lease': {
        const sessions = storage
          .keys()
          .flatMap((key) => /^leases\/(session\.[0-9a-f]{16})\//.exec(key)?.[1] ?? []);
        const own = `session.${random.bytes(8).toString('hex')}`;
        const purpose = step.do === 'prune-lease' ? 'prune' : (pick([own, ...sessions]) ?? own);
        const epoch =
          pick([
            nextNumber(storage, `leases/${purpose}/`) + random.below(4),
            1_000_000_000,
            999_999_999_999_999,
          ]) ?? 1;
        if (purpose !== 'prune') this.planted.add('session');
        const nonce = purpose === 'prune' ? own.slice(8) : purpose.slice(8);
        return this.#add(leaseKey(purpose, epoch), sealing?.lease(leaseContext(purpose, epoch), nonce));
      }
      case 'snapshot': {
        if (sealing === undefined) return 'has no key';
        const place = this.#place(random, pickFar, true);
        const victim = pick(recordsIn(storage));
        const { world } = this.#parts;
        const body = sealing.snapshot(place, {
          host: pick(['db1', 'admin', 'web', 'server']) ?? 'db1',
          startedMs: 1_700_000_000_000 + world.nowMs + (pick([0, 59, -1_000, 600_000]) ?? 0) * 60_000,
          root: pick([random.bytes(24), ...this.roots]) ?? random.bytes(24),
          plain: random.next() < 0.1,
          ...(random.next() < 0.3 && victim !== undefined ? { original: victim.name } : {}),
          ...(random.next() < 0.2 && victim !== undefined
            ? { run: { writer: victim.writer, seq: writable(victim.seq) } }
            : {}),
          ...(random.next() < 0.1 ? { writeOnly: { number: 2, storedMs: 5 } } : {}),
          ...(random.next() < 0.1 ? { salt: undefined } : {}),
        });
        this.planted.add('snapshot');
        const told = this.#addNamed('snapshots/', body);
        if (random.next() < 0.5) this.#head(place, sha(body), sealing);
        return told;
      }
      case 'head': {
        if (sealing === undefined) return 'has no key';
        const place = this.#place(random, pickFar);
        this.planted.add(place.writer.startsWith(sealing.mark) ? 'head' : 'garbage-head');
        return this.#head(place, pick([NO_RECORD, random.bytes(32).toString('hex')]) ?? NO_RECORD, sealing);
      }
      case 'pack':
      case 'plain-pack': {
        const claimed = random.next() < 0.8 ? pick(this.#parts.chunks) : undefined;
        const length = claimed?.length ?? 600;
        const pack = sealing?.pack(
          random.bytes(length),
          claimed?.id ?? random.bytes(24),
          claimed?.kind ?? 'data',
          step.do === 'plain-pack',
        );
        return this.#add(pack?.key ?? '', pack?.body);
      }
      case 'endless-tree': {
        if (sealing === undefined) return 'has no key';
        const told = pick(['truth', 'truth', 'nothing', 'too-little'] as const) ?? 'truth';
        const shape = { levels: pick([2, 12, 25, 60]) ?? 25, names: 2 + random.below(4), told };
        const { packs, root, totals } = sealing.endless(shape);
        for (const { key, body } of packs) this.#add(key, body);
        this.roots.push(root);
        const body = sealing.snapshot(this.#place(random, pickFar, true), {
          host: pick(['db1', 'admin', 'server']) ?? 'db1',
          paths: [asByteString('/data')],
          startedMs: 1_700_000_000_000 + this.#parts.world.nowMs,
          root,
          counts: { ...NOTHING_NEW, files: totals.files, directories: Math.min(totals.entries, 2 ** 40) },
        });
        this.planted.add('snapshot');
        this.planted.add('endless-tree');
        return `${JSON.stringify(shape)}: ${this.#addNamed('snapshots/', body)}`;
      }
      case 'claimed-backup':
        return 'is done by whoever plays';
      case 'ring-again': {
        const from = pick([...this.#parts.kept].filter(([key]) => key.startsWith('keys/ring-')));
        const n = random.next() < 0.6 ? nextNumber(storage, 'keys/ring-') + random.below(3) : 999_999_999;
        return this.#add(pick([`keys/ring-${n}`, `copies/keys/ring-${n}`]) ?? '', from?.[1]);
      }
      case 'replay':
        return this.#replay(random, pick);
      case 'garbage': {
        const { key, body, holdsUp } = garbageOf(storage, random);
        const told = this.#add(key, body);
        if (holdsUp !== undefined) this.planted.add(holdsUp);
        return told;
      }
      case 'cut':
      case 'lost-reply':
      case 'delay':
        this.fault = {
          kind: step.do,
          at: 1 + random.below(60),
          left: 1 + random.below(step.do === 'cut' ? 12 : 3),
        };
        return `the network: ${step.do}, ${this.fault.left} times from call ${this.fault.at} on`;
      default:
        return this.#tricks.play(step.do, random);
    }
  }

  #replay(random: ReturnType<typeof seededRandom>, pick: <T>(of: readonly T[]) => T | undefined): string {
    const { storage, kept } = this.#parts;
    const gone = [...kept].filter(([key]) => storage.get(key) === undefined);
    const some = random.next() < 0.6 ? gone : [...kept];
    const kinds = [
      'leases/prune/',
      'leases/session.',
      'heads/',
      'config/',
      'keys/',
      'trash/',
      'snapshots/',
      'packs/',
      'index/',
    ];
    const kind = pick(kinds.filter((one) => some.some(([key]) => key.startsWith(one)))) ?? '';
    const [key, body] = pick(some.filter(([one]) => one.startsWith(kind))) ?? ['', undefined];
    if (kind === 'leases/prune/' && this.#isYoung(body)) this.planted.add('lease-again');
    if (kind === 'leases/session.') this.planted.add('session');
    const numbered = /^(?<stem>.*\/(?:ring-)?)(?<n>\d{1,16})$/.exec(key)?.groups;
    if (numbered === undefined || random.next() < 0.4) return this.#add(key, body);
    const { stem = '', n = '' } = numbered;
    if (kind === 'heads/') this.planted.add('garbage-head');
    const other = String(Number(n) + 1 + random.below(4));
    return this.#add(`${stem}${n.length === 16 ? other.padStart(16, '0') : other}`, body);
  }

  /** Whether a lease may still be a right: what has been signed is one for five minutes. */
  #isYoung(body: Buffer | undefined): boolean {
    const { storedMs, world } = this.#parts;
    const since = body === undefined ? undefined : storedMs.get(body);
    return since !== undefined && world.nowMs - since <= LEASE_TIMES.expiry + MINUTE;
  }

  #place(random: ReturnType<typeof seededRandom>, pickFar: (next: number) => number, own = false) {
    const { storage } = this.#parts;
    const known = writersIn(storage);
    const of = known[random.below(Math.max(1, known.length))];
    const mark = this.sealing?.mark ?? '';
    const ownOnes = known.filter(({ writer }) => mark !== '' && writer.startsWith(mark));
    const mine = ownOnes[random.below(Math.max(1, ownOnes.length))];
    const chosen = own || random.next() < 0.3 ? (random.next() < 0.5 ? mine : undefined) : of;
    const writer = chosen?.writer ?? `${mark}${random.bytes(16).toString('hex')}`.slice(0, 32);
    const seq = BigInt(
      random.next() < 0.05
        ? 0
        : random.next() < 0.2
          ? 1 + random.below(3)
          : writable(pickFar((chosen?.seq ?? 0) + 1)),
    );
    const records: SeenRecord[] = recordsIn(storage).filter((one) => one.writer === writer);
    const newest = records.toSorted((a, b) => a.seq - b.seq).at(-1)?.name;
    const prev =
      [newest ?? NO_RECORD, NO_RECORD, random.bytes(32).toString('hex')][random.below(3)] ?? NO_RECORD;
    return { writer, seq: random.next() < 0.03 ? 2n ** 64n - 1n : seq, prev };
  }

  #head(
    place: { readonly writer: string; readonly seq: bigint; readonly prev: string },
    record: string,
    sealing: Sealing,
  ): string {
    if (place.seq >= 10n ** 16n) return 'no name for such a number';
    return this.#add(headKey(place.writer, place.seq), sealing.head(place, record, 1));
  }

  #addNamed(prefix: string, body: Buffer | undefined): string {
    return body === undefined ? 'could not be made' : this.#add(named(prefix, body), body);
  }

  /** Nobody replaces what is there by adding. */
  #add(key: string, body: Buffer | undefined): string {
    const { storage, kept } = this.#parts;
    if (body === undefined || key === '') return 'could not be made';
    if (storage.get(key) !== undefined) return `${key} is there`;
    storage.put(key, body);
    kept.set(key, body);
    this.added.add(key);
    return `${key} (${body.length} bytes)`;
  }
}

/** The number that 8 bytes hold and a number of JavaScript does not is rounded up to one that they do not hold. */
function writable(seq: number): number {
  return Math.min(seq, Number.MAX_SAFE_INTEGER);
}

const MADE_UP = [Buffer.from('a0', 'hex'), Buffer.from('a1617602', 'hex'), Buffer.from('garbage')];

function sha(body: Buffer): string {
  return named('', body);
}
