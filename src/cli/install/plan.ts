/** Which files and commands make Holdfast a service of this system. */
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { RequestError } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { statePaths } from '../command/state-directory.ts';
import type { Environment } from '../terminal/terminal.ts';
import { callingPerson, stateOf, unitOf, type Person } from './person.ts';
import type { Step } from './step.ts';
import { ROOT, fillTemplate, unitLine, unitValue, unitWord, urlPath, xmlText } from './template.ts';
import { windowsPlaces, windowsSteps, windowsUninstallSteps } from './windows-steps.ts';

/** `system`: one service for everybody, with a user of its own; `user`: a service for one person. */
export type Scope = 'system' | 'user';

/** The places of the service, and whom it runs as. */
export interface Layout {
  readonly scope: Scope;
  readonly platform: NodeJS.Platform;
  /** The state directory of the agent. */
  readonly state: string;
  /** The configuration, when it is not in the state directory. */
  readonly config: string | undefined;
  /** The file that the service manager reads. */
  readonly unit: string;
  /** The person as whom the agent runs; undefined where it has a user of its own, or is started by the person's own session. */
  readonly person: Person | undefined;
}

const UNIT = 'holdfast.service';
const UNITS = '/etc/systemd/system';
const LABEL = 'org.example.holdfast';
const SYSUSERS = '/etc/sysusers.d/holdfast.conf';
/** The user of the machine's service. */
const SERVICE = 'holdfast';

/**
 * @param person on Linux, the person for whom a service of one person is; default: who runs the command
 * @throws {RequestError} where there is no such service
 */
export function layoutOf(scope: Scope, env: Environment, platform: NodeJS.Platform, person?: Person): Layout {
  const base = { scope, platform, config: undefined, person: undefined };
  if (platform === 'linux') {
    if (scope === 'user') {
      const whose = person ?? callingPerson();
      return { ...base, state: stateOf(whose, env), unit: join(UNITS, unitOf(whose)), person: whose };
    }
    const config = '/etc/holdfast/config.json';
    return { ...base, state: '/var/lib/holdfast', config, unit: join(UNITS, UNIT) };
  }
  if (platform === 'darwin') {
    const own = statePaths(env).directory;
    const library = scope === 'user' ? join(homedir(), 'Library') : '/Library';
    const folder = join(library, scope === 'user' ? 'LaunchAgents' : 'LaunchDaemons');
    const state = scope === 'user' ? own : '/Library/Application Support/Holdfast';
    return { ...base, state, unit: join(folder, `${LABEL}.plist`) };
  }
  if (platform === 'win32' && scope === 'system') {
    const { state, unit } = windowsPlaces();
    return { ...base, state, unit };
  }
  throw new RequestError('UNSUPPORTED', `This kind of service is not available on ${platform}`, {
    hint: `Have the system run "${holdfast`start`}" when the machine starts. On Windows use --system.`,
  });
}

/** The name by which systemd knows the service. */
export function unitName({ unit }: Layout): string {
  return basename(unit);
}

export interface InstallOptions {
  readonly start: boolean;
  readonly runtime: string;
  /** On Windows: whether the service manager knows the service already. */
  readonly known: boolean;
  /** The time, as part of a name for what is set aside. */
  readonly stamp: string;
}

