export const firstRun = {
  title: 'Protect this machine',
  notNow: 'Not now',
  stepsLabel: 'Steps',
  steps: { what: 'What', where: 'Where to', kit: 'Recovery kit', run: 'First backup' },
  what: {
    title: 'What should be protected?',
    lead: 'Everything in the folders you choose is backed up, and from then on whatever changes in them.',
    legend: 'Folders',
    kinds: {
      home: 'Your home folder',
      documents: 'Documents',
      pictures: 'Pictures',
      desktop: 'Desktop',
      music: 'Music',
      videos: 'Videos',
      etc: 'Settings of the system',
      srv: 'Data of services',
      www: 'Web sites',
      own: 'Chosen by you',
    } as Readonly<Partial<Record<string, string>>>,
    isWithin: 'in it already',
    isProtected: 'protected already',
    counting: 'counting…',
    waiting: 'is counted next',
    size: (size: string, count: number, shown: string) =>
      `${size} in ${count === 1 ? 'one file' : `${shown} files`}`,
    atLeast: (size: string) => `at least ${size}`,
    unreadable: (count: number, shown: string) =>
      count === 1 ? 'one thing in it cannot be read' : `${shown} things in it cannot be read`,
    uncounted: 'could not be counted',
    total: (size: string, isComplete: boolean) =>
      isComplete ? `Altogether ${size}.` : `Altogether at least ${size}.`,
    add: 'Another folder…',
    addTitle: 'Which folder should be protected?',
    nothing: 'Choose at least one folder.',
    leftOut: 'What is left out, and why',
    leftOutLead: 'What can be made again, or was thrown away. All of it can be changed in the settings.',
    rules: {
      caches: [
        'Caches',
        'programs make them anew: .cache, Library/Caches, __pycache__, and folders with a CACHEDIR.TAG',
      ],
      trash: ['Trash', 'it was thrown away: .Trash, .local/share/Trash, $RECYCLE.BIN'],
      system: ['Leftovers of systems', 'nobody needs them: .DS_Store, Thumbs.db, lost+found'],
      marked: ['What you mark', 'folders with a file .nobackup, and what a file .holdfastignore names'],
    },
    found: (count: number, shown: string) =>
      count === 1
        ? 'On this machine that is one file:'
        : `On this machine that is ${shown} files, among them:`,
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
    lead: 'Best is a place that does not burn, break or get stolen together with this machine.',
    legend: 'Destination',
    here: 'On this machine',
    hereNote: 'Ready at once. Brings back what was deleted or overwritten.',
    present: 'Where backups go now',
    elsewhere: 'Somewhere else',
    elsewhereNote:
      'Another disk, a server or a cloud: somewhere that would survive the loss of this computer.',
    hereWarning:
      'This folder is on the same disk as your files. If the disk fails, both are lost. Add a second destination later.',
  },
  kit: {
    title: 'Keep the recovery kit',
    lead: 'Backups are encrypted. If this machine is lost, the kit is the only thing that opens them. Store it where the machine is not: on paper, or in a password manager.',
    download: 'Download it',
    print: 'Print it',
    confirm: 'I have stored it elsewhere',
    confirmHint:
      'The page is then removed from this machine. The agent keeps what it needs to make backups, so whoever gets into your account here can still read them.',
    later: 'Later, remind me',
    saved: (when: string | null) =>
      when === null
        ? 'The kit is stored elsewhere.'
        : `You said on ${when} that the kit is stored elsewhere.`,
    none: 'There is no kit on this machine: its repository was made with a passphrase of your own.',
  },
  run: {
    title: 'The first backup',
    lead: 'It reads everything once and may take a while; later ones take seconds.',
    protects: 'Protects',
    to: 'Goes to',
    when: 'When',
    whenText: 'Every 4 hours, and changes within minutes',
    here: 'On this machine',
    start: 'Start the first backup',
    saving: 'Saving the settings…',
    under: 'The first backup is on its way. You may close this page: it goes on by itself.',
    stuck:
      'It has not succeeded yet. Put right what is said here, then try again; or choose another destination.',
    otherPlace: 'Destinations',
    waits: 'waits for its turn',
    done: 'done',
    failed: 'did not succeed',
    why: 'See why',
    again: 'Try again',
    ok: 'The first backup has been made. From now on it happens by itself.',
    kitLeft: 'One thing is left: the recovery kit is still only on this machine.',
    kitNow: 'Keep it now',
    toOverview: 'To the overview',
    toRestore: 'Look at what was backed up',
    toDestinations: 'Add a second destination',
  },
};
