import type { Command } from 'commander';
import { HoldfastError, StateError } from '../../base/errors.ts';
import { holdfast } from '../../base/holdfast-command.ts';
import { formatBytes, formatDuration, localTime } from '../../base/units.ts';
import { holdsBackups } from '../../config/embedded-repository.ts';
import { whyItCannotRun } from '../../daemon/state/disk.ts';
import { whyItIsRefused } from '../../daemon/state/private-state.ts';
import type { DestinationStatus, FullStatus } from '../../jobs/agent.ts';
import { adviceOf, detailOf, moreOf, othersOf, protectionOf, sentenceOf } from '../../jobs/protection.ts';
import type { Statement } from '../../jobs/statement.ts';
import type { Context } from '../command/context.ts';
import { addExamples, addOutputOptions, type OutputOptions } from '../command/options.ts';
import { statePaths } from '../command/state-directory.ts';
import { forMachineService, installCommand } from '../install/installed.ts';
import { shownName, withShownNames } from '../places/shown-names.ts';
import { renderTable } from '../terminal/table.ts';
import { createStyles, printable, type Styles, terminalWidth, wantsColor } from '../terminal/terminal.ts';
import { ago, count } from '../terminal/wording.ts';
import { agentObject, askAgent } from './ask-agent.ts';

export function define(command: Command, context: Context): void {
  addOutputOptions(command, { json: 'All of it as one JSON object' });
  addExamples(command, [[holdfast`status`, 'are you protected?']]);
  command.action(async (options: OutputOptions) => {
    const status = await askIfRunning(context);
    if (status === undefined) {
      context.exitCode = 1;
      await showAbsent(options, context);
      return;
    }
    const protection = protectionOf(status, context.clock.now());
    const { headline } = protection;
    if (protection.level === 'bad') context.exitCode = 1;
    if (options.json === true) {
      await context.out.json({
        type: 'status',
        protected: protection.level !== 'bad',
        sentence: protection.sentence,
        agent_running: true,
        ...agentObject({ ...status, statements: statementObjects(status, context.clock.now()) }),
        headline: { ...status.headline, more: headline.more, sentence: protection.sentence },
      });
    } else await show(status, context);
  });
}

async function askIfRunning(context: Context): Promise<FullStatus | undefined> {
  try {
    return await askAgent(context, 'status', {});
  } catch (error) {
    if (error instanceof StateError && error.code === 'NO_AGENT') return undefined;
    throw error;
  }
}

/** Reports that no agent is running. There may be backups made by hand nevertheless: `holdfast snapshots` lists them. */
async function showAbsent(options: OutputOptions, context: Context): Promise<void> {
  const { out, env } = context;
  const elsewhere = await forMachineService(['status'], env);
  const sentence =
    elsewhere === undefined
      ? 'Not protected: the agent is not running, so there are no automatic backups.'
      : 'You are not running an agent of your own. This machine runs one as a service.';
  if (options.json === true) {
    await out.json({ type: 'status', protected: false, sentence, agent_running: false });
    return;
  }
  const { red, bold } = createStyles(wantsColor(out.stream, env));
  await out.line(red(bold(sentence)));
  const { directory } = statePaths(env);
  const obstacle =
    elsewhere === undefined
      ? ((await whyItCannotRun(directory)) ?? (await whyItIsRefused(directory)))
      : undefined;
  if (obstacle !== undefined) await out.line(printable(obstacle));
  else if (elsewhere === undefined) await showTakenPort(context);
  await out.line(
    elsewhere === undefined
      ? `Start it with: ${holdfast`start`} (or whenever the machine starts: ${installCommand(env)})`
      : `See its status with: ${printable(elsewhere)}`,
  );
}

/** An agent cannot start while another program has its port. */
async function showTakenPort(context: Context): Promise<void> {
  const [{ settingsOnce }, { checkPort }] = await Promise.all([
    import('../places/settings-file.ts'),
    import('../install/port.ts'),
  ]);
  try {
    const { port } = (await settingsOnce(context)).listen;
    const { status, message, hint } = await checkPort(port, undefined);
    if (status === 'error') await context.out.line(printable(`It cannot run now: ${message}. ${hint}`));
  } catch (error) {
    // Settings that cannot be read are told by the start.
    if (!(error instanceof HoldfastError)) throw error;
  }
}

