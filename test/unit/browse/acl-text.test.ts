import { describe, expect, it } from 'vitest';
import { aclText } from '../../../src/browse/tar-header.ts';

describe('aclText', () => {
  it('writes owner, named users and groups, mask and others in short form', () => {
    const value = Buffer.from(
      '02000000' +
        '01000700ffffffff' +
        '02000400e3bd0000' +
        '04000500ffffffff' +
        '08000600feff0000' +
        '10000600ffffffff' +
        '20000000ffffffff',
      'hex',
    );

    expect(aclText(value)).toBe('user::rwx,user:48611:r--,group::r-x,group:65534:rw-,mask::rw-,other::---');
  });

  it.each([
    ['an unknown version', '03000000'],
    ['a length that does not come out', '0200000001000700ffff'],
    ['an unknown tag', '0200000003000700ffffffff'],
    ['rights that do not exist', '0200000001000800ffffffff'],
    ['nothing at all', ''],
  ])('does not guess at %s', (_, hex) => {
    expect(aclText(Buffer.from(hex, 'hex'))).toBeUndefined();
  });
});
