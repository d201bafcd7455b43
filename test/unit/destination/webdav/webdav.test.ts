/** A folder on a WebDAV server that does not answer as it should, or in whose place something else answers. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Destination } from '../../../../src/destination/destination.ts';
import { withRetry } from '../../../../src/destination/retry.ts';
import { openWebdavDestination } from '../../../../src/destination/webdav/webdav.ts';
import {
  multistatus,
  startWebdavStore,
  type DavAnswer,
  type DavFault,
  type WebdavStore,
} from '../../../support/webdav-store.ts';

const live = new AbortController().signal;
const LOGIN = 'https://sign-in.example/?to=/dav/';

let store: WebdavStore;
let destination: Destination;

beforeEach(async () => {
  store = await startWebdavStore();
  destination = await openWebdavDestination(store.place, {});
  await destination.put('packs/aa/one', Buffer.from('one'), live);
  await destination.put('snapshots/s', Buffer.from('snapshot'), live);
});

afterEach(async () => {
  await destination.close();
  await store[Symbol.asyncDispose]();
});

async function keys(prefix = ''): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const page of destination.list(prefix, live)) found.push(...page.map(({ key }) => key));
  return found.toSorted();
}

describe('a sign-in page in place of the server', () => {
  test.each([301, 302, 303, 307, 308])('is no answer to anything (%i)', async (status) => {
    store.fault = () => ({ status, location: LOGIN });
    const expected = { kind: 'unreachable', retry: 'later' };
    await expect(keys()).rejects.toMatchObject(expected);
    await expect(destination.get('snapshots/s', undefined, live)).rejects.toMatchObject(expected);
    await expect(destination.stat('snapshots/s', live)).rejects.toMatchObject(expected);
    await expect(destination.put('new/a', Buffer.from('a'), live)).rejects.toMatchObject(expected);
    await expect(destination.delete('snapshots/s', live)).rejects.toMatchObject(expected);
    await expect(openWebdavDestination(store.place, {})).rejects.toMatchObject(expected);
  });

  test('is waited for, too, where it comes at once', async () => {
    store.fault = () => ({ status: 200, type: 'text/html; charset=utf-8', text: '<html>Sign in</html>' });
    const expected = {
      kind: 'unreachable',
      retry: 'later',
      message: expect.stringContaining('something else answers, such as the sign-in page of a network'),
    };
    await expect(keys()).rejects.toMatchObject(expected);
    await expect(destination.stat('snapshots/s', live)).rejects.toMatchObject(expected);
    await expect(openWebdavDestination(store.place, {})).rejects.toMatchObject(expected);
  });

  test.each(['MKCOL', 'PUT', 'MOVE', 'GET'])('is no answer to %s', async (method) => {
    store.fault = (asked) => (asked === method ? { status: 302, location: LOGIN } : undefined);
    const call =
      method === 'GET'
        ? destination.get('snapshots/s', undefined, live)
        : destination.put('new/a', Buffer.from('a'), live);
    await expect(call).rejects.toMatchObject({ kind: 'unreachable', retry: 'later' });
  });

  test('makes no list shorter', async () => {
    for (const hidden of ['/dav/packs/aa', '/dav/snapshots']) {
      store.fault = (method, path) =>
        method === 'PROPFIND' && path === hidden ? { status: 302, location: LOGIN } : undefined;
      await expect(keys()).rejects.toMatchObject({ kind: 'unreachable' });
    }
    await expect(keys('snapshots/')).rejects.toMatchObject({ kind: 'unreachable' });
    store.fault = () => undefined;
    expect(await keys()).toEqual(['packs/aa/one', 'snapshots/s']);
  });
});

test('a redirect to the name with a slash tells of a folder', async () => {
  const location = `${store.origin}/dav/packs/aa/`;
  store.fault = (_, path) => (path === '/dav/packs/aa' ? { status: 301, location } : undefined);
  await expect(destination.get('packs/aa', undefined, live)).rejects.toMatchObject({ kind: 'not-found' });
  await expect(destination.stat('packs/aa', live)).rejects.toMatchObject({ kind: 'not-found' });
});

test('a server that is found at another address is told of as one', async () => {
  store.fault = (_, path) => ({ status: 301, location: `https://127.0.0.1${path}/` });
  await expect(
    openWebdavDestination({ ...store.place, url: `${store.origin}/dav/` }, {}),
  ).rejects.toMatchObject({
    kind: 'unsupported',
  });
});

const withoutItself =
  (asked: string): DavFault =>
  (method, path) =>
    method === 'PROPFIND' && path === asked
      ? {
          status: 207,
          text: multistatus(
            [...store.tree].filter(
              ([name]) => name.startsWith(`${path}/`) && !name.slice(path.length + 1).includes('/'),
            ),
          ),
        }
      : undefined;

test.each(['/dav/packs', '/dav/packs/aa', '/dav/snapshots'])(
  'a list of %s without the folder itself is no shorter list',
  async (asked) => {
    store.fault = withoutItself(asked);
    await expect(keys()).rejects.toMatchObject({ kind: 'corrupt-reply' });
  },
);

test('an object that may not be read is denied, and a folder is no object', async () => {
  store.fault = (method) => (method === 'GET' ? { status: 403 } : undefined);
  await expect(destination.get('snapshots/s', undefined, live)).rejects.toMatchObject({
    kind: 'denied',
    retry: 'never',
  });
  await expect(destination.get('snapshots', undefined, live)).rejects.toMatchObject({ kind: 'not-found' });
});

describe('a folder that has gone, as when what it lies on is not mounted', () => {
  const away = { kind: 'unreachable', retry: 'later' };

  test('says nothing of its objects', async () => {
    store.tree.clear();
    await expect(destination.get('packs/aa/one', undefined, live)).rejects.toMatchObject(away);
    await expect(destination.get('packs/aa/one', { offset: -1, length: 1 }, live)).rejects.toMatchObject(
      away,
    );
    await expect(destination.stat('packs/aa/one', live)).rejects.toMatchObject(away);
    await expect(destination.delete('packs/aa/one', live)).rejects.toMatchObject(away);
    await expect(keys()).rejects.toMatchObject(away);
  });

  test('while an object is deleted has not deleted it', async () => {
    store.fault = (method) => {
      if (method === 'DELETE') store.tree.clear();
      return undefined;
    };
    await expect(destination.delete('packs/aa/one', live)).rejects.toMatchObject(away);
  });

  test('is asked about only where an object is not there', async () => {
    const before = store.asked.length;
    await destination.get('packs/aa/one', undefined, live);
    await destination.stat('packs/aa/one', live);
    await destination.delete('packs/aa/one', live);
    expect(store.asked.slice(before)).not.toContain('PROPFIND /dav');
    await destination.delete('packs/aa/one', live);
    await expect(destination.stat('packs/aa/one', live)).rejects.toMatchObject({ kind: 'not-found' });
    await expect(destination.get('packs', undefined, live)).rejects.toMatchObject({ kind: 'not-found' });
  });
});

describe('a server that takes nothing', () => {
  test.each([
    ['is full', 507, ['PUT'], 'full'],
    ['may not be written to', 500, ['PUT', 'MKCOL'], 'unreachable'],
    ['refuses', 403, ['PUT', 'MKCOL'], 'denied'],
  ])('since it %s is opened and read, and a put tells why it fails', async (_, status, refused, kind) => {
    store.fault = (method) => (refused.includes(method) ? { status } : undefined);
    const opened = await openWebdavDestination(store.place, {});
    expect((await opened.get('snapshots/s', undefined, live)).toString()).toBe('snapshot');
    await expect(opened.put('snapshots/t', Buffer.from('t'), live)).rejects.toMatchObject({ kind });
    store.fault = () => undefined;
    await opened.put('snapshots/t', Buffer.from('t'), live);
    await opened.close();
  });

  test('is asked for nothing but reading by who only reads', async () => {
    store.asked.length = 0;
    const opened = await openWebdavDestination(store.place, {});
    await opened.stat('snapshots/s', live);
    expect(new Set(store.asked.map((line) => line.split(' ')[0]))).toEqual(new Set(['PROPFIND']));
    expect(opened.properties.conditionalCreate).toBe(false);
    await Promise.all(['a', 'b'].map(async (key) => await opened.put(key, Buffer.from(key), live)));
    expect(opened.properties.conditionalCreate).toBe(true);
    // One trial of six rivals, and a claim for each of the two objects.
    expect(store.asked.filter((line) => line.startsWith('MKCOL'))).toHaveLength(8);
    await opened.close();
  });
});

describe('a move whose answer is lost', () => {
  /** The first move is answered so, after it was done or instead. */
  function losing(answer: DavAnswer | 'cut the line', isDone: boolean): void {
    let times = 1;
    store.fault = (method, _, perform) => {
      if (method !== 'MOVE' || times === 0) return undefined;
      times -= 1;
      if (isDone) perform();
      return answer;
    };
  }

  const LOST = [
    ['502', { status: 502 }],
    ['504', { status: 504 }],
    ['500', { status: 500 }],
    ['an end of the connection', 'cut the line'],
  ] as const;

  test.each(LOST)('with %s, after it was done, has stored the object', async (_, answer) => {
    losing(answer, true);
    expect(await destination.put('packs/aa/two', Buffer.from('two'), live)).toMatchObject({ size: 3 });
    expect(await keys()).toEqual(['packs/aa/one', 'packs/aa/two', 'snapshots/s']);
    expect([...store.tree.keys()].filter((name) => name.includes('tmp') || name.includes('claim'))).toEqual(
      [],
    );
  });

  test.each(LOST.slice(0, 3))('with %s, and was not done, passes', async (_, answer) => {
    losing(answer, false);
    await expect(destination.put('packs/aa/two', Buffer.from('two'), live)).rejects.toMatchObject({
      kind: 'unreachable',
    });
    expect(store.asked.filter((line) => line.startsWith('MOVE /dav/packs/aa')).length).toBeLessThanOrEqual(3);
    await destination.put('packs/aa/two', Buffer.from('two'), live);
  });

  test('is made again when the server had closed the connection that was kept', async () => {
    losing('cut the line', false);
    const before = store.asked.length;
    await destination.put('packs/aa/two', Buffer.from('two'), live);
    expect(store.asked.slice(before).filter((line) => line.startsWith('MOVE /dav/packs/aa'))).toHaveLength(2);
  });

  test('says that the name is taken when it is another who has it', async () => {
    store.fault = (method, path, perform) => {
      if (method !== 'MOVE' || path.includes('two')) return undefined;
      store.tree.set('/dav/packs/aa/two', { body: Buffer.from('2nd'), ms: Date.now() });
      return perform();
    };
    await expect(destination.put('packs/aa/two', Buffer.from('two'), live)).rejects.toMatchObject({
      kind: 'exists',
    });
    expect((await destination.get('packs/aa/two', undefined, live)).toString()).toBe('2nd');
  });
});

