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
  notCopied: 'Copying did not work. Select the text and copy it yourself.',
  retry: 'Try again',
  loading: 'Loading…',
  details: 'Details',
  default: 'default',
  yes: 'Yes',
  no: 'No',
  commandLine: 'On the command line',
  file: 'File',
  files: (count: number, shown: string) => (count === 1 ? '1 file' : `${shown} files`),
};

export const app = {
  skip: 'Skip to content',
  navigation: 'Pages',
  overview: 'Overview',
  restore: 'Restore',
  jobs: 'Jobs',
  settings: 'Settings',
  signOut: 'Sign out',
  language: 'Language',
  api: 'Desktop API',
  otherVersion: (running: string, installed: string) =>
    `Version ${installed} is installed, but version ${running} is still running. Restart the agent to use the new version. Jobs continue afterwards.`,
  closedTitle: 'You are not signed in',
  closedHow: 'Open this page from the command line, as the user whose files are backed up:',
  closedOnce: 'The command prints an address that works once, within a minute.',
  offline: 'The agent is not answering. It may be stopped, or still starting. This page keeps trying.',
  noSuchPage: 'Page not found',
  toOverview: 'Go to the overview',
  alarmsOpen: (count: number) =>
    count === 1 ? '1 alarm needs your attention.' : `${count} alarms need your attention.`,
  alarmsLook: 'View alarms',
  kitUnsaved:
    'Your recovery kit is only on this computer. If you lose the computer, nobody can read your backups without the kit.',
  kitUnsavedPartly: 'Your recovery kit is only on this computer. Save it somewhere else.',
  /** `{}`: one or more destinations. */
  notByKit:
    'It does not open {}. Keep what does as well: the recovery kit of the computer that made the backups there, or the passphrase you chose for them.',
  kitSave: 'Save it now',
  paused: (until: string | null) =>
    until === null ? 'Backups are paused until you resume them.' : `Backups are paused until ${until}.`,
  resume: 'Resume',
};
