import type { Texts } from '../english/english.ts';

export const notifications: Texts['notifications'] = {
  about: 'Wer von Fehlern, Alarmen und ausgebliebenen Sicherungen erfährt.',
  whenTitle: 'Wenn nichts geschieht',
  whenAbout:
    'Stille ist kein gutes Zeichen: nach so vielen Tagen ohne gute Sicherung einer Quelle wird jemand benachrichtigt.',
  channels: {
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
  tokenHint: 'Nur für Themen, die eines brauchen.',
  portHint: '465 für TLS von Anfang an, sonst STARTTLS.',
  userHint: 'Leer: Senden ohne Anmeldung.',
  toHint: 'Einer in jeder Zeile.',
  secretHint: 'Damit erkennt der Empfänger, dass ein Aufruf von hier ist.',
  test: 'Test senden',
  testing: 'Wird gesendet …',
  saveAndTest: 'Speichern, dann Test senden',
  savedOnly: 'Ein Test verwendet, was gespeichert ist.',
  sent: 'Gesendet. Sehen Sie nach, ob er angekommen ist.',
  notSent: 'Er konnte nicht gesendet werden.',
};
