/**
 * Commands of this program in texts for people, as they work where they are read: `Run: ${holdfast`jobs ${id}`}` is
 * "Run: npm start -- jobs bkp_…" for whoever began so. The name is told once for each process (`callProgram`); without that,
 * as in engines and threads, it is what works in every terminal.
 */
import { HERE, programFor, programForSudo, withProgram, type Environment } from './program-call.ts';
import { quoted } from './shell-words.ts';

let program: string | undefined;
let programForAnybody: string | undefined;
let repository: string | undefined;

/** What commands begin with from now on: text for a shell. `forAnybody`: where nobody knows who reads. */
export function callProgram(text: string, forAnybody = text): void {
  program = text;
  programForAnybody = forAnybody;
}

/** The repository that the work at hand is about, as `-r` takes it; undefined when commands mean it anyway. */
export function callRepository(name: string | undefined): void {
  repository = name;
}

/** Says no more than the list of processes, which every user of the machine sees. */
export function programNameForAnybody(): string {
  return programForAnybody ?? programName();
}

export function programName(): string {
  program ??= programFor({ at: 'anywhere' }, process.env);
  return program;
}

/** A word, or several, each of which the shell is to see as it is. */
type Words = string | readonly string[];

/** A command of this installation. What is put in is quoted; an empty list of words leaves no gap. */
export function holdfast(texts: TemplateStringsArray, ...words: readonly Words[]): string {
  return withProgram(programName(), joined(texts, words));
}

/** The same about the repository of the work at hand. */
export function holdfastThere(texts: TemplateStringsArray, ...words: readonly Words[]): string {
  const option = repository === undefined ? '' : ` -r ${quoted(repository)}`;
  return `${holdfast(texts, ...words)}${option}`;
}

/** The same in a reply to a request that anybody can make. */
export function holdfastForAnybody(texts: TemplateStringsArray, ...words: readonly Words[]): string {
  return withProgram(programNameForAnybody(), joined(texts, words));
}

/** A command, for whoever administers the machine. */
export function sudoHoldfast(texts: TemplateStringsArray, ...words: readonly Words[]): string {
  return `sudo ${programForSudo().map(quoted).join(' ')} ${joined(texts, words)}`;
}

/** npm in the folder of the program, from any other. */
export function npmHere(words: string): string {
  return `npm --prefix ${quoted(HERE.root)} ${words}`;
}

/** A command on another machine, of which nobody here knows how Holdfast is called there. */
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

/** What an agent is started with that its commands have to be told, since terminals do not have it. */
export interface AgentPlaces {
  /** Where state and settings are not where they usually are. */
  readonly variables: Readonly<Record<string, string>>;
  /** The user of the agent, where whoever asks is another one. */
  readonly user: string | undefined;
}

/** How the program is called for the agent of this process: in any terminal, and with its state and its settings. */
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
  // The command of the package knows where the service of the machine has everything.
  const isPackaged = words.length === 1;
  const before = isPackaged || set.length === 0 ? [] : ['env', ...set];
  return ['sudo', '-u', quoted(user), ...before, ...words.map(quoted)].join(' ');
}
