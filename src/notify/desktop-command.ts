/**
 * The command that shows a message on the desktop, for each program that can. Texts have names of files in them, which
 * anybody may have chosen: they are arguments or input of the program, never a part of its code or of a shell's line.
 */
import type { DesktopProgram } from './desktop-access.ts';
import type { Severity } from './notice.ts';
import { startOf } from './sender.ts';

export interface DesktopMessage {
  readonly title: string;
  readonly text: string;
  readonly severity: Severity;
  /** File of the program's icon; null where there is none. */
  readonly icon: string | null;
}

export interface DesktopCommand {
  readonly words: readonly string[];
  /** For its standard input; empty when it reads none. */
  readonly input: string;
}

/** What does not fit is not shown by any desktop. */
const TITLE_BYTES = 200;
const TEXT_BYTES = 1000;
/** A click then opens the page, where the package has put the entry into the menu. */
const ENTRY = 'org.example.holdfast';

export function desktopCommand(program: DesktopProgram, message: DesktopMessage): DesktopCommand {
  const { severity, icon } = message;
  const title = cut(readable(message.title).replaceAll('\n', ' '), TITLE_BYTES);
  const text = cut(readable(message.text).trim(), TEXT_BYTES);
  switch (program) {
    case 'gdbus':
      return { words: gdbusWords(title, text, severity, icon), input: '' };
    case 'notify-send':
      return { words: notifySendWords(title, text, severity, icon), input: '' };
    case 'osascript':
      return { words: ['-l', 'JavaScript', '-e', OF_MACOS], input: asciiJson({ title, text }) };
    case 'powershell':
      return {
        words: ['-NoProfile', '-NonInteractive', '-Command', OF_WINDOWS],
        input: asciiJson({ title, text }),
      };
  }
}

/** 2 stays on the screen until somebody has seen it. */
const URGENCY: Readonly<Record<Severity, 1 | 2>> = { good: 1, attention: 1, bad: 2 };

/** Calls the service that every desktop with a session bus has: https://specifications.freedesktop.org/notification */
function gdbusWords(title: string, text: string, severity: Severity, icon: string | null): readonly string[] {
  const hints = `{'urgency': <byte ${URGENCY[severity]}>, 'desktop-entry': <'${ENTRY}'>}`;
  return [
    'call',
    '--session',
    '--timeout=10',
    '--dest=org.freedesktop.Notifications',
    '--object-path=/org/freedesktop/Notifications',
    '--method=org.freedesktop.Notifications.Notify',
    gvariant('Holdfast'),
    'uint32 0',
    gvariant(icon ?? ''),
    gvariant(title),
    gvariant(withoutMarkup(text)),
    '@as []',
    hints,
    'int32 -1',
  ];
}

/** A string as GVariant writes it: as JSON does, with the same escapes. It never looks like an option. */
function gvariant(text: string): string {
  return JSON.stringify(text);
}

function notifySendWords(
  title: string,
  text: string,
  severity: Severity,
  icon: string | null,
): readonly string[] {
  return [
    '--app-name=Holdfast',
    `--urgency=${URGENCY[severity] === 2 ? 'critical' : 'normal'}`,
    ...(icon === null ? [] : [`--icon=${icon}`]),
    `--hint=string:desktop-entry:${ENTRY}`,
    '--',
    title,
    // It reads backslashes of the text, and of nothing else, as the beginning of an escape.
    withoutMarkup(text).replaceAll('\\', String.raw`\\`),
  ];
}

/** Desktops take the text, but not the title, for a kind of HTML. */
function withoutMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Foundation is there by default. */
const OF_MACOS = `
const input = $.NSFileHandle.fileHandleWithStandardInput.readDataToEndOfFile;
const message = JSON.parse(ObjC.unwrap($.NSString.alloc.initWithDataEncoding(input, $.NSUTF8StringEncoding)));
const app = Application.currentApplication();
app.includeStandardAdditions = true;
app.displayNotification(message.text, { withTitle: message.title });
`;

/**
 * Without a quotation mark that a command line would have to escape. The texts become text nodes. Windows shows only
 * messages of applications that it knows, and it knows its own PowerShell.
 */
const OF_WINDOWS = `
$ErrorActionPreference = 'Stop'
$message = [Console]::In.ReadToEnd() | ConvertFrom-Json
$manager = [Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
$toastType = [Windows.UI.Notifications.ToastNotification, Windows.UI.Notifications, ContentType = WindowsRuntime]
$document = $manager::GetTemplateContent([Windows.UI.Notifications.ToastTemplateType]::ToastText02)
$places = $document.GetElementsByTagName('text')
[void]$places.Item(0).AppendChild($document.CreateTextNode($message.title))
[void]$places.Item(1).AppendChild($document.CreateTextNode($message.text))
$toast = New-Object $toastType.FullName $document
$manager::CreateToastNotifier('{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\\WindowsPowerShell\\v1.0\\powershell.exe').Show($toast)
`;

/** JSON in ASCII, which every program reads alike, whatever code page it takes its input for. */
function asciiJson(value: object): string {
  return JSON.stringify(value).replaceAll(
    /[^\x20-\x7e]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** What cannot be seen, or turns the text around it, is written out as on the page; line ends and the like are spaces. */
function readable(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[^\n\P{Cc}]+/gu, ' ')
    .replaceAll(/[^\n\P{C}]|\p{Zl}|\p{Zp}/gu, (one) => {
      const number = (one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
      return `⟨U+${number}⟩`;
    });
}

function cut(text: string, bytes: number): string {
  const start = startOf(text, bytes);
  return start === text ? text : `${start}…`;
}