/** The steps of an installation. Doing them again changes nothing. */
export async function installSteps(layout: Layout, options: InstallOptions): Promise<readonly Step[]> {
  if (layout.platform === 'darwin') return await launchdSteps(layout, options);
  if (layout.platform === 'win32') return windowsSteps(windowsPlaces(), options);
  const unit: Step = {
    kind: 'write',
    path: layout.unit,
    content: await unitText(layout, options.runtime),
    mode: 0o644,
  };
  const load: Step[] = [{ kind: 'run', words: ['systemctl', 'daemon-reload'] }];
  if (options.start) load.push(...startSteps(layout));
  if (layout.person !== undefined) {
    const make = ['mkdir', '-p', '-m', '0700', layout.state];
    return [{ kind: 'run', words: asUser(layout.person.name, make) }, unit, ...load];
  }
  const config = layout.config ?? '';
  return [
    {
      kind: 'write',
      path: SYSUSERS,
      content: await fillTemplate('systemd/holdfast.sysusers', {}, unitWord),
      mode: 0o644,
    },
    { kind: 'run', words: ['systemd-sysusers', SYSUSERS] },
    { kind: 'run', words: ['install', '-d', '-o', SERVICE, '-g', SERVICE, '-m', '0755', join(config, '..')] },
    // Done as the user of the service, whose directory it is: as root it would follow a link in there, and write to or
    // give away any file.
    { kind: 'run', words: asUser(SERVICE, ['sh', '-c', MAKE_SETTINGS, 'sh', config]) },
    unit,
    ...load,
  ];
}

/** Runs a command as a user. What is done in the directories of a user is done as that user, who could have put links there. */
function asUser(name: string, words: readonly string[]): readonly string[] {
  return ['runuser', '-u', name, '--', ...words];
}

/** Shell script that makes empty settings if there are none yet. */
const MAKE_SETTINGS = 'umask 077; set -C; test -e "$1" || echo {} >"$1"';

/** The unit with everything filled in. */
async function unitText(layout: Layout, runtime: string): Promise<string> {
  const program = join(ROOT, 'service', 'bin', 'holdfast.js');
  if (layout.person !== undefined)
    return await fillTemplate(
      'systemd/holdfast-user.service',
      {
        ROOT: urlPath(ROOT),
        RUNTIME: unitWord(runtime),
        PROGRAM: unitWord(program),
        USER: unitLine(layout.person.name),
        HOME: unitValue(layout.person.home),
        STATE: unitValue(layout.state),
      },
      (value) => value,
    );
  const config = layout.config ?? '';
  return await fillTemplate(
    'systemd/holdfast.service',
    {
      ROOT: urlPath(ROOT),
      RUNTIME: unitWord(runtime),
      PROGRAM: unitWord(program),
      CONFIG: unitWord(config),
      CONFIG_DIRECTORY: unitValue(join(config, '..')),
    },
    (value) => value,
  );
}

function startSteps(layout: Layout): readonly Step[] {
  const unit = unitName(layout);
  return [
    { kind: 'run', words: ['systemctl', 'enable', unit] },
    // Restarts a running service as well, as it may run with an earlier unit.
    { kind: 'run', words: ['systemctl', 'restart', unit] },
  ];
}

async function launchdSteps(
  layout: Layout,
  { start, runtime }: { readonly start: boolean; readonly runtime: string },
): Promise<readonly Step[]> {
  const log =
    layout.scope === 'user' ? join(homedir(), 'Library', 'Logs', 'Holdfast') : '/Library/Logs/Holdfast';
  const values = {
    RUNTIME: runtime,
    PROGRAM: join(ROOT, 'service', 'bin', 'holdfast.js'),
    STATE: layout.state,
    LOG: log,
  };
  const content = await fillTemplate(`launchd/${LABEL}.plist`, values, xmlText);
  const domain = launchdDomain(layout.scope);
  const steps: Step[] = [
    { kind: 'run', words: ['mkdir', '-p', log] },
    { kind: 'write', path: layout.unit, content, mode: 0o644 },
  ];
  if (start)
    steps.push(
      { kind: 'run', words: ['launchctl', 'bootout', `${domain}/${LABEL}`], mayFail: true },
      { kind: 'run', words: ['launchctl', 'bootstrap', domain, layout.unit] },
    );
  return steps;
}

function launchdDomain(scope: Scope): string {
  return scope === 'user' ? `gui/${process.getuid?.() ?? 0}` : 'system';
}

