/** The user's own ssh environment, which an SFTP destination needs in addition to its settings. */
import { join } from 'node:path';
import type { SftpAccess } from '../access.ts';
import type { UploadPace } from '../limited.ts';

export interface SftpOptions {
  /** Creates the directory, private to the user, when it is absent. */
  readonly create?: boolean | undefined;
  readonly pace?: UploadPace | undefined;
  /** The user's home directory, whose `.ssh` holds `known_hosts`, `config` and keys. */
  readonly home?: string | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Everything about the user and the verification of the server that is settled before connecting. */
export interface SftpIdentity extends SftpAccess {
  /** Socket of the user's ssh-agent. */
  readonly agentSocket: string | undefined;
  readonly home: string | undefined;
  /** The user's name on this machine, used for the server too when no other is named. */
  readonly localUser: string | undefined;
  /** The environment of programs that ssh's configuration starts. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Takes the settings of the destination and, where they are silent, the environment. */
export function identityOf(access: SftpAccess, { environment = {}, home }: SftpOptions): SftpIdentity {
  const given = (name: string): string | undefined => environment[name] || undefined;
  return {
    ...access,
    keyFile: access.keyFile ?? given('HOLDFAST_SFTP_KEY_FILE'),
    hostKeyFile: access.hostKeyFile ?? given('HOLDFAST_SFTP_HOST_KEY_FILE'),
    agentSocket: given('SSH_AUTH_SOCK'),
    localUser: given('USER') ?? given('LOGNAME'),
    home,
    environment: forPrograms(environment, home),
  };
}

/** Holdfast's variables may hold passphrases, which other programs must not see. */
function forPrograms(
  environment: Readonly<Record<string, string | undefined>>,
  home: string | undefined,
): Readonly<Record<string, string | undefined>> {
  const shared = Object.entries(environment).filter(([name]) => !name.startsWith('HOLDFAST_'));
  return { ...Object.fromEntries(shared), ...(home === undefined ? {} : { HOME: home }) };
}

/** A file in the user's `.ssh` directory. */
export function sshFile(home: string, name: string): string {
  return join(home, '.ssh', name);
}
