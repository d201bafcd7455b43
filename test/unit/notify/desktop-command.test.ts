/** What is run to show a message on each desktop: texts stay texts, whatever is in the names of files. */
import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { desktopCommand, type DesktopMessage } from '../../../src/notify/desktop-command.ts';
import { HOSTILE_NAMES } from '../../support/hostile-names.ts';

const MESSAGE: DesktopMessage = {
  title: 'Backup failed: /home/ada',
  text: 'The destination nas cannot be reached. Check the network.',
  severity: 'bad',
  icon: '/opt/holdfast/icon.svg',
};

function about(facts: Partial<DesktopMessage>): DesktopMessage {
  return { ...MESSAGE, ...facts };
}

describe('on the session bus', () => {
  test('gdbus calls the service of notifications', () => {
    expect(desktopCommand('gdbus', MESSAGE)).toEqual({
      input: '',
      words: [
        'call',
        '--session',
        '--timeout=10',
        '--dest=org.freedesktop.Notifications',
        '--object-path=/org/freedesktop/Notifications',
        '--method=org.freedesktop.Notifications.Notify',
        '"Holdfast"',
        'uint32 0',
        '"/opt/holdfast/icon.svg"',
        '"Backup failed: /home/ada"',
        '"The destination nas cannot be reached. Check the network."',
        '@as []',
        "{'urgency': <byte 2>, 'desktop-entry': <'org.example.holdfast'>}",
        'int32 -1',
      ],
    });
  });

  test('notify-send gets the same', () => {
    expect(desktopCommand('notify-send', MESSAGE).words).toEqual([
      '--app-name=Holdfast',
      '--urgency=critical',
      '--icon=/opt/holdfast/icon.svg',
      '--hint=string:desktop-entry:org.example.holdfast',
      '--',
      'Backup failed: /home/ada',
      'The destination nas cannot be reached. Check the network.',
    ]);
    expect(desktopCommand('notify-send', about({ severity: 'good', icon: null })).words.slice(0, 3)).toEqual([
      '--app-name=Holdfast',
      '--urgency=normal',
      '--hint=string:desktop-entry:org.example.holdfast',
    ]);
  });

  test('what looks like markup, an option or an escape is text', () => {
    const facts = about({ title: '--help <b>', text: String.raw`<a href="x">&lt; C:\new\101` });
    const marked = String.raw`&lt;a href="x"&gt;&amp;lt; C:\new\101`;
    const [title, text] = desktopCommand('gdbus', facts).words.slice(9, 11);
    expect([title, text].map((word): unknown => JSON.parse(word ?? ''))).toEqual(['--help <b>', marked]);
    // notify-send reads escapes in the text alone.
    expect(desktopCommand('notify-send', facts).words.slice(-3)).toEqual([
      '--',
      '--help <b>',
      marked.replaceAll('\\', '\\\\'),
    ]);
  });

  test.each(HOSTILE_NAMES)('%j is one argument without markup', (name) => {
    const facts = about({ title: `Backup failed: ${name}`, text: `${name} is not there.` });
    const called = desktopCommand('gdbus', facts).words;
    expect(called).toHaveLength(14);
    const [title, text] = called.slice(9, 11).map((word) => JSON.parse(word) as string);
    expect(title).toMatch(/^Backup failed: /);
    expect(`${title}${text}`).not.toMatch(/[^\n\P{C}]|[\u2028\u2029]/u);
    expect(text).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/);
    expect(desktopCommand('notify-send', facts).words.slice(-2)).toEqual([
      title,
      text?.replaceAll('\\', '\\\\'),
    ]);
  });
});

describe.each(['osascript', 'powershell'] as const)('%s', (program) => {
  const plain = desktopCommand(program, MESSAGE);

  test('reads the texts from its input', () => {
    expect(JSON.parse(plain.input)).toEqual({ title: MESSAGE.title, text: MESSAGE.text });
  });

  test.each(HOSTILE_NAMES)('runs the same code about %j', (name) => {
    const { words, input } = desktopCommand(program, about({ title: name, text: name }));
    expect(words).toEqual(plain.words);
    // One line of ASCII is the same in each code page.
    expect(input).toMatch(/^[\x20-\x7e]+$/);
    const { title, text } = JSON.parse(input) as { readonly title: string; readonly text: string };
    expect(title).not.toMatch(/\p{C}/u);
    expect(text).not.toMatch(/[^\n\P{C}]/u);
  });
});

test('the code for macOS is JavaScript', () => {
  const [language, name, option, code = ''] = desktopCommand('osascript', MESSAGE).words;
  expect([language, name, option]).toEqual(['-l', 'JavaScript', '-e']);
  const parsed = spawnSync(process.execPath, ['--check', '-'], { input: code, encoding: 'utf8' });
  expect([parsed.status, parsed.stderr]).toEqual([0, '']);
});

test('the code for Windows needs no quotation mark, and makes text nodes', () => {
  const code = desktopCommand('powershell', MESSAGE).words.at(-1) ?? '';
  expect(code).not.toContain('"');
  expect(code.match(/CreateTextNode\(\$message\.\w+\)/g)).toHaveLength(2);
  expect(code).not.toMatch(/LoadXml|InnerXml|Invoke-Expression/i);
});

test('long texts are cut', () => {
  const long = about({ title: 'é'.repeat(500), text: 'é'.repeat(5_000) });
  const { words } = desktopCommand('notify-send', long);
  expect(words.slice(-2).map((word) => [word.length, word.at(-1)])).toEqual([
    [101, '…'],
    [501, '…'],
  ]);
});
