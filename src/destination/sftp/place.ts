/** What it takes to reach a directory by SFTP beside the settings of a destination: the person's own ssh. */
import { join } from 'node:path';
import type { SftpAccess } from '../access.ts';
import type { UploadPace } from '../limited.ts';

export interface SftpOptions {
  /** Creates the directory, private to the user, when it is absent. */
  readonly create?: boolean | undefined;
  readonly pace?: UploadPace | undefined;
  /** The person's home directory, whose `.ssh` has `known_hosts`, `config` and keys. */
  readonly home?: string | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Who one is, and how the server proves itself: all that is settled before connecting. */
export interface SftpIdentity extends SftpAccess {
  /** Socket of the person's ssh-agent. */
  readonly agentSocket: string | undefined;
  readonly home: string | undefined;
  /** The name of the person on this machine, who is asked for there too when no other is named. */
  readonly localUser: string | undefined;
  /** Of what ssh's configuration has run. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
}

/** The settings of the destination; where they are silent, the environment. */
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

/** Passphrases are nobody else's. */
function forPrograms(
  environment: Readonly<Record<string, string | undefined>>,
  home: string | undefined,
): Readonly<Record<string, string | undefined>> {
  const shared = Object.entries(environment).filter(([name]) => !name.startsWith('HOLDFAST_'));
  return { ...Object.fromEntries(shared), ...(home === undefined ? {} : { HOME: home }) };
}

/** A file of the person's own ssh. */
export function sshFile(home: string, name: string): string {
  return join(home, '.ssh', name);
}
