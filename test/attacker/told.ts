/** What a host remembers of others' records, and the storage hides from it. */
import { STATE_ROOT } from '../simulator/machine.ts';
import type { ObjectStorage } from '../simulator/storage.ts';
import type { QuickMachine } from './quick-machine.ts';
import type { Lies } from './storage-view.ts';
import { recordsIn } from './what-is-stored.ts';

interface Memory {
  readonly writer: string;
  readonly seq: number;
  readonly heads: Readonly<Record<string, { readonly seq: number }>>;
}

/** Of an identity: what tells the write-only key by whose powers it was made. */
const MARK = 16;

/** Keys of snapshots that are hidden, and that no tombstone covers which may have been shown. */
export function rememberedAndHidden(
  machine: QuickMachine,
  storage: ObjectStorage,
  lies: Lies,
  withoutKeysOf: readonly QuickMachine[],
): readonly string[] {
  const memory = memoryOf(machine);
  if (memory === undefined) return [];
  const marks = withoutKeysOf.flatMap((one) => memoryOf(one)?.writer.slice(0, MARK) ?? []);
  return recordsIn(storage)
    .filter(({ key, writer, seq }) => {
      if (marks.includes(writer.slice(0, MARK))) return false;
      if (!lies.hidden.has(key) || !key.startsWith('snapshots/')) return false;
      const known = writer === memory.writer ? memory.seq : (memory.heads[writer]?.seq ?? 0);
      return seq <= known;
    })
    .map(({ key }) => key);
}

function memoryOf(machine: QuickMachine): Memory | undefined {
  try {
    const directory = machine.state.directory(`${STATE_ROOT}/repositories`);
    const [file] = [...directory.entries].filter(([name]) => name.endsWith('.json')).map(([, node]) => node);
    return file?.kind === 'file' ? (JSON.parse(file.data.toString('utf8')) as Memory) : undefined;
  } catch {
    return undefined;
  }
}
