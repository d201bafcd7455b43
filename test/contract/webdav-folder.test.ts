/** Snapshots as a folder: what RFC 4918 asks of a server that can be read, and what clients of it rely on. */
// Turn 3 of 8.
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openApiSite, type ApiSite } from '../support/api-site.ts';
import { A_LINK, MODIFIED, treeAgent, treeSnapshot, type TreeAgent } from '../support/tree-agent.ts';
import { addresses, dav, pathOf, type DavOptions, type DavReply } from '../support/webdav-client.ts';

const OLDER = { created_at: Date.UTC(2026, 0, 1) };
const DOCS = { home: { ana: { 'a.txt': 'first letters', sub: { b: '' }, link: A_LINK } } };

let site: ApiSite;
let agent: TreeAgent;
/** With the secret, and without a slash at its end. */
let base: string;

beforeAll(async () => {
  agent = treeAgent();
  site = await openApiSite({ agent });
  site.settings = { ...site.settings, timeZone: 'UTC' };
  base = pathOf(site.server.webdav.turnOn().address).slice(0, -1);
});

beforeEach(async () => {
  agent.kept.splice(
    0,
    agent.kept.length,
    treeSnapshot('b', '/home/ana', DOCS),
    treeSnapshot('a', '/home/ana', { home: { ana: { 'a.txt': 'older' } } }, OLDER),
  );
  agent.asked.length = 0;
  agent.failing.clear();
  // What was there is remembered for some seconds.
  await site.clock.advance(10_000);
});

afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

async function ask(path: string, options: DavOptions = {}): Promise<DavReply> {
  return await dav(site.port, base + path, options);
}

async function list(path: string): Promise<readonly string[]> {
  return (await addresses(site.port, base + path)).map((address) => address.slice(base.length));
}

const NEWER_TIME = '/home%2Bana%40desk/2026-01-02_00-00-00';
const LATEST = '/home%2Bana%40desk/latest';

