/** `holdfast doctor --bundle FILE`: the diagnostics for support that the agent's page also offers, available without an agent. */
import { resolve } from 'node:path';
import { StateError, errnoOf } from '../../base/errors.ts';
import { openNewPrivate } from '../../base/private-files.ts';
import { programVersion } from '../../base/program-version.ts';
import { redactText } from '../../base/redact.ts';
import { ConfigError } from '../../config/config-error.ts';
import type { FilledConfig } from '../../config/schema.ts';
import { endOfAgentLog } from '../../daemon/state/agent-log-end.ts';
import { BUNDLED, diagnosticsText } from '../../daemon/doctor/diagnostics.ts';
import type { Finding } from '../../daemon/doctor/finding.ts';
import { askAgent } from '../agent/ask-agent.ts';
import type { Context } from '../command/context.ts';
import { usage } from '../command/options.ts';
import { readSettings } from '../places/settings-file.ts';
import { configFile, statePaths } from '../command/state-directory.ts';

export interface BundleRequest {
  /** The file to make. */
  readonly file: string;
  /** The value of `--config`. */
  readonly config: string | undefined;
  readonly findings: readonly Finding[];
  /** Whether there is an agent to ask. */
  readonly agentRuns: boolean;
}

/**
 * Writes the bundle and returns its absolute path.
 * @throws {RequestError} when the file is there already; {StateError} when it cannot be written
 */
export async function writeBundle(request: BundleRequest, context: Context): Promise<string> {
  const { config, findings, agentRuns } = request;
  const { env, clock } = context;
  const stateDirectory = statePaths(env).directory;
  const text = await diagnosticsText(
    {
      madeBy: 'holdfast doctor',
      madeAt: clock.now(),
      version: programVersion(),
      stateDirectory,
      configFile: configFile(config, env),
      findings,
      unexamined: null,
      status: agentRuns ? await askAgent(context, 'status', {}) : null,
      settings: await settingsOf(config, context),
      jobs: agentRuns
        ? await askAgent(context, 'jobs', { types: null, status: null, limit: BUNDLED.jobs })
        : null,
      log: await endOfAgentLog(stateDirectory, { lines: BUNDLED.logLines, level: 'debug' }),
    },
    redactText,
  );
  const file = resolve(request.file);
  await writeNew(file, text);
  return file;
}

/** The settings; undefined without a valid file. That a file is broken is among the findings. */
async function settingsOf(config: string | undefined, context: Context): Promise<FilledConfig | undefined> {
  try {
    return (await readSettings(config, context))?.values;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return undefined;
  }
}

async function writeNew(file: string, text: string): Promise<void> {
  try {
    await using handle = await openNewPrivate(file);
    await handle.writeFile(text);
  } catch (cause) {
    if (errnoOf(cause) === 'EEXIST') throw usage(`${file} exists already`, 'Choose another name.');
    throw new StateError('WRITE_ERROR', `${file} cannot be written`, {
      hint: 'Choose a directory that you can write to.',
      cause,
    });
  }
}
