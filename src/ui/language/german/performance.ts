import type { Texts } from '../english/english.ts';

export const performance: Texts['performance'] = {
  about: 'Wie viel vom Rechner und vom Netz Sicherungen brauchen dürfen, und wann sie sich zurückhalten.',
  bandwidthTitle: 'Sendegrenze',
  bandwidthAbout: 'Jede Grenze gilt ab ihrer Uhrzeit bis zur nächsten, auch über Mitternacht.',
  nowUnlimited: 'Jetzt keine Sendegrenze',
  nowLimited: (bytes) => `Sendegrenze jetzt: ${bytes}/s`,
  dayLabel: 'Der Tag',
  noLimit: 'keine Grenze',
  perSecond: (size) => `${size}/s`,
  limitHint: 'Wie 2 MiB. Leer: keine Grenze.',
  addRule: 'Grenze hinzufügen',
  ruleFrom: (time) => `Ab ${time}`,
  removeRule: 'Entfernen',
  connections:
    'Wie viele Dateien zugleich gelesen und gesendet werden, entscheidet der Agent nach dem Rechner. Nur für Server über SFTP ist die Zahl der Verbindungen einstellbar:',
  conditionsTitle: 'Wann Sicherungen warten',
  conditionsAbout:
    'Gilt für geplante Aufträge und beobachtete Quellen. Was Sie selbst starten, läuft sofort.',
  wait: 'Warten',
  run: 'Trotzdem sichern',
  quietHint: 'In dieser Zeit beginnt nichts von selbst.',
  quietFrom: 'Von',
  quietTo: 'Bis',
  compressionTitle: 'Kompression',
  compressionAbout: 'Mehr Kompression braucht mehr Rechenzeit und weniger Platz und Netz.',
  compressions: {
    zstd: 'Ausgewogen (zstd)',
    'zstd:1': 'Schnell (zstd:1)',
    'zstd:9': 'Klein (zstd:9)',
    'zstd:19': 'Am kleinsten, langsam (zstd:19)',
    auto: 'Nur wo es hilft (auto)',
    none: 'Keine',
  },
};
