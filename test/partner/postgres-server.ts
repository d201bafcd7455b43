/** One server for all files of the suite, unless one is named already. Without one the suite fails: it is there for that. */
import { startPostgres } from '../servers/postgres.ts';

export async function setup(): Promise<() => Promise<void>> {
  if (process.env['HOLDFAST_TEST_POSTGRES'] !== undefined) return async () => undefined;
  const server = await startPostgres();
  process.env['HOLDFAST_TEST_POSTGRES'] = server.url;
  return async () => await server.stop();
}
