import type { Statement } from '../../../api/schemas/page/overview.ts';
import { holdfast } from '../../agent/program.ts';

/** `{}` stands for a path or file that the user named, which is shown distinctly. */
export interface Said {
  /** Names of the sources: `{}`, `{} and {}`. */
  readonly names: string;
  /** How many sources. */
  readonly sources: number;
  /** Names of the destinations; null when none is meant. */
  readonly to: string | null;
  /** How old the last good backup is: `4 minutes ago`, and `4 minutes`. */
  readonly ago: string;
  readonly age: string;
  readonly reason: Statement['reason'];
  /** A figure as people read it, and as a number. */
  readonly count: (figure: string) => string;
  readonly number: (figure: string) => number;
  readonly size: (figure: string) => string;
  readonly span: (figure: string) => string;
  /** Files that are named: `{}, {} and 3 more`; empty when none is. */
  readonly files: string;
  /** What a check says. */
  readonly what: string;
}

/** The checks that have words here: by their codes, or by their names where these tell what is wrong. */
type KnownCheck =
  | 'configuration'
  | 'notices'
  | 'state'
  | 'state_full'
  | 'state_gone'
  | 'state_lost'
  | 'catalog'
  | NonNullable<Statement['check_code']>;

type Sayings = Readonly<Record<Statement['code'], (said: Said) => string>>;

