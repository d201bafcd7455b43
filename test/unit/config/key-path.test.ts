import { describe, expect, test } from 'vitest';
import { RequestError } from '../../../src/base/errors.ts';
import { findSetting, readTypedValue } from '../../../src/config/key-path.ts';

function refusal(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof RequestError) return `${error.code} ${error.message}. ${error.hint}`;
    throw error;
  }
  throw new Error('Nothing was refused');
}

describe('the name of a setting', () => {
  test.each([
    ['plan', ['plan']],
    ['retention.keepDaily', ['retention', 'keepDaily']],
    ['sources[0].exclude.patterns[12]', ['sources', 0, 'exclude', 'patterns', 12]],
    ['sources[-]', ['sources', -1]],
    ['destinations.nas.passphrase.file', ['destinations', 'nas', 'passphrase', 'file']],
    ['notices.email.to', ['notices', 'email', 'to']],
  ])('%s is found', (name, path) => {
    expect(findSetting(name).path).toEqual(path);
  });

  test.each([
    ['retention.keepdaily', 'Did you mean "retention.keepDaily"?'],
    ['source', 'Did you mean "sources"?'],
    ['log.colour', 'Known settings: log.level.'],
    ['sources.path', '"sources" is a list: name an entry by its index, for example sources[0]'],
    ['plan.x', '"plan" has no settings of its own.'],
    ['destinations.9x', 'UNKNOWN_FIELD'],
    ['__proto__', 'UNKNOWN_FIELD'],
    ['constructor.name', 'UNKNOWN_FIELD'],
    ['', 'Write names with dots'],
    ['a..b', 'Write names with dots'],
    ['sources[0', 'Write names with dots'],
  ])('%s is refused with advice', (name, expected) => {
    expect(refusal(() => findSetting(name))).toContain(expected);
  });
});

describe('a value as it is typed', () => {
  test.each([
    ['plan', 'pro', 'pro'],
    ['retention.keepDaily', '14', 14],
    ['retention.keepDaily', 'null', null],
    ['timeZone', 'UTC', 'UTC'],
    ['timeZone', 'null', null],
    ['requireEncryption', 'true', true],
    ['sources[0].tags[0]', '5', '5'],
    ['sources[0].tags[0]', 'true', 'true'],
    ['sources[0].tags[0]', '"quoted"', 'quoted'],
    ['sources[0].tags', '["a", "b"]', ['a', 'b']],
    ['sources[-]', '{"path": "/a"}', { path: '/a' }],
    ['maintenance.prune', 'daily at 02:30', 'daily at 02:30'],
    // Left to the check, which says what is expected.
    ['retention.keepDaily', '"x"', 'x'],
  ])('for %s: %s', (name, typed, value) => {
    expect(readTypedValue(findSetting(name), typed)).toEqual(value);
  });

  test('that is no JSON is refused where no text can stand', () => {
    expect(refusal(() => readTypedValue(findSetting('sources'), '[x]'))).toContain('is not valid JSON');
  });

  test.each([
    ['retention.keepDaily', 'many', 'retention.keepDaily takes a number, not "many"'],
    ['requireEncryption', 'maybe', 'requireEncryption takes true or false, not "maybe"'],
  ])('of another kind than %s takes is refused in its words: %s', (name, typed, said) => {
    expect(refusal(() => readTypedValue(findSetting(name), typed))).toContain(said);
  });
});
