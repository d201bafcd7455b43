/** What the entry in the menu runs: the page opens signed in, with programs that stand in for those of a desktop. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { removeTree } from '../../support/remove-tree.ts';

const DESKTOP = join(import.meta.dirname, '../../../service/desktop');
const ADDRESS = 'http://127.0.0.1:7390/#code=abc-DEF_1';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-entry-'));
});
afterEach(() => removeTree(directory));

/** Notes that it was run, and with what; `body` is what its shell does then. */
function standIn(name: string, body = 'exit 0'): void {
  const file = join(directory, name);
  writeFileSync(file, `#!/bin/sh\nprintf '%s\\n' "${name} $*" >>'${join(directory, 'ran')}'\n${body}\n`);
  chmodSync(file, 0o755);
}

function run(): { readonly status: number | null; readonly ran: readonly string[] } {
  // `head` is all that the script needs of the system.
  writeFileSync(join(directory, 'head'), '#!/bin/sh\nread -r line; printf "%s\\n" "$line"\n');
  chmodSync(join(directory, 'head'), 0o755);
  const { status } = spawnSync('/bin/sh', [join(DESKTOP, 'open-page')], { env: { PATH: directory } });
  const file = join(directory, 'ran');
  return { status, ran: existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [] };
}

describe.runIf(process.platform !== 'win32')('the entry in the menu', () => {
  test("opens the page of one's own agent, and asks for no password", () => {
    standIn('holdfast');
    standIn('pkexec');
    expect(run()).toEqual({ status: 0, ran: ['holdfast ui'] });
  });

  test('opens the page of the service of the machine, with the code that the password gave', () => {
    standIn('holdfast', 'exit 1');
    standIn('pkexec', `echo '${ADDRESS}'; echo; echo 'Open this address within 60 seconds.'`);
    standIn('xdg-open');
    expect(run()).toEqual({
      status: 0,
      ran: ['holdfast ui', 'pkexec /usr/bin/holdfast ui --print', `xdg-open ${ADDRESS}`],
    });
  });

  test('says so when no agent answers, and opens nothing else', () => {
    standIn('holdfast', 'exit 1');
    standIn('pkexec', "echo 'javascript:alert(1)'");
    standIn('xdg-open');
    standIn('notify-send');
    const { status, ran } = run();
    expect([status, ran.length]).toEqual([1, 3]);
    expect(ran.at(-1)).toMatch(/^notify-send -i org\.example\.holdfast Holdfast The backup agent/);
  });
});

test('the entry runs that script, and has its texts in each language of the page', () => {
  const lines = readFileSync(join(DESKTOP, 'org.example.holdfast.desktop'), 'utf8').trimEnd().split('\n');
  const entry = new Map(lines.slice(1).map((line) => line.split(/=(.*)/) as [string, string]));
  expect(entry.get('Exec')).toBe('/usr/lib/holdfast/service/desktop/open-page');
  expect(entry.get('Terminal')).toBe('false');
  for (const name of ['GenericName', 'Comment', 'Keywords'])
    for (const key of [name, ...['de', 'es', 'fr'].map((code) => `${name}[${code}]`)])
      expect(entry.get(key), key).toMatch(name === 'Keywords' ? /;$/ : /\w/);
});
