/** Finds the person for whom a service of one person is. */
import { stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { RequestError, StateError, errnoOf } from '../../base/errors.ts';
import { statePaths } from '../command/state-directory.ts';
import { printable, type Environment } from '../terminal/terminal.ts';
import { outputOf } from './step.ts';

/** A user as the user database has it. */
export interface Person {
  readonly name: string;
  readonly uid: number;
  readonly home: string;
}

/** The user who runs the command. @throws {RequestError} when the user database does not know */
export function callingPerson(): Person {
  try {
    const { username, uid, homedir } = userInfo();
    return { name: username, uid, home: homedir };
  } catch (cause) {
    throw new RequestError('USAGE', `The system has no user with the id ${process.getuid?.()}`, {
      hint: 'A service needs a user with a name and a home directory. Run the command as such a user.',
      cause,
    });
  }
}

/**
 * The person whom the command is for: the one that was named, else who called sudo, else who runs the command.
 * @throws {RequestError} when that is nobody, or root
 */
export async function chosenPerson(
  named: string | undefined,
  env: Environment,
  signal: AbortSignal,
): Promise<Person> {
  const caller = callingPerson();
  if (caller.uid !== 0) {
    if (named === undefined || named === caller.name) return caller;
    throw new RequestError('USAGE', `Only root can install a service for someone other than ${caller.name}`, {
      hint: 'Leave out --for, or run the command with sudo.',
    });
  }
  const name = named ?? env['SUDO_USER'] ?? '';
  const person = name === '' ? caller : await personNamed(name, env, signal);
  if (person.uid !== 0) return person;
  throw new RequestError('USAGE', 'A service for one user cannot be for root', {
    hint: 'Name the user with --for NAME; for the whole machine use --system.',
  });
}

/** @throws {RequestError} when the user database has nobody of that name */
async function personNamed(name: string, env: Environment, signal: AbortSignal): Promise<Person> {
  // A colon is never part of a name, and a name that begins with a hyphen would be an option.
  const line = /^-|[:\n]/.test(name) ? undefined : await outputOf(['getent', 'passwd', name], env, signal);
  const person = line === undefined ? undefined : personOf(line);
  if (person !== undefined) return person;
  throw new RequestError('USAGE', `There is no user ${printable(name)}`, {
    hint: 'Check the spelling. To see whether the system knows the name: getent passwd NAME',
  });
}

/** One line of the user database; undefined when it is none. */
export function personOf(line: string): Person | undefined {
  const [name = '', , uid = '', , , home = ''] = line.split('\n', 1).join('').split(':');
  return name === '' || !/^\d+$/.test(uid) ? undefined : { name, uid: Number(uid), home };
}

/**
 * Checks the home directory, to which the unit lets the agent write: it has to exist, and must not be the root
 * directory.
 * @throws {StateError}
 */
export async function requireHome({ name, home }: Person): Promise<void> {
  // Such names would break the lines of the unit.
  if (/^\s|[\s\\]$|\p{Cc}/u.test(name) || /\p{Cc}/u.test(home)) {
    throw new StateError(
      'UNSUPPORTED',
      `A systemd unit cannot hold the name or home directory of ${printable(name)}`,
      {
        hint: 'Rename the user, or run one service for the machine: --system',
      },
    );
  }
  if (isAbsolute(home) && !/^\/+$/.test(home) && (await isDirectory(home))) return;
  throw new StateError('NO_HOME', `${printable(name)} has no home directory`, {
    hint: `The user database says "${printable(home)}". Create that directory, or run one service for the machine: --system`,
  });
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}

/** The state directory of a person's agent. Of another person, the home is known but not the environment. */
export function stateOf({ uid, home }: Person, env: Environment): string {
  if (uid === process.getuid?.()) return statePaths(env).directory;
  const chosen = env['HOLDFAST_STATE_DIR'] ?? '';
  return chosen === '' ? usualState(home) : resolve(chosen);
}

/** The state directory that root assumes without having the person's environment. */
export function usualState(home: string): string {
  return join(home, '.local', 'state', 'holdfast');
}

/**
 * The name of a person's unit. Characters that a unit's name cannot have are escaped as systemd-escape does, except
 * that the hyphen, which it can have, stays.
 */
export function unitOf({ name }: Person): string {
  const escaped = Buffer.from(name, 'utf8')
    .toString('latin1')
    .replaceAll(
      /[^A-Za-z0-9:_.-]/g,
      (byte) => String.raw`\x${byte.charCodeAt(0).toString(16).padStart(2, '0')}`,
    );
  return `holdfast-${escaped}.service`;
}
