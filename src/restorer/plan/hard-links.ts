import type { ByteString } from '../../base/byte-path.ts';
import { InodeNames } from '../../browse/inode-names.ts';
import type { Entry, FileEntry } from '../../format/tree.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import type { RecordHandle } from '../target/entry-records.ts';
import type { NamedGroup, NamedKind } from './named-entries.ts';
import { isRegular, type Standing } from '../request/standing.ts';
import type { Visit } from './visit.ts';

/** A name that a file is to get. */
export interface HardLink {
  readonly parent: RecordHandle;
  readonly name: ByteString;
  readonly size: number;
  readonly standing: Standing;
  readonly group: LinkGroup;
}

/** The names of one file. */
export interface LinkGroup {
  /** The name that has the content, or gets it; the others become links to it. */
  leader: RecordHandle | undefined;
  links: HardLink[];
  /** The first of these as it is in the snapshot, and its directory. */
  first: { readonly visit: Visit; readonly entry: FileEntry } | undefined;
  /** Something else stands under one of the names, and is left alone. */
  leftAlone: boolean;
}

/**
 * The files and links of a restore that have several names. Which name gets the content is decided when all have been seen:
 * one that stands as it is to be has it already.
 */
export class HardLinks {
  readonly groups: LinkGroup[] = [];
  readonly #files = new InodeNames<LinkGroup>();
  readonly #named = new InodeNames<NamedGroup>();

  static hasSeveralNames(entry: Entry): boolean {
    return InodeNames.hasSeveral(entry);
  }

  /** Undefined for a file of one name. */
  groupOf(entry: FileEntry): LinkGroup | undefined {
    if (!InodeNames.hasSeveral(entry)) return undefined;
    const known = this.#files.get(entry);
    if (known !== undefined) return known;
    const group: LinkGroup = { leader: undefined, links: [], first: undefined, leftAlone: false };
    this.#files.add(entry, group);
    this.groups.push(group);
    return group;
  }

  namedGroupOf(entry: NamedKind): NamedGroup | undefined {
    if (!InodeNames.hasSeveral(entry)) return undefined;
    const known = this.#named.get(entry);
    if (known !== undefined) return known;
    const group: NamedGroup = { made: undefined };
    this.#named.add(entry, group);
    return group;
  }
}

/** One more name of a file; the content of the first is kept without the buffer that it came in. */
export function addLink(group: LinkGroup, visit: Visit, entry: FileEntry, standing: Standing): void {
  const { name, size } = entry;
  group.links.push({ parent: visit.handle, name, size, standing, group });
  if (group.leader !== undefined || group.first !== undefined) return;
  group.first = { visit, entry: { ...entry, content: Buffer.from(entry.content) } };
}

/** Whether what stands is taken to be the file of the snapshot, as it is where only changes are restored. */
export function isTakenForSame(entry: FileEntry, found: EntryStat): boolean {
  return isRegular(found) && found.size === entry.size && found.mtimeNs === entry.mtimeNs;
}
