/**
 * How large answers, objects and lists of a destination may be, whatever its kind. Nothing is read beyond these bounds,
 * which docs/destinations.md lists.
 */
import { DestinationError } from '../base/errors.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

/** A page of a list, or what a store says of one object. 1,000 names of the greatest length take some 6 MiB in XML. */
export const LARGEST_PAGE = 8 * MIB;
/** All names in one folder, which some protocols send in one answer. */
export const LARGEST_FOLDER = 64 * MIB;
/** The body of an answer that refuses a request. */
export const LARGEST_REFUSAL = 256 * KIB;

/** An object that does not belong to a repository, such as those that a test of a destination stores. */
const LARGEST_OTHER = 1024 * MIB;

/** Characters of a key; the longest of a repository has a hundred. Names that are longer are passed over, not kept. */
export const LONGEST_KEY = 255;

/** All names in one list that are longer. What libraries make of them is cleared away later than it is made. */
const LONG_NAMES = 16 * MIB;

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

/** The largest size, in bytes, that the object with this key may have. */
export function largestObject(key: string): number {
  const own = key.startsWith('copies/') ? key.slice('copies/'.length) : key;
  return LARGEST.find(([prefix]) => own.startsWith(prefix))?.[1] ?? LARGEST_OTHER;
}

/**
 * The most objects that a list may have below a prefix. 4 million packs are some 120 TiB, more than could be indexed in
 * memory.
 */
const MOST_PACKS = 2 ** 22;
const MOST_RECORDS = 2 ** 19;
const MOST_KEYS = 2 ** 16;
/** Names that do not belong to a repository: other files may lie in the same place. */
const MOST_OTHERS = 2 ** 18;
/** The most packs in one of the folders that are named by two hexadecimal digits. */
const MOST_PACKS_IN_ONE = 2 ** 16;
/** The deepest nesting of folders. */
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

/** An answer is longer than any of its kind may be. None of it is used. */
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

/** An answer is compressed although nobody asked for that: unpacking it could yield any amount of data. */
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
  readonly restart: () => void;
}

/** Counts what one list has shown. */
export class ListBound {
  readonly #url: string;
  readonly #counts = new Map<string, number>();
  /** Characters of names that are longer than any key. */
  #long = 0;

  /** @param url the place, for messages */
  constructor(url: string) {
    this.#url = url;
  }

  /** @throws {DestinationError} corrupt-reply when the list has more objects of that kind than any repository */
  count(key: string): void {
    const kind = kindOf(key);
    const most = MOST[kind] ?? MOST_OTHERS;
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    const of = kind === '' ? 'other files' : `objects below ${kind}/`;
    if (count > most) throw this.#endless(`it has more than ${most} ${of}, and does not end`);
    if (key.length <= LONGEST_KEY) return;
    this.#long += key.length;
    if (this.#long > LONG_NAMES)
      throw this.#endless(
        `it has more than ${LONG_NAMES / MIB} MiB of names that are longer than those of a repository`,
      );
  }

  /**
   * For protocols that give the names of a folder before anything else about them. Returns a function to call once for
   * each name.
   * @param folder without a trailing slash
   * @throws {DestinationError} corrupt-reply, also from the returned function, when folders nest too deep or have too
   *   many names
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
            `the folder ${folder === '' ? 'itself' : folder} has more than ${most} names, and does not end`,
          );
      },
      restart: () => {
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
      hint: 'This does not look like a repository. Check what answers there, and whether something else stores files in the destination.',
      retry: 'never',
    });
  }
}
