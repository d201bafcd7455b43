import type { Texts } from '../english/english.ts';

export const alarms: Texts['alarms'] = {
  title: 'Alarme',
  what: 'Etwas sieht nicht richtig aus. Holdfast behält alle älteren Stände der Quelle, bis Sie den Alarm bestätigen oder die Dateien zurück sind.',
  none: 'Kein Alarm ist offen. Sollte eine Quelle plötzlich leer oder nicht mehr lesbar sein, die meisten Dateien verlieren oder umgeschrieben werden, steht es hier.',
  kinds: {
    empty: {
      title: 'Leer',
      means:
        'Diese Quelle hatte Dateien und hat jetzt keine mehr. Meist ist eine Platte oder Freigabe nicht eingehängt. Es wird nicht gesichert, damit die guten Stände die neuesten bleiben.',
      todo: 'Hängen Sie die Platte oder Freigabe ein; die nächste Sicherung gelingt dann, und der Alarm endet von selbst. Soll die Quelle leer sein, bestätigen Sie den Alarm. Wurde sie mit Absicht gelöscht, entfernen Sie die Quelle.',
    },
    unreadable: {
      title: 'Nicht mehr lesbar',
      means:
        'Die letzte Sicherung konnte keine einzige Datei lesen, wo vorher Dateien waren. Meist haben sich ihr Besitzer oder ihre Rechte geändert. In diesem Stand ist keine von ihnen.',
      todo: 'Der Auftrag nennt, was nicht lesbar war. Sorgen Sie dafür, dass der Agent es lesen darf: Der Alarm endet dann mit der nächsten Sicherung.',
    },
    left_out: {
      title: 'Durch Regeln weggelassen',
      means:
        'Die Ausschlussregeln lassen alles weg, wo vorher Dateien gesichert wurden. Oft hat ein Programm eine Datei in den Ordner gelegt, die ihn als Zwischenspeicher kennzeichnet oder als nicht zu sichern.',
      todo: 'Der Auftrag sagt, welche Regel es ist. Entfernen Sie diese Datei, oder nehmen Sie die Regel zurück: Der Alarm endet dann mit der nächsten Sicherung. War es Absicht, entfernen Sie die Quelle.',
    },
    shrunk: {
      title: 'Die meisten Dateien sind fort',
      means:
        'Mehr als die Hälfte der Dateien der Quelle oder eines ihrer Ordner verschwand binnen einer Stunde. Das geschieht, wenn ein Ordner versehentlich verschoben oder gelöscht wird oder ein Teil der Quelle nicht eingehängt ist.',
      todo: 'Vergleichen Sie mit einem älteren Stand, und holen Sie zurück, was fehlt. Der Alarm endet dann mit der nächsten Sicherung. War es Absicht, bestätigen Sie ihn.',
    },
    rewritten: {
      title: 'Auf einen Schlag umgeschrieben',
      means:
        'Viele Dateien wurden binnen einer Stunde geändert, und ihr Inhalt sieht jetzt verschlüsselt aus oder ihr Name hat eine neue Endung. So handelt Erpressungssoftware; ebenso, wer absichtlich verschlüsselt oder packt.',
      todo: 'Öffnen Sie einige der Dateien. Sind sie nicht lesbar, trennen Sie den Rechner vom Netz, finden Sie heraus, was sie geschrieben hat, und holen Sie erst dann einen Stand von vorher zurück. Sind sie in Ordnung, bestätigen Sie den Alarm.',
    },
    burst: {
      title: 'Ungewöhnlich viele Änderungen',
      means:
        'Binnen einer Stunde kamen, änderten sich oder gingen weit mehr Dateien als je zuvor. Ein großes Update oder ein aufgeräumtes Archiv sieht so aus; ein Schaden auch.',
      todo: 'Vergleichen Sie mit einem Stand von vorher. Wissen Sie, woher die Änderungen kommen, bestätigen Sie den Alarm.',
    },
    claimed: {
      title: 'Im Namen eines anderen Rechners gespeichert',
      means:
        'Ein Nur-schreiben-Schlüssel hat eine Sicherung unter dem Namen eines Rechners gespeichert, für den auch andere speichern. Das kann, wer den Rechner dieses Schlüssels übernommen hat. Sie gilt nicht als Sicherung jenes Rechners, und nichts wird aus ihr zurückgeholt, wenn Sie sie nicht selbst wählen.',
      todo: 'Ist der Rechner zu diesem Schlüssel gewechselt, bestätigen Sie den Alarm: Für diesen Namen kommt er nicht wieder. Wenn nicht, entfernen Sie den Schlüssel, nehmen Sie ihm den Zugang zum Speicher, und sehen Sie an, was er gespeichert hat.',
    },
  },
  at: 'Bemerkt',
  facts: {
    folder: 'Ordner',
    files_before: 'Dateien vorher',
    files: 'Dateien jetzt',
    unread: 'Nicht lesbar',
    rewritten: 'Umgeschrieben',
    extension: 'Neue Endung der Namen',
    renamed: 'Dateien damit',
    touched: 'Gekommen, geändert oder gegangen',
    usual: 'Bisher höchstens',
    host: 'Name des Rechners',
    write_only_key: 'Nur-schreiben-Schlüssel',
    label: 'Bezeichnung',
  },
  filled: 'In der Quelle sind wieder Dateien.',
  todo: 'Was zu tun ist',
  details: 'Einzelheiten vom Agenten',
  stored: 'Was dieser Schlüssel unter dem Namen gespeichert hat',
  storedNone: 'Es ist nicht mehr da.',
  before: 'Ältere Stände',
  beforeHint: 'Der neueste zuerst. Vergleichen Sie, um den letzten ohne den Schaden zu finden.',
  beforeMarked: 'Der neueste zuerst. Der markierte ist der letzte von vor dem Schaden.',
  lastBefore: 'Letzter vor dem Schaden',
  beforeNone: 'Von vor dem Alarm ist kein Stand dieser Quelle bekannt.',
  time: 'Zeit',
  files: 'Dateien',
  size: 'Größe',
  actions: 'Aktionen',
  look: 'Ansehen',
  acknowledge: (count) => (count === 1 ? 'Bestätigen …' : `Alle ${count} bestätigen …`),
  acknowledgeQuestion:
    'Sie bestätigen, dass das so gewollt ist. Ältere Stände dürfen dann nach den Regeln der Aufbewahrung wieder entfernt werden.',
  acknowledgeEmpty:
    'Eine leere Quelle darf es bleiben: Ihre nächste Sicherung nimmt sie, wie sie ist, bis wieder Dateien darin sind.',
  acknowledgeDo: 'Das ist so gewollt',
  acknowledged: 'Bestätigt. Die Aufbewahrung geht weiter wie gewohnt.',
};
