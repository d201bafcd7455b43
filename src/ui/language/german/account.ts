import { holdfast } from '../../agent/program.ts';
import type { Texts } from '../english/english.ts';

export const account: Texts['account'] = {
  plan: 'Tarif',
  planName: 'Tarif',
  plans: { free_trial: 'Kostenlose Probe', pro: 'Pro', business: 'Business' },
  planLimit: 'Grenze für Programme',
  perSpan: (count, span) => `${count} Anfragen in ${span}`,
  limitNote: 'Sicherungen sind nicht begrenzt. Die Schlüssel der Programme stehen auf der Seite',
  partner: 'Partnerdienst',
  partnerWhat:
    'Ein Partner kann sich für Sie um die Sicherungen dieses Rechners kümmern: sehen, ob sie gelingen, und eine anfordern. Lesen, wiederherstellen oder löschen kann er nichts.',
  enroll: 'Diesen Rechner anmelden …',
  service: 'Adresse des Dienstes',
  token: 'Token',
  tokenHint: 'Von Ihrem Partner. Es gilt einmal und kurze Zeit.',
  deviceName: 'Name dieses Rechners',
  deviceNameHint: 'Was Ihr Partner sieht. Ohne Angabe der Rechnername.',
  missing: 'Das bekommen Sie von Ihrem Partner.',
  enrollDo: 'Anmelden',
  enrolling: 'Wird angemeldet …',
  enrollFailed: 'Der Rechner konnte nicht angemeldet werden.',
  enrollProblems: {
    address:
      'Die Adresse des Dienstes muss eine Webadresse sein, die mit https:// beginnt, ohne Benutzername, Kennwort oder Anfrage.',
    token:
      'Das Token ist unbekannt, schon benutzt oder abgelaufen. Bitten Sie Ihren Partner um ein neues: Jedes gilt einmal, 15 Minuten lang.',
    customer_suspended:
      'Ihr Konto beim Partner ist gesperrt. Bitten Sie ihn, es freizugeben; das Token gilt dann noch, innerhalb seiner 15 Minuten.',
    partner_suspended: 'Das Konto Ihres Partners beim Dienst ist gesperrt. Fragen Sie Ihren Partner.',
    plan_full:
      'Ihr Tarif hat keinen Platz für ein weiteres Gerät. Bitten Sie Ihren Partner um einen größeren, oder darum, ein Gerät zu entfernen. Das Token gilt weiter.',
    unreachable:
      'Der Dienst ist nicht erreichbar. Prüfen Sie Adresse und Netz, und versuchen Sie es noch einmal. Gilt das Token dann nicht mehr, bitten Sie um ein neues.',
    refused: 'Der Dienst hat die Anfrage abgelehnt. Prüfen Sie die Adresse, oder versuchen Sie es später.',
    reply_invalid: 'An dieser Adresse ist kein Partnerdienst.',
  },
  standing: 'Zustand',
  standings: { active: 'Aktiv', suspended: 'Gesperrt', trial_expired: 'Probe ist vorbei' },
  enrolledAt: 'Angemeldet',
  lastReport: 'Letzter Bericht',
  waiting: 'Berichte, die noch warten',
  planUntil: 'Tarif gilt bis',
  graceUntil: 'Ohne den Dienst bis',
  device: 'Gerät',
  customer: 'Kunde',
  reportProblems: {
    device_removed:
      'Ihr Partner hat diesen Rechner aus seiner Liste entfernt; ihm wird nichts mehr berichtet. Um ihn auch hier abzumelden, melden Sie ihn vom Partnerdienst ab.',
    partner_suspended:
      'Das Konto Ihres Partners beim Dienst ist gesperrt. Berichte warten, bis es wieder aktiv ist.',
    unreachable: `Der Dienst ist nicht erreichbar. Berichte warten bis dahin. Warum, sagt: ${holdfast`enroll --status`}`,
    refused: `Der Dienst nimmt keine Berichte an. Es wird weiter versucht. Warum, sagt: ${holdfast`enroll --status`}`,
    reply_invalid: `Die Antworten des Dienstes ergeben keinen Sinn. Es wird weiter versucht. Mehr sagt: ${holdfast`enroll --status`}`,
  },
  leave: 'Abmelden …',
  leaveQuestion:
    'Nichts wird mehr berichtet, wartende Ergebnisse werden vergessen, und der Tarif der Einstellungen gilt. Ihre Sicherungen bleiben, wie sie sind. Ihr Partner führt den Rechner weiter, bis er ihn entfernt.',
  leaveDo: 'Vom Partnerdienst abmelden',
  learns: 'Was Ihr Partner erfährt',
  learnsWhat: 'Nichts, solange der Rechner nicht angemeldet ist. Danach:',
  learnsList: [
    'einmal: den Namen des Rechners, Betriebssystem und Prozessor, die Version von Holdfast;',
    'von jeder Sicherung und Wiederherstellung: wie sie ausging, wann, wie lange, Zahlen von Dateien und Bytes, den Code eines Fehlers;',
    'wie oft eine Sicherung erwartet wird, wie viel gespeichert ist, und zufällige Kennungen der Repositorys und ihrer neuesten Stände.',
  ],
  learnsNot:
    'Keinen Pfad, keinen Namen einer Datei, einer Quelle oder eines Ziels, keinen Text eines Fehlers, keine Passphrase und keinen Schlüssel.',
};

