/**
 * Runs commands of root that are about the machine's service as the user of that service, whose state is not that of
 * root. Whatever they write can then be read by the service. The powers of root that they need are kept as
 * capabilities.
 *
 * Commands that the settings of the service name are chosen by whoever can change these settings, and must not get
 * root's powers: the capabilities belong to this process alone, and no child inherits them (`keepToItself`).
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readFileIfPresent } from '../../base/atomic-file.ts';
import { StateError } from '../../base/errors.ts';
import { HERE, NAMED_BY, launcherOf, programForSudo, type Environment } from '../../base/program-call.ts';
import { quoted } from '../../base/shell-words.ts';
import { ACTING, actsForService } from '../command/context.ts';
import { splitWords, wordOf } from '../command/command-words.ts';
import { statePaths } from '../command/state-directory.ts';
import { installedUnit } from './installed.ts';
import { layoutOf } from './plan.ts';

/** Commands that are about no agent at all, or about the service itself. */
const ELSEWHERE = new Set(['service', 'partner', 'completion', 'help']);

/**
 * Commands that write where root says: restored files, and keys. (`doctor --bundle` does, too.) All others write only
 * in what is the service's own, and so do not keep the power to write anywhere: an attacker who has taken over the
 * service may have put a link there.
 */
const WRITE_ELSEWHERE = new Set(['restore', 'keys']);

/** The names of capabilities in setpriv, with their numbers in the kernel. */
const CAPABILITIES = {
  chown: 0,
  dac_override: 1,
  dac_read_search: 2,
  fowner: 3,
  fsetid: 4,
  mknod: 27,
  setfcap: 31,
};
type Capability = keyof typeof CAPABILITIES;
const READING: readonly Capability[] = ['dac_read_search'];
const OF_ROOT: readonly Capability[] = [
  ...READING,
  'dac_override',
  'chown',
  'fowner',
  'fsetid',
  'mknod',
  'setfcap',
];

/** The directory of the unit for its cache and temporary files. */
const CACHE = '/var/cache/holdfast';
const SETPRIV = '/usr/bin/setpriv';
const PR_CAP_AMBIENT = 47;
const PR_CAP_AMBIENT_CLEAR_ALL = 4;

interface MachineService {
  readonly state: string;
  readonly config: string;
  readonly uid: number;
  readonly gid: number;
}

/**
 * Executes the program again as the user of the machine's service, if the command is root's and about that service.
 * Returns otherwise, and in the program that was executed.
 * @throws {StateError} when the system cannot do that
 */
export async function actForService(words: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
  if (actsForService(env)) {
    await keepToItself();
    return;
  }
  const service = await serviceMeant(words, env);
  if (service === undefined) return;
  const places = placesOf(service, env);
  // A service that runs as root needs no change of the user.
  if (service.uid === 0) Object.assign(env, places);
  else goOnAs(service, words, { ...env, ...places, [ACTING]: '1' });
}

async function serviceMeant(words: readonly string[], env: Environment): Promise<MachineService | undefined> {
  const service = await serviceOfMachine(env);
  if (service === undefined || !isAbout(service, words, env)) return undefined;
  // Root may have an agent of its own. Commands are about that one, unless the environment names the service's state.
  return namesState(env) || !(await hasSettings(env)) ? service : undefined;
}

/** The service that this installation runs; undefined when there is none, or it never had a state. */
async function serviceOfMachine(env: Environment): Promise<MachineService | undefined> {
  const layout = layoutOf('system', env, 'linux');
  const { state, config = join(state, 'config.json') } = layout;
  const unit = await installedUnit(layout);
  if (unit === undefined) return undefined;
  const text = (await readFileIfPresent(unit))?.toString('utf8') ?? '';
  if (!text.includes(launcherOf(HERE))) return undefined;
  const owner = statSync(state, { throwIfNoEntry: false });
  return owner && { state, config, uid: owner.uid, gid: owner.gid };
}

function namesState(env: Environment): boolean {
  return (env['HOLDFAST_STATE_DIR'] ?? '') !== '';
}

async function hasSettings(env: Environment): Promise<boolean> {
  return (await readFileIfPresent(join(statePaths(env).directory, 'config.json'))) !== undefined;
}

type Places = Pick<MachineService, 'state' | 'config'>;

