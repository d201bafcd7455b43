/** Why something may fail while somebody attacks: what docs/security.md says of it, and nothing else. */
import { HoldfastError } from '../../src/base/errors.ts';
import type { Deed } from './plan.ts';
import { ownsStorage, type Power } from './powers.ts';

export interface AttackFacts {
  readonly power: Power;
  readonly planted: ReadonlySet<string>;
  readonly lied: boolean;
  readonly spoiled: boolean;
  readonly keyRemoved: boolean;
}

export function isExcused(what: Deed, error: unknown, facts: AttackFacts): string | undefined {
  if (!(error instanceof HoldfastError) || error.side === 'bug') return undefined;
  const { code } = error;
  // A reply that was lost may have been that of the removal.
  if (what === 'remove-key' && code === 'REFUSED' && (facts.keyRemoved || facts.power === 'network'))
    return 'removed before';
  if (facts.power === 'network')
    return code.startsWith('DESTINATION_') || isAfterCut(code) ? code : undefined;
  // It says that it goes on no further: what it must not do is to go on wrongly.
  if (ownsStorage(facts.power) && (facts.lied || facts.spoiled)) return code;
  if (code === 'CORRUPT_DATA' && DELETING.has(what) && holdsUp(facts)) return 'held up by what was planted';
  if (code === 'REPOSITORY_LOCKED' && facts.planted.has('lease-again'))
    return 'a lease of a few minutes ago, again';
  return undefined;
}

const DELETING: ReadonlySet<Deed> = new Set(['prune', 'retention', 'rekey']);

function holdsUp({ planted, keyRemoved }: AttackFacts): boolean {
  if (planted.has('garbage-snapshot') || planted.has('garbage-head')) return true;
  // A record that only a removed key tells of stops them until it is given up.
  return keyRemoved && (planted.has('snapshot') || planted.has('head'));
}

/** Somebody whose connection was cut may have left its lease. */
function isAfterCut(code: string): boolean {
  return code === 'REPOSITORY_LOCKED';
}
