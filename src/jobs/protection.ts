/** Says in one English sentence whether the person is protected: for the command line, notices and programs. */
import { holdfast } from '../base/holdfast-command.ts';
import { formatBytes, formatSpan, localTime } from '../base/units.ts';
import type { FullStatus, StatusCheck } from './agent.ts';
import { wayBack, type RestoreTo } from '../watch/way-back.ts';
import {
  headlineOf,
  shownBelow,
  type Headline,
  type Level,
  type Reason,
  type Statement,
} from './statement.ts';

export interface Protection {
  readonly level: Level;
  readonly sentence: string;
  readonly headline: Headline;
}

type Known = Pick<FullStatus, 'statements' | 'checks'>;

export function protectionOf(status: Known, nowMs: number): Protection {
  const headline = headlineOf(status.statements);
  return { level: headline.level, sentence: sentenceOf(headline, status.checks, nowMs), headline };
}

/** The statements to show in addition to the headline. */
export function othersOf({ statements }: Pick<Known, 'statements'>): readonly Statement[] {
  const [worst, ...others] = statements;
  return worst === undefined ? [] : shownBelow(worst, others);
}

/** ` And 2 more things.`, to follow the sentence; empty when there is nothing more. */
export function moreOf({ more }: Pick<Headline, 'more'>): string {
  return more === 0 ? '' : more === 1 ? ' And one more thing.' : ` And ${more} more things.`;
}

/** Of a first backup to a new place, while others can be restored from. */
const EARLIER = 'Protected by your earlier backups; ';

/** What sentences begin with to say whether the person is protected, which only the headline should decide. */
const PREFACES = [
  'Protected, but: ',
  'Protected, but ',
  'Protected, except ',
  'Protected from mistakes, not from a broken disk: ',
  EARLIER,
  'Not protected yet: ',
  'Not protected: ',
];

/** The sentence for a place below a headline, which has said already whether the person is protected. */
export function detailOf(said: Statement, checks: readonly StatusCheck[], nowMs: number): string {
  const sentence = sentenceOf(said, checks, nowMs);
  const preface = PREFACES.find((one) => sentence.startsWith(one)) ?? '';
  const rest = sentence.slice(preface.length);
  const [name] = said.names;
  const beginsWithName = name !== undefined && rest.startsWith(nameOf(name));
  return beginsWithName || rest === sentence ? rest : rest.slice(0, 1).toUpperCase() + rest.slice(1);
}

