import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createSystemNotifier } from '../../../src/daemon/system-notify.ts';
import { hastyClock } from '../../support/hasty-clock.ts';
import { manualClock } from '../../support/manual-clock.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'holdfast-notify-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

/** A systemd-notify that writes down its words and the variables it was given. */
async function recorder(script = ''): Promise<string> {
  const program = join(directory, 'systemd-notify');
  await writeFile(program, `#!/bin/sh\n${script}\necho "$NOTIFY_SOCKET $*" >> ${join(directory, 'said')}\n`);
  await chmod(program, 0o755);
  return [directory, process.env['PATH']].join(delimiter);
}

async function said(): Promise<readonly string[]> {
  const text = await readFile(join(directory, 'said'), 'utf8').catch(() => '');
  return text.split('\n').filter((line) => line !== '');
}

describe('the messages to systemd', () => {
  test('say that the agent is ready, and which process it is', async () => {
    const trouble = vi.fn();
    const environment = { PATH: await recorder(), NOTIFY_SOCKET: '/socket' };
    const notifier = createSystemNotifier(environment, { clock: manualClock(), trouble });
    await notifier.ready('Listening on\n127.0.0.1:7390');
    await notifier.stopping();
    await notifier.close();
    expect(await said()).toEqual([
      `/socket --ready --status=Listening on 127.0.0.1:7390 --pid=${process.pid}`,
      '/socket STOPPING=1',
    ]);
    expect(trouble).not.toHaveBeenCalled();
  });

  test('are not sent where there is no systemd', async () => {
    const trouble = vi.fn();
    const environment = { PATH: await recorder(), WATCHDOG_USEC: '1000' };
    await using notifier = createSystemNotifier(environment, { clock: manualClock(), trouble });
    await notifier.ready('here');
    await notifier.stopping();
    expect(await said()).toEqual([]);
    expect(trouble).not.toHaveBeenCalled();
  });

  test('keep the watchdog quiet at half its time, until the end', async () => {
    const clock = manualClock();
    const environment = { PATH: await recorder(), NOTIFY_SOCKET: '/socket', WATCHDOG_USEC: '120000000' };
    const notifier = createSystemNotifier(environment, { clock, trouble: vi.fn() });
    await notifier.ready('here');
    await clock.advance(59_999);
    expect(await said()).toHaveLength(1);
    await clock.advance(1);
    await vi.waitFor(async () => expect((await said()).at(-1)).toBe('/socket WATCHDOG=1'), 5000);
    // The next one is waited for once this one was sent.
    await vi.waitFor(() => expect(clock.sleeping()).toBe(1), 5000);
    await clock.advance(60_000);
    await vi.waitFor(async () => expect(await said()).toHaveLength(3), 5000);
    await notifier.close();
    await clock.advance(600_000);
    expect(await said()).toHaveLength(3);
  });

  test('without which systemd ends the agent are sent again when one was not taken', async () => {
    const clock = manualClock();
    const losing = `[ "$1" = STOPPING=1 ] || [ -e ${directory}/lost ] || { touch ${directory}/lost; exit 1; }`;
    const environment = {
      PATH: await recorder(losing),
      NOTIFY_SOCKET: '/socket',
      WATCHDOG_USEC: '120000000',
    };
    const trouble = vi.fn();
    const notifier = createSystemNotifier(environment, { clock, trouble });
    await notifier.ready('here');
    expect(await said()).toHaveLength(1);
    await rm(join(directory, 'lost'));
    await clock.advance(60_000);
    await vi.waitFor(async () => expect((await said()).at(-1)).toBe('/socket WATCHDOG=1'), 5000);
    expect(trouble).not.toHaveBeenCalled();
    await notifier.close();
  });

  test('that are not taken are given up, and sent again, within the time of the watchdog', async () => {
    const clock = manualClock();
    const hanging = `[ -e ${directory}/hung ] || { touch ${directory}/hung; exec sleep 30; }`;
    const environment = {
      PATH: await recorder(hanging),
      NOTIFY_SOCKET: '/socket',
      WATCHDOG_USEC: '4000000',
    };
    const trouble = vi.fn();
    await using notifier = createSystemNotifier(environment, { clock, trouble });
    const from = performance.now();
    await notifier.ready('here');
    expect(performance.now() - from).toBeLessThan(4_000);
    expect(await said()).toHaveLength(1);
    expect(trouble).not.toHaveBeenCalled();
  });

  test('for the watchdog are those of the process that is meant', async () => {
    const clock = manualClock();
    const environment = {
      PATH: await recorder(),
      NOTIFY_SOCKET: '/socket',
      WATCHDOG_USEC: '1000000',
      WATCHDOG_PID: '1',
    };
    await using notifier = createSystemNotifier(environment, { clock, trouble: vi.fn() });
    await notifier.ready('here');
    await clock.advance(10_000);
    expect(await said()).toHaveLength(1);
  });

  test.each([
    ['fails', async () => await recorder('exit 3')],
    ['is missing', async () => await Promise.resolve(directory)],
  ])('are a trouble but no failure when systemd-notify %s', async (_how, path) => {
    const trouble = vi.fn();
    const environment = { PATH: await path(), NOTIFY_SOCKET: '/socket' };
    await using notifier = createSystemNotifier(environment, { clock: manualClock(), trouble });
    await notifier.ready('here');
    expect(trouble).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: 'NOTIFY_FAILED' }));
  });
});

const RECEIVER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print('bound', flush=True)
while True:
    for line in s.recv(4096).decode().splitlines():
        print(line, flush=True)
`;
const canReceive =
  spawnSync('systemd-notify', ['--version']).status === 0 && spawnSync('python3', ['--version']).status === 0;

test.skipIf(!canReceive)('the real systemd-notify sends what systemd reads', async () => {
  const socket = join(directory, 'notify');
  const receiver = spawn('python3', ['-c', RECEIVER, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    let text = '';
    receiver.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    await vi.waitFor(() => expect(text).toContain('bound'), 5000);
    const trouble = vi.fn();
    const environment = { PATH: process.env['PATH'], NOTIFY_SOCKET: socket, WATCHDOG_USEC: '20000000' };
    const clock = hastyClock();
    const notifier = createSystemNotifier(environment, { clock, trouble });
    await notifier.ready('Two sources');
    await vi.waitFor(() => {
      clock.skip(10_000);
      expect(text).toContain('READY=1');
    }, 5000);
    await vi.waitFor(() => expect(text).toContain('WATCHDOG=1'), 5000);
    await notifier.stopping();
    await notifier.close();
    const lines = text.split('\n');
    expect(lines).toEqual(
      expect.arrayContaining(['READY=1', 'STATUS=Two sources', `MAINPID=${process.pid}`, 'STOPPING=1']),
    );
    expect(trouble).not.toHaveBeenCalled();
  } finally {
    receiver.kill();
    await once(receiver, 'close');
  }
});
