/** Turns typed text into a secret that opens a repository. */
import { formatRecoveryCode, looksLikeRecoveryCode, parseRecoveryCode } from '../../codec/recovery-code.ts';
import type { Secret } from './key-slots.ts';

/** Prefix of the text of a write-only key. */
const WRITE_ONLY = 'holdfast-write-only:';

/** The text of a write-only key, as the single line of a key file. */
export function writeOnlyKeyText(secret: Buffer): string {
  return `${WRITE_ONLY}${formatRecoveryCode(secret)}`;
}

/** Whether the text given as a passphrase is a write-only key. */
export function isWriteOnlyKey(typed: string): boolean {
  return typed.trim().startsWith(WRITE_ONLY);
}

/** Whether the text counts as a recovery code or a write-only key, mistyped ones included, and never as a passphrase. */
export function isKeyText(typed: string): boolean {
  return isWriteOnlyKey(typed) || looksLikeRecoveryCode(typed);
}

/** The secret for typed text. A recovery code or the text of a write-only key is accepted wherever a passphrase is. */
export function secretOf(typed: string): Secret {
  const text = typed.trim();
  if (isWriteOnlyKey(typed))
    return { kind: 'write-only', secret: parseRecoveryCode(text.slice(WRITE_ONLY.length)) };
  return looksLikeRecoveryCode(typed)
    ? { kind: 'recovery', secret: parseRecoveryCode(text) }
    : { kind: 'passphrase', text: typed };
}

/** The agent's secret for a repository, as it is passed between processes. */
export type HandedSecret =
  | {
      readonly kind: 'passphrase';
      readonly text: string;
      /** If a repository is made with this secret, the recovery code opens it, too: both are on the recovery kit. */
      readonly recoveryCode?: string;
    }
  | { readonly kind: 'machine'; readonly base64: string };

/** The passphrase in the settings may also be a recovery code: on a new machine that is often all there is. */
export function secretHanded(secret: HandedSecret): Secret {
  return secret.kind === 'passphrase'
    ? secretOf(secret.text)
    : { kind: 'machine', secret: Buffer.from(secret.base64, 'base64') };
}