export function sentenceOf(said: Statement, checks: readonly StatusCheck[], nowMs: number): string {
  const { code, since, figures, files } = said;
  const age = ageOf(nowMs - (since ?? nowMs));
  const names = listOf(said.names.map(nameOf));
  const to = listOf(said.to.map(quoted));
  const number = (name: string): string => counted(figures[name] ?? 0);
  switch (code) {
    case 'no_source':
      return 'Not protected: nothing is chosen for backup yet.';
    case 'check_failed':
      return `Not protected: ${saidBy(said, checks, 'error')}`;
    case 'files_rewritten':
      return `${number('rewritten')} of ${fileCount(figures['files_before'])} in ${names} were rewritten at once, as ransomware does.`;
    case 'source_unreadable':
      return `None of the ${fileCount(figures['files_before'])} in ${names} could be read at the last backup.`;
    case 'source_empty':
      return said.reason === 'source_missing'
        ? `${names} is gone: it had ${fileCount(figures['files_before'])} at its last backup.`
        : `${names} is empty: it had ${fileCount(figures['files_before'])} at its last backup.`;
    case 'source_left_out':
      return `Not protected: the exclude rules leave out everything in ${names}.`;
    case 'files_disappeared':
      return `${number('files_gone')} of ${fileCount(figures['files_before'])} disappeared from ${names}.`;
    case 'files_burst':
      return `${fileCount(figures['touched'])} in ${names} were added, changed or deleted at once.`;
    case 'name_claimed':
      return `Write-only key ${number('write_only_key')} stored a backup in the name of ${names}, for which others store too.`;
    case 'destination_gone':
      if (figures['empty'] === 1)
        return `Not protected: the backups of ${names} are not at ${to}: the folder is empty.`;
      return `Not protected: the folder of ${to} is gone, and so are the backups in it.`;
    case 'damaged':
      return `Not protected: the last check of ${to} found damage, and some backups there may not be restorable.`;
    case 'drill_failed':
      return `Not protected: the last restore drill of ${to} could not restore files as they were saved.`;
    case 'never_backed_up':
      return `Not protected: ${subject(said, 'has', 'have')} never been backed up${toWords(to)}${because(said.reason)}.`;
    case 'overdue':
      return `Not protected: ${subject(said, 'has', 'have')} not been backed up${toWords(to)} for ${age}${because(said.reason)}.`;
    case 'first_backup_runs':
      return `${firstPreface(said)}${figures['earlier'] === 1 ? toWords(to) : ''} is ${figures['waits'] === 1 ? 'waiting to start' : 'running'}.`;
    case 'first_backup_paused':
      return `${firstPreface(said)}${figures['earlier'] === 1 ? toWords(to) : ''} starts when the pause ends.`;
    case 'last_failed':
      return `Protected, but the last backup of ${names}${toWords(to)} failed${said.reason === 'other' ? '' : because(said.reason)}. The last good one is ${age} old.`;
    case 'command_failed':
      return `Protected, but a command before or after the last backup of ${names}${toWords(to)} failed. The last good one is ${age} old.`;
    case 'files_unread':
      return `Protected, except ${unreadCount(figures)} we could not read${files.length === 0 ? '' : `: ${namedFiles(said)}`}.`;
    case 'clock_behind':
      return `Protected, but the clock of this computer is or was wrong: the last backup has a time ${formatSpan(figures['ahead_ms'] ?? 0)} in the future.`;
    case 'same_place':
      return `Protected, but with fewer copies than it seems: ${to} are the same place, so there is only one copy of the backups of ${names}. The last good one is ${age} old.`;
    case 'state_nearly_full':
      return `Protected, but only ${formatBytes(figures['free_bytes'] ?? 0)} are free on the disk where Holdfast keeps its state; backups stop when it is full.`;
    case 'check_warns':
      return `Protected, but: ${saidBy(said, checks, 'warning')}`;
    case 'check_undone':
      return `Protected, but the last check of ${to} failed, so it is unknown whether the backups there are intact.`;
    case 'drill_undone':
      return `Protected, but the last restore drill of ${to} could not run, so it is unknown whether the backups there can be restored.`;
    case 'prune_failed':
      return `Protected, but old snapshots at ${to} could not be removed, so they still take up space.`;
    case 'paused':
      return `Paused until ${pauseEnd(figures['until_ms'])}: the last good backup is ${age} old, and no new ones are made.`;
    case 'not_watched':
      return `Protected, but changes in ${names} are not noticed as they happen; they are backed up at the next scheduled time.`;
    case 'destination_away':
      return figures['far'] === 1
        ? `${to} cannot be reached; the last backup to it is ${age} old.`
        : `The disk ${to} is unplugged; the last backup to it is ${age} old.`;
    case 'same_disk':
      return `Protected from mistakes, not from a broken disk: the backups of ${names} are on the same disk as the files. The last good one is ${age} old.`;
    case 'untested':
      return `Protected, but no restore from ${to} has been tried for ${formatSpan(figures['untested_ms'] ?? 0)}.`;
    case 'protected':
      return `Protected: the last good backup is ${age} old.`;
  }
}

function firstPreface({ figures }: Statement): string {
  return `${figures['earlier'] === 1 ? EARLIER : 'Not protected yet: '}the first backup`;
}

/** Where the sources go. */
type Pairs = readonly { readonly path: string; readonly destination: string }[];

/**
 * What to do about a statement, where its sentence does not say so; empty where there is nothing to do.
 * @param pairs for commands that name a source and its destination
 */
