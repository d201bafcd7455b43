/** The packs that are stored and can be opened, by their chunks. */
import { ID_BYTES } from '../../src/codec/hash.ts';
import type { IndexedPack } from '../../src/format/index-object.ts';
import { CIPHER_PLAIN } from '../../src/format/header.ts';

export class JudgedPacks {
  readonly #packs = new Map<string, IndexedPack>();
  /** Names of packs by the chunks that they hold. */
  readonly #holders = new Map<string, Set<string>>();

  get all(): readonly IndexedPack[] {
    return [...this.#packs.values()];
  }

  has(name: string): boolean {
    return this.#packs.has(name);
  }

  holdersOf(chunk: string): readonly string[] {
    return [...(this.#holders.get(chunk) ?? [])];
  }

  add(pack: IndexedPack): void {
    this.#packs.set(pack.name, pack);
    for (const id of idsOf(pack)) {
      const holders = this.#holders.get(id);
      if (holders === undefined) this.#holders.set(id, new Set([pack.name]));
      else holders.add(pack.name);
    }
  }

  remove(name: string): void {
    const pack = this.#packs.get(name);
    this.#packs.delete(name);
    for (const id of idsOf(pack)) this.#holders.get(id)?.delete(name);
  }

  /** Those under generations of keys that are gone nobody can open any more. */
  removeUnknown(knows: (generation: number) => boolean): void {
    for (const { name, cipher, generation } of this.all)
      if (cipher !== CIPHER_PLAIN && !knows(generation)) this.remove(name);
  }
}

function idsOf(pack: IndexedPack | undefined): string[] {
  if (pack === undefined) return [];
  const { ids, idBytes } = pack.directory;
  const found: string[] = [];
  for (let at = 0; at < ids.length; at += idBytes) found.push(ids.toString('latin1', at, at + ID_BYTES));
  return found;
}
