/** The built agent with its web page in a browser: nothing of either is replaced. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { jsonLines, openPlace, type Place, type RunOptions } from './cli.ts';
import { type OpenBrowser, type OpenPage, startChromium, type View } from './chromium.ts';

const PATIENCE_MS = 60_000;
/** The embedded repository with the key of the machine, as somebody has it who has configured nothing. */
const FRESH: RunOptions = {
  env: { HOLDFAST_REPOSITORY: undefined, HOLDFAST_PASSWORD: undefined, DISPLAY: undefined },
};

export interface PageSite extends AsyncDisposable {
  readonly place: Place;
  readonly browser: OpenBrowser;
  /** Of the agent, as `http://127.0.0.1:7390`. */
  readonly origin: string;
  /** A new window that has signed in with a code of `holdfast ui`. */
  signedIn(view?: View): Promise<OpenPage>;
  /** Goes to a page within the document, and waits until it has something to show. */
  visit(shown: OpenPage, route: string): Promise<void>;
  /** Runs a command beside the agent. */
  command(words: readonly string[]): Promise<string>;
  /** Starts the agent again, at another port. */
  restart(): Promise<void>;
}

export async function openPageSite(): Promise<PageSite> {
  await using stack = new AsyncDisposableStack();
  const place = stack.use(await openPlace());
  const browser = stack.use(await startChromium());
  let agent = await startAgent(place);
  stack.defer(async () => await agent.end());
  const parts = stack.move();
  return {
    place,
    browser,
    get origin() {
      return agent.origin;
    },
    async signedIn(view) {
      const shown = await browser.open(view);
      const [said] = jsonLines(await place.expectRun(['ui', '--json'], 0, FRESH));
      await shown.page.goto(String(said?.['address']));
      await shown.page.getByRole('navigation').first().waitFor();
      return shown;
    },
    async visit({ page }, route) {
      await page.goto(`${agent.origin}/#${route}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
    },
    command: async (words) => (await place.expectRun(words, 0, FRESH)).stdout,
    async restart() {
      await agent.end();
      agent = await startAgent(place);
    },
    [Symbol.asyncDispose]: async () => await parts.disposeAsync(),
  };
}

interface RunningAgent {
  readonly origin: string;
  end(): Promise<void>;
}

async function startAgent(place: Place): Promise<RunningAgent> {
  const child: ChildProcess = place.start(['start', '--port', '0'], FRESH);
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes: Buffer) => {
      text += bytes.toString();
    });
  for (let waitedMs = 0; !text.includes('Open its page with: '); waitedMs += 50) {
    if (child.exitCode !== null || waitedMs > PATIENCE_MS) {
      child.kill('SIGKILL');
      expect.fail(`the agent did not start:\n${text}`);
    }
    await delay(50);
  }
  const origin = /http:\/\/127\.0\.0\.1:\d+/.exec(text)?.[0] ?? expect.fail(`there is no address in ${text}`);
  return {
    origin,
    async end() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}
