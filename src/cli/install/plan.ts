/** Which files and commands make Holdfast a service of this system. */
import { homedir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { RequestError } from '../../base/errors.ts';
import { statePaths } from '../state-directory.ts';
import type { Environment } from '../terminal.ts';
import type { Step } from './step.ts';
import { ROOT, fillTemplate, unitValue, unitWord, urlPath, xmlText } from './template.ts';

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
}

export const UNIT = 'holdfast.service';
const LABEL = 'org.example.holdfast';
const SYSUSERS = '/etc/sysusers.d/holdfast.conf';

/** @throws {RequestError} where there is no such service */
export function layoutOf(scope: Scope, env: Environment, platform: NodeJS.Platform): Layout {
  const own = statePaths(env).directory;
  if (platform === 'linux') {
    if (scope === 'user')
      return { scope, platform, state: own, config: undefined, unit: join(userUnits(env), UNIT) };
    const unit = `/etc/systemd/system/${UNIT}`;
    return { scope, platform, state: '/var/lib/holdfast', config: '/etc/holdfast/config.json', unit };
  }
  if (platform === 'darwin') {
    const library = scope === 'user' ? join(homedir(), 'Library') : '/Library';
    const folder = join(library, scope === 'user' ? 'LaunchAgents' : 'LaunchDaemons');
    const state = scope === 'user' ? own : '/Library/Application Support/Holdfast';
    return { scope, platform, state, config: undefined, unit: join(folder, `${LABEL}.plist`) };
  }
  if (platform === 'win32' && scope === 'system') {
    const directory = windowsDirectory(env);
    return {
      scope,
      platform,
      state: join(directory, 'state'),
      config: undefined,
      unit: join(directory, 'holdfast.xml'),
    };
  }
  throw new RequestError('UNSUPPORTED', `There is no such service for ${platform}`, {
    hint: 'Run "holdfast start" when the machine starts, by the means of the system. On Windows use --system.',
  });
}

function userUnits(env: Environment): string {
  const xdg = env['XDG_CONFIG_HOME'] ?? '';
  return join(isAbsolute(xdg) ? xdg : join(homedir(), '.config'), 'systemd', 'user');
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
  const systemctl = systemctlOf(layout.scope);
  const load: Step[] = [{ kind: 'run', words: [...systemctl, 'daemon-reload'] }];
  if (options.start) load.push(...startSteps(layout.scope));
  if (layout.scope === 'user') return [unit, ...load];
  const config = layout.config ?? '';
  return [
    {
      kind: 'write',
      path: SYSUSERS,
      content: await fillTemplate('systemd/holdfast.sysusers', {}, unitWord),
      mode: 0o644,
    },
    { kind: 'run', words: ['systemd-sysusers', SYSUSERS] },
    { kind: 'write', path: config, content: '{}\n', mode: 0o600, keep: true },
    { kind: 'run', words: ['chown', 'holdfast:holdfast', join(config, '..'), config] },
    { kind: 'run', words: ['chmod', '0755', join(config, '..')] },
    unit,
    ...load,
  ];
}

/** The unit with everything filled in. */
export async function unitText(layout: Layout, runtime: string): Promise<string> {
  const program = join(ROOT, 'service', 'bin', 'holdfast.js');
  if (layout.scope === 'user')
    return await fillTemplate(
      'systemd/holdfast-user.service',
      {
        ROOT: urlPath(ROOT),
        RUNTIME: unitWord(runtime),
        PROGRAM: unitWord(program),
        CONFIG_OPTION: '',
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

export function systemctlOf(scope: Scope): readonly string[] {
  return scope === 'user' ? ['systemctl', '--user'] : ['systemctl'];
}

function startSteps(scope: Scope): readonly Step[] {
  const systemctl = systemctlOf(scope);
  const start: readonly Step[] = [
    { kind: 'run', words: [...systemctl, 'enable', UNIT] },
    // Also when it runs: it may run with what was written before.
    { kind: 'run', words: [...systemctl, 'restart', UNIT] },
  ];
  if (scope === 'system') return start;
  // Else the agent of a person ends when the last session does.
  return [
    ...start,
    { kind: 'run', words: ['loginctl', 'enable-linger', userInfo().username], mayFail: true },
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
  const steps: Step[] = [{ kind: 'write', path: layout.unit, content, mode: 0o644 }];
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
  const { scope, platform, unit, state, config } = layout;
  const data: Step[] = purge ? [{ kind: 'remove', path: state, tree: true }] : [];
  if (purge && config !== undefined) data.push({ kind: 'remove', path: join(config, '..'), tree: true });
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
  const systemctl = systemctlOf(scope);
  return [
    { kind: 'run', words: [...systemctl, 'disable', '--now', UNIT], mayFail: true },
    { kind: 'remove', path: unit },
    { kind: 'remove', path: allowWriteFile(layout) },
    ...(scope === 'system' ? [{ kind: 'remove', path: SYSUSERS } as const] : []),
    { kind: 'run', words: [...systemctl, 'daemon-reload'], mayFail: true },
    ...data,
  ];
}

/** The file beside the unit that widens what the agent may write. */
export function allowWriteFile({ unit }: Layout): string {
  return join(`${unit}.d`, 'allow-write.conf');
}

const PATHS = 'ReadWritePaths=';

/** The content of that file with one more directory; the same text when it is in there. */
export function allowWriteText(before: string, directory: string): string {
  const line = `${PATHS}"${directory
    .replaceAll('%', '%%')
    .replaceAll('\\', '\\\\')
    .replaceAll('"', String.raw`\"`)}"`;
  const lines = before.split('\n').filter((text) => text !== '');
  if (lines.includes(line)) return before;
  const head = lines.includes('[Service]')
    ? lines
    : ['# What the agent may write, by "holdfast service allow-write".', '[Service]', ...lines];
  return `${[...head, line].join('\n')}\n`;
}
