/** What the product promises, as far as a simulation can look at it. */

export type Promised =
  /** Whatever a committed snapshot references exists and opens, and says what the source said. */
  | 'snapshot-whole'
  /** No two objects were sealed under one key and nonce. */
  | 'salt-unique'
  /** Two records of one writer never have one number, unless its machine was cloned; then a check says so. */
  | 'no-silent-fork'
  /** Prune marks nothing that a snapshot needs, nor what a backup at work may be about to need. */
  | 'mark-only-unneeded'
  /** Nothing is deleted that was not marked for the grace period, whatever a clock says. */
  | 'grace-waited'
  /** A snapshot relies on no pack that carried a mark when its run looked for the last time. */
  | 'commit-unmarked'
  /** Retention leaves the newest complete snapshot of everything that is backed up. */
  | 'last-complete-kept'
  /** A backup that says it is completed has its snapshot stored, whole. */
  | 'completed-restorable'
  /** Nothing fails in a way that the faults do not explain. */
  | 'no-false-alarm'
  /** Everything comes to its end. */
  | 'no-hang'
  /** Once the faults are over a check finds nothing, the next backup succeeds, and prune takes what nobody needs. */
  | 'sound-afterwards';

export class Violation extends Error {
  override readonly name = 'Violation';
  readonly promise: Promised;

  constructor(promise: Promised, what: string, cause?: unknown) {
    super(`${promise}: ${what}`, cause === undefined ? undefined : { cause });
    this.promise = promise;
  }
}
