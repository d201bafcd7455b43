import type { Texts } from '../english/english.ts';

export const firstRun: Texts['firstRun'] = {
  title: 'Diesen Rechner sichern',
  notNow: 'Nicht jetzt',
  stepsLabel: 'Schritte',
  steps: { what: 'Was', where: 'Wohin', kit: 'Notfallblatt', run: 'Erste Sicherung' },
  what: {
    title: 'Was soll geschützt werden?',
    lead: 'Holdfast sichert alles in den Ordnern, die Sie wählen, außer Zwischenspeichern und Papierkorb, und jede spätere Änderung daran.',
    legend: 'Ordner',
    kinds: {
      home: 'Ihr persönlicher Ordner',
      documents: 'Dokumente',
      pictures: 'Bilder',
      desktop: 'Schreibtisch',
      music: 'Musik',
      videos: 'Videos',
      etc: 'Einstellungen des Systems',
      srv: 'Daten von Diensten',
      www: 'Webseiten',
      own: 'Von Ihnen gewählt',
    },
    isWithin: 'schon darin',
    isProtected: 'schon geschützt',
    counting: 'wird gezählt …',
    waiting: 'wird gleich gezählt',
    size: (size, count, shown) => `${size} in ${count === 1 ? 'einer Datei' : `${shown} Dateien`}`,
    atLeast: (size) => `mindestens ${size}`,
    unreadable: (count, shown) =>
      count === 1 ? 'etwas darin ist nicht lesbar' : `${shown} Dinge darin sind nicht lesbar`,
    uncounted: 'ließ sich nicht zählen',
    total: (size, isComplete) => (isComplete ? `Zusammen ${size}.` : `Zusammen mindestens ${size}.`),
    add: 'Anderer Ordner …',
    addTitle: 'Welcher Ordner soll geschützt werden?',
    nothing: 'Wählen Sie mindestens einen Ordner.',
    leftOut: 'Was ausgelassen wird, und warum',
    leftOutLead:
      'Zwischenspeicher, Papierkorb und andere Dateien, die Sie nicht vermissen würden. Sie können das später in den Einstellungen ändern.',
    rules: {
      caches: [
        'Zwischenspeicher',
        'Programme legen sie neu an: .cache, Library/Caches, __pycache__, heruntergeladene Pakete wie in .npm und .cargo/registry, und Ordner mit einer CACHEDIR.TAG',
      ],
      trash: ['Papierkörbe', 'es ist weggeworfen: .Trash, .local/share/Trash, $RECYCLE.BIN'],
      system: ['Reste von Systemen', 'niemand braucht sie: .DS_Store, Thumbs.db, lost+found'],
      marked: [
        'Was Sie kennzeichnen',
        'Ordner mit einer Datei .nobackup, und was eine Datei .holdfastignore nennt',
      ],
    },
    found: (count, shown) =>
      count === 1
        ? 'Auf diesem Rechner ist das eine Datei:'
        : `Auf diesem Rechner sind das ${shown} Dateien, darunter:`,
    reasons: {
      pattern: 'Regel',
      ignore_file: 'Ignorierdatei',
      cache: 'Zwischenspeicher',
      if_present: 'gekennzeichnet',
      larger_than: 'zu groß',
      other_file_system: 'anderes Dateisystem',
      never: 'gehört Holdfast',
    },
  },
  where: {
    title: 'Wohin sollen die Sicherungen?',
    lead: 'Wählen Sie einen Ort, der Feuer, Diebstahl oder einen Defekt dieses Rechners übersteht.',
    legend: 'Ziel',
    here: 'Auf diesem Rechner',
    hereNote: 'Sofort bereit. Bringt zurück, was gelöscht oder überschrieben wurde.',
    present: 'Wohin jetzt gesichert wird',
    elsewhere: 'Anderswo',
    elsewhereNote:
      'Eine andere Platte, ein Server oder eine Cloud: ein Ort, der den Verlust dieses Rechners übersteht.',
    hereWarning:
      'Ihre Sicherungen liegen dann auf derselben Platte wie Ihre Dateien. Geht sie kaputt, ist beides verloren. Richten Sie später ein zweites Ziel ein.',
  },
  kit: {
    title: 'Notfallblatt aufbewahren',
    lead: 'Ihre Sicherungen sind verschlüsselt. Geht dieser Rechner verloren, öffnet sie nur noch dieses Blatt. Bewahren Sie es getrennt vom Rechner auf: auf Papier oder in einem Passwortspeicher.',
    leadOther:
      'Ihre Sicherungen sind verschlüsselt. Dieses Blatt öffnet, was dieser Rechner an neuen Orten speichert. Bewahren Sie es getrennt vom Rechner auf: auf Papier oder in einem Passwortspeicher.',
    download: 'Herunterladen',
    print: 'Drucken',
    confirm: 'Ich habe es anderswo aufbewahrt',
    confirmHint:
      'Das Blatt wird dann von diesem Rechner entfernt. Der Agent behält, was er zum Sichern braucht: Wer hier in Ihr Konto gelangt, kann die Sicherungen also weiterhin lesen.',
    later: 'Später, erinnern Sie mich',
    saved: (when) =>
      when === null
        ? 'Das Notfallblatt ist anderswo aufbewahrt.'
        : `Sie haben am ${when} bestätigt, dass das Notfallblatt anderswo liegt.`,
    none: 'Auf diesem Rechner gibt es kein Notfallblatt: das Repository wurde mit Ihrer eigenen Passphrase angelegt.',
  },
  run: {
    title: 'Die erste Sicherung',
    lead: 'Die erste Sicherung liest alles und kann eine Weile dauern. Spätere dauern Sekunden.',
    protects: 'Geschützt wird',
    to: 'Ziel',
    when: 'Wann',
    whenText: 'Alle 4 Stunden, und Änderungen innerhalb von Minuten',
    here: 'Auf diesem Rechner',
    start: 'Erste Sicherung beginnen',
    saving: 'Die Einstellungen werden gespeichert …',
    under: 'Ihre erste Sicherung läuft. Sie können diese Seite schließen; die Sicherung läuft weiter.',
    stuck:
      'Sie ist noch nicht gelungen. Beheben Sie, was hier steht, und versuchen Sie es noch einmal; oder wählen Sie ein anderes Ziel.',
    otherPlace: 'Ziele',
    waits: 'wartet',
    done: 'fertig',
    failed: 'nicht gelungen',
    why: 'Warum',
    again: 'Nochmals versuchen',
    ok: 'Ihre erste Sicherung ist fertig. Von nun an wird automatisch gesichert.',
    kitLeft: 'Eines fehlt noch: Ihr Notfallblatt liegt nur auf diesem Rechner.',
    kitNow: 'Jetzt aufbewahren',
    toOverview: 'Zum Überblick',
    toRestore: 'Ansehen, was gesichert wurde',
    toDestinations: 'Ein zweites Ziel einrichten',
  },
};