describe('a claim that was made and whose answer is lost', () => {
  test.each([
    ['504', { status: 504 }, 1],
    ['500', { status: 500 }, 3],
  ] as const)('with %s, keeps nobody from storing', async (_, answer, lost) => {
    let times: number = lost;
    store.fault = (method, path, perform) => {
      if (method !== 'MKCOL' || !path.includes('.tmp-') || times === 0) return undefined;
      times -= 1;
      perform();
      // Made a second before what is stored from now on: servers tell no smaller parts of time.
      store.tree.set(path, { ms: Date.now() - 1_000 });
      return answer;
    };
    const patient = withRetry(destination, undefined, async () => {});
    expect(await patient.put('packs/aa/two', Buffer.from('two'), live)).toMatchObject({ size: 3 });
    expect(await keys()).toEqual(['packs/aa/one', 'packs/aa/two', 'snapshots/s']);
    expect([...store.tree.keys()].filter((name) => name.includes('tmp'))).toEqual([]);
  });
});

describe('a server that closes kept connections whenever it likes', () => {
  /** The first requests of the method are cut. */
  function cutting(method: string, times: number, isDone: boolean): void {
    let left = times;
    store.fault = (asked, _, perform) => {
      if (asked !== method || left === 0) return undefined;
      left -= 1;
      if (isDone) perform();
      return 'cut the line';
    };
  }

  test('is asked once more for the folder that is a claim', async () => {
    cutting('MKCOL', 1, false);
    expect(await destination.put('packs/aa/two', Buffer.from('two'), live)).toMatchObject({ size: 3 });
    expect([...store.tree.keys()].filter((name) => name.includes('claim'))).toEqual([]);
  });

  test('is tried out again where the answer of who made the folder is lost', async () => {
    const opened = await openWebdavDestination(store.place, {});
    // So that there is a connection that was kept.
    await opened.stat('snapshots/s', live);
    cutting('MKCOL', 1, true);
    await opened.put('packs/aa/three', Buffer.from('three'), live);
    // Two trials of six rivals, one of whom asked again, and the claim: without it the server would count as unable.
    expect(store.asked.filter((line) => line.startsWith('MKCOL')).length).toBeGreaterThanOrEqual(6 + 6 + 1);
    const before = store.asked.length;
    await opened.put('packs/aa/four', Buffer.from('four'), live);
    expect(store.asked.slice(before).filter((line) => line.startsWith('MKCOL'))).toHaveLength(1);
    await opened.close();
  });
});

