/** Programs that install or prepare a server. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ServerUnavailable } from './unavailable.ts';

/** @throws {ServerUnavailable} with the end of what it printed, also when there is no such program */
export async function runCommand(
  command: string,
  parameters: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv; readonly timeoutMs?: number } = {},
): Promise<string> {
  const child = spawn(command, parameters, {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: options.timeoutMs ?? 600_000,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  let printed = '';
  let complaints = '';
  child.stdout.on('data', (bytes: Buffer) => (printed += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => (complaints += bytes.toString()));
  const failed = once(child, 'error').then(([error]: unknown[]) => error);
  const ended = once(child, 'close').then(([code]: unknown[]) => code);
  const outcome = await Promise.race([failed, ended]);
  if (outcome === 0) return printed;
  const why = outcome instanceof Error ? outcome.message : `${complaints}${printed}`.trim().slice(-1_000);
  throw new ServerUnavailable(`${command} ${parameters.slice(0, 3).join(' ')} failed: ${why}`);
}