async function show(status: FullStatus, context: Context): Promise<void> {
  const { out, env, clock } = context;
  const styles = createStyles(wantsColor(out.stream, env));
  for (const line of statusLines(withShownNames(status), clock.now(), styles)) await out.line(line);
  await out.line('');
  if (status.sources.length > 0) {
    const damaged = new Set(
      status.statements.flatMap(({ code, paths }) => (AFTER_DAMAGE.has(code) ? paths : [])),
    );
    const rows = status.sources.map((source) => [
      source.path,
      lastCell(source, damaged.has(source.path), styles, clock.now()),
      source.overdue ? { text: 'overdue', style: styles.red } : next(source.next_run_at),
      source.watching ? 'yes' : '',
      shownName(source.destination, status.destinations),
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
  await out.write(`${status.sources.length > 0 ? '\n' : ''}${placesTable(status, styles, context)}`);
  const { running, queued } = status.jobs;
  await out.write(
    `\n${count(running, 'job')} running, ${queued} waiting; ${formatBytes(status.storage.used_bytes)} stored; up for ${formatDuration(status.uptime_seconds * 1000)}\n`,
  );
  const { held, held_until: until } = status.notices;
  if (until !== null)
    await out.line(`${count(held, 'notice')} held until ${until}, when the quiet hours of notices end`);
}

/** Alarms after which backups went on: the newest has the files as they are since. */
const AFTER_DAMAGE: ReadonlySet<Statement['code']> = new Set([
  'files_rewritten',
  'files_disappeared',
  'files_burst',
]);

export function lastCell(
  { last_good_backup_at: last }: FullStatus['sources'][number],
  isDamaged: boolean,
  { red }: Styles,
  nowMs: number,
): string | { readonly text: string; readonly style: Styles['red'] } {
  if (last === null) return 'never';
  const age = ago(nowMs - last);
  return isDamaged ? { text: `${age}, looks damaged`, style: red } : age;
}

function placesTable({ destinations }: FullStatus, styles: Styles, context: Context): string {
  const { out } = context;
  const rows = destinations.map((one) => [
    nameCell(one, destinations),
    reachCell(one, styles, context),
    one.used_bytes === null ? '' : formatBytes(one.used_bytes),
    one.url,
  ]);
  const columns = [
    { title: 'Destination' },
    { title: 'State', cut: 'never' as const },
    { title: 'Stored', align: 'right' as const },
    { title: 'Where', cut: 'middle' as const },
  ];
  return renderTable(columns, rows, { width: terminalWidth(out.stream), titleStyle: styles.bold });
}

/** Adds `(default)` to the embedded repository while programs get it under the name `default`. */
function nameCell({ name }: DestinationStatus, all: FullStatus['destinations']): string {
  const shown = shownName(name, all);
  return shown === name ? name : `${shown} (default)`;
}

const AWAY_WORDS = {
  not_mounted: 'NOT AVAILABLE: nothing is mounted',
  not_there: 'NOT AVAILABLE',
  no_answer: 'NO ANSWER',
};

function reachCell(one: DestinationStatus, { red, dim }: Styles, { clock, env }: Context) {
  const nowMs = clock.now();
  const { reachable, reached_at: at, unreachable_reason: reason, untested } = one;
  const never = untested ? 'not tested yet' : 'not used yet';
  const age = at === null ? never : `last reached ${ago(nowMs - at)}`;
  if (reason !== null) return { text: `${AWAY_WORDS[reason]}, ${age}`, style: red };
  if (one.embedded && at === null && holdsBackups(statePaths(env).directory)) return 'earlier backups';
  return reachable === null || at === null ? { text: age, style: dim } : `reached ${ago(nowMs - at)}`;
}

function next(at: number | null): string {
  return at === null ? '' : localTime(at);
}

type Shown = Pick<FullStatus, 'statements' | 'checks' | 'config'> & Partial<Pick<FullStatus, 'sources'>>;

export function statusLines(
  status: Shown,
  nowMs: number,
  styles: Pick<Styles, 'green' | 'yellow' | 'red' | 'bold'>,
): readonly string[] {
  const { level, sentence, headline } = protectionOf(status, nowMs);
  const style = { good: styles.green, warning: styles.yellow, bad: styles.red };
  const lines = [style[level](styles.bold(printable(`${sentence}${moreOf(headline)}`)))];
  const tell = (one: Statement): void => {
    const advice = adviceOf(one, status.sources);
    if (advice !== '') lines.push(printable(`  ${advice}`));
    if (one.check === 'configuration' && status.config.error !== null)
      lines.push(printable(`  ${status.config.error}`));
  };
  tell(headline);
  for (const one of othersOf(status)) {
    lines.push(`${style[one.level]('!')} ${printable(detailOf(one, status.checks, nowMs))}`);
    tell(one);
  }
  return lines;
}

function statementObjects({ statements, checks }: Shown, nowMs: number): readonly object[] {
  return statements.map(({ paths, to, since, names: _names, ...one }) => ({
    ...one,
    sentence: sentenceOf({ paths, to, since, names: _names, ...one }, checks, nowMs),
    sources: paths,
    destinations: to,
    last_good_backup_at: since,
  }));
}
