import { afterEach, describe, expect, it } from 'vitest';
import { nameServerResolver, resolveLocalName } from '../../../../src/partner/webhooks/resolver.ts';
import { startNameServer, type NameServer } from '../../../support/name-server.ts';

let server: NameServer | undefined;
afterEach(async () => {
  await server?.[Symbol.asyncDispose]();
  server = undefined;
});

const { signal } = new AbortController();

async function resolved(answer: NameServer['answer'], until = signal): Promise<readonly string[]> {
  server = await startNameServer(answer);
  return await nameServerResolver([server.address])('hooks.receiver.example', until);
}

describe('the addresses of a name', () => {
  it('are all of both kinds', async () => {
    const found = await resolved(({ type }) =>
      type === 'A' ? ['192.0.2.1', '10.0.0.1'] : ['2001:db8::1', '::ffff:7f00:1'],
    );
    expect(found.toSorted()).toEqual(['10.0.0.1', '192.0.2.1', '2001:db8::1', '::ffff:127.0.0.1'].toSorted());
    expect(server?.asked.toSorted((a, b) => a.type.localeCompare(b.type))).toEqual([
      { name: 'hooks.receiver.example', type: 'A' },
      { name: 'hooks.receiver.example', type: 'AAAA' },
    ]);
  });

  it('may be of one kind only', async () => {
    expect(await resolved(({ type }) => (type === 'A' ? [] : ['2001:db8::1']))).toEqual(['2001:db8::1']);
  });

  it('are found when the other kind cannot be asked for', async () => {
    expect(await resolved(({ type }) => (type === 'A' ? ['192.0.2.1'] : 'SERVFAIL'))).toEqual(['192.0.2.1']);
  });

  it('may be none', async () => {
    expect(await resolved(() => 'NXDOMAIN')).toEqual([]);
  });

  it('are not none when the name server fails', async () => {
    await expect(resolved(() => 'SERVFAIL')).rejects.toMatchObject({ code: 'ESERVFAIL' });
  });

  it('are not waited for when the caller has no more time', async () => {
    const stop = new AbortController();
    const reason = new Error('too slow');
    setTimeout(() => stop.abort(reason), 50);
    await expect(resolved(() => 'silence', stop.signal)).rejects.toBe(reason);
  });
});

it('names of this machine lead to it', async () => {
  expect(await resolveLocalName('localhost', signal)).toContain('127.0.0.1');
  expect(await resolveLocalName('127.0.0.1', signal)).toEqual(['127.0.0.1']);
});
