/**
 * The service of Windows. Its program lies in `%ProgramFiles%`, where only administrators write, and not where it was
 * installed from, which may be the folder of some user. It runs as `NT SERVICE\Holdfast`, an account that the system
 * makes for this service alone: it can do what an ordinary user can, and has the one right to read every file.
 */
import { cp, rename, rm } from 'node:fs/promises';
import { basename, join, relative, resolve, win32 } from 'node:path';
import { SERVICE_SID } from '../../base/access-list.ts';
import { causeText } from '../../base/errno-words.ts';
import { StateError, errnoOf } from '../../base/errors.ts';
import { changeAccountRight, windowsFolder, type WindowsFolder } from '../../system/windows-accounts.ts';
import type { Environment } from '../terminal/terminal.ts';
import { outputOf, type Step } from './step.ts';
import { ROOT } from './template.ts';
import { OF_SERVICE, OVERALL, directoryCalls, protectDirectory } from './windows-directory.ts';

const WINDOWS_SERVICE = 'Holdfast';
const ACCOUNT = 'NT SERVICE\\Holdfast';
const RIGHT = 'SeBackupPrivilege';
/** What the service manager runs, below the program. */
const PROGRAM = win32.join('service', 'windows', 'service.js');

export interface WindowsPlaces {
  /** The program. */
  readonly program: string;
  /** What the service keeps. */
  readonly data: string;
  readonly state: string;
  /** Of Windows. */
  readonly system: string;
  /** The script that the service manager runs. */
  readonly unit: string;
}

const USUAL: Readonly<Record<WindowsFolder, string>> = {
  programs: String.raw`C:\Program Files`,
  data: String.raw`C:\ProgramData`,
  system: String.raw`C:\Windows\System32`,
};

/** @param folder where Windows has its folders; on other systems, which only show the steps, where it usually has them */
export function windowsPlaces(
  folder: (name: WindowsFolder) => string = process.platform === 'win32'
    ? windowsFolder
    : (name) => USUAL[name],
): WindowsPlaces {
  const program = win32.join(folder('programs'), 'Holdfast');
  const data = win32.join(folder('data'), 'Holdfast');
  const unit = win32.join(program, PROGRAM);
  return { program, data, state: win32.join(data, 'state'), system: folder('system'), unit };
}

export interface WindowsInstall {
  readonly start: boolean;
  /** The Node.js that runs this. */
  readonly runtime: string;
  /** The program that runs this. */
  readonly root?: string;
  /** Whether the service manager knows the service already. */
  readonly known: boolean;
  /** The time, as part of a name. */
  readonly stamp: string;
}

/** The steps of an installation. Doing them again changes the service to what it should be. */
export function windowsSteps(places: WindowsPlaces, install: WindowsInstall): readonly Step[] {
  const { program, data, state, unit, system } = places;
  const sc = win32.join(system, 'sc.exe');
  const { start, runtime, root = ROOT, known, stamp } = install;
  const protect = (path: string, descriptor: string): Step => ({
    kind: 'act',
    shown: `make ${path} for administrators${descriptor === OF_SERVICE ? ' and the service' : ''} alone`,
    act: async () => await protectDirectory(path, { descriptor, stamp }, directoryCalls()),
  });
  // Quoted, as otherwise "C:\Program" would be run if somebody could make it.
  const command = [runtimeOf(program, root, runtime), unit, state].map((word) => `"${word}"`).join(' ');
  const kind = ['type=', 'own', 'start=', 'delayed-auto', 'obj=', ACCOUNT];
  return [
    protect(data, OVERALL),
    protect(state, OF_SERVICE),
    ...(known ? stopSteps(sc) : []),
    ...copySteps(program, root, runtime),
    {
      kind: 'run',
      words: [
        sc,
        known ? 'config' : 'create',
        WINDOWS_SERVICE,
        ...kind,
        'binPath=',
        command,
        'DisplayName=',
        'Holdfast backup agent',
      ],
    },
    { kind: 'run', words: [sc, 'description', WINDOWS_SERVICE, 'Keeps encrypted, verified backups.'] },
    {
      kind: 'run',
      words: [
        sc,
        'failure',
        WINDOWS_SERVICE,
        'reset=',
        '3600',
        'actions=',
        'restart/10000/restart/60000/restart/60000',
      ],
    },
    { kind: 'run', words: [sc, 'failureflag', WINDOWS_SERVICE, '1'] },
    {
      kind: 'act',
      shown: `give ${ACCOUNT} the right ${RIGHT}`,
      act: async () => changeAccountRight(SERVICE_SID, RIGHT, 'give'),
    },
    // All others are taken from the service, such as acting as whoever connects to it.
    { kind: 'run', words: [sc, 'privs', WINDOWS_SERVICE, `${RIGHT}/SeChangeNotifyPrivilege`] },
    ...(start ? [{ kind: 'run' as const, words: [sc, 'start', WINDOWS_SERVICE] }] : []),
  ];
}

