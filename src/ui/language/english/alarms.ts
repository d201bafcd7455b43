export const alarms = {
  title: 'Alarms',
  what: 'Something looks wrong. Until an alarm about a source is acknowledged, or what was lost is back, no snapshot of the source from before it is removed.',
  none: 'There is no open alarm. Should a source suddenly be empty or unreadable, lose most of its files, or be rewritten, it is said here.',
  kinds: {
    empty: {
      title: 'Empty',
      means:
        'Not one file is left where there were files. Most often a disk or a share is not mounted. No backup is made, so that the good ones stay the newest.',
      todo: 'Mount the disk or share: the next backup then goes through, and the alarm ends by itself. If the source is meant to be empty, acknowledge the alarm.',
    },
    unreadable: {
      title: 'No longer readable',
      means:
        'The last backup could not read one file, where there were files before. Most often owner or permissions have changed. That snapshot has none of them.',
      todo: 'The job names what could not be read. See that the agent may read it: the alarm then ends with the next backup.',
    },
    left_out: {
      title: 'Left out by the rules',
      means:
        'The exclude rules leave out all there is, where files were saved before. Often a program has put a file into the folder that marks it as a cache, or as not to be backed up.',
      todo: 'The job says which rule it is. Remove that file, or take the rule back: the alarm then ends with the next backup. If you meant it, remove the source.',
    },
    shrunk: {
      title: 'Most files are gone',
      means:
        'More than half of the files went within an hour. That happens when a folder is moved or deleted by mistake, or when a part of the source is not mounted.',
      todo: 'Compare with a snapshot from before. Restore what is missing: the alarm then ends with the next backup. If you meant it, acknowledge the alarm.',
    },
    rewritten: {
      title: 'Rewritten all at once',
      means:
        'Many files were changed within an hour, and what is in them now looks encrypted or has a new ending. Ransomware does that; so does encrypting or packing files on purpose.',
      todo: 'Open some of them. If they cannot be read, take the machine off the network, find out what wrote them, and only then restore a snapshot from before. If they are fine, acknowledge the alarm.',
    },
    burst: {
      title: 'Unusually many changes',
      means:
        'Far more files came, changed or went within an hour than ever before. A large update or a tidied archive looks like that; so does damage.',
      todo: 'Compare with a snapshot from before. If you know where the changes come from, acknowledge the alarm.',
    },
    claimed: {
      title: 'Stored in the name of another machine',
      means:
        'A write-only key stored a backup under the name of a machine for which others store too. Whoever has taken over the machine of that key can do that. It counts as no backup of that machine, and nothing is restored from it unless you choose it.',
      todo: 'If the machine has moved to that key, acknowledge the alarm: it is not raised again for that name. If not, remove the key, take away its access to the storage, and look at what it stored.',
    },
  },
  at: 'Noticed',
  facts: {
    files_before: 'Files before',
    files: 'Files now',
    unread: 'Could not be read',
    rewritten: 'Rewritten',
    extension: 'New ending of the names',
    renamed: 'Files with it',
    touched: 'Files that came, changed or went',
    usual: 'The most so far',
    host: 'Name of the machine',
    write_only_key: 'Write-only key',
    label: 'Called',
  } as Readonly<Partial<Record<string, string>>>,
  filled: 'There are files in it again.',
  todo: 'What to do',
  details: 'In the words of the agent',
  stored: 'What that key stored under the name',
  storedNone: 'It is not there any more.',
  before: 'Snapshots from before',
  beforeHint:
    'The newest first. See where the number of files changes; older than that is what you want back.',
  beforeNone: 'No snapshot of this source is known from before the alarm.',
  time: 'Time',
  files: 'Files',
  size: 'Size',
  actions: 'Actions',
  look: 'Look into it',
  acknowledge: (count: number) => (count === 1 ? 'Acknowledge…' : `Acknowledge all ${count}…`),
  acknowledgeQuestion:
    'You say that everything is as it should be. Snapshots from before may then be removed again by the rules of retention.',
  acknowledgeEmpty:
    'A source that is empty may stay so: its next backup takes it as it is, until there are files in it again.',
  acknowledgeDo: 'They are as they should be',
  acknowledged: 'Acknowledged. Retention goes on as usual.',
};
