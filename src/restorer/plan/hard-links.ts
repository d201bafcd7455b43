import type { ByteString } from '../../base/byte-path.ts';
import { InodeNames } from '../../browse/inode-names.ts';
import type { Entry, FileEntry } from '../../format/tree.ts';
import type { EntryStat } from '../../system/entry-stat.ts';
import type { RecordHandle } from '../target/entry-records.ts';
import type { NamedGroup, NamedKind } from './named-entries.ts';
import { isRegular, type Standing } from '../request/standing.ts';
import type { Visit } from './visit.ts';

/** A further name that a file is to get. */
export interface HardLink {
  readonly parent: RecordHandle;
  readonly name: ByteString;
  readonly size: number;
  readonly standing: Standing;
  readonly group: LinkGroup;
}

/** The names of one file. */
export interface LinkGroup {
  /** The name that has or gets the content; the others become links to it. */
  leader: RecordHandle | undefined;
  links: HardLink[];
  /** The first of these links, as the snapshot has it, and its directory. */
  first: { readonly visit: Visit; readonly entry: FileEntry } | undefined;
  /** Another entry has one of the names in the target, and is left alone. */
  leftAlone: boolean;
}

/**
 * The files and links of a restore that have several names. Which name gets the content is decided when all have been
 * seen, as one that already exists as the snapshot has it needs no content.
 */
export class HardLinks {
  readonly groups: LinkGroup[] = [];
  readonly #files = new InodeNames<LinkGroup>();
  readonly #named = new InodeNames<NamedGroup>();

  static hasSeveralNames(entry: Entry): boolean {
    return InodeNames.hasSeveral(entry);
  }

  /** Undefined for a file with one name. */
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

/** Adds a name of a file. The chunk ids of the first are copied, so that the buffer they came in can be freed. */
export function addLink(group: LinkGroup, visit: Visit, entry: FileEntry, standing: Standing): void {
  const { name, size } = entry;
  group.links.push({ parent: visit.handle, name, size, standing, group });
  if (group.leader !== undefined || group.first !== undefined) return;
  group.first = { visit, entry: { ...entry, content: Buffer.from(entry.content) } };
}

/** Whether the existing entry is taken to be the snapshot's file, by the test of the mode that restores only changes. */
export function isTakenForSame(entry: FileEntry, found: EntryStat): boolean {
  return isRegular(found) && found.size === entry.size && found.mtimeNs === entry.mtimeNs;
}
