/** Compares versions: the one that runs, the one that is installed, and, if the settings name an address, the newest one. */
import { installedVersion, isNewerVersion, programVersion } from '../../base/program-version.ts';
import { callWeb, startOfReply, webTrouble } from '../../base/web/web-call.ts';
import { ok, warning, type Finding } from './finding.ts';

/** A version as programs write it: 1.2.3, perhaps with something behind it. */
const VERSION = /^v?(\d+\.\d+\.\d+(?:[-+][0-9A-Za-z.-]{1,40})?)$/;
const MOST_BYTES = 64 * 1024;
const PATIENCE_MS = 10_000;

/** An agent keeps the version that it was started with when another one is installed in its place. */
export function checkRunningVersion(running: string, installed = installedVersion(running)): Finding {
  if (running === installed) return ok('version', `Running the installed version, ${installed}`);
  return warning(
    'version',
    `The agent is still running version ${running}, but ${installed} is installed`,
    'Restart the agent. Jobs that are running now continue afterwards.',
  );
}

export type Newest =
  | { readonly version: string; readonly trouble: null }
  | { readonly version: null; readonly trouble: string };

/** The version that the address answers with. Only an abort is thrown. */
export async function newestVersion(address: string, signal: AbortSignal): Promise<Newest> {
  const url = new URL(address);
  const patience = AbortSignal.timeout(PATIENCE_MS);
  const either = AbortSignal.any([signal, patience]);
  try {
    const call = { method: 'GET', headers: { accept: 'application/json, text/plain' } } as const;
    const reply = await callWeb(url, call, either);
    const text = (await startOfReply(reply, MOST_BYTES, either)).toString('utf8').trim();
    if (reply.status !== 200) return failed(`${url.host} answered with status ${reply.status}`);
    const version = VERSION.exec(versionIn(text))?.[1];
    return version === undefined
      ? failed(`The answer of ${url.host} contains no version`)
      : { version, trouble: null };
  } catch (error) {
    signal.throwIfAborted();
    if (patience.aborted) return failed(`${url.host} did not answer within ${PATIENCE_MS / 1000} seconds`);
    return failed(`${url.host} ${webTrouble(error).what}`);
  }
}

export async function checkNewestVersion(address: string, signal: AbortSignal): Promise<Finding> {
  const { version, trouble } = await newestVersion(address, signal);
  const installed = programVersion();
  if (trouble !== null) return warning('updates', trouble, 'Check the address in the setting updates.url.');
  return isNewerVersion(version, installed)
    ? warning(
        'updates',
        `Version ${version} is available; ${installed} is installed`,
        'Install it as you installed this one.',
      )
    : ok('updates', `${installed} is the newest version`);
}

function failed(trouble: string): Newest {
  return { version: null, trouble };
}

/** The text itself, or the version that a JSON object names. */
function versionIn(text: string): string {
  if (!text.startsWith('{')) return text;
  try {
    const value: unknown = JSON.parse(text);
    const version: unknown = typeof value === 'object' && value !== null && Reflect.get(value, 'version');
    return typeof version === 'string' ? version : '';
  } catch {
    return '';
  }
}
