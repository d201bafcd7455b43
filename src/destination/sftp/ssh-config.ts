/**
 * Evaluates ssh's configuration for a host: the settings that decide which server is reached, how, and as which user.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { DestinationError } from '../../base/errors.ts';
import { matches } from './known-hosts.ts';

export interface HostSettings {
  readonly hostName?: string;
  readonly user?: string;
  readonly port?: number;
  /** In the order in which they are tried. */
  readonly identityFiles: readonly string[];
  /** Of the agent's keys, use only those that `identityFiles` names. */
  readonly identitiesOnly?: true;
  /** Socket of an ssh-agent; null to use none. */
  readonly identityAgent?: string | null;
  /** `[user@]host[:port]` each, in the order in which they are passed through. */
  readonly proxyJump?: readonly string[];
  readonly proxyCommand?: string;
  /** The name under which the server's key is known. */
  readonly hostKeyAlias?: string;
  readonly userKnownHosts?: readonly string[];
  readonly globalKnownHosts?: readonly string[];
}

/** One line, or an Include with the lines of its files. */
export type SshLine =
  | { readonly keyword: string; readonly rest: string }
  | { readonly keyword: 'include'; readonly files: readonly (readonly SshLine[])[] };

/** The host that is asked about, and the context for Match and `%` tokens. */
export interface SshQuestion {
  /** As written in the URL. */
  readonly host: string;
  /** User and port, where the URL names them. */
  readonly user?: string | undefined;
  readonly port?: number | undefined;
  readonly home: string;
  readonly localUser?: string | undefined;
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
}

const EXEC_MS = 5_000;

export function linesOf(text: string): readonly { readonly keyword: string; readonly rest: string }[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [, keyword = '', rest = ''] = /^([A-Za-z]+)(?:\s*=\s*|\s+)([^]*)$/.exec(line.trimStart()) ?? [];
    return keyword === '' ? [] : [{ keyword: keyword.toLowerCase(), rest }];
  });
}

/**
 * The settings for a host. As in ssh, the first value that applies is taken, while keys add up. @throws
 * {DestinationError} unsupported
 */
export function settingsFor(lines: readonly SshLine[], question: SshQuestion): HostSettings {
  const reader = new Reader(question);
  reader.read(lines);
  return reader.settings();
}

/** The settings from the text of a single file without includes. */
export function parseSshConfig(text: string, host: string, home: string): HostSettings {
  return settingsFor(linesOf(text), { host, home });
}

class Reader {
  readonly #question: SshQuestion;
  readonly #found = new Map<string, string>();
  readonly #identityFiles: string[] = [];

  constructor(question: SshQuestion) {
    this.#question = question;
  }

