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
function isWriteOnlyKey(typed: string): boolean {
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

/** What a passphrase cannot contain, as nobody would see it in a file or could type it from paper. */
export interface PassphraseFault {
  /** Follows "The passphrase". */
  readonly what: string;
  readonly hint: string;
}

const ONE_LINE =
  'It must be the only line of a plain text file, in UTF-8. A variable has no line break at its end.';

/** Undefined for a passphrase that people can type. */
export function passphraseFault(text: string): PassphraseFault | undefined {
  const lines = text.replace(/[\r\n]+$/, '');
  if (/[\r\n]/.test(lines)) return { what: 'has more than one line', hint: ONE_LINE };
  if (lines !== text) return { what: 'ends with a line break', hint: ONE_LINE };
  if (/[\p{Cc}\u{FEFF}]/u.test(text)) return { what: 'contains an invisible character', hint: ONE_LINE };
  if (text.trim() !== text) return { what: 'begins or ends with a space', hint: 'Remove the space.' };
  return undefined;
}
