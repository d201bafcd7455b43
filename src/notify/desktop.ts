/** Shows notices on the desktop of the person whose agent this is. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { errnoOf } from '../base/errors.ts';
import { HERE } from '../base/program-call.ts';
import { type DesktopAccess, desktopAccess, type DesktopFacts } from './desktop-access.ts';
import { desktopCommand } from './desktop-command.ts';
import { type Notice, severityOf, titleOf } from './notice.ts';
import { DeliveryError, type Sender } from './sender.ts';

/** Milliseconds that the program may take. */
const PATIENCE_MS = 20_000;
/** Milliseconds until it is tried again whether somebody has logged in. */
const AWAY_MS = 30_000;
/** Characters of the program's own words that are shown. */
const MOST_WORDS = 300;
/** The bus has nobody that shows messages, as where somebody is only logged in by SSH. */
const NOBODY_SHOWS =
  /ServiceUnknown|not provided by any \.service files|Cannot autolaunch|Could not connect/i;

/** What to do where the agent has no desktop, by the reason. In words for the command line and the page's test. */
export const WITHOUT_DESKTOP: Readonly<
  Record<Exclude<DesktopAccess['state'], 'ready'>, { readonly message: string; readonly hint: string }>
> = {
  service: {
    message: 'This agent runs as a service of the machine and has no desktop to show messages on',
    hint: 'Turn notifications on in your browser instead, on the page under Settings, Notifications.',
  },
  away: {
    message: 'The user of this agent is not logged in to a desktop now',
    hint: 'Messages are shown after the next login, for a day.',
  },
  no_program: {
    message: 'This system has no program that shows messages on the desktop',
    hint:
      process.platform === 'linux'
        ? 'Install notify-send (the package libnotify-bin) or gdbus (libglib2.0-bin).'
        : 'Turn notifications on in your browser instead, on the page under Settings, Notifications.',
  },
};

/** @param facts overrides what the system says */
export function desktopSender(facts?: DesktopFacts): Sender {
  async function send(notice: Notice, signal: AbortSignal): Promise<void> {
    const access = desktopAccess(facts);
    if (access.state !== 'ready') throw refusal(access.state);
    await show(access, notice, signal);
  }

  // Not kept for days: whoever logs in later is told what is still so, since what was given up counts as news again.
  return { name: 'desktop', everything: false, keeps: false, send, close: () => undefined };
}

function refusal(state: keyof typeof WITHOUT_DESKTOP, cause?: unknown): DeliveryError {
  const { message, hint } = WITHOUT_DESKTOP[state];
  if (state !== 'away') return new DeliveryError(message, { hint, cause });
  return new DeliveryError(message, { hint, retry: 'later', silenceMs: AWAY_MS, isNobodyThere: true, cause });
}

async function show(
  { program, path, env }: Extract<DesktopAccess, { state: 'ready' }>,
  notice: Notice,
  signal: AbortSignal,
): Promise<void> {
  const { words, input } = desktopCommand(program, {
    title: titleOf(notice),
    text: notice.text,
    severity: severityOf(notice.kind),
    icon: iconFile(),
  });
  try {
    const shown = run(path, [...words], { ...OPTIONS, env, signal });
    // The program may end without reading its input.
    shown.child.stdin?.on('error', () => undefined);
    shown.child.stdin?.end(input);
    await shown;
  } catch (error) {
    signal.throwIfAborted();
    throw failureOf(program, error);
  }
}

const run = promisify(execFile);
const OPTIONS = {
  timeout: PATIENCE_MS,
  killSignal: 'SIGKILL',
  maxBuffer: 64 * 1024,
  windowsHide: true,
} as const;

function failureOf(program: string, cause: unknown): DeliveryError {
  if (!isEnded(cause)) return new DeliveryError(`${program} could not be started`, { retry: 'later', cause });
  const said = cause.stderr.replaceAll(/\s+/g, ' ').trim();
  if (NOBODY_SHOWS.test(said)) return refusal('away', cause);
  return new DeliveryError(`${program} could not show a message on the desktop`, {
    hint: said === '' ? 'Try it in a terminal of the same user.' : `It says: ${said.slice(0, MOST_WORDS)}`,
    retry: 'later',
    // What was ended because it took too long may have shown it, so it is not tried for days.
    mayHaveArrived: cause.killed,
    cause,
  });
}

/** The error of a program that was started, and ended otherwise than well. */
function isEnded(error: unknown): error is Error & { readonly stderr: string; readonly killed: boolean } {
  return error instanceof Error && 'killed' in error && 'stderr' in error && errnoOf(error) === undefined;
}

/** That of the program's own folder, which each package has. */
function iconFile(): string | null {
  const file = join(HERE.root, 'service', 'desktop', 'org.example.holdfast.svg');
  return existsSync(file) ? file : null;
}
