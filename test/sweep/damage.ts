/** Damages to stored objects: what they are, where they strike, and how they are done. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SeededRandom } from '../support/seeded-random.ts';
import { OBJECT_KINDS, type ObjectKind, type Site, type SiteObject } from './damage-site.ts';

export const ACTIONS = [
  'flip',
  'truncate',
  'zero block',
  'append',
  'swap',
  'foreign',
  'foreign extra',
  'missing',
] as const;
export type Action = (typeof ACTIONS)[number];

/** A part of an object that a bit flip strikes. */
export interface Region {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

export interface Damage {
  readonly action: Action;
  readonly object: SiteObject;
  /** For a flip. */
  readonly region: Region | undefined;
  /** The object it is exchanged with, or the one of the other repository that takes its place. */
  readonly other: SiteObject | undefined;
}

export function shownDamage(damage: Damage | undefined): string {
  if (damage === undefined) return 'no damage';
  const { action, object, region } = damage;
  return `${action}${region === undefined ? '' : ` in the ${region.name}`} of ${object.kind} ${object.key}`;
}

const HEADER: readonly Region[] = [
  { name: 'magic and type', from: 0, to: 8 },
  { name: 'generation', from: 8, to: 12 },
  { name: 'salt', from: 12, to: 44 },
  { name: 'commitment', from: 44, to: 76 },
  { name: 'reserved field', from: 76, to: 80 },
];
const HEADER_BYTES = 80;
const TAG_BYTES = 16;
const TAIL_BYTES = 16;
const CONTEXT_BYTES: Partial<Readonly<Record<ObjectKind, number>>> = {
  config: 8,
  snapshot: 56,
  head: 56,
  tombstone: 56,
  lease: 9,
};

function isPack(kind: ObjectKind): boolean {
  return kind.endsWith('pack');
}

/** Where a bit can flip in an object with these bytes. */
export function regionsOf(kind: ObjectKind, bytes: Buffer): readonly Region[] {
  const { length } = bytes;
  if (kind === 'key slot' || kind === 'ring' || kind === 'second copy') {
    const third = Math.floor(length / 3);
    return [
      { name: 'beginning', from: 0, to: third },
      { name: 'middle', from: third, to: 2 * third },
      { name: 'end', from: 2 * third, to: length },
    ];
  }
  if (isPack(kind)) return packRegions(bytes);
  const content = HEADER_BYTES + (CONTEXT_BYTES[kind] ?? 0);
  const context = content > HEADER_BYTES ? [{ name: 'context', from: HEADER_BYTES, to: content }] : [];
  return [
    ...HEADER,
    ...context,
    { name: 'ciphertext', from: content, to: length - TAG_BYTES },
    { name: 'tag', from: length - TAG_BYTES, to: length },
  ];
}

function packRegions(bytes: Buffer): readonly Region[] {
  const tail = bytes.length - TAIL_BYTES;
  const directory = bytes.readUInt32BE(tail);
  const padding = directory - bytes.readUInt32BE(tail + 8);
  return [
    ...HEADER,
    { name: 'first segment', from: HEADER_BYTES, to: Math.min(padding, HEADER_BYTES + 200) },
    { name: 'segments', from: HEADER_BYTES, to: padding - TAG_BYTES },
    { name: 'tag of the last segment', from: padding - TAG_BYTES, to: padding },
    { name: 'padding', from: padding, to: directory },
    { name: 'directory', from: directory, to: tail - TAG_BYTES },
    { name: 'tag of the directory', from: tail - TAG_BYTES, to: tail },
    { name: 'tail', from: tail, to: bytes.length },
  ];
}

/** Every action on every kind of object, each region once, then the same again on other objects until there are so many. */
export function planDamages(
  site: Site,
  stranger: Site,
  count: number,
  random: SeededRandom,
): readonly Damage[] {
  const damages: Damage[] = [];
  while (damages.length < count) {
    const round = shuffled(onePass(site, stranger, random), random);
    damages.push(...round.slice(0, count - damages.length));
  }
  return damages;
}

/** How many damages one pass has. */
export function passLength(site: Site, stranger: Site, random: SeededRandom): number {
  return onePass(site, stranger, random).length;
}

function onePass(site: Site, stranger: Site, random: SeededRandom): Damage[] {
  return OBJECT_KINDS.flatMap((kind) => {
    const own = site.objects.filter((object) => object.kind === kind);
    const foreign = stranger.objects.filter((object) => object.kind === kind);
    return ACTIONS.flatMap((action): Damage[] => {
      const object = pick(own, random);
      if (action === 'flip') {
        const bytes = readFileSync(join(site.place.repository, object.key));
        return regionsOf(kind, bytes).map(({ name }) => aimed(site, pick(own, random), name));
      }
      if (action === 'swap') {
        const others = own.filter(({ key }) => key !== object.key);
        return others.length === 0
          ? []
          : [{ action, object, region: undefined, other: pick(others, random) }];
      }
      const other = action.startsWith('foreign') ? pick(foreign, random) : undefined;
      return [{ action, object, region: undefined, other }];
    });
  });
}

function aimed({ place }: Site, object: SiteObject, name: string): Damage {
  const regions = regionsOf(object.kind, readFileSync(join(place.repository, object.key)));
  return { action: 'flip', object, region: regions.find((region) => region.name === name), other: undefined };
}

function pick<T>(items: readonly T[], random: SeededRandom): T {
  const item = items[random.below(items.length)];
  if (item === undefined) throw new Error('there is nothing to choose from');
  return item;
}

function shuffled<T>(items: T[], random: SeededRandom): T[] {
  for (let i = items.length - 1; i > 0; i -= 1) {
    const j = random.below(i + 1);
    [items[i], items[j]] = [items[j] as T, items[i] as T];
  }
  return items;
}

/** Does the damage in a copy of the site; returns the keys of what is not as it was, and throws when all is. */
export function inflict(repository: string, stranger: Site, damage: Damage, random: SeededRandom): string[] {
  const { action, object, other } = damage;
  const { key } = object;
  const bytes = readFileSync(join(repository, key));
  switch (action) {
    case 'missing':
      rmSync(join(repository, key));
      return [key];
    case 'swap': {
      const theirs = readFileSync(join(repository, otherKey(other)));
      replace(repository, key, bytes, theirs);
      replace(repository, otherKey(other), theirs, bytes);
      return [key, otherKey(other)];
    }
    case 'foreign':
      replace(repository, key, bytes, foreignBytes(stranger, other));
      return [key];
    case 'foreign extra': {
      const free = freeKey(repository, otherKey(other));
      write(repository, free, foreignBytes(stranger, other));
      return [free];
    }
    default:
      replace(repository, key, bytes, changed(bytes, damage, random));
      return [key];
  }
}

function changed(bytes: Buffer, { action, region }: Damage, random: SeededRandom): Buffer {
  const { length } = bytes;
  switch (action) {
    case 'flip': {
      const { from, to } = region ?? { from: 0, to: length };
      const copy = Buffer.from(bytes);
      const at = from + random.below(to - from);
      copy[at] = (copy[at] ?? 0) ^ (1 << random.below(8));
      return copy;
    }
    case 'truncate':
      return bytes.subarray(0, Math.floor((length * random.below(16)) / 16));
    case 'zero block': {
      // A block of a file system, or what there is of it; plain padding is zero already, so look elsewhere then.
      for (;;) {
        const copy = Buffer.from(bytes);
        const at = 4_096 * random.below(Math.ceil(length / 4_096));
        copy.fill(0, at, Math.min(length, at + 4_096));
        if (!copy.equals(bytes)) return copy;
      }
    }
    default: {
      const more = random.bytes(1 + random.below(4_096));
      return Buffer.concat([bytes, random.next() < 0.3 ? Buffer.alloc(more.length) : more]);
    }
  }
}

function otherKey(other: SiteObject | undefined): string {
  if (other === undefined) throw new Error('the damage names no other object');
  return other.key;
}

function foreignBytes(stranger: Site, other: SiteObject | undefined): Buffer {
  return readFileSync(join(stranger.place.repository, otherKey(other)));
}

/** A numbered object of the other repository becomes the one after the newest. */
function freeKey(repository: string, key: string): string {
  const numbered = /^(keys\/ring-|config\/)\d+$/.exec(key)?.[1];
  if (numbered === undefined) return key;
  for (let n = 1; ; n += 1) {
    try {
      readFileSync(join(repository, `${numbered}${n}`));
    } catch {
      return `${numbered}${n}`;
    }
  }
}

/** Every damage changes bytes, or the sweep proves nothing. */
function replace(repository: string, key: string, before: Buffer, after: Buffer): void {
  if (after.equals(before)) throw new Error(`the damage to ${key} changed nothing`);
  write(repository, key, after);
}

/** Breaks the hard link to the template first. */
function write(repository: string, key: string, bytes: Buffer): void {
  const path = join(repository, key);
  rmSync(path, { force: true });
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, bytes, { mode: 0o600 });
}
