import { holdfast } from '../../agent/program.ts';

export const problems = {
  OFFLINE: 'The agent does not answer.',
  INTERNAL_ERROR: 'Something went wrong in the agent. Its log has the details.',
  RATE_LIMIT_EXCEEDED: 'That was asked for too often. Wait a minute, then try again.',
  REVISION_MISMATCH:
    'The settings were changed elsewhere in the meantime. Reload, and make the change again.',
  CONFIG_INVALID: 'The configuration file has a mistake. Correct it on the machine first.',

  // Why a job failed.
  INVALID_SOURCE: 'The source cannot be backed up. Check that it is there and that the agent may read it.',
  INVALID_DESTINATION: 'The destination is not known, or cannot be used. Look at it in the settings.',
  INVALID_TARGET: 'Nothing can be restored to that place. Choose another directory.',
  SECRET_IN_URL: 'A password stands in an address. Put it into the settings of the destination instead.',
  UNSUPPORTED_COMPRESSION: 'This compression is not known. Choose zstd, auto or none.',
  SNAPSHOT_NOT_FOUND: 'The snapshot is not there any more. Choose another one.',
  PATH_NOT_IN_SNAPSHOT:
    'The snapshot does not have that file or directory. Search for it by its name: what is found names the snapshots that have it.',
  QUOTA_EXCEEDED: 'The plan has no room left for this.',
  ENCRYPTION_REQUIRED: 'The settings allow encrypted backups only. Run it with encryption.',
  REPOSITORY_LOCKED:
    'The repository is locked: another program works on it, or one was broken off less than five minutes ago. Wait a little, then run it again.',
  DESTINATION_ERROR:
    'The storage failed, or is not the one that was there before. Test the destination in the settings.',
  DESTINATION_UNREACHABLE:
    'The storage cannot be reached. Check that it is on, connected and mounted, and that the network works.',
  DESTINATION_AUTH_FAILED:
    'The storage does not accept the name, password or key. Put them right in the settings of the destination.',
  INSUFFICIENT_STORAGE: 'A disk is full. Make room at the destination or on this machine, then run it again.',
  JOB_INTERRUPTED:
    'It broke off three times without getting further. Read the log below, then run it again; often memory ran out.',
  HOOK_FAILED:
    'The command before the job failed: it was not begun, or what the command makes may be missing. Put the command right.',
  SECRET_UNAVAILABLE:
    'The secret of the destination is not where the settings say. Put it back, or name another place.',
  SECRET_UNSAFE:
    'Others can read or change the file with the secret of the destination, so it is not used. Make it yours alone (chmod 600).',
  STATE_NOT_PRIVATE: `Others can read or change files of the agent that hold keys, so they are not used. “${holdfast`doctor`}” says how to put that right.`,
  STATE_DAMAGED: `A file of the agent does not hold what it should. “${holdfast`doctor`}” says which one.`,
  DECRYPTION_FAILED:
    'What is stored cannot be opened with the key of the repository. Check the destination, and whether it is the right one.',
  CORRUPT_DATA:
    'What is stored is damaged. Check all data, test the disk, and back up again: that stores anew what is missing.',
  WRONG_PASSPHRASE:
    'The passphrase does not open the repository. Put the right one into the settings of the destination.',
  READ_ERROR: 'Something could not be read. Check the disk, and whether the agent may read it.',
  WRITE_ERROR:
    'Something could not be written. Check the disk, its free space, and whether the agent may write there.',
  SOURCE_SUSPICIOUSLY_EMPTY:
    'The source is empty, and was not at the last backup. If it is a disk or a share, mount it; if it is meant to be so, acknowledge the alarm.',

  // Why one file of a job was left out, or has a warning.
  EACCES: 'The agent may not read or write it. Give its user the permission, or leave it out by a rule.',
  EPERM:
    'The system does not allow it. On a Mac, give the agent Full Disk Access (System Settings, Privacy & Security). Elsewhere, run it with more rights, or leave this out by a rule.',
  ENOENT: 'It went away while the job ran. That is usual for temporary files; the next job looks again.',
  ENOTDIR: 'What should be a directory is none. Look at what stands at this place.',
  EISDIR: 'What should be a file is a directory. Look at what stands at this place.',
  EEXIST: 'Something of that name came meanwhile. Run it again.',
  ENOTEMPTY: 'A directory that is not empty has its place. Choose another target, or move it away.',
  ELOOP: 'Links lead in a circle, or stand where none may be followed. Look at where they lead.',
  ENAMETOOLONG: 'Its path is longer than the system takes. Choose a shorter one, or a target higher up.',
  EIO: 'The disk reports an error. Test it soon, and keep the snapshots there are.',
  ENXIO: 'The device behind it is not there. Connect it, or leave the file out by a rule.',
  ENODEV: 'The device behind it is not there. Connect it, or leave the file out by a rule.',
  EBUSY: 'Another program holds it. Close that program; the next job looks again.',
  ETXTBSY: 'A program runs from it, so it cannot be replaced. End that program, then restore again.',
  EROFS: 'The file system may only be read. Mount it for writing, or choose another target.',
  ENOSPC: 'The disk is full. Make room, then run it again.',
  EDQUOT: 'Your share of the disk is used up. Make room, then run it again.',
  EFBIG: 'The file is larger than the target takes. Choose a target with another file system.',
  EMFILE: 'Too many files are open. Run it again when less is going on.',
  EMLINK: 'The target allows no more names for one file. Choose a target with another file system.',
  EXDEV: 'Its names lie on different file systems. Restore to another target.',
  EINVAL: 'The system refuses it; its file system may not know names or properties of this kind.',
  ENOTSUP: 'The file system of the target does not know files of this kind.',
  EOPNOTSUPP: 'The file system of the target does not know files of this kind.',
  ESTALE: 'The network share has lost it. Mount the share again.',
  ETIMEDOUT: 'The network share did not answer in time. Check the connection.',
  CHANGED:
    'It was changed while it was read. The snapshot has what was read; the next backup takes it again.',
  TOO_DEEP: 'Its directories are nested too deeply. Move it further up.',
  IN_THE_WAY:
    'Something else is there, and the restore was not to replace it. Restore to another directory, or allow replacing.',
  SAME_NAME:
    'The target takes its name and that of another one beside it for the same. Restore it to a target with another file system.',
  IMPOSSIBLE_NAME: 'This system cannot have a file of that name. Restore it on the system it comes from.',
  LINK_FAILED:
    'It is another name of a file that could not be restored. Put right what is wrong with that one.',
  OTHER_FILE_SYSTEM: 'Another disk is mounted below it, so it was left alone. Unmount that first.',
  LIMIT_EXCEEDED: 'It has more parts than one file or directory may have. Please report this.',
  DIFFERENT: 'After the restore it was not what is in the snapshot. Check all data.',
  ERROR: 'Something that snapshots need is damaged. Back up again, and test the disk.',
  WARNING: 'Something is not as it should be, but no snapshot lacks anything for it.',
  'restore.CHANGED':
    'Something else changed it during the restore. Restore it once more when nothing writes there.',
  'restore.CORRUPT_DATA':
    'Its stored content is damaged. Try a snapshot from before, or one at another destination.',
  'restore.EACCES': 'The agent may not write there. Choose a target that is yours, or restore as root.',
  'restore.EPERM': 'The system does not allow it there. Choose another target, or restore as root.',
  'drill.ENOENT': 'It was not there after the restore. Check all data.',
  'drill.CORRUPT_DATA': 'Its stored content is damaged. Check all data, and back up again.',
} as Readonly<Partial<Record<string, string>>>;
