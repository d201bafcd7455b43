/** Of the parts that a status is made of, those that have nothing to say. */
import type { StatementParts } from '../../src/daemon/health/statements.ts';

export const NOTHING_SPECIAL: Pick<
  StatementParts,
  'home' | 'alarms' | 'scarceBytes' | 'sharesDisk' | 'onePlaces' | 'isOfSystem' | 'untestedSince'
> = {
  home: '/home/anna',
  alarms: () => [],
  scarceBytes: () => null,
  sharesDisk: () => false,
  onePlaces: () => [],
  isOfSystem: () => false,
  untestedSince: () => null,
};
