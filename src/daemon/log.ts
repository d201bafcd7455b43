/** Logs of the agent. Secrets are objects that show themselves as `[secret]`; what is named like one is removed too. */
import { pino, type Logger, type LoggerOptions } from 'pino';
import type { FastifyBaseLogger } from 'fastify';

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

export function createLog(level: LoggerOptions['level'] & string, target: LogTarget): Logger {
  const paths = SECRET_NAMES.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);
  return pino(
    { level, base: null, redact: { paths, censor: '[secret]' }, timestamp: pino.stdTimeFunctions.isoTime },
    target,
  );
}

/** Requests are not worth a line each; what goes wrong is. */
export function createServerLogger(log: Logger): FastifyBaseLogger {
  return log.child({ part: 'api' }, { level: 'warn' });
}
