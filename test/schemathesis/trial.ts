/** One run of schemathesis over the document that a running service gives out of itself. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { TriedService } from './tried-service.ts';

export const PHASES = ['examples', 'coverage', 'fuzzing', 'stateful'] as const;

export interface TrialOptions {
  /** The program. */
  readonly schemathesis: string;
  /** Where its settings, what it printed and what it saw are written. */
  readonly directory: string;
  readonly seed: number;
  /** For each operation, in the phases that make values up. */
  readonly maxExamples: number;
  readonly phases: readonly string[];
  readonly atMostMs: number;
}

export interface Trial {
  /** What happened, one JSON object on a line. */
  readonly events: string;
  /** Undefined when its time was over. */
  readonly code: number | undefined;
  readonly seconds: number;
}

/** How often a value comes from those that mean something, where there are such. */
const PROBABILITY = 0.6;
const REQUEST_SECONDS = 30;
/** A stream of events says nothing for as long as nothing happens. */
const STREAM = {
  'include-operation-id-regex': '^stream',
  'request-timeout': 1,
  'max-stream-events': 20,
} as const;
/** Refused as any other request that is too large, before anybody looks for what is wrong with it. */
const REFUSED = [
  '400',
  '401',
  '403',
  '404',
  '405',
  '406',
  '409',
  '412',
  '413',
  '415',
  '422',
  '428',
  '429',
  '431',
];
/** Else most requests repeat one of another body. */
const NEW_KEYS = Array.from({ length: 500 }, (_, at) => `key-${at}`);

export async function tryService(service: TriedService, options: TrialOptions): Promise<Trial> {
  const { name, address } = service;
  const { schemathesis, directory, seed, maxExamples, phases } = options;
  const config = join(directory, `${name}.toml`);
  const events = join(directory, `${name}.ndjson`);
  writeFileSync(config, settingsOf(service), { mode: 0o600 });
  const asked = {
    seed,
    'max-examples': maxExamples,
    phases: phases.join(','),
    'report-ndjson-path': events,
    'generation-database': 'none',
    'request-timeout': REQUEST_SECONDS,
  };
  const words = [
    `--config-file=${config}`,
    'run',
    `${address}/openapi.json`,
    '--no-color',
    '--continue-on-failure',
    ...Object.entries(asked).map(([option, value]) => `--${option}=${value}`),
  ];
  const began = performance.now();
  const child = spawn(schemathesis, words, { cwd: directory, stdio: ['ignore', 'pipe', 'inherit'] });
  const timer = setTimeout(() => child.kill('SIGKILL'), options.atMostMs);
  const [[code]] = await Promise.all([
    once(child, 'exit') as Promise<[number | null]>,
    pipeline(child.stdout, createWriteStream(join(directory, `${name}.txt`))),
  ]);
  clearTimeout(timer);
  return { events, code: code ?? undefined, seconds: (performance.now() - began) / 1_000 };
}

/** TOML, of which JSON's texts, lists and numbers are a part. */
function settingsOf({ access, known, places }: TriedService): string {
  const lists = { ...known, NEW_KEYS, WAITS: ['wait=1', 'wait=2'] };
  const named = (values: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(values).map(([place, dictionary]) => [place, { dictionary, probability: PROBABILITY }]),
    );
  return [
    `parameters = ${table({
      'header.Idempotency-Key': { dictionary: 'NEW_KEYS', probability: 0.9 },
      'header.Prefer': { dictionary: 'WAITS', probability: 0.9 },
    })}`,
    `auth = ${table({ openapi: access })}`,
    'output = { sanitization = { enabled = false } }',
    `checks = ${table({ negative_data_rejection: { 'expected-statuses': REFUSED } })}`,
    `dictionaries = ${table(Object.fromEntries(Object.entries(lists).map(([name, values]) => [name, { values }])))}`,
    ...[
      STREAM,
      ...Object.entries(places).map(([operation, values]) => ({
        'include-operation-id': operation,
        parameters: named(values),
      })),
    ].flatMap((operation) => [
      '[[operations]]',
      ...Object.entries(operation).map(([name, value]) => `${name} = ${literal(value)}`),
    ]),
    '',
  ].join('\n');
}

function literal(value: unknown): string {
  const isTable = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isTable ? table(value as Readonly<Record<string, unknown>>) : JSON.stringify(value);
}

function table(fields: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(fields).map(([name, value]) => `${JSON.stringify(name)} = ${literal(value)}`);
  return `{ ${parts.join(', ')} }`;
}
