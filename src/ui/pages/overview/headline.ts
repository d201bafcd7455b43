/** From the codes of the agent to one sentence in the reader's language. */
import type { Headline } from '../../../api/schemas/page/overview.ts';
import { formatAge, formatList, formatSpan } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { visible } from '../../components/own-text.tsx';

export interface Sentence {
  /** Each `{}` is one of `own`. */
  readonly text: string;
  /** A path, or what the agent says of a check that has no text here. */
  readonly own: readonly string[];
}

interface Check {
  readonly name: string;
  readonly message: string;
}

export function sentenceOf(headline: Headline, checks: readonly Check[], nowMs = Date.now()): Sentence {
  const texts = t.overview.headline;
  const { code, since, has_failed: hasFailed } = headline;
  const ago = since === null ? t.overview.never : agoOf(since, nowMs);
  switch (code) {
    case 'protected':
      return plain(texts.protected(ago));
    case 'no_source':
      return plain(texts.noSource);
    case 'check_failed':
      return aboutCheck(texts.checkFailed, headline, checks);
    case 'check_warns':
      return aboutCheck(texts.checkWarns, headline, checks);
    case 'first_backup_runs':
      return plain(texts.firstRuns);
    case 'first_backup_paused':
      return plain(texts.firstPaused);
    case 'never_backed_up':
      return aboutSources(headline, (source) => texts.never(source, placesOf(headline), hasFailed));
    case 'overdue': {
      const span = since === null ? null : formatSpan((nowMs - new Date(since).getTime()) / 1000);
      return aboutSources(headline, (source) => texts.overdue(source, placesOf(headline), span, hasFailed));
    }
    case 'last_failed':
      return plain(texts.lastFailed(ago));
    case 'paused':
      return plain(texts.paused(ago));
  }
}

function plain(text: string): Sentence {
  return { text, own: [] };
}

/** One source is named, several are counted. */
function aboutSources({ paths }: Headline, say: (sources: number | null) => string): Sentence {
  const [path, ...others] = paths;
  return path === undefined || others.length > 0
    ? plain(say(paths.length))
    : { text: say(null), own: [path] };
}

function placesOf({ to }: Headline): string | null {
  return to.length === 0 ? null : formatList(to.map(visible));
}

function aboutCheck(say: (what: string) => string, { check }: Headline, checks: readonly Check[]): Sentence {
  const known = check === null ? undefined : t.overview.checks[check]?.short;
  if (known !== undefined) return plain(say(known));
  return { text: say('{}'), own: [checks.find(({ name }) => name === check)?.message ?? ''] };
}

/** `4 minutes ago`; what was seconds ago is no age to tell. */
export function agoOf(at: string | number, nowMs = Date.now()): string {
  return Math.abs(new Date(at).getTime() - nowMs) < 60_000 ? t.overview.justNow : formatAge(at, nowMs);
}
