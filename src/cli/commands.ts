/** Every command with its one-line purpose and its module, which is loaded only when it is needed. */
import type { Command } from 'commander';
import type { Context } from './command/context.ts';

/** What the module of a command exports. */
export interface CommandModule {
  /** Adds arguments, options, texts and the action. */
  define(command: Command, context: Context): void;
}

export interface CommandEntry {
  readonly name: string;
  /** One line, without full stop. */
  readonly purpose: string;
  /** Other names of the same command. */
  readonly aliases?: readonly string[];
  load(): Promise<CommandModule>;
}

export interface Topic {
  readonly title: string;
  readonly commands: readonly CommandEntry[];
}

export const TOPICS: readonly Topic[] = [
  {
    title: 'Back up',
    commands: [
      {
        name: 'start',
        purpose: 'Run the agent: back up, watch, schedule and serve the Desktop API',
        load: async () => await import('./start/start.ts'),
      },
      {
        name: 'init',
        purpose: 'Create a repository to keep backups in',
        load: async () => await import('./upkeep/init.ts'),
      },
      {
        name: 'backup',
        purpose: 'Back up files and directories as a new snapshot',
        load: async () => await import('./backup/backup.ts'),
      },
      {
        name: 'explain',
        purpose: 'Explain whether a path is backed up, and which rule decides',
        load: async () => await import('./backup/explain.ts'),
      },
    ],
  },
  {
    title: 'The running agent',
    commands: [
      {
        name: 'status',
        purpose: 'Show whether you are protected, and what the agent is doing',
        load: async () => await import('./agent/status.ts'),
      },
      {
        name: 'ui',
        purpose: 'Open your backups in the browser',
        load: async () => await import('./agent/ui.ts'),
      },
      {
        name: 'jobs',
        purpose: 'List past, running and waiting jobs',
        load: async () => await import('./agent/jobs.ts'),
      },
      {
        name: 'cancel',
        purpose: 'Cancel a job',
        load: async () => await import('./agent/cancel.ts'),
      },
      {
        name: 'pause',
        purpose: 'Pause all jobs for a while',
        load: async () => await import('./agent/pause.ts'),
      },
      {
        name: 'resume',
        purpose: 'End a pause',
        load: async () => await import('./agent/resume.ts'),
      },
      {
        name: 'alarms',
        purpose: 'Show alarms about sources that look damaged, or acknowledge them',
        load: async () => await import('./agent/alarms.ts'),
      },
      {
        name: 'logs',
        purpose: 'Show the log of the agent',
        load: async () => await import('./agent/logs.ts'),
      },
      {
        name: 'sources',
        purpose: 'List, add and remove what the agent backs up',
        load: async () => await import('./settings/sources.ts'),
      },
      {
        name: 'destinations',
        purpose: 'List, test, add and remove places to keep backups',
        load: async () => await import('./settings/destinations.ts'),
      },
      {
        name: 'credentials',
        purpose: 'Manage the API keys of the Desktop API',
        load: async () => await import('./agent/credentials.ts'),
      },
    ],
  },
  {
    title: 'Restore and browse',
    commands: [
      {
        name: 'restore',
        purpose: 'Bring files back from a snapshot',
        load: async () => await import('./snapshots/restore.ts'),
      },
      {
        name: 'snapshots',
        purpose: 'List the snapshots',
        load: async () => await import('./snapshots/snapshots.ts'),
      },
      {
        name: 'ls',
        purpose: 'List what is in a snapshot',
        load: async () => await import('./snapshots/ls.ts'),
      },
      {
        name: 'find',
        purpose: 'Find files by name in all snapshots',
        load: async () => await import('./snapshots/find.ts'),
      },
      {
        name: 'versions',
        purpose: 'Show the versions of a file or directory',
        load: async () => await import('./snapshots/versions.ts'),
      },
      {
        name: 'diff',
        purpose: 'Compare two snapshots',
        load: async () => await import('./snapshots/diff.ts'),
      },
      {
        name: 'webdav',
        purpose: 'Open the snapshots as a folder in a file manager',
        load: async () => await import('./agent/webdav.ts'),
      },
      {
        name: 'cat',
        aliases: ['dump'],
        purpose: 'Print a file from a snapshot to standard output',
        load: async () => await import('./snapshots/cat.ts'),
      },
      {
        name: 'tar',
        purpose: 'Write files from a snapshot to standard output as a tar archive',
        load: async () => await import('./snapshots/tar.ts'),
      },
    ],
  },
  {
    title: 'Maintain',
    commands: [
      {
        name: 'forget',
        purpose: 'Remove old snapshots, by rules or by id',
        load: async () => await import('./upkeep/forget.ts'),
      },
      {
        name: 'prune',
        purpose: 'Free the space of removed snapshots',
        load: async () => await import('./upkeep/prune.ts'),
      },
      {
        name: 'copy',
        purpose: 'Copy snapshots from another repository',
        load: async () => await import('./upkeep/copy.ts'),
      },
      {
        name: 'tag',
        purpose: 'Change the tags of snapshots, or pin them',
        load: async () => await import('./upkeep/tag.ts'),
      },
    ],
  },
  {
    title: 'Verify and recover',
    commands: [
      {
        name: 'check',
        purpose: 'Check that the repository is intact',
        load: async () => await import('./upkeep/check.ts'),
      },
      {
        name: 'recover',
        purpose: 'Rebuild the indexes of a damaged repository',
        load: async () => await import('./upkeep/recover.ts'),
      },
      {
        name: 'keys',
        purpose: 'Manage passphrases, recovery codes and encryption keys',
        load: async () => await import('./keys/keys.ts'),
      },
    ],
  },
  {
    title: 'Set up',
    commands: [
      {
        name: 'config',
        purpose: 'Show, change and check the configuration of the agent',
        load: async () => await import('./settings/config.ts'),
      },
      {
        name: 'service',
        purpose: 'Run the agent as a service that starts with the machine',
        load: async () => await import('./install/installation.ts'),
      },
      {
        name: 'enroll',
        purpose: 'Let a partner look after this machine’s backups',
        load: async () => await import('./agent/enroll.ts'),
      },
      {
        name: 'partner',
        purpose: 'Run the Partner service, for providers who look after other people’s backups',
        load: async () => await import('./partner.ts'),
      },
      {
        name: 'doctor',
        purpose: 'Find out what is wrong, and what to do about it',
        load: async () => await import('./doctor/doctor.ts'),
      },
      {
        name: 'completion',
        purpose: 'Print the completion script for a shell',
        load: async () => await import('./completion.ts'),
      },
    ],
  },
];

export function findCommand(name: string): CommandEntry | undefined {
  return TOPICS.flatMap((topic) => topic.commands).find(
    (command) => command.name === name || command.aliases?.includes(name) === true,
  );
}
