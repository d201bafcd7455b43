import { describe, expect, test } from 'vitest';
import { parsePropfind } from '../../../../src/api/webdav/propfind-body.ts';

describe('the body of a PROPFIND', () => {
  test('asks for everything when there is none', () => {
    expect(parsePropfind('')).toEqual({ kind: 'all' });
    expect(parsePropfind(' \r\n')).toEqual({ kind: 'all' });
    expect(parsePropfind('<propfind xmlns="DAV:"><allprop/></propfind>')).toEqual({ kind: 'all' });
    const more = '<D:propfind xmlns:D="DAV:"><D:allprop/><D:include><D:x/></D:include></D:propfind>';
    expect(parsePropfind(more)).toEqual({ kind: 'all' });
  });

  test('asks for names', () => {
    expect(parsePropfind('<a:propfind xmlns:a="DAV:"><a:propname/></a:propfind>')).toEqual({ kind: 'names' });
  });

  test('asks for properties of any namespace, each once', () => {
    const text = `\uFEFF<?xml version="1.0" encoding="utf-8" ?>
      <!-- what Explorer sends, more or less -->
      <propfind xmlns="DAV:" xmlns:Z='urn:schemas-microsoft-com:'>
        <prop>
          <resourcetype/><getetag></getetag><resourcetype />
          <Z:Win32LastModifiedTime/><b:x xmlns:b="a&amp;b"/><plain xmlns=""/>
        </prop>
      </propfind>`;
    expect(parsePropfind(text)).toEqual({
      kind: 'these',
      names: [
        { namespace: 'DAV:', name: 'resourcetype' },
        { namespace: 'DAV:', name: 'getetag' },
        { namespace: 'urn:schemas-microsoft-com:', name: 'Win32LastModifiedTime' },
        { namespace: 'a&amp;b', name: 'x' },
        { namespace: '', name: 'plain' },
      ],
    });
  });

  test('cannot put anything into the answer that is more than a name', () => {
    const text = `<propfind xmlns="DAV:"><prop><x xmlns='"/>&lt;y\u00e9\u0085\ud800'/></prop></propfind>`;
    expect(parsePropfind(text)).toEqual({
      kind: 'these',
      names: [{ namespace: '&#34;/&#62;&lt;y&#233;', name: 'x' }],
    });
  });

  test('is refused when its answer would be long for each entry', () => {
    const asking = (namespace: string): string =>
      `<propfind xmlns="DAV:" xmlns:b="${namespace}"><prop>${'abcdefgh'.replaceAll(/./g, '<b:$&/>')}</prop></propfind>`;
    expect(parsePropfind(asking('x'.repeat(500)))).toMatchObject({ kind: 'these' });
    expect(parsePropfind(asking('x'.repeat(60_000)))).toBeUndefined();
  });

  test('is refused when its elements are deep within each other', () => {
    const within = (levels: number): string =>
      `<propfind xmlns="DAV:"><allprop/>${'<a>'.repeat(levels)}${'</a>'.repeat(levels)}</propfind>`;
    expect(parsePropfind(within(10))).toEqual({ kind: 'all' });
    expect(parsePropfind(within(100))).toBeUndefined();
  });

  test('is refused when it is another document, or none', () => {
    const wrong = [
      'x',
      '<propfind/>',
      '<propfind xmlns="other"><allprop/></propfind>',
      '<propfind xmlns="DAV:"/>',
      '<propfind xmlns="DAV:"><allprop/>',
      '<propfind xmlns="DAV:"><allprop></propfind></allprop>',
      '<propfind xmlns="DAV:"><prop><u:x/></prop></propfind>',
      '<propfind xmlns="DAV:"><prop><x xmlns="&#0;"/></prop></propfind>',
      '<propfind xmlns="DAV:"><prop><x xmlns="&y;"/></prop></propfind>',
      '<!DOCTYPE x [<!ENTITY y "z">]><propfind xmlns="DAV:"><allprop/></propfind>',
      '<propfind xmlns="DAV:"><allprop/></propfind><propfind xmlns="DAV:"><allprop/></propfind>',
      '</propfind>',
      `<propfind xmlns="DAV:"><prop>${Array.from({ length: 65 }, (_, i) => `<p${i}/>`).join('')}</prop></propfind>`,
    ];
    for (const text of wrong) expect(parsePropfind(text), text).toBeUndefined();
  });

  test('of 64 KiB takes no longer than reading it', () => {
    const hard = ['<', '<a ', '<a b=', '<!--', '<?', '<a xmlns:b="c" ', '&', '<a b="c"\n'];
    const beganMs = performance.now();
    for (const text of hard) parsePropfind(text.repeat(65_536 / text.length));
    expect(performance.now() - beganMs).toBeLessThan(2_000);
  });
});

test.each([
  ['a prefix that stands for nothing', 'xmlns:bar=""'],
  ['a prefix that stands for two things', 'xmlns:bar="a" xmlns:bar="b"'],
  ['two namespaces of its own', 'xmlns="DAV:" xmlns="DAV:"'],
  ['the prefix of prefixes', 'xmlns:xmlns="a"'],
  ['the namespace of prefixes', 'xmlns:bar="http://www.w3.org/2000/xmlns/"'],
  ['another meaning of xml', 'xmlns:xml="a"'],
  ['the namespace of xml by another name', 'xmlns:bar="http://www.w3.org/XML/1998/namespace"'],
])('an element with %s makes it no body of a PROPFIND', (_what, attributes) => {
  const text = `<D:propfind xmlns:D="DAV:"><D:prop><foo ${attributes}/></D:prop></D:propfind>`;
  expect(parsePropfind(text)).toBeUndefined();
});
