import type { Argon2Cost } from '../../codec/kdf.ts';
import type { SlotKind } from '../../format/keyring.ts';

/** A slot file as stored. */
export interface SlotFile {
  readonly repository: Buffer;
  readonly slot: string;
  readonly kind: SlotKind;
  readonly cost: (Argon2Cost & { readonly salt: Buffer }) | undefined;
  readonly label: string;
  readonly createdMs: number;
  readonly commit: Buffer;
  readonly nonce: Buffer;
  readonly public: Buffer;
  readonly ct: Buffer;
  /** What the ciphertext is bound to: every field of the file but itself, known or not. */
  readonly associated: Buffer;
}