export function adviceOf(one: Statement, pairs: Pairs = []): string {
  const { code, reason, files, paths, before } = one;
  const back = (to: RestoreTo): string => wayBack(before, paths[0] ?? '', to);
  switch (code) {
    case 'no_source':
      return `Start with: ${holdfast`sources add DIR`}`;
    case 'files_disappeared':
      return `Older snapshots are kept. Restore what is missing ${back('in-place')}, or, if this was intended: ${holdfast`alarms --acknowledge`}`;
    case 'source_empty':
      return reason === 'source_missing'
        ? `Older snapshots are kept. If it is a disk, mount it. If it was deleted, restore it ${back('in-place')}, or, if this was intended, stop backing it up: ${holdfast`sources remove DIR`}`
        : `Older snapshots are kept. If it is a disk, mount it. If the files were deleted, restore them ${back('in-place')}, or, if this was intended: ${holdfast`alarms --acknowledge`}`;
    case 'source_left_out':
      return `${hasOlder(one) ? 'Older snapshots are kept. ' : ''}The job names the rules: ${jobCommand(one)}. Change them, or remove the source. The next backup clears this warning.`;
    case 'source_unreadable':
      return `Older snapshots are kept. Give Holdfast permission to read the files, or restore them elsewhere ${back('beside')}, or, if this was intended: ${holdfast`alarms --acknowledge`}`;
    case 'files_rewritten':
    case 'files_burst':
      return `Older snapshots are kept. Look at some of the files. Restore the earlier versions elsewhere ${back('beside')}, or, if this was intended: ${holdfast`alarms --acknowledge`}`;
    case 'name_claimed':
      return `It does not count as a backup of that machine. The alarm says what to do: ${holdfast`alarms`}. If the machine has moved to that key: ${holdfast`alarms --acknowledge`}`;
    case 'command_failed':
      return `What it prepares, such as a database dump, may be missing from that backup, or old. What it starts again may still be stopped. The job has what it printed: ${holdfast`jobs ${one.job ?? 'ID'} --log`}`;
    case 'files_unread':
      return files.length === 0
        ? `The job names them: ${jobCommand(one)}`
        : `Give yourself permission to read what is missing, leave it out (${holdfast`sources exclude FILE`}), or accept it (${holdfast`sources accept FILE`}). The next backup clears this warning.`;
    case 'damaged':
      return `Check the drive, back up again, which stores missing data again, then run another check. If it still finds damage, remove the snapshots it names: ${holdfast`forget ID`}`;
    case 'drill_failed':
      return 'Run a check that reads all data and back up again, then run another drill.';
    case 'destination_gone':
      if (one.figures['empty'] === 1)
        return `If it is another disk, plug in the right one. If the backups were deleted, start again in another folder: ${holdfast`destinations add NAME LOCATION --default`}`;
      return `Put the folder back, or choose another destination: ${holdfast`destinations add NAME LOCATION --default`}`;
    case 'last_failed':
    case 'never_backed_up':
    case 'overdue':
      if (one.figures['paused'] === 1) return `Backups are paused. To resume: ${holdfast`resume`}`;
      return reason === null
        ? `The jobs say what happened: ${holdfast`jobs`}. To back up now: ${backupCommand(one, pairs)}`
        : adviceAgainst(reason, one, pairs);
    case 'check_undone':
    case 'drill_undone':
    case 'prune_failed':
      return `The job says why: ${holdfast`jobs`}`;
    case 'clock_behind':
      return 'Check that the clock is right, and let the system keep it so. The next backup clears this warning.';
    case 'same_place':
      return `Give each destination its own place, or remove all names but one: ${holdfast`destinations remove NAME`}`;
    case 'state_nearly_full':
      return 'Free up space there.';
    case 'paused':
    case 'first_backup_paused':
      return `To resume: ${holdfast`resume`}`;
    case 'not_watched':
      return `Find out why with: ${holdfast`doctor`}`;
    case 'same_disk':
      return `If the disk fails, both are lost. Add a destination elsewhere: ${holdfast`destinations add NAME LOCATION --default`}`;
    case 'untested':
      return `Restore a file you know, and look at it: ${holdfast`restore latest FILE --target DIR`}`;
    case 'first_backup_runs':
      return one.figures['waits'] === 1 ? `The job says what it is waiting for: ${holdfast`jobs`}` : '';
    case 'check_warns':
      return one.check === 'state_lost' ? `Then: ${holdfast`alarms --acknowledge`}` : '';
    case 'check_failed':
    case 'destination_away':
    case 'protected':
      return '';
  }
}

/** Whether there was a good backup, or an alarm compared the source with one. */
function hasOlder({ since, figures }: Statement): boolean {
  return since !== null || figures['files_before'] !== undefined;
}

/** One snapshot has one source, so a command is given only for one; with several, for each its own. */
function backupCommand({ paths, to }: Statement, pairs: Pairs): string {
  const meant = pairs.filter(
    ({ path, destination }) => paths.includes(path) && (to.length === 0 || to.includes(destination)),
  );
  const commands = meant.map(({ path, destination }) =>
    destination === 'default' ? holdfast`backup ${path}` : holdfast`backup -r ${destination} ${path}`,
  );
  return commands.length === 0 || commands.length > 3 ? holdfast`backup -r NAME DIR` : commands.join(' and ');
}

function jobCommand({ job }: Statement): string {
  return job === null || job === undefined ? holdfast`jobs` : holdfast`jobs ${job}`;
}

