/**
 * The checks that the running agent makes of itself. Checks that are slow or better made from outside are left to
 * `holdfast doctor`.
 */
import { join } from 'node:path';
import { holdfast } from '../../base/holdfast-command.ts';
import type { Clock } from '../../base/clock.ts';
import { agentLogPath } from '../state/agent-log-end.ts';
import { guarded, type Finding } from './finding.ts';
import { checkClock, checkRecoveryKit, checkRuntime, checkSpace } from './machine.ts';
import { checkRunningVersion } from './versions.ts';

/** What these findings do not cover, in words for their reader. */
export const notExamined = (): string =>
  `The agent checked what it can see itself. To check native modules, repositories and watch limits as well, run: ${holdfast`doctor`}`;

export interface Examined {
  readonly stateDirectory: string;
  /** Of the default destination; undefined when it is not on this machine. */
  readonly destinationDirectory: string | undefined;
  /** Destinations that the recovery kit does not open. */
  readonly notByKit: readonly string[];
  readonly clock: Clock;
  /** The version that runs. */
  readonly version: string;
}

export async function examineAgent({
  stateDirectory,
  destinationDirectory,
  notByKit,
  clock,
  version,
}: Examined): Promise<readonly Finding[]> {
  const at = (name: string): string => join(stateDirectory, name);
  const witnesses = [at('machine.key'), at('state.db'), agentLogPath(stateDirectory)];
  return [
    checkRuntime(process.versions.node),
    checkRunningVersion(version),
    await guarded('disk space', async () => await checkSpace('disk space', stateDirectory)),
    ...(destinationDirectory === undefined
      ? []
      : [
          await guarded('destination space', async () => {
            return await checkSpace('destination space', destinationDirectory);
          }),
        ]),
    await guarded('recovery kit', async () => await checkRecoveryKit(at('recovery-kit.txt'), notByKit)),
    await guarded('clock', async () => await checkClock(clock.now(), witnesses)),
  ];
}
