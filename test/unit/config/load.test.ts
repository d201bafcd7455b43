import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ConfigError } from '../../../src/config/config-error.ts';
import { load, problemsOf } from '../../support/config-place.ts';

/** Place, code and the words of the first problem. */
function first(text: string | Uint8Array): string {
  const [problem] = problemsOf(text);
  return `${problem?.line}:${problem?.column} ${problem?.code} ${problem?.message}. ${problem?.hint}`;
}

describe('a configuration text', () => {
  test('may have comments, trailing commas, a byte order mark and Windows line ends', () => {
    const text =
      '\uFEFF// mine\r\n{\r\n  "plan": "pro", /* paid */\r\n  "log": { "level": "warn", },\r\n}\r\n';
    const { settings, byteOrderMark } = load(text);
    expect(settings.plan).toBe('pro');
    expect(settings.log.level).toBe('warn');
    expect(byteOrderMark).toBe(true);
  });

  test.each([
    ['', '1:1 CONFIG_SYNTAX The file is empty. Write {} to use the defaults for everything.'],
    [' \n\t', '1:1 CONFIG_SYNTAX The file is empty. Write {} to use the defaults for everything.'],
    ['// nothing\n', '2:1 CONFIG_SYNTAX A value is missing'],
    ['[]', '1:1 CONFIG_SYNTAX The file does not hold an object. Put everything between { and }.'],
    ['{"plan": "pro"', '1:15 CONFIG_SYNTAX A } is missing. Close the object; perhaps the file was cut off.'],
    ['{\n  "plan": "pro"\n  "log": {}\n}', '3:3 CONFIG_SYNTAX A comma is missing'],
    ['{\n  plan: "pro"\n}', '2:3 CONFIG_SYNTAX This word does not exist in JSON'],
    ['{"plan" "pro"}', '1:9 CONFIG_SYNTAX A colon is missing'],
    ['{"plan": "pro\n}', '1:10 CONFIG_SYNTAX A text is not closed'],
    ['{} /* never', '1:4 CONFIG_SYNTAX A comment is not closed'],
    ['{} {}', '1:4 CONFIG_SYNTAX There is something after the end'],
    [
      '{"plan": "pro", "plan": "business"}',
      '1:17 CONFIG_SYNTAX "plan" is given twice. It is already in line 1',
    ],
    ['{"log": {"level": "info",\n"level": "warn"}}', '2:1 CONFIG_SYNTAX "level" is given twice'],
    ['\0\0\0\0', '1:1 CONFIG_SYNTAX The file contains NUL bytes'],
    ['['.repeat(100_000), '1:33 CONFIG_SYNTAX Brackets are nested more than 32 deep'],
    // What is closed by another bracket stays open.
    ['{"a": {"b"], '.repeat(5_000), '1:209 CONFIG_SYNTAX Brackets are nested more than 32 deep'],
    [
      Buffer.from('{\n "timeZone": "Z\xfcrich"}', 'latin1'),
      '2:16 CONFIG_SYNTAX There is a character that is not UTF-8',
    ],
    [Buffer.from('\uFEFF{}', 'utf16le'), '1:1 CONFIG_SYNTAX The file is in UTF-16. Save it as UTF-8.'],
    [Buffer.alloc(1_048_577, ' '), '1:1 CONFIG_SYNTAX The file is larger than 1 MiB'],
  ])('with a mistake is refused at its place: %#', (text, expected) => {
    expect(first(text)).toContain(expected);
  });

  test.each([
    ['{"sorces": []}', '1:2 UNKNOWN_FIELD "sorces" is not a setting. Did you mean "sources"?'],
    [
      '{"sources": [{"path": "/a",\n "shedule": "daily"}]}',
      '2:2 UNKNOWN_FIELD "shedule" is not a setting of sources[0]. Did you mean "schedule"?',
    ],
    ['{"retention": {"keep_daily": 3}}', 'Did you mean "keepDaily"?'],
    ['{"log": {"colour": true}}', '"colour" is not a setting of log. Known settings: level.'],
    ['{"__proto__": {}}', '1:2 UNKNOWN_FIELD "__proto__" is not a setting'],
    ['{"sources": [{}]}', '1:14 MISSING_FIELD "path" is missing. Add it. The directory'],
    ['{"sources": {}}', '1:13 CONFIG_INVALID This is an object, not a list [ ]'],
    ['{"listen": {"port": "7390"}}', '1:21 CONFIG_INVALID This is a text, not a whole number'],
    ['{"listen": {"port": 1e999}}', '1:21 CONFIG_INVALID'],
    ['{"listen": {"port": 70000}}', '70000 is out of bounds. The minimum is 0, the maximum 65535.'],
    ['{"requireEncryption": "yes"}', 'This is a text, not true or false'],
    [
      '{"version": 2}',
      '1:13 NEWER_FORMAT The file was written for a newer version of Holdfast. Install a newer version of Holdfast.',
    ],
    [
      '{"plan": "prof"}',
      '"prof" is not possible here. Did you mean "pro"? Possible values: "free_trial", "pro", "business".',
    ],
    [
      '{"sources": [{"path": "/a", "tags": ["ok", "job:x"]}]}',
      '1:44 CONFIG_INVALID The tag "job:x" is reserved',
    ],
    ['{"timeZone": "Europe/Berln"}', '"Europe/Berln" is not a time zone'],
    [
      '{"maintenance": {"prune": "dayly"}}',
      '1:27 CONFIG_INVALID "dayly" is not a schedule. Write off, hourly',
    ],
    ['{"maintenance": {"checkReadData": "120%"}}', '"120%" is not a percentage'],
    ['{"maintenance": {"jitter": "5 minutes"}}', "'5 minutes' is not a duration"],
    ['{"retention": {"keepWithin": "6w"}}', '"6w" is not a span of time'],
    ['{"retention": {"keepDaily": 0}}', '0 is out of bounds'],
    ['{"conditions": {"quietHours": "22-6"}}', '"22-6" is not a range of times'],
    ['{"conditions": {"quietHours": "06:00-06:00"}}', 'The range begins when it ends'],
    [
      '{"notices": {"quietHours": "22:00"}}',
      '1:28 CONFIG_INVALID "22:00" is not a range of times. Write HH:MM',
    ],
    ['{"bandwidth": [{"from": "8:00"}]}', '"8:00" is not a time of day'],
    ['{"bandwidth": [{"from": "08:00"}, {"from": "08:00"}]}', '1:44 CONFIG_INVALID Two rules begin at 08:00'],
    ['{"bandwidth": [{"from": "08:00", "uploadLimit": "fast"}]}', "'fast' is not a size"],
    // One byte a second: a unit was forgotten.
    ['{"bandwidth": [{"from": "08:00", "uploadLimit": "1"}]}', '"1" would send less than 1 KiB a second'],
    ['{"sources": [{"path": "Documents"}]}', '"Documents" is not an absolute path'],
    ['{"sources": [{"path": "/a", "compression": "gzip"}]}', '"gzip" is not a kind of compression'],
    [
      '{"sources": [{"path": "/a", "destination": "nas"}]}',
      '1:44 CONFIG_INVALID No destination is called "nas". Use a defined one ("default"), or define "nas" in "destinations".',
    ],
    [
      '{"sources": [{"path": "/a"}, {"path": "/a/b/.."}]}',
      '1:39 CONFIG_INVALID This source is configured twice',
    ],
    [
      '{"requireEncryption": true, "sources": [{"path": "/a", "encryption": false}]}',
      'This source is not encrypted',
    ],
    ['{"sources": [{"path": "/a", "exclude": {"ifPresent": ["a/b"]}}]}', '"a/b" is not the name of a file'],
    ['{"defaultDestination": "nas"}', '1:24 CONFIG_INVALID No destination is called "nas". Define it'],
    [
      '{"destinations": {"my nas": {"url": "/mnt"}}}',
      '1:19 CONFIG_INVALID "my nas" cannot be the name of a destination',
    ],
    ['{"destinations": {"nas": {"url": "mnt/nas"}}}', 'This is neither an absolute path nor a URL'],
    ['{"notices": {"webhook": {"url": "ftp://x"}}}', 'This is not a web address'],
    ['{"notices": {"email": {"host": "h", "from": "a@b", "to": []}}}', 'The list is empty'],
  ])('that is not valid is refused at its place: %s', (text, expected) => {
    expect(first(text)).toContain(expected);
  });

  test('is refused for all its mistakes at once, in the order of the text', () => {
    const text = '{\n "plan": 1,\n "sources": [{}],\n "lgo": {}\n}';
    expect(problemsOf(text).map(({ line, path }) => [line, path])).toEqual([
      [2, 'plan'],
      [3, 'sources[0]'],
      [4, 'lgo'],
    ]);
    expect(() => load(text)).toThrow(/^config\.json, line 2, column 10: .* \(and 2 more\)$/);
  });
});

