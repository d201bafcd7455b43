import { holdfast } from '../../agent/program.ts';
export const account = {
  plan: 'Plan',
  planName: 'Plan',
  plans: { free_trial: 'Free trial', pro: 'Pro', business: 'Business' } as Readonly<
    Partial<Record<string, string>>
  >,
  planLimit: 'Request limit',
  perSpan: (count: string, span: string) => `${count} requests in ${span}`,
  limitNote: 'Backups are not limited. You manage API keys under',
  partner: 'Partner service',
  partnerWhat:
    'A partner can look after the backups of this computer for you: see whether they work, and request one. They cannot read, restore or delete anything.',
  enroll: 'Enroll this computer…',
  service: 'Service address',
  token: 'Token',
  tokenHint: 'From your partner. It works once, and only for a short time.',
  deviceName: 'Name of this computer',
  deviceNameHint: 'This is what your partner sees. Leave empty to use the host name.',
  missing: 'You get this from your partner.',
  enrollDo: 'Enroll',
  enrolling: 'Enrolling…',
  enrollFailed: 'This computer could not be enrolled.',
  enrollProblems: {
    address:
      'The address of the service must be a web address that begins with https://, without user name, password or query.',
    token:
      'The token is unknown, already used or expired. Ask your partner for a new one: each works once, for 15 minutes.',
    customer_suspended:
      'Your account with your partner is suspended. Ask them to resume it; the token can be used then, within its 15 minutes.',
    partner_suspended: 'Your partner’s account with the service is suspended. Ask your partner.',
    plan_full:
      'Your plan has no room for another device. Ask your partner for a larger plan, or to remove a device. The token can be used again.',
    unreachable:
      'The service cannot be reached. Check the address and the network, then try again. If the token is refused then, ask for a new one.',
    refused: 'The service refused the request. Check the address, or try again later.',
    reply_invalid: 'There is no Partner service at this address.',
  },
  standing: 'Status',
  standings: { active: 'Active', suspended: 'Suspended', trial_expired: 'Trial ended' },
  enrolledAt: 'Enrolled',
  lastReport: 'Last report',
  waiting: 'Reports waiting to be sent',
  planUntil: 'Plan valid until',
  graceUntil: 'Valid offline until',
  device: 'Device',
  customer: 'Customer',
  /** Why the service gets no reports. */
  reportProblems: {
    device_removed:
      'Your partner has removed this computer from their list, so it reports nothing to them. To end the enrollment here, too, leave the Partner service.',
    partner_suspended:
      'Your partner’s account with the service is suspended. Reports wait until it is active again.',
    unreachable: `The service cannot be reached. Reports wait until it can. This says why: ${holdfast`enroll --status`}`,
    refused: `The service does not accept reports. Holdfast keeps trying. This says why: ${holdfast`enroll --status`}`,
    reply_invalid: `The answers of the service make no sense. Holdfast keeps trying. This says more: ${holdfast`enroll --status`}`,
  },
  leave: 'Leave…',
  leaveQuestion:
    'Reports stop, reports that are waiting are discarded, and the plan from your settings applies. Your backups stay as they are. Your partner still sees this computer in the list until they remove it.',
  leaveDo: 'Leave the Partner service',
  learns: 'What your partner can see',
  learnsWhat: 'Nothing, unless you enroll this computer. Then:',
  learnsList: [
    'once: the name of the computer, its operating system and processor, and the version of Holdfast;',
    'for each backup and restore: its result, when it ran, how long it took, numbers of files and bytes, and an error code;',
    'how often a backup is expected, how much is stored, and random IDs of repositories and their newest snapshots.',
  ],
  learnsNot:
    'They never see paths, names of files, sources or destinations, error messages, passphrases or keys.',
};

