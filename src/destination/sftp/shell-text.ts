/** Text that a server sends where the SFTP protocol should begin: most often, the account's shell prints a greeting. */
import type { Client, ClientChannel } from 'ssh2';
import { DestinationError } from '../../base/errors.ts';

/** Enough to recognise a greeting by. */
const MOST_BYTES = 400;
const MOST_SHOWN = 80;
/** The text has come once already, and only has to come again. */
const PATIENCE_MS = 5_000;
/** After the first bytes, the rest of a greeting follows at once or not at all. */
const REST_MS = 300;

/**
 * What the server sends before any SFTP, escaped and cut: its SFTP program is started once more, and its output read as
 * it is. Empty when nothing readable comes.
 */
export async function textBeforeSftp(client: Client): Promise<string> {
  const text = Promise.withResolvers<Buffer>();
  let said = Buffer.alloc(0);
  let channel: ClientChannel | undefined;
  const finish = (): void => text.resolve(said);
  let patience = setTimeout(finish, PATIENCE_MS);
  const take = (bytes: Buffer): void => {
    said = Buffer.concat([said, bytes]);
    clearTimeout(patience);
    if (said.length >= MOST_BYTES) finish();
    else patience = setTimeout(finish, REST_MS);
  };
  try {
    client.subsys('sftp', (error, opened) => {
      channel = opened;
      if (error !== undefined) finish();
      else opened.on('error', finish).once('close', finish).on('data', take);
    });
    return shown(await text.promise);
  } catch {
    // The connection has ended meanwhile.
    return '';
  } finally {
    clearTimeout(patience);
    channel?.destroy();
  }
}

/** Up to the first zero byte, with which each packet of SFTP begins. */
function shown(bytes: Buffer): string {
  const zero = bytes.indexOf(0);
  const text = new TextDecoder().decode(zero === -1 ? bytes : bytes.subarray(0, zero));
  // An empty line disturbs as well, and is all there is to show.
  const characters = Array.from(text.trim() === '' ? text : text.trim());
  const cut = characters
    .slice(0, MOST_SHOWN)
    .map((one) => (/[\p{C}\p{Zl}\p{Zp}"\\]/u.test(one) ? escaped(one) : one));
  return cut.join('') + (characters.length > MOST_SHOWN ? '…' : '');
}

function escaped(character: string): string {
  if (character === '"' || character === '\\') return `\\${character}`;
  if (character === '\n') return String.raw`\n`;
  if (character === '\r') return String.raw`\r`;
  return String.raw`\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** @param said as `textBeforeSftp` gives it */
export function textForSftp(url: string, said: string, cause: unknown): DestinationError {
  return new DestinationError(
    'unsupported',
    `${url} accepts the sign-in, but sends a text in place of SFTP: "${said}"`,
    {
      op: 'connect',
      hint: 'If a start file of the account’s shell prints it (.bashrc, .profile), let it do so only for people: [ -n "$PS1" ] && echo …. Or set "Subsystem sftp internal-sftp" in the server’s sshd_config, which needs no shell.',
      details: { url, said },
      cause,
    },
  );
}