describe('the folder', () => {
  test('has sources, in them times and the latest, and in these what the source held', async () => {
    expect(await list('/')).toEqual(['/', '/home%2Bana%40desk/']);
    expect(await list('/home%2Bana%40desk/')).toEqual([
      '/home%2Bana%40desk/',
      `${LATEST}/`,
      `${NEWER_TIME}/`,
      '/home%2Bana%40desk/2026-01-01_00-00-00/',
    ]);
    expect(await list(NEWER_TIME)).toEqual([`${NEWER_TIME}/`, `${NEWER_TIME}/a.txt`, `${NEWER_TIME}/sub/`]);
    expect(await list(`${NEWER_TIME}/sub/`)).toEqual([`${NEWER_TIME}/sub/`, `${NEWER_TIME}/sub/b`]);
    expect(await list(`${NEWER_TIME}/a.txt`)).toEqual([`${NEWER_TIME}/a.txt`]);
  });

  test('gives the files of the time that is named', async () => {
    expect((await ask(`${NEWER_TIME}/a.txt`)).text).toBe('first letters');
    expect((await ask(`${LATEST}/a.txt`)).text).toBe('first letters');
    expect((await ask('/home%2Bana%40desk/2026-01-01_00-00-00/a.txt')).text).toBe('older');
  });

  test('leaves out what no client could make of such a folder: links and devices', async () => {
    expect((await ask(`${NEWER_TIME}/link`)).status).toBe(404);
    expect(await list(NEWER_TIME)).not.toContain(`${NEWER_TIME}/link`);
  });

  test('says that there is nothing where there is nothing', async () => {
    for (const path of [
      '/x',
      '/home%2Bana%40desk/x',
      `${NEWER_TIME}/x`,
      `${NEWER_TIME}/a.txt/`,
      `${NEWER_TIME}/a.txt/x`,
    ]) {
      for (const method of ['GET', 'HEAD', 'PROPFIND']) {
        const { status, headers } = await ask(path, { method, headers: { depth: '1' } });
        expect([status, headers['content-type']], `${method} ${path}`).toEqual([
          404,
          'text/plain; charset=utf-8',
        ]);
      }
    }
  });

  test('names sources of this machine without it', async () => {
    agent.kept.push(treeSnapshot('c', '/home/ana', DOCS, { host: hostname() }));
    expect(await list('/')).toEqual(['/', '/home%2Bana%40desk/', '/home%2Bana/']);
  });

  test('shows a source that is a file in a folder, and several sources below what they share', async () => {
    agent.kept.splice(
      0,
      2,
      treeSnapshot('a', '/home/ana/a.txt', DOCS),
      treeSnapshot('b', '/home/ana/sub, /home/ana/a.txt', DOCS, {
        paths: ['/home/ana/sub', '/home/ana/a.txt'],
      }),
      treeSnapshot('c', '/etc, /home', { etc: {}, home: {} }, { paths: ['/etc', '/home'] }),
    );
    const [, file = '', both = '', apart = ''] = await list('/');
    expect(await list(`${file}latest`)).toContain(`${file}latest/a.txt`);
    expect((await ask(`${both}latest/sub/b`)).status).toBe(200);
    expect(await list(`${apart}latest`)).toEqual([
      `${apart}latest/`,
      `${apart}latest/etc/`,
      `${apart}latest/home/`,
    ]);
  });

  test('keeps names that are bytes', async () => {
    const names = ['caf\u00e9', '\u00c3\u00a9', '\n', 'a%2Fb', '<x>&"\'', ' ', '#?;=+', '...'];
    const tree = Object.fromEntries(names.map((name, index) => [name, `content ${index}`]));
    agent.kept.splice(0, 2, treeSnapshot('a', '/', tree));
    const [, ...found] = await list('/%2B%40desk/latest');
    expect(found).toHaveLength(names.length);
    for (const [index, path] of found.entries()) expect((await ask(path)).text).toBe(`content ${index}`);
  });

  test('asks another copy of a snapshot when one cannot be had', async () => {
    agent.kept.push(treeSnapshot('c', '/home/ana', DOCS, { destination: 'nas' }));
    agent.failing.set('b'.repeat(64), 'at once');
    expect((await ask(`${LATEST}/a.txt`)).text).toBe('first letters');
    expect(agent.asked.filter((what) => what === 'content')).toHaveLength(2);
  });

  test('of 2,500 entries comes in pieces and is whole', async () => {
    const crowd = Object.fromEntries(Array.from({ length: 2_500 }, (_, index) => [`f${index}`, '']));
    agent.kept.splice(0, 2, treeSnapshot('a', '/', { crowd }));
    expect(await list('/%2B%40desk/latest/crowd')).toHaveLength(2_501);
    expect(agent.asked.filter((what) => what === 'files')).toHaveLength(3);
  });

  test('of 100,000 entries is made no faster than the client takes it', async () => {
    const crowd = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`f${index}`, '']));
    agent.kept.splice(0, 2, treeSnapshot('a', '/', { crowd }));
    const path = `${base}/%2B%40desk/latest/crowd`;
    const at = { host: '127.0.0.1', port: site.port, path, agent: false };
    const request = httpRequest({ ...at, method: 'PROPFIND', headers: { depth: '1' } });
    request.end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    const pages = (): number => agent.asked.filter((what) => what === 'files').length;
    let before = -1;
    while (pages() !== before) {
      before = pages();
      await delay(500);
    }
    // As much as the buffers of the connection hold.
    expect(pages()).toBeLessThan(60);
    let text = '';
    for await (const part of response as AsyncIterable<Buffer>) text += part.toString('latin1');
    expect(text.match(/<D:response>/g)).toHaveLength(100_001);
    expect(text).toMatch(/<\/D:multistatus>\n$/);
  });

  test('does not ask for the snapshots again with every file', async () => {
    for (let count = 0; count < 20; count += 1) await ask(`${LATEST}/a.txt`);
    expect(agent.asked.filter((what) => what === 'snapshots')).toHaveLength(1);
    agent.kept.unshift(treeSnapshot('c', '/home/ana', {}, { created_at: Date.UTC(2026, 0, 3) }));
    await site.clock.advance(5_000);
    expect(await list('/home%2Bana%40desk')).toContain('/home%2Bana%40desk/2026-01-03_00-00-00/');
  });
});