export const access: Texts['access'] = {
  what: 'Ihre Programme benutzen die Desktop-API mit eigenem Schlüssel und Geheimnis.',
  docs: 'Lesen, wie das geht',
  credentials: 'Schlüssel',
  noneYet: 'Kein Programm hat Zugang. Legen Sie für jedes, das ihn braucht, einen Schlüssel an.',
  neverUsed: 'nie benutzt',
  used: (age) => `zuletzt benutzt ${age}`,
  madeAt: (day) => `angelegt am ${day}`,
  create: 'Schlüssel anlegen',
  createDo: 'Anlegen',
  name: 'Wofür er ist',
  nameHint: 'Etwa der Name des Programms: für jedes einen.',
  nameMissing: 'Sagen Sie, wofür er ist.',
  made: 'Neue Zugangsdaten',
  madeFor: 'Zugangsdaten für',
  once: 'Dieses Geheimnis wird nur einmal gezeigt.',
  onceWhere:
    'Kopieren Sie es dorthin, wo das Programm es braucht. Wenn Sie diese Seite verlassen, ist es nicht mehr zu sehen.',
  key: 'Schlüssel',
  secret: 'Geheimnis',
  tryIt: 'Ausprobieren',
  tryItWhat: 'Holt ein Token, das eine Stunde gilt, und fragt damit den Zustand ab.',
  kept: 'Ich habe es aufbewahrt',
  rotate: 'Neues Geheimnis …',
  rotateQuestion:
    'Das jetzige Geheimnis und alle seine Token gelten sofort nicht mehr. Das Programm braucht das neue.',
  rotateDo: 'Neues Geheimnis geben',
  revoke: 'Widerrufen …',
  revokeQuestion: 'Der Schlüssel und alle seine Token gelten sofort und für immer nicht mehr.',
  revokeDo: 'Schlüssel widerrufen',
  limit: 'Anfragen von Programmen',
  limitWhat:
    'Der Tarif begrenzt, wie oft Programme fragen dürfen. Diese Seite und die Kommandozeile zählen nicht.',
  limitUsed: (used, limit, span) => `${used} von ${limit} verbraucht, gezählt über ${span}.`,
  limitFree: (age) => `Die nächste wird ${age} wieder frei.`,
};

