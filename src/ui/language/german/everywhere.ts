import type { Texts } from '../english/english.ts';

export const common: Texts['common'] = {
  now: 'jetzt',
  never: 'nie',
  none: 'keine',
  colon: ':',
  optional: 'optional',
  back: 'Zurück',
  cancel: 'Abbrechen',
  close: 'Schließen',
  save: 'Speichern',
  next: 'Weiter',
  copy: 'Kopieren',
  copied: 'Kopiert',
  notCopied: 'Das Kopieren ging nicht. Markieren und kopieren Sie den Text selbst.',
  retry: 'Nochmals versuchen',
  loading: 'Wird geladen …',
  details: 'Details',
  default: 'Standardziel',
  yes: 'Ja',
  no: 'Nein',
  commandLine: 'Dasselbe auf der Kommandozeile',
  file: 'Datei',
  files: (count, shown) => (count === 1 ? 'eine Datei' : `${shown} Dateien`),
};

export const app: Texts['app'] = {
  skip: 'Zum Inhalt springen',
  navigation: 'Seiten',
  overview: 'Überblick',
  restore: 'Wiederherstellen',
  jobs: 'Aufträge',
  settings: 'Einstellungen',
  signOut: 'Abmelden',
  language: 'Sprache',
  otherVersion: (running, installed) =>
    `Version ${installed} ist installiert, aber noch läuft Version ${running}. Starten Sie den Agenten neu, um die neue zu verwenden; Aufträge gehen danach weiter.`,
  api: 'Desktop-API',
  closedTitle: 'Diese Seite ist nicht angemeldet',
  closedHow: 'Öffnen Sie sie auf der Kommandozeile, als der Benutzer, der sichert:',
  closedOnce: 'Die Adresse, die dabei erscheint, gilt einmal und eine Minute lang.',
  offline:
    'Der Agent antwortet nicht. Vielleicht ist er angehalten oder startet gerade. Diese Seite versucht es weiter.',
  noSuchPage: 'Diese Seite gibt es nicht',
  toOverview: 'Zum Überblick',
  alarmsOpen: (count) =>
    count === 1 ? 'Ein Alarm wartet auf eine Antwort.' : `${count} Alarme warten auf eine Antwort.`,
  alarmsLook: 'Ansehen',
  kitUnsaved:
    'Ihr Notfallblatt liegt nur auf diesem Rechner. Geht der Rechner verloren, kann ohne das Blatt niemand Ihre Sicherungen lesen.',
  kitUnsavedPartly: 'Ihr Notfallblatt liegt nur auf diesem Rechner. Bewahren Sie es anderswo auf.',
  notByKit:
    'Es öffnet nicht: {}. Bewahren Sie auch auf, was die Sicherungen dort öffnet: das Notfallblatt des Rechners, der sie gemacht hat, oder die Passphrase, die Sie dafür gewählt haben.',
  kitSave: 'Jetzt aufbewahren',
  paused: (until) =>
    until === null ? 'Sicherungen ruhen, bis Sie sie fortsetzen.' : `Sicherungen ruhen bis ${until}.`,
  resume: 'Fortsetzen',
};