export const overview = {
  justNow: 'just now',
  never: 'never',
  home: 'Home',
  quoted: (name: string) => `“${name}”`,
  more: (count: number) => (count === 1 ? 'and 1 more thing' : `and ${count} more things`),
  moreFiles: (shown: string) => `${shown} more`,
  /** What headlines begin with. Below the headline, sentences are shown without it. */
  prefaces: [
    'Protected, but ',
    'Protected, except ',
    'Protected by your earlier backups; ',
    'Not protected yet: ',
    'Not protected: ',
  ],
  /** Each `{}` is something that the user named. */
  headline: {
    protected: ({ ago }) => `Protected: last good backup ${ago}`,
    no_source: () => 'Not protected: nothing has been chosen for backup yet',
    check_failed: ({ what }) => `Not protected: ${what}`,
    check_warns: ({ what }) => `Protected, but ${what}`,
    files_rewritten: ({ count, names }) =>
      `${count('rewritten')} of ${count('files_before')} files in ${names} were rewritten at once, as ransomware does`,
    source_unreadable: ({ count, names }) =>
      `None of the ${count('files_before')} files in ${names} could be read at the last backup`,
    source_left_out: ({ names }) => `Not protected: the exclude rules leave out everything in ${names}`,
    source_empty: ({ number, count, names, reason }) =>
      `${names} is ${reason === 'source_missing' ? 'gone' : 'empty'}: it had ${number('files_before') === 1 ? '1 file' : `${count('files_before')} files`} at its last backup`,
    files_disappeared: ({ count, names }) =>
      `${count('files_gone')} of ${count('files_before')} files disappeared from ${names}`,
    files_burst: ({ count, names }) =>
      `${count('touched')} files in ${names} were added, changed or deleted at once`,
    name_claimed: ({ number, names }) =>
      `Write-only key ${number('write_only_key')} stored a backup in the name of ${names}, for which others store too`,
    destination_gone: ({ to, names, number }) =>
      number('empty') === 1
        ? `Not protected: the backups of ${names} are not at ${to}: the folder is empty`
        : `Not protected: the folder of ${to} is gone, and so are the backups in it`,
    damaged: ({ to }) => `Not protected: the last check of ${to} found damage`,
    drill_failed: ({ to }) =>
      `Not protected: files could not be restored from ${to} in the last restore drill`,
    never_backed_up: ({ sources, to, reason }) =>
      `Not protected: ${sources === 1 ? '{} has' : `${sources} sources have`} never been backed up` +
      `${toWords(to)}${because(reason)}`,
    overdue: ({ sources, to, age, reason }) =>
      `Not protected: ${sources === 1 ? '{} has' : `${sources} sources have`} not been backed up` +
      `${toWords(to)}${age === '' ? ' in time' : ` for ${age}`}${because(reason)}`,
    first_backup_runs: (said) =>
      `${first(said)} is ${said.number('waits') === 1 ? 'waiting to start' : 'running'}`,
    first_backup_paused: (said) => `${first(said)} starts when the pause ends`,
    last_failed: ({ names, to, ago, reason }) =>
      `Protected, but the last backup of ${names}${toWords(to)} failed${reason === 'other' ? '' : because(reason)}; the last good one was ${ago}`,
    command_failed: ({ names, to }) =>
      `Protected, but a command before or after the last backup of ${names}${toWords(to)} failed`,
    files_unread: ({ number, count, files }) =>
      `Protected, except ${unread(number, count)} we could not read${files === '' ? '' : `: ${files}`}`,
    clock_behind: ({ span }) =>
      `Protected, but the clock of this computer is or was wrong: the last backup has a time ${span('ahead_ms')} from now`,
    same_place: ({ to, names }) =>
      `Protected, but with fewer copies than it seems: ${to} are the same place, so there is only one copy of the backups of ${names}`,
    state_nearly_full: ({ size }) =>
      `Protected, but only ${size('free_bytes')} are free on the disk where Holdfast keeps its state`,
    check_undone: ({ to }) => `Protected, but ${to} could not be checked`,
    drill_undone: ({ to }) => `Protected, but the last restore drill of ${to} could not be done`,
    prune_failed: ({ to }) => `Protected, but old snapshots at ${to} could not be removed`,
    paused: ({ ago }) => `Paused: no new backups are made; the last good one was ${ago}`,
    not_watched: ({ names }) => `Protected, but changes in ${names} are not noticed as they happen`,
    destination_away: ({ to, age, number }) =>
      number('far') === 1
        ? `${to} cannot be reached; the last backup to it is ${age} old`
        : `The disk ${to} is unplugged; the last backup to it is ${age} old`,
    same_disk: ({ ago }) => `Protected from mistakes, not from a broken disk: last good backup ${ago}`,
    untested: ({ to, span }) =>
      `Protected, but no restore from ${to} has been tried for ${span('untested_ms')}`,
  } as Sayings,
  /** What to do about each statement; missing if the sentence says all. */
  todo: {
    files_rewritten: 'Your older snapshots are kept. Look at the alarm before you do anything else.',
    source_unreadable: 'Your older snapshots are kept. Give Holdfast permission to read these files.',
    source_left_out:
      'Your older snapshots are kept. The job says which rules they are. Undo them, or remove the source. The next backup clears this warning.',
    /** In place of `source_left_out` where there was never a good backup. */
    source_left_out_before:
      'The job says which rules they are. Undo them, or remove the source. The next backup clears this warning.',
    source_empty:
      'Your older snapshots are kept. If it is a disk, mount it. If it is meant to be empty, confirm that in the alarm.',
    /** In place of `source_empty` where not even the folder is there. */
    source_gone:
      'Your older snapshots are kept. If it is a disk, mount it. If it was deleted, restore it, or remove the source.',
    files_disappeared:
      'Your older snapshots are kept. Restore what is missing, or confirm in the alarm that this is what you intended.',
    files_burst:
      'Your older snapshots are kept. Look at the alarm, or confirm there that this is what you intended.',
    name_claimed:
      'It does not count as a backup of that machine. Look at the alarm: has the machine switched to that key, or is the key in the wrong hands?',
    destination_gone: 'Put the folder back, or choose another destination.',
    /** In place of `destination_gone` where the folder is there, and empty. */
    destination_empty:
      'If it is another disk, plug in the right one. If the backups were deleted, add another folder as a destination, and start again there.',
    damaged:
      'You may not be able to restore everything from there. Check the drive, back up again, then run another check. If it still finds damage, remove the snapshots it names.',
    drill_failed: 'Run a check that reads all data, back up again, then run another restore drill.',
    command_failed:
      'What it prepares, such as a database dump, may be missing from that backup, or old. What it starts again may still be stopped. The job has what it printed.',
    files_unread:
      'Give yourself permission to read what is missing, leave it out, or accept that it is not backed up. The next backup clears this warning.',
    clock_behind: 'Check the clock, and set it if it is wrong. The next backup clears this warning.',
    same_place: 'Give each destination a place of its own, or keep only one of them.',
    state_nearly_full: 'Free up space there. Backups stop when it is full.',
    check_undone: 'Holdfast could not tell whether the backups there are intact. The job says why.',
    drill_undone: 'Holdfast could not tell whether the backups there can be restored. The job says why.',
    prune_failed: 'Data that is no longer needed still takes up space there. The job says why.',
    not_watched: `They wait for the next scheduled backup. To find out what to do, run this: ${holdfast`doctor`}`,
    same_disk: 'Your backups are on the same disk as your files. If that disk fails, both are lost.',
    untested: 'Restore a file that you know well, and check that it is right.',
  } as Readonly<Partial<Record<string, string>>>,
  /** What to do about a failed backup, by reason. */
  remedies: {
    away: 'Plug in the disk.',
    full: 'Free up space there, or keep fewer old snapshots.',
    other_repository:
      'Plug in the right disk. To use the other repository, move it to another folder, and add that as a destination.',
    emptied:
      'If it is a disk, mount it. If the backups were deleted, add another folder as a destination, and start again there.',
    locked_out:
      'Enter the right passphrase in the settings for this destination. It is in the recovery kit of the computer that made the backups there.',
    no_secret: 'The job says which one, and what to do.',
    denied: 'Check the sign-in details in the settings for this destination.',
    unreachable:
      'Check that it is switched on and connected, and that the network works. Holdfast keeps trying.',
    source_missing: 'Check the path, or remove the source.',
    source_unreadable: 'Give Holdfast permission to read it, or remove the source.',
    source_silent: 'Check that its server or program is running, or unmount it.',
    source_own: 'Choose another source, and remove this one.',
    source_unfit: 'Choose a folder or a file, and remove this source.',
    source_empty: 'If it is a disk, mount it. If it is meant to be empty, confirm that in the alarm.',
    read_only: 'Mount it for writing. If nobody made it read-only, the disk may be failing.',
    no_permission: 'Check who owns the folder of the destination, and its permissions.',
    foreign:
      'Move these files away, or choose an empty folder as the destination, such as a new one below it.',
    command: 'The log of the job has what the command printed. Fix the command.',
    unscheduled:
      'To back up now, choose “Back up now”. To do it regularly, give the source a schedule in the settings.',
    other: 'The job says what went wrong.',
    /** Where no backup has failed, or several have for different reasons. */
    none: 'The jobs say what happened. To try again, choose “Back up now”.',
    paused: 'Backups are paused. Resume them.',
  } as Readonly<Partial<Record<string, string>>>,
  unread: {
    leaveOut: 'Leave it out',
    leaveOutOf: (file: string) => `Leave it out: ${file}`,
    accept: 'Accept it',
    acceptOf: (file: string) => `Accept that it cannot be read: ${file}`,
    hint: 'If you leave it out, it is not backed up. If you accept it, Holdfast still tries to read it each time, but stops warning you.',
    done: 'Saved. A backup is starting.',
  },
  /** In place of the headline, which may no longer be so, while the agent does not answer. */
  unanswered: {
    title: 'Not known: the agent is not answering',
    what: (time: string) =>
      `What you see below is from ${time}. While the agent is stopped, there are no automatic backups. To start it, run this: ${holdfast`start`}`,
  },
  nextRun: (when: string) => `The next backup is due ${when}.`,
  nextDue: 'The next backup is due now.',
  watched: 'Changes are backed up within minutes.',
  /** `checks`: those that only the agent can explain, by name, with the words for the headline and what to do. */
  checksTitle: 'Needs your attention',
  checks: {
    configuration: {
      short: 'the configuration file cannot be used',
      todo: `The last valid one stays in use. To find out why, run this: ${holdfast`config validate`}`,
    },
    notices: {
      short: 'notices do not arrive',
      todo: 'Send a test from the settings to see what is wrong.',
    },
    state_full: {
      short: 'the disk where Holdfast keeps its state is full, so no backups are made',
      todo: 'Free up space there.',
    },
    state_gone: {
      short: 'the folder in which Holdfast keeps its state is gone',
      todo: 'Put it back, or mount its disk. Until then no backups are made.',
    },
    state_lost: {
      short: 'a damaged state database had to be replaced',
      todo: `Your backups are safe. Earlier jobs, alarms, a pause and API credentials may be missing: check them, then confirm this on the command line: ${holdfast`alarms --acknowledge`}`,
    },
    state: {
      short: 'the agent cannot write down what it does',
      todo: 'Backups do not run, or their results are not recorded. Free up space on the disk that holds its state directory.',
    },
    catalog: {
      short: 'some snapshots cannot be looked through completely',
      todo: 'Holdfast keeps trying. If this message stays, run a check to find out what is damaged.',
    },
    device_removed: {
      short: 'your partner no longer looks after this computer',
      todo: 'They have removed it. Backups and restores go on. To stop reporting to them, leave the Partner service.',
    },
    repository_contradicted: {
      short:
        'a repository was replaced with an earlier copy, or two computers write to it as if they were one',
      todo: `The Partner service knows more of it than is there. To see what is missing, run this: ${holdfast`check`}`,
    },
    account_suspended: {
      short: 'your account with your partner is suspended',
      todo: 'Backups and restores go on. If you did not expect this, ask your partner.',
    },
    account_suspended_waiting: {
      short: 'your account with your partner is suspended, so only backups that you start yourself will run',
      todo: 'Ask your partner. By the setting partner.whileSuspended, the other backups wait until the account is active again.',
    },
    trial_ended: {
      short: 'your trial with your partner has ended',
      todo: 'Backups and restores go on. Ask your partner for a plan.',
    },
    trial_ended_stopping: {
      short: 'your trial with your partner has ended',
      todo: 'A week after its end, only backups that you start yourself will run. Ask your partner for a plan.',
    },
    trial_ended_waiting: {
      short: 'your trial with your partner has ended, so only backups that you start yourself will run',
      todo: 'Ask your partner for a plan. By the setting partner.afterTrial, the other backups wait until then.',
    },
    no_plan: {
      short: 'you have no valid plan from your partner',
      todo: 'Backups and restores go on, and programs have the request limit of the free trial. If this message stays, tell your partner.',
    },
    enrollment_unreadable: {
      short: 'what this computer needs to report to your partner cannot be read',
      todo: `Backups and restores go on, but your partner hears nothing of them. Run this, then enroll the computer again: ${holdfast`enroll --leave`}`,
    },
  } as Readonly<Record<KnownCheck, { readonly short: string; readonly todo: string }>>,
  toJobs: 'View jobs',
  toAdvanced: 'Open settings',
  getBack: 'Get a file back',
  /** Sentences that follow one another. */
  holdings: {
    files: (count: number, shown: string, size: string) =>
      count === 1 ? `1 file (${size}) is protected.` : `${shown} files (${size}) are protected.`,
    /** In place of `files` where the headline says that the person is not protected. */
    lastFiles: (count: number, shown: string, size: string) =>
      `The last good backups have ${count === 1 ? '1 file' : `${shown} files`} (${size}).`,
    /** In place of both while an alarm says that files are damaged or missing: the newest backups have them like that. */
    afterDamage: (count: number, shown: string, size: string) =>
      `The newest backups were made after what the alarm is about, and have ${count === 1 ? '1 file' : `${shown} files`} (${size}). Earlier ones are kept.`,
    snapshots: (count: number, shown: string, size: string, places: string) =>
      `${count === 1 ? '1 backup takes up' : `${shown} backups take up`} ${size}${places}.`,
    places: (count: number) => ` in ${count} places`,
    share: (share: string) => `That is about ${share} less than plain copies would take.`,
  },
  timeline: {
    title: 'Last six weeks',
    today: 'Today',
    backup: 'Backed up',
    incomplete: 'Some files missing',
    failed: 'Failed',
    drill: 'Restore tested',
    alarm: 'Alarm',
    backups: (count: number, shown: string, size: string) =>
      `${count === 1 ? '1 backup' : `${shown} backups`}, ${size} stored`,
    ofThemIncomplete: (count: number) => `${count} with files missing`,
    ofThemFailed: (count: number) => `${count} failed`,
    drilled: 'restore tested',
    drillFailed: 'restore test failed',
    alarmed: 'alarm',
    nothing: 'no backup',
    summary: (count: number, shown: string, size: string) =>
      `${count === 1 ? '1 backup' : `${shown} backups`}, ${size} stored.`,
    summaryFailed: (count: number) => `${count} failed.`,
  },
  backUpAll: 'Back up now',
  started: (count: number) => (count === 1 ? 'Backup started.' : `${count} backups started.`),
  pause: 'Pause…',
  pauseQuestion: 'How long should backups be paused? Backups that are running now will finish.',
  pauseHour: 'For an hour',
  pauseTomorrow: 'Until tomorrow morning',
  pauseOpen: 'Until I resume them',
  activeTitle: 'In progress',
  sourcesTitle: 'Protected folders',
  sources: {
    destination: 'To',
    lastGood: 'Last good backup',
    last: 'Last backup',
    next: 'Next backup',
    size: 'Size',
    history: 'Recent backups',
    overdue: 'overdue',
    damaged: 'looks damaged',
    watching: 'watched',
    notWatching: 'scheduled only',
    savedAgo: (ago: string) => `backed up ${ago}`,
    notYet: 'not backed up yet',
    earlierAgo: (ago: string) => `earlier backup ${ago}`,
    noSchedule: 'not scheduled',
    files: (count: number, shown: string) => (count === 1 ? '1 file' : `${shown} files`),
    backUp: 'Back up now',
    backUpOf: (path: string) => `Back up now: ${path}`,
    dryRun: 'Dry run',
    dryRunOf: (path: string) => `Dry run: ${path}`,
    dryRunning: 'Checking what a backup would do…',
    wouldDo: (changed: number, shown: string, size: string, all: string) =>
      changed === 0
        ? `A backup would find nothing new in ${all} files.`
        : `A backup would save ${changed === 1 ? '1 new or changed file' : `${shown} new or changed files`} out of ${all}: ${size} at most.`,
    dryRunFailed: 'The dry run did not complete.',
    toJob: 'View the job',
    restore: 'Restore…',
    restoreOf: (path: string) => `Restore from ${path}`,
  },
  history: {
    none: 'No backups yet',
    summary: (all: number, good: number, warned: number, failed: number, canceled: number) =>
      `${all === 1 ? '1 backup' : `${all} backups`}: ${[
        `${good + warned} good`,
        ...(warned === 0 ? [] : [`${warned} of them with files missing`]),
        ...(failed === 0 ? [] : [`${failed} failed`]),
        ...(canceled === 0 ? [] : [`${canceled} canceled`]),
      ].join(', ')}`,
    run: (when: string, outcome: string, files: string, size: string) =>
      `${when}: ${outcome}, ${files} files changed, ${size} stored`,
  },
  outcomes: {
    queued: 'waiting',
    running: 'running',
    completed: 'good',
    warning: 'with warnings',
    failed: 'failed',
    canceled: 'canceled',
  },
  destinationsTitle: 'Where your backups are',
  destinations: {
    isDefault: 'default',
    reachable: 'reachable',
    away: 'not reachable',
    unknown: 'not used yet',
    used: (used: string) => `${used} used by backups`,
    free: (free: string) => `${free} free`,
    meter: (name: string) => `Space at ${name}`,
    lastCheck: 'Last check',
    lastDrill: 'Last restore drill',
    checkNever: 'not checked yet',
    drillNever: 'restore not tested yet',
    good: (ago: string) => `good, ${ago}`,
    notGood: (outcome: string, ago: string) => `${outcome}, ${ago}`,
    chart: (name: string) => `Stored at ${name} over time`,
    change: (from: string, to: string, since: string) => `From ${from} to ${to} since ${since}.`,
    sameDisk: 'on the same disk as your files',
    addSecond: 'Add a destination somewhere else',
  },
  allJobs: 'All jobs',
  emptyTitle: 'Nothing is protected yet',
  empty: 'Choose what to protect and where to keep the backups. It takes about three minutes.',
  emptyStart: 'Get started',
  noSourceTitle: 'No folder is backed up automatically',
  noSource: 'Jobs have run, but no source is set up. Choose what to back up from now on.',
};