/** Whether a command is about the service. One that names a repository by its place is not, unless it is the service's own. */
export function isAbout({ state, config }: Places, words: readonly string[], env: Environment): boolean {
  const { name } = splitWords(words);
  if (name === undefined || ELSEWHERE.has(name)) return false;
  const others = [
    [env['HOLDFAST_STATE_DIR'] ?? '', state],
    [wordOf(words, ['--config', '--config']) ?? env['HOLDFAST_CONFIG'] ?? '', config],
  ] as const;
  if (others.some(([named, own]) => named !== '' && resolve(named) !== own)) return false;
  const repository = wordOf(words, ['-r', '--repository']) ?? env['HOLDFAST_REPOSITORY'] ?? '';
  const isPlace = /[/\\:]/.test(repository) || repository === '.' || repository === '..';
  return !isPlace || `${repository}/`.startsWith(`${state}/`);
}

function placesOf({ state, config }: MachineService, env: Environment): Record<string, string> {
  const typed =
    (env['SUDO_UID'] ?? '') === '' ? undefined : ['sudo', ...programForSudo()].map(quoted).join(' ');
  const program = env[NAMED_BY] ?? typed;
  return {
    HOLDFAST_STATE_DIR: state,
    HOLDFAST_CONFIG: config,
    ...(existsSync(CACHE) ? { XDG_CACHE_HOME: CACHE, TMPDIR: CACHE } : {}),
    HOME: state,
    ...(program === undefined ? {} : { [NAMED_BY]: program }),
  };
}

/** @throws {StateError} */
function goOnAs({ uid, gid }: MachineService, words: readonly string[], env: NodeJS.ProcessEnv): never {
  const kept = powersFor(words)
    .filter(isHeld)
    .map((one) => `,+${one}`);
  const become = ['--reuid', `${uid}`, '--regid', `${gid}`, '--init-groups', '--no-new-privs'];
  const keep = ['--inh-caps', `-all${kept.join('')}`, '--ambient-caps', `-all${kept.join('')}`];
  const program = [process.execPath, ...process.execArgv, launcherOf(HERE), ...words];
  if (!words.every((word) => word.isWellFormed()))
    throw new StateError('UNSUPPORTED', 'The service of the machine cannot take names that are not UTF-8', {
      hint: 'Name the folder above, or a link to it whose name is UTF-8.',
    });
  // If execve failed, it would end this process without a message.
  if (process.execve !== undefined && existsSync(SETPRIV))
    process.execve(SETPRIV, ['setpriv', ...become, ...keep, '--', ...program], env);
  const command = ['sudo', '-u', `#${uid}`, ...programForSudo(), ...words].map(quoted).join(' ');
  throw new StateError(
    'UNSUPPORTED',
    `Running this as the user of the service needs the program ${SETPRIV}`,
    {
      hint: `Install the package util-linux, or run: ${command}`,
    },
  );
}

/** The capabilities that a command keeps. */
export function powersFor(words: readonly string[]): readonly Capability[] {
  const { name = '', after } = splitWords(words);
  const writes =
    WRITE_ELSEWHERE.has(name) || (name === 'doctor' && after.some((word) => word.startsWith('--bundle')));
  return writes ? OF_ROOT : READING;
}

/** In a container, root may lack some capabilities. */
function isHeld(capability: Capability): boolean {
  const permitted = /^CapPrm:\s*([0-9a-f]+)$/mu.exec(readFileSync('/proc/self/status', 'latin1'))?.[1] ?? '0';
  return (BigInt(`0x${permitted}`) & (1n << BigInt(CAPABILITIES[capability]))) !== 0n;
}

/**
 * Makes sure that no child inherits the capabilities. To be called before there are children or other threads, which
 * take over what the thread that makes them has.
 */
async function keepToItself(): Promise<void> {
  const { libc } = await import('../../system/libc.ts');
  const prctl = libc?.bind('prctl', 'int', ['int', 'size_t', 'size_t', 'size_t', 'size_t']);
  if (prctl?.(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) === 0) return;
  throw new StateError(
    'UNSUPPORTED',
    'The commands in the settings cannot be run without the rights of root',
    {
      hint: 'Run the command as the user of the service: sudo -u holdfast.',
    },
  );
}
