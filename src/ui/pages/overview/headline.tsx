/** Turns a statement of the agent into a sentence in the reader's language, and shows it. */
import type { JSX } from 'preact';
import type { Headline, Overview, Statement } from '../../../api/schemas/page/overview.ts';
import { useOverview } from '../../agent/overview.ts';
import { Filled, Path, visible } from '../../components/own-text.tsx';
import { formatAge, formatBytes, formatCount, formatList, formatSpan } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { withPlaceNames } from '../../parts/place.tsx';

export interface Sentence {
  /** Each `{}` is replaced by the next of `own`. */
  readonly text: string;
  /** Names that the user chose, or the agent's words about a check that has no text here. */
  readonly own: readonly string[];
}

type Check = Pick<Overview['checks'][number], 'name' | 'code' | 'message'>;

interface CheckWords {
  readonly short: string;
  readonly todo: string;
}

/** The words for what the check behind a statement says; undefined for a check of a newer agent, or none. */
export function checkWords({
  check,
  check_code: code,
}: Pick<Statement, 'check' | 'check_code'>): CheckWords | undefined {
  const words: Readonly<Partial<Record<string, CheckWords>>> = t.overview.checks;
  return words[code ?? check ?? ''];
}

function saidBy({ check, check_code: wanted }: Statement, checks: readonly Check[]): string {
  return checks.find(({ name, code }) => name === check && (code ?? null) === wanted)?.message ?? '';
}

/** Turns a statement of the agent into a sentence in the reader's language. */
export function sentenceOf(said: Statement, checks: readonly Check[], nowMs = Date.now()): Sentence {
  const { code, since, to, names, reason, figures } = said;
  const number = (figure: string): number => figures[figure] ?? 0;
  const short = checkWords(said)?.short;
  const files = filesBelow(said);
  const own =
    code === 'files_unread' ? files : said.check === null ? names.map(nameOf) : [saidBy(said, checks)];
  const text = t.overview.headline[code]({
    names: formatList(names.map(() => '{}')),
    sources: names.length,
    to: to.length === 0 ? null : formatList(to.map((name) => t.overview.quoted(visible(name)))),
    ago: since === null ? t.overview.never : agoOf(since, nowMs),
    age: since === null ? '' : formatSpan((nowMs - new Date(since).getTime()) / 1_000),
    reason,
    number,
    count: (figure) => formatCount(number(figure)),
    size: (figure) => formatBytes(number(figure)),
    span: (figure) => formatSpan(number(figure) / 1_000),
    files: listed(files, number('files') + number('folders')),
    what: short ?? '{}',
  });
  return { text, own: text.includes('{}') ? own : [] };
}

/** The headline as plain text, for places that show nothing else. */
export function plainSentence({
  headline,
  checks,
  destinations,
}: Pick<Overview, 'headline' | 'checks' | 'destinations'>): string {
  const { text, own } = sentenceOf(withPlaceNames(headline, destinations), checks);
  const parts = text.split('{}');
  return parts.map((part, at) => (at === 0 ? part : visible(own[at - 1] ?? '') + part)).join('');
}

/** The text of a sentence for a place below a headline, which has said already whether the person is protected. */
export function withoutPreface(text: string): string {
  const preface = t.overview.prefaces.find((one) => text.startsWith(one)) ?? '';
  const rest = text.slice(preface.length);
  return preface === '' ? text : rest.slice(0, 1).toUpperCase() + rest.slice(1);
}

/** `and 2 more things`; undefined when there is nothing more. */
export function moreOf({ more }: Pick<Headline, 'more'>): string | undefined {
  return more === 0 ? undefined : t.overview.more(more);
}

/** The files with their paths relative to their source. */
export function filesBelow({ files, paths }: Pick<Statement, 'files' | 'paths'>): readonly string[] {
  return files.map((file) => {
    const source = paths.find((path) => file.startsWith(`${path}/`));
    return source === undefined ? file : file.slice(source.length + 1);
  });
}

function listed(files: readonly string[], all: number): string {
  if (files.length === 0) return '';
  const more = all - files.length;
  return formatList([
    ...files.map(() => '{}'),
    ...(more > 0 ? [t.overview.moreFiles(formatCount(more))] : []),
  ]);
}

/** The name of a source. Each language has its own word for the home directory. */
function nameOf(name: string): string {
  return name === '~' ? t.overview.home : name;
}

/** `4 minutes ago`; less than a minute is `just now`. */
export function agoOf(at: string | number, nowMs = Date.now()): string {
  return Math.abs(new Date(at).getTime() - nowMs) < 60_000 ? t.overview.justNow : formatAge(at, nowMs);
}

/** A statement as a sentence in which names that the user chose stand out from the words around them. */
export function Said({
  statement,
  isDetail = false,
}: {
  readonly statement: Statement;
  /** Whether it is below a headline. */
  readonly isDetail?: boolean;
}): JSX.Element {
  const { checks, destinations } = useOverview();
  const { text, own } = sentenceOf(withPlaceNames(statement, destinations), checks);
  return (
    <Filled
      text={isDetail ? withoutPreface(text) : text}
      parts={own.map((path) => (
        <Path key={path}>{path}</Path>
      ))}
    />
  );
}
