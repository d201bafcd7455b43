/** The way to the agent's own page: at the first start, and by `holdfast ui`. The program must be built. */
// Turn 2 of 8.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { executable, jsonLines, openPlace, type Place, type RunOptions } from '../support/cli.ts';

const PATIENCE_MS = 60_000;
const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/#code=[\w-]{43}/;

const fresh = { HOLDFAST_REPOSITORY: undefined, HOLDFAST_PASSWORD: undefined, DISPLAY: undefined };

interface Running extends AsyncDisposable {
  readonly said: () => string;
}

/** Until it says that it is ready. */
async function running(child: ChildProcess, end: () => unknown): Promise<Running> {
  let text = '';
  const ended = once(child, 'exit');
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes: Buffer) => {
      text += bytes.toString();
    });
  for (let waitedMs = 0; !/Open your backups in a browser with: [^\n]+\n/.test(text); waitedMs += 50) {
    if (child.exitCode !== null || waitedMs > PATIENCE_MS) {
      end();
      throw new Error(`it did not start:\n${text}`);
    }
    await delay(50);
  }
  return {
    said: () => text,
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null && child.signalCode === null) end();
      await ended;
    },
  };
}

async function start(place: Place, options: RunOptions = {}): Promise<Running> {
  const child = place.start(['start', '--port', '0'], { ...options, env: { ...fresh, ...options.env } });
  return await running(child, () => child.kill('SIGTERM'));
}

async function startOnTerminal(place: Place): Promise<Running> {
  const line = [process.execPath, executable, 'start', '--port', '0'].map((word) => `'${word}'`).join(' ');
  const child = spawn('script', ['--quiet', '--return', '--command', `exec ${line}`, '/dev/null'], {
    cwd: place.directory,
    env: {
      PATH: process.env['PATH'],
      HOME: place.directory,
      TERM: 'xterm',
      HOLDFAST_STATE_DIR: place.state,
      HOLDFAST_TEST_KDF: '64,1,1',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  // As a person ends it.
  return await running(child, () => child.stdin.write('\u0003'));
}

/** Whether the code of an address opens the page. */
async function opens(text: string): Promise<boolean> {
  const address = new URL(ADDRESS.exec(text)?.[0] ?? expect.fail(`there is no address in ${text}`));
  const reply = await fetch(`${address.origin}/internal/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: address.origin },
    body: JSON.stringify({ code: new URLSearchParams(address.hash.slice(1)).get('code') }),
  });
  return reply.status === 200;
}

const hasScript = spawnSync('script', ['--version']).status === 0;

describe.runIf(hasScript)('the first start', () => {
  test('shows the address of the page on a terminal, once, and later starts do not', async () => {
    await using place = await openPlace();
    {
      await using first = await startOnTerminal(place);
      expect(first.said()).toContain('with this link, which works once, within 60 seconds: ');
      expect(await opens(first.said())).toBe(true);
      expect(await opens(first.said())).toBe(false);
    }
    await using second = await startOnTerminal(place);
    expect(second.said()).not.toMatch(ADDRESS);
    expect(second.said()).toContain('Open your backups in a browser with: ');
  });
});

describe('holdfast ui', () => {
  test('prints an address that opens the page once, where there is no screen or when asked to', async () => {
    await using place = await openPlace();
    const none = await place.run(['ui'], { env: fresh });
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('No agent is running')]);
    await using agent = await start(place);
    // What a service prints is kept somewhere.
    expect(agent.said()).not.toMatch(/#code=/);
    for (const words of [['ui'], ['ui', '--print']]) {
      const { stdout } = await place.expectRun(words, 0, { env: fresh });
      expect(stdout).toContain('within 60 seconds');
      expect(await opens(stdout)).toBe(true);
      expect(await opens(stdout)).toBe(false);
    }
    const [object] = jsonLines(await place.expectRun(['ui', '--json'], 0, { env: fresh }));
    expect(object).toMatchObject({ type: 'page', expires_in: 60 });
    expect(await opens(String(object?.['address']))).toBe(true);
    expect(agent.said()).not.toMatch(/#code=/);
  });

  const UID = 65_534;
  const asSomebody = [`--reuid=${UID}`, `--regid=${UID}`, '--clear-groups', '--'];
  const can = process.getuid?.() === 0 && spawnSync('setpriv', [...asSomebody, 'true']).status === 0;

  test.runIf(can)(
    'opens the browser with a code for this user alone, and gives it none of our secrets',
    async () => {
      await using place = await openPlace();
      const record = path.join(place.directory, 'opened');
      const bin = path.join(place.directory, 'xdg-open');
      writeFileSync(
        bin,
        `#!/bin/sh\necho "$@" > ${record}.new\nenv >> ${record}.new\nmv ${record}.new ${record}\n`,
      );
      chmodSync(bin, 0o755);
      expect(spawnSync('chown', ['-R', `${UID}:${UID}`, place.directory]).status).toBe(0);
      const env = {
        ...fresh,
        PATH: `${place.directory}:${process.env['PATH']}`,
        DISPLAY: ':99',
        HOLDFAST_PASSWORD: 'correct horse',
        HOLDFAST_PROGRAM: undefined,
        XDG_CACHE_HOME: path.join(place.directory, 'cache'),
      };
      const under = ['setpriv', ...asSomebody];
      await using agent = await start(place, { env, under });
      expect(agent.said()).toContain('Holdfast is running');
      const program = `HOLDFAST_STATE_DIR=${place.state} node ${executable}`;
      expect(agent.said()).toContain(
        `Nothing is backed up yet. The page in the browser leads through the first backup; without it: ${program} sources add DIR`,
      );
      const [, address = ''] = /running at (\S+)/.exec(agent.said()) ?? [];
      expect(await (await fetch(address)).text()).toContain(`<meta name="program" content="${program}" />`);
      const { stdout } = await place.expectRun(['ui'], 0, { env, under });
      expect(stdout).toContain('The page is opening in your browser.');
      expect(stdout).not.toContain('#code=');
      for (let waitedMs = 0; !existsSync(record) && waitedMs < PATIENCE_MS; waitedMs += 50) await delay(50);
      const opened = readFileSync(record, 'utf8');
      expect(opened).toMatch(ADDRESS);
      expect(opened).toContain('DISPLAY=:99');
      expect(opened).not.toMatch(/HOLDFAST_|correct horse/);
      // This test is another user, who has seen the arguments.
      expect(await opens(opened)).toBe(false);
      expect(agent.said()).not.toMatch(/#code=/);
    },
  );
});
