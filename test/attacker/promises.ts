/** What an attack must not do to those who are honest. */

export type Withstood =
  /** Of full keys, `latest` and everything else that counts as theirs is what they stored, byte for byte. */
  | 'only-what-was-agreed'
  /** What a live snapshot of an honest host needs is never deleted by one of them, nor the snapshot itself. */
  | 'nothing-lost'
  /** Without the storage's help nobody keeps honest hosts from what they do, but where docs/security.md says so. */
  | 'goes-on'
  /** Once the key is removed and what docs/security.md says was done, everything works again. */
  | 'usable-afterwards'
  /** What is hidden from a host that remembers it is told. */
  | 'told'
  /** No call costs more than what is stored explains. */
  | 'bounded';

export class Broken extends Error {
  override readonly name = 'Broken';
  readonly promise: Withstood;

  constructor(promise: Withstood, what: string, cause?: unknown) {
    super(`${promise}: ${what}`, cause === undefined ? undefined : { cause });
    this.promise = promise;
  }
}
