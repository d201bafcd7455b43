/** What a restore leaves that is killed. */
import { chmodSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { asByteString, bytesOfText, textOfBytes } from '../../src/base/byte-path.ts';
import { UNFINISHED_FILE } from '../../src/restorer/target/target-directory.ts';
import { modeMark, runOf, temporaryName, unfinishedMark } from '../../src/restorer/target/temporary-names.ts';

interface Process {
  readonly pid: number;
  readonly start?: string | undefined;
}

/** No process has this number: it is above what Linux gives. */
export const DEAD: Process = { pid: 99_999_999 };

function runOfProcess({ pid, start = '1' }: Process): string {
  return runOf(`${pid}-${start}-0123456789ab`);
}

export function temporaryNameOf(owner: Process, serial: number): string {
  return temporaryName(runOfProcess(owner), serial);
}

/** Leaves a file as a restore does that is killed in the middle of changing it. */
export function leaveUnfinished(path: string): void {
  chmodSync(path, UNFINISHED_FILE);
  const mark = unfinishedMark(runOfProcess(DEAD), 3, bytesOfText(basename(path)));
  writeFileSync(join(dirname(path), textOfBytes(mark)), '');
}

/** Leaves a directory as a restore does that is killed after it has opened it to its owner. */
export function leaveLifted(path: string, mode: number): void {
  chmodSync(path, mode | 0o700);
  writeFileSync(join(path, asByteString(modeMark(runOfProcess(DEAD), 4, mode))), '');
}
