/** Of the parts that a status is made of, those that have nothing to say. */
import type { StatusParts } from '../../src/daemon/health/status.ts';

export const NOTHING_SPECIAL: Pick<
  StatusParts,
  | 'home'
  | 'alarms'
  | 'isEmptyExpected'
  | 'scarceBytes'
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
  sharesDisk: () => false,
  onePlaces: () => [],
  isOfSystem: () => false,
  untestedSince: () => null,
  hasEarlier: () => false,
};