describe('methods', () => {
  test('OPTIONS says what there is', async () => {
    for (const path of ['/', NEWER_TIME]) {
      const { status, headers, text } = await ask(path, { method: 'OPTIONS' });
      expect([status, text]).toEqual([200, '']);
      expect(headers).toMatchObject({ dav: '1', allow: 'OPTIONS, PROPFIND, GET, HEAD' });
    }
  });

  test('the server says at its root that it has folders, to whoever asks, and only while it has', async () => {
    for (const path of ['/', '/dav', '/dav/']) {
      const { status, headers, text } = await dav(site.port, path, { method: 'OPTIONS' });
      expect([status, text]).toEqual([200, '']);
      expect(headers).toMatchObject({ dav: '1', 'ms-author-via': 'DAV' });
    }
    const root = await dav(site.port, '/', { method: 'PROPFIND', headers: { depth: '1' } });
    expect([root.status, root.text.match(/<D:href>/g)]).toEqual([207, ['<D:href>']]);
    expect((await dav(site.port, '/dav/', { method: 'PROPFIND', headers: { depth: '0' } })).status).toBe(401);
    expect((await dav(site.port, '/', { method: 'OPTIONS', headers: { host: 'evil.example' } })).status).toBe(
      403,
    );
    expect((await dav(site.port, '/', { method: 'POST' })).headers['dav']).toBeUndefined();
    site.server.webdav.turnOff();
    const off = await dav(site.port, '/', { method: 'OPTIONS' });
    base = pathOf(site.server.webdav.turnOn().address).slice(0, -1);
    expect([off.status, off.headers['dav']]).toEqual([405, undefined]);
  });

  test('PROPFIND tells an entry alone, or with what is in it, and never everything', async () => {
    expect(await addresses(site.port, `${base}/home%2Bana%40desk/`, '0')).toEqual([
      `${base}/home%2Bana%40desk/`,
    ]);
    for (const headers of [{ depth: 'infinity' }, {}, { depth: '2' }]) {
      const reply = await ask('/', { method: 'PROPFIND', headers });
      expect([reply.status, reply.headers['content-type']]).toEqual([403, 'application/xml; charset=utf-8']);
      expect(reply.text).toContain('<D:error xmlns:D="DAV:"><D:propfind-finite-depth/></D:error>');
    }
  });

  test('PROPFIND tells what it is asked for', async () => {
    const body = '<propfind xmlns="DAV:"><prop><getcontentlength/><quota-used-bytes/></prop></propfind>';
    const options = { method: 'PROPFIND', headers: { depth: '0', 'content-type': 'application/xml' }, body };
    const reply = await ask(`${NEWER_TIME}/a.txt`, options);
    expect([reply.status, reply.headers['content-type']]).toEqual([207, 'application/xml; charset=utf-8']);
    expect(reply.text).toContain('<D:getcontentlength>13</D:getcontentlength>');
    expect(reply.text).toContain(
      '<quota-used-bytes xmlns="DAV:"/></D:prop><D:status>HTTP/1.1 404 Not Found</D:status>',
    );
    expect((await ask('/', { ...options, body: '<x/>' })).status).toBe(400);
    expect((await ask('/', { ...options, body: ' '.repeat(70_000) })).status).toBe(413);
  });

  test('GET and HEAD of a folder say what it is', async () => {
    const get = await ask(LATEST);
    expect([get.status, get.text]).toEqual([200, expect.stringContaining('This is a folder')]);
    const head = await ask(LATEST, { method: 'HEAD' });
    expect([head.status, head.text, head.headers['content-length']]).toEqual([
      200,
      '',
      get.headers['content-length'],
    ]);
  });

  test('what would change something is refused in words', async () => {
    const writing = [
      'PUT',
      'DELETE',
      'MKCOL',
      'COPY',
      'MOVE',
      'PROPPATCH',
      'LOCK',
      'UNLOCK',
      'POST',
      'PATCH',
    ];
    for (const path of ['/', '/new', LATEST, `${LATEST}/a.txt`]) {
      for (const method of writing) {
        const reply = await ask(path, { method, headers: { destination: `${base}/x` }, body: 'x' });
        expect([reply.status, reply.text], `${method} ${path}`).toEqual([
          403,
          'Snapshots never change. This folder is read-only. Copy what you need to another folder.\n',
        ]);
      }
      const other = await ask(path, { method: 'REPORT' });
      expect([other.status, other.headers.allow]).toEqual([405, 'OPTIONS, PROPFIND, GET, HEAD']);
    }
    expect(agent.asked).toEqual([]);
  });
});

