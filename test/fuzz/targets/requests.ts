/** Values of requests to the APIs: bodies, cursors, paths, times, headers, and the XML of WebDAV. */
import { ApiError } from '../../../src/api/wire/api-error.ts';
import { readRange } from '../../../src/api/wire/headers.ts';
import { createCursors } from '../../../src/api/wire/cursor.ts';
import { parseJsonBody } from '../../../src/api/wire/json-body.ts';
import { DEFAULT_LIMITS } from '../../../src/api/wire/limits.ts';
import {
  parseTime,
  readPath,
  readPathB64,
  readSnapshot,
  readWait,
} from '../../../src/api/routes/request-values.ts';
import { parsePropfind } from '../../../src/api/webdav/propfind-body.ts';
import { WEBDAV_ROOT, encodeNames, readWebdavTarget } from '../../../src/api/webdav/target.ts';
import { HoldfastError } from '../../../src/base/errors.ts';
import { decodeCursor, encodeCursor } from '../../../src/catalog/answers/list-order.ts';

import { parseForm } from '../../../src/partner/console/forms.tsx';
import { parseMultistatus } from '../../support/parsed-multistatus.ts';
import { changeJson, judged, need, parsed, requireEqual, textOf } from '../structured.ts';
import type { FuzzTarget, TargetTable, Verdict } from '../target.ts';

const isApiError = (error: unknown): boolean => error instanceof ApiError && error.statusCode === 400;

const cursors = createCursors(Buffer.alloc(32, 3));
const FILTERS = { source: '/home', status: undefined, limit: 5 };
const LIST = { epoch: 'e', list: 'files path', ordinals: [1, 2], key: 'a/b', tie: 7 };

const PROPFIND = [
  '<?xml version="1.0"?><D:propfind xmlns:D="DAV:"><D:prop><D:getetag/><x xmlns="urn:x"/></D:prop></D:propfind>',
  '<propfind xmlns="DAV:"><allprop/></propfind>',
  "<a:propfind xmlns:a='DAV:'><!-- c --><a:propname></a:propname></a:propfind>",
];
const MULTISTATUS = `<?xml version="1.0"?><D:multistatus xmlns:D="DAV:"><D:response><D:href>/dav/a%20b/</D:href>
<D:propstat><D:prop><D:resourcetype><D:collection/></D:resourcetype><D:getcontentlength>12</D:getcontentlength>
<D:getlastmodified>Sun, 06 Nov 1994 08:49:37 GMT</D:getlastmodified></D:prop><D:status>HTTP/1.1 200 OK</D:status>
</D:propstat></D:response><D:response><D:href>http://h/b&#x41;&amp;</D:href><D:propstat><D:prop><![CDATA[x]]></D:prop>
<D:status>HTTP/1.1 200 OK</D:status></D:propstat></D:response></D:multistatus>`;
const XML = [
  '<',
  '>',
  '</',
  '/>',
  '<!--',
  '-->',
  '<?',
  '?>',
  '<![CDATA[',
  ']]>',
  ' xmlns:',
  '="',
  "'",
  '&#x',
  '&amp;',
  ':',
  ' ',
];

/** One of several small parsers: the first byte says which. */
function oneOf(parsers: readonly ((text: string) => Verdict)[]): FuzzTarget['run'] {
  return (input) => parsers[(input[0] ?? 0) % parsers.length]?.(textOf(input.subarray(1))) ?? 'refused';
}

const numbered = (number: number, text: string): Buffer =>
  Buffer.concat([Buffer.of(number), Buffer.from(text)]);

