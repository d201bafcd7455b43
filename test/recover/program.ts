/** docs/recover/recover.py, run by Debian's Python with Debian's libraries. */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { debianPrograms } from '../servers/debian-programs.ts';
import { outcomeOf, type Outcome } from '../support/cli.ts';

export const RECOVER = join(import.meta.dirname, '..', '..', 'docs', 'recover', 'recover.py');

export interface RecoverProgram {
  /** Runs recover.py. */
  run(words: readonly string[], options?: RunRecover): Promise<Outcome>;
  /** Runs another script. */
  python(words: readonly string[], options?: RunRecover): Promise<Outcome>;
}

export interface RunRecover {
  readonly env?: Readonly<Record<string, string>>;
  /** What it reads from standard input; nothing by default. */
  readonly input?: string;
  /** Put before the program: `setpriv` and its options. */
  readonly under?: readonly string[];
}

/** @throws {ServerUnavailable} where Debian's packages cannot be had */
export async function openRecoverProgram(): Promise<RecoverProgram> {
  const { directory, environment } = await debianPrograms('recover', [
    'python3',
    'python3-argon2',
    'python3-cffi-backend',
    'python3-cryptography',
    'python3-zstandard',
  ]);
  // An interpreter that was not unpacked is there already: Debian's own, for which these libraries are made.
  const unpacked = join(directory, 'usr', 'bin', 'python3');
  const interpreter = existsSync(unpacked) ? unpacked : '/usr/bin/python3';
  const python = async (words: readonly string[], options: RunRecover = {}): Promise<Outcome> => {
    const [program, ...before] = [...(options.under ?? []), interpreter];
    const child = spawn(program, [...before, ...words], {
      env: {
        ...process.env,
        ...environment,
        PYTHONPATH: join(directory, 'usr', 'lib', 'python3', 'dist-packages'),
        PYTHONDONTWRITEBYTECODE: '1',
        ...options.env,
      },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin?.end(options.input ?? '');
    return await outcomeOf(child);
  };
  return { python, run: async (words, options) => await python([RECOVER, ...words], options) };
}
