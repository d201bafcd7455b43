/**
 * Whether `syncfs` of a kernel tells of what could not be written: Linux does from 5.8 on (syncfs(2)); before, it returns
 * without an error where a disk failed, and `fsync` of each file has to be called instead.
 *
 * @param release as `os.release()` gives it, e.g. `6.1.0-18-amd64`
 */
export function syncfsTellsErrors(release: string): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(release) ?? [];
  const version = Number(major) * 1_000 + Number(minor);
  return version >= 5_008;
}