/** The steps of taking the service away. What it keeps stays, unless `purge` says otherwise. */
export function windowsUninstallSteps(
  { program, data, system }: WindowsPlaces,
  { purge, known }: { readonly purge: boolean; readonly known: boolean },
): readonly Step[] {
  const sc = win32.join(system, 'sc.exe');
  const service: readonly Step[] = [
    ...stopSteps(sc),
    { kind: 'run', words: [sc, 'delete', WINDOWS_SERVICE] },
    {
      kind: 'act',
      shown: `take the right ${RIGHT} from ${ACCOUNT}`,
      act: async () => changeAccountRight(SERVICE_SID, RIGHT, 'take'),
    },
  ];
  return [
    ...(known ? service : []),
    isInside(ROOT, program)
      ? {
          kind: 'act',
          shown: `leave ${program}, which runs this command: remove it in Settings, Apps, or delete the folder`,
          act: async () => {},
        }
      : { kind: 'remove', path: program, tree: true },
    ...(purge ? [{ kind: 'remove' as const, path: data, tree: true }] : []),
  ];
}

/** Files of a program that runs cannot be replaced or deleted. */
function stopSteps(sc: string): readonly Step[] {
  return [
    { kind: 'run', words: [sc, 'stop', WINDOWS_SERVICE], mayFail: true },
    {
      kind: 'act',
      shown: 'wait until the service has stopped',
      act: async (env, signal) => await waitUntilStopped(sc, env, signal),
    },
  ];
}

/** As many seconds as the agent may take to end. */
const MOST_TRIES = 120;

async function waitUntilStopped(sc: string, env: Environment, signal: AbortSignal): Promise<void> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const state = serviceStateIn(await outputOf([sc, 'query', WINDOWS_SERVICE], env, signal));
    if (state === undefined || state === 'STOPPED') return;
    await new Promise((done) => void setTimeout(done, 1000));
    signal.throwIfAborted();
  }
  throw new StateError('NOT_READY', 'The service is not stopping', {
    hint: 'Stop it in the Task Manager, under Services. Then run this again.',
  });
}

/** What `sc query` says of a service; undefined when there is none. Labels are translated, states are not. */
export function serviceStateIn(output: string | undefined): string | undefined {
  return /:\s+[1-7]\s+([A-Z_]+)\b/.exec(output ?? '')?.[1];
}

export async function windowsServiceState(
  { system }: WindowsPlaces,
  env: Environment,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (process.platform !== 'win32') return undefined;
  return serviceStateIn(
    await outputOf([win32.join(system, 'sc.exe'), 'query', WINDOWS_SERVICE], env, signal),
  );
}

/** Folders of somebody who develops the program, and what it makes for itself. */
const NOT_COPIED = new Set([
  '.git',
  '.github',
  'src',
  'test',
  'dist/.code',
  'dist/package',
  'node_modules/.cache',
]);

/** Whether a file of the program belongs to an installation. `name` is below the program, with `/`. */
export function isCopied(name: string): boolean {
  return !NOT_COPIED.has(name) && !/(?:^|\/)node\.exe\.old$/.test(name);
}

/** What the program has beside itself where it was copied to. */
const COPIED_RUNTIME = 'node.exe';

/** The Node.js of the service. An installer puts its own into the program, in another place than copying does. */
function runtimeOf(program: string, root: string, runtime: string): string {
  const isInstalled = isInside(root, program) && isInside(runtime, program);
  return isInstalled ? runtime : win32.join(program, COPIED_RUNTIME);
}

/** Nothing when the program that runs is the installed one, with its own Node.js. */
function copySteps(program: string, root: string, runtime: string): readonly Step[] {
  if (!isInside(root, program))
    return [
      {
        kind: 'act',
        shown: `copy ${root} and ${basename(runtime)} to ${program}`,
        act: async () => await copyProgram(root, runtime, program),
      },
    ];
  if (isInside(runtime, program)) return [];
  const copied = win32.join(program, COPIED_RUNTIME);
  return [
    {
      kind: 'act',
      shown: `copy ${runtime} to ${copied}`,
      act: async () => await cp(resolve(runtime), copied, { dereference: true }),
    },
  ];
}

function isInside(path: string, directory: string): boolean {
  const [one, other] = [path, directory].map((name) => win32.resolve(name).toLowerCase());
  return one === other || one?.startsWith(`${other}\\`) === true;
}

/**
 * Copies the program beside its place first, so that there is never half of one. Copied files get the permissions of
 * the folder that they are copied to. @throws {StateError}
 */
export async function copyProgram(root: string, runtime: string, program: string): Promise<void> {
  const [made, old] = [`${program}.new`, `${program}.old`];
  try {
    await rm(made, { recursive: true, force: true });
    await rm(old, { recursive: true, force: true });
    await cp(root, made, {
      recursive: true,
      // What a link leads to may be a folder of somebody else's.
      dereference: true,
      filter: (from) => isCopied(relative(root, from).replaceAll('\\', '/')),
    });
    await cp(resolve(runtime), join(made, COPIED_RUNTIME), { dereference: true });
    await rename(program, old).catch((error: unknown) => {
      if (errnoOf(error) !== 'ENOENT') throw error;
    });
    await rename(made, program);
    await rm(old, { recursive: true, force: true });
  } catch (cause) {
    throw new StateError('WRITE_ERROR', `The program cannot be copied to ${program}: ${causeText(cause)}`, {
      hint: 'Run the command in a terminal that was opened with "Run as administrator", and check that the disk has space.',
      cause,
    });
  }
}

/** Lets the service write to a directory, and to what is in it. */
export function windowsAllowWrite({ system }: WindowsPlaces, directory: string): Step {
  return {
    kind: 'run',
    words: [win32.join(system, 'icacls.exe'), directory, '/grant', `*${SERVICE_SID}:(OI)(CI)M`, '/Q'],
  };
}
