/** Who one is at the server: the keys and passwords that are offered to it, in order. */
import { readFile, stat } from 'node:fs/promises';
import type { AnyAuthMethod, ParsedKey } from 'ssh2';
import { DestinationError, errnoOf } from '../../base/errors.ts';
import { hasMark, looseText } from '../../base/people-text.ts';
import { sshFile } from './place.ts';
import type { SftpIdentity } from './place.ts';

export interface Credentials {
  readonly methods: readonly AnyAuthMethod[];
  /** Why a key is not among them, for the message when none is accepted. */
  readonly passedOver: readonly string[];
}

/** What turns the text of a key into a key: ssh2's own. */
export type KeyParser = (text: Buffer, passphrase?: string) => ParsedKey | Error;

const ownKeys = ['id_ed25519', 'id_ecdsa', 'id_rsa'];

/**
 * A key that is named must be usable: kind `denied` when it cannot be read, is open to others or lacks its passphrase.
 * One that is merely there is passed over instead.
 */
export async function credentialsFor(
  username: string,
  access: SftpIdentity,
  identityFiles: readonly string[],
  parse: KeyParser,
): Promise<Credentials> {
  const methods: AnyAuthMethod[] = [];
  const passedOver: string[] = [];
  if (access.keyFile !== undefined) {
    methods.push({ type: 'publickey', username, key: await namedKey(access.keyFile, access, parse) });
  } else {
    if (access.agentSocket !== undefined)
      methods.push({ type: 'agent', username, agent: access.agentSocket });
    for (const file of [...identityFiles, ...ownKeyFiles(access.home)]) {
      const key = await readKey(file, access, parse);
      if (typeof key === 'string') passedOver.push(key);
      else if (key !== undefined) methods.push({ type: 'publickey', username, key });
    }
  }
  const { password } = access;
  if (password !== undefined) {
    methods.push({ type: 'password', username, password });
    // Many servers ask for the password this way only.
    methods.push({
      type: 'keyboard-interactive',
      username,
      prompt: (_name, _instructions, _language, prompts, finish) => finish(prompts.map(() => password)),
    });
  }
  return { methods, passedOver };
}

function ownKeyFiles(home: string | undefined): readonly string[] {
  return home === undefined ? [] : ownKeys.map((name) => sshFile(home, name));
}

async function namedKey(file: string, access: SftpIdentity, parse: KeyParser): Promise<ParsedKey> {
  const key = await readKey(file, access, parse);
  if (key !== undefined && typeof key !== 'string') return key;
  throw new DestinationError('denied', `The SSH key cannot be used: ${key ?? `${file} does not exist`}`, {
    op: 'connect',
    hint: 'Name a private key that only you may read (chmod 600), and its passphrase if it has one.',
    details: { file },
  });
}

/** An editor of Windows may have saved it: as text it is the same key. */
function withoutMark(bytes: Buffer): Buffer {
  return hasMark(bytes) ? Buffer.from(looseText(bytes)) : bytes;
}

/** The key; undefined when there is no such file; else why it cannot be used. */
async function readKey(
  file: string,
  access: SftpIdentity,
  parse: KeyParser,
): Promise<ParsedKey | string | undefined> {
  let text: Buffer;
  try {
    text = withoutMark(await readFile(file));
    if (process.platform !== 'win32' && ((await stat(file)).mode & 0o077) !== 0)
      return `${file} may be read or changed by others`;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    return errno === 'ENOENT' ? undefined : `${file} cannot be read (${errno})`;
  }
  const parsed = parse(text, access.keyPassphrase);
  const key = Array.isArray(parsed) ? (parsed[0] as ParsedKey | undefined) : parsed;
  if (key === undefined) return `${file} holds no key`;
  if (!(key instanceof Error)) return key.isPrivateKey() ? key : `${file} is a public key`;
  return /passphrase|encrypted|integrity|decrypt/i.test(key.message)
    ? `${file} is encrypted, and its passphrase is missing or wrong`
    : `${file} holds no private key that is understood`;
}