export const access = {
  what: 'Your software uses the Desktop API with its own key and secret.',
  docs: 'Read the API documentation',
  credentials: 'Keys',
  noneYet: 'No program has access yet. Create a key for each program that needs it.',
  neverUsed: 'never used',
  used: (age: string) => `last used ${age}`,
  madeAt: (day: string) => `created on ${day}`,
  create: 'Create a key',
  createDo: 'Create',
  name: 'What it is for',
  nameHint: 'For example the name of the program. Create one key for each.',
  nameMissing: 'Enter what the key is for.',
  made: 'New credentials',
  madeFor: 'Credentials for',
  once: 'This secret is shown only once.',
  onceWhere: 'Copy it to where your program needs it. You cannot see it again after you leave this page.',
  key: 'Key',
  secret: 'Secret',
  tryIt: 'Try it',
  tryItWhat: 'Gets a token that works for an hour, and uses it to ask for the status.',
  kept: 'I have saved it',
  rotate: 'New secret…',
  rotateQuestion:
    'The current secret and all its tokens stop working at once. The program needs the new secret.',
  rotateDo: 'Create a new secret',
  revoke: 'Revoke…',
  revokeQuestion: 'The key and all its tokens stop working at once, for good.',
  revokeDo: 'Revoke the key',
  limit: 'Requests from programs',
  limitWhat:
    'Your plan limits how many requests programs can make. This page and the command line do not count.',
  limitUsed: (used: string, limit: string, span: string) => `${used} of ${limit} used in ${span}.`,
  limitFree: (age: string) => `The next one becomes available ${age}.`,
};

export const notifications = {
  about: 'Who hears about failures, alarms and missed backups.',
  whenTitle: 'When backups stop',
  whenAbout:
    'No news is not good news. You get a notification if a source has had no good backup for this many days.',
  quietTitle: 'Quiet hours',
  quietAbout:
    'For notifications that are not urgent: a backup that works again or lacks some files, a restore that is done. Failures and alarms are always sent at once.',
  quietHint: 'Applies to ntfy, e-mail and the desktop. What waits is sent together at the end.',
  held: (count: number, shown: string, until: string) =>
    count === 1
      ? `1 notification is held until ${until}.`
      : `${shown} notifications are held until ${until}.`,
  channels: {
    desktop: {
      title: 'Desktop',
      about: 'On the desktop of the person who runs Holdfast, even when this page is closed.',
      use: 'Show notifications on the desktop',
    },
    ntfy: {
      title: 'ntfy',
      about: 'To your phone, through ntfy.sh or your own server.',
      use: 'Send notifications through ntfy',
    },
    healthchecks: {
      title: 'healthchecks',
      about: 'Another service, such as healthchecks.io, notices when this computer goes silent.',
      use: 'Ping when a backup starts and ends, and when something else fails',
    },
    email: { title: 'E-mail', about: 'Through your mail server.', use: 'Send notifications by e-mail' },
    webhook: {
      title: 'Webhook',
      about: 'Calls a URL with each notification as JSON, signed if you set a secret.',
      use: 'Call a URL',
    },
  },
  /** Why the agent cannot show notifications on the desktop. */
  desktopStates: {
    service:
      'Holdfast runs here as a service of the computer, and has no desktop. Turn on notifications in this browser instead.',
    away: 'You are not logged in to a desktop right now. Notifications appear after your next login.',
    no_program:
      'Holdfast found no program that shows notifications on the desktop. Install notify-send, or turn on notifications in this browser instead.',
  },
  browser: {
    title: 'Browser',
    about:
      'While this page is open. You can install the page as an app from the menu of your browser: the app has its own window, and its icon shows when something is wrong.',
    use: 'Show notifications in this browser',
    hint: 'Applies at once, and only to this browser.',
    denied:
      'This browser blocks notifications of this page. Allow them in its settings for this page, then load the page again.',
    unsupported: 'This browser cannot show notifications of this page.',
    firstTitle: 'Notifications are on',
    firstBody: 'This browser tells you when something goes wrong, and when backups work again.',
    closed: 'Until you sign in again, this browser tells you nothing about your backups.',
  },
  tokenHint: 'Needed only for protected topics.',
  portHint: '465 for TLS from the start. Other ports use STARTTLS.',
  userHint: 'Leave empty to send without signing in.',
  toHint: 'One per line.',
  secretHint: 'Lets the receiver verify that a call comes from here.',
  test: 'Send a test',
  testing: 'Sending…',
  saveAndTest: 'Save, then send a test',
  savedOnly: 'Tests use the saved settings.',
  sent: 'Sent. Check that it has arrived.',
  notSent: 'The test could not be sent.',
};