describe('a list in which the server tells not of all', () => {
  /** The answer to a list of the folder, changed. */
  function listing(folder: string, change: (text: string) => string): void {
    store.fault = (method, path, perform) => {
      const answer = perform();
      const isIt = method === 'PROPFIND' && path === folder && answer.text !== undefined;
      return isIt ? { ...answer, text: change(answer.text ?? '') } : answer;
    };
  }
  const beside = (href: string, status: string) => (text: string) =>
    text.replace(
      '</D:multistatus>',
      `<D:response><D:href>${href}</D:href><D:status>HTTP/1.1 ${status}</D:status></D:response></D:multistatus>`,
    );

  test.each(['/dav/Private%20Stuff/', '/dav/%ZZ', '/dav/a%2Fb', '/dav/lost+found/'])(
    'is one without %s, which is no name of ours',
    async (href) => {
      listing('/dav', beside(href, '403 Forbidden'));
      expect(await keys()).toEqual(['packs/aa/one', 'snapshots/s']);
    },
  );

  test('is one without what went meanwhile', async () => {
    listing('/dav', beside('/dav/gone', '404 Not Found'));
    expect(await keys()).toEqual(['packs/aa/one', 'snapshots/s']);
  });

  test('names what may be ours, at once', async () => {
    listing('/dav/packs', beside('/dav/packs/bb/', '403 Forbidden'));
    await expect(keys()).rejects.toMatchObject({
      kind: 'denied',
      retry: 'never',
      message: expect.stringContaining('packs/bb'),
    });
  });

  test.each([
    ['getlastmodified', /when it was stored/],
    ['getcontentlength', /how large it is/],
  ])('says at once that it has no %s, whatever is asked', async (name, words) => {
    store.fault = (_method, _path, perform) => {
      const answer = perform();
      const text = answer.text?.replaceAll(new RegExp(`<D:${name}>[^<]*</D:${name}>`, 'g'), '');
      return text === undefined ? answer : { ...answer, text };
    };
    const expected = { kind: 'unsupported', retry: 'never', message: expect.stringMatching(words) };
    const before = store.asked.length;
    await expect(keys()).rejects.toMatchObject(expected);
    await expect(destination.stat('snapshots/s', live)).rejects.toMatchObject(expected);
    await expect(withRetry(destination).put('new/a', Buffer.from('a'), live)).rejects.toMatchObject(expected);
    expect(store.asked.filter((asked) => asked.startsWith('PUT')).length).toBeLessThan(before);
    await expect(destination.stat('snapshots/none', live)).rejects.toMatchObject({ kind: 'not-found' });
  });
});

test('the refusal to make a folder above is why the folder cannot be made', async () => {
  store.fault = (method, path) => {
    if (method !== 'MKCOL') return undefined;
    return { status: path.replace(/\/$/, '').endsWith('/above') ? 403 : 409 };
  };
  const place = { ...store.place, url: `${store.place.url}/above/below` };
  await expect(openWebdavDestination(place, {}, { create: true })).rejects.toMatchObject({
    kind: 'denied',
    message: expect.stringMatching(/Cannot create the folder .*above in .*: the store refuses/) as string,
  });
});
