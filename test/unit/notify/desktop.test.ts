/** Messages on the desktop, shown by programs that stand in for those of the system. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { desktopSender } from '../../../src/notify/desktop.ts';
import { DESKTOP_HERE, type DesktopFacts } from '../../../src/notify/desktop-access.ts';
import { Notifier } from '../../../src/notify/notifier.ts';
import { manualClock, settle } from '../../support/manual-clock.ts';
import { removeTree } from '../../support/remove-tree.ts';
import { sampleNotice } from './sample-notice.ts';

const { signal } = new AbortController();
let directory: string;
let facts: DesktopFacts;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-desktop-'));
  // Nothing listens there: the stand-ins ask nobody.
  writeFileSync(join(directory, 'bus'), '');
  facts = { ...DESKTOP_HERE, uid: 1001, env: { PATH: directory, XDG_RUNTIME_DIR: directory } };
});
afterEach(() => removeTree(directory));

/** `body` is what its shell does after it has noted its arguments, one a line. */
function standIn(name: string, body = 'exit 0'): void {
  const file = join(directory, name);
  const note = join(directory, 'shown');
  writeFileSync(file, `#!/bin/sh\nfor word; do printf '%s\\n' "$word" >>'${note}'; done\n${body}\n`);
  chmodSync(file, 0o755);
}

/** The arguments since the last call. */
function shown(): readonly string[] {
  const note = join(directory, 'shown');
  if (!existsSync(note)) return [];
  const lines = readFileSync(note, 'utf8').trimEnd().split('\n');
  rmSync(note);
  return lines;
}

describe.runIf(process.platform === 'linux')('a notice', () => {
  test('is shown by notify-send, with names as they are', async () => {
    standIn('notify-send');
    const source = '/home/ada/$(touch x) `id` "a\' b';
    await desktopSender(facts).send(sampleNotice({ source, text: '<i>nas</i> is away; $HOME' }), signal);
    expect(shown().slice(-2)).toEqual([`Backup failed: ${source}`, '&lt;i&gt;nas&lt;/i&gt; is away; $HOME']);
  });

  test('is shown by gdbus before notify-send', async () => {
    standIn('notify-send', 'exit 1');
    standIn('gdbus');
    await desktopSender(facts).send(sampleNotice(), signal);
    expect(shown()).toContain('"Backup failed: /home/ada"');
  });

  test('is shown once for each alarm, and success once after trouble', async () => {
    standIn('notify-send');
    const notifier = new Notifier([desktopSender(facts)], {
      clock: systemClock,
      host: 'here',
      log: ({ text }) => expect.fail(text),
    });
    const at = Date.now();
    const alarm = (text: string) => sampleNotice({ kind: 'alarm', source: '/home/ada', text, at });
    notifier.notify(sampleNotice({ kind: 'backup.completed', at }));
    for (const text of ['Many files are gone', 'Many files are gone', 'Files were rewritten'])
      notifier.notify(alarm(text));
    for (const kind of ['backup.failed', 'backup.failed', 'backup.completed', 'backup.completed'] as const)
      notifier.notify(sampleNotice({ kind, text: kind, at }));
    await notifier.close();
    const said = shown();
    expect(said.filter((_, at) => said[at - 2] === '--')).toEqual([
      'Many files are gone',
      'Files were rewritten',
      'backup.failed',
      'backup.completed',
    ]);
  });

  test('that cannot be shown is a failure in the words of the program', async () => {
    standIn('gdbus', 'echo "Error: it is  broken" >&2; exit 3');
    await expect(desktopSender(facts).send(sampleNotice(), signal)).rejects.toMatchObject({
      message: 'gdbus could not show a message on the desktop',
      hint: 'It says: Error: it is broken',
      retry: 'later',
      mayHaveArrived: false,
      isNobodyThere: false,
    });
  });

  test('is not shown when the sender is stopped', async () => {
    standIn('gdbus', 'exec /bin/sleep 60');
    const stop = new AbortController();
    const sending = desktopSender(facts).send(sampleNotice(), stop.signal);
    setTimeout(() => stop.abort(), 50);
    await expect(sending).rejects.toMatchObject({ name: 'AbortError' });
  });

  test('waits for somebody to log in, which is no failure', async () => {
    const clock = manualClock();
    const away = { ...facts, env: { ...facts.env, XDG_RUNTIME_DIR: join(directory, 'later') } };
    standIn('notify-send');
    let isThere = false;
    const sender = desktopSender({ ...away, isThere: () => isThere });
    const notifier = new Notifier([sender], { clock, host: 'here', log: ({ text }) => expect.fail(text) });
    notifier.notify(sampleNotice({ at: clock.now() }));
    await settle();
    await clock.advance(600_000);
    expect(notifier.status()).toMatchObject([{ state: 'unused', waiting: 1, lastError: null }]);
    expect(shown()).toEqual([]);
    isThere = true;
    await clock.advance(30_000);
    await expect.poll(() => notifier.status()).toMatchObject([{ state: 'ok', waiting: 0 }]);
    expect(shown()).toContain('Backup failed: /home/ada');
    await notifier.close();
  });

  test('has nobody where the bus shows nothing, as after a login by SSH', async () => {
    standIn(
      'gdbus',
      'echo "Error: GDBus.Error:org.freedesktop.DBus.Error.ServiceUnknown: The name is not activatable" >&2; exit 1',
    );
    await expect(desktopSender(facts).send(sampleNotice(), signal)).rejects.toMatchObject({
      isNobodyThere: true,
      silenceMs: 30_000,
    });
  });

  test('of the service of the machine goes nowhere, and says what to do', async () => {
    standIn('gdbus');
    await expect(desktopSender({ ...facts, uid: 0 }).send(sampleNotice(), signal)).rejects.toMatchObject({
      message: 'This agent runs as a service of the machine and has no desktop to show messages on',
      retry: 'never',
    });
    expect(shown()).toEqual([]);
  });
});
