/** What schemathesis found fault with, out of the events that it wrote down; and in which kinds that comes. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';

export interface Finding {
  readonly phase: string;
  /** `POST /backup`. */
  readonly operation: string;
  /** Which promise was looked at, as `positive_data_acceptance`; `error` for what schemathesis could not do. */
  readonly check: string;
  readonly title: string;
  /** Of the reply; 0 without one. */
  readonly status: number;
  /** What the reply calls the error, and the field that it blames; empty where it names none. */
  readonly code: string;
  readonly field: string;
  /** What was wrong on purpose, or what of the reply is. */
  readonly about: string;
  /** What was sent, and what came, for people. */
  readonly exchange: string;
}

export interface Seen {
  readonly findings: readonly Finding[];
  /** Requests that were answered, by phase. */
  readonly calls: ReadonlyMap<string, number>;
  readonly statuses: ReadonlyMap<number, number>;
}

interface Interaction {
  readonly request: {
    readonly method: string;
    readonly uri: string;
    readonly body: { readonly $base64: string } | null;
  };
  readonly response?: {
    readonly status_code: number;
    readonly content: { readonly $base64: string } | null;
  } | null;
}

interface Event {
  readonly ScenarioFinished?: {
    readonly phase: string;
    readonly recorder: {
      readonly label: string;
      readonly cases?: Readonly<Record<string, { readonly value: RecordedCase }>>;
      readonly checks?: Readonly<Record<string, readonly RecordedCheck[]>>;
      readonly interactions?: Readonly<Record<string, Interaction>>;
    };
  };
  readonly NonFatalError?: {
    readonly phase: string;
    readonly label: string;
    readonly value: { readonly type: string; readonly message: string };
  };
}

interface RecordedCase {
  readonly method: string;
  readonly path: string;
  readonly meta?: { readonly phase?: { readonly data?: { readonly description?: string } } };
}

interface RecordedCheck {
  readonly name: string;
  readonly status: string;
  readonly failure_info?: { readonly failure: { readonly title: string; readonly message: string } };
}

const SHOWN = 300;

export async function readFindings(file: string): Promise<Seen> {
  const findings: Finding[] = [];
  const calls = new Map<string, number>();
  const statuses = new Map<number, number>();
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const { ScenarioFinished: scenario, NonFatalError: error } = JSON.parse(line) as Event;
    if (error !== undefined) findings.push(failureOf(error));
    if (scenario === undefined) continue;
    const { phase, recorder } = scenario;
    const { cases = {}, checks: results = {}, interactions = {} } = recorder;
    for (const { response } of Object.values(interactions)) {
      if (response === null || response === undefined) continue;
      calls.set(phase, (calls.get(phase) ?? 0) + 1);
      statuses.set(response.status_code, (statuses.get(response.status_code) ?? 0) + 1);
    }
    for (const [id, checks] of Object.entries(results)) {
      const tried = cases[id]?.value;
      for (const check of checks)
        if (check.status === 'failure' && tried !== undefined)
          findings.push({ phase, ...findingOf(check, tried, interactions[id]) });
    }
  }
  return { findings, calls, statuses };
}

/** A request that has no reply, for one. */
function failureOf({ phase, label, value }: NonNullable<Event['NonFatalError']>): Finding {
  const { type, message } = value;
  const nothing = { status: 0, code: '', field: '', exchange: '' };
  return { phase, operation: label, check: 'error', title: type, about: message, ...nothing };
}

function findingOf(
  { name, failure_info: info }: RecordedCheck,
  { method, path, meta }: RecordedCase,
  interaction: Interaction | undefined,
): Omit<Finding, 'phase'> {
  const reply = textOf(interaction?.response?.content);
  const { code = '', details } = errorIn(reply);
  const { title = '', message = '' } = info?.failure ?? {};
  const sent = interaction?.request;
  return {
    operation: `${method} ${path}`,
    check: name,
    title,
    status: interaction?.response?.status_code ?? 0,
    code,
    field: details?.field ?? details?.reason ?? '',
    about: message.includes('Invalid component') ? (meta?.phase?.data?.description ?? message) : message,
    exchange: `${sent?.method} ${cut(sent?.uri ?? '')} ${cut(textOf(sent?.body))}\n    -> ${cut(reply)}`,
  };
}

function textOf(bytes: { readonly $base64: string } | null | undefined): string {
  return Buffer.from(bytes?.$base64 ?? '', 'base64').toString();
}

function errorIn(reply: string): {
  readonly code?: string;
  readonly details?: { readonly field?: string; readonly reason?: string };
} {
  try {
    return (JSON.parse(reply) as { readonly error?: object }).error ?? {};
  } catch {
    return {};
  }
}

function cut(text: string): string {
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

export interface Kind {
  readonly name: string;
  readonly findings: readonly Finding[];
}

/** The most frequent first. */
export function kindsOf(findings: readonly Finding[]): readonly Kind[] {
  const kinds = Map.groupBy(findings, ({ check, title, status, code, field }) =>
    [check, title, status === 0 ? '' : String(status), code, field].filter((part) => part !== '').join(', '),
  );
  return [...kinds]
    .map(([name, list]) => ({ name, findings: list }))
    .sort((a, b) => b.findings.length - a.findings.length);
}
