/** The registry of error codes has every code that the program can send: the source text is searched for them. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { ALSO_INVALID } from '../../src/api/wire/api-error.ts';
import { isErrorCode } from '../../src/api/wire/error-codes.ts';
import { namesBelow } from '../support/names-below.ts';

const root = path.resolve(import.meta.dirname, '../../src');
const files = namesBelow(root)
  .filter((name) => name.endsWith('.ts'))
  .map((name) => ({ name, text: readFileSync(path.join(root, name), 'utf8') }));

interface Found {
  readonly code: string;
  readonly file: string;
}

function found(pattern: RegExp, inside: (file: string) => boolean): readonly Found[] {
  return files
    .filter(({ name }) => inside(name))
    .flatMap(({ name, text }) => [...text.matchAll(pattern)].map(([, code = '']) => ({ code, file: name })));
}

function thrown(error: string, inside: (file: string) => boolean): readonly Found[] {
  return found(new RegExp(String.raw`new ${error}\(\s*'([A-Z_]+)'`, 'g'), inside);
}

const outside = (...folders: readonly string[]) => {
  return (file: string): boolean => !folders.some((folder) => file.startsWith(folder));
};
const inside = (...starts: readonly string[]) => {
  return (file: string): boolean => starts.some((start) => file.startsWith(start));
};

/** What only a person at the command line meets: no request and no job comes there. */
const AT_THE_COMMAND_LINE: Readonly<Record<string, string>> = {
  NO_SUCH_KEY: 'removing a key of a repository',
  WHICH_KEY: 'removing a key of a repository',
  PARTNER_EXISTS: 'making the account of a partner',
  WEAK_PASSWORD: 'making the account of a partner',
  ALREADY_ENROLLED: 'enrolling this agent',
  NOT_ENROLLED: 'ending an enrollment that there is not',
  NOTHING_MATCHES: 'restoring by patterns',
  USAGE: 'a working directory that was deleted; the agent is at home in one that is not',
};

test('what is said of requests tells what to do, too', () => {
  const served = files.filter(({ name }) => /^(?:api|catalog|daemon|jobs)\//.test(name));
  const thrownThere = served.flatMap(({ name, text }) =>
    [...text.matchAll(/new (?:ApiError|RequestError)\(\s*'[\s\S]*?\n? *\}?\);?\n/g)].map(([call]) => ({
      name,
      call,
    })),
  );
  expect(thrownThere.length).toBeGreaterThan(60);
  expect(thrownThere.filter(({ call }) => !/\bhint\b/.test(call))).toEqual([]);
});

describe('the registry has', () => {
  test('what is said of requests, by whatever part of the program', () => {
    const codes = [...thrown('RequestError', outside('cli/')), ...thrown('ApiError', outside('cli/'))];
    expect(codes.length).toBeGreaterThan(60);
    const unknown = codes
      .filter(({ code }) => !isErrorCode(code) && !ALSO_INVALID.has(code))
      .filter(({ code }) => AT_THE_COMMAND_LINE[code] === undefined);
    expect(unknown).toEqual([]);
    expect([...ALSO_INVALID].filter(isErrorCode)).toEqual([]);
  });

  test('what jobs fail with, in the agent and in the engine', () => {
    const literal = found(/\bcode: '([A-Z_]{4,})'/g, inside('jobs/', 'engine/job-error.ts', 'daemon/'));
    // The tables from classes of errors to codes of jobs.
    const mapped = found(/(?:^ {2}[\w'-]+: |^ {2})'([A-Z_]{4,})',$/gm, inside('engine/job-error.ts'));
    const codes = [...literal, ...mapped];
    expect(codes.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['HOOK_FAILED', 'JOB_INTERRUPTED', 'DESTINATION_UNREACHABLE', 'SECRET_IN_URL']),
    );
    expect(codes.filter(({ code }) => !isErrorCode(code))).toEqual([]);
  });

  test('what goes wrong with secrets and state before a job is begun', () => {
    const codes = [
      ...thrown('ConfigError', inside('config/secret.ts')),
      ...found(/'(SECRET_[A-Z]+)'/g, inside('config/file-access.ts')),
      ...thrown('StateError', inside('daemon/places/destinations.ts', 'base/private')),
    ];
    expect(codes.map(({ code }) => code)).toEqual(
      expect.arrayContaining(['SECRET_UNAVAILABLE', 'SECRET_UNSAFE', 'WRONG_PASSPHRASE']),
    );
    expect(codes.filter(({ code }) => !isErrorCode(code))).toEqual([]);
  });
});
