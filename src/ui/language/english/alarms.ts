export const alarms = {
  title: 'Alarms',
  what: 'Something looks wrong. Holdfast keeps all older snapshots of the source until you acknowledge the alarm, or the files are back.',
  none: 'There are no alarms. Holdfast raises one if a source is suddenly empty or unreadable, loses most of its files, or has them rewritten.',
  kinds: {
    empty: {
      title: 'Empty',
      means:
        'This source had files, and now has none. Usually a disk or share is not mounted. Holdfast is not backing it up, so that the good snapshots stay the newest.',
      todo: 'Mount the disk or share. The next backup then succeeds, and the alarm ends. If the source is meant to be empty, acknowledge the alarm. If it was deleted on purpose, remove the source.',
    },
    unreadable: {
      title: 'No longer readable',
      means:
        'The last backup could not read a single file, although there were files before. Usually their owner or permissions have changed. That snapshot contains none of them.',
      todo: 'The job lists what could not be read. Give Holdfast permission to read it. The alarm then ends with the next backup.',
    },
    left_out: {
      title: 'Left out by rules',
      means:
        'Exclude rules now leave out everything here, although files were backed up before. Often a program has added a file that marks the folder as a cache, or as not to be backed up.',
      todo: 'The job says which rule it is. Delete that file, or undo the rule. The alarm then ends with the next backup. If this is what you intended, remove the source.',
    },
    shrunk: {
      title: 'Most files are gone',
      means:
        'More than half of the files of the source, or of one of its folders, disappeared within an hour. That happens when a folder is moved or deleted by mistake, or when part of the source is not mounted.',
      todo: 'Compare with an earlier snapshot, and restore what is missing. The alarm then ends with the next backup. If this is what you intended, acknowledge the alarm.',
    },
    rewritten: {
      title: 'Rewritten all at once',
      means:
        'Many files changed within an hour, and now look encrypted or have a new file extension. Ransomware does that. So does encrypting or compressing files on purpose.',
      todo: 'Open some of the files. If you cannot, disconnect the computer from the network and find out what changed them. Only then restore an earlier snapshot. If the files are fine, acknowledge the alarm.',
    },
    burst: {
      title: 'Unusually many changes',
      means:
        'Far more files were added, changed or deleted within an hour than ever before. A large update or a tidied archive looks like that. So does damage.',
      todo: 'Compare with an earlier snapshot. If you know where the changes come from, acknowledge the alarm.',
    },
    claimed: {
      title: 'Stored in another machine’s name',
      means:
        'A write-only key stored a backup under the name of a machine that other keys store for, too. Anyone who has taken over the machine with that key can do this. The backup does not count as one of the named machine, and nothing is restored from it unless you choose it.',
      todo: 'If the machine has switched to that key, acknowledge the alarm; it is not raised again for that name. If not, remove the key, take away its access to the storage, and look at what it stored.',
    },
  },
  at: 'Noticed',
  facts: {
    folder: 'Folder',
    files_before: 'Files before',
    files: 'Files now',
    unread: 'Unreadable',
    rewritten: 'Rewritten',
    extension: 'New file extension',
    renamed: 'Files with it',
    touched: 'Files added, changed or deleted',
    usual: 'Most so far',
    host: 'Machine name',
    write_only_key: 'Write-only key',
    label: 'Key label',
  } as Readonly<Partial<Record<string, string>>>,
  filled: 'The source contains files again.',
  todo: 'What to do',
  details: 'Details from the agent',
  stored: 'What this key stored under that name',
  storedNone: 'It is no longer there.',
  before: 'Earlier snapshots',
  beforeHint: 'Newest first. Compare them to find the last one without the damage.',
  beforeMarked: 'Newest first. The marked one is the last from before the damage.',
  lastBefore: 'Last one before the damage',
  beforeNone: 'There is no snapshot of this source from before the alarm.',
  time: 'Time',
  files: 'Files',
  size: 'Size',
  actions: 'Actions',
  look: 'Browse',
  acknowledge: (count: number) => (count === 1 ? 'Acknowledge…' : `Acknowledge all ${count}…`),
  acknowledgeQuestion:
    'You confirm that this is what you intended. Earlier snapshots can then be removed under your retention rules again.',
  acknowledgeEmpty:
    'A source that is empty can stay empty: backups accept that until it contains files again.',
  acknowledgeDo: 'This is what I intended',
  acknowledged: 'Acknowledged. Retention continues as usual.',
};
