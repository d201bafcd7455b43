import type { Texts } from '../english/english.ts';

export const sources: Texts['sources'] = {
  about: 'Was gesichert wird, wie oft, und was davon ausgenommen ist.',
  none: 'Noch wird nichts gesichert.',
  state: 'Letzte gute Sicherung',
  neverBackedUp: 'Noch keine',
  backedUp: (age) => age,
  watched: 'binnen Minuten nach einer Änderung',
  polled: 'sieht nach Änderungen',
  removeQuestion: 'Sie wird nicht mehr gesichert. Ihre Stände bleiben und können wiederhergestellt werden.',
  removeYes: 'Nicht mehr sichern',
  addTitle: 'Quelle hinzufügen',
  pathHint: 'Wie /home/ich/Bilder oder ~/Bilder.',
  isThere: 'Das ist schon eine Quelle.',
  choose: 'Auswählen …',
  chooseTitle: 'Was soll gesichert werden?',
  whereTo: 'Ziel',
  defaultDestination: 'Das Standardziel',
  severalHint: 'Sie wird einmal gelesen und in jedem Ziel gespeichert, sobald es bereit ist.',
  when: 'Wann',
  watchHint: 'Braucht keinen Zeitplan: was sich ändert, wird bald danach gesichert.',
  pollHint: 'Für Netzlaufwerke, die keine Änderungen melden.',
  leftOut: 'Was ausgenommen ist',
  patternsHint:
    'Eine in jeder Zeile, wie in .gitignore: *.tmp, build/, /cache/, und !keep.tmp nimmt wieder auf. Eine eigene Liste ersetzt die voreingestellte.',
  ignoreFilesHint: 'Jede Zeile darin ist eine Regel für den Ordner, in dem die Datei liegt.',
  acceptHint:
    'Ganze Pfade, einer in jeder Zeile. Jede Sicherung versucht, sie zu lesen, und warnt nicht, wenn es misslingt.',
  ifPresentHint: 'Ordner mit einer solchen Datei werden ausgelassen.',
  largerHint: 'Wie 4 GiB oder 500M. Leer: keine Grenze.',
  cachesHint: 'Ordner, die Programme mit einer Datei CACHEDIR.TAG kennzeichnen.',
  oneFileSystemHint: 'Andere Platten, die darin eingebunden sind, werden ausgelassen.',
  stored: 'Wie gespeichert wird',
  tagsHint: 'Wörter, die ihre Stände kennzeichnen, eines in jeder Zeile.',
  encryptionRequired: 'Die Einstellungen lehnen Sicherungen ohne Verschlüsselung ab.',
  deduplicationHint: 'Was andere Stände schon haben, wird nicht noch einmal gespeichert.',
  hooks: 'Befehle davor und danach',
  hooksAbout:
    'Befehle laufen mit den Rechten des Agenten; deshalb kann die Seite sie nicht ändern. Führen Sie dazu dies auf dem Rechner selbst aus:',
  hookExample: { before: 'pg_dump shop > ~/shop.sql', after: 'rm -f ~/shop.sql' },
  count: 'Dateien und Größe zählen',
  countAgain: 'Nochmals zählen',
  counting: 'Wird gezählt …',
  outdated: 'Die Regeln wurden seither geändert. Zählen Sie nochmals, um zu sehen, was sie bewirken.',
  estimated: (files, bytes, isComplete) =>
    isComplete ? `${files}, ${bytes}.` : `Mindestens ${files}, ${bytes}: das Zählen dauerte zu lange.`,
  excludedCount: (count, shown) =>
    count === 0
      ? 'Nichts ist ausgenommen.'
      : count === 1
        ? 'Eine ist ausgenommen.'
        : `${shown} sind ausgenommen.`,
  unreadable: (count, shown) => (count === 1 ? 'Eine ist nicht lesbar.' : `${shown} sind nicht lesbar.`),
  excludedTitle: 'Was ausgenommen ist, und warum',
  largestTitle: 'Die größten Ordner',
  path: 'Pfad',
  why: 'Warum',
  reasons: {
    pattern: 'Regel',
    ignore_file: 'Regel in der Quelle',
    cache: 'als Zwischenspeicher gekennzeichnet',
    if_present: 'kennzeichnende Datei',
    larger_than: 'größer als',
    other_file_system: 'anderes Dateisystem',
    never: 'wird nie gesichert',
  },
};
