import { lstatSync } from 'node:fs';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { joinDeviceNumber, splitDeviceNumber } from '../../../src/system/device-number.ts';

it('takes device numbers apart as glibc makes them', () => {
  expect(splitDeviceNumber(0x103n, 'linux')).toEqual({ major: 1, minor: 3 });
  expect(splitDeviceNumber(0x1030_0002n, 'linux')).toEqual({ major: 0, minor: 0x1_0302 });
  expect(splitDeviceNumber(0x2009_abc3_45den, 'linux')).toEqual({ major: 0x2345, minor: 0x9a_bcde });
  // glibc's makedev(0x12345678, 0x9abcdef0)
  expect(splitDeviceNumber(0x12345_9abcde_678_f0n, 'linux')).toEqual({
    major: 0x12345678,
    minor: 0x9abcdef0,
  });
});

it('takes device numbers apart as macOS makes them, negative ones too', () => {
  expect(splitDeviceNumber(0x0300_0002n, 'darwin')).toEqual({ major: 3, minor: 2 });
  expect(splitDeviceNumber(BigInt(0x8700_0001 | 0), 'darwin')).toEqual({ major: 0x87, minor: 1 });
});

it('puts together what it took apart', () => {
  const number = (limit: number) => fc.integer({ min: 0, max: limit });
  const linux = fc.record({ major: number(0xffff_ffff), minor: number(0xffff_ffff) });
  fc.assert(
    fc.property(linux, (device) => {
      expect(splitDeviceNumber(joinDeviceNumber(device, 'linux'), 'linux')).toEqual(device);
    }),
  );
  const darwin = fc.record({ major: number(0xff), minor: number(0xff_ffff) });
  fc.assert(
    fc.property(darwin, (device) => {
      expect(splitDeviceNumber(joinDeviceNumber(device, 'darwin'), 'darwin')).toEqual(device);
    }),
  );
});

it('refuses numbers that do not fit', () => {
  for (const major of [-1, 1.5, 2 ** 32, Number.NaN]) {
    expect(() => joinDeviceNumber({ major, minor: 0 }, 'linux')).toThrow(RangeError);
  }
  expect(() => joinDeviceNumber({ major: 0x100, minor: 0 }, 'darwin')).toThrow(RangeError);
  expect(() => joinDeviceNumber({ major: 0, minor: 0x100_0000 }, 'darwin')).toThrow(RangeError);
});

it('knows /dev/null of Linux', ({ skip }) => {
  skip(process.platform !== 'linux', 'only Linux gives it the same number everywhere');
  expect(splitDeviceNumber(lstatSync('/dev/null', { bigint: true }).rdev)).toEqual({ major: 1, minor: 3 });
});
