/**
 * Every text of the page. What differs by number or name is a function. A translation has the same shape, which the
 * compiler checks; names of products, commands and settings stay as they are.
 */
export const english = {
  common: {
    now: 'now',
    never: 'never',
    none: 'none',
    optional: 'optional',
    back: 'Back',
    cancel: 'Cancel',
    close: 'Close',
    save: 'Save',
    next: 'Next',
    done: 'Done',
    copy: 'Copy',
    copied: 'Copied',
    retry: 'Try again',
    loading: 'Loading…',
    details: 'Details',
    default: 'default',
    yes: 'Yes',
    no: 'No',
    commandLine: 'The same on the command line',
    file: 'File',
    files: (count: number, shown: string) => (count === 1 ? 'one file' : `${shown} files`),
  },
  app: {
    skip: 'Skip to the contents',
    navigation: 'Pages',
    overview: 'Overview',
    restore: 'Restore',
    jobs: 'Jobs',
    alarms: 'Alarms',
    settings: 'Settings',
    signOut: 'Sign out',
    language: 'Language',
    api: 'Desktop API',
    closedTitle: 'This page is not signed in',
    closedHow: 'Open it from the command line, as the user that backs up:',
    closedOnce: 'The address it gives works once, for a minute.',
    offline: 'The agent does not answer. It may be stopped or starting; this page tries again by itself.',
    noSuchPage: 'There is no such page',
    toOverview: 'Go to the overview',
    alarmsOpen: (count: number) =>
      count === 1 ? 'A source looks damaged.' : `${count} alarms: sources look damaged.`,
    alarmsLook: 'Look at it',
    kitUnsaved:
      'The recovery kit is only on this machine. Without it nobody can read the backups once the machine is lost.',
    kitSave: 'Save it now',
    paused: (until: string | null) =>
      until === null ? 'Backups are paused until you resume them.' : `Backups are paused until ${until}.`,
    resume: 'Resume',
  },
  firstRun: {
    title: 'Protect this machine',
  },
  overview: {
    title: 'Overview',
  },
  restore: {
    title: 'Restore',
  },
  jobs: {
    title: 'Jobs',
  },
  alarms: {
    title: 'Alarms',
  },
  settings: {
    title: 'Settings',
    pages: {
      overview: 'Overview',
      sources: 'Sources and exclusions',
      destinations: 'Destinations',
      schedule: 'Schedule and retention',
      encryption: 'Encryption',
      performance: 'Performance',
      notifications: 'Notifications',
      access: 'API access',
      account: 'Account and plan',
      advanced: 'Advanced',
    },
  },
  /** What is said of an error by its code; its own text stands below. Codes that are not here have their own text alone. */
  problems: {
    OFFLINE: 'The agent does not answer.',
    INTERNAL_ERROR: 'Something went wrong in the agent. Its log has the details.',
    RATE_LIMIT_EXCEEDED: 'That was asked for too often. Wait a minute, then try again.',
    REVISION_MISMATCH:
      'The settings were changed elsewhere in the meantime. Reload, and make the change again.',
    CONFIG_INVALID: 'The configuration file has a mistake, and must be put right on the machine first.',
  } as Readonly<Partial<Record<string, string>>>,
};

export type Texts = typeof english;
