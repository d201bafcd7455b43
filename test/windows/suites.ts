/**
 * What the suites have to do under Wine: every test of these folders passes, except those that `not-held.json` names with
 * their reason. A test that is named there and passes is a fault as well, so that the list never says too much.
 */
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

/** Each of them is a run of its own, so that one that breaks off costs no other. Property tests and scenarios have not been tried as a whole. */
const WHOLE = ['contract'];
const BY_ROOM = 'unit';

/** Of the full name of a test: names with values in them can be a megabyte long. */
const NAMED_BY = 200;

/** Reason -> file -> the beginnings of the full names of its tests; `all`: the file cannot even be loaded, or would never end. */
export type NotHeld = Readonly<Record<string, Readonly<Record<string, 'all' | readonly string[]>>>>;

/** As vitest's JSON reporter writes it. */
export interface SuiteReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[] | null;
    }[];
  }[];
}

export interface SuiteCounts {
  readonly passed: number;
  /** Left out by the tests themselves. */
  readonly skipped: number;
  readonly notHeld: number;
  readonly faults: readonly string[];
}

export function suiteFolders(tests: string): readonly string[] {
  const rooms = readdirSync(path.join(tests, BY_ROOM), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `${BY_ROOM}/${entry.name}`);
  return [...rooms, ...WHOLE].toSorted();
}

export function readNotHeld(): NotHeld {
  return JSON.parse(readFileSync(path.join(import.meta.dirname, 'not-held.json'), 'utf8')) as NotHeld;
}

/** Files below the folder that are not to be started. */
export function leftOut(notHeld: NotHeld, folder: string): readonly string[] {
  return Object.values(notHeld)
    .flatMap((files) => Object.entries(files))
    .filter(([file, tests]) => tests === 'all' && file.startsWith(`${folder}/`))
    .map(([file]) => file);
}

/** Compares what was run of a folder with what has to hold. */
export function judgeSuites(report: SuiteReport, notHeld: NotHeld, folder: string): SuiteCounts {
  const named = new Set(
    Object.values(notHeld)
      .flatMap((files) => Object.entries(files))
      .filter(([file, tests]) => tests !== 'all' && file.startsWith(`${folder}/`))
      .flatMap(([file, tests]) => (tests === 'all' ? [] : tests.map((test) => `${file}: ${test}`))),
  );
  const counts = { passed: 0, skipped: 0, notHeld: 0 };
  const faults: string[] = [];
  const seen = new Set<string>();
  for (const { name, status, message, assertionResults } of report.testResults) {
    const file = name.replaceAll('\\', '/').split('/test/').at(-1) ?? name;
    if (status === 'failed' && assertionResults.every((one) => one.status !== 'failed'))
      faults.push(`${file}: it could not be run: ${message ?? ''}`);
    for (const { fullName, status: outcome, failureMessages } of assertionResults) {
      const test = `${file}: ${fullName.slice(0, NAMED_BY)}`;
      const isNamed = named.has(test);
      seen.add(test);
      if (outcome === 'passed') {
        counts.passed += 1;
        if (isNamed) faults.push(`${test}: it passes, so it must not be named in not-held.json`);
      } else if (outcome !== 'failed') counts.skipped += 1;
      else if (isNamed) counts.notHeld += 1;
      else faults.push(`${test}: ${failureMessages?.[0]?.slice(0, 400) ?? 'failed'}`);
    }
  }
  faults.push(
    ...[...named]
      .filter((test) => !seen.has(test))
      .map((test) => `${test}: named in not-held.json, but there is no such test`),
  );
  return { ...counts, faults };
}