export const notifications: Texts['notifications'] = {
  about: 'Wer von Fehlern, Alarmen und ausgebliebenen Sicherungen erfährt.',
  whenTitle: 'Wenn Sicherungen ausbleiben',
  whenAbout:
    'Keine Nachricht ist keine gute Nachricht. Sie werden benachrichtigt, wenn eine Quelle so viele Tage keine gute Sicherung hatte.',
  quietTitle: 'Ruhezeit',
  quietAbout:
    'Für Benachrichtigungen, die nicht eilen: Eine Sicherung gelingt wieder oder lässt Dateien aus, eine Wiederherstellung ist fertig. Fehler und Alarme werden immer sofort gesendet.',
  quietHint: 'Gilt für ntfy, E-Mail und den Desktop. Was wartet, wird am Ende zusammen gesendet.',
  held: (count, shown, until) =>
    count === 1
      ? `1 Benachrichtigung wartet bis ${until} Uhr.`
      : `${shown} Benachrichtigungen warten bis ${until} Uhr.`,
  channels: {
    desktop: {
      title: 'Desktop',
      about: 'Auf dem Desktop der Person, für die Holdfast läuft, auch wenn diese Seite geschlossen ist.',
      use: 'Benachrichtigungen auf dem Desktop zeigen',
    },
    ntfy: {
      title: 'ntfy',
      about: 'Auf Ihr Telefon, über ntfy.sh oder einen eigenen Server.',
      use: 'Über ntfy benachrichtigen',
    },
    healthchecks: {
      title: 'healthchecks',
      about:
        'Ein anderer Dienst bemerkt, wenn dieser Rechner verstummt: healthchecks.io oder einer seiner Art.',
      use: 'Anfang und Ende jeder Sicherung melden, und was sonst fehlschlägt',
    },
    email: { title: 'E-Mail', about: 'Über Ihren Mailserver.', use: 'Per E-Mail benachrichtigen' },
    webhook: {
      title: 'Webhook',
      about:
        'Ruft bei jeder Benachrichtigung eine Adresse auf, mit JSON, signiert, wo ein Geheimnis hinterlegt ist.',
      use: 'Eine Adresse aufrufen',
    },
  },
  desktopStates: {
    service:
      'Holdfast läuft hier als Dienst des Rechners und hat keinen Desktop. Schalten Sie die Benachrichtigungen stattdessen in diesem Browser ein.',
    away: 'Sie sind gerade an keinem Desktop angemeldet. Benachrichtigungen erscheinen nach der nächsten Anmeldung.',
    no_program:
      'Holdfast findet kein Programm, das auf dem Desktop benachrichtigt. Installieren Sie notify-send, oder schalten Sie die Benachrichtigungen in diesem Browser ein.',
  },
  browser: {
    title: 'Browser',
    about:
      'Solange diese Seite offen ist. Über das Menü des Browsers lässt sie sich als App installieren: Die hat ein eigenes Fenster, und ihr Symbol zeigt, wenn etwas nicht stimmt.',
    use: 'Benachrichtigungen in diesem Browser zeigen',
    hint: 'Gilt sofort und nur für diesen Browser.',
    denied:
      'Dieser Browser blockiert Benachrichtigungen dieser Seite. Erlauben Sie sie in seinen Einstellungen für diese Seite und laden Sie die Seite dann neu.',
    unsupported: 'Dieser Browser kann keine Benachrichtigungen dieser Seite zeigen.',
    firstTitle: 'Benachrichtigungen sind eingeschaltet',
    firstBody: 'Dieser Browser meldet, wenn etwas schiefgeht und wenn Sicherungen wieder gelingen.',
    closed: 'Bis Sie sich wieder anmelden, erfahren Sie von diesem Browser nichts über Ihre Sicherungen.',
  },
  tokenHint: 'Nur für Themen, die eines brauchen.',
  portHint: '465 für TLS von Anfang an, sonst STARTTLS.',
  userHint: 'Leer: Senden ohne Anmeldung.',
  toHint: 'Einer in jeder Zeile.',
  secretHint: 'Damit erkennt der Empfänger, dass ein Aufruf von hier ist.',
  test: 'Test senden',
  testing: 'Wird gesendet …',
  saveAndTest: 'Speichern, dann Test senden',
  savedOnly: 'Tests verwenden die gespeicherten Einstellungen.',
  sent: 'Gesendet. Sehen Sie nach, ob er angekommen ist.',
  notSent: 'Er konnte nicht gesendet werden.',
};
