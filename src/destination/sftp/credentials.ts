/** Determines the keys and passwords that are offered to the server, and their order. */
import { readFile, stat } from 'node:fs/promises';
import type {
  AnyAuthMethod,
  BaseAgent,
  IdentityCallback,
  ParsedKey,
  SignCallback,
  SigningRequestOptions,
} from 'ssh2';
import { accessProblem } from '../../base/private-files.ts';
import { causeText } from '../../base/errno-words.ts';
import { DestinationError, errnoOf } from '../../base/errors.ts';
import { hasMark, looseText } from '../../base/people-text.ts';
import { sshFile } from './place.ts';
import type { SftpIdentity } from './place.ts';
import { parsePrivateKey, type KeyParser } from './private-key.ts';
import type { HostSettings } from './ssh-config.ts';

export interface Credentials {
  readonly methods: readonly AnyAuthMethod[];
  /** Why some keys are not offered, for the message when none is accepted. */
  readonly passedOver: readonly string[];
}

/** The parts of ssh2 that are needed here. */
export interface KeyLibrary {
  readonly createAgent: (socket: string) => BaseAgent;
  readonly BaseAgent: typeof BaseAgent;
  readonly utils: { readonly parseKey: KeyParser };
}

const ownKeys = ['id_ed25519', 'id_ecdsa', 'id_rsa'];

type Named = Pick<HostSettings, 'identityFiles' | 'identitiesOnly' | 'identityAgent'>;

/**
 * Gathers what is offered to the server. A key that the settings name must be usable: otherwise rejects with kind
 * `denied` (unreadable, open to others, or without its passphrase). Keys that are merely present are passed over
 * instead. Keys named by ssh's configuration come before other keys of the agent, as servers end the connection after a
 * few that do not fit.
 */
export async function credentialsFor(
  username: string,
  access: SftpIdentity,
  named: Named,
  library: KeyLibrary,
): Promise<Credentials> {
  const { parseKey: parse } = library.utils;
  const methods: AnyAuthMethod[] = [];
  const passedOver: string[] = [];
  if (access.keyFile !== undefined) {
    methods.push({ type: 'publickey', username, key: await namedKey(access.keyFile, access, parse) });
  } else {
    const { identityFiles, identitiesOnly = false, identityAgent } = named;
    const socket = identityAgent === undefined ? access.agentSocket : (identityAgent ?? undefined);
    const inAgent = (wanted: (key: Buffer) => boolean): void => {
      if (socket === undefined) return;
      methods.push({ type: 'agent', username, agent: selectedAgent(library, socket, wanted) });
    };
    const chosen: Buffer[] = [];
    for (const file of identityFiles) chosen.push(...(await publicHalves(file, parse)));
    const isChosen = (key: Buffer): boolean => chosen.some((one) => one.equals(key));
    const offer = async (files: readonly string[]): Promise<void> => {
      for (const file of files) {
        const key = await readKey(file, access, parse);
        if (typeof key === 'string') passedOver.push(key);
        else if (key !== undefined) methods.push({ type: 'publickey', username, key });
      }
    };
    if (chosen.length > 0) inAgent(isChosen);
    await offer(identityFiles);
    if (!identitiesOnly) inAgent((key) => !isChosen(key));
    // With IdentitiesOnly and named files, ssh does not try the default ones.
    if (identityFiles.length === 0 || !identitiesOnly)
      await offer(ownKeyFiles(access.home).filter((file) => !identityFiles.includes(file)));
  }
  const { password } = access;
  if (password !== undefined) {
    methods.push({ type: 'password', username, password });
    // Many servers ask for the password in this way only.
    methods.push({
      type: 'keyboard-interactive',
      username,
      prompt: (_name, _instructions, _language, prompts, finish) => finish(prompts.map(() => password)),
    });
  }
  return { methods, passedOver };
}

/** An agent that offers only the wanted keys of another one. */
function selectedAgent(
  { BaseAgent: Base, createAgent, utils }: KeyLibrary,
  socket: string,
  wanted: (key: Buffer) => boolean,
): BaseAgent {
  const agent = createAgent(socket);
  const blobOf = (key: ParsedKey | Buffer | string): Buffer | undefined => {
    const parsed = typeof key === 'string' || Buffer.isBuffer(key) ? utils.parseKey(key) : key;
    return parsed instanceof Error ? undefined : parsed.getPublicSSH();
  };
  class Selected extends Base {
    getIdentities(answer: IdentityCallback): void {
      agent.getIdentities((error, keys) => {
        answer(
          error,
          keys?.filter((key) => {
            const blob = blobOf(key as ParsedKey);
            return blob !== undefined && wanted(blob);
          }),
        );
      });
    }

    sign(
      key: ParsedKey,
      data: Buffer,
      options: SigningRequestOptions | SignCallback,
      answer?: SignCallback,
    ): void {
      if (typeof options === 'function') agent.sign(key, data, options);
      else agent.sign(key, data, options, answer);
    }
  }
  return new Selected();
}

/**
 * The public key of a key file, by which the agent's copy is recognised: from the .pub file next to it, or from the
 * file itself.
 */
async function publicHalves(file: string, parse: KeyParser): Promise<readonly Buffer[]> {
  for (const name of [`${file}.pub`, file]) {
    const text = await readFile(name).catch(() => undefined);
    if (text === undefined) continue;
    const parsed = parse(text);
    const key = Array.isArray(parsed) ? (parsed[0] as ParsedKey | undefined) : parsed;
    if (key !== undefined && !(key instanceof Error)) return [key.getPublicSSH()];
  }
  return [];
}

function ownKeyFiles(home: string | undefined): readonly string[] {
  return home === undefined ? [] : ownKeys.map((name) => sshFile(home, name));
}

async function namedKey(file: string, access: SftpIdentity, parse: KeyParser): Promise<ParsedKey> {
  const key = await readKey(file, access, parse);
  if (key !== undefined && typeof key !== 'string') return key;
  throw new DestinationError('denied', `The SSH key cannot be used: ${key ?? `${file} does not exist`}`, {
    op: 'connect',
    hint: 'Use a private key that only you can read (chmod 600), and set its passphrase if it has one.',
    details: { file },
  });
}

/** Strips a byte order mark, as Windows editors write it. */
function withoutMark(bytes: Buffer): Buffer {
  return hasMark(bytes) ? Buffer.from(looseText(bytes)) : bytes;
}

/** The key; undefined when there is no such file; otherwise a text that says why it cannot be used. */
async function readKey(
  file: string,
  access: SftpIdentity,
  parse: KeyParser,
): Promise<ParsedKey | string | undefined> {
  let text: Buffer;
  try {
    text = withoutMark(await readFile(file));
    if (process.platform !== 'win32' && ((await stat(file)).mode & 0o077) !== 0)
      return `${file} can be read or changed by others`;
    const open = accessProblem(file, 'file');
    if (open !== undefined) return `${file} ${open.text}. Run: ${open.command}`;
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === undefined) throw error;
    return errno === 'ENOENT' ? undefined : `${file} cannot be read: ${causeText(error)}`;
  }
  const key = parsePrivateKey(text, access.keyPassphrase, parse);
  return typeof key === 'string' ? `${file} ${key}` : key;
}
