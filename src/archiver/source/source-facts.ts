/** What the walker needs of an entry. */
export interface SourceStat {
  readonly mode: number;
  readonly nlink: number;
  readonly uid: number;
  readonly gid: number;
  readonly size: number;
  readonly blocks: number;
  readonly dev: bigint;
  readonly ino: bigint;
  readonly mtimeNs: bigint;
  readonly ctimeNs: bigint;
  readonly rdevMajor: number;
  readonly rdevMinor: number;
}
