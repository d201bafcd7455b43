/**
 * Formats commands of this program in texts for people, as they work where they are read. For a user who started it by
 * npm, `Run: ${holdfast`jobs ${id}`}` yields "Run: npm start -- jobs bkp_…". Each process sets the program name once
 * (`callProgram`); otherwise, as in engines and threads, a form is used that works in every terminal.
 */
import { HERE, programFor, programForSudo, withProgram, type Environment } from './program-call.ts';
import { quoted } from './shell-words.ts';

let program: string | undefined;
let programForAnybody: string | undefined;
let repository: string | undefined;

/** Sets what commands begin with: text for a shell. `forAnybody` is used where the reader is unknown. */
export function callProgram(text: string, forAnybody = text): void {
  program = text;
  programForAnybody = forAnybody;
}

/** Sets the repository of the current work, as `-r` accepts it; undefined when commands use it by default. */
export function callRepository(name: string | undefined): void {
  repository = name;
}

/**
 * The program name for readers without authentication. It reveals no more than the process list that every user sees.
 */
export function programNameForAnybody(): string {
  return programForAnybody ?? programName();
}

export function programName(): string {
  program ??= programFor({ at: 'anywhere' }, process.env);
  return program;
}

/** A word, or several. Each is quoted, so that the shell passes it on unchanged. */
type Words = string | readonly string[];

/** A command of this installation. Inserted words are quoted; an empty list leaves no gap. */
export function holdfast(texts: TemplateStringsArray, ...words: readonly Words[]): string {
  return withProgram(programName(), joined(texts, words));
}

/** The same, with the option that names the repository of the current work. */
export function holdfastThere(texts: TemplateStringsArray, ...words: readonly Words[]): string {
  const option = repository === undefined ? '' : ` -r ${quoted(repository)}`;
  return `${holdfast(texts, ...words)}${option}`;
}

/** The same, for replies to unauthenticated requests. */
export function holdfastForAnybody(texts: TemplateStringsArray, ...words: readonly Words[]): string {
  return withProgram(programNameForAnybody(), joined(texts, words));
}

/** A command to be run by an administrator of the machine. */
export function sudoHoldfast(texts: TemplateStringsArray, ...words: readonly Words[]): string {
  return `sudo ${programForSudo().map(quoted).join(' ')} ${joined(texts, words)}`;
}

/** An npm command for the program's folder, to be run from any other. */
export function npmHere(words: string): string {
  return `npm --prefix ${quoted(HERE.root)} ${words}`;
}

/** A command for another machine, where the name of the program is unknown. */
export function holdfastElsewhere(texts: TemplateStringsArray, ...words: readonly Words[]): string {
  return `holdfast ${joined(texts, words)}`;
}

function joined(texts: readonly string[], words: readonly Words[]): string {
  const pieces = words.map((given) => (typeof given === 'string' ? [given] : given).map(quoted).join(' '));
  const text = texts.reduce((before, after, i) => {
    const piece = pieces[i - 1] ?? '';
    return piece === '' && before.endsWith(' ') ? before + after.trimStart() : before + piece + after;
  });
  return text.trimEnd();
}

/** What commands need to be told to find an agent whose places or user differ from the terminal's defaults. */
export interface AgentPlaces {
  /** Environment variables for state and settings that are not in their usual places. */
  readonly variables: Readonly<Record<string, string>>;
  /** The agent's user, when the reader is another one. */
  readonly user: string | undefined;
}

/**
 * How to call the program so that it finds the agent of this process from any terminal, with the agent's state and
 * settings.
 */
export function programForAgent(
  { variables, user }: AgentPlaces,
  env: Environment,
  installation = HERE,
): string {
  const usual = programFor({ at: 'anywhere' }, env, installation);
  if ((env['HOLDFAST_PROGRAM'] ?? '') !== '' || installation.platform === 'win32') return usual;
  const set = Object.entries(variables).map(([name, value]) => `${name}=${quoted(value)}`);
  if (user === undefined) return [...set, usual].join(' ');
  const words = programForSudo(installation);
  // The packaged command knows where the machine's service keeps its state and settings.
  const isPackaged = words.length === 1;
  const before = isPackaged || set.length === 0 ? [] : ['env', ...set];
  return ['sudo', '-u', quoted(user), ...before, ...words.map(quoted)].join(' ');
}
