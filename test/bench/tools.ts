/** The tools that are compared: how each is found, and its command lines with its own normal, safe settings. */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Command } from './timed-run.ts';

export const toolNames = ['holdfast', 'restic', 'borg'] as const;
export type ToolName = (typeof toolNames)[number];

/** Where a tool keeps things during one round. */
export interface ToolHome {
  readonly repository: string;
  /** Caches and local state. */
  readonly state: string;
}

export interface Tool {
  readonly name: ToolName;
  /** As the tool says itself. */
  readonly version: string;
  readonly init: (home: ToolHome) => Command;
  readonly backup: (home: ToolHome, source: string, label: string) => Command;
  /** Restores the backup `label` so that the absolute source path stands below `target`. */
  readonly restore: (home: ToolHome, label: string, target: string) => Command;
  /** Reads and verifies all stored data. */
  readonly check: (home: ToolHome) => Command;
}

const passphrase = 'correct horse battery staple';
const root = process.getuid?.() === 0;

/** Why a tool cannot be used. */
interface Missing {
  readonly missing: string;
}

export function findTool(name: ToolName, holdfastEntry: string): Tool | Missing {
  const finders: Readonly<Record<ToolName, () => Tool | Missing>> = {
    holdfast: () => findHoldfast(holdfastEntry),
    restic: findRestic,
    borg: findBorg,
  };
  return finders[name]();
}

/** First line of what the program prints, or undefined when it does not run. */
function firstLine(program: string, parameters: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync(program, parameters, { encoding: 'utf8', timeout: 60_000 });
  return status === 0 ? stdout.trim().split('\n')[0] : undefined;
}

function findHoldfast(entry: string): Tool | Missing {
  if (!existsSync(entry)) return { missing: `${path.basename(entry)} is not built` };
  const version = firstLine(process.execPath, [entry, '--version']);
  if (version === undefined) return { missing: `${path.basename(entry)} --version fails` };
  const command = (home: ToolHome, ...parameters: readonly string[]): Command => ({
    program: process.execPath,
    parameters: [entry, ...parameters],
    environment: { HOLDFAST_PASSWORD: passphrase, HOLDFAST_STATE_DIR: home.state },
    success: [0],
  });
  const ownership = root ? ['--restore-ownership'] : [];
  return {
    name: 'holdfast',
    version: `holdfast ${version.replace(/^holdfast\s*/, '')}, node ${process.versions.node}`,
    init: (home) => command(home, 'init', '-r', home.repository),
    backup: (home, source) => command(home, 'backup', '-r', home.repository, source),
    restore: (home, _label, target) =>
      command(home, 'restore', '-r', home.repository, 'latest', '--target', target, ...ownership),
    check: (home) => command(home, 'check', '-r', home.repository, '--read-data'),
  };
}

function findRestic(): Tool | Missing {
  const version = firstLine('restic', ['version']);
  if (version === undefined) return { missing: 'restic is not in PATH' };
  const command = (home: ToolHome, ...parameters: readonly string[]): Command => ({
    program: 'restic',
    parameters: ['--quiet', '--cache-dir', home.state, '--repo', home.repository, ...parameters],
    environment: { RESTIC_PASSWORD: passphrase },
    success: [0],
  });
  return {
    name: 'restic',
    version,
    init: (home) => command(home, 'init'),
    backup: (home, source) => command(home, 'backup', source),
    restore: (home, _label, target) => command(home, 'restore', 'latest', '--target', target),
    check: (home) => command(home, 'check', '--read-data'),
  };
}

function findBorg(): Tool | Missing {
  const program = ['borg-1.4', 'borg'].find((name) => firstLine(name, ['--version']) !== undefined);
  if (program === undefined) return { missing: 'neither borg-1.4 nor borg is in PATH' };
  const version = firstLine(program, ['--version']) ?? '';
  const command = (home: ToolHome, ...parameters: readonly string[]): Command => ({
    program,
    parameters,
    environment: { BORG_PASSPHRASE: passphrase, BORG_BASE_DIR: home.state },
    success: [0],
  });
  return {
    name: 'borg',
    version,
    init: (home) => command(home, 'init', '--encryption', 'repokey-blake2', home.repository),
    backup: (home, source, label) => ({
      ...command(home, 'create', '--compression', 'zstd,3', `${home.repository}::${label}`, source),
      // 1 is borg's warning, e.g. about a file that changed while it was read
      success: [0, 1],
    }),
    restore: (home, label, target) => ({
      ...command(home, 'extract', `${home.repository}::${label}`),
      cwd: target,
    }),
    check: (home) => command(home, 'check', '--verify-data', home.repository),
  };
}
