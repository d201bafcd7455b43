import { ObjectKeys, type KeyMaterial } from '../../src/codec/keys.ts';

/** Keys whose new objects have given salts, one after the other: for bytes that are the same every time. */
export class FixedSaltKeys extends ObjectKeys {
  readonly #salts: Buffer[];

  constructor(material: KeyMaterial, salts: readonly Buffer[]) {
    super(material);
    this.#salts = [...salts];
  }

  override freshSalt(): Buffer {
    const salt = this.#salts.shift();
    if (salt === undefined) throw new Error('no salt is left');
    return salt;
  }
}
