/**
 * How much a place may say: no answer is read further, whatever kind of destination it comes from. Stated in
 * docs/destinations.md.
 */
import { DestinationError } from '../base/errors.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** A page of a list, or what a store says of one object: 1,000 names at their longest have some six mebibytes in XML. */
export const LARGEST_PAGE = 8 * MIB;
/** All that is in one folder, which some protocols tell in one answer. */
export const LARGEST_FOLDER = 64 * MIB;
/** Why something was refused. */
export const LARGEST_REFUSAL = 256 * KIB;

/** Of what is none of a repository's, as those who try a place out store it. */
const LARGEST_OTHER = 1024 * MIB;

/** Bytes of the objects whose key begins so. */
const LARGEST: readonly (readonly [prefix: string, bytes: number])[] = [
  ['keys/ring-', 32 * MIB],
  ['keys/', 8 * KIB],
  ['config/', MIB],
  ['heads/', MIB],
  ['leases/', MIB],
  ['snapshots/', 17 * MIB],
  ['trash/', 72 * MIB],
  ['index/', 97 * MIB],
  ['packs/', 128 * MIB],
  ['reserve/', 97 * MIB],
];

/** Bytes that an object can have. */
export function largestObject(key: string): number {
  const own = key.startsWith('copies/') ? key.slice('copies/'.length) : key;
  return LARGEST.find(([prefix]) => own.startsWith(prefix))?.[1] ?? LARGEST_OTHER;
}

/** Objects below a prefix: 4 million packs are some 120 TiB, which nothing could index in memory. */
const MOST_PACKS = 2 ** 22;
const MOST_RECORDS = 2 ** 19;
const MOST_KEYS = 2 ** 16;
/** Names that are none of a repository's: a place may hold something else beside it. */
const MOST_OTHERS = 2 ** 18;
/** Of packs in the folder of two digits that they lie in. */
const MOST_PACKS_IN_ONE = 2 ** 16;
/** Folders in one another. */
const DEEPEST = 16;

const MOST: Readonly<Record<string, number>> = {
  packs: MOST_PACKS,
  index: MOST_RECORDS,
  snapshots: MOST_RECORDS,
  heads: MOST_RECORDS,
  trash: MOST_RECORDS,
  keys: MOST_KEYS,
  config: MOST_KEYS,
  leases: MOST_KEYS,
  copies: MOST_KEYS,
  reserve: MOST_KEYS,
};

/** Names in one folder. */
function mostIn(folder: string): number {
  if (folder.startsWith('packs/')) return MOST_PACKS_IN_ONE;
  const [top = ''] = folder.split('/');
  return Object.hasOwn(MOST, top) ? Math.min(MOST[top] ?? 0, MOST_RECORDS) : MOST_OTHERS;
}

/** More comes than an answer of its kind has: nothing of it counts. */
export class EndlessAnswer extends Error {
  override readonly name = 'EndlessAnswer';

  constructor(most: number) {
    super(`larger than ${most < MIB ? `${most / KIB} KiB` : `${most / MIB} MiB`}`);
  }
}

/** It would be unpacked to any size, and nobody has asked for that. */
export class PackedAnswer extends Error {
  override readonly name = 'PackedAnswer';

  constructor(encoding: string) {
    super(`compressed ("${encoding.replaceAll(/[^\w-]/g, '').slice(0, 20)}")`);
  }
}

/** Counts what one list has shown. */
export class ListBound {
  readonly #url: string;
  readonly #counts = new Map<string, number>();

  /** @param url for people: the place */
  constructor(url: string) {
    this.#url = url;
  }

  /** @throws {DestinationError} corrupt-reply when no list of a repository has so many of that kind */
  count(key: string): void {
    const top = key.slice(0, Math.max(0, key.indexOf('/')));
    const kind = Object.hasOwn(MOST, top) ? top : '';
    const most = MOST[kind] ?? MOST_OTHERS;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const of = kind === '' ? 'other files' : `objects below ${kind}/`;
    if (count > most) throw this.#endless(`it has more than ${most} ${of}, and does not come to an end`);
  }

  /**
   * For a folder whose names come before anything is known of them. Gives what is to be called for each of these.
   * @param folder without a slash at its end
   */
  folder(folder: string): () => void {
    if (folder.split('/').length > DEEPEST)
      throw this.#endless(`its folders lie more than ${DEEPEST} deep in one another`);
    const most = mostIn(folder);
    let count = 0;
    return () => {
      count += 1;
      if (count > most)
        throw this.#endless(
          `the folder ${folder === '' ? 'itself' : folder} has more than ${most} names, and does not come to an end`,
        );
    };
  }

  #endless(what: string): DestinationError {
    return new DestinationError('corrupt-reply', `Cannot list ${this.#url}: ${what}`, {
      op: 'list',
      hint: 'No repository looks like that. Check what answers there, and whether something else stores files in the destination.',
      retry: 'never',
    });
  }
}
