import { holdfast } from '../../agent/program.ts';

export const overview = {
  justNow: 'just now',
  never: 'never',
  headline: {
    protected: (ago: string) => `Protected: last good backup ${ago}`,
    noSource: 'Not protected: nothing has been chosen for backup yet',
    checkFailed: (what: string) => `Not protected: ${what}`,
    checkWarns: (what: string) => `Protected, but ${what}`,
    firstRuns: 'Not protected yet: the first backup is on its way',
    firstPaused: 'Not protected yet: the first backup waits for the end of the pause',
    /** `sources`: how many; null when `{}` is the one. */
    never: (sources: number | null, to: string | null, hasFailed: boolean) =>
      `Not protected: ${sources === null ? '{} has' : `${sources} sources have`} never been backed up` +
      `${to === null ? '' : ` to ${to}`}${hasFailed ? ', and the last attempt failed' : ''}`,
    overdue: (sources: number | null, to: string | null, span: string | null, hasFailed: boolean) =>
      `Not protected: ${sources === null ? '{} has' : `${sources} sources have`} not been backed up` +
      `${to === null ? '' : ` to ${to}`}${span === null ? ' in time' : ` for ${span}`}` +
      (hasFailed ? '; the last attempt failed' : ''),
    lastFailed: (ago: string) => `The last backup failed; the last good one was ${ago}`,
    paused: (ago: string) => `Paused: the last good backup was ${ago}, and none is made now`,
  },
  nextRun: (when: string) => `The next backup is due ${when}.`,
  nextDue: 'The next backup is due now.',
  watched: 'Changes are backed up within minutes.',
  /** Checks of the agent by name: within the headline, and what to do. */
  checksTitle: 'Look at this',
  checks: {
    configuration: {
      short: 'the configuration file has a mistake',
      what: 'The configuration file cannot be used. The last valid one stays in force.',
      todo: `Put the file right on this machine. This says where the mistake is: ${holdfast`config validate`}`,
    },
    destinations: {
      short: 'a destination cannot be reached',
      what: 'A destination cannot be reached.',
      todo: 'Plug the disk in, or see below which one is away and why.',
    },
    overdue: {
      short: 'the last good backup of a source is too old',
      what: 'The last good backup of a source is older than it should be.',
      todo: 'The jobs say what they wait for, or what went wrong.',
    },
    sources: {
      short: 'backups of a source fail',
      what: 'The last backup of a source failed.',
      todo: 'The jobs say what went wrong.',
    },
    'destinations of a source': {
      short: 'backups to one of the destinations fail',
      what: 'The last backup to one of the destinations failed, while others are good.',
      todo: 'The jobs say what went wrong.',
    },
    damage: {
      short: 'a check found damage in what a destination holds',
      what: 'The last check of a destination found damage: backups there may not come back whole.',
      todo: 'Check the drive, back up again, then run another check.',
    },
    'restore drills': {
      short: 'files could not be restored in the last restore drill',
      what: 'The last restore drill failed: files could not be restored as they were saved.',
      todo: 'Run a check that reads all data, back up again, then run another drill.',
    },
    'checks not done': {
      short: 'a destination could not be checked',
      what: 'A check failed: whether the backups there are whole is not known.',
      todo: 'The job says why; run another one then.',
    },
    'drills not done': {
      short: 'the last restore drill could not be done',
      what: 'A drill failed: whether the backups can be restored is not known.',
      todo: 'The job says why; run another one then.',
    },
    prune: {
      short: 'a destination could not be pruned',
      what: 'A prune failed: what is no longer needed there stays.',
      todo: 'The job says why; run another one then.',
    },
    'unread files': {
      short: 'files of a source could not be read',
      what: 'Files of a source are not in its last backup: they could not be read.',
      todo: 'The job names them. See that the agent may read them, or exclude them.',
    },
    notices: {
      short: 'notices do not arrive',
      what: 'Notices could not be delivered.',
      todo: 'Send a test from the settings: it says what is wrong.',
    },
    state: {
      short: 'the agent cannot write down what it does',
      what: 'The agent cannot write down what it does: backups are not made, or their ends are not noted.',
      todo: 'Make room on the disk of its state directory. The log of the agent says what went wrong.',
    },
    alarms: {
      short: 'a source looks damaged',
      what: 'A source looks damaged. Its older snapshots are kept until somebody has looked at it.',
      todo: 'Look at the alarms.',
    },
    catalog: {
      short: 'some snapshots cannot be looked through completely',
      what: 'Folders of some snapshots could not be read: lists and searches lack what is in them.',
      todo: 'It is tried again by itself. If this stays, run a check: it says what is damaged.',
    },
  } as Readonly<
    Partial<Record<string, { readonly short: string; readonly what: string; readonly todo: string }>>
  >,
  toJobs: 'To the jobs',
  toAdvanced: 'To the settings',
  tiles: {
    label: 'In figures',
    protected: 'Protected',
    stored: 'Stored',
    saved: 'Saved',
    next: 'Next backup',
    inFiles: (count: number, shown: string) => (count === 1 ? 'in one file' : `in ${shown} files`),
    snapshots: (count: number, shown: string) => (count === 1 ? 'one snapshot' : `${shown} snapshots`),
    inPlaces: (count: number) => `at ${count} destinations`,
    /** Deduplication and compression, in one plain line. */
    about: (share: string) => `about ${share}`,
    savedBy: (copies: number, shown: string) =>
      `against ${copies === 1 ? 'a plain copy' : `${shown} plain copies`}, by deduplication and compression`,
    savedNothingYet: 'nothing yet: later snapshots share what does not change',
    noNext: 'none is planned',
    whilePaused: 'while backups are paused',
    dueNow: 'now',
  },
  backUpAll: 'Back up everything now',
  started: (count: number) =>
    count === 1 ? 'The backup is on its way.' : `${count} backups are on their way.`,
  pause: 'Pause…',
  pauseQuestion: 'Start no backups for a while. What runs now ends first.',
  pauseHour: 'For an hour',
  pauseTomorrow: 'Until tomorrow morning',
  pauseOpen: 'Until I resume',
  activeTitle: 'Under way',
  sourcesTitle: 'What is protected',
  sources: {
    destination: 'To',
    lastGood: 'Last good backup',
    next: 'Next run',
    size: 'Size',
    history: 'Last runs',
    overdue: 'overdue',
    watching: 'watched',
    notWatching: 'by schedule only',
    notYet: 'none yet',
    noSchedule: 'not planned',
    files: (count: number, shown: string) => (count === 1 ? 'one file' : `${shown} files`),
    backUp: 'Back up now',
    backUpOf: (path: string) => `Back up now: ${path}`,
    dryRun: 'Dry run',
    dryRunOf: (path: string) => `Dry run: ${path}`,
    dryRunning: 'Finding out what a backup would do…',
    wouldDo: (changed: number, shown: string, size: string, all: string) =>
      changed === 0
        ? `A backup would find nothing new in ${all} files.`
        : `A backup would save ${changed === 1 ? 'one new or changed file' : `${shown} new or changed files`} of ${all}: at most ${size}.`,
    dryRunFailed: 'The dry run did not end well.',
    toJob: 'Look at the job',
    restore: 'Restore…',
    restoreOf: (path: string) => `Restore from ${path}`,
  },
  history: {
    none: 'No run yet',
    summary: (all: number, good: number, warned: number, failed: number, canceled: number) =>
      `${all === 1 ? 'One run' : `${all} runs`}: ${[
        `${good} good`,
        ...(warned === 0 ? [] : [`${warned} with warnings`]),
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
  destinationsTitle: 'Where it is stored',
  destinations: {
    isDefault: 'used by default',
    reachable: 'reachable',
    away: 'not reachable',
    unknown: 'not used yet',
    used: (used: string) => `${used} used by backups`,
    free: (free: string) => `${free} free`,
    meter: (name: string) => `Space at ${name}`,
    lastCheck: 'Last check',
    lastDrill: 'Last restore drill',
    checkNever: 'not checked yet',
    drillNever: 'no restore tried yet',
    good: (ago: string) => `good, ${ago}`,
    notGood: (outcome: string, ago: string) => `${outcome}, ${ago}`,
    chart: (name: string) => `Stored at ${name} over time`,
    change: (from: string, to: string, since: string) => `From ${from} to ${to} since ${since}.`,
    diskNote:
      'It is on the same disk as your files: it brings back what was deleted or overwritten, but nothing when the disk dies.',
    addSecond: 'Add a second destination',
  },
  recentTitle: 'Last jobs',
  recent: {
    job: 'Job',
    outcome: 'Outcome',
    when: 'When',
    took: 'Took',
    stored: 'Stored',
    all: 'All jobs',
  },
  emptyTitle: 'Nothing is protected yet',
  empty: 'Choose what to protect and where to: it takes about three minutes.',
  emptyStart: 'Start',
  noSourceTitle: 'No folder is backed up by itself',
  noSource: 'Jobs have run, but no source is set up. Choose what is to be backed up from now on.',
};
