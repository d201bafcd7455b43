/** What rclone's error messages mean for a destination. */
import { DestinationError, MADE_ELSEWHERE, PROTECTED_FOR_NOW } from '../../base/errors.ts';
import type { DestinationKind } from '../../base/errors.ts';
import { cannot } from '../failed-action.ts';
import { saysProtected } from '../http-failure.ts';

/** Messages of the storages that rclone reaches, when they no longer accept the account or deny it something. */
const SIGN_IN_ENDED =
  /permission denied|access ?denied|forbidden|unauthori[sz]ed|invalid_grant|(?:error|status(?: code)?):? 40[13]\b|read-only|token (?:expired|has been|is (?:expired|invalid))|(?:expired|invalid)[_ ]?access[_ ]?token|empty token|authentication ?failed/i;
const SIGN_IN_AGAIN = 'Follow what rclone says. If the sign-in has expired: "rclone config reconnect".';

/** Not of the storage: of how often it is asked. */
const THROTTLING = /rate ?limit|too many requests|queries per|slow ?down|\b429\b/i;

/**
 * The error for the output of an rclone that ended. Only the line that says why it ended is used: other notices, such
 * as usage or stack traces, may precede and follow it.
 */
export function complaint(text: string, url: string): DestinationError {
  const lines = linesOf(text);
  const last =
    lines.findLast((line) => FATAL.test(line)) ??
    lines.find((line) => REASON.test(line)) ??
    lines.at(-1) ??
    'it stopped at once';
  const { kind, hint, details = {} } = COMPLAINTS.find(({ pattern }) => pattern.test(last)) ?? SOMETHING;
  return new DestinationError(kind, `Cannot open ${url}: rclone says: ${plainWords(last)}`, {
    op: 'open',
    hint,
    details,
  });
}

const FATAL = /\b(?:CRITICAL|FATAL|Fatal error)\b|^\S+ \S+ Failed to /;
const REASON = /^(?:Error|panic|fatal error): /;

interface Complaint {
  readonly kind: DestinationKind;
  readonly hint: string;
  readonly details?: Readonly<Record<string, boolean>>;
}

const SOMETHING: Complaint = {
  kind: 'unreachable',
  hint: 'Try "rclone lsd" with the same remote and path.',
};

const COMPLAINTS: readonly (Complaint & { readonly pattern: RegExp })[] = [
  {
    pattern: /didn't find section/i,
    kind: 'not-found',
    hint: 'Compare the name with the output of "rclone listremotes", and check which configuration file the agent uses.',
    details: MADE_ELSEWHERE,
  },
  {
    pattern: /unknown (?:flag|shorthand|command)/i,
    kind: 'unsupported',
    hint: 'Update rclone; 1.60 is the oldest version known to work.',
  },
  {
    pattern: THROTTLING,
    kind: 'unreachable',
    hint: 'The storage receives too many requests, from this account or others. Try again later. If this continues, give rclone a client id of your own.',
    details: { throttled: true },
  },
  {
    pattern: /\b50[0234]\b/,
    kind: 'unreachable',
    hint: 'The storage has an internal problem: try again later. "rclone lsd" with the same remote and path shows whether it answers again.',
  },
  { pattern: SIGN_IN_ENDED, kind: 'denied', hint: SIGN_IN_AGAIN },
  { ...SOMETHING, pattern: /password|decrypt/i, kind: 'denied' },
];

/** The time, the level, and the temporary name of the place, which means nothing to people. */
const BEFORE_WORDS =
  /^(?:\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d (?:[A-Z]+\s*: )?)?(?:Failed to create file system for "holdfast:[^"]*": )?/;

/** The message without these, and without what may be a secret in a URL. */
export function plainWords(text: string): string {
  return text
    .replace(BEFORE_WORDS, '')
    .replaceAll(/:\/\/[^/\s@]*@/g, '://')
    .replaceAll(/\?[^\s"]*/g, '?…')
    .trim()
    .slice(0, 300);
}

export function linesOf(text: string): readonly string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}

const meanings: readonly (readonly [RegExp, DestinationKind, string])[] = [
  [
    THROTTLING,
    'unreachable',
    'Holdfast will try again later. If this continues, give rclone a client id of your own.',
  ],
  [
    /no space|insufficient[ _](?:storage|space)|storage limit|disk full|storage ?quota|over ?quota|quota ?limit ?reached|quota (?:has been )?exceeded(?!.*\bmetric\b)/i,
    'full',
    'Free up some space there, or get more.',
  ],
  [
    /too[ _]?large|\b413\b/i,
    'unsupported',
    'Most objects are 32 MiB, at most 128 MiB. Raise the limit of the storage, or use another one.',
  ],
  [SIGN_IN_ENDED, 'denied', SIGN_IN_AGAIN],
];

/** The error for a command that was answered with a failure. */
export function refusal(text: string, op: string, key: string, url: string): DestinationError {
  const found = meanings.find(([pattern]) => pattern.test(text));
  const [pattern, kind, hint] = found ?? [
    undefined,
    'unreachable' as const,
    'Check the network, and try rclone itself.',
  ];
  const words = plainWords(text);
  return new DestinationError(kind, `${cannot(op, url, key)}: rclone says: ${words}`, {
    op,
    hint,
    retry: kind === 'denied' || kind === 'unsupported' ? 'never' : 'later',
    details: {
      ...(key === '' ? {} : { key }),
      url,
      says: words,
      ...(pattern === THROTTLING ? { throttled: true } : {}),
      ...(op === 'delete' && kind === 'denied' && saysProtected(text) ? PROTECTED_FOR_NOW : {}),
    },
  });
}
