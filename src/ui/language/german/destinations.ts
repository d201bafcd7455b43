import type { Texts } from '../english/english.ts';

export const destinations: Texts['destinations'] = {
  about: 'Wohin die Sicherungen gehen. Zwei Ziele sind sicherer als eines; eines davon sollte anderswo sein.',
  embedded: 'Auf diesem Rechner:',
  usedBy: 'Verwendet von',
  space: 'Platz',
  used: (bytes) => `${bytes} belegt`,
  free: (bytes) => `${bytes} frei`,
  unknown: 'nicht bekannt',
  lastCheck: 'Letzte Prüfung',
  checkGood: 'alles gut',
  checkWarns: 'mit Warnungen',
  checkFailed: 'fehlgeschlagen',
  reachable: 'erreichbar',
  unreachable: 'nicht erreichbar',
  whyAway: {
    not_mounted:
      'Dort ist kein Laufwerk eingehängt. Schließen Sie es an; die Sicherungen gehen von selbst weiter.',
    not_there:
      'Der Ordner ist nicht da. Schließen Sie das Laufwerk an, oder prüfen Sie, ob er verschoben wurde.',
    no_answer: 'Die letzte Sicherung bekam keine Antwort. Prüfen Sie, ob es eingeschaltet und verbunden ist.',
  },
  notTried: 'noch nicht benutzt',
  untested: 'noch nicht getestet',
  untestedHint:
    'Es wurde ohne Test hinzugefügt. Testen Sie es, sobald es da ist: bis dahin gehen keine Sicherungen dorthin.',
  earlier: 'frühere Sicherungen',
  earlierHint:
    'Ihre früheren Sicherungen sind hier und lassen sich wiederherstellen. Neue gehen woandershin, solange Sie es nicht wieder zum Standard machen.',
  test: 'Testen',
  testing: 'Wird getestet …',
  makeDefault: 'Zum Standard machen',
  removeQuestion: 'Dorthin geht nichts mehr. Was dort gespeichert ist, bleibt.',
  removeInUse:
    'Diese Ordner gehen dorthin. Geben Sie ihnen vorher unter „Quellen und Ausnahmen“ ein anderes Ziel:',
  removeDefault: (next) =>
    `Es ist das Standardziel. Wird es entfernt, geht nach ${next}, was bisher hierhin ging.`,
  onThisComputer: 'dem Repository auf diesem Rechner',
  removeYes: 'Aus den Einstellungen entfernen',
  addTitle: 'Ziel hinzufügen',
  name: 'Name',
  nameHint: 'Buchstaben, Ziffern, - und _.',
  nameWrong: 'Buchstaben, Ziffern, - und _, mit einem Buchstaben am Anfang.',
  nameTaken: 'Diesen Namen gibt es schon.',
  useAsDefault: 'Für alle Quellen verwenden, die kein Ziel nennen',
  take: 'Verwenden',
  takeAnyway: 'Trotzdem verwenden',
  more: 'Weitere Einstellungen',
  commandHint: 'Entscheidet, was ausgeführt wird: dieser Befehl ändert es, auf dem Rechner selbst.',
  machineKey: 'Die des Notfallblatts dieses Rechners.',
  passphraseAbout: 'Wo sie liegt, darf die Seite nicht ändern. Dieser Befehl tut es, auf dem Rechner selbst:',
  onlyByCommand: 'Diese Adresse sagt mehr, als das Formular zeigen kann. Ein Befehl ändert sie:',
};
