/** This host's identity in a repository: its writer, and the keys for what it stores. */
import { ObjectKeys } from '../codec/keys.ts';
import { writeOnlyMark } from '../codec/write-only.ts';
import type { Keyring } from '../format/keyring.ts';
import { WriterState } from './writer-state.ts';

/**
 * Opens this host's writer. A write-only key has a writer of its own, since objects that it seals are accepted under no
 * other.
 */
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
