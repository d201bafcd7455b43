/** The built program, as a service in a place of its own. */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Place, RunOptions } from '../support/cli.ts';

export interface RunningProgram extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly address: string;
}

/** `start` or `partner`, on a free port. What it says is in `LOG` below its directory. @throws {Error} with that, when it ends */
export async function startProgram(
  place: Place,
  words: readonly [string, ...string[]],
  env: RunOptions['env'] = {},
): Promise<RunningProgram> {
  const child = place.start([...words, '--port', '0', '--json'], {
    env: { HOLDFAST_REPOSITORY: undefined, HOLDFAST_PASSWORD: undefined, ...env },
  });
  const { stdout, stderr } = child;
  if (stdout === null || stderr === null) throw new Error('the program has no output');
  stderr.pipe(createWriteStream(join(place.directory, `${words[0]}.log`)));
  const ended = once(child, 'exit');
  const begun = await Promise.race([once(createInterface({ input: stdout }), 'line'), ended.then(() => [])]);
  const { address } = JSON.parse(String(begun[0] ?? '{}')) as { readonly address?: string };
  stdout.resume();
  if (address === undefined) throw new Error(`holdfast ${words.join(' ')} has ended at once`);
  return {
    address,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
