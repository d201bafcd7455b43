/** A copy of the project in which defects are planted, so that nobody's files are touched. */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { Defect } from './defect.ts';

export const ROOT = join(import.meta.dirname, '..', '..');

/** A patch does not apply, or what it makes does not compile: it says nothing about the tests. */
export class UnusablePatch extends Error {
  override readonly name = 'UnusablePatch';
}

export interface ScratchCopy extends Disposable {
  readonly directory: string;
  /** Applies the patch and builds. @throws {UnusablePatch} */
  plant(defect: Defect): void;
  /** Takes it out. What was built of it stays until the next `build`, or the next defect. */
  remove(defect: Defect): void;
  build(): void;
}

/** All files that git knows or would take, and what was built of them; packages are those of the project. */
export function makeScratchCopy(): ScratchCopy {
  const directory = mkdtempSync(join(tmpdir(), 'holdfast-planted-'));
  // Some tests run as another user.
  chmodSync(directory, 0o755);
  const listed = run('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], ROOT);
  for (const name of new Set(listed.split('\0'))) {
    if (name === '' || !existsSync(join(ROOT, name))) continue;
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    cpSync(join(ROOT, name), join(directory, name), { recursive: true });
  }
  cpSync(join(ROOT, 'dist'), join(directory, 'dist'), { recursive: true, preserveTimestamps: true });
  for (const packages of ['node_modules', 'test/node_modules'])
    symlinkSync(join(ROOT, packages), join(directory, packages));
  const node = (program: string, ...args: string[]): void => {
    run(process.execPath, [join(directory, program), ...args], directory);
  };
  // Its own copy of the patch, whatever becomes of the one of the project meanwhile.
  const patchOf = ({ patch }: Defect): string =>
    join(directory, 'test', 'planted', 'defects', basename(patch));
  const types = (config: string): void => node('test/node_modules/typescript/bin/tsc', '-p', config);
  /** Its types are checked apart from those of the program. */
  let isPageChanged = false;
  const build = (): void => {
    types('tsconfig.json');
    if (isPageChanged) types('src/ui/tsconfig.json');
    node('service/build/build.js');
  };
  return {
    directory,
    build,
    plant(defect) {
      applyPatch(patchOf(defect), directory);
      isPageChanged ||= defect.files.some((file) => file.startsWith('src/ui/'));
      try {
        build();
      } catch (error) {
        applyPatch(patchOf(defect), directory, ['--reverse']);
        throw error;
      }
    },
    remove(defect) {
      applyPatch(patchOf(defect), directory, ['--reverse']);
    },
    [Symbol.dispose]() {
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** @throws {UnusablePatch} when it does not apply as it is */
export function applyPatch(patch: string, directory: string, options: readonly string[] = []): void {
  run('git', ['apply', ...options, patch], directory);
}

/** Returns what it printed. @throws {UnusablePatch} with what it said */
function run(command: string, args: readonly string[], directory: string): string {
  const env = {
    ...process.env,
    PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
    // A directory below somebody's repository would make git leave out files that it takes for another project's.
    GIT_CEILING_DIRECTORIES: dirname(directory),
  };
  const done = spawnSync(command, args, { cwd: directory, encoding: 'utf8', env, maxBuffer: 2 ** 26 });
  if (done.error !== undefined) throw done.error;
  if (done.status === 0) return done.stdout;
  throw new UnusablePatch(`${command} ${args.join(' ')}: ${`${done.stdout}${done.stderr}`.trim()}`);
}
