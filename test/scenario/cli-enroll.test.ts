/** `holdfast enroll` as it is typed, with an agent and without; and an agent that is killed while it reports. */
// Turn 1 of 8.
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import type { ChildProcess } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { jsonLines, openPlace, type Outcome, type Place } from '../support/cli.ts';
import { startPartnerStub, type PartnerStub } from '../support/partner-stub.ts';

const fresh = { env: { HOLDFAST_REPOSITORY: undefined, HOLDFAST_PASSWORD: undefined } };

async function run(place: Place, words: readonly string[], code = 0, input = ''): Promise<Outcome> {
  return await place.expectRun(words, code, { ...fresh, input });
}

async function startAgent(place: Place): Promise<ChildProcess> {
  const child = place.start(['start', '--port', '0', '--json'], fresh);
  child.stderr?.resume();
  for await (const line of createInterface(child.stdout ?? process.stdin)) {
    expect(JSON.parse(line)).toMatchObject({ type: 'ready' });
    break;
  }
  child.stdout?.resume();
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

async function until(holds: () => boolean, what: string): Promise<void> {
  for (let tries = 0; !holds(); tries += 1) {
    if (tries > 600) throw new Error(`${what} did not come`);
    await delay(100);
  }
}

async function withSource(place: Place): Promise<void> {
  await mkdir(place.state, { mode: 0o700 });
  await place.write({ 'a.txt': 'content' });
  const settings = {
    sources: [{ path: place.source, schedule: 'off', watch: false }],
    maintenance: { prune: 'off', check: 'off', drill: 'off' },
    conditions: { onBattery: 'run', onMetered: 'run' },
  };
  await writeFile(join(place.state, 'config.json'), JSON.stringify(settings), { mode: 0o600 });
}

function enrollmentFile(place: Place): string {
  return join(place.state, 'enrollment.json');
}

describe.concurrent('holdfast enroll', () => {
  test('enrolls while no agent runs, says what it is, and ends it', async () => {
    await using place = await openPlace();
    await using stub = await startPartnerStub(systemClock);
    const [none] = jsonLines(await run(place, ['enroll', '--status', '--json']));
    expect(none).toEqual({ type: 'enrollment', enrolled: false });
    const made = await run(place, ['enroll', stub.address, 'hfe_good', '--name', 'front desk']);
    expect(made.stdout).toContain(`enrolled with ${stub.address} as front desk`);
    expect(made.stdout).toContain('Plan pro: 1,000 API requests an hour');
    expect(made.stdout + made.stderr).not.toContain(stub.deviceKey ?? 'none');
    expect((await stat(enrollmentFile(place))).mode & 0o777).toBe(0o600);
    const [status] = jsonLines(await run(place, ['enroll', '--status', '--json']));
    expect(status).toMatchObject({
      enrolled: true,
      device_id: stub.deviceId,
      name: 'front desk',
      enrolled_at: expect.stringMatching(/Z$/),
      plan: { slug: 'pro', status: 'active', grace_until: expect.stringMatching(/Z$/) },
      reports: null,
    });
    const again = await run(place, ['enroll', stub.address, 'hfe_good'], 2);
    expect(again.stderr).toContain('already enrolled');
    expect(again.stderr).toContain('holdfast enroll --leave');
    expect((await run(place, ['enroll', '--leave'])).stdout).toContain('no longer enrolled');
    expect(existsSync(enrollmentFile(place))).toBe(false);
    expect((await run(place, ['enroll', '--leave'], 2)).stderr).toContain('not enrolled');
    expect(stub.faults).toEqual([]);
  });

  test('tells the running agent, which reports at once what it does', async () => {
    await using place = await openPlace();
    await using stub = await startPartnerStub(systemClock);
    await withSource(place);
    const agent = await startAgent(place);
    try {
      // The token comes on standard input: nobody sees it in the list of processes.
      const joined = await run(place, ['enroll', stub.address, '--name', 'x', '--json'], 0, 'hfe_good\n');
      expect(jsonLines(joined)[0]).toMatchObject({ type: 'enrolled', plan: { slug: 'pro' } });
      expect(existsSync(enrollmentFile(place))).toBe(true);
      await until(() => stub.reports.size > 0, 'a report');
      const [status] = jsonLines(await run(place, ['enroll', '--status', '--json']));
      expect(status).toMatchObject({ reports: { results_dropped: 0, problem: null } });
      await run(place, ['enroll', '--leave']);
      expect(existsSync(enrollmentFile(place))).toBe(false);
    } finally {
      await end(agent);
    }
    const log = await readFile(join(place.state, 'agent.log'), 'utf8');
    expect(log).not.toContain(stub.deviceKey ?? 'none');
    expect(log).not.toContain('hfe_good');
    expect(stub.faults).toEqual([]);
  });

  test.each([
    ['a token that is no good', ['hfe_other'], 2, 'Ask your partner for a new one'],
    ['no token', [], 2, 'The enrollment token is missing'],
  ])('refuses %s, and keeps nothing', async (_what, words, code, said) => {
    await using place = await openPlace();
    await using stub = await startPartnerStub(systemClock);
    const refused = await run(place, ['enroll', stub.address, ...words], code);
    expect(refused.stderr).toContain(said);
    expect(existsSync(enrollmentFile(place))).toBe(false);
  });

  test('refuses a service that is not asked by https, before anything is sent', async () => {
    await using place = await openPlace();
    const refused = await run(place, ['enroll', 'http://backup.example.org', 'hfe_good'], 2);
    expect(refused.stderr).toContain('must use https');
  });

  test.each([
    [
      'a plan that somebody else signed',
      async (stub: PartnerStub) => {
        stub.forgedPlan = async () => await stub.signPlan({}, { key: stub.strangersKey });
        await Promise.resolve();
      },
    ],
    [
      'a page of something in between',
      async (stub: PartnerStub) => {
        stub.instead = (_request, response) => {
          response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Sign in to the hotel</h1>');
          return true;
        };
        await Promise.resolve();
      },
    ],
    [
      'a redirect',
      async (stub: PartnerStub) => {
        stub.instead = (_request, response) => {
          response.writeHead(307, { location: 'http://example.org/' }).end();
          return true;
        };
        await Promise.resolve();
      },
    ],
  ])('does not take %s for an enrollment', async (_what, spoil) => {
    await using place = await openPlace();
    await using stub = await startPartnerStub(systemClock);
    await spoil(stub);
    const refused = await run(place, ['enroll', stub.address, 'hfe_good'], 1);
    expect(refused.stderr).toContain('Partner service');
    expect(existsSync(enrollmentFile(place))).toBe(false);
  });
});

test('an agent that is killed between sending a report and noting the answer tells its backup once', async () => {
  await using place = await openPlace();
  await using stub = await startPartnerStub(systemClock);
  await withSource(place);
  await run(place, ['enroll', stub.address, 'hfe_good', '--name', 'x']);
  const killed = await startAgent(place);
  const gone = once(killed, 'exit');
  // The service has taken the report, and the agent never learns of it.
  stub.lose = ({ body }) => {
    if (!body.includes('"kind":"backup"')) return false;
    killed.kill('SIGKILL');
    return true;
  };
  await gone;
  expect(stub.results()).toHaveLength(1);
  stub.lose = () => false;
  const [told] = stub.requests.filter(({ body }) => body.includes('"kind":"backup"'));
  const again = await startAgent(place);
  try {
    const repeated = (): number => stub.requests.filter(({ body }) => body === told?.body).length;
    await until(() => repeated() === 2, 'the same report');
    const [status] = jsonLines(await run(place, ['enroll', '--status', '--json']));
    expect(status).toMatchObject({ reports: { results_waiting: 0, results_dropped: 0 } });
  } finally {
    await end(again);
  }
  expect(stub.results()).toHaveLength(1);
  expect(stub.faults).toEqual([]);
});
