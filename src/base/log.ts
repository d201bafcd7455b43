/**
 * Logs of the agent and of the Partner service. Secrets are objects that print as `[secret]`. Fields with the name of a
 * secret are censored too, as is anything in a line that is a known secret or has the form of one.
 */
import { pino, type Logger, type LoggerOptions } from 'pino';
import type { FastifyBaseLogger } from 'fastify';
import { redactText } from './redact.ts';

const SECRET_NAMES = [
  'password',
  'passphrase',
  'secret',
  'token',
  'authorization',
  'api_key',
  'cookie',
  'machineKey',
];

export interface LogTarget {
  write(line: string): void;
}

export function createLog(
  level: LoggerOptions['level'] & string,
  target: LogTarget,
  redact: (text: string) => string = redactText,
): Logger {
  const paths = SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
  return pino(
    { level, base: null, redact: { paths, censor: '[secret]' }, timestamp: pino.stdTimeFunctions.isoTime },
    { write: (line) => target.write(redact(line)) },
  );
}

/** Logs only problems with requests, not every request. */
export function createServerLogger(log: Logger): FastifyBaseLogger {
  return log.child({ part: 'api' }, { level: 'warn' });
}

export function setLevel(
  log: Logger,
  ofServer: FastifyBaseLogger,
  level: 'debug' | 'info' | 'warn' | 'error',
): void {
  log.level = level;
  ofServer.level = level === 'error' ? 'error' : 'warn';
}
