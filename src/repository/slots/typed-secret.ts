/** What somebody typed, as a secret that opens a repository. */
import { formatRecoveryCode, looksLikeRecoveryCode, parseRecoveryCode } from '../../codec/recovery-code.ts';
import type { Secret } from './key-slots.ts';

/** What the text of a write-only key begins with. */
const WRITE_ONLY = 'holdfast-write-only:';

/** The one line of a key file. */
export function writeOnlyKeyText(secret: Buffer): string {
  return `${WRITE_ONLY}${formatRecoveryCode(secret)}`;
}

/** Whether what was given for a passphrase is a write-only key. */
export function isWriteOnlyKey(typed: string): boolean {
  return typed.trim().startsWith(WRITE_ONLY);
}

/** Whether it is taken for a recovery code or a write-only key, mistyped ones included, and never for a passphrase. */
export function isKeyText(typed: string): boolean {
  return isWriteOnlyKey(typed) || looksLikeRecoveryCode(typed);
}

/**
 * A recovery code or the text of a write-only key may be given wherever a passphrase is.
 * @throws {RepositoryError} for a code with a typing mistake
 */
export function secretOf(typed: string): Secret {
  const text = typed.trim();
  if (isWriteOnlyKey(typed))
    return { kind: 'write-only', secret: parseRecoveryCode(text.slice(WRITE_ONLY.length)) };
  return looksLikeRecoveryCode(typed)
    ? { kind: 'recovery', secret: parseRecoveryCode(text) }
    : { kind: 'passphrase', text: typed };
}

/** What the agent opens a repository with, as it is handed from process to process. */
export type HandedSecret =
  | {
      readonly kind: 'passphrase';
      readonly text: string;
      /** Opens a repository that is made with it, too: both are on the recovery kit. */
      readonly recoveryCode?: string;
    }
  | { readonly kind: 'machine'; readonly base64: string };

/** The passphrase of the settings may be a recovery code too: on a new machine it is often all there is. */
export function secretHanded(secret: HandedSecret): Secret {
  return secret.kind === 'passphrase'
    ? secretOf(secret.text)
    : { kind: 'machine', secret: Buffer.from(secret.base64, 'base64') };
}