test('a megabyte of mistakes is answered at once, with the first of them', () => {
  const many = Array.from({ length: 80_000 }, (_, index) => `"k${index}":1`).join(',');
  const same = Array.from({ length: 100_000 }, () => '"plan":1').join(',');
  for (const text of [many, same]) {
    // Far more than it takes on a machine with other work, far less than what grows with the square.
    const begin = performance.now();
    expect(problemsOf(`{${text}}`).length).toBeLessThanOrEqual(50);
    expect(performance.now() - begin).toBeLessThan(20_000);
  }
});

describe('secrets in a configuration', () => {
  const PASSWORD = 'hunter2-very-secret';

  test.each([
    [`{"destinations": {"n": {"url": "/mnt", "passphrase": "${PASSWORD}"}}}`, 'SECRET_IN_CONFIG'],
    [`{"notices": {"ntfy": {"url": "https://ntfy.sh/t", "token": "${PASSWORD}"}}}`, 'SECRET_IN_CONFIG'],
    [`{"destinations": {"n": {"url": "sftp://me:${PASSWORD}@host/dir"}}}`, 'SECRET_IN_URL'],
    [`{"destinations": {"n": {"url": "s3://b/p?secret_access_key=${PASSWORD}"}}}`, 'SECRET_IN_URL'],
    [`{"notices": {"webhook": {"url": "https://me:${PASSWORD}@host/"}}}`, 'SECRET_IN_URL'],
    [`{"notices": {"healthchecks": {"url": "https://host/?token=${PASSWORD}"}}}`, 'SECRET_IN_URL'],
    [`{"destinations": {"n": {"url": "/m", "passphrase": {"text": "${PASSWORD}"}}}}`, 'UNKNOWN_FIELD'],
    [`{"destinations": {"n": {"url": "/m", "passphrase": {}}}}`, 'CONFIG_INVALID'],
    [`{"destinations": {"n": {"url": "/m", "passphrase": {"env": "A", "file": "/b"}}}}`, 'CONFIG_INVALID'],
    [`{"destinations": {"n": {"url": "/m", "passphrase": {"env": "${PASSWORD}"}}}}`, 'CONFIG_INVALID'],
    [`{"destinations": {"n": {"url": "/m", "passphrase": {"file": "${PASSWORD}`, 'CONFIG_SYNTAX'],
    [`{"notices": {"email": {"password": ${PASSWORD}}}}`, 'CONFIG_SYNTAX'],
  ])('are refused and never repeated: %s', (text, code) => {
    const problems = problemsOf(text);
    expect(problems[0]?.code).toBe(code);
    expect(JSON.stringify(problems)).not.toContain('hunter2');
  });

  test('are told how to be written', () => {
    const [problem] = problemsOf('{"destinations": {"n": {"url": "/mnt", "passphrase": "x"}}}');
    expect(problem?.hint).toContain('{"file": "/path/of/it"}');
    expect(problem?.path).toBe('destinations.n.passphrase');
  });
});

