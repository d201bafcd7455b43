/** Questions on the terminal whose answers are not shown. */
import { emitKeypressEvents, type Key } from 'node:readline';
import { RequestError } from '../../base/errors.ts';
import { isLossy } from '../../base/people-text.ts';

/** The streams on which a person is asked. */
export interface Asked {
  readonly stdin: NodeJS.ReadStream;
  readonly stderr: NodeJS.WriteStream;
  readonly signal: AbortSignal;
}

/** Whether a person can be asked. */
export function canPrompt({ stdin, stderr }: Asked): boolean {
  return stdin.isTTY && stderr.isTTY;
}

/** Asks without echo. Rejects with an AbortError at Ctrl-C and when the context's signal aborts. */
export async function promptHidden(question: string, context: Asked): Promise<string> {
  const { stdin, stderr, signal } = context;
  signal.throwIfAborted();
  emitKeypressEvents(stdin);
  // Before the question: what is typed as soon as it shows must not be echoed.
  stdin.setRawMode(true);
  stderr.write(question);
  stdin.resume();
  try {
    const typed = await typedLine(context);
    if (!isLossy(typed)) return typed;
    throw new RequestError('USAGE', 'The terminal sent characters that are not valid UTF-8', {
      hint: 'Set the terminal to UTF-8, or use a file.',
    });
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
    stderr.write('\n');
  }
}

async function typedLine({ stdin, signal }: Asked): Promise<string> {
  let typed = '';
  const done = new AbortController();
  return await new Promise<string>((resolve, reject) => {
    const end = (settle: () => void): void => {
      stdin.off('keypress', onKey);
      done.abort();
      settle();
    };
    const abort = (): void => end(() => reject(abortError(signal.reason)));
    const onKey = (text: string | undefined, key: Key): void => {
      if (key.name === 'return' || key.name === 'enter') end(() => resolve(typed));
      else if (key.ctrl === true && (key.name === 'c' || key.name === 'd')) abort();
      else if (key.ctrl === true && key.name === 'u') typed = '';
      else if (key.name === 'backspace') typed = Array.from(typed).slice(0, -1).join('');
      else if (key.ctrl !== true && key.meta !== true && text !== undefined && text >= ' ') typed += text;
    };
    stdin.on('keypress', onKey);
    signal.addEventListener('abort', abort, { once: true, signal: done.signal });
  });
}

function abortError(reason: unknown): Error {
  return reason instanceof Error ? reason : new DOMException('Interrupted', 'AbortError');
}

/** A new passphrase, typed twice. @throws {RequestError} when it is empty or the two differ three times */
export async function promptNewPassphrase(context: Asked): Promise<string> {
  return await promptTwice('passphrase', context);
}

/** A new password of an account, typed twice. @throws {RequestError} when it is empty or the two differ three times */
export async function promptNewPassword(context: Asked): Promise<string> {
  return await promptTwice('password', context);
}

async function promptTwice(what: 'passphrase' | 'password', context: Asked): Promise<string> {
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    const first = await promptHidden(`New ${what}: `, context);
    if (first.trim() === '') {
      context.stderr.write(`An empty ${what} protects nothing.\n`);
      continue;
    }
    const second = await promptHidden('Repeat to confirm: ', context);
    if (first.normalize('NFC') === second.normalize('NFC')) return first;
    context.stderr.write(`The ${what}s do not match.\n`);
  }
  throw new RequestError('NO_PASSPHRASE', `No ${what} was chosen`, { hint: 'Run the command again.' });
}
