/** Finds facts about the installed service in its unit, whatever the environment of the command says. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readFileIfPresent } from '../../base/atomic-file.ts';
import { RequestError, StateError } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { HERE, launcherOf, programForSudo } from '../../base/program-call.ts';
import { quoted } from '../../base/shell-words.ts';
import { statePaths } from '../command/state-directory.ts';
import { type Environment, printable } from '../terminal/terminal.ts';
import { usualState } from './person.ts';
import { type Layout, layoutOf, unitName } from './plan.ts';

/** Where systemd looks for the units of packages, after those that an administrator wrote. */
const PACKAGED_UNITS: readonly string[] = ['/lib/systemd/system', '/usr/lib/systemd/system'];

/** The unit of the machine's service that came with a package; undefined when there is none. */
async function packagedUnit(
  layout: Layout,
  directories: readonly string[] = PACKAGED_UNITS,
): Promise<string | undefined> {
  if (layout.platform !== 'linux' || layout.scope !== 'system') return undefined;
  for (const directory of directories) {
    const unit = join(directory, unitName(layout));
    if ((await readFileIfPresent(unit)) !== undefined) return unit;
  }
  return undefined;
}

/** The file that the service manager reads; undefined when the service is not installed. */
export async function installedUnit(
  layout: Layout,
  directories?: readonly string[],
): Promise<string | undefined> {
  if ((await readFileIfPresent(layout.unit)) !== undefined) return layout.unit;
  return await packagedUnit(layout, directories);
}

/** Refuses to install beside a package: a second unit would hide that of the package. @throws {StateError} */
export async function requireNoPackage(layout: Layout, directories?: readonly string[]): Promise<void> {
  const unit = await packagedUnit(layout, directories);
  if (unit === undefined) return;
  throw new StateError('PACKAGED', `The service of this machine came with a package: ${unit}`, {
    hint: `Start it with: sudo systemctl enable --now ${unitName(layout)}. To install a different one, remove the package first: sudo apt remove holdfast`,
  });
}

/**
 * The command line that addresses the service of the machine; undefined if there is none, or the command already did.
 * The state of the service is not that of the user, not even of root.
 */
export async function forMachineService(
  words: readonly string[],
  env: Environment,
  platform: NodeJS.Platform = process.platform,
): Promise<string | undefined> {
  if (platform !== 'linux') return undefined;
  const layout = layoutOf('system', env, platform);
  const unit = await installedUnit(layout);
  if (unit === undefined || statePaths(env).directory === layout.state) return undefined;
  // For the service of another installation, and for root, who may have an agent of its own, the command has to name
  // the places.
  const isOurs = ((await readFileIfPresent(unit))?.toString('utf8') ?? '').includes(launcherOf(HERE));
  if (isOurs && process.geteuid?.() !== 0)
    return ['sudo', ...programForSudo(), ...words].map(quoted).join(' ');
  const places = [`HOLDFAST_STATE_DIR=${layout.state}`, `HOLDFAST_CONFIG=${layout.config ?? ''}`];
  // The command of the package knows both places.
  const program = unit === layout.unit ? ['env', ...places, ...programForSudo()] : ['holdfast'];
  return ['sudo', '-u', 'holdfast', ...program, ...words].map(quoted).join(' ');
}

/** The command that installs a service for this user; for root, one for the machine. */
export function installCommand(env: Environment, isRoot = process.getuid?.() === 0): string {
  if (process.platform !== 'linux' || isRoot) return holdfast`service install`;
  const state = env['HOLDFAST_STATE_DIR'] ?? '';
  // Root does not have the user's environment.
  const set = state === '' ? [] : ['env', `HOLDFAST_STATE_DIR=${resolve(state)}`];
  return ['sudo', ...set, ...programForSudo(), 'service', 'install', '--user'].map(quoted).join(' ');
}

/** The layout with the state directory that the installed unit of a person names. */
export async function asInstalled(layout: Layout): Promise<Layout> {
  if (layout.person === undefined) return layout;
  const text = await readFileIfPresent(layout.unit);
  const state = text === undefined ? undefined : stateInUnit(text.toString('utf8'));
  return state === undefined ? layout : { ...layout, state };
}

/**
 * Makes sure before a deletion that the directory is the state of the service, not just what some environment names.
 * @throws {StateError} when the unit of the person does not say where it is, or the environment says another place
 */
export async function requireKnownState(layout: Layout, env: Environment): Promise<void> {
  const { person, unit } = layout;
  if (person === undefined) return;
  const name = printable(person.name);
  const text = await readFileIfPresent(unit);
  const state = text === undefined ? undefined : stateInUnit(text.toString('utf8'));
  if (state === undefined) {
    const why = text === undefined ? 'does not exist' : 'does not tell';
    throw new StateError('STATE_UNKNOWN', `It is unknown where the service of ${name} keeps its state`, {
      hint: `Its unit ${why}: ${printable(unit)}. Usually it is ${printable(usualState(person.home))}: look at its contents, and delete it yourself.`,
    });
  }
  const named = env['HOLDFAST_STATE_DIR'] ?? '';
  if (named === '' || resolve(named) === state) return;
  throw new StateError(
    'STATE_UNKNOWN',
    `The service of ${name} keeps its state in ${printable(state)}, but HOLDFAST_STATE_DIR is ${printable(resolve(named))}`,
    { hint: `To delete the state of the service, use: HOLDFAST_STATE_DIR=${printable(quoted(state))}` },
  );
}

const VARIABLE = 'HOLDFAST_STATE_DIR=';

/** The state directory that a unit gives to its agent; undefined when it names none, or one that only systemd can resolve. */
export function stateInUnit(text: string): string | undefined {
  const words = [...text.matchAll(/^Environment=(.*)$/gm)].flatMap(([, value = '']) => wordsOf(value));
  const value = words.findLast((word) => word.startsWith(VARIABLE))?.slice(VARIABLE.length) ?? '';
  const plain = value.replaceAll('%%', '');
  return value === '' || plain.includes('%') ? undefined : value.replaceAll('%%', '%');
}

/** The words of a line as systemd reads them, for the syntax that the templates use. */
function wordsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:[^\s"]|"(?:[^"\\]|\\.)*")+/g)].map(([word]) =>
    word.replaceAll(/"((?:[^"\\]|\\.)*)"/g, (_whole, inner: string) =>
      inner.replaceAll(/\\(.)/g, (_pair, letter: string) => (letter === 'n' ? '\n' : letter)),
    ),
  );
}

/**
 * Keeps users without an agent from writing settings that nothing reads, and points them to the service of the machine.
 * @throws {RequestError} FORBIDDEN when the machine has a service and this user never had an agent
 */
export async function requireOwnAgent(env: Environment): Promise<void> {
  const isNamed = (env['HOLDFAST_STATE_DIR'] ?? '') !== '' || (env['HOLDFAST_CONFIG'] ?? '') !== '';
  if (isNamed || existsSync(join(statePaths(env).directory, 'state.db'))) return;
  const [, , ...words] = process.argv;
  const command = await forMachineService(words, env);
  if (command === undefined) return;
  throw new RequestError(
    'FORBIDDEN',
    'You are not running an agent of your own, and only root can change the agent of this machine',
    {
      hint: `Run: ${command} (or start an agent of your own: ${holdfast`start --source DIR`})`,
    },
  );
}
