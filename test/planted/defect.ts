/** The planted defects: patches of the product, each with a header that says which promise it breaks. */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export const DEFECTS = join(import.meta.dirname, 'defects');

/** A test by its file, below the root of the project, and its title with those of the blocks around it. */
export interface NamedTest {
  readonly file: string;
  readonly title: string;
}

export interface Defect {
  /** Of the patch, without its ending. */
  readonly name: string;
  /** Absolute path of the patch. */
  readonly patch: string;
  readonly promise: string;
  /** Where the promise is written: documents and files of the source. */
  readonly statedIn: readonly string[];
  /** The tests that are expected to fail. */
  readonly caughtBy: readonly NamedTest[];
  /** Files and folders below test/ whose tests are run when none of those fails. */
  readonly suites: readonly string[];
  /** Files that it changes, below the root of the project. */
  readonly files: readonly string[];
}

/** All defects in the order of their numbers. @throws when a header lacks something */
export function readDefects(directory: string = DEFECTS): readonly Defect[] {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.patch'))
    .sort()
    .map((name) => {
      const patch = join(directory, name);
      return parseDefect(name.slice(0, -'.patch'.length), patch, readFileSync(patch, 'utf8'));
    });
}

export function parseDefect(name: string, patch: string, text: string): Defect {
  const begin = text.indexOf('\ndiff --git ');
  if (begin < 0) throw new Error(`${name}: there is no patch below the header`);
  const fields = text
    .slice(0, begin)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const field = /^(Promise|Stated in|Caught by|Suites): (.+)$/.exec(line);
      if (field === null) throw new Error(`${name}: the header has a line that is no field: ${line}`);
      return { key: field[1] ?? '', value: field[2] ?? '' };
    });
  const all = (key: string): readonly string[] =>
    fields.filter((field) => field.key === key).map((field) => field.value);
  const one = (key: string): string => {
    const [value, ...more] = all(key);
    if (value === undefined || more.length > 0) throw new Error(`${name}: the header needs one "${key}"`);
    return value;
  };
  return {
    name,
    patch,
    promise: one('Promise'),
    statedIn: one('Stated in').split('; '),
    caughtBy: all('Caught by').map((value) => namedTest(name, value)),
    suites: one('Suites').split(', '),
    files: [...text.matchAll(/^diff --git a\/(\S+) b\/\1$/gm)].map((match) => match[1] ?? ''),
  };
}

function namedTest(defect: string, value: string): NamedTest {
  const at = value.indexOf(' > ');
  if (at < 0) throw new Error(`${defect}: "Caught by" is a file, " > " and the title of a test`);
  return { file: value.slice(0, at), title: value.slice(at + 3) };
}
