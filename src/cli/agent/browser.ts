/** Opens an address in the user's browser. */
import { spawn } from 'node:child_process';
import type { Environment } from '../terminal/terminal.ts';

/** Milliseconds after which a program that has not failed is taken to have opened the browser: some keep running. */
const PATIENCE_MS = 3_000;

interface Opener {
  readonly program: string;
  readonly words: readonly string[];
  /** For its standard input. */
  readonly input: string;
}

/**
 * Opens the address. Returns whether a browser was asked: always false without a screen.
 * @param signal ends a program that has not answered yet; one that keeps running may be the browser, and is left alone
 */
export async function openBrowser(
  address: string,
  env: Environment,
  signal: AbortSignal,
  patienceMs = PATIENCE_MS,
): Promise<boolean> {
  const opener = openerFor(address, env);
  if (opener === undefined) return false;
  signal.throwIfAborted();
  return await new Promise<boolean>((resolve) => {
    const child = spawn(opener.program, opener.words, {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: withoutOurs(env),
      detached: true,
      windowsHide: true,
    });
    const settle = (opened: boolean): void => {
      clearTimeout(patience);
      signal.removeEventListener('abort', stop);
      resolve(opened);
    };
    const stop = (): void => {
      child.kill();
      settle(true);
    };
    const patience = setTimeout(() => settle(true), patienceMs);
    signal.addEventListener('abort', stop, { once: true });
    child.on('error', () => settle(false));
    child.on('exit', (code) => settle(code === 0));
    // The program may end without reading its input.
    child.stdin.on('error', () => undefined);
    child.stdin.end(opener.input);
    child.unref();
  });
}

/** Removes Holdfast's own variables, which may hold a passphrase. */
function withoutOurs(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('HOLDFAST_')));
}

function openerFor(address: string, env: Environment): Opener | undefined {
  switch (process.platform) {
    case 'darwin':
      // Passed as input, since every user can see the arguments of a process on macOS.
      return { program: 'osascript', words: ['-'], input: `open location "${address}"\n` };
    case 'win32':
      return { program: 'rundll32', words: ['url.dll,FileProtocolHandler', address], input: '' };
    default: {
      const screen = [env['DISPLAY'], env['WAYLAND_DISPLAY']].some((name) => (name ?? '') !== '');
      // No browser is started as root.
      const possible = screen && process.geteuid?.() !== 0;
      return possible ? { program: 'xdg-open', words: [address], input: '' } : undefined;
    }
  }
}
