import { describe, expect, test } from 'vitest';
import { asByteString, bytesOfText, type ByteString } from '../../../../src/base/byte-path.ts';
import { httpDate, multistatus } from '../../../../src/api/webdav/multistatus.ts';
import type { WantedProperties } from '../../../../src/api/webdav/propfind-body.ts';
import { readWebdavTarget } from '../../../../src/api/webdav/target.ts';
import type { EntryFacts, FoundEntry, NamedEntry } from '../../../../src/api/webdav/tree.ts';

const FILE: EntryFacts = { isFolder: false, size: 7, modifiedMs: 1_000, etag: '"e"' };
const FOLDER: EntryFacts = { isFolder: true, size: 0, modifiedMs: 2_000, etag: undefined };
const ALL: WantedProperties = { kind: 'all' };

async function textOf(
  facts: EntryFacts,
  wanted: WantedProperties = ALL,
  entries: readonly (readonly NamedEntry[])[] = [],
  deep = entries.length > 0,
): Promise<string> {
  const entry: FoundEntry = {
    ...(facts.isFolder
      ? {
          kind: 'folder' as const,
          async *entries() {
            yield* await Promise.resolve(entries);
          },
        }
      : { kind: 'file' as const, isFixed: true, content: () => expect.fail('nobody reads it') }),
    facts,
  };
  let text = '';
  for await (const part of multistatus(entry, { base: '/dav/s', names: [asByteString('a b')], wanted, deep }))
    text += part;
  return text;
}

const START = '<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:">\n';

describe('the answer to a PROPFIND', () => {
  test('tells of a file', async () => {
    expect(await textOf(FILE)).toBe(
      `${START}<D:response><D:href>/dav/s/a%20b</D:href><D:propstat><D:prop><D:resourcetype></D:resourcetype>` +
        '<D:getcontentlength>7</D:getcontentlength>' +
        '<D:getlastmodified>Thu, 01 Jan 1970 00:00:01 GMT</D:getlastmodified>' +
        '<D:getetag>&quot;e&quot;</D:getetag></D:prop>' +
        '<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>\n</D:multistatus>\n',
    );
  });

  test('tells of a folder, and of what is in it only when that is asked for', async () => {
    const entries = [[{ ...FILE, name: bytesOfText('f') }], [], [{ ...FOLDER, name: bytesOfText('d') }]];
    const hrefs = (text: string): readonly string[] =>
      [...text.matchAll(/<D:href>(.*?)<\/D:href>/g)].map(([, href = '']) => href);
    expect(hrefs(await textOf(FOLDER, ALL, entries))).toEqual([
      '/dav/s/a%20b/',
      '/dav/s/a%20b/f',
      '/dav/s/a%20b/d/',
    ]);
    expect(hrefs(await textOf(FOLDER, ALL, entries, false))).toEqual(['/dav/s/a%20b/']);
    const text = await textOf(FOLDER);
    expect(text).toContain('<D:resourcetype><D:collection/></D:resourcetype>');
    expect(text).not.toMatch(/getcontentlength|getetag/);
  });

  test('names properties without their values', async () => {
    const text = await textOf(FILE, { kind: 'names' });
    expect(text).toContain(
      '<D:prop><D:resourcetype/><D:getcontentlength/><D:getlastmodified/><D:getetag/></D:prop>',
    );
  });

  test('says which of the properties that were asked for there are not', async () => {
    const names = [
      { namespace: 'DAV:', name: 'getcontentlength' },
      { namespace: 'DAV:', name: 'displayname' },
      { namespace: 'DAV:', name: 'constructor' },
      { namespace: 'a&amp;b', name: 'getetag' },
    ];
    const text = await textOf(FILE, { kind: 'these', names });
    expect(text).toContain(
      '<D:prop><D:getcontentlength>7</D:getcontentlength></D:prop><D:status>HTTP/1.1 200 OK</D:status>',
    );
    expect(text).toContain(
      '<D:prop><displayname xmlns="DAV:"/><constructor xmlns="DAV:"/><getetag xmlns="a&amp;b"/></D:prop>' +
        '<D:status>HTTP/1.1 404 Not Found</D:status>',
    );
    const none = await textOf(FOLDER, { kind: 'these', names: names.slice(0, 1) });
    expect(none).not.toContain('200 OK');
    expect(await textOf(FILE, { kind: 'these', names: [] })).toContain(
      '<D:prop></D:prop><D:status>HTTP/1.1 200',
    );
  });

  test('is XML whatever the names are, and the addresses in it lead to the names', async () => {
    const names = HOSTILE_NAMES;
    expect(new Set(names).size).toBe(100);
    const text = await textOf(FOLDER, ALL, [names.map((name) => ({ ...FILE, name }))]);
    expect(text).toMatch(/^[\n\u0020-\u007e]*$/);
    const [, ...lines] = text.slice(START.length).split('\n').slice(0, -2);
    const response =
      /^<D:response><D:href>(\/dav\/s\/a%20b\/[A-Za-z0-9._~%-]+)<\/D:href><D:propstat><D:prop>(?:<D:(\w+)>[^<>]*<\/D:\2>)+<\/D:prop><D:status>HTTP\/1\.1 200 OK<\/D:status><\/D:propstat><\/D:response>$/;
    const found = lines.map((line) => readWebdavTarget(response.exec(line)?.[1] ?? '')?.names.at(-1));
    expect(found).toEqual(names);
  });
});

const MARKUP = [
  '"><D:href>x',
  '<![CDATA[x]]>',
  ']]>',
  '<!--',
  '-->',
  '<?xml?>',
  '<!DOCTYPE x>',
  '&amp;',
  '&#0;',
  '&lt;script&gt;',
  '"\' onload=x',
  '%',
  '%41',
  '%2e%2e',
  '#',
  '?',
  ';a=b',
  '\\..\\x',
  'C:',
  '\u202egnp.exe',
];

/** Names of files that no document could hold as they are, or that mean something in one. */
const HOSTILE_NAMES: readonly ByteString[] = [
  ...MARKUP.flatMap((name) => [bytesOfText(name), bytesOfText(`a\n${name}`)]),
  // Control characters, of which XML can hold three.
  ...Array.from({ length: 31 }, (_, index) => asByteString(String.fromCharCode(index + 1))),
  ...['\u007f', '\u0080', '\u00ff', '\u00fe\u00ff', '\u00c0\u00af', '\u00ed\u00a0\u0080', 'caf\u00e9'].map(
    asByteString,
  ),
  ...['\ufffe', '\uffff', '\ufeff', '\u{1ffff}', '\u2028', '\u2029', '\u0085', '\u200b', '\u{e0001}'].map(
    bytesOfText,
  ),
  ...[' ', '  ', '...', '~', '+', '-', ' x', 'x ', '\u0301', '\u00ad', 'a\tb', '\r\n', 'a'].map(bytesOfText),
].slice(0, 100);

describe('a time', () => {
  test('is told to the second, before 1970 too', () => {
    expect(httpDate(-1)).toBe('Wed, 31 Dec 1969 23:59:59 GMT');
    expect(httpDate(1_999)).toBe('Thu, 01 Jan 1970 00:00:01 GMT');
    expect(httpDate(Date.UTC(9999, 11, 31))).toBe('Fri, 31 Dec 9999 00:00:00 GMT');
  });

  test('that HTTP cannot write is not told', () => {
    for (const ms of [undefined, Number.NaN, 8.64e15, -8.64e15, 9e15, Date.UTC(10_000, 0, 1)])
      expect(httpDate(ms), String(ms)).toBeUndefined();
  });
});
