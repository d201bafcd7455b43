/**
 * The bundle for support, as one text: findings, settings, jobs and log, with secrets removed. It contains paths of the person.
 */
import { setImmediate } from 'node:timers/promises';
import { systemZone } from '../../base/time-zone.ts';
import { formatBytes, formatDuration } from '../../base/units.ts';
import type { FilledConfig } from '../../config/schema.ts';
import type { FullStatus } from '../../jobs/agent.ts';
import type { Job } from '../../jobs/job.ts';
import type { LogEntry } from '../state/agent-log-end.ts';
import type { Finding } from './finding.ts';

/** How many of the latest jobs and log lines are included. */
export const BUNDLED = { jobs: 50, logLines: 500 } as const;

export interface DiagnosticsFacts {
  /** `the agent`, or the name of the command. */
  readonly madeBy: string;
  /** Milliseconds since 1970. */
  readonly madeAt: number;
  readonly version: string;
  readonly stateDirectory: string;
  readonly configFile: string;
  readonly findings: readonly Finding[];
  /** What the findings do not cover, in words; null when they cover everything. */
  readonly unexamined: string | null;
  /** Null while no agent runs. */
  readonly status: FullStatus | null;
  /** Undefined where there is no readable settings file. */
  readonly settings: FilledConfig | undefined;
  /** Newest first; null while no agent runs. */
  readonly jobs: readonly Job[] | null;
  /** Oldest first. */
  readonly log: readonly LogEntry[];
}

const WARNING =
  'Paths and names of your files, hosts and accounts are in this file; passphrases, keys, tokens and passwords are not. Look through it before you send it to anybody.';
const NO_AGENT = 'No agent runs.';

/** @param redact removes known secrets, and text that looks like a secret */
export async function diagnosticsText(
  facts: DiagnosticsFacts,
  redact: (text: string) => string,
): Promise<string> {
  const { findings, unexamined, status, settings, jobs, log } = facts;
  const sections: readonly (readonly [title: string, text: () => string])[] = [
    ['Program', () => programText(facts)],
    [
      'Findings',
      () => [...findings.map(findingText), ...(unexamined === null ? [] : [unexamined])].join('\n'),
    ],
    ['Status', () => (status === null ? NO_AGENT : json(status))],
    [
      'Settings',
      () => (settings === undefined ? 'There is no file that can be read.' : json(shownSettings(settings))),
    ],
    ['Jobs, newest first', () => (jobs === null ? NO_AGENT : jobs.map(jobText).join('\n'))],
    ['End of the log of the agent', () => log.map(({ line }) => line).join('\n')],
  ];
  let text = `${WARNING}\n`;
  for (const [title, make] of sections) {
    text += `\n== ${title} ==\n${printable(redact(make())) || 'None.'}\n`;
    // Yields between sections, so that the agent can answer other requests.
    await setImmediate();
  }
  return text;
}

function programText({ madeBy, madeAt, version, stateDirectory, configFile }: DiagnosticsFacts): string {
  return [
    `Holdfast ${version}, Node.js ${process.versions.node}, ${process.platform}-${process.arch}`,
    `Made by ${madeBy} at ${new Date(madeAt).toISOString()}, time zone ${systemZone()}`,
    `State directory: ${oneLine(stateDirectory)}`,
    `Configuration: ${oneLine(configFile)}`,
  ].join('\n');
}

function findingText({ check, status, message, hint }: Finding): string {
  return oneLine(`${status.padEnd(7)}  ${check}: ${message}${hint === '' ? '' : ` -> ${hint}`}`);
}

/** Problems of a job that are listed one by one. */
const MOST_PROBLEMS = 5;

function jobText(job: Job): string {
  const { id, type, status, result, trigger, attempt, spec, error, problems } = job;
  const what = spec.type === 'backup' ? `${spec.source} to ${spec.destination}` : spec.destination;
  const came = result === null ? status : `${status} (${result})`;
  const amount = `files: ${job.files_done}, ${formatBytes(job.size_bytes)}, ${formatDuration(job.duration_ms)}`;
  const at = new Date(job.created_at).toISOString();
  const more = problems.length - MOST_PROBLEMS;
  return [
    `${at}  ${id}  ${type} ${came}: ${what}; ${amount}; asked for by ${trigger}, attempt ${attempt}`,
    ...(job.waiting_for === null ? [] : [`    waits: ${job.waiting_for}`]),
    ...(error === null ? [] : [`    ${error.code}: ${error.message} ${JSON.stringify(error.details)}`]),
    ...problems.slice(0, MOST_PROBLEMS).map(({ path, code, message }) => `    ${path}: ${code}: ${message}`),
    ...(more > 0 ? [`    and ${more} more`] : []),
  ]
    .map(oneLine)
    .join('\n');
}

/**
 * The settings in a form that may be shown. Secrets are references already. Commands may contain secrets, and anybody
 * who knows the address of a notice channel can use it: of both, only their presence is shown.
 */
function shownSettings(settings: FilledConfig): unknown {
  const { healthchecks, ntfy, webhook, ...notices } = settings.notices;
  return shown('', {
    ...settings,
    notices: {
      ...notices,
      healthchecks: healthchecks && { ...healthchecks, url: hostOf(healthchecks.url) },
      ntfy: ntfy && { ...ntfy, url: hostOf(ntfy.url) },
      webhook: webhook && { ...webhook, url: hostOf(webhook.url) },
    },
  });
}

const COMMANDS: ReadonlySet<string> = new Set(['before', 'after', 'command']);
const IDENTIFIERS: ReadonlySet<string> = new Set(['accessKeyId', 'kmsKeyId']);

function shown(name: string, value: unknown): unknown {
  if (typeof value === 'string') {
    if (COMMANDS.has(name)) return '[a command]';
    return IDENTIFIERS.has(name) ? '[an identifier]' : value;
  }
  if (Array.isArray(value)) return value.map((one: unknown) => shown('', one));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shown(key, one)]));
}

function hostOf(url: string): string {
  return URL.canParse(url) ? `${new URL(url).origin}/[secret]` : '[not an address]';
}

/** Shows times, which are milliseconds in the agent, as dates. */
function json(value: unknown): string {
  const readable = (name: string, one: unknown): unknown =>
    typeof one === 'number' && name.endsWith('_at') ? new Date(one).toISOString() : one;
  return JSON.stringify(value, readable, 2);
}

/** Keeps a name with a line break from looking like a line of its own. */
function oneLine(text: string): string {
  return text.replaceAll('\n', '⟨U+000A⟩');
}

/** Writes out invisible characters and those that change the direction of the text. */
function printable(text: string): string {
  return text.replaceAll(/(?!\n)[\p{Cc}\p{Cf}\p{Cs}]/gu, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
    return `⟨U+${code}⟩`;
  });
}
