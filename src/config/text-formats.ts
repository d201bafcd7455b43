/** Formats of text settings. Each checks a text, and describes what is wrong with it. */
import { isIP } from 'node:net';
import { HoldfastError, RequestError } from '../base/errors.ts';
import { lacksUnit, parseDuration, parseSize, SLOWEST_UPLOAD } from '../base/units.ts';
import { secretInUrl } from '../base/redact.ts';
import { checkScheduleText } from './schedule-text.ts';
import { isFromRoot, isHome } from './settings-context.ts';

/** Names of the formats in the schema. None is a standard format, which editors would check differently. */
export type TextFormat = keyof typeof CHECKS;

/** The problem with a text, or undefined. */
export function textProblem(format: TextFormat, text: string): HoldfastError | undefined {
  try {
    if (text.includes('\0')) throw wrong('A text contains a NUL character', 'Remove it.');
    CHECKS[format](text);
    return undefined;
  } catch (error) {
    if (error instanceof HoldfastError) return error;
    throw error;
  }
}

export function isTextFormat(name: string): name is TextFormat {
  return Object.hasOwn(CHECKS, name);
}

const CHECKS = {
  schedule: checkScheduleText,
  size: (text: string): void => {
    if (parseSize(text) < 1) throw wrong('The size is 0', 'Write null for no limit.');
    if (lacksUnit(text))
      throw wrong(
        `"${short(text)}" has no unit`,
        `Write the size with its unit, such as ${text.trim()} MiB.`,
      );
  },
  rate: (text: string): void => {
    if (parseSize(text) >= SLOWEST_UPLOAD) return;
    throw wrong(
      `"${short(text)}" would send less than 1 KiB a second`,
      'Write a size with its unit, such as 500 KiB or 2 MiB, or null for no limit.',
    );
  },
  span: (text: string): void => {
    parseDuration(text);
  },
  patience: (text: string): void => {
    if (parseDuration(text) < 1_000)
      throw wrong('That is less than a second', 'Write for example 10m or 2h.');
  },
  'calendar-span': (text: string): void => {
    if (text !== '' && /^(?:\d{1,4}y)?(?:\d{1,4}m)?(?:\d{1,5}d)?(?:\d{1,5}h)?$/.test(text)) return;
    throw wrong(
      `"${short(text)}" is not a span of time`,
      'Write years, months, days and hours in this order: 1y6m, 30d, 12h.',
    );
  },
  'clock-time': (text: string): void => {
    if (!CLOCK_TIME.test(text))
      throw wrong(`"${short(text)}" is not a time of day`, 'Write HH:MM, from 00:00 to 23:59.');
  },
  'clock-range': (text: string): void => {
    const [from = '', to = '', ...more] = text.split('-');
    if (more.length > 0 || !CLOCK_TIME.test(from) || !CLOCK_TIME.test(to))
      throw wrong(`"${short(text)}" is not a range of times`, 'Write HH:MM-HH:MM, such as 22:00-06:00.');
    if (from === to) throw wrong('The range begins when it ends', 'Give two different times.');
  },
  'zone-name': (text: string): void => {
    if (!isTimeZone(text))
      throw wrong(`"${short(text)}" is not a time zone`, 'Write its name, such as Europe/Berlin, or UTC.');
  },
  percentage: (text: string): void => {
    const number = /^(\d{1,3}(?:\.\d+)?)%$/.exec(text)?.[1];
    if (number === undefined || Number(number) > 100)
      throw wrong(`"${short(text)}" is not a percentage`, 'Write a percentage from 0% to 100%.');
  },
  'compression-name': (text: string): void => {
    if (!/^(?:none|auto|zstd(?::(?:[1-9]|1\d))?)$/.test(text))
      throw wrong(
        `"${short(text)}" is not a kind of compression`,
        'Write zstd, zstd:1 to zstd:19, auto or none.',
      );
  },
  'absolute-path': (text: string): void => {
    if (!isAbsoluteOrHome(text)) {
      throw wrong(
        `"${short(text)}" is not an absolute path`,
        'Write it from the root (/srv/data) or from the home directory (~/Documents).',
      );
    }
  },
  'file-name': checkFileName,
  /** `NAME` or `NAME:TEXT`. */
  'marker-name': (text: string): void => checkFileName(text.split(':')[0] ?? ''),
  location: checkLocation,
  'web-url': checkWebUrl,
  'host-name': (text: string): void => {
    if (isIP(text) === 0 && !/^[^\s/:@[\]]+$/.test(text))
      throw wrong(
        `"${short(text)}" is not the name of a machine`,
        'Write only the name, such as mail.example.org, or an IP address without brackets. The port has a setting of its own.',
      );
  },
  'mail-address': (text: string): void => {
    if (!/^[^\s@<>]+@[^\s@<>]+$|^[^<>\r\n]*<[^\s@<>]+@[^\s@<>]+>$/.test(text))
      throw wrong('This is not an e-mail address', 'Write it as name@host, or "Name <name@host>".');
  },
} as const satisfies Readonly<Record<string, (text: string) => void>>;

/** The formats in the form that the validator expects. */
export const FORMATS = Object.fromEntries(
  Object.keys(CHECKS)
    .filter(isTextFormat)
    .map((name) => [
      name,
      { type: 'string' as const, validate: (text: string) => textProblem(name, text) === undefined },
    ]),
);

const CLOCK_TIME = /^(?:[01]\d|2[0-3]):[0-5]\d$/;

function checkFileName(name: string): void {
  if (name === '' || name === '.' || name === '..' || name.includes('/'))
    throw wrong(
      `"${short(name)}" is not the name of a file`,
      'Write a name without a path, such as .nobackup.',
    );
}

function isAbsoluteOrHome(text: string): boolean {
  return isFromRoot(text) || isHome(text) || /^[a-z]:[\\/]/i.test(text);
}

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

function wrong(message: string, hint: string): RequestError {
  return new RequestError('CONFIG_INVALID', message, { hint });
}

function short(text: string): string {
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

/**
 * Checks a web address: http or https, without a secret.
 * @throws {RequestError} SECRET_IN_URL, INVALID_URL
 */
function checkWebUrl(text: string): void {
  refuseSecretInUrl(
    text,
    'Remove it, and use a reference such as {"file": "/path"} where the setting allows one.',
  );
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new RequestError('INVALID_URL', 'This is not a web address', {
      hint: 'Write it in full: https://host/path.',
    });
  }
}

/**
 * Checks the path or URL of a destination. Which kinds of URL exist is checked by the destinations themselves.
 * @throws {RequestError} SECRET_IN_URL, INVALID_DESTINATION
 */
function checkLocation(text: string): void {
  refuseSecretInUrl(text, 'Remove it, and say where it is in "passphrase" or "access".');
  if (isPath(text) || /^[a-z][a-z0-9+.-]*:/i.test(text)) return;
  throw new RequestError('INVALID_DESTINATION', 'This is neither an absolute path nor a URL', {
    hint: 'Write a directory in full (/mnt/backup, ~/backup) or a URL (file:///mnt/backup).',
  });
}

function isPath(text: string): boolean {
  return isFromRoot(text) || isHome(text);
}

/** The message does not repeat the URL. @throws {RequestError} SECRET_IN_URL */
function refuseSecretInUrl(text: string, hint: string): void {
  const where = isPath(text) ? undefined : secretInUrl(text);
  if (where !== undefined) throw new RequestError('SECRET_IN_URL', `The URL contains ${where}`, { hint });
}
