/**
 * Whether the agent can reach the desktop of its user, and the program of the system that shows a message there. Nothing
 * of ours has to be installed for it: each desktop has such a program.
 */
import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** What is known about the system; a test makes up others. */
export interface DesktopFacts {
  readonly platform: NodeJS.Platform;
  /** Undefined on Windows. */
  readonly uid: number | undefined;
  readonly env: Environment;
  readonly isThere: (path: string) => boolean;
  readonly isProgram: (path: string) => boolean;
}

export const DESKTOP_HERE: DesktopFacts = {
  platform: process.platform,
  uid: process.geteuid?.(),
  env: process.env,
  isThere: existsSync,
  isProgram(path) {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  },
};

/** The programs that show messages, in the order in which they are looked for. */
export type DesktopProgram = 'gdbus' | 'notify-send' | 'osascript' | 'powershell';

export type DesktopAccess =
  | {
      readonly state: 'ready';
      readonly program: DesktopProgram;
      /** Of the program's file. */
      readonly path: string;
      readonly env: Environment;
    }
  /**
   * `service`: the agent belongs to the machine and not to a person, so it has no desktop. `away`: its user is not logged
   * in to a desktop now. `no_program`: nothing on this system shows messages.
   */
  | { readonly state: 'service' | 'away' | 'no_program' };

/** Accounts below are those of the system: nobody logs in with them. */
const FIRST_PERSON = 1000;
const FIRST_PERSON_OF_MACOS = 500;

export function desktopAccess(facts: DesktopFacts = DESKTOP_HERE): DesktopAccess {
  switch (facts.platform) {
    case 'darwin':
      return onMacos(facts);
    case 'win32':
      return onWindows(facts);
    default:
      return onSessionBus(facts);
  }
}

function onMacos({ uid = 0, env, isProgram }: DesktopFacts): DesktopAccess {
  if (uid < FIRST_PERSON_OF_MACOS) return { state: 'service' };
  const path = '/usr/bin/osascript';
  if (!isProgram(path)) return { state: 'no_program' };
  return { state: 'ready', program: 'osascript', path, env: taken(env, ['HOME', 'USER']) };
}

function onWindows({ env, isThere }: DesktopFacts): DesktopAccess {
  // A service is in a session of its own, which has no screen.
  if ((env['HOLDFAST_WINDOWS_SERVICE'] ?? '') !== '') return { state: 'service' };
  const root = env['SystemRoot'] ?? String.raw`C:\Windows`;
  // That of Windows itself: newer ones cannot show messages. By its full path, as the search path may have another.
  const path = [root, 'System32', 'WindowsPowerShell', 'v1.0', 'powershell.exe'].join('\\');
  if (!isThere(path)) return { state: 'no_program' };
  const names = [
    'SystemRoot',
    'SystemDrive',
    'windir',
    'TEMP',
    'TMP',
    'USERPROFILE',
    'APPDATA',
    'LOCALAPPDATA',
  ];
  return { state: 'ready', program: 'powershell', path, env: taken(env, names) };
}

function onSessionBus(facts: DesktopFacts): DesktopAccess {
  const { uid = 0, env } = facts;
  if (uid === 0) return { state: 'service' };
  const bus = busAddress(facts, uid);
  if (bus === undefined) return { state: uid < FIRST_PERSON ? 'service' : 'away' };
  for (const program of ['gdbus', 'notify-send'] as const) {
    const path = onPath(program, facts);
    if (path === undefined) continue;
    return {
      state: 'ready',
      program,
      path,
      // In English, so that its errors can be told apart, and with names in UTF-8.
      env: { ...taken(env, ['PATH', 'HOME']), DBUS_SESSION_BUS_ADDRESS: bus, LC_ALL: 'C.UTF-8' },
    };
  }
  return { state: 'no_program' };
}

/**
 * The bus of the user's session. A unit of the machine that runs as its user has no variable of the session, but may
 * talk to the bus, which has the same place in each session.
 */
function busAddress({ env, isThere }: DesktopFacts, uid: number): string | undefined {
  const named = env['DBUS_SESSION_BUS_ADDRESS'] ?? '';
  if (named !== '') {
    // The settings of a unit may name it for all times.
    const [, socket] = /^unix:path=([\w/.-]+)$/.exec(named) ?? [];
    return socket === undefined || isThere(socket) ? named : undefined;
  }
  const directory = env['XDG_RUNTIME_DIR'] ?? '';
  const socket = `${directory === '' ? `/run/user/${uid}` : directory}/bus`;
  return isThere(socket) ? `unix:path=${encodeURI(socket)}` : undefined;
}

function onPath(program: string, { env, isProgram }: DesktopFacts): string | undefined {
  return (env['PATH'] ?? '')
    .split(delimiter)
    .filter((directory) => isAbsolute(directory))
    .map((directory) => join(directory, program))
    .find((path) => isProgram(path));
}

/** Nothing else is handed on, as variables of the agent may hold secrets. */
function taken(env: Environment, names: readonly string[]): Environment {
  return Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
}
