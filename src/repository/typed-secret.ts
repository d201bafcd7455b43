/** What somebody typed, as a secret that opens a repository. */
import { looksLikeRecoveryCode, parseRecoveryCode } from '../codec/recovery-code.ts';
import type { Secret } from './key-slots.ts';

/** A recovery code may be given wherever a passphrase is. @throws {RepositoryError} for a code with a typing mistake */
export function secretOf(typed: string): Secret {
  return looksLikeRecoveryCode(typed)
    ? { kind: 'recovery', secret: parseRecoveryCode(typed.trim()) }
    : { kind: 'passphrase', text: typed };
}
