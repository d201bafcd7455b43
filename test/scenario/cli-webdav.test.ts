/** `holdfast webdav`. The program must be built. */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { jsonLines, openPlace } from '../support/cli.ts';

const fresh = { HOLDFAST_REPOSITORY: undefined, HOLDFAST_PASSWORD: undefined };

test('the folder of snapshots is turned on and off, and its secret shown once', async () => {
  await using place = await openPlace();
  const none = await place.run(['webdav', 'on'], { env: fresh });
  expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('No agent is running')]);
  const agent = place.start(['start', '--port', '0'], { env: fresh });
  try {
    while ((await place.run(['webdav', 'address'], { env: fresh })).code !== 0) await delay(200);
    const run = async (...words: readonly string[]): Promise<string> =>
      (await place.expectRun(['webdav', ...words], 0, { env: fresh })).stdout;
    const json = async (word: string): Promise<Record<string, unknown> | undefined> =>
      jsonLines({ stdout: await run(word, '--json') })[0];

    expect(await run('address')).toContain('Turn it on with: holdfast webdav on');
    expect(await json('address')).toMatchObject({ type: 'webdav', enabled: false, created_at: null });

    const said = await run('on');
    const address = /^Address +(http:\/\/127\.0\.0\.1:\d+\/dav\/(hfw_[\w-]{43})\/)$/m.exec(said);
    expect(said).toContain('User      holdfast\n');
    expect(said).toContain(`Password  ${address?.[2]}\n`);
    expect((await fetch(String(address?.[1]))).status).toBe(200);

    const later = await run('address');
    expect(later).toMatch(/^Address +http:\/\/127\.0\.0\.1:\d+\/dav\/$/m);
    expect(later).not.toContain('hfw_');
    expect(await json('address')).toMatchObject({ enabled: true, created_at: expect.stringMatching(/Z$/) });

    const made = await json('on');
    expect(made).toMatchObject({ type: 'webdav', enabled: true, user: 'holdfast' });
    expect((await fetch(String(address?.[1]))).status).toBe(401);
    expect((await fetch(String(made?.['address']))).status).toBe(200);

    expect(await run('off')).toBe('Turned off: the snapshots can no longer be opened as a folder.\n');
    expect(await json('off')).toEqual({ type: 'webdav', enabled: false });
    expect((await fetch(String(made?.['address']))).status).toBe(404);
  } finally {
    agent.kill('SIGTERM');
    if (agent.exitCode === null) await once(agent, 'exit');
  }
});
