/** Alle Texte der Seite auf Deutsch. */
import type { Texts } from './english.ts';

export const german: Texts = {
  common: {
    now: 'jetzt',
    never: 'nie',
    none: 'keine',
    optional: 'freiwillig',
    back: 'Zurück',
    cancel: 'Abbrechen',
    close: 'Schließen',
    save: 'Speichern',
    next: 'Weiter',
    done: 'Fertig',
    copy: 'Kopieren',
    copied: 'Kopiert',
    retry: 'Nochmals versuchen',
    loading: 'Wird geladen …',
    details: 'Einzelheiten',
    default: 'Standard',
    yes: 'Ja',
    no: 'Nein',
    commandLine: 'Dasselbe auf der Kommandozeile',
    file: 'Datei',
    files: (count, shown) => (count === 1 ? 'eine Datei' : `${shown} Dateien`),
  },
  app: {
    skip: 'Zum Inhalt springen',
    navigation: 'Seiten',
    overview: 'Überblick',
    restore: 'Wiederherstellen',
    jobs: 'Aufträge',
    alarms: 'Alarme',
    settings: 'Einstellungen',
    signOut: 'Abmelden',
    language: 'Sprache',
    api: 'Desktop-API',
    closedTitle: 'Diese Seite ist nicht angemeldet',
    closedHow: 'Öffnen Sie sie auf der Kommandozeile, als der Benutzer, der sichert:',
    closedOnce: 'Die Adresse, die dabei erscheint, gilt einmal und eine Minute lang.',
    offline:
      'Der Agent antwortet nicht. Vielleicht ist er angehalten oder startet gerade; diese Seite versucht es von selbst wieder.',
    noSuchPage: 'Diese Seite gibt es nicht',
    toOverview: 'Zum Überblick',
    alarmsOpen: (count) =>
      count === 1 ? 'Eine Quelle sieht beschädigt aus.' : `${count} Alarme: Quellen sehen beschädigt aus.`,
    alarmsLook: 'Ansehen',
    kitUnsaved:
      'Das Notfallblatt liegt nur auf diesem Rechner. Ohne es kann niemand die Sicherungen lesen, wenn der Rechner verloren ist.',
    kitSave: 'Jetzt aufbewahren',
    paused: (until) =>
      until === null ? 'Sicherungen ruhen, bis Sie sie fortsetzen.' : `Sicherungen ruhen bis ${until}.`,
    resume: 'Fortsetzen',
  },
  firstRun: {
    title: 'Diesen Rechner sichern',
  },
  overview: {
    title: 'Überblick',
  },
  restore: {
    title: 'Wiederherstellen',
  },
  jobs: {
    title: 'Aufträge',
  },
  alarms: {
    title: 'Alarme',
  },
  settings: {
    title: 'Einstellungen',
    pages: {
      overview: 'Überblick',
      sources: 'Quellen und Ausnahmen',
      destinations: 'Ziele',
      schedule: 'Zeitplan und Aufbewahrung',
      encryption: 'Verschlüsselung',
      performance: 'Leistung',
      notifications: 'Benachrichtigungen',
      access: 'API-Zugang',
      account: 'Konto und Tarif',
      advanced: 'Erweitert',
    },
  },
  problems: {
    OFFLINE: 'Der Agent antwortet nicht.',
    INTERNAL_ERROR: 'Im Agenten ist etwas schiefgegangen. Sein Protokoll hat die Einzelheiten.',
    RATE_LIMIT_EXCEEDED:
      'Das wurde zu oft verlangt. Warten Sie eine Minute, und versuchen Sie es noch einmal.',
    REVISION_MISMATCH:
      'Die Einstellungen wurden inzwischen anderswo geändert. Laden Sie die Seite neu, und ändern Sie noch einmal.',
    CONFIG_INVALID: 'Die Konfigurationsdatei hat einen Fehler, der erst auf dem Rechner behoben werden muss.',
  },
};