describe('a file', () => {
  const file = `${NEWER_TIME}/a.txt`;

  test('comes with what tells it from others', async () => {
    const get = await ask(file);
    expect(get.headers).toMatchObject({
      'content-length': '13',
      'accept-ranges': 'bytes',
      'last-modified': new Date(MODIFIED).toUTCString(),
    });
    const head = await ask(file, { method: 'HEAD' });
    expect([head.status, head.text]).toEqual([200, '']);
    const { date: _date, 'x-request-id': _id, ...told } = head.headers;
    expect(get.headers).toMatchObject(told);
    const { etag } = get.headers;
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    expect((await ask(`${LATEST}/a.txt`)).headers.etag).toBe(etag);
    expect((await ask('/home%2Bana%40desk/2026-01-01_00-00-00/a.txt')).headers.etag).not.toBe(etag);
    expect((await ask(NEWER_TIME, { method: 'PROPFIND', headers: { depth: '1' } })).text).toContain(
      `<D:getetag>&quot;${etag?.slice(1, -1)}&quot;</D:getetag>`,
    );
  });

  test('comes in parts', async () => {
    const part = async (range: string) => {
      const reply = await ask(file, { headers: { range } });
      return [reply.status, reply.text, reply.headers['content-range']];
    };
    expect(await part('bytes=0-4')).toEqual([206, 'first', 'bytes 0-4/13']);
    expect(await part('bytes=6-')).toEqual([206, 'letters', 'bytes 6-12/13']);
    expect(await part('bytes=-3')).toEqual([206, 'ers', 'bytes 10-12/13']);
    expect(await part('bytes=0-0,2-2')).toEqual([200, 'first letters', undefined]);
    expect(await part('bytes=13-')).toEqual([416, expect.any(String), 'bytes */13']);
    const { text, status } = await ask(`${NEWER_TIME}/sub/b`);
    expect([status, text]).toEqual([200, '']);
  });

  test('is sent on conditions', async () => {
    const { etag = '', 'last-modified': time = '' } = (await ask(file)).headers;
    const status = async (headers: DavOptions['headers'], path = file): Promise<number> =>
      (await ask(path, { headers: headers ?? {} })).status;
    expect(await status({ 'if-none-match': etag })).toBe(304);
    expect(await status({ 'if-modified-since': time })).toBe(304);
    expect(await status({ 'if-match': '"other"' })).toBe(412);
    expect(await status({ range: 'bytes=1-', 'if-range': etag })).toBe(206);
    expect(await status({ range: 'bytes=1-', 'if-range': time })).toBe(206);
    expect(await status({ range: 'bytes=1-', 'if-range': '"other"' })).toBe(200);
    // Tomorrow the latest may have another file of that time.
    expect(await status({ range: 'bytes=1-', 'if-range': time }, `${LATEST}/a.txt`)).toBe(200);
    expect(await status({ 'if-modified-since': time }, `${LATEST}/a.txt`)).toBe(200);
  });

  test('that breaks off is not taken for a whole one', async () => {
    agent.failing.set('b'.repeat(64), 'midway');
    await expect(ask(file)).rejects.toMatchObject({ code: 'ECONNRESET' });
    agent.failing.set('b'.repeat(64), 'at once');
    const reply = await ask(file);
    expect([reply.status, reply.text]).toEqual([502, 'The drive is away\n']);
  });
});
