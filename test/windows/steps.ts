/** What the scripts share that Node for Windows runs: programs, files, and steps whose results go to a file. */
import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Beside what restores remove. */
export const LOG = 'D:\\log';

export interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

let runs = 0;

/** Runs a program. Its output goes by files, since Wine gives Node no pipe. */
export function runProgram(
  program: string,
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Said {
  runs += 1;
  const [out, err] = ['out', 'err'].map((name) => join(LOG, `${name}-${runs}.txt`)) as [string, string];
  const [stdout, stderr] = [openSync(out, 'w'), openSync(err, 'w')];
  const { status } = spawnSync(program, words, {
    stdio: ['ignore', stdout, stderr],
    env: { ...process.env, HOLDFAST_PASSWORD: 'open sesame', HOLDFAST_TEST_KDF: '64,1,1', ...env },
  });
  closeSync(stdout);
  closeSync(stderr);
  return { code: status, out: readFileSync(out, 'utf8'), err: readFileSync(err, 'utf8') };
}

export function put(path: string, content: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

export const read = (path: string): string => readFileSync(path, 'utf8');

export interface StepResult {
  readonly name: string;
  readonly ms: number;
  readonly fault?: string;
}

/** Runs the steps that the words after the script choose, all of them when there are none. */
export async function runSteps(steps: Readonly<Record<string, () => void | Promise<void>>>): Promise<void> {
  const wanted = process.argv.slice(2);
  const results: StepResult[] = [];
  for (const [name, step] of Object.entries(steps)) {
    if (wanted.length > 0 && !wanted.some((word) => name.includes(word))) continue;
    const start = performance.now();
    let fault: string | undefined;
    try {
      await step();
    } catch (error) {
      fault = error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
    results.push({
      name,
      ms: Math.round(performance.now() - start),
      ...(fault === undefined ? {} : { fault }),
    });
    writeFileSync(join(LOG, 'results.json'), JSON.stringify(results));
  }
}
