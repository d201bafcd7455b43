import type { ByteString } from '../base/byte-path.ts';
import { ByteWriter, encodeBranch, encodeEntry, encodeLeaf } from './tree-encode.ts';
import type { BranchChild, Entry } from './tree.ts';

/** Parameters for splitting directories (docs/repository-format.md, section 6): 1,024 entries per leaf on average. */
const SPLIT = { minEntries: 512, maxEntries: 4_096, maxLeafBytes: 1_048_576, mask: 0x1ff } as const;

function endsGroup(name: ByteString, count: number): boolean {
  if (count >= SPLIT.maxEntries) return true;
  if (count < SPLIT.minEntries) return false;
  let hash = 0x811c_9dc5;
  for (let i = 0; i < name.length; i += 1) hash = Math.imul(hash ^ name.charCodeAt(i), 0x0100_0193);
  return (hash & SPLIT.mask) === 0;
}

/**
 * Turns the sorted entries of a directory into tree chunks and returns the id of the chunk that represents the
 * directory. A new entry changes only its leaf and the branches above it.
 *
 * @param store keeps one chunk and returns its id; called for children first
 */
export function encodeDirectory(entries: Iterable<Entry>, store: (chunk: Buffer) => Buffer): Buffer {
  const out = new ByteWriter(16_384);
  const leaves: BranchChild[] = [];
  let count = 0;
  let firstName: ByteString | undefined;
  const flush = (): void => {
    leaves.push({ firstName: firstName ?? ('' as ByteString), id: store(encodeLeaf(count, out.view())) });
    out.reset();
    count = 0;
    firstName = undefined;
  };
  for (const entry of entries) {
    firstName ??= entry.name;
    encodeEntry(out, entry);
    count += 1;
    if (endsGroup(entry.name, count) || out.length >= SPLIT.maxLeafBytes) flush();
  }
  if (count > 0 || leaves.length === 0) flush();
  return joinLevels(leaves, store);
}

function joinLevels(leaves: readonly BranchChild[], store: (chunk: Buffer) => Buffer): Buffer {
  let level = 1;
  let nodes = leaves;
  for (;;) {
    const only = nodes[0];
    if (nodes.length === 1 && only !== undefined) return only.id;
    const parents: BranchChild[] = [];
    let group: BranchChild[] = [];
    const flush = (): void => {
      const first = group[0];
      if (first === undefined) return;
      parents.push({ firstName: first.firstName, id: store(encodeBranch(level, group)) });
      group = [];
    };
    for (const node of nodes) {
      group.push(node);
      if (endsGroup(node.firstName, group.length)) flush();
    }
    flush();
    nodes = parents;
    level += 1;
  }
}