  /** A Host or Match block that begins in an included file ends with that file. */
  read(lines: readonly SshLine[]): void {
    let applies = true;
    for (const line of lines) {
      if ('files' in line) {
        if (applies) for (const file of line.files) this.read(file);
        continue;
      }
      const { keyword, rest } = line;
      if (keyword === 'host') applies = isAmong(wordsOf(rest), this.#question.host);
      else if (keyword === 'match') applies = this.#isMatch(wordsOf(rest));
      else if (applies) this.#take(keyword, rest);
    }
  }

  #take(name: string, rest: string): void {
    const [first = ''] = wordsOf(rest);
    if (name === 'identityfile') this.#identityFiles.push(first);
    // Whichever of the two comes first applies.
    else if (name === 'proxyjump' || name === 'proxycommand') {
      if (!this.#found.has('proxyjump') && !this.#found.has('proxycommand'))
        this.#found.set(name, name === 'proxyjump' ? first : rest.trim());
    } else if (!this.#found.has(name)) this.#found.set(name, WHOLE.has(name) ? rest : first);
  }

  #isMatch(words: readonly string[]): boolean {
    const { user, localUser = '' } = this.#question;
    let isAll = words.length > 0;
    for (let at = 0; at < words.length; at += 1) {
      const word = words[at] ?? '';
      const denied = word.startsWith('!');
      const [criterion = '', same] = word
        .slice(denied ? 1 : 0)
        .toLowerCase()
        .split('=', 2);
      const take = (): string => same ?? words[(at += 1)] ?? '';
      const among = (name: string): boolean => isAmong(take().split(','), name);
      const holds = ((): boolean => {
        switch (criterion) {
          case 'all':
          // Only one pass is made here, so what ssh evaluates in its final pass is evaluated in this one.
          case 'final':
            return true;
          case 'canonical':
            return false;
          case 'host':
            return among(this.#hostName());
          case 'originalhost':
            return among(this.#question.host);
          case 'user':
            return among(user ?? this.#found.get('user') ?? localUser);
          case 'localuser':
            return among(localUser);
          case 'exec': {
            const command = take();
            return isAll && this.#succeeds(command);
          }
          default:
            take();
            if (isAll) throw this.#notUnderstood(`Match ${criterion}`);
            return false;
        }
      })();
      if (holds === denied) isAll = false;
    }
    return isAll;
  }

  #succeeds(command: string): boolean {
    const { status } = spawnSync(this.expanded(command), {
      shell: true,
      stdio: 'ignore',
      timeout: EXEC_MS,
      env: { ...this.#question.environment },
    });
    return status === 0;
  }

  #notUnderstood(what: string): DestinationError {
    return new DestinationError(
      'unsupported',
      `The ssh configuration has "${what}" for ${this.#question.host}, which is not supported here`,
      {
        op: 'connect',
        hint: 'Put the settings for this host in a separate block above it: Host, HostName, User, Port, IdentityFile, ProxyJump.',
      },
    );
  }

  #hostName(): string {
    return this.#found.get('hostname')?.replaceAll('%h', this.#question.host) ?? this.#question.host;
  }

  #port(): number | undefined {
    const port = Number(this.#found.get('port'));
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
  }

  /** Replaces the tokens for host, port, user and home directory, and environment variables. */
  expanded(text: string): string {
    const { host, home, user, port, localUser = '', environment = {} } = this.#question;
    const values: Readonly<Record<string, string>> = {
      '%': '%',
      d: home,
      h: this.#hostName(),
      n: host,
      p: String(port ?? this.#port() ?? 22),
      r: user ?? this.#found.get('user') ?? localUser,
      u: localUser,
    };
    return text
      .replaceAll(/%(.)/g, (whole, letter: string) => values[letter] ?? whole)
      .replaceAll(/\$\{(\w+)\}/g, (whole, name: string) => environment[name] ?? whole);
  }

  #file(text: string): string {
    const { home } = this.#question;
    const path = this.expanded(text.replace(/^~(?=\/|$)/, () => home));
    return join(path.startsWith('/') || /^[a-z]:/i.test(path) ? '' : home, path);
  }

  settings(): HostSettings {
    const { environment = {} } = this.#question;
    const value = (name: string): string | undefined => {
      const text = this.#found.get(name);
      return text === undefined || text.toLowerCase() === 'none' ? undefined : text;
    };
    const files = (name: string): readonly string[] | undefined => {
      const text = this.#found.get(name);
      return text === undefined
        ? undefined
        : wordsOf(text)
            .filter((file) => file.toLowerCase() !== 'none')
            .map((file) => this.#file(file));
    };
    const agent = this.#found.get('identityagent');
    const port = this.#port();
    const all: { readonly [Name in keyof HostSettings]: HostSettings[Name] | undefined } = {
      hostName: this.#found.has('hostname') ? this.#hostName() : undefined,
      user: this.#found.get('user'),
      port,
      identityFiles: this.#identityFiles
        .filter((file) => file !== '' && file.toLowerCase() !== 'none')
        .map((file) => this.#file(file)),
      identitiesOnly: this.#found.get('identitiesonly')?.toLowerCase() === 'yes' ? true : undefined,
      identityAgent:
        agent === undefined || agent === 'SSH_AUTH_SOCK'
          ? undefined
          : agent.toLowerCase() === 'none'
            ? null
            : agent.startsWith('$') && !agent.startsWith('${')
              ? (environment[agent.slice(1)] ?? null)
              : this.#file(agent),
      proxyJump: value('proxyjump')?.split(','),
      proxyCommand: this.#command(value('proxycommand')),
      hostKeyAlias: value('hostkeyalias'),
      userKnownHosts: files('userknownhostsfile'),
      globalKnownHosts: files('globalknownhostsfile'),
    };
    const given = Object.fromEntries(Object.entries(all).filter(([, one]) => one !== undefined));
    return { identityFiles: [], ...given };
  }

  #command(text: string | undefined): string | undefined {
    return text === undefined ? undefined : this.expanded(text);
  }
}

/** Settings whose value consists of several words. */
const WHOLE: ReadonlySet<string> = new Set(['userknownhostsfile', 'globalknownhostsfile']);

function isAmong(patterns: readonly string[], name: string): boolean {
  const denied = patterns.some((pattern) => pattern.startsWith('!') && matches(pattern.slice(1), name));
  return !denied && patterns.some((pattern) => !pattern.startsWith('!') && matches(pattern, name));
}

export function wordsOf(text: string): readonly string[] {
  return [...text.matchAll(/"([^"]*)"|([^\s"]+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}
