/** Who this host is in a repository: the writer as which it adds, and the keys of what it stores. */
import { ObjectKeys } from '../codec/keys.ts';
import { writeOnlyMark } from '../codec/write-only.ts';
import type { Keyring } from '../format/keyring.ts';
import { WriterState } from './writer-state.ts';

/** Of a write-only key its own: the objects that it seals are accepted under no other writer. */
export async function openWriter(
  directory: string | undefined,
  { repository, grantedTo }: Keyring,
): Promise<WriterState> {
  const id = repository.toString('hex');
  if (grantedTo === undefined) return await WriterState.open(directory, id);
  const { writer } = writeOnlyMark(repository, grantedTo);
  return await WriterState.open(directory, `${id}.write-only-${grantedTo}`, writer);
}

export function objectKeysOf(keyring: Keyring, writer: WriterState): ObjectKeys {
  return new ObjectKeys({
    repository: keyring.repository,
    writer: Buffer.from(writer.memory.writer, 'hex'),
    idData: keyring.idData,
    idTree: keyring.idTree,
    idPlain: keyring.idPlain,
    cdc: keyring.cdc,
    generations: keyring.generations,
    writeOnly: keyring.grantedTo,
  });
}
