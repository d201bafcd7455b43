import type { Command } from 'commander';
import { formatBytes, formatDuration } from '../base/units.ts';
import type { FullStatus } from '../jobs/agent.ts';
import { askAgent } from './ask-agent.ts';
import type { Context } from './context.ts';
import { addExamples, addOutputOptions, type OutputOptions } from './options.ts';
import { protectionOf } from './protection.ts';
import { renderTable } from './table.ts';
import { createStyles, terminalWidth, wantsColor } from './terminal.ts';
import { count, localTime } from './wording.ts';

export function define(command: Command, context: Context): void {
  addOutputOptions(command, { json: 'All of it as one JSON object' });
  addExamples(command, [['holdfast status', 'are you protected?']]);
  command.action(async (options: OutputOptions) => {
    const status = await askAgent(context, 'status', {});
    const protection = protectionOf(status, context.clock.now());
    if (protection.level === 'bad') context.exitCode = 1;
    if (options.json === true) {
      await context.out.json({
        type: 'status',
        protected: protection.level !== 'bad',
        sentence: protection.sentence,
        ...status,
      });
    } else await show(status, context);
  });
}

async function show(status: FullStatus, context: Context): Promise<void> {
  const { out, env, clock } = context;
  const styles = createStyles(wantsColor(out.stream, env));
  const { level, sentence } = protectionOf(status, clock.now());
  const style = { good: styles.green, warning: styles.yellow, bad: styles.red }[level];
  const lines = [style(styles.bold(sentence)), ''];
  for (const check of status.checks) {
    if (check.status !== 'ok')
      lines.push(`${check.status === 'error' ? styles.red('!') : styles.yellow('!')} ${check.message}`);
  }
  await out.write(`${lines.join('\n')}\n`);
  if (status.sources.length > 0) {
    const rows = status.sources.map((source) => [
      source.path,
      source.last_good_backup_at === null
        ? 'never'
        : `${formatDuration(clock.now() - source.last_good_backup_at)} ago`,
      source.overdue ? { text: 'overdue', style: styles.red } : next(source.next_run_at),
      source.watching ? 'yes' : '',
      source.destination,
    ]);
    const columns = [
      { title: 'Source', cut: 'middle' as const },
      { title: 'Last good backup' },
      { title: 'Next' },
      { title: 'Watched' },
      { title: 'To' },
    ];
    await out.write(
      renderTable(columns, rows, { width: terminalWidth(out.stream), titleStyle: styles.bold }),
    );
  }
  const { running, queued } = status.jobs;
  await out.write(
    `\n${count(running, 'job')} running, ${queued} waiting; ${formatBytes(status.storage.used_bytes)} stored; up for ${formatDuration(status.uptime_seconds * 1000)}\n`,
  );
}

function next(at: number | null): string {
  return at === null ? '' : localTime(at);
}
