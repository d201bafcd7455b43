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

/** Characters of a key; the longest of a repository has a hundred. Names that are longer are passed over, not kept. */
export const LONGEST_KEY = 255;

/**
 * What an answer that a library unpacks as a whole may be made of, counted by the marks that begin a part of it: nothing
 * but these take many times the memory of their bytes. 1,000 objects with all that stores say of them have some 70,000.
 */
export const MOST_PARTS = 2 ** 18;

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

/** The top folder of a key, where it is one of a repository. */
function kindOf(key: string): string {
  const top = key.slice(0, Math.max(0, key.indexOf('/')));
  return Object.hasOwn(MOST, top) ? top : '';
}

/** Names in one folder. */
function mostIn(folder: string): number {
  if (folder.startsWith('packs/')) return MOST_PACKS_IN_ONE;
  const [top = ''] = folder.split('/');
  return Object.hasOwn(MOST, top) ? Math.min(MOST[top] ?? 0, MOST_RECORDS) : MOST_OTHERS;
}

/** More comes than an answer of its kind has: nothing of it counts. */
export class EndlessAnswer extends Error {
  override readonly name = 'EndlessAnswer';
  /** For people. Libraries write into messages of errors. */
  readonly what: string;

  constructor(most: number) {
    const what = `larger than ${most < MIB ? `${most / KIB} KiB` : `${most / MIB} MiB`}`;
    super(what);
    this.what = what;
  }
}

/** It is made of more parts, or of parts more deeply in one another, than any list of a repository. */
export class HollowAnswer extends Error {
  override readonly name = 'HollowAnswer';
  /** For people. */
  readonly what: string;

  constructor(what = `made of more than ${MOST_PARTS} parts`) {
    super(what);
    this.what = what;
  }
}

/** It would be unpacked to any size, and nobody has asked for that. */
export class PackedAnswer extends Error {
  override readonly name = 'PackedAnswer';
  /** For people. */
  readonly what: string;

  constructor(encoding: string) {
    const what = `compressed ("${encoding.replaceAll(/[^\w-]/g, '').slice(0, 20)}")`;
    super(what);
    this.what = what;
  }
}

/** Counts what one folder has shown. */
export interface FolderBound {
  /** To be called with each name, also those that are not kept, and without one for each answer. */
  readonly count: (name?: string) => void;
  /** What was counted comes once more. */
  readonly anew: () => void;
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
    const kind = kindOf(key);
    const most = MOST[kind] ?? MOST_OTHERS;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const of = kind === '' ? 'other files' : `objects below ${kind}/`;
    if (count > most) throw this.#endless(`it has more than ${most} ${of}, and does not come to an end`);
  }

  /**
   * For a folder whose names come before anything is known of them. Several folders are read at once, and count together.
   * @param folder without a slash at its end
   */
  folder(folder: string): FolderBound {
    if (folder.split('/').length > DEEPEST)
      throw this.#endless(`its folders lie more than ${DEEPEST} deep in one another`);
    const most = mostIn(folder);
    const below = folder === '' ? '' : `${folder}/`;
    let names = 0;
    let steps = 0;
    return {
      count: (name) => {
        if (name !== undefined) {
          this.count(below + name);
          names += 1;
        }
        steps += 1;
        if (steps > most)
          throw this.#endless(
            `the folder ${folder === '' ? 'itself' : folder} has more than ${most} names, and does not come to an end`,
          );
      },
      anew: () => {
        const kind = kindOf(below);
        this.#counts.set(kind, (this.#counts.get(kind) ?? 0) - names);
        names = 0;
        steps = 0;
      },
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
