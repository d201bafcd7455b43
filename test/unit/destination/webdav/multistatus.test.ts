import { describe, expect, test } from 'vitest';
import { parseMultistatus } from '../../../support/parsed-multistatus.ts';

const answer = `<?xml version="1.0" encoding="utf-8"?>
<D:multistatus xmlns:D="DAV:">
<!-- as Apache writes it -->
<D:response xmlns:lp1="DAV:"><D:href>/dav/my%20folder/</D:href>
<D:propstat><D:prop><D:getcontentlength/></D:prop><D:status>HTTP/1.1 404 Not Found</D:status></D:propstat>
<D:propstat><D:prop><lp1:resourcetype><D:collection/></lp1:resourcetype>
<lp1:getlastmodified>Sat, 21 Nov 2026 19:43:51 GMT</lp1:getlastmodified></D:prop>
<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>
<D:response><D:href>https://host/dav/my%20folder/a&amp;b</D:href>
<D:propstat><D:prop><D:resourcetype></D:resourcetype><D:getcontentlength>12</D:getcontentlength>
<D:getlastmodified><![CDATA[Sat, 21 Nov 2026 19:43:52 GMT]]></D:getlastmodified></D:prop>
<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response>
</D:multistatus>
`;

describe('an answer to PROPFIND', () => {
  test('tells folders from files, with size and time, whichever part says it', () => {
    expect(parseMultistatus(answer)).toEqual([
      {
        path: '/dav/my folder',
        isFolder: true,
        size: undefined,
        modifiedMs: Date.UTC(2026, 10, 21, 19, 43, 51),
      },
      {
        path: '/dav/my folder/a&b',
        isFolder: false,
        size: 12,
        modifiedMs: Date.UTC(2026, 10, 21, 19, 43, 52),
      },
    ]);
  });

  test('that is cut anywhere is none', () => {
    const whole = answer.trimEnd();
    for (let length = 0; length < whole.length; length += 1)
      expect(parseMultistatus(whole.slice(0, length))).toBeUndefined();
  });

  test.each([
    ['a page', '<html><body>Sign in</body></html>'],
    ['no XML', 'Service unavailable'],
    ['two documents', `${answer}${answer}`],
    ['with elements that cross', '<multistatus><response></multistatus></response>'],
    ['with text around it', `${answer}more`],
    ['about a name that is not described', '<multistatus><response><href>/a</href></response></multistatus>'],
  ])('that is %s is none', (_, text) => {
    expect(parseMultistatus(text)).toBeUndefined();
  });

  const inList = (response: string): string => `<multistatus><response>${response}</response></multistatus>`;

  test.each([
    ['a status', '<href>/a/</href><status>HTTP/1.1 403 Forbidden</status>', 403],
    ['a propstat', '<href>/a</href><propstat><status>HTTP/1.1 500 Oops</status></propstat>', 500],
  ])('tells of a name that is refused by %s', (_, response, status) => {
    expect(parseMultistatus(inList(response))).toMatchObject([{ path: '/a', refused: { status } }]);
  });

  test('has the sentence of a refusal', () => {
    const response =
      '<href>/a</href><status>HTTP/1.1 403 No</status><responsedescription>Not for you.</responsedescription>';
    expect(parseMultistatus(inList(response))?.[0]?.refused).toEqual({ status: 403, words: 'Not for you.' });
  });

  test('may have a name that is not encoded, which is none of ours', () => {
    const response = '<href>/%ZZ</href><propstat><status>HTTP/1.1 200 OK</status></propstat>';
    expect(parseMultistatus(inList(response))).toMatchObject([{ path: '/%ZZ' }]);
  });

  test.each([
    ['a document type', answer.replace('<D:multistatus', '<!DOCTYPE D:multistatus><D:multistatus')],
    [
      'one with entities of its own',
      answer.replace('<D:multistatus', '<!DOCTYPE m [<!ENTITY a "<]>">\n<!ELEMENT m ANY>]>\n<D:multistatus'),
    ],
    ['an attribute with >', answer.replace('<D:multistatus ', '<D:multistatus a="x > y" b=\'>/>\' ')],
    ['an element in letters of another script', answer.replace('<D:href>', '<ø:größe ø:é="1"/><D:href>')],
  ])('may have %s', (_, text) => {
    expect(parseMultistatus(text)).toEqual(parseMultistatus(answer));
  });

  test('does not take entities apart twice', () => {
    const text = answer.replace('a&amp;b', '&amp;lt;&#65;&#x42;');
    expect(parseMultistatus(text)?.[1]?.path).toBe('/dav/my folder/&lt;AB');
  });

  test('is the same in whatever pieces it comes', () => {
    const many = answer.replace('</D:multistatus>', (end) => {
      const one =
        '<D:response><D:href>/x/&#97;&amp;%20b</D:href><D:status>HTTP/1.1 403 No</D:status></D:response>';
      return `${one.repeat(2_000)}${end}`;
    });
    const whole = parseMultistatus(many);
    expect(whole).toHaveLength((parseMultistatus(answer)?.length ?? 0) + 2_000);
    for (const piece of [1, 7, 1_000, 33_000]) expect(parseMultistatus(many, piece)).toEqual(whole);
  });
});
