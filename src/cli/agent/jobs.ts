import { localTime } from '../../base/units.ts';
import type { Command } from 'commander';
import { holdfast } from '../../base/holdfast-command.ts';
import type { JobStatus } from '../../jobs/job.ts';
import { askAgent, jobObject } from './ask-agent.ts';
import type { Context } from '../command/context.ts';
import { shownDestination } from '../../config/embedded-repository.ts';
import { jobsTable, jobText, noJobsText, type ShownName } from './listing-jobs.ts';
import { settingsOrDefaults } from '../places/settings-file.ts';
import { addExamples, addOutputOptions, type OutputOptions, usage } from '../command/options.ts';
import { createStyles, printable, terminalWidth, wantsColor } from '../terminal/terminal.ts';

const STATES: readonly JobStatus[] = ['queued', 'running', 'completed', 'failed', 'canceled'];

interface JobsOptions extends OutputOptions {
  readonly status?: string;
  readonly limit?: string;
  readonly log?: boolean;
}

export function define(command: Command, context: Context): void {
  command
    .argument('[id]', 'show this job and its problems')
    .optionsGroup('Which jobs:')
    .option('--status <state>', `Only those that are ${STATES.join(', ')}`)
    .option('--limit <n>', 'Show at most this many (20)')
    .optionsGroup('About one job:')
    .option('--log', 'Its log: the steps, and the output of the commands run before and after it');
  addOutputOptions(command, { json: 'One JSON object for each job' });
  addExamples(command, [
    [holdfast`jobs`, 'list past, running and waiting jobs'],
    [holdfast`jobs --status failed`, 'see what went wrong'],
    [holdfast`jobs ID --log`, 'see its steps, and the output of the commands run before and after it'],
  ]);
  command.action(async (id: string | undefined, options: JobsOptions) => {
    if (id === undefined && options.log === true)
      throw usage('--log needs a job', `Give the id of a job. List jobs with: ${holdfast`jobs`}`);
    if (id === undefined) await showJobs(options, context);
    else if (options.log === true) await showLog(id, options, context);
    else await showJob(id, options, context);
  });
}

async function showJobs(options: JobsOptions, context: Context): Promise<void> {
  const { out, env } = context;
  const status = STATES.find((state) => state === options.status) ?? null;
  if (options.status !== undefined && status === null)
    throw usage(`"${options.status}" is not a job status`, `Use one of: ${STATES.join(', ')}.`);
  const limit = Number(options.limit ?? '20');
  if (!Number.isInteger(limit) || limit < 1)
    throw usage(`"${options.limit}" is not a number of jobs`, 'Use 1 or more.');
  const jobs = await askAgent(context, 'jobs', { types: null, status, limit });
  if (options.json === true) for (const job of jobs) await out.json(jobObject(job));
  else if (jobs.length === 0) await out.line(noJobsText(status));
  else {
    const styles = createStyles(wantsColor(out.stream, env));
    await out.write(
      jobsTable(jobs, { styles, width: terminalWidth(out.stream), shown: await namesShown(context) }),
    );
  }
}

async function namesShown(context: Context): Promise<ShownName> {
  const settings = await settingsOrDefaults(undefined, context);
  return (name) => shownDestination(name, settings);
}

async function showJob(id: string, options: JobsOptions, context: Context): Promise<void> {
  const { out, env } = context;
  const job = await askAgent(context, 'job', { id, wait_ms: 0 });
  if (options.json === true) await out.json(jobObject(job));
  else await out.write(jobText(job, createStyles(wantsColor(out.stream, env)), await namesShown(context)));
}

async function showLog(id: string, options: JobsOptions, context: Context): Promise<void> {
  const { out } = context;
  const lines = await askAgent(context, 'log', { id });
  for (const { at, level, text } of lines) {
    if (options.json === true) await out.json({ type: 'log', time: new Date(at).toISOString(), level, text });
    else await out.line(`${localTime(at)}  ${level === 'info' ? '' : `${level}: `}${printable(text)}`);
  }
  if (lines.length === 0 && options.json !== true) await out.line('The log is empty.');
}
