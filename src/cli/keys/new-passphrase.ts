/** Asks for new passphrases, and refuses those that cannot be seen or typed again before anything depends on them. */
import { isLossy } from '../../base/people-text.ts';
import { isKeyText, passphraseFault } from '../../repository/slots/typed-secret.ts';
import type { Context } from '../command/context.ts';
import { usage, type RepositoryOptions } from '../command/options.ts';
import { canPrompt, promptNewPassphrase } from '../terminal/prompt.ts';
import { givenByOptions, noPassphrase, readGiven, takeFromEnvironment } from '../places/secret.ts';

/** Characters below which a typed passphrase is called short: eight random letters are tried out within days. */
const SHORT = 12;

/** The passphrase for something new: as given, or typed twice. */
export async function newPassphrase(options: RepositoryOptions, context: Context): Promise<string> {
  const fromEnvironment = takeFromEnvironment(context.env);
  const given = givenByOptions(options) ?? fromEnvironment;
  if (given !== undefined) return chosenPassphrase(await readGiven(given, context));
  if (!canPrompt(context)) throw noPassphrase();
  const typed = chosenPassphrase(await promptNewPassphrase(context));
  if (typed.length < SHORT)
    context.stderr.write(
      'This passphrase is short: anyone who gets hold of the repository could guess it. Five or six random words are safe.\n',
    );
  return typed;
}

/**
 * Accepts a passphrase that a user chose. One that looks like a key is refused: it would always be taken for that key,
 * and open nothing.
 * @throws {RequestError} USAGE for a recovery code or a write-only key, and for what nobody can type
 */
export function chosenPassphrase(text: string): string {
  requireTypable(text);
  if (!isKeyText(text)) return text;
  throw usage(
    'A recovery code or write-only key cannot be used as a new passphrase',
    'Holdfast creates those itself, each for one repository. Choose a passphrase of your own.',
  );
}

/** Refuses characters that are invisible in a file, and those that nobody can type from paper. */
function requireTypable(text: string): void {
  const fault = passphraseFault(text);
  if (fault !== undefined) throw usage(`The new passphrase ${fault.what}`, fault.hint);
  if (isLossy(text))
    throw usage(
      'The new passphrase contains the replacement character U+FFFD, which stands for unreadable ones',
      'Type it in a terminal that uses UTF-8, or put it in a file.',
    );
}
