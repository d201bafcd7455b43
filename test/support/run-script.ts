/** Node processes that run a few lines of a test: as another user, or to be killed. */

import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SOURCE_FLAGS } from './node-flags.ts';

export interface ScriptOptions {
  readonly args?: readonly string[];
  /** Run as this user and group; only root may. */
  readonly uid?: number;
}

/** The file URL of a module below the project's root, for `import` in a script. */
export function moduleUrl(path: string): string {
  return new URL(`../../${path}`, import.meta.url).href;
}

/** Starts a script, which finds its arguments from `process.argv[2]` on. */
export function startScript(script: string, { args = [], uid }: ScriptOptions = {}): ChildProcess {
  // A file, since worker threads inherit the options that a script on the command line needs.
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-script-'));
  const file = join(directory, 'script.mjs');
  writeFileSync(file, script);
  chmodSync(directory, 0o755);
  const child = spawn(process.execPath, [...SOURCE_FLAGS, file, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  child.on('close', () => rmSync(directory, { recursive: true }));
  return child;
}

/** Runs a script to its end and returns what it printed. @throws when it fails */
export async function runScript(script: string, options: ScriptOptions = {}): Promise<string> {
  const child = startScript(script, options);
  let output = '';
  child.stdout?.setEncoding('utf8');
  child.stdout?.on('data', (text: string) => {
    output += text;
  });
  const code = await new Promise<number | string>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode, signal) => resolve(exitCode ?? signal ?? 'no exit code'));
  });
  if (code !== 0) throw new Error(`the script ended with ${code}: ${output}`);
  return output;
}
