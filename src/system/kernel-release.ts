/**
 * Whether a kernel is a given version or a newer one, by what it calls its release: `5.8.0-63-generic`, `6.1`. False for a
 * release that is no version. What a distribution has taken over into an older kernel does not show in it.
 */
export function isKernelFrom(release: string, major: number, minor: number): boolean {
  const [, ofMajor, ofMinor] = /^(\d+)\.(\d+)/.exec(release) ?? [];
  if (ofMajor === undefined || ofMinor === undefined) return false;
  return Number(ofMajor) > major || (Number(ofMajor) === major && Number(ofMinor) >= minor);
}
