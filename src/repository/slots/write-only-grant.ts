/** Computes what a write-only key is granted of a keyring, and the restricted keyring that it makes of that. */
import { BugError } from '../../base/errors.ts';
import { saltedKey, typeKey } from '../../codec/keys.ts';
import { sealerKey, sealingPair, writeOnlyMark } from '../../codec/write-only.ts';
import type { Grant } from '../../format/grant.ts';
import type { Keyring } from '../../format/keyring.ts';

/**
 * The grant for a write-only key. It has no root key: its holder can seal, take part in leases, and see tombstones and
 * the configuration. Its chunk ids are in a namespace of their own, so that they reveal nothing about what others have
 * stored.
 */
export function grantFor(ring: Keyring, number: number): Grant {
  const { salt } = writeOnlyMark(ring.repository, number);
  const current = ring.generations.find(({ state }) => state === 'current');
  if (current === undefined)
    throw new BugError('A keyring without current generation was to be granted from');
  return {
    repository: ring.repository,
    number,
    idData: saltedKey(ring.idData, salt),
    idTree: saltedKey(ring.idTree, salt),
    cdc: saltedKey(ring.cdc, salt),
    adminPublic: ring.adminPublic,
    generations: ring.generations.map(({ g, key }) => ({
      g,
      config: typeKey(key, 'config'),
      tomb: typeKey(key, 'tomb'),
      lease: typeKey(key, 'lease'),
    })),
    current: {
      g: current.g,
      public: sealingPair(current.key).public,
      sealer: sealerKey(current.key, number),
    },
    minFormat: ring.minFormat,
  };
}

export function keyringOfGrant(grant: Grant): Keyring {
  const none = Buffer.alloc(0);
  const { current } = grant;
  return {
    repository: grant.repository,
    idData: grant.idData,
    idTree: grant.idTree,
    idPlain: none,
    cdc: grant.cdc,
    admin: undefined,
    adminPublic: grant.adminPublic,
    generations: grant.generations.map(({ g, config, tomb, lease }) => ({
      g,
      key: none,
      state: g === current.g ? ('current' as const) : ('old' as const),
      granted: {
        config,
        tomb,
        lease,
        sealing: g === current.g ? { public: current.public, sealer: current.sealer } : undefined,
      },
    })),
    minFormat: grant.minFormat,
    slots: [],
    grantedTo: grant.number,
  };
}
