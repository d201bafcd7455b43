/** Collects what a walk leaves out, by which rule, and its size. */
import type { Decision } from '../exclude/decision.ts';
import { textOfBytes, type ByteString } from '../base/byte-path.ts';
import { pathText } from '../base/tree-path.ts';
import type { LeftOut } from './protocol.ts';

/** The most items that are returned, the largest ones. */
const MOST_SHOWN = 200;
/** Items that are kept before the smallest ones are dropped. */
const KEPT = 2_000;

/** What one decision leaves out. */
export interface LeftOutItem {
  readonly path: ByteString;
  readonly reason: LeftOut['reason'];
  readonly rule: string | null;
  bytes: number;
  /** Contains a directory whose size is determined later. */
  isOpen: boolean;
}

/** A directory that is left out. */
export interface LeftOutEntry {
  readonly path: ByteString;
  readonly device: bigint;
  readonly item: LeftOutItem;
}

type LeavingOut = Exclude<Decision, { readonly excluded: false; readonly descend: true }>;

export class LeftOutList {
  /** Regular files that were left out, as far as they were counted. */
  files = 0;
  #items: LeftOutItem[] = [];
  #dropAt = KEPT;
  readonly #unweighed: LeftOutEntry[] = [];
  /** The item of the directory that is being listed, if it is a cache or marked. */
  #marked: LeftOutItem | undefined;

  /** `directory`: where the entry is. A tag or marker makes one item for its whole directory, not one for each entry. */
  take(path: ByteString, decision: LeavingOut, directory: ByteString | undefined): LeftOutItem {
    const isMarked = decision.rule === 'cache-directory' || decision.rule === 'marker';
    const place = isMarked ? (directory ?? path) : path;
    if (isMarked && this.#marked?.path === place) return this.#marked;
    const item = { path: place, ...ruleOf(decision), bytes: 0, isOpen: isMarked };
    if (isMarked) this.#marked = item;
    if (this.#items.length >= this.#dropAt) this.#drop();
    this.#items.push(item);
    return item;
  }

  add(item: LeftOutItem, bytes: number): void {
    this.files += 1;
    item.bytes += bytes;
  }

  weighLater(entry: LeftOutEntry): void {
    entry.item.isOpen = true;
    this.#unweighed.push(entry);
  }

  /** Directories whose size is still unknown. Holdfast's own ones come last, as they are left out by no rule of the person's. */
  unweighed(): readonly LeftOutEntry[] {
    const isOwn = ({ item }: LeftOutEntry): number => Number(item.reason === 'never');
    return this.#unweighed.toSorted((a, b) => isOwn(a) - isOwn(b));
  }

  largest(): readonly LeftOut[] {
    const items = this.#items.toSorted((a, b) => b.bytes - a.bytes).slice(0, MOST_SHOWN);
    return items.map(({ path, reason, rule }) => ({ path: pathText(path), reason, rule }));
  }

  /** Keeps the items whose size is not known yet and, of the others, the largest. */
  #drop(): void {
    const closed = this.#items.filter(({ isOpen }) => !isOpen).toSorted((a, b) => b.bytes - a.bytes);
    const dropped = new Set(closed.slice(MOST_SHOWN));
    if (dropped.size > 0) this.#items = this.#items.filter((item) => !dropped.has(item));
    this.#dropAt = Math.max(KEPT, 2 * this.#items.length);
  }
}

function ruleOf(decision: LeavingOut): Pick<LeftOut, 'reason' | 'rule'> {
  switch (decision.rule) {
    case 'pattern':
      // A pattern from a file has that file's absolute path; patterns of the settings have none.
      return {
        reason: decision.from.startsWith('/') ? 'ignore_file' : 'pattern',
        rule: decision.pattern,
      };
    case 'cache-directory':
      return { reason: 'cache', rule: nameOf(decision.tag) };
    case 'marker':
      return { reason: 'if_present', rule: nameOf(decision.marker) };
    case 'larger-than':
      return { reason: 'larger_than', rule: null };
    case 'other-file-system':
      return { reason: 'other_file_system', rule: null };
    case 'never':
      return { reason: 'never', rule: decision.reason };
  }
}

function nameOf(path: ByteString): string {
  return textOfBytes(path).replace(/^.*\//s, '');
}
