/** Runs tests in a copy of the project and tells how each ended. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NamedTest } from './defect.ts';

export interface TestEnd extends NamedTest {
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Of a test that failed: the message of its first error, without the stack. */
  readonly message: string;
}

export interface TestRun {
  readonly tests: readonly TestEnd[];
  /** Files that could not be run at all, with the reason. */
  readonly broken: readonly string[];
}

/** What is to be run: whole files and folders below test/, or only what has one of these titles. */
export interface TestChoice {
  readonly files: readonly string[];
  readonly titles?: readonly string[];
  /** Ends after so many failures. */
  readonly bail?: number;
}

/** A product with a defect may hang. Milliseconds. */
const LONGEST_MS = 900_000;

interface JsonReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly ancestorTitles: readonly string[];
      readonly title: string;
      readonly status: string;
      readonly failureMessages?: readonly string[] | null;
    }[];
  }[];
}

/** @throws when no report comes of it */
export async function runTests(directory: string, { files, titles, bail }: TestChoice): Promise<TestRun> {
  const reports = mkdtempSync(join(tmpdir(), 'holdfast-planted-report-'));
  const file = join(reports, 'report.json');
  const args = [
    join(directory, 'node_modules', 'vitest', 'vitest.mjs'),
    'run',
    '--config',
    'test/vitest.config.ts',
    '--reporter=json',
    `--outputFile=${file}`,
    '--no-file-parallelism',
    ...(bail === undefined ? [] : [`--bail=${bail}`]),
    ...(titles === undefined ? [] : ['-t', `^(?:${titles.map(escaped).join('|')})$`]),
    ...files,
  ];
  try {
    const printed = await runGroup(args, directory);
    if (!existsSync(file)) throw new Error(`vitest made no report: ${printed.slice(-2_000)}`);
    return readReport(JSON.parse(readFileSync(file, 'utf8')), directory);
  } finally {
    rmSync(reports, { recursive: true, force: true });
  }
}

/** Runs Node as a group of processes of its own, all of which are gone afterwards; resolves with what it printed. */
async function runGroup(args: readonly string[], directory: string): Promise<string> {
  const child = spawn(process.execPath, [...args], {
    cwd: directory,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-100_000);
    });
  }
  const over = new AbortController();
  const endGroup = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // All of them have ended.
    }
  };
  const deadline = sleep(LONGEST_MS, undefined, { signal: over.signal }).then(endGroup, () => undefined);
  try {
    await once(child, 'close');
  } finally {
    over.abort();
    await deadline;
    endGroup();
  }
  return printed;
}

function readReport(report: JsonReport, directory: string): TestRun {
  const tests: TestEnd[] = [];
  const broken: string[] = [];
  for (const { name, status, message, assertionResults } of report.testResults) {
    const file = relative(directory, name);
    if (status === 'failed' && assertionResults.every((one) => one.status !== 'failed'))
      broken.push(`${file}: ${firstLine(message)}`);
    for (const { ancestorTitles, title, status: end, failureMessages } of assertionResults) {
      tests.push({
        file,
        title: [...ancestorTitles, title].join(' > '),
        status: end === 'passed' || end === 'failed' ? end : 'skipped',
        message: firstLine(failureMessages?.[0] ?? ''),
      });
    }
  }
  return { tests, broken };
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').slice(0, 300);
}

function escaped(title: string): string {
  return title.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
