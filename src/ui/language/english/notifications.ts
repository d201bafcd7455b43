export const notifications = {
  about: 'Who is told of failures, alarms, and backups that did not happen.',
  whenTitle: 'When nothing happens',
  whenAbout:
    'Silence is no good sign: after so many days without a good backup of a source, a notice is sent.',
  channels: {
    ntfy: {
      title: 'ntfy',
      about: 'To your phone, by ntfy.sh or a server of your own.',
      use: 'Send notices by ntfy',
    },
    healthchecks: {
      title: 'healthchecks',
      about: 'Another service notices when this machine falls silent: healthchecks.io or one of its kind.',
      use: 'Ping at the start and end of each backup, and when something else fails',
    },
    email: { title: 'E-mail', about: 'By your mail server.', use: 'Send notices by e-mail' },
    webhook: {
      title: 'Webhook',
      about: 'Calls a URL with each notice, as JSON, signed where a secret is set.',
      use: 'Call a URL',
    },
  },
  tokenHint: 'Only for topics that need one.',
  portHint: '465: TLS from the start, else STARTTLS.',
  userHint: 'Empty: no sign-in.',
  toHint: 'One on each line.',
  secretHint: 'By it the receiver can tell that a call is from here.',
  test: 'Send a test',
  testing: 'Sending…',
  saveAndTest: 'Save, then send a test',
  savedOnly: 'A test uses what is saved.',
  sent: 'Sent. Look whether it has arrived.',
  notSent: 'It could not be sent.',
};
