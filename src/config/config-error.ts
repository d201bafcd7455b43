/** Errors for problems in a configuration file, with their place in it. */
import { type ErrorFacts, HoldfastError, RequestError } from '../base/errors.ts';

/** Names of properties and indexes of arrays, from the root. */
export type KeyPath = readonly (string | number)[];

export type ProblemCode =
  | 'CONFIG_SYNTAX'
  | 'CONFIG_INVALID'
  | 'UNKNOWN_FIELD'
  | 'MISSING_FIELD'
  | 'SECRET_IN_URL'
  | 'SECRET_IN_CONFIG'
  | 'NEWER_FORMAT';

/** One mistake in the text. It never repeats text that could be a secret. */
export interface ConfigProblem {
  readonly code: ProblemCode;
  /** As people write it: `sources[0].path`; empty for the file as a whole. */
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** From 1, in characters. */
  readonly column: number;
  /** What is wrong, without the place. */
  readonly message: string;
  /** What to do, as a sentence. */
  readonly hint: string;
}

export type ConfigErrorCode =
  | ProblemCode
  | 'CONFIG_MISSING'
  | 'CONFIG_UNREADABLE'
  | 'CONFIG_UNSAFE'
  | 'SECRET_UNAVAILABLE'
  | 'SECRET_UNSAFE';

/** The configuration, or a secret that it refers to, cannot be used. */
export class ConfigError extends HoldfastError<ConfigErrorCode> {
  override readonly name = 'ConfigError';
  readonly side = 'config';
  /** In the order of the text; empty when the file as a whole cannot be used. */
  readonly problems: readonly ConfigProblem[];

  constructor(
    code: ConfigErrorCode,
    message: string,
    facts: ErrorFacts & { readonly problems?: readonly ConfigProblem[] } = {},
  ) {
    super(code, message, facts);
    this.problems = facts.problems ?? [];
  }
}

/** A change that would make the file invalid. The message describes the first problem. */
export class InvalidChange extends RequestError {
  /** All problems, in the order of the text. */
  readonly problems: readonly ConfigProblem[];

  constructor(code: string, message: string, facts: ErrorFacts, problems: readonly ConfigProblem[]) {
    super(code, message, facts);
    this.problems = problems;
  }
}

/** One error for all problems in a file: it describes the first one and counts the others. */
export function problemsError(
  file: string,
  problems: readonly [ConfigProblem, ...ConfigProblem[]],
): ConfigError {
  const [{ code, line, column, path, message, hint }, ...others] = problems;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return new ConfigError(code, `${file}, line ${line}, column ${column}: ${message}${more}`, {
    hint,
    what: `${message}${more}`,
    details: { file, line, column, path },
    problems,
  });
}

/** The path as people write it, such as `sources[0].exclude.caches`. */
export function shownKeyPath(path: KeyPath): string {
  return path.reduce<string>((shown, segment) => {
    if (typeof segment === 'number') return `${shown}[${segment}]`;
    return shown === '' ? segment : `${shown}.${segment}`;
  }, '');
}
