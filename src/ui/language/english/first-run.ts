export const firstRun = {
  title: 'Protect this computer',
  notNow: 'Not now',
  stepsLabel: 'Steps',
  steps: { what: 'What', where: 'Where', kit: 'Recovery kit', run: 'First backup' },
  what: {
    title: 'What do you want to protect?',
    lead: 'Holdfast backs up everything in the folders you choose, except caches and trash, and every later change to them.',
    legend: 'Folders',
    kinds: {
      home: 'Your home folder',
      documents: 'Documents',
      pictures: 'Pictures',
      desktop: 'Desktop',
      music: 'Music',
      videos: 'Videos',
      etc: 'System settings',
      srv: 'Service data',
      www: 'Websites',
      own: 'Added by you',
    } as Readonly<Partial<Record<string, string>>>,
    isWithin: 'already included',
    isProtected: 'already protected',
    counting: 'counting…',
    waiting: 'waiting to be counted',
    size: (size: string, count: number, shown: string) =>
      `${size} in ${count === 1 ? '1 file' : `${shown} files`}`,
    atLeast: (size: string) => `at least ${size}`,
    unreadable: (count: number, shown: string) =>
      count === 1 ? '1 item cannot be read' : `${shown} items cannot be read`,
    uncounted: 'could not be counted',
    total: (size: string, isComplete: boolean) => (isComplete ? `Total: ${size}` : `Total: at least ${size}`),
    add: 'Add another folder…',
    addTitle: 'Which folder do you want to protect?',
    nothing: 'Choose at least one folder.',
    leftOut: 'What Holdfast leaves out, and why',
    leftOutLead:
      'Caches, trash and other files you would not miss. You can change this later in the settings.',
    rules: {
      caches: [
        'Caches',
        'programs recreate them: .cache, Library/Caches, __pycache__, downloaded packages as in .npm and .cargo/registry, and folders with a CACHEDIR.TAG file',
      ],
      trash: ['Trash', 'you have already thrown it away: .Trash, .local/share/Trash, $RECYCLE.BIN'],
      system: ['System leftovers', 'nobody needs them: .DS_Store, Thumbs.db, lost+found'],
      marked: [
        'What you mark',
        'folders with a .nobackup file, and anything listed in a .holdfastignore file',
      ],
    },
    found: (count: number, shown: string) =>
      count === 1 ? '1 file on this computer:' : `${shown} files on this computer, including:`,
    reasons: {
      pattern: 'rule',
      ignore_file: 'ignore file',
      cache: 'cache',
      if_present: 'marked',
      larger_than: 'too large',
      other_file_system: 'another file system',
      never: 'Holdfast’s own',
    },
  },
  where: {
    title: 'Where should backups go?',
    lead: 'Choose a place that would survive a fire, theft or failure of this computer.',
    legend: 'Destination',
    here: 'On this computer',
    hereNote: 'Ready right away. Brings back files that you delete or overwrite.',
    present: 'Your current destination',
    elsewhere: 'Somewhere else',
    elsewhereNote:
      'Another disk, a server or a cloud: somewhere that would survive the loss of this computer.',
    hereWarning:
      'Your backups will be on the same disk as your files. If the disk fails, both are lost. Add a second destination later.',
  },
  kit: {
    title: 'Save your recovery kit',
    lead: 'Your backups are encrypted. If you lose this computer, only the kit can open them. Keep it away from this computer: on paper, or in a password manager.',
    leadOther:
      'Your backups are encrypted. This kit opens what this computer stores in new places. Keep it away from this computer: on paper, or in a password manager.',
    download: 'Download',
    print: 'Print',
    confirm: 'I have saved it somewhere else',
    confirmHint:
      'Holdfast then deletes the kit from this computer. It keeps what it needs to make backups, so anyone who gets into your account here can still read them.',
    later: 'Remind me later',
    saved: (when: string | null) =>
      when === null
        ? 'You have saved your recovery kit somewhere else.'
        : `On ${when} you confirmed that you saved your recovery kit somewhere else.`,
    none: 'There is no recovery kit on this computer, because you chose your own passphrase.',
  },
  run: {
    title: 'Your first backup',
    lead: 'The first backup reads everything and may take a while. Later ones take seconds.',
    protects: 'Protects',
    to: 'Stored in',
    when: 'When',
    whenText: 'Every 4 hours, plus changes within minutes',
    here: 'On this computer',
    start: 'Start the first backup',
    saving: 'Saving the settings…',
    under: 'Your first backup is running. You can close this page; the backup continues.',
    stuck:
      'Your first backup has not succeeded yet. Fix the problem shown here and try again, or choose another destination.',
    otherPlace: 'Destinations',
    waits: 'waiting',
    done: 'done',
    failed: 'failed',
    why: 'See why',
    again: 'Try again',
    ok: 'Your first backup is complete. From now on, backups run automatically.',
    kitLeft: 'One thing is left to do: your recovery kit is still only on this computer.',
    kitNow: 'Save it now',
    toOverview: 'Go to the overview',
    toRestore: 'See what was backed up',
    toDestinations: 'Add a second destination',
  },
};
