export const destinations = {
  about:
    'Where your backups go. Two destinations are safer than one, and one of them should be away from this computer.',
  here: 'On this computer',
  commandName: 'Commands call it “embedded”.',
  usedBy: 'Used by',
  space: 'Space',
  used: (bytes: string) => `${bytes} used`,
  free: (bytes: string) => `${bytes} free`,
  unknown: 'unknown',
  lastCheck: 'Last check',
  checkGood: 'all good',
  checkWarns: 'good, with warnings',
  checkFailed: 'failed',
  reachable: 'reachable',
  unreachable: 'not reachable',
  /** In place of `reachable`, where the backups are not. */
  lost: { emptied: 'no backups there', other_repository: 'other repository' },
  whyAway: {
    not_mounted: 'No disk or share is mounted there. Connect it, and backups continue.',
    not_there: 'The folder is not there. Connect its disk, or check whether the folder was moved.',
    no_answer: 'The last backup got no answer. Check that it is switched on and connected.',
  },
  notTried: 'not used yet',
  untested: 'not tested yet',
  untestedHint:
    'This destination was added without a test. Test it once it is there. Until then, no backups go to it.',
  earlier: 'earlier backups',
  earlierHint:
    'Your earlier backups are here and can be restored. New backups go elsewhere unless you make this the default again.',
  test: 'Test',
  testing: 'Testing…',
  makeDefault: 'Make it the default',
  removeQuestion: 'No more backups will go there. What is already stored there stays.',
  removeInUse:
    'These folders are backed up there. First choose another destination for them, under Sources and exclusions:',
  removeDefault: (next: string) =>
    `This is the default destination. If you remove it, its backups go to ${next} instead.`,
  onThisComputer: 'the repository on this computer',
  removeYes: 'Remove from settings',
  addTitle: 'Add a destination',
  name: 'Name',
  nameHint: 'Letters, digits, hyphens and underscores.',
  nameWrong: 'Use letters, digits, hyphens and underscores. Start with a letter.',
  nameTaken: 'This name is already in use.',
  use: 'What is it for?',
  /** `{}`: the present default destination. */
  uses: {
    as_well: 'New backups go here as well as to {}',
    instead: 'New backups go here instead of {}',
    later: 'Not used yet',
  },
  useNotes: {
    as_well: 'Two copies: you can restore from either.',
    instead: 'Earlier backups stay where they are and can be restored from there.',
    later: 'You choose later which folders go there.',
  },
  take: 'Apply',
  takeAnyway: 'Use it anyway',
  more: 'More settings',
  commandHint:
    'This setting decides which program is run, so this page cannot change it. Run the command above on the computer itself.',
  machineKey: 'The one in this computer’s recovery kit.',
  passphraseAbout:
    'This page cannot change where the passphrase is kept. Run this command on the computer itself:',
  onlyByCommand: 'This address has options that the form cannot show. To change it, run this command:',
};

export const encryption = {
  kit: 'Recovery kit',
  kitWhat:
    'One page with a passphrase and a recovery code. On any computer, each of them opens the backups on this computer, and the backups at every destination without a passphrase of its own. Anyone who has the kit can read them. If you lose this computer, nobody can read them without it.',
  kitNone: 'There is no recovery kit, because Holdfast created no repository of its own on this computer.',
  kitSaved: 'Saved somewhere else',
  kitSavedAt: (time: string) =>
    `You confirmed this on ${time}. The agent keeps what it needs to make backups. The kit itself is no longer on this computer.`,
  kitLost:
    'If you have lost it, create another recovery code while this computer can still open the backups:',
  kitUnsaved: 'Only on this computer',
  kitMadeAt: (time: string) => `Created on ${time}.`,
  kitDownload: 'Download',
  kitPrint: 'Print',
  kitShow: 'Show',
  kitHide: 'Hide',
  kitConfirm: 'I have saved it somewhere else…',
  kitConfirmQuestion:
    'Holdfast then deletes it from this computer and cannot show it again. The agent keeps what it needs to make backups. Is your copy on paper, in a password manager, or on a drive somewhere else?',
  kitConfirmDo: 'It is saved: delete it here',
  keys: 'What opens each destination',
  keysWhat: 'Each destination stores its key, locked. This is what opens it from this computer:',
  destination: 'Destination',
  openedBy: 'Opened by',
  byMachineKey: 'This computer’s key, in the state directory, or the recovery kit.',
  byKit: 'The passphrase from the recovery kit, which the agent keeps.',
  by: {
    file: 'A passphrase in a file:',
    env: 'A passphrase in an environment variable of the agent:',
    command: 'A passphrase printed by a command:',
    credential: 'A passphrase in a systemd credential:',
  },
  check: 'Try a passphrase',
  checkWhat:
    'Check whether the passphrase or recovery code you have saved opens a destination. It is tried on this computer and not stored.',
  secret: 'Passphrase or recovery code',
  secretMissing: 'Enter a passphrase or recovery code.',
  checkDo: 'Try it',
  checking: 'Trying…',
  opens: 'It opens',
  opensNot: 'It does not open',
  how: 'How your backups are protected',
  sealed: 'Encrypted',
  sealedWhat: 'File contents, names, sizes and times, and all file lists, before they leave this computer.',
  seen: 'Visible to the storage',
  seenWhat: 'How much is stored, and when. No names, no contents, and no sizes of single files.',
  cipher: 'Method',
  cipherWhat:
    'AES-256-GCM, with a separate key for every object. Argon2id (256 MiB) makes guessing a passphrase slow. Every piece is verified when it is read.',
  required: 'Unencrypted backups',
  requiredYes: 'Not allowed.',
  requiredNo: 'Only if you explicitly ask for one.',
  changed: 'Changed keys',
  changedWhat:
    'A passphrase or key that you replace or remove cannot open anything stored from then on. Anyone who kept a copy of it can still read what was stored before, until “keys rekey” encrypts that again. Data that somebody has copied stays readable to them. If the keys themselves may be known, copy your backups to a new repository.',
  commands: 'Keys on the command line',
};
