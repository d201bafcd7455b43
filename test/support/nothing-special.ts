/** Of the parts that a status is made of, those that have nothing to say. */
import type { StatusParts } from '../../src/daemon/health/status.ts';

export const NOTHING_SPECIAL: Pick<
  StatusParts,
  | 'home'
  | 'alarms'
  | 'isEmptyExpected'
  | 'scarceBytes'
  | 'measure'
  | 'sharesDisk'
  | 'onePlaces'
  | 'isOfSystem'
  | 'untestedSince'
  | 'hasEarlier'
> = {
  home: '/home/anna',
  alarms: () => [],
  isEmptyExpected: () => false,
  scarceBytes: () => null,
  measure: async () => await Promise.resolve(),
  sharesDisk: () => false,
  onePlaces: () => [],
  isOfSystem: () => false,
  untestedSince: () => null,
  hasEarlier: () => false,
};