function adviceAgainst(reason: Reason, one: Statement, pairs: Pairs): string {
  switch (reason) {
    case 'away':
      return 'Plug in the disk, or mount it.';
    case 'full':
      return 'Free up space there, or keep fewer old snapshots.';
    case 'other_repository':
      return `Plug in the right disk. To use the other repository, move it to another folder, and add that: ${holdfast`destinations add NAME LOCATION --default`}`;
    case 'emptied':
      return `If it is a disk, mount it. If the backups were deleted, start again in another folder: ${holdfast`destinations add NAME LOCATION --default`}`;
    case 'locked_out':
      return 'Set the right passphrase in the settings of the destination. The recovery kit of the computer that made the backups there has it.';
    case 'no_secret':
      return `The job says which one, and what to do: ${jobCommand(one)}`;
    case 'denied':
      return 'Check the credentials in the settings.';
    case 'unreachable':
      return 'Check that it is switched on and connected, and that the network works. Holdfast will try again.';
    case 'source_missing':
      return `Check the path, or remove the source: ${holdfast`sources remove DIR`}`;
    case 'source_unreadable':
      return `Give the user that the agent runs as permission to read it, or remove the source: ${holdfast`sources remove DIR`}`;
    case 'source_silent':
      return 'Check that its server or program is running, or unmount it.';
    case 'source_own':
    case 'source_unfit':
      return `Choose another source, and remove this one: ${holdfast`sources remove DIR`}`;
    case 'source_empty':
      return `If it is a disk, mount it. If it is supposed to be empty: ${holdfast`alarms --acknowledge`}`;
    case 'read_only':
      return 'Mount it for writing. If nobody made it read-only, the disk may be failing.';
    case 'no_permission':
      return 'Check who owns the folder of the destination, and its permissions.';
    case 'foreign':
      return 'Move these files away, or choose an empty folder as the destination, such as a new one below it.';
    case 'command':
      return `Fix the command. The log of the job has what it printed: ${holdfast`jobs ${one.job ?? 'ID'} --log`}`;
    case 'unscheduled':
      return `To back up now: ${backupCommand(one, pairs)}. To do it regularly, give the source a schedule: ${holdfast`config get sources`}`;
    case 'other':
      return `The job says what went wrong: ${jobCommand(one)}`;
  }
}

const BECAUSE: Readonly<Record<Reason, string>> = {
  away: 'the backup disk is not connected',
  full: 'the destination is full',
  other_repository: 'the destination holds a different repository than before',
  emptied: 'the repository at the destination is gone',
  locked_out: 'the passphrase of the destination is wrong or missing',
  no_secret: 'the password or key for the destination cannot be read',
  denied: 'the destination refused the sign-in',
  unreachable: 'the destination could not be reached',
  source_missing: 'the source is not there',
  source_unreadable: 'the source cannot be read',
  source_silent: 'the file system of the source does not answer',
  source_own: 'Holdfast does not back up the folders that it stores in',
  source_unfit: 'a source of this kind cannot be backed up',
  source_empty: 'the source is empty',
  read_only: 'the destination is read-only',
  no_permission: 'Holdfast does not have permission to use the destination',
  foreign: 'files of another program are at the destination',
  command: 'the command before it failed',
  unscheduled: 'nothing starts its backups: its schedule is off',
  other: 'the last attempt failed',
};

/** Why, as a clause to follow a sentence without its full stop. */
export function because(reason: Reason | null): string {
  return reason === null
    ? ''
    : reason === 'other'
      ? '; the last attempt failed'
      : ` because ${BECAUSE[reason]}`;
}

/** Less than nothing while the clock was ahead. */
function ageOf(ms: number): string {
  return ms < 60_000 ? 'less than a minute' : formatSpan(ms);
}

function nameOf(name: string): string {
  return name === '~' ? 'Home' : name;
}

function subject({ names }: Statement, one: string, several: string): string {
  const [only, ...others] = names;
  return only === undefined || others.length > 0
    ? `${names.length} sources ${several}`
    : `${nameOf(only)} ${one}`;
}

function toWords(to: string): string {
  return to === '' ? '' : ` to ${to}`;
}

function quoted(name: string): string {
  return `“${name}”`;
}

function listOf(items: readonly string[]): string {
  const last = items.at(-1) ?? '';
  return items.length < 2 ? last : `${items.slice(0, -1).join(', ')} and ${last}`;
}

/** `2,676`. */
function counted(count: number): string {
  return count.toLocaleString('en-US');
}

function fileCount(count = 0): string {
  return count === 1 ? '1 file' : `${counted(count)} files`;
}

function unreadCount({ files = 0, folders = 0 }: Statement['figures']): string {
  const parts = [
    ...(files > 0 || folders === 0 ? [fileCount(files)] : []),
    ...(folders > 0
      ? [folders === 1 ? 'everything in 1 folder' : `everything in ${counted(folders)} folders`]
      : []),
  ];
  return listOf(parts);
}

/** Names files by their paths relative to the source. */
function namedFiles({ files, paths, figures }: Statement): string {
  const names = files.map((file) => {
    const source = paths.find((path) => file.startsWith(`${path}/`));
    return source === undefined ? file : file.slice(source.length + 1);
  });
  const more = (figures['files'] ?? 0) + (figures['folders'] ?? 0) - files.length;
  return more > 0 ? `${names.join(', ')} and ${counted(more)} more` : listOf(names);
}

function saidBy(
  { check, checkCode }: Statement,
  checks: readonly StatusCheck[],
  level: StatusCheck['status'],
): string {
  const found = checks.find(
    ({ name, status, code }) => name === check && status === level && (code ?? null) === checkCode,
  );
  return lowerFirst(found?.message ?? '');
}

function pauseEnd(untilMs: number | undefined): string {
  return untilMs === undefined ? 'you resume it' : localTime(untilMs);
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
