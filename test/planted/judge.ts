/** Plants one defect and says whether the tests notice, and by what. */
import type { Defect, NamedTest } from './defect.ts';
import { UnusablePatch, type ScratchCopy } from './scratch-copy.ts';
import { runTests, type TestEnd, type TestRun } from './vitest-run.ts';

export type Verdict =
  /** `isNamed`: by a test that the header of the patch names. */
  | { readonly kind: 'caught'; readonly by: TestEnd; readonly isNamed: boolean }
  /** `crashes`: what failed without saying anything about the promise. */
  | { readonly kind: 'missed'; readonly crashes: readonly string[] }
  | { readonly kind: 'unusable'; readonly reason: string };

/** The named tests first, which takes seconds; then the suites. */
export async function judge(defect: Defect, copy: ScratchCopy): Promise<Verdict> {
  try {
    copy.plant(defect);
  } catch (error) {
    if (!(error instanceof UnusablePatch)) throw error;
    return { kind: 'unusable', reason: error.message };
  }
  let named: TestRun | undefined;
  let suites: TestRun | undefined;
  try {
    if (defect.caughtBy.length > 0) named = await runTests(copy.directory, choiceOf(defect.caughtBy));
    const [by] = named === undefined ? [] : telling(named);
    if (by !== undefined) return { kind: 'caught', by, isNamed: true };
    suites = await runTests(copy.directory, { files: defect.suites.map((one) => `test/${one}`), bail: 3 });
  } finally {
    copy.remove(defect);
  }
  // What fails here without the defect, too, has not noticed it.
  copy.build();
  for (const by of telling(suites)) {
    const { tests } = await runTests(copy.directory, choiceOf([by]));
    if (tests.some((one) => one.title === by.title && one.status === 'passed'))
      return { kind: 'caught', by, isNamed: false };
  }
  const runs = [named, suites].filter((one) => one !== undefined);
  return { kind: 'missed', crashes: runs.flatMap(crashesOf) };
}

export function choiceOf(tests: readonly NamedTest[]): {
  files: readonly string[];
  titles: readonly string[];
} {
  return {
    files: [...new Set(tests.map(({ file }) => file))],
    titles: [...new Set(tests.map(({ title }) => title))],
  };
}

/** A crash, or a test that waits for ever, may come of anything: it says nothing about the promise. */
const CRASH = /^(?:TypeError|ReferenceError|SyntaxError|BugError|TestTimeoutError)/;

function telling({ tests }: TestRun): readonly TestEnd[] {
  return tests.filter(({ status, message }) => status === 'failed' && !CRASH.test(message));
}

function crashesOf({ tests, broken }: TestRun): readonly string[] {
  const crashed = tests.filter(({ status, message }) => status === 'failed' && CRASH.test(message));
  return [...broken, ...crashed.map(({ file, title, message }) => `${file} > ${title}: ${message}`)];
}
