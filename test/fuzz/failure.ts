/** What an input did wrong, and how it is told from another. */
import { writeFileSync } from 'node:fs';

/** What one input did wrong. */
export interface Failure {
  readonly kind: 'crash' | 'hang' | 'memory';
  readonly message: string;
  /** Base64. */
  readonly input: string;
}

export function crash(error: unknown, input: Buffer): Failure {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { kind: 'crash', message: message.slice(0, 4_000), input: input.toString('base64') };
}

/** Failures of the same kind at the same place are one. */
export function signatureOf({ kind, message }: Failure): string {
  if (kind !== 'crash') return kind;
  const [what = ''] = message.split('\n');
  const where = /\((?:file:\/\/)?[^()]*?(src\/[^()]*):\d+\)/.exec(message)?.[1] ?? '';
  return `${what.slice(0, 60).replaceAll(/\d+/g, '0')} ${where}`;
}

export function tell(path: string, failure: Failure): void {
  writeFileSync(path, JSON.stringify(failure));
}
