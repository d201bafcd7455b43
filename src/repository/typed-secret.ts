/** What somebody typed, as a secret that opens a repository. */
import { looksLikeRecoveryCode, parseRecoveryCode } from '../codec/recovery-code.ts';
import type { Secret } from './key-slots.ts';

/** A recovery code may be given wherever a passphrase is. @throws {RepositoryError} for a code with a typing mistake */
export function secretOf(typed: string): Secret {
  return looksLikeRecoveryCode(typed)
    ? { kind: 'recovery', secret: parseRecoveryCode(typed.trim()) }
    : { kind: 'passphrase', text: typed };
}

/** What the agent opens a repository with, as it is handed from process to process. */
export type HandedSecret =
  | { readonly kind: 'passphrase'; readonly text: string }
  | { readonly kind: 'machine'; readonly base64: string };

/** The passphrase of the settings may be a recovery code too: on a new machine it is often all there is. */
export function secretHanded(secret: HandedSecret): Secret {
  return secret.kind === 'passphrase'
    ? secretOf(secret.text)
    : { kind: 'machine', secret: Buffer.from(secret.base64, 'base64') };
}
