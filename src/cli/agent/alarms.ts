import { localTime } from '../../base/units.ts';
import type { Command } from 'commander';
import { holdfast } from '../../base/holdfast-command.ts';
import { agentObject, askAgent } from './ask-agent.ts';
import type { Context } from '../command/context.ts';
import { addExamples, addOutputOptions, type OutputOptions } from '../command/options.ts';
import { printable } from '../terminal/terminal.ts';
import { count } from '../terminal/wording.ts';

interface AlarmsOptions extends OutputOptions {
  readonly acknowledge?: boolean;
}

export function define(command: Command, context: Context): void {
  command.option('--acknowledge', 'This is what I intended: older snapshots may be removed again');
  addOutputOptions(command, { json: 'One JSON object for each alarm' });
  addExamples(command, [[holdfast`alarms --acknowledge`, 'you have looked: nothing is wrong']]);
  command.action(async (options: AlarmsOptions) => {
    const { out } = context;
    const alarms = await askAgent(context, options.acknowledge === true ? 'acknowledge' : 'alarms', {});
    if (options.json === true) {
      for (const alarm of alarms) await out.json(agentObject({ type: 'alarm', ...alarm }));
      return;
    }
    for (const { at, text } of alarms) await out.line(`${localTime(at)}  ${printable(text)}`);
    if (options.acknowledge === true) await out.line(`Acknowledged ${count(alarms.length, 'alarm')}.`);
    else if (alarms.length === 0) await out.line('There are no alarms.');
  });
}
