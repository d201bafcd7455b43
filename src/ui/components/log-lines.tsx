/** Lines of a log with their time, level and text. */
import type { JSX } from 'preact';
import { formatMoment } from '../language/format.ts';
import { t } from '../language/language.ts';
import { Own } from './own-text.tsx';
import { type Look, Tag } from './tag.tsx';

export interface LogLine {
  readonly at: string;
  /** `info`, `warn`, `error`, … */
  readonly level: string;
  readonly text: string;
}

const LOOKS: Readonly<Record<string, Look>> = { warn: 'warning', error: 'bad', fatal: 'bad' };

export function LogLines({
  lines,
  label,
}: {
  readonly lines: readonly LogLine[];
  readonly label: string;
}): JSX.Element {
  return (
    <div class="log" role="region" aria-label={label} tabIndex={0}>
      <ol>
        {lines.map(({ at, level, text }, index) => (
          <li key={index}>
            <time dateTime={at}>{formatMoment(at)}</time>
            <span class="log-text">
              {level === 'info' ? null : (
                <>
                  <Tag look={LOOKS[level] ?? 'plain'}>{t.jobs.levels[level] ?? level}</Tag>{' '}
                </>
              )}
              <Own>{text}</Own>
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}
