export const common = {
  now: 'now',
  never: 'never',
  none: 'none',
  /** Between a name and its value. */
  colon: ':',
  optional: 'optional',
  back: 'Back',
  cancel: 'Cancel',
  close: 'Close',
  save: 'Save',
  next: 'Next',
  copy: 'Copy',
  copied: 'Copied',
  notCopied: 'It could not be copied. Select it and copy it yourself.',
  retry: 'Try again',
  loading: 'Loading…',
  details: 'Details',
  default: 'used by default',
  yes: 'Yes',
  no: 'No',
  commandLine: 'The same on the command line',
  file: 'File',
  files: (count: number, shown: string) => (count === 1 ? 'one file' : `${shown} files`),
};

export const app = {
  skip: 'Skip to the contents',
  navigation: 'Pages',
  overview: 'Overview',
  restore: 'Restore',
  jobs: 'Jobs',
  settings: 'Settings',
  signOut: 'Sign out',
  language: 'Language',
  api: 'Desktop API',
  otherVersion: (running: string, installed: string) =>
    `Version ${installed} is installed, but version ${running} is still running. Restart the agent to use the new one; jobs continue afterwards.`,
  closedTitle: 'This page is not signed in',
  closedHow: 'Open it from the command line, as the user that backs up:',
  closedOnce: 'The address it gives works once, for a minute.',
  offline: 'The agent does not answer. It may be stopped or starting; this page tries again by itself.',
  noSuchPage: 'There is no such page',
  toOverview: 'Go to the overview',
  alarmsOpen: (count: number) =>
    count === 1 ? 'An alarm waits for an answer.' : `${count} alarms wait for an answer.`,
  alarmsLook: 'Look at it',
  kitUnsaved:
    'The recovery kit is only on this machine. Without it nobody can read the backups once the machine is lost.',
  kitSave: 'Save it now',
  paused: (until: string | null) =>
    until === null ? 'Backups are paused until you resume them.' : `Backups are paused until ${until}.`,
  resume: 'Resume',
};