/** The steps of taking the service away. Backups and settings stay unless `purge` says otherwise. */
export function uninstallSteps(
  layout: Layout,
  { purge, known }: { readonly purge: boolean } & Pick<InstallOptions, 'known'>,
): readonly Step[] {
  const { scope, platform, unit, state, config, person } = layout;
  if (platform === 'win32') return windowsUninstallSteps(windowsPlaces(), { purge, known });
  if (person !== undefined) return personalUninstallSteps(layout, person, purge);
  const data = purge ? [state, ...(config === undefined ? [] : [join(config, '..')])].map(wholeTree) : [];
  if (platform === 'darwin')
    return [
      { kind: 'run', words: ['launchctl', 'bootout', `${launchdDomain(scope)}/${LABEL}`], mayFail: true },
      { kind: 'remove', path: unit },
      ...data,
    ];
  return [
    { kind: 'run', words: ['systemctl', 'disable', '--now', unitName(layout)], mayFail: true },
    { kind: 'remove', path: unit },
    { kind: 'remove', path: allowWriteFile(layout) },
    { kind: 'remove', path: SYSUSERS },
    { kind: 'run', words: ['systemctl', 'daemon-reload'], mayFail: true },
    ...data,
  ];
}

/**
 * Removes a tree. Its owner may change it meanwhile: rm follows no link on the way down, while Node.js works with paths
 * and would.
 */
function wholeTree(path: string): Step {
  return { kind: 'run', words: ['rm', '-rf', '--', path] };
}

function personalUninstallSteps(layout: Layout, person: Person, purge: boolean): readonly Step[] {
  const name = unitName(layout);
  const data: Step[] = purge
    ? [{ kind: 'run', words: asUser(person.name, ['rm', '-rf', '--', layout.state]) }]
    : [];
  return [
    { kind: 'run', words: ['systemctl', 'disable', '--now', name], mayFail: true },
    // Temporary files, and the directory made for them.
    { kind: 'run', words: ['systemctl', 'clean', '--what=cache', name], mayFail: true },
    { kind: 'remove', path: layout.unit },
    { kind: 'remove', path: allowWriteFile(layout) },
    { kind: 'run', words: ['systemctl', 'daemon-reload'], mayFail: true },
    ...data,
  ];
}

/** The drop-in file of the unit that adds to what the agent may write. */
export function allowWriteFile({ unit }: Layout): string {
  return join(`${unit}.d`, 'allow-write.conf');
}

const PATHS = 'ReadWritePaths=';

/** Gives the path that a unit has to name to make a directory writable: see writable-place.ts. */
export type PlaceOf = (directory: string) => string;

/**
 * The content of the drop-in file with one more directory; the same text when it is there already. Each path gets a
 * hyphen, also in lines written without it, so that a disk that is away does not keep the agent from starting. Earlier
 * paths go through `placeOf`, too, so that the agent does not keep a disk mounted.
 */
export function allowWriteText(before: string, directory: string, placeOf: PlaceOf): string {
  const lines = before
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => {
      const named = pathIn(text);
      return named === undefined ? text : pathLine(placeOf(named));
    });
  const head = lines.includes('[Service]')
    ? lines
    : [
        '# What the agent may write: by the command "service allow-write" of Holdfast.',
        '[Service]',
        ...lines,
      ];
  return `${[...new Set([...head, pathLine(placeOf(directory))])].join('\n')}\n`;
}

function pathLine(path: string): string {
  const escaped = path
    .replaceAll('%', '%%')
    .replaceAll('\\', '\\\\')
    .replaceAll('"', String.raw`\"`);
  return `${PATHS}"-${escaped}"`;
}

/** The path of a `ReadWritePaths` line, with or without the hyphen; undefined for any other line. */
function pathIn(line: string): string | undefined {
  const quoted = /^ReadWritePaths="-?(\/(?:[^"\\]|\\.)*)"$/.exec(line)?.[1];
  return quoted?.replaceAll(/\\(.)/g, '$1').replaceAll('%%', '%');
}
