/** How a section of the torture tree makes its entries and reports what the platform refused. */

import type { ByteString } from '../../src/base/byte-path.ts';

/** Says that an entry cannot exist here in the way it was asked for. */
export class NotAllowedHere extends Error {
  override readonly name = 'NotAllowedHere';
}

/** Where one section of the tree is made, and how it reports. */
export interface TortureSite {
  /** The section's own directory. */
  readonly directory: ByteString;
  /**
   * Makes one thing. A system error or `NotAllowedHere` is recorded as a refusal; anything else is a mistake and thrown.
   * Returns whether it was made.
   */
  readonly make: (name: ByteString, what: string, action: (path: ByteString) => void) => boolean;
}
