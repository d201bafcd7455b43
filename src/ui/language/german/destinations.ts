import type { Texts } from '../english/english.ts';

export const destinations: Texts['destinations'] = {
  about: 'Wohin die Sicherungen gehen. Zwei Ziele sind sicherer als eines; eines davon sollte anderswo sein.',
  here: 'Auf diesem Rechner',
  commandName: 'In Befehlen heißt es „embedded“.',
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
  lost: { emptied: 'keine Sicherungen dort', other_repository: 'anderes Repository' },
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
  removeQuestion: 'Dorthin wird nicht mehr gesichert. Was dort gespeichert ist, bleibt.',
  removeInUse:
    'Diese Ordner werden dorthin gesichert. Wählen Sie für sie zuerst unter „Quellen und Ausnahmen“ ein anderes Ziel:',
  removeDefault: (next) =>
    `Das ist das Standardziel. Wenn Sie es entfernen, gehen seine Sicherungen stattdessen in ${next}.`,
  onThisComputer: 'das Repository auf diesem Rechner',
  removeYes: 'Aus den Einstellungen entfernen',
  addTitle: 'Ziel hinzufügen',
  name: 'Name',
  nameHint: 'Buchstaben, Ziffern, - und _.',
  nameWrong: 'Buchstaben, Ziffern, - und _, mit einem Buchstaben am Anfang.',
  nameTaken: 'Diesen Namen gibt es schon.',
  use: 'Wofür ist es?',
  uses: {
    as_well: 'Neue Sicherungen gehen auch hierhin, nicht nur nach: {}',
    instead: 'Neue Sicherungen gehen hierhin statt nach: {}',
    later: 'Noch nicht verwenden',
  },
  useNotes: {
    as_well: 'Zwei Kopien: Sie können aus jeder wiederherstellen.',
    instead: 'Frühere Sicherungen bleiben, wo sie sind, und lassen sich von dort wiederherstellen.',
    later: 'Sie wählen später, welche Ordner dorthin gehen.',
  },
  take: 'Übernehmen',
  takeAnyway: 'Trotzdem verwenden',
  more: 'Weitere Einstellungen',
  commandHint:
    'Diese Einstellung bestimmt, welches Programm läuft; deshalb kann die Seite sie nicht ändern. Führen Sie den Befehl oben auf dem Rechner selbst aus.',
  machineKey: 'Die aus dem Notfallblatt dieses Rechners.',
  passphraseAbout:
    'Wo die Passphrase liegt, kann diese Seite nicht ändern. Führen Sie auf dem Rechner selbst diesen Befehl aus:',
  onlyByCommand: 'Diese Adresse enthält mehr, als das Formular zeigen kann. Dieser Befehl ändert sie:',
};

export const encryption: Texts['encryption'] = {
  kit: 'Notfallblatt',
  kitWhat:
    'Eine Seite mit einer Passphrase und einem Notfallcode. Jedes von beiden öffnet auf jedem Rechner die Sicherungen auf diesem Computer und in jedem Ziel, das keine eigene Passphrase bekommen hat. Wer sie hat, kann sie lesen; ohne sie kann es niemand, wenn dieser Rechner verloren ist.',
  kitNone: 'Es gibt keines: Auf diesem Rechner wurde kein eigenes Repository angelegt.',
  kitSaved: 'Anderswo aufbewahrt',
  kitSavedAt: (time) =>
    `Das haben Sie am ${time} bestätigt. Der Agent behält, was er zum Sichern braucht. Das Blatt selbst liegt nicht mehr auf diesem Rechner.`,
  kitLost:
    'Sollten Sie es verloren haben, erstellen Sie einen neuen Notfallcode, solange dieser Rechner die Sicherungen noch öffnet:',
  kitUnsaved: 'Nur auf diesem Rechner',
  kitMadeAt: (time) => `Erstellt am ${time}.`,
  kitDownload: 'Herunterladen',
  kitPrint: 'Drucken',
  kitShow: 'Anzeigen',
  kitHide: 'Verbergen',
  kitConfirm: 'Es liegt anderswo …',
  kitConfirmQuestion:
    'Es wird dann von diesem Rechner gelöscht und lässt sich nicht mehr anzeigen; der Agent behält, was er zum Sichern braucht. Ist es auf Papier, in einem Passwortspeicher oder auf einem Datenträger, der woanders liegt?',
  kitConfirmDo: 'Es ist anderswo: hier löschen',
  keys: 'Was jedes Ziel öffnet',
  keysWhat: 'Der Schlüssel eines Ziels liegt dort verschlossen. Von diesem Rechner aus öffnet ihn:',
  destination: 'Ziel',
  openedBy: 'Geöffnet durch',
  byMachineKey: 'Den Schlüssel dieses Rechners in seinem Zustandsverzeichnis; und durch das Notfallblatt.',
  byKit: 'Die Passphrase des Notfallblatts, die der Agent behält.',
  by: {
    file: 'Eine Passphrase in einer Datei:',
    env: 'Eine Passphrase in einer Variablen des Agenten:',
    command: 'Eine Passphrase, die ein Befehl ausgibt:',
    credential: 'Eine Passphrase in einem Credential von systemd:',
  },
  check: 'Eine Passphrase testen',
  checkWhat:
    'Sehen Sie nach, ob die Passphrase oder der Notfallcode, die Sie aufbewahren, ein Ziel öffnen. Getestet wird auf diesem Rechner; behalten wird nichts.',
  secret: 'Passphrase oder Notfallcode',
  secretMissing: 'Geben Sie ein, was getestet werden soll.',
  checkDo: 'Testen',
  checking: 'Wird getestet …',
  opens: 'Das öffnet',
  opensNot: 'Das öffnet nicht',
  how: 'Wie Sicherungen geschützt sind',
  sealed: 'Verschlüsselt',
  sealedWhat:
    'Inhalte, Namen, Größen und Zeiten von Dateien und alle Verzeichnisse davon, bevor sie diesen Rechner verlassen.',
  seen: 'Der Speicher sieht',
  seenWhat:
    'Wie viel gespeichert wird, und wann. Keinen Namen, keinen Inhalt, keine Größe einer einzelnen Datei.',
  cipher: 'Womit',
  cipherWhat:
    'AES-256-GCM; jedes Objekt hat einen eigenen Schlüssel. Eine Passphrase wird mit Argon2id (256 MiB) gestreckt, damit Raten lange dauert. Jedes Stück wird beim Lesen geprüft.',
  required: 'Unverschlüsselt sichern',
  requiredYes: 'Wird abgelehnt.',
  requiredNo: 'Nur, wenn es jemand ausdrücklich verlangt.',
  changed: 'Geänderte Schlüssel',
  changedWhat:
    'Eine ersetzte oder entfernte Passphrase öffnet nichts, was danach gespeichert wird; ebenso ein Schlüssel. Wer eine Kopie davon und vom Speicher behalten hat, kann weiter lesen, was vorher gespeichert war: „keys rekey“ verschlüsselt neu, was gespeichert bleibt. Was kopiert wurde, bleibt lesbar; sind die Schlüssel selbst vielleicht bekannt, hilft die Kopie in ein neues Repository.',
  commands: 'Schlüssel auf der Kommandozeile',
};
