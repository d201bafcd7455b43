import { describe, expect, test } from 'vitest';
import {
  contentsMarkers,
  findContentsRule,
  parseMarker,
  readRules,
  type RuleFiles,
} from '../../../src/exclude/tags.ts';
import { asByteString, bytesOfText } from '../../../src/base/byte-path.ts';
import { BugError, RequestError, type SourceError } from '../../../src/base/errors.ts';

const signature = 'Signature: 8a477f597d28d172789f06886806bc55';
const directory = bytesOfText('/src/cache');
const names = ['CACHEDIR.TAG', '.nobackup', 'data'].map(asByteString);

function holding(content: string | undefined): RuleFiles {
  return {
    read: (_path, limit) => (content === undefined ? undefined : Buffer.from(content).subarray(0, limit)),
    onError: (error) => {
      throw error;
    },
  };
}

function failing(cause: unknown): { files: RuleFiles; errors: SourceError[] } {
  const errors: SourceError[] = [];
  const read = (): never => {
    throw cause;
  };
  return { files: { read, onError: (error) => errors.push(error) }, errors };
}

describe('CACHEDIR.TAG', () => {
  const markers = contentsMarkers([], true);

  test('counts when it begins with the signature of the specification', () => {
    const expected = {
      keptName: 'CACHEDIR.TAG',
      exclusion: { excluded: true, rule: 'cache-directory', tag: '/src/cache/CACHEDIR.TAG' },
    };
    expect(findContentsRule(markers, directory, names, holding(signature))).toEqual(expected);
    expect(findContentsRule(markers, directory, names, holding(`${signature}\n# text`))).toEqual(expected);
  });

  test.each([
    ['is empty', ''],
    ['is cut short', signature.slice(0, -1)],
    ['has another signature', signature.replace('8a', '8b')],
    ['does not begin with it', ` ${signature}`],
    ['is no regular file', undefined],
  ])('does not count when it %s', (_what, content) => {
    expect(findContentsRule(markers, directory, names, holding(content))).toBeUndefined();
  });

  test('reads 43 bytes, and nothing when the file is absent or the option is off', () => {
    const limits: number[] = [];
    const files: RuleFiles = {
      ...holding(undefined),
      read: (_path, limit) => {
        limits.push(limit);
        return Buffer.from(signature);
      },
    };
    findContentsRule(markers, directory, [asByteString('cachedir.tag')], files);
    findContentsRule(contentsMarkers([], false), directory, names, files);
    expect(limits).toEqual([]);
    findContentsRule(markers, directory, names, files);
    expect(limits).toEqual([43]);
  });
});

describe('a marker file', () => {
  test('counts by its name alone when no header is asked for, without being read', () => {
    const { files, errors } = failing(new Error('unreadable'));
    const rule = findContentsRule([parseMarker(bytesOfText('.nobackup'))], directory, names, files);
    expect(rule).toEqual({
      keptName: '.nobackup',
      exclusion: { excluded: true, rule: 'marker', marker: '/src/cache/.nobackup' },
    });
    expect(errors).toEqual([]);
  });

  test('counts only with the header that is asked for', () => {
    const markers = [parseMarker(bytesOfText('.nobackup:no: é'))];
    expect(findContentsRule(markers, directory, names, holding('no: é, really'))?.keptName).toBe('.nobackup');
    expect(findContentsRule(markers, directory, names, holding('no: e'))).toBeUndefined();
  });

  test('is described as NAME or NAME:HEADER', () => {
    expect(parseMarker(bytesOfText('a'))).toEqual({ name: 'a', header: undefined });
    expect(parseMarker(bytesOfText('a:'))).toEqual({ name: 'a', header: undefined });
    expect(parseMarker(bytesOfText('a:b:c'))).toEqual({ name: 'a', header: 'b:c' });
    for (const wrong of ['', ':x', 'a/b', '.', '..', 'a\0']) {
      expect(() => parseMarker(bytesOfText(wrong))).toThrow(RequestError);
    }
  });
});

describe('a file with rules that cannot be read', () => {
  test('is reported with its cause and has no effect', () => {
    const cause = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES' });
    const { files, errors } = failing(cause);
    expect(findContentsRule(contentsMarkers([], true), directory, names, files)).toBeUndefined();
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatchObject({ code: 'EXCLUDE_FILE_UNREADABLE', side: 'source', cause });
    expect(errors[0]?.message).toContain('/src/cache/CACHEDIR.TAG');
  });

  test('lets an abort and a bug through as they are', () => {
    for (const cause of [new DOMException('stopped', 'AbortError'), new BugError('broken')]) {
      const { files, errors } = failing(cause);
      expect(() => readRules(files, directory, 1)).toThrow(cause);
      expect(errors).toEqual([]);
    }
  });
});
