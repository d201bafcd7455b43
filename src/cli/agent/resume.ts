import type { Command } from 'commander';
import { holdfast } from '../../base/holdfast-command.ts';
import { askAgent } from './ask-agent.ts';
import type { Context } from '../command/context.ts';
import { addExamples, addOutputOptions, type OutputOptions } from '../command/options.ts';

export function define(command: Command, context: Context): void {
  addOutputOptions(command, { json: 'The result as a JSON object' });
  addExamples(command, [[holdfast`resume`, 'end the pause']]);
  command.action(async (options: OutputOptions) => {
    await askAgent(context, 'resume', {});
    if (options.json === true) await context.out.json({ type: 'resumed' });
    else await context.out.line('Resumed: jobs run again.');
  });
}
