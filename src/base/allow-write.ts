/** How to let the service write to a directory: its unit denies that as if the disk were read-only. */
import { sudoHoldfast } from './holdfast-command.ts';
import { userName } from './user-name.ts';

/** The command that an administrator of the machine has to run. */
export function allowWriteCommand(directory: string): string {
  const name = userName();
  return name === 'holdfast'
    ? sudoHoldfast`service allow-write ${directory} --system`
    : sudoHoldfast`service allow-write ${directory} --for ${name}`;
}

/** Whether this process, or one that started it, was started by systemd. */
export function runsAsService(): boolean {
  return (process.env['INVOCATION_ID'] ?? '') !== '';
}
