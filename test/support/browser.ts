/** A Chromium without a window, told what to do by its DevTools protocol: nothing but Node and the browser is needed. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Undefined where none is installed. */
export const INSTALLED_BROWSER = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
].find((file) => existsSync(file));

export interface Browser extends AsyncDisposable {
  /** Resolves when the page and its style are there. */
  open(address: string): Promise<void>;
  reload(): Promise<void>;
  address(): Promise<string>;
  /** What a person sees of the page. */
  text(): Promise<string>;
  /** Value of an expression in the page. */
  evaluate(expression: string): Promise<unknown>;
  /** Types into the field with that name. */
  fill(name: string, value: string): Promise<void>;
  /** Clicks the button, link or summary with that text, and waits when another page comes of it. */
  click(text: string, leads?: 'elsewhere' | 'nowhere'): Promise<void>;
  /** Also takes away scripts, as partners may. */
  configure(view: {
    readonly width: number;
    readonly height: number;
    readonly dark?: boolean;
    readonly script?: boolean;
  }): Promise<void>;
  /** PNG of the whole page. */
  picture(): Promise<Buffer>;
  /** Problems that the browser had with pages: what a policy forbids, what was not found. */
  readonly complaints: readonly string[];
}

const WORDS = [
  '--headless=new',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--remote-debugging-port=0',
  '--hide-scrollbars',
];

const PATIENCE_MS = 30_000;

export async function startBrowser(): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'holdfast-browser-'));
  // What the suite fetched where none is installed.
  const program = process.env['HOLDFAST_TEST_BROWSER'] ?? INSTALLED_BROWSER ?? 'chromium';
  const libraries = process.env['HOLDFAST_TEST_BROWSER_LIBRARIES'];
  const child = spawn(program, [...WORDS, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: 'ignore',
    env: { ...process.env, ...(libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries }) },
  });
  try {
    const connection = await connect(await pageAddress(profile));
    return await browserOn(connection, async () => await end(child, profile));
  } catch (error) {
    await end(child, profile);
    throw error;
  }
}

async function end(child: ChildProcess, profile: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'close');
  }
  rmSync(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
}

/** Of the first tab: the browser says in a file where it listens. */
async function pageAddress(profile: string): Promise<string> {
  const deadline = performance.now() + PATIENCE_MS;
  for (;;) {
    const [port] = (await readFile(join(profile, 'DevToolsActivePort'), 'utf8').catch(() => '')).split('\n');
    if (port !== undefined && port !== '') {
      const reply = await fetch(`http://127.0.0.1:${port}/json/list`);
      const tabs = (await reply.json()) as readonly { type: string; webSocketDebuggerUrl: string }[];
      const tab = tabs.find(({ type }) => type === 'page');
      if (tab !== undefined) return tab.webSocketDebuggerUrl;
    }
    if (performance.now() > deadline) throw new Error('the browser did not start');
    await delay(50);
  }
}

type Parameters = Readonly<Record<string, unknown>>;
type Told = Readonly<Record<string, unknown>>;

interface Connection {
  call(method: string, parameters?: Parameters): Promise<Told>;
  /** Resolves at the next event of that name. */
  next(event: string): Promise<Told>;
  listen(event: string, heard: (told: Told) => void): void;
  close(): void;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Told;
  readonly result?: Told;
  readonly error?: { readonly message: string };
}

async function connect(address: string): Promise<Connection> {
  const socket = new WebSocket(address);
  await once(socket, 'open');
  const waiting = new Map<number, (message: Message) => void>();
  const listeners = new Map<string, Set<(told: Told) => void>>();
  let calls = 0;
  socket.addEventListener('message', ({ data }) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.id !== undefined) waiting.get(message.id)?.(message);
    else for (const heard of listeners.get(message.method ?? '') ?? []) heard(message.params ?? {});
  });
  const listen: Connection['listen'] = (event, heard) => {
    const all = listeners.get(event) ?? new Set();
    listeners.set(event, all.add(heard));
  };
  return {
    call: async (method, parameters = {}) => {
      const id = (calls += 1);
      const { promise, resolve } = Promise.withResolvers<Message>();
      waiting.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params: parameters }));
      const { result, error } = await promise;
      waiting.delete(id);
      if (error !== undefined) throw new Error(`${method}: ${error.message}`);
      return result ?? {};
    },
    next: async (event) => {
      const { promise, resolve, reject } = Promise.withResolvers<Told>();
      const timer = setTimeout(() => reject(new Error(`no ${event} came`)), PATIENCE_MS);
      const heard = (told: Told): void => {
        clearTimeout(timer);
        listeners.get(event)?.delete(heard);
        resolve(told);
      };
      listen(event, heard);
      return await promise;
    },
    listen,
    close: () => socket.close(),
  };
}

async function browserOn(connection: Connection, ended: () => Promise<void>): Promise<Browser> {
  const { call, next, listen } = connection;
  const complaints: string[] = [];
  await call('Page.enable');
  await call('Log.enable');
  listen('Log.entryAdded', ({ entry }) => {
    const { level, text, url = '' } = entry as { level: string; text: string; url?: string };
    if (level === 'error') complaints.push(`${text} ${url}`);
  });

  const evaluate = async (expression: string): Promise<unknown> => {
    const { result, exceptionDetails } = await call('Runtime.evaluate', { expression, returnByValue: true });
    if (exceptionDetails !== undefined) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return (result as { readonly value?: unknown }).value;
  };
  const leading = async (work: () => Promise<unknown>): Promise<void> => {
    const loaded = next('Page.loadEventFired');
    await work();
    await loaded;
  };

  return {
    complaints,
    evaluate,
    open: async (address) => await leading(async () => await call('Page.navigate', { url: address })),
    reload: async () => await leading(async () => await call('Page.reload')),
    address: async () => String(await evaluate('location.href')),
    text: async () => String(await evaluate('document.body.innerText')),
    fill: async (name, value) => {
      const field = `document.querySelector('[name=${JSON.stringify(name)}]')`;
      await evaluate(`${field}.value = ${JSON.stringify(value)}`);
    },
    click: async (text, leads = 'elsewhere') => {
      const wanted = `[...document.querySelectorAll('button, a, summary')].find((one) => one.checkVisibility() && one.textContent.trim() === ${JSON.stringify(text)})`;
      const click = async (): Promise<unknown> => await evaluate(`${wanted}.click()`);
      if (leads === 'elsewhere') await leading(click);
      else await click();
    },
    configure: async ({ width, height, dark = false, script = true }) => {
      const size = { width, height, deviceScaleFactor: 1, mobile: false };
      await call('Emulation.setDeviceMetricsOverride', size);
      const features = [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }];
      await call('Emulation.setEmulatedMedia', { features });
      await call('Emulation.setScriptExecutionDisabled', { value: !script });
    },
    picture: async () => {
      const { data } = await call('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true });
      return Buffer.from(String(data), 'base64');
    },
    [Symbol.asyncDispose]: async () => {
      connection.close();
      await ended();
    },
  };
}