describe('anything at all', () => {
  const expectSettingsOrPlace = (bytes: Uint8Array): void => {
    try {
      expect(load(bytes).settings.sources).toBeInstanceOf(Array);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      expect(error.message).toMatch(/^config\.json, line \d+, column \d+: ./);
      for (const { line, column, message, hint } of error.problems) {
        expect(Math.min(line, column)).toBeGreaterThanOrEqual(1);
        expect(message).not.toBe('');
        expect(hint).not.toBe('');
      }
    }
  };

  test('is either settings or an error with line, column and advice: bytes', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), expectSettingsOrPlace), { numRuns: 500 });
  });

  test('is either settings or an error with line, column and advice: JSON of any form', () => {
    const names =
      'sources path destinations nas url retention keepDaily notices email exclude __proto__ constructor toString $schema version 0';
    const key = fc.constantFrom('', ...names.split(' '));
    const { value } = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 5, withCrossShrink: true },
        fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null), fc.double()),
        fc.array(tie('value'), { maxLength: 3 }),
        fc
          .uniqueArray(fc.tuple(key, tie('value')), { maxLength: 4, selector: ([name]) => name })
          .map((entries) => Object.fromEntries(entries)),
      ),
    }));
    fc.assert(
      fc.property(value, (json) => expectSettingsOrPlace(Buffer.from(JSON.stringify(json)))),
      { numRuns: 1_000 },
    );
  });

  test('that cuts or scrambles a valid text is either settings or an error with line, column and advice', () => {
    const valid =
      '// c\n{"plan": "pro", "sources": [{"path": "~/a", "tags": ["x"],}], "listen": {"port": 1}}';
    const cut = fc.tuple(fc.nat(valid.length), fc.nat(valid.length), fc.string({ maxLength: 5 }));
    fc.assert(
      fc.property(cut, ([from, to, put]) =>
        expectSettingsOrPlace(Buffer.from(valid.slice(0, from) + put + valid.slice(to))),
      ),
      { numRuns: 1_000 },
    );
  });
});
