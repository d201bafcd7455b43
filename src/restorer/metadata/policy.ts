import { ownerNames, type OwnerNames } from '../../system/owner-names.ts';
import { mayDoAsRoot } from '../../system/privileges.ts';
import type { MetadataPolicy } from './metadata.ts';
import type { RestoreRequest } from '../request/request.ts';

type Wishes = Pick<RestoreRequest, 'restoreOwnership' | 'ownersByName' | 'snapshot'>;

/** Determines which owners and privileges this process can restore. */
export function metadataPolicy({ restoreOwnership, ownersByName, snapshot }: Wishes): MetadataPolicy {
  const uid = process.geteuid?.() ?? 0;
  const gid = process.getegid?.() ?? 0;
  const privileged = restoreOwnership && mayDoAsRoot();
  const { users, groups } = snapshot.record.owners;
  const names = privileged && ownersByName ? ownerNames() : undefined;
  return {
    privileged,
    unprivilegedBecause: restoreOwnership
      ? 'only root may set it'
      : 'it is only restored when ownership is asked for, by root',
    uid,
    gid,
    users: names === undefined ? new Map() : idsByName(users, (name) => names.userId(name)),
    groups: names === undefined ? new Map() : idsByName(groups, (name) => names.groupId(name)),
  };
}

/** Maps numbers in the snapshot to numbers on this machine, for the names that this machine knows. */
function idsByName(table: Readonly<Record<string, string>>, idOf: OwnerNames['userId']): Map<number, number> {
  const ids = new Map<number, number>();
  for (const [id, name] of Object.entries(table)) {
    const here = idOf(name);
    if (here !== undefined) ids.set(Number(id), here);
  }
  return ids;
}