const BECAUSE: Readonly<Record<NonNullable<Statement['reason']>, string>> = {
  away: ' because the backup disk is not connected',
  full: ' because the destination is full',
  other_repository: ' because the destination holds a different repository than before',
  emptied: ' because the repository at the destination is gone',
  locked_out: ' because the passphrase of the destination is wrong or missing',
  no_secret: ' because the password or key for the destination cannot be read',
  denied: ' because the destination refused the sign-in',
  unreachable: ' because the destination could not be reached',
  source_missing: ' because the source is not there',
  source_unreadable: ' because the source cannot be read',
  source_silent: ' because the file system of the source does not answer',
  source_own: ' because Holdfast does not back up the folders that it stores in',
  source_unfit: ' because a source of this kind cannot be backed up',
  source_empty: ' because the source is empty',
  read_only: ' because the destination is read-only',
  no_permission: ' because Holdfast does not have permission to use the destination',
  foreign: ' because files of another program are at the destination',
  command: ' because the command before it failed',
  unscheduled: ' because nothing starts its backups: its schedule is off',
  other: '; the last attempt failed',
};

function because(reason: Statement['reason']): string {
  return reason === null ? '' : BECAUSE[reason];
}

/** Of a first backup to a new place, others may be there to restore from. */
function first({ number, to }: Said): string {
  return number('earlier') === 1
    ? `Protected by your earlier backups; the first backup${toWords(to)}`
    : 'Not protected yet: the first backup';
}

function toWords(to: string | null): string {
  return to === null ? '' : ` to ${to}`;
}

function unread(number: Said['number'], count: Said['count']): string {
  const [files, folders] = [number('files'), number('folders')];
  const ofFiles = files === 1 ? '1 file' : `${count('files')} files`;
  const ofFolders = folders === 1 ? 'everything in 1 folder' : `everything in ${count('folders')} folders`;
  return folders === 0 ? ofFiles : files === 0 ? ofFolders : `${ofFiles} and ${ofFolders}`;
}
