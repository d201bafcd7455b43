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

/** For everybody, with rights of its own, or for one person. */
export type Scope = 'system' | 'user';

/** Where everything of the service is. */
export interface Layout {
  readonly scope: Scope;
  readonly platform: NodeJS.Platform;
  /** The state directory of the agent. */
  readonly state: string;
  /** The configuration, when it is not in the state directory. */
  readonly config: string | undefined;
  /** The file that the service manager reads. */
  readonly unit: string;
  /** Whom the agent runs as; undefined where it has a user of its own, or is started by the person's own session. */
  readonly person: Person | undefined;
}

const UNIT = 'holdfast.service';
const UNITS = '/etc/systemd/system';
const LABEL = 'org.example.holdfast';
const SYSUSERS = '/etc/sysusers.d/holdfast.conf';
/** The user of the machine's service. */
const SERVICE = 'holdfast';

/**
 * @param person for whom a service of one person is, on Linux; else for who runs the command
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
    const directory = windowsDirectory(env);
    return { ...base, state: join(directory, 'state'), unit: join(directory, 'holdfast.xml') };
  }
  throw new RequestError('UNSUPPORTED', `There is no such service for ${platform}`, {
    hint: `Run "${holdfast`start`}" when the machine starts, by the means of the system. On Windows use --system.`,
  });
}

/** By what name systemd knows the service. */
export function unitName({ unit }: Layout): string {
  return basename(unit);
}

function windowsDirectory(env: Environment): string {
  return join(env['ProgramData'] ?? String.raw`C:\ProgramData`, 'Holdfast');
}

/** The steps of an installation. Doing them again changes nothing. */
export async function installSteps(
  layout: Layout,
  options: { readonly start: boolean; readonly runtime: string },
): Promise<readonly Step[]> {
  if (layout.platform === 'darwin') return await launchdSteps(layout, options);
  if (layout.platform === 'win32') return await windowsSteps(layout, options);
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
    // By the service itself, whose directory it is: root would write, and give away, wherever a link in there leads.
    { kind: 'run', words: asUser(SERVICE, ['sh', '-c', MAKE_SETTINGS, 'sh', config]) },
    unit,
    ...load,
  ];
}

/** In what belongs to somebody everything is done as that user, who could have put a link anywhere in there. */
function asUser(name: string, words: readonly string[]): readonly string[] {
  return ['runuser', '-u', name, '--', ...words];
}

/** Empty settings, where there are none yet. */
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
    // Also when it runs: it may run with what was written before.
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

async function windowsSteps(
  layout: Layout,
  { start, runtime }: { readonly start: boolean; readonly runtime: string },
): Promise<readonly Step[]> {
  const values = {
    RUNTIME: runtime,
    PROGRAM: join(ROOT, 'service', 'bin', 'holdfast.js'),
    STATE: layout.state,
    LOG: join(layout.state, '..', 'logs'),
  };
  const content = await fillTemplate('windows/holdfast.xml', values, xmlText);
  const steps: Step[] = [
    // Whoever made the directory before would say what the service runs.
    { kind: 'run', words: windowsScript(layout, '-Prepare') },
    { kind: 'write', path: layout.unit, content, mode: 0o644 },
  ];
  if (start) steps.push({ kind: 'run', words: windowsScript(layout) });
  return steps;
}

function windowsScript(layout: Layout, ...more: readonly string[]): readonly string[] {
  const script = join(ROOT, 'service', 'windows', 'install.ps1');
  const directory = join(layout.unit, '..');
  return ['powershell', '-ExecutionPolicy', 'Bypass', '-File', script, '-Directory', directory, ...more];
}

/** The steps of taking the service away. Backups and settings stay unless `purge` says otherwise. */
export function uninstallSteps(layout: Layout, purge: boolean): readonly Step[] {
  const { scope, platform, unit, state, config, person } = layout;
  if (person !== undefined) return personalUninstallSteps(layout, person, purge);
  const data = purge
    ? [state, ...(config === undefined ? [] : [join(config, '..')])].map(wholeTree(platform))
    : [];
  if (platform === 'win32')
    return [
      { kind: 'run', words: windowsScript(layout, '-Uninstall') },
      { kind: 'remove', path: unit },
      ...data,
    ];
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

/** What belongs to others may change while it is removed: rm follows no link on the way down, which Node's does by path. */
function wholeTree(platform: NodeJS.Platform): (path: string) => Step {
  return (path) =>
    platform === 'win32'
      ? { kind: 'remove', path, tree: true }
      : { kind: 'run', words: ['rm', '-rf', '--', path] };
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

/** The file beside the unit that widens what the agent may write. */
export function allowWriteFile({ unit }: Layout): string {
  return join(`${unit}.d`, 'allow-write.conf');
}

const PATHS = 'ReadWritePaths=';

/** Where a directory lies that is to be written to, as a unit has to name it: see writable-place.ts. */
export type PlaceOf = (directory: string) => string;

/**
 * The content of that file with one more directory; the same text when it is in there. A disk that is away must not keep
 * the agent from starting: the hyphen says so, also for what was written without it. Nor must the agent keep a disk: what
 * was allowed before is named anew, too.
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

/** The path of such a line, with or without the hyphen; undefined for any other. */
function pathIn(line: string): string | undefined {
  const quoted = /^ReadWritePaths="-?(\/(?:[^"\\]|\\.)*)"$/.exec(line)?.[1];
  return quoted?.replaceAll(/\\(.)/g, '$1').replaceAll('%%', '%');
}
