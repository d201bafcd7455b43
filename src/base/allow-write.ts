/** How the agent, where it is a service, is let write to a directory: its unit refuses that as if the disk were read-only. */
import { sudoHoldfast } from './holdfast-command.ts';
import { userName } from './user-name.ts';

/** The command for whoever administers the machine. */
export function allowWriteCommand(directory: string): string {
  const name = userName();
  return name === 'holdfast'
    ? sudoHoldfast`service allow-write ${directory} --system`
    : sudoHoldfast`service allow-write ${directory} --for ${name}`;
}

/** Whether systemd started this process, or the one that started it. */
export function runsAsService(): boolean {
  return (process.env['INVOCATION_ID'] ?? '') !== '';
}
