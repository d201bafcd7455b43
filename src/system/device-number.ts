/** Splits device numbers (`rdev`, `dev`) into major and minor, and joins them, in the form of each system. */

export interface DeviceNumber {
  readonly major: number;
  readonly minor: number;
}

export type DeviceNumberForm = 'linux' | 'darwin';

/** The form of this system. Windows has no device files; its numbers are split like those of Linux. */
const deviceNumberForm: DeviceNumberForm = process.platform === 'darwin' ? 'darwin' : 'linux';

/**
 * Linux spreads 32 + 32 bits over 64 (minor's low 8, major's low 12, minor's other 24, major's other 20, from the low
 * end); macOS has 8 + 24 bits in a signed 32-bit number.
 */
export function splitDeviceNumber(rdev: bigint, form: DeviceNumberForm = deviceNumberForm): DeviceNumber {
  if (form === 'darwin') return { major: Number((rdev >> 24n) & 0xffn), minor: Number(rdev & 0xff_ffffn) };
  return {
    major: Number(((rdev >> 8n) & 0xfffn) | ((rdev >> 32n) & 0xffff_f000n)),
    minor: Number((rdev & 0xffn) | ((rdev >> 12n) & 0xffff_ff00n)),
  };
}

/** Throws a RangeError when the numbers do not fit the form. The result is never negative. */
export function joinDeviceNumber(
  { major, minor }: DeviceNumber,
  form: DeviceNumberForm = deviceNumberForm,
): bigint {
  const [majorLimit, minorLimit] = form === 'darwin' ? [0xff, 0xff_ffff] : [0xffff_ffff, 0xffff_ffff];
  if (!isBetween(major, majorLimit) || !isBetween(minor, minorLimit)) {
    throw new RangeError(`device ${major}:${minor} does not exist on ${form}`);
  }
  const [high, low] = [BigInt(major), BigInt(minor)];
  if (form === 'darwin') return (high << 24n) | low;
  return (
    ((high & 0xffff_f000n) << 32n) | ((low & 0xffff_ff00n) << 12n) | ((high & 0xfffn) << 8n) | (low & 0xffn)
  );
}

function isBetween(value: number, limit: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= limit;
}
