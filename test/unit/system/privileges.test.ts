import { expect, test } from 'vitest';
import { isRootOfSystem } from '../../../src/system/privileges.ts';

const ALL = '000001ffffffffff';
const statusOf = (effective: string): string =>
  `Name:\tnode\nCapPrm:\t${ALL}\nCapEff:\t${effective}\nSeccomp:\t0\n`;
const SYSTEM = '         0          0 4294967295\n';

test.each([
  ['root with all capabilities', ALL, SYSTEM, true],
  ['root of a container, without CAP_SYS_ADMIN', '00000000a80425fb', SYSTEM, false],
  ['root with all but that', '000001ffffdfffff', SYSTEM, false],
  ['root with that alone', '0000000000200000', SYSTEM, true],
  ['root of a user namespace', ALL, '         0       1000          1\n', false],
  ['root of a user namespace of several users', ALL, '         0     100000      65536\n', false],
])('%s', (_, effective, users, isRoot) => {
  expect(isRootOfSystem(statusOf(effective), users)).toBe(isRoot);
});

test('who does not know any capabilities is taken for one that has them', () => {
  expect(isRootOfSystem('Name:\tnode\n', SYSTEM)).toBe(true);
});
