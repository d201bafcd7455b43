import { isLostObject, isUnreadObject } from '../../repository/objects/lost-object.ts';

/** So many packs that cannot be read, one after the other, are not the fault of the packs. */
const TOO_MANY = 5;

/** Tells what a pack has lost from a storage that is away, which may say the same of each pack as a disk says of a bad one. */
export class LostPacks {
  readonly #unread = new Set<string>();

  /** One could be read. */
  read(): void {
    this.#unread.clear();
  }

  /** Whether others may still be readable: then what lies in this one is lost, and the restore goes on. */
  isOnly(pack: string, error: unknown): error is Error {
    if (isUnreadObject(error)) this.#unread.add(pack);
    return isLostObject(error) && this.#unread.size < TOO_MANY;
  }
}
