/**
 * Chooses the zstd library. The package zstd-napi is the first choice, but its binary is not available everywhere.
 * Node.js includes the same library: each reads what the other writes, and both produce the same bytes and refuse the
 * same frames.
 */
import { createRequire } from 'node:module';
import type * as binding from 'zstd-napi/binding.js';
import { errnoOf, RequestError } from '../base/errors.ts';
import { npmHere } from '../base/holdfast-command.ts';
import { nativeZstd } from './zstd-native.ts';
import { nodeZstd, type Zstd } from './zstd.ts';

interface Choice {
  readonly zstd: Zstd;
  /** Why zstd-napi is not used; empty when it is. */
  readonly because: string;
}

let choice: Choice | undefined;

/** The library that this process uses. @throws {RequestError} when `HOLDFAST_ZSTD` asks for one that is not available */
export function zstd(): Zstd {
  return chosen().zstd;
}

/** For the log, `doctor` and `--version --json`. */
export interface ZstdFacts {
  readonly by: Zstd['name'];
  readonly version: string;
  /** Why zstd-napi is not used; empty when it is. */
  readonly because: string;
}

export function zstdFacts(): ZstdFacts {
  const { zstd: used, because } = chosen();
  return { by: used.name, version: used.version, because };
}

function chosen(): Choice {
  choice ??= choose(process.env['HOLDFAST_ZSTD']);
  return choice;
}

/**
 * @param wanted `node` or `native` force one library, to measure and test it; undefined or empty chooses
 * @throws {RequestError} INVALID_REQUEST when `native` is wanted but not available, or for any other value
 */
export function choose(wanted: string | undefined): Choice {
  if (wanted === 'node') return { zstd: nodeZstd, because: 'HOLDFAST_ZSTD=node' };
  if (wanted !== undefined && wanted !== '' && wanted !== 'native') {
    throw new RequestError('INVALID_REQUEST', `HOLDFAST_ZSTD is "${wanted}"`, {
      hint: 'Set it to native or node, or leave it unset.',
    });
  }
  try {
    const load = createRequire(import.meta.url);
    return { zstd: nativeZstd(load('zstd-napi/binding.js') as typeof binding), because: '' };
  } catch (cause) {
    const because = reasonOf(cause);
    if (wanted !== 'native') return { zstd: nodeZstd, because };
    throw new RequestError('INVALID_REQUEST', `zstd-napi cannot be loaded: ${because}`, {
      hint: `Build it with: ${npmHere('run native')}`,
      cause,
    });
  }
}

/** Why the package cannot be loaded, in words of ours: those of Node.js name a file of its inside. */
export function reasonOf(cause: unknown): string {
  const code = errnoOf(cause);
  const [message = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
  if (code === 'ERR_DLOPEN_FAILED') return 'its binary is not for this system';
  return code === 'MODULE_NOT_FOUND' ? 'it is not installed, or its binary was not fetched' : message;
}
