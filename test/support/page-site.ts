/** The built agent with its web page in a browser: nothing of either is replaced. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { jsonLines, openPlace, type Place, type RunOptions } from './cli.ts';
import { type OpenBrowser, type OpenPage, startChromium, type View } from './chromium.ts';

const PATIENCE_MS = 60_000;
/** The embedded repository with the key of the machine, as somebody has it who has configured nothing. */
const FRESH: Environment = {
  HOLDFAST_REPOSITORY: undefined,
  HOLDFAST_PASSWORD: undefined,
  DISPLAY: undefined,
};

type Environment = NonNullable<RunOptions['env']>;

export interface PageSiteSetup {
  /** An empty directory that is the person's home, in place of a temporary one. */
  readonly home?: string;
  /** 0, for a free one, when left out. */
  readonly port?: number;
  /** Changes to the environment of the agent and of commands. */
  readonly env?: Environment;
}

export interface ApiAnswer {
  readonly status: number;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface PageSite extends AsyncDisposable {
  readonly place: Place;
  readonly browser: OpenBrowser;
  /** Of the agent, as `http://127.0.0.1:7390`. */
  readonly origin: string;
  /** A new window that has signed in with a code of `holdfast ui`. */
  signedIn(view?: View): Promise<OpenPage>;
  /** Goes to a page within the document, and waits until it has something to show. */
  visit(shown: OpenPage, route: string): Promise<void>;
  /** Asks the Desktop API, as a program with credentials does, and waits for the end of a job that is started. */
  api(method: 'GET' | 'POST', path: string, body?: object): Promise<ApiAnswer>;
  /** Runs a command beside the agent. */
  command(words: readonly string[]): Promise<string>;
  /** Starts the agent again, at another port unless one is set, with further changes to its environment. */
  restart(env?: Environment): Promise<void>;
}

/** `before` makes what is there before the agent starts: the person's home is the directory of the place. */
export async function openPageSite(
  before: (place: Place) => Promise<void> = async () => {},
  { home, port = 0, env = {} }: PageSiteSetup = {},
): Promise<PageSite> {
  await using stack = new AsyncDisposableStack();
  const place = stack.use(await openPlace(home));
  await before(place);
  const browser = stack.use(await startChromium());
  const options: RunOptions = { env: { ...FRESH, HOME: place.directory, ...env } };
  let agent = await startAgent(place, port, options);
  stack.defer(async () => await agent.end());
  const parts = stack.move();
  let token: string | undefined;
  let credentials: object | undefined;
  const newCredentials = async (): Promise<object> => {
    const words = ['credentials', 'create', '--name', 'home server', '--json'];
    const [{ api_key, secret } = {}] = jsonLines(await place.expectRun(words, 0, options));
    return { api_key, secret };
  };
  const newToken = async (): Promise<string> => {
    credentials ??= await newCredentials();
    const reply = await send(agent.origin, 'POST', '/auth/token', undefined, credentials);
    return String(reply.data['access_token']);
  };
  return {
    place,
    browser,
    get origin() {
      return agent.origin;
    },
    async signedIn(view) {
      const shown = await browser.open(view);
      const [said] = jsonLines(await place.expectRun(['ui', '--json'], 0, options));
      await shown.page.goto(String(said?.['address']));
      await shown.page.getByRole('navigation').first().waitFor();
      return shown;
    },
    async visit({ page }, route) {
      await page.goto(`${agent.origin}/#${route}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
    },
    async api(method, path, body) {
      token ??= await newToken();
      return await send(agent.origin, method, path, token, body);
    },
    command: async (words) => (await place.expectRun(words, 0, options)).stdout,
    async restart(changes = {}) {
      await agent.end();
      agent = await startAgent(place, port, { env: { ...options.env, ...changes } });
      token = undefined;
    },
    [Symbol.asyncDispose]: async () => await parts.disposeAsync(),
  };
}

async function send(
  origin: string,
  method: string,
  path: string,
  token: string | undefined,
  body: object | undefined,
): Promise<ApiAnswer> {
  const response = await fetch(`${origin}/v1${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json', prefer: 'wait=60' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { data = {} } = (await response.json()) as { readonly data?: ApiAnswer['data'] };
  return { status: response.status, data };
}

interface RunningAgent {
  readonly origin: string;
  end(): Promise<void>;
}

async function startAgent(place: Place, port: number, options: RunOptions): Promise<RunningAgent> {
  const child: ChildProcess = place.start(['start', '--port', String(port)], options);
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes: Buffer) => {
      text += bytes.toString();
    });
  for (let waitedMs = 0; !text.includes('Open your backups in a browser with: '); waitedMs += 50) {
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
