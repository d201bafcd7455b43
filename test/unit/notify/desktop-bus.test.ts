/** Messages on a real session bus, read by a service that stands in for a desktop's. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { desktopSender } from '../../../src/notify/desktop.ts';
import { DESKTOP_HERE, type DesktopFacts } from '../../../src/notify/desktop-access.ts';
import { HOSTILE_NAMES } from '../../support/hostile-names.ts';
import { sampleNotice } from './sample-notice.ts';

const PYTHON = '/usr/bin/python3';
const RECEIVER = join(import.meta.dirname, '../../support/notification-receiver.py');

/** Needs a session bus, gdbus, and the module of Python for a service on it. */
function hasBus(): boolean {
  const runs = (program: string, ...words: readonly string[]): boolean =>
    spawnSync(program, words, { stdio: 'ignore' }).status === 0;
  return (
    runs('dbus-run-session', '--version') &&
    runs('gdbus', 'help') &&
    runs(PYTHON, '-c', 'import dbus, gi.repository')
  );
}

const { signal } = new AbortController();

/** A bus whose only client is `command`, which prints the address of the bus first. */
interface Bus extends AsyncDisposable {
  readonly facts: DesktopFacts;
  /** The next line. */
  line(): Promise<Readonly<Record<string, unknown>>>;
}

async function openBus(command: string): Promise<Bus> {
  const child: ChildProcess = spawn('dbus-run-session', ['--', 'sh', '-c', command], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const lines = createInterface({ input: child.stdout ?? expect.fail('no output') })[Symbol.asyncIterator]();
  const line = async (): Promise<Readonly<Record<string, unknown>>> =>
    JSON.parse((await lines.next()).value ?? 'null') as Readonly<Record<string, unknown>>;
  const { bus } = await line();
  const env = { PATH: process.env['PATH'], DBUS_SESSION_BUS_ADDRESS: String(bus) };
  return {
    facts: { ...DESKTOP_HERE, uid: 1001, env },
    line,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit');
      process.kill(-(child.pid ?? expect.fail('no process')), 'SIGTERM');
      await ended;
    },
  };
}

describe.runIf(process.platform === 'linux' && hasBus())('on a session bus', () => {
  let bus: Bus;
  beforeAll(async () => {
    bus = await openBus(`exec ${PYTHON} '${RECEIVER}' "$DBUS_SESSION_BUS_ADDRESS"`);
  });
  afterAll(async () => await bus[Symbol.asyncDispose]());

  test('a notice arrives as it was meant', async () => {
    await desktopSender(bus.facts).send(sampleNotice(), signal);
    expect(await bus.line()).toEqual({
      app: 'Holdfast',
      icon: join(import.meta.dirname, '../../../service/desktop/org.example.holdfast.svg'),
      title: 'Backup failed: /home/ada',
      text: 'The destination nas cannot be reached. Check the network.',
      urgency: 2,
      entry: 'org.example.holdfast',
      expires: -1,
    });
  });

  test('names arrive as text, in every script and whatever is in them', async () => {
    const names = ['Übersicht 写真 🗄 \'a\' "b" \\n $(id)', ...HOSTILE_NAMES.filter((_, at) => at % 8 === 0)];
    for (const name of names) {
      await desktopSender(bus.facts).send(sampleNotice({ source: name, text: name }), signal);
      const { title, text } = await bus.line();
      expect(title).toBe(`Backup failed: ${name}`);
      expect(text).toBe(name.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;'));
    }
  });

  test('nobody is there on a bus without a desktop', async () => {
    const print = `printf '{"bus":"%s"}\\n' "$DBUS_SESSION_BUS_ADDRESS"; exec sleep 60`;
    await using empty = await openBus(print);
    await expect(desktopSender(empty.facts).send(sampleNotice(), signal)).rejects.toMatchObject({
      message: 'The user of this agent is not logged in to a desktop now',
      isNobodyThere: true,
    });
  });

  test('nobody is there when the bus has ended', async () => {
    const env = { ...bus.facts.env, DBUS_SESSION_BUS_ADDRESS: 'unix:abstract=holdfast-no-such-bus' };
    await expect(desktopSender({ ...bus.facts, env }).send(sampleNotice(), signal)).rejects.toMatchObject({
      isNobodyThere: true,
    });
  });
});
