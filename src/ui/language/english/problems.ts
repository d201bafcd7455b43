import { holdfast } from '../../agent/program.ts';

export const problems = {
  OFFLINE: 'The agent is not answering.',
  INTERNAL_ERROR: 'Something went wrong inside Holdfast. The agent log has the details.',
  RATE_LIMIT_EXCEEDED: 'Too many requests. Wait a minute, then try again.',
  REVISION_MISMATCH:
    'The settings have been changed elsewhere in the meantime. Reload, and make your change again.',
  CONFIG_INVALID: 'The configuration file has a mistake. Correct it on the computer itself first.',

  // Why a job failed.
  INVALID_SOURCE:
    'The source cannot be backed up. Check that it exists and that Holdfast has permission to read it.',
  'INVALID_SOURCE.unsupported_type':
    'This is a pipe or a device, and holds nothing to back up. Choose a folder or a file.',
  'INVALID_SOURCE.inside_repository':
    'Backups are stored in this folder, so it is not backed up. Choose another.',
  'INVALID_SOURCE.inside_state_directory':
    'Holdfast keeps its own state in this folder, so it is not backed up. Choose another.',
  'INVALID_SOURCE.not_answering':
    'The server or disk of the source does not answer. Check that it is running, or unmount it.',
  'INVALID_SOURCE.not_readable':
    'Holdfast does not have permission to read the source. Give it permission, or choose another.',
  'INVALID_SOURCE.not_found': 'The source is not there. Check the path, and mount its disk if it is on one.',
  INVALID_DESTINATION: 'The destination is unknown or cannot be used. Check it in the settings.',
  INVALID_TARGET: 'Nothing can be restored there. Choose another folder.',
  SECRET_IN_URL: 'An address contains a password. Move it into the settings of the destination.',
  UNSUPPORTED_COMPRESSION: 'Holdfast does not know this compression. Choose zstd, auto or none.',
  SNAPSHOT_NOT_FOUND: 'This snapshot no longer exists. Choose another one.',
  PATH_NOT_IN_SNAPSHOT:
    'This snapshot does not have that file or folder. Search for it by name to see which snapshots do.',
  QUOTA_EXCEEDED: 'Your plan has no room left for this.',
  ENCRYPTION_REQUIRED: 'The settings allow only encrypted backups. Run it again with encryption.',
  REPOSITORY_LOCKED:
    'The repository is locked: another program is using it, or one was interrupted less than five minutes ago. Wait a few minutes, then run it again.',
  DESTINATION_ERROR:
    'The destination cannot be used as it is. Open the job to see why, or test the destination in the settings.',
  'DESTINATION_ERROR.missing':
    'The repository is not there any more. Connect or mount the disk. If it was deleted, add another folder as a destination.',
  'DESTINATION_ERROR.empty':
    'The folder of the destination is empty. If it is a disk, mount it. If the backups were deleted, add another folder as a destination.',
  'DESTINATION_ERROR.different':
    'The destination holds a different repository than before. Plug in the right disk, or find out who replaced it.',
  'DESTINATION_ERROR.foreign':
    'Files of another program are in the folder of the destination. Move them away, or choose an empty folder, such as a new one below it.',
  'DESTINATION_ERROR.EROFS':
    'The destination is read-only. Mount it for writing. If nobody made it read-only, the disk may be failing.',
  'DESTINATION_ERROR.EACCES':
    'Holdfast does not have permission to write to the destination. Check who owns the folder, and its permissions.',
  DESTINATION_UNREACHABLE:
    'The storage cannot be reached. Check that it is switched on, connected and mounted, and that the network works.',
  DESTINATION_AUTH_FAILED:
    'The storage rejected the name, password or key. Correct them in the settings of the destination.',
  INSUFFICIENT_STORAGE:
    'A disk is full. Free up space at the destination or on this computer, then run it again.',
  JOB_INTERRUPTED:
    'The job stopped three times without making progress, often because memory ran out. Read its log, then run it again.',
  HOOK_FAILED:
    'A command that runs before or after the job failed. The backup may lack what it produces, or what it starts again may still be stopped. Fix the command.',
  'failed.HOOK_FAILED':
    'The command that runs before the job failed, so the job did not start. The log has what it printed. Fix the command.',
  SECRET_UNAVAILABLE:
    'The secret for the destination is not where the settings say. Put it back, or correct the settings.',
  SECRET_UNSAFE:
    'Other users can read or change the file that holds the secret for the destination, so Holdfast does not use it. Make it private (chmod 600).',
  STATE_NOT_PRIVATE: `Other users can read or change Holdfast files that contain keys, so Holdfast does not use them. “${holdfast`doctor`}” tells you how to fix this.`,
  STATE_DAMAGED: `One of Holdfast’s own files is damaged. “${holdfast`doctor`}” tells you which one.`,
  DECRYPTION_FAILED:
    'The stored data cannot be decrypted with the key of this repository. Check that this is the right destination.',
  CORRUPT_DATA:
    'Stored data is damaged. Check all data and test the disk. Then back up again, which stores what is missing.',
  WRONG_PASSPHRASE:
    'The passphrase does not open the repository. Enter the right one in the settings of the destination.',
  READ_ERROR: 'Something could not be read. Check the disk, and whether Holdfast has permission to read it.',
  WRITE_ERROR:
    'Something could not be written. Check the disk, its free space, and whether Holdfast has permission to write there.',
  SOURCE_SUSPICIOUSLY_EMPTY:
    'The source is empty, but had files at the last backup. If it is a disk or share, mount it. If it is meant to be empty, acknowledge the alarm.',
  'SOURCE_SUSPICIOUSLY_EMPTY.gone':
    'The source is gone, but had files at the last backup. If it is a disk or share, mount it. If it was deleted, restore it, or remove the source.',

  // Why one file of a job was left out, or has a warning.
  EACCES:
    'Holdfast does not have permission for this file. Give it permission, or add a rule to leave the file out.',
  EPERM:
    'The system does not allow it. On a Mac, give Holdfast Full Disk Access (System Settings, Privacy & Security). Elsewhere, run it with more rights, or add a rule to leave this out.',
  ENOENT:
    'It disappeared while the job was running. That is normal for temporary files. The next job looks again.',
  ENOTDIR: 'This should be a folder, but is not. Check what is there now.',
  EISDIR: 'This should be a file, but is a folder. Check what is there now.',
  EEXIST: 'Something with this name appeared in the meantime. Run it again.',
  ENOTEMPTY: 'A folder that is not empty is in the way. Choose another target, or move the folder.',
  ELOOP: 'Links go in a circle, or are in a place where links are not followed. Check where they lead.',
  ENAMETOOLONG: 'The path is too long for this system. Choose a shorter one, or a target higher up.',
  EIO: 'The disk reports an error. Test it soon, and keep the snapshots you have.',
  ENXIO: 'The device for this file is not connected. Connect it, or add a rule to leave the file out.',
  ENODEV: 'The device for this file is not connected. Connect it, or add a rule to leave the file out.',
  EBUSY: 'Another program is using it. Close that program. The next job tries again.',
  ETXTBSY: 'This program is running, so it cannot be replaced. Close it, then restore again.',
  EROFS: 'The file system is read-only. Mount it for writing, or choose another target.',
  ENOSPC: 'The disk is full. Free up space, then run it again.',
  EDQUOT: 'Your disk quota is used up. Free up space, then run it again.',
  EFBIG: 'The file is too large for the target. Choose a target with another file system.',
  EMFILE: 'Too many files are open. Run it again when the computer is less busy.',
  EMLINK: 'The target does not allow any more names for one file. Choose a target with another file system.',
  EXDEV: 'The names of this file are on different file systems. Restore to another target.',
  EINVAL: 'The system refused it. Its file system may not support names or properties like these.',
  ENOTSUP: 'The file system of the target does not support files of this kind.',
  EOPNOTSUPP: 'The file system of the target does not support files of this kind.',
  ESTALE: 'The network share no longer knows this file. Mount the share again.',
  ETIMEDOUT: 'The network share did not answer in time. Check the connection.',
  CHANGED:
    'It changed while Holdfast was reading it. The snapshot has what was read, and the next backup saves it again.',
  TOO_DEEP: 'It is nested in too many folders. Move it further up.',
  IN_THE_WAY:
    'Something else is there, and you did not allow replacing it. Restore to another folder, or allow replacing.',
  SAME_NAME:
    'The target cannot tell its name from that of another file next to it. Restore it to a target with another file system.',
  IMPOSSIBLE_NAME: 'This system does not allow that file name. Restore the file on the system it came from.',
  LINK_FAILED: 'This is another name for a file that could not be restored. Fix the problem with that file.',
  OTHER_FILE_SYSTEM: 'Another disk is mounted inside it, so Holdfast left it alone. Unmount that disk first.',
  LIMIT_EXCEEDED: 'It has more parts than Holdfast allows for one file or folder. Please report this.',
  DIFFERENT: 'The restored file does not match the snapshot. Check all data.',
  ERROR: 'Something that snapshots need is damaged. Back up again, and test the disk.',
  WARNING: 'Something is not right, but no snapshot is missing anything because of it.',
  'restore.CHANGED':
    'Another program changed it during the restore. Restore it again when nothing is writing there.',
  'restore.CORRUPT_DATA':
    'The stored copy is damaged. Try an earlier snapshot, or one at another destination.',
  'restore.EACCES':
    'Holdfast does not have permission to write there. Choose a target that belongs to you, or restore as root.',
  'restore.EPERM': 'The system does not allow it there. Choose another target, or restore as root.',
  'drill.ENOENT': 'It was missing after the restore. Check all data.',
  'drill.CORRUPT_DATA': 'The stored copy is damaged. Check all data, and back up again.',
} as Readonly<Partial<Record<string, string>>>;
