/** What `status` says, the worst first: for people in lines, for programs as objects. */
import type { FullStatus } from '../../jobs/agent.ts';
import { adviceOf, moreOf, othersOf, protectionOf, sentenceOf } from '../../jobs/protection.ts';
import type { Statement } from '../../jobs/statement.ts';
import { printable, type Styles } from '../terminal/terminal.ts';

type Shown = Pick<FullStatus, 'statements' | 'checks' | 'config'>;

export function statusLines(
  status: Shown,
  nowMs: number,
  styles: Pick<Styles, 'green' | 'yellow' | 'red' | 'bold'>,
): readonly string[] {
  const { level, sentence, headline } = protectionOf(status, nowMs);
  const style = { good: styles.green, warning: styles.yellow, bad: styles.red };
  const lines = [style[level](styles.bold(printable(`${sentence}${moreOf(headline)}`)))];
  const tell = (one: Statement): void => {
    const advice = adviceOf(one);
    if (advice !== '') lines.push(printable(`  ${advice}`));
    if (one.check === 'configuration' && status.config.error !== null)
      lines.push(printable(`  ${status.config.error}`));
  };
  tell(headline);
  for (const one of othersOf(status)) {
    lines.push(`${style[one.level]('!')} ${printable(sentenceOf(one, status.checks, nowMs))}`);
    tell(one);
  }
  return lines;
}

export function statementObjects({ statements, checks }: Shown, nowMs: number): readonly object[] {
  return statements.map(({ paths, to, since, names: _names, ...one }) => ({
    ...one,
    sentence: sentenceOf({ paths, to, since, names: _names, ...one }, checks, nowMs),
    sources: paths,
    destinations: to,
    last_good_backup_at: since,
  }));
}
