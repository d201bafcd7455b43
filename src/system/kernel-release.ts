/**
 * Whether a kernel release such as `5.8.0-63-generic` or `6.1` is of the given version or newer. False for a release
 * that is no version. Features that a distribution has backported to an older kernel do not show in it.
 */
export function isKernelFrom(release: string, major: number, minor: number): boolean {
  const [, ofMajor, ofMinor] = /^(\d+)\.(\d+)/.exec(release) ?? [];
  if (ofMajor === undefined || ofMinor === undefined) return false;
  return Number(ofMajor) > major || (Number(ofMajor) === major && Number(ofMinor) >= minor);
}
