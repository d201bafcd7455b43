import { isLostObject, isUnreadObject } from '../../repository/objects/lost-object.ts';

/** When this many packs in a row cannot be read, the storage is taken to be at fault, not the packs. */
const TOO_MANY = 5;

/** Tells a damaged pack from a storage that is away, which may answer for each pack just as a disk does for a bad one. */
export class LostPacks {
  readonly #unread = new Set<string>();

  /** To be called when a pack could be read. */
  read(): void {
    this.#unread.clear();
  }

  /** Whether other packs may still be readable: then only the content of this one is lost, and the restore goes on. */
  isOnly(pack: string, error: unknown): error is Error {
    if (isUnreadObject(error)) this.#unread.add(pack);
    return isLostObject(error) && this.#unread.size < TOO_MANY;
  }
}
