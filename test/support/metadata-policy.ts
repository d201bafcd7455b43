import type { MetadataPolicy } from '../../src/restorer/metadata/metadata.ts';

/** Of a restore that may not give files to others, and has no owners to look up. */
export const ORDINARY_POLICY: MetadataPolicy = {
  privileged: false,
  unprivilegedBecause: 'this is a test',
  uid: 0,
  gid: 0,
  users: new Map(),
  groups: new Map(),
};