export const REQUESTS: TargetTable<'requests'> = {
  'json-body': () => ({
    files: ['src/api/wire/json-body.ts'],
    seeds: [
      Buffer.from('{"a":[1,2,{"b":"c\\u0041"}],"d":null,"e\\"":true}'),
      Buffer.from('["{","\\\\",","]'),
    ],
    maxBytes: DEFAULT_LIMITS.bodyBytes,
    words: ['"', '\\', '{', '}', '[', ']', ',', ':', '\\u', '__proto__', '"a":', '1e', '\uFEFF'],
    change: changeJson,
    run: (input) =>
      judged(
        parsed(() => parseJsonBody(input, DEFAULT_LIMITS), isApiError),
        (value) => {
          if (input.length > 0) requireEqual(value, JSON.parse(new TextDecoder().decode(input)), 'the body');
        },
      ),
  }),
  cursor: () => ({
    files: ['src/api/wire/cursor.ts'],
    seeds: ['', 'position', '\u{1f600}'].map((position) =>
      Buffer.from(cursors.seal('jobs', FILTERS, position)),
    ),
    maxBytes: 8_192,
    words: ['-', '_', '=', '+', '/', ' '],
    run: (input) => {
      const text = textOf(input);
      // As a position it may be anything that a list has given out.
      requireEqual(cursors.open('jobs', FILTERS, cursors.seal('jobs', FILTERS, text)), text, 'the position');
      return judged(
        parsed(() => cursors.open('jobs', FILTERS, text), isApiError),
        (position) => {
          requireEqual(cursors.seal('jobs', FILTERS, position ?? ''), text, 'the cursor given out again');
        },
      );
    },
  }),
  // The input is the JSON inside of it.
  'catalog-cursor': () => ({
    files: ['src/catalog/answers/list-order.ts'],
    seeds: [Buffer.from(JSON.stringify(Object.values(LIST))), Buffer.from('["e","files path",[],5,0]')],
    maxBytes: 8_192,
    change: changeJson,
    run: (input) => {
      const isRefusal = (error: unknown): boolean =>
        error instanceof HoldfastError && error.code === 'INVALID_CURSOR';
      parsed(() => decodeCursor(textOf(input), LIST.epoch, LIST.list), isRefusal);
      return judged(
        parsed(() => decodeCursor(input.toString('base64url'), LIST.epoch, LIST.list), isRefusal),
        (cursor) => {
          requireEqual(decodeCursor(encodeCursor(cursor), LIST.epoch, LIST.list), cursor, 'the cursor');
        },
      );
    },
  }),
  'request-values': () => ({
    files: ['src/api/routes/request-values.ts', 'src/api/wire/headers.ts', 'src/partner/console/forms.tsx'],
    seeds: [
      numbered(0, '/home/ana/ü'),
      numbered(1, Buffer.from('/home/\xff', 'latin1').toString('base64')),
      numbered(2, '2026-11-21T17:40:00.5+01:00'),
      numbered(2, '2024-02-29t23:59:59z'),
      numbered(3, '2026-11-21T16:40:00Z'),
      numbered(4, 'respond-async, wait=10;x=1'),
      numbered(5, 'bytes=5-10'),
      numbered(5, 'bytes = -3'),
      numbered(6, 'a=1&b=%41&a=2'),
    ],
    maxBytes: 65_536,
    words: ['wait', '=', ',', 'bytes', '-', '0', '9', 'T', 'Z', '+', ':', '%', '&', ' ', '\t', '"', ';'],
    run: oneOf([
      (text) =>
        judged(
          parsed(() => readPath('path', text), isApiError),
          (path) => need(!path.includes('\0'), 'NUL'),
        ),
      (text) =>
        judged(
          parsed(() => readPathB64('path_b64', text), isApiError),
          (path) => {
            requireEqual(readPathB64('p', Buffer.from(path, 'latin1').toString('base64')), path, 'the path');
          },
        ),
      (text) => {
        const ms = parseTime(text);
        if (ms === undefined) return 'refused';
        requireEqual(parseTime(new Date(ms).toISOString()) ?? ms, ms, 'the time written again');
        return 'taken';
      },
      (text) => judged(parsed(() => readSnapshot(text), isApiError)),
      (text) => {
        const wait = readWait(text, 60);
        need(wait === undefined || (wait >= 0 && wait <= 60), 'the wait is out of bounds');
        return wait === undefined ? 'refused' : 'taken';
      },
      (text) => {
        const range = readRange(text, 100);
        if (range === undefined || range === 'unsatisfiable') return 'refused';
        need(range.start >= 0 && range.start < range.end && range.end <= 100, 'the range is out of bounds');
        return 'taken';
      },
      (text) =>
        judged(
          parsed(() => parseForm(Buffer.from(text)), isApiError),
          (form) => {
            need(form.secret('a') === '' || form.all('a').length === 1, 'a field that is there twice counts');
          },
        ),
    ]),
  }),
  'webdav-target': () => ({
    files: ['src/api/webdav/target.ts'],
    seeds: ['/dav/here/2026/a%20b/', '/dav', '/dav/%ff%C3%A4?x'].map((text) => Buffer.from(text)),
    maxBytes: 16_384,
    words: ['%2F', '%00', '%2e', '..', '/', '%', '?', '#'],
    run: (input) => {
      const target = readWebdavTarget(WEBDAV_ROOT + input.toString('latin1'));
      if (target === undefined) return 'refused';
      need(
        target.names.every((name) => !['', '.', '..'].includes(name) && !/[/\0]/.test(name)),
        'a name leads elsewhere',
      );
      requireEqual(
        readWebdavTarget(WEBDAV_ROOT + encodeNames(target.names))?.names,
        target.names,
        'the names',
      );
      return 'taken';
    },
  }),
  propfind: () => ({
    files: ['src/api/webdav/propfind-body.ts'],
    seeds: PROPFIND.map((text) => Buffer.from(text)),
    maxBytes: 65_536,
    words: [...XML, 'DAV:', 'xmlns', '<D:prop>', '</D:prop>'],
    run: (input) => {
      const wanted = parsePropfind(textOf(input));
      if (wanted === undefined) return 'refused';
      // It is repeated in the answer.
      const written =
        wanted.kind === 'these' ? wanted.names.flatMap(({ namespace, name }) => [namespace, name]) : [];
      need(
        written.every(
          (text) => /^[^<>"'\p{Cc}]*$/u.test(text) && !/&(?!(?:#\d+|amp|lt|gt|quot|apos);)/.test(text),
        ),
        'a name that would end the answer',
      );
      return 'taken';
    },
  }),
  multistatus: () => ({
    files: ['src/destination/webdav/multistatus.ts'],
    seeds: [Buffer.from(MULTISTATUS)],
    maxBytes: 262_144,
    words: [...XML, '<D:response>', '</D:response>', '%zz', '&#1114112;', '&#xffffff;', 'D:'],
    run: (input) => {
      const entries = parseMultistatus(textOf(input));
      if (entries === undefined) return 'refused';
      need(
        entries.every(({ size }) => size === undefined || Number.isSafeInteger(size)),
        'a size that is none',
      );
      return 'taken';
    },
  }),
};
