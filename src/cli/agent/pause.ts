import type { Command } from 'commander';
import { holdfast } from '../../base/holdfast-command.ts';
import { localTime, parseDuration } from '../../base/units.ts';
import { agentObject, askAgent } from './ask-agent.ts';
import type { Context } from '../command/context.ts';
import { addExamples, addOutputOptions, type OutputOptions } from '../command/options.ts';

interface PauseOptions extends OutputOptions {
  readonly for?: string;
  readonly interrupt?: boolean;
}

export function define(command: Command, context: Context): void {
  command
    .optionsGroup('How:')
    .option('--for <time>', `How long: 30m, 2h, 1d; if left out, until "${holdfast`resume`}"`)
    .option('--interrupt', 'Also stop running jobs; they continue later where they left off');
  addOutputOptions(command, { json: 'The result as a JSON object' });
  addExamples(command, [[holdfast`pause --for 2h`, 'no backups during a talk']]);
  command.action(async (options: PauseOptions) => {
    const until = options.for === undefined ? null : context.clock.now() + parseDuration(options.for);
    await askAgent(context, 'pause', { until, interrupt: options.interrupt ?? false });
    if (options.json === true) await context.out.json(agentObject({ type: 'paused', until }));
    else if (until === null) await context.out.line(`Paused. To resume: ${holdfast`resume`}`);
    else await context.out.line(`Paused until ${localTime(until)}. To resume sooner: ${holdfast`resume`}`);
  });
}
