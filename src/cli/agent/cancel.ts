import type { Command } from 'commander';
import { holdfast } from '../../base/holdfast-command.ts';
import { askAgent, jobObject } from './ask-agent.ts';
import type { Context } from '../command/context.ts';
import { stateWords } from './listing-jobs.ts';
import { addExamples, addOutputOptions, type OutputOptions } from '../command/options.ts';
import { printable } from '../terminal/terminal.ts';

export function define(command: Command, context: Context): void {
  command.argument('<id>', `the id of the job, as listed by "${holdfast`jobs`}"`);
  addOutputOptions(command, { json: 'The job as a JSON object' });
  addExamples(command, [[holdfast`cancel bkp_01M7Z…`, `from "${holdfast`jobs`}"`]]);
  command.action(async (id: string, options: OutputOptions) => {
    const job = await askAgent(context, 'cancel', { id });
    if (options.json === true) await context.out.json(jobObject(job));
    else await context.out.line(`${printable(job.id)} is ${stateWords(job)}.`);
  });
}
