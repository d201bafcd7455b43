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
  parts: {
    job: {
      names: {
        backup: 'Sicherung von {} nach {}',
        dryRun: 'Probelauf von {} nach {}',
        restore: 'Wiederherstellung aus {}',
        check: 'Prüfung von {}',
        prune: 'Aufräumen von {}',
        drill: 'Probe-Wiederherstellung aus {}',
      },
      phases: {
        scanning: 'Sucht Änderungen',
        uploading: 'Speichert',
        committing: 'Schließt ab',
        verifying: 'Prüft',
        pruning: 'Gibt Platz frei',
        restoring: 'Stellt wieder her',
      },
      waiting: 'Wartet, bis es an der Reihe ist',
      starting: 'Beginnt',
      estimating: 'wie viel es ist, wird noch geschätzt',
      bytes: (done, total) => `${done} von ${total}`,
      rate: (size) => `${size} in der Sekunde`,
      left: (time) => `noch etwa ${time}`,
      cancel: (name) => `Abbrechen: ${name}`,
    },
    chooser: {
      folder: 'Ordner',
      open: 'Dorthin gehen',
      up: 'Nach oben',
      home: 'Persönlicher Ordner',
      inside: 'Ordner darin',
      showHidden: 'Versteckte Ordner zeigen',
      choose: 'Diesen Ordner wählen',
      empty: 'Darin sind keine Ordner.',
      unreadable: 'nicht lesbar',
      isCut: 'Es sind mehr, als hier stehen können. Tippen Sie den Pfad des gemeinten ein.',
      nowIn: (path, count) => `${path}: ${count === 1 ? 'ein Ordner' : `${count} Ordner`}`,
      keys: 'Pfeiltasten bewegen sich in der Liste, die Eingabetaste öffnet einen Ordner, die Rücktaste geht nach oben.',
    },
    destination: {
      kind: 'Was für ein Ort?',
      kinds: {
        directory: 'Andere Platte oder Ordner',
        s3: 'S3-Speicher',
        sftp: 'Server über SFTP',
        webdav: 'WebDAV',
        azblob: 'Azure Blob Storage',
        gs: 'Google Cloud Storage',
        rclone: 'rclone',
      },
      kindNotes: {
        directory: 'Eine USB-Platte, ein eingebundenes NAS',
        s3: 'Amazon und alle, die dieselbe Sprache sprechen',
        sftp: 'Jeder Rechner mit ssh, gemieteter Speicherplatz',
        webdav: 'Nextcloud und viele andere',
        azblob: 'Ein Container bei Microsoft Azure',
        gs: 'Ein Bucket bei Google',
        rclone: 'Siebzig weitere Clouds; rclone ist installiert',
      },
      fields: {
        path: 'Ordner',
        bucket: 'Bucket',
        prefix: 'Ordner darin',
        endpoint: 'Adresse des Speichers',
        region: 'Region',
        accessKeyId: 'Zugangsschlüssel',
        secretAccessKey: 'Geheimnis des Zugangsschlüssels',
        host: 'Server',
        port: 'Port',
        user: 'Benutzer',
        directory: 'Ordner auf dem Server',
        keyFile: 'Privater Schlüssel auf diesem Rechner',
        password: 'Passwort',
        address: 'Adresse des Ordners',
        account: 'Speicherkonto',
        container: 'Container',
        accountKey: 'Schlüssel des Kontos',
        credentials: 'JSON-Schlüssel des Dienstkontos',
        remote: 'Remote',
        rclonePath: 'Ordner darin',
      },
      hints: {
        path: 'Er gehört dann den Sicherungen allein. Wenn es ihn nicht gibt, wird er angelegt.',
        endpoint: 'Nur für Speicher, die nicht von Amazon sind, wie https://s3.example.org.',
        accessKeyId: 'Leer: was die Umgebung des Agenten und die AWS-Programme haben.',
        directory: 'Von der Wurzel aus (/srv/backup) oder vom persönlichen Ordner aus (backup).',
        keyFile: 'Leer: die Schlüssel Ihres eigenen ssh. Der Server muss in known_hosts stehen.',
        address: 'Wie https://cloud.example.org/remote.php/dav/files/ich/backup.',
        remote: 'Wie bei rclone listremotes, ohne den Doppelpunkt.',
        kept: 'Leer: das hinterlegte bleibt.',
      },
      choose: 'Auswählen …',
      chooseTitle: 'Wohin sollen die Sicherungen?',
      disks: 'Platten, die da sind',
      disk: (free) => `${free} frei`,
      problems: {
        missing: 'Das wird gebraucht.',
        not_absolute: 'Schreiben Sie den ganzen Pfad, wie /mnt/backup.',
        not_https: 'Schreiben Sie eine Adresse, die mit https:// beginnt.',
        not_a_port: 'Ein Port ist eine Zahl von 1 bis 65535.',
        no_such_characters: 'Darin stehen Zeichen, die nicht vorkommen können.',
      },
      secretNote: 'Geheimnisse gehen einmal an den Agenten und in eine Datei, die nur Sie lesen können.',
      test: 'Ausprobieren',
      testing: 'Dort wird etwas gespeichert, gelesen und gelöscht …',
      usable: 'Dieser Ort ist brauchbar.',
      usableBut: 'Dieser Ort ist brauchbar. Aber:',
      unusable: 'Dieser Ort ist noch nicht brauchbar.',
      speeds: (write, read) => `Er speichert ${write} und liefert ${read} in der Sekunde.`,
      willBeMade:
        'Den Ordner gibt es noch nicht; ausprobiert wurde, worin er liegen wird. Die erste Sicherung legt ihn an.',
      allChecks: (count) =>
        count === 1 ? 'Was ausprobiert wurde' : `Alle ${count} Dinge, die ausprobiert wurden`,
      checks: {
        open: 'Erreichen',
        store: 'Speichern',
        list: 'Auflisten',
        read: 'Lesen',
        range: 'Teile lesen',
        'no replacing': 'Nie ersetzt',
        'one of several': 'Mehrere zugleich',
        delete: 'Löschen',
        speed: 'Geschwindigkeit',
        clock: 'Uhr',
        space: 'Platz',
        repository: 'Repository',
      },
      status: { ok: 'gut', warning: 'bitte ansehen', error: 'geht nicht' },
    },
  },
  overview: {
    title: 'Überblick',
    justNow: 'gerade eben',
    never: 'nie',
    headline: {
      protected: (ago) => `Geschützt: letzte gute Sicherung ${ago}`,
      noSource: 'Nicht geschützt: noch ist nichts zum Sichern ausgewählt',
      checkFailed: (what) => `Nicht geschützt: ${what}`,
      checkWarns: (what) => `Geschützt, aber: ${what}`,
      firstRuns: 'Noch nicht geschützt: die erste Sicherung läuft',
      firstPaused: 'Noch nicht geschützt: die erste Sicherung wartet auf das Ende der Pause',
      never: (sources, to, hasFailed) =>
        `Nicht geschützt: ${sources === null ? '{} wurde' : `${sources} Quellen wurden`} noch nie` +
        `${to === null ? '' : ` nach ${to}`} gesichert${hasFailed ? ', und der letzte Versuch ist gescheitert' : ''}`,
      overdue: (sources, to, span, hasFailed) =>
        `Nicht geschützt: ${sources === null ? '{} wurde' : `${sources} Quellen wurden`} ` +
        `${span === null ? 'nicht rechtzeitig' : `seit ${dative(span)} nicht`}${to === null ? '' : ` nach ${to}`} gesichert` +
        (hasFailed ? '; der letzte Versuch ist gescheitert' : ''),
      lastFailed: (ago) => `Die letzte Sicherung ist gescheitert; die letzte gute war ${ago}`,
      paused: (ago) => `Pause: die letzte gute Sicherung war ${ago}, und zurzeit läuft keine`,
    },
    nextRun: (when) => `Die nächste Sicherung ist ${when} fällig.`,
    nextDue: 'Die nächste Sicherung ist jetzt fällig.',
    watched: 'Änderungen werden innerhalb von Minuten gesichert.',
    checksTitle: 'Bitte ansehen',
    checks: {
      configuration: {
        short: 'die Konfigurationsdatei hat einen Fehler',
        what: 'Die Konfigurationsdatei ist nicht brauchbar. Die letzte gültige bleibt in Kraft.',
        todo: 'Beheben Sie den Fehler auf diesem Rechner. holdfast config validate sagt, wo er steckt.',
      },
      destinations: {
        short: 'ein Ziel ist nicht erreichbar',
        what: 'Ein Ziel ist nicht erreichbar.',
        todo: 'Schließen Sie die Platte an, oder sehen Sie unten nach, welches fehlt.',
      },
      'destinations of a source': {
        short: 'Sicherungen zu einem der Ziele scheitern',
        what: 'Die letzte Sicherung zu einem der Ziele ist gescheitert, während andere gut sind.',
        todo: 'Die Aufträge sagen, was schiefging.',
      },
      alarms: {
        short: 'eine Quelle sieht beschädigt aus',
        what: 'Eine Quelle sieht beschädigt aus. Ihre älteren Stände bleiben, bis jemand nachgesehen hat.',
        todo: 'Sehen Sie die Alarme an.',
      },
    },
    toJobs: 'Zu den Aufträgen',
    toAlarms: 'Zu den Alarmen',
    toAdvanced: 'Zu den Einstellungen',
    tiles: {
      label: 'In Zahlen',
      protected: 'Geschützt',
      stored: 'Gespeichert',
      saved: 'Gespart',
      next: 'Nächste Sicherung',
      inFiles: (count, shown) => (count === 1 ? 'in einer Datei' : `in ${shown} Dateien`),
      snapshots: (count, shown) => (count === 1 ? 'ein Stand' : `${shown} Stände`),
      inPlaces: (count) => `an ${count} Orten`,
      about: (share) => `etwa ${share}`,
      savedBy: (copies, shown) =>
        `gegenüber ${copies === 1 ? 'einer einfachen Kopie' : `${shown} einfachen Kopien`}, durch Deduplizierung und Kompression`,
      savedNothingYet: 'noch nichts: spätere Stände teilen sich, was gleich bleibt',
      noNext: 'keine ist geplant',
      dueNow: 'jetzt',
    },
    backUpAll: 'Alles jetzt sichern',
    started: (count) => (count === 1 ? 'Die Sicherung läuft an.' : `${count} Sicherungen laufen an.`),
    pause: 'Pause …',
    pauseQuestion: 'Eine Zeit lang keine Sicherungen beginnen. Was jetzt läuft, endet noch.',
    pauseHour: 'Eine Stunde',
    pauseTomorrow: (time) => `Bis morgen, ${time}`,
    pauseOpen: 'Bis ich sie fortsetze',
    activeTitle: 'Im Gange',
    sourcesTitle: 'Was geschützt ist',
    sources: {
      destination: 'Nach',
      lastGood: 'Letzte gute Sicherung',
      next: 'Nächster Lauf',
      size: 'Größe',
      history: 'Letzte Läufe',
      overdue: 'überfällig',
      watching: 'beobachtet',
      notWatching: 'nur nach Zeitplan',
      notYet: 'noch keine',
      noSchedule: 'nicht geplant',
      files: (count, shown) => (count === 1 ? 'eine Datei' : `${shown} Dateien`),
      backUp: 'Jetzt sichern',
      backUpOf: (path) => `Jetzt sichern: ${path}`,
      dryRun: 'Probelauf',
      dryRunOf: (path) => `Probelauf: ${path}`,
      dryRunning: 'Was eine Sicherung tun würde, wird ermittelt …',
      wouldDo: (changed, shown, size, all) =>
        changed === 0
          ? `Eine Sicherung fände in ${all} Dateien nichts Neues.`
          : `Eine Sicherung würde ${changed === 1 ? 'eine neue oder geänderte Datei' : `${shown} neue oder geänderte Dateien`} von ${all} speichern: höchstens ${size}.`,
      dryRunFailed: 'Der Probelauf ging nicht gut aus.',
      toJob: 'Auftrag ansehen',
      restore: 'Wiederherstellen',
    },
    history: {
      none: 'Noch kein Lauf',
      summary: (all, good, warned, failed) =>
        `${all === 1 ? 'Ein Lauf' : `${all} Läufe`}: ${[
          `${good} gut`,
          ...(warned === 0 ? [] : [`${warned} mit Warnungen`]),
          ...(failed === 0 ? [] : [`${failed} gescheitert`]),
        ].join(', ')}`,
      run: (when, outcome, files, size) =>
        `${when}: ${outcome}, ${files} Dateien geändert, ${size} gespeichert`,
    },
    outcomes: {
      queued: 'wartet',
      running: 'läuft',
      completed: 'gut',
      warning: 'mit Warnungen',
      failed: 'gescheitert',
      canceled: 'abgebrochen',
    },
    destinationsTitle: 'Wo es gespeichert ist',
    destinations: {
      isDefault: 'Standard',
      here: 'auf diesem Rechner',
      reachable: 'da',
      away: 'nicht erreichbar',
      unknown: 'noch nicht gefragt',
      used: (used) => `${used} von Sicherungen belegt`,
      free: (free) => `${free} frei`,
      meter: (name) => `Platz bei ${name}`,
      lastCheck: 'Letzte Prüfung',
      lastDrill: 'Letzte Probe-Wiederherstellung',
      checkNever: 'noch nicht geprüft',
      drillNever: 'noch nicht probiert',
      good: (ago) => `gut, ${ago}`,
      notGood: (outcome, ago) => `${outcome}, ${ago}`,
      chart: (name) => `Gespeichert bei ${name} im Lauf der Zeit`,
      change: (from, to, since) => `Von ${from} auf ${to} seit ${since}.`,
      diskNote:
        'Es liegt auf derselben Platte wie Ihre Dateien: Gelöschtes und Überschriebenes kommt zurück, bei einem Schaden der Platte nichts.',
      addSecond: 'Einen zweiten Ort einrichten',
    },
    recentTitle: 'Letzte Aufträge',
    recent: {
      job: 'Auftrag',
      outcome: 'Ergebnis',
      when: 'Wann',
      took: 'Dauer',
      stored: 'Gespeichert',
      all: 'Alle Aufträge',
    },
    emptyTitle: 'Noch ist nichts geschützt',
    empty: 'Wählen Sie aus, was geschützt werden soll und wohin: das dauert etwa drei Minuten.',
    emptyStart: 'Anfangen',
    noSourceTitle: 'Kein Ordner wird von selbst gesichert',
    noSource:
      'Es liefen Aufträge, aber keine Quelle ist eingerichtet. Wählen Sie, was von nun an gesichert wird.',
  },
  restore: {
    title: 'Wiederherstellen',
  },
  jobs: {
    title: 'Aufträge',
    one: 'Auftrag',
    back: '← Alle Aufträge',
    types: {
      backup: 'Sicherung',
      restore: 'Wiederherstellung',
      check: 'Prüfung',
      prune: 'Aufräumen',
      drill: 'Probe-Wiederherstellung',
    },
    states: {
      queued: 'Wartet',
      running: 'Läuft',
      completed: 'Abgeschlossen',
      failed: 'Fehlgeschlagen',
      canceled: 'Abgebrochen',
    },
    completedWithWarnings: (count, shown) =>
      count === 1 ? 'Abgeschlossen, eine Warnung' : `Abgeschlossen, ${shown} Warnungen`,
    phases: {
      scanning: 'Sucht, was sich geändert hat',
      uploading: 'Speichert, was neu ist',
      committing: 'Schreibt den Schnappschuss',
      verifying: 'Vergleicht, was gespeichert ist',
      pruning: 'Entfernt, was nicht mehr gebraucht wird',
      restoring: 'Holt Dateien zurück',
    },
    triggers: {
      api: 'von einem Programm verlangt',
      schedule: 'nach Zeitplan',
      watch: 'nach Änderungen',
      cli: 'von der Kommandozeile',
      ui: 'von dieser Seite',
    },
    waits: {
      absent: () =>
        'Das Ziel ist nicht da. Schließen Sie es an oder hängen Sie es ein; der Auftrag beginnt dann von selbst.',
      quiet: (until) => `Ruhezeit: Er beginnt um ${until}.`,
      battery: () => 'Der Rechner läuft mit Akku. Er beginnt, sobald Strom da ist.',
      metered: () => 'Das Netz wird nach Menge abgerechnet. Er beginnt in einem anderen.',
      reader: () =>
        'Dieselbe Sicherung entsteht gerade an einem anderen Ziel und wird danach von dort kopiert.',
      unreachable: () => 'Das Ziel ist nicht zu erreichen. Es wird von selbst wieder versucht.',
      locked: () => 'Ein anderes Programm hat das Repository gesperrt. Es wird von selbst wieder versucht.',
    },
    volume: {
      backup: ({ files, size, fresh, stored }) =>
        `Der Schnappschuss hat ${files} mit ${size}: ${fresh} davon waren neu und belegen ${stored}.`,
      nothingNew: (files, size) =>
        `Der Schnappschuss hat ${files} mit ${size}. Nichts davon war neu; alles war schon gespeichert.`,
      trial: (files, size) => `Ein Probelauf: ${files} mit ${size} kämen in den Schnappschuss.`,
      brokenOff: (stored) =>
        `${stored} wurden vorher noch gespeichert; die nächste Sicherung muss sie nicht noch einmal speichern.`,
      restore: ({ restored, size, skipped, isTrial }) =>
        `${isTrial ? 'Zurück kämen' : 'Zurückgeholt:'} ${restored} mit ${size}.` +
        (skipped === '' ? '' : ` ${isTrial ? 'Gelassen würden' : 'Gelassen, wie vorgefunden:'} ${skipped}.`),
      structure: 'Alles, was gespeichert sein soll, ist da. Die Inhalte wurden nicht gelesen.',
      check: (size) => `${size} wurden gelesen und verglichen.`,
      nothingFreed: 'Noch war nichts zu entfernen.',
      prune: (size) => `${size} wurden frei.`,
      drill: (files) => `In ein Arbeitsverzeichnis zurückgeholt und verglichen: ${files}.`,
    },
    changes: {
      added: (count) => `${count} neu`,
      changed: (count) => `${count} geändert`,
      same: (count) => `${count} wie zuvor`,
      failed: (count) => `${count} gescheitert`,
    },
    progress: 'Fortschritt',
    counting: 'Wird noch gezählt',
    doneOf: (done, total) => `${done} von ${total}`,
    rate: (size) => `${size}/s`,
    left: (span) => `noch etwa ${span}`,
    took: (span) => `Dauer ${span}`,
    to: 'nach',
    from: 'von',
    inPlace: 'dorthin, wo die Dateien waren',
    filters: {
      label: 'Auswahl',
      type: 'Art',
      status: 'Zustand',
      source: 'Quelle',
      destination: 'Ziel',
      since: 'Verlangt',
    },
    any: {
      type: 'Alle Arten',
      status: 'Alle Zustände',
      source: 'Alle Quellen',
      destination: 'Alle Ziele',
      since: 'Irgendwann',
    },
    spans: {
      day: 'In den letzten 24 Stunden',
      week: 'In den letzten 7 Tagen',
      month: 'In den letzten 30 Tagen',
    },
    allJobs: 'Alle Aufträge zeigen',
    noneYet: 'Noch lief kein Auftrag. Die erste Sicherung wird hier stehen.',
    noneMatch: 'So einen Auftrag gibt es nicht.',
    more: 'Ältere Aufträge zeigen',
    state: 'Zustand',
    attempt: (count) => `${count}. Versuch`,
    agentSays: 'Der Agent sagt:',
    problemsTitle: (count, shown) =>
      count === 1 ? 'Bei einem Eintrag gab es ein Problem' : `Bei ${shown} Einträgen gab es Probleme`,
    entries: (count, shown) => (count === 1 ? 'ein Eintrag' : `${shown} Einträge`),
    moreProblems: (count) => `${count} weitere sind nicht aufgeführt.`,
    showAll: (count) => `Alle ${count} zeigen`,
    log: 'Protokoll',
    logEmpty: 'Noch steht nichts darin.',
    levels: { debug: 'Einzelheit', info: 'Hinweis', warn: 'Warnung', error: 'Fehler', fatal: 'Fehler' },
    destination: 'Ziel',
    trigger: 'Ausgelöst',
    asked: 'Verlangt',
    started: 'Begonnen',
    finished: 'Beendet',
    duration: 'Dauer',
    tags: 'Schlagwörter',
    snapshot: 'Schnappschuss',
    id: 'Auftrag',
    copyId: 'Kennung des Auftrags',
    copySnapshot: 'Kennung des Schnappschusses',
    toSnapshot: 'In den Schnappschuss sehen',
    again: 'Noch einmal ausführen',
    cancel: 'Abbrechen …',
    cancelDo: 'Auftrag abbrechen',
    cancelQuestion: {
      backup: 'Es entsteht kein Schnappschuss. Was schon gespeichert ist, nutzt die nächste Sicherung.',
      restore: 'Dateien, die schon zurück sind, bleiben; die anderen kommen nicht.',
      check: 'Was noch nicht angesehen wurde, bleibt ungeprüft.',
      prune: 'Was schon entfernt ist, bleibt entfernt; nichts, was gebraucht wird, geht verloren.',
      drill: 'Dateien, die noch nicht an der Reihe waren, werden nicht probiert.',
    },
    operations: {
      check: {
        open: 'Prüfen …',
        title: 'Ein Ziel prüfen',
        what: 'Sieht nach, ob alles da und heil ist, was die Schnappschüsse brauchen. Nichts wird geändert.',
        start: 'Prüfung beginnen',
      },
      prune: {
        open: 'Aufräumen …',
        title: 'Platz an einem Ziel schaffen',
        what: 'Entfernt aus dem Speicher, was kein Schnappschuss mehr braucht. Was erst in den letzten Tagen überflüssig wurde, bleibt noch eine Weile, damit laufende Sicherungen sicher sind.',
        start: 'Aufräumen beginnen',
      },
      drill: {
        open: 'Wiederherstellung proben …',
        title: 'Proben, ob Dateien zurückkommen',
        what: 'Holt zufällig gewählte Dateien der neuesten Schnappschüsse in ein Arbeitsverzeichnis, vergleicht jedes Byte und entfernt sie wieder. Ihre eigenen Dateien bleiben unberührt.',
        start: 'Probe beginnen',
      },
    },
    readData: 'Wie viel von den gespeicherten Daten gelesen wird',
    readDataHint:
      'Lesen findet auch Schäden auf der Platte, dauert aber länger und holt die Daten von einem fernen Ziel.',
    shares: {
      '0': 'Nichts: nur, ob alles da ist',
      '0.05': 'Ein Zwanzigstel, zufällig gewählt',
      '0.25': 'Ein Viertel, zufällig gewählt',
      '1': 'Alles',
    },
    applyRetention: 'Zuerst alte Schnappschüsse vergessen, nach den Regeln der Einstellungen',
    applyRetentionHint:
      'Festgehaltene Schnappschüsse bleiben, ebenso solche von vor einem offenen Alarm. Ohne dies wird nur aufgeräumt, was schon vergessen ist.',
    drillFiles: 'Anzahl der Dateien',
    drillFilesHint: 'Ohne Angabe so viele, wie die Einstellungen sagen.',
    drillFilesWrong: 'Geben Sie eine Zahl von 1 bis 10.000 an.',
    pauseOpen: 'Pause …',
    pauseTitle: 'Alle Aufträge ruhen lassen',
    pauseWhat: 'Bis zum Ende der Pause beginnt kein Auftrag. Was in dieser Zeit fällig war, läuft danach.',
    pauseUntil: 'Wie lange',
    pauses: {
      hour: 'Eine Stunde',
      morning: 'Bis morgen früh um 8',
      time: 'Bis zu einer bestimmten Zeit',
      resumed: 'Bis ich fortsetze',
    },
    pauseTime: 'Bis',
    pauseTimeWrong: 'Wählen Sie eine Zeit, die noch kommt.',
    pauseInterrupt: 'Auch anhalten, was gerade läuft',
    pauseInterruptHint: 'Es geht nach der Pause dort weiter, wo es war.',
    pauseDo: 'Ruhen lassen',
  },
  alarms: {
    title: 'Alarme',
    what: 'Eine Quelle sieht beschädigt aus. Bis ein Alarm bestätigt ist, wird kein Schnappschuss seiner Quelle von vorher entfernt, was auch immer die Regeln der Aufbewahrung sagen.',
    none: 'Kein Alarm ist offen. Sollte eine Quelle plötzlich leer sein, die meisten Dateien verlieren oder umgeschrieben werden, steht es hier.',
    kinds: {
      empty: {
        title: 'Leer',
        means:
          'Keine einzige Datei ist mehr da, wo bei der letzten Sicherung Dateien waren. Meist ist eine Platte oder Freigabe nicht eingehängt. Es wird nicht gesichert, damit die guten Stände die neuesten bleiben.',
        todo: 'Hängen Sie die Platte oder Freigabe ein; die nächste Sicherung gelingt dann von selbst. Soll die Quelle leer sein, bestätigen Sie den Alarm.',
      },
      shrunk: {
        title: 'Die meisten Dateien sind fort',
        means:
          'Mehr als die Hälfte der Dateien verschwand binnen einer Stunde. Das geschieht, wenn ein Ordner versehentlich verschoben oder gelöscht wird oder ein Teil der Quelle nicht eingehängt ist.',
        todo: 'Vergleichen Sie mit einem Schnappschuss von vorher. Holen Sie zurück, was fehlt, oder bestätigen Sie den Alarm, wenn es Absicht war.',
      },
      rewritten: {
        title: 'Auf einen Schlag umgeschrieben',
        means:
          'Viele Dateien wurden binnen einer Stunde geändert, und ihr Inhalt sieht jetzt verschlüsselt aus oder ihr Name hat eine neue Endung. So handelt Erpressungssoftware; ebenso, wer absichtlich verschlüsselt oder packt.',
        todo: 'Öffnen Sie einige der Dateien. Sind sie nicht lesbar, trennen Sie den Rechner vom Netz, finden Sie heraus, was sie geschrieben hat, und holen Sie erst dann einen Schnappschuss von vorher zurück. Sind sie in Ordnung, bestätigen Sie den Alarm.',
      },
      burst: {
        title: 'Ungewöhnlich viele Änderungen',
        means:
          'Binnen einer Stunde kamen, änderten sich oder gingen weit mehr Dateien als je zuvor. Ein großes Update oder ein aufgeräumtes Archiv sieht so aus; ein Schaden auch.',
        todo: 'Vergleichen Sie mit einem Schnappschuss von vorher. Wissen Sie, woher die Änderungen kommen, bestätigen Sie den Alarm.',
      },
    },
    source: 'Quelle',
    at: 'Bemerkt',
    facts: {
      files_before: 'Dateien vorher',
      files: 'Dateien jetzt',
      rewritten: 'Umgeschrieben',
      extension: 'Neue Endung der Namen',
      renamed: 'Dateien damit',
      touched: 'Gekommen, geändert oder gegangen',
      usual: 'Bisher höchstens',
    },
    filled: 'Es sind wieder Dateien darin.',
    todo: 'Was zu tun ist',
    details: 'In den Worten des Agenten',
    before: 'Schnappschüsse von vorher',
    beforeHint:
      'Der neueste zuerst. Sehen Sie, wo sich die Zahl der Dateien ändert; was älter ist, wollen Sie zurück.',
    beforeNone: 'Von vor dem Alarm ist kein Schnappschuss dieser Quelle bekannt.',
    time: 'Zeit',
    files: 'Dateien',
    size: 'Größe',
    actions: 'Möglichkeiten',
    look: 'Hineinsehen',
    compare: 'Was sich änderte',
    compareTitle: (time) => `Geändert bis ${time}`,
    comparing: 'Wird verglichen …',
    compareNone: 'Nichts ist anders als im Schnappschuss davor.',
    compareMore: 'Es gibt mehr; das sind die ersten.',
    changes: {
      added: 'Neu',
      removed: 'Fort',
      modified: 'Geändert',
      type_changed: 'Andere Art',
      metadata: 'Gleicher Inhalt',
    },
    acknowledge: (count) => (count === 1 ? 'Bestätigen …' : `Alle ${count} bestätigen …`),
    acknowledgeQuestion:
      'Sie sagen, dass die Quellen so sind, wie sie sein sollen. Schnappschüsse von vorher dürfen dann nach den Regeln der Aufbewahrung wieder entfernt werden.',
    acknowledgeEmpty:
      'Eine leere Quelle darf es bleiben: Ihre nächste Sicherung nimmt sie, wie sie ist, bis wieder Dateien darin sind.',
    acknowledgeDo: 'Sie sind, wie sie sein sollen',
    acknowledged: 'Bestätigt. Die Aufbewahrung geht weiter wie gewohnt.',
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

    // Warum ein Auftrag fehlschlug.
    INVALID_SOURCE:
      'Die Quelle lässt sich nicht sichern. Sehen Sie nach, ob sie da ist und der Agent sie lesen darf.',
    INVALID_DESTINATION: 'Dieses Ziel gibt es nicht. Wählen Sie eines in den Einstellungen.',
    INVALID_TARGET: 'Dorthin lässt sich nichts wiederherstellen. Wählen Sie ein anderes Verzeichnis.',
    SECRET_IN_URL:
      'In einer Adresse steht ein Passwort. Tragen Sie es stattdessen in den Einstellungen des Ziels ein.',
    UNSUPPORTED_COMPRESSION: 'Diese Kompression ist unbekannt. Wählen Sie zstd, auto oder none.',
    SNAPSHOT_NOT_FOUND: 'Den Schnappschuss gibt es nicht mehr. Wählen Sie einen anderen.',
    PATH_NOT_IN_SNAPSHOT:
      'Diese Datei oder dieses Verzeichnis ist nicht im Schnappschuss. Wählen Sie einen anderen Schnappschuss.',
    QUOTA_EXCEEDED: 'Der Tarif hat dafür keinen Platz mehr.',
    ENCRYPTION_REQUIRED:
      'Die Einstellungen erlauben nur verschlüsselte Sicherungen. Sichern Sie mit Verschlüsselung.',
    REPOSITORY_LOCKED:
      'Ein anderes Programm arbeitet am Repository und hat es gesperrt. Warten Sie, bis es fertig ist, und führen Sie den Auftrag noch einmal aus.',
    DESTINATION_ERROR:
      'Der Speicher versagte oder ist nicht mehr derselbe wie zuvor. Prüfen Sie das Ziel in den Einstellungen.',
    DESTINATION_UNREACHABLE:
      'Der Speicher ist nicht zu erreichen. Sehen Sie nach, ob er an, angeschlossen und eingehängt ist und das Netz geht.',
    DESTINATION_AUTH_FAILED:
      'Der Speicher nimmt Name, Passwort oder Schlüssel nicht an. Berichtigen Sie sie in den Einstellungen des Ziels.',
    INSUFFICIENT_STORAGE:
      'Eine Platte ist voll. Schaffen Sie Platz am Ziel oder auf diesem Rechner, und führen Sie den Auftrag noch einmal aus.',
    JOB_INTERRUPTED:
      'Die Arbeit brach dreimal hintereinander ab, ohne weiterzukommen. Lesen Sie unten das Protokoll, und führen Sie den Auftrag noch einmal aus; oft fehlte Arbeitsspeicher.',
    HOOK_FAILED:
      'Der Befehl, der laut Einstellungen vorher läuft, ist gescheitert; deshalb begann der Auftrag nicht. Berichtigen Sie den Befehl.',
    SECRET_UNAVAILABLE:
      'Das Geheimnis des Ziels liegt nicht dort, wo die Einstellungen sagen. Legen Sie es zurück, oder nennen Sie einen anderen Ort.',
    SECRET_UNSAFE:
      'Andere können die Datei mit dem Geheimnis des Ziels lesen oder ändern; deshalb wird sie nicht benutzt. Machen Sie sie zu Ihrer allein (chmod 600).',
    STATE_NOT_PRIVATE:
      'Andere können Dateien des Agenten mit Schlüsseln lesen oder ändern; deshalb werden sie nicht benutzt. „holdfast doctor“ sagt, was hilft.',
    STATE_DAMAGED: 'Eine Datei des Agenten enthält nicht, was sie soll. „holdfast doctor“ sagt, welche.',
    DECRYPTION_FAILED:
      'Gespeichertes lässt sich mit dem Schlüssel des Repositorys nicht öffnen. Prüfen Sie das Ziel, und ob es das richtige ist.',
    CORRUPT_DATA:
      'Gespeichertes ist beschädigt. Prüfen Sie mit allen Daten, sehen Sie nach der Platte, und sichern Sie neu: Was fehlt, wird dann wieder gespeichert.',
    WRONG_PASSPHRASE:
      'Die Passphrase öffnet das Repository nicht. Tragen Sie die richtige in den Einstellungen des Ziels ein.',
    READ_ERROR: 'Etwas war nicht zu lesen. Prüfen Sie die Platte, und ob der Agent dort lesen darf.',
    WRITE_ERROR:
      'Etwas war nicht zu schreiben. Prüfen Sie die Platte, ihren freien Platz, und ob der Agent dort schreiben darf.',
    SOURCE_SUSPICIOUSLY_EMPTY:
      'Die Quelle ist leer und war es bei der letzten Sicherung nicht. Ist es eine Platte oder Freigabe, hängen Sie sie ein; soll es so sein, bestätigen Sie den Alarm.',

    // Warum eine Datei eines Auftrags fehlt oder eine Warnung hat.
    EACCES:
      'Der Agent darf es nicht lesen oder schreiben. Geben Sie seinem Benutzer das Recht, oder nehmen Sie es durch eine Regel aus.',
    EPERM:
      'Das System erlaubt es nicht, auch nicht mit den richtigen Rechten. Geben Sie dem Agenten mehr Rechte, oder nehmen Sie es durch eine Regel aus.',
    ENOENT:
      'Es verschwand, während der Auftrag lief. Bei vorübergehenden Dateien ist das üblich; der nächste Auftrag sieht wieder nach.',
    ENOTDIR: 'Was ein Verzeichnis sein sollte, ist keines. Sehen Sie nach, was dort steht.',
    EISDIR: 'Was eine Datei sein sollte, ist ein Verzeichnis. Sehen Sie nach, was dort steht.',
    EEXIST: 'Inzwischen kam etwas mit diesem Namen. Führen Sie den Auftrag noch einmal aus.',
    ENOTEMPTY:
      'An seiner Stelle steht ein Verzeichnis, das nicht leer ist. Wählen Sie ein anderes Ziel, oder räumen Sie es weg.',
    ELOOP:
      'Verweise führen im Kreis oder stehen, wo keinem gefolgt werden darf. Sehen Sie nach, wohin sie führen.',
    ENAMETOOLONG:
      'Sein Pfad ist länger, als das System zulässt. Wählen Sie einen kürzeren oder ein Ziel weiter oben.',
    EIO: 'Die Platte meldet einen Fehler. Sehen Sie bald nach ihr, und behalten Sie die vorhandenen Schnappschüsse.',
    ENXIO:
      'Das Gerät dahinter ist nicht da. Schließen Sie es an, oder nehmen Sie die Datei durch eine Regel aus.',
    ENODEV:
      'Das Gerät dahinter ist nicht da. Schließen Sie es an, oder nehmen Sie die Datei durch eine Regel aus.',
    EBUSY: 'Ein anderes Programm hält es fest. Schließen Sie dieses; der nächste Auftrag sieht wieder nach.',
    ETXTBSY:
      'Ein Programm läuft daraus; deshalb lässt es sich nicht ersetzen. Beenden Sie es, und stellen Sie noch einmal wieder her.',
    EROFS:
      'Das Dateisystem ist nur zum Lesen da. Hängen Sie es zum Schreiben ein, oder wählen Sie ein anderes Ziel.',
    ENOSPC: 'Die Platte ist voll. Schaffen Sie Platz, und führen Sie den Auftrag noch einmal aus.',
    EDQUOT:
      'Ihr Anteil an der Platte ist aufgebraucht. Schaffen Sie Platz, und führen Sie den Auftrag noch einmal aus.',
    EFBIG: 'Die Datei ist größer, als das Ziel zulässt. Wählen Sie ein Ziel mit einem anderen Dateisystem.',
    EMFILE: 'Zu viele Dateien sind offen. Führen Sie den Auftrag noch einmal aus, wenn weniger los ist.',
    EMLINK:
      'Das Ziel erlaubt nicht mehr Namen für eine Datei. Wählen Sie ein Ziel mit einem anderen Dateisystem.',
    EXDEV: 'Seine Namen liegen auf verschiedenen Dateisystemen. Wählen Sie ein anderes Ziel.',
    EINVAL:
      'Das System lehnt es ab; vielleicht kennt sein Dateisystem solche Namen oder Eigenschaften nicht.',
    ENOTSUP: 'Das Dateisystem des Ziels kennt Dateien dieser Art nicht.',
    EOPNOTSUPP: 'Das Dateisystem des Ziels kennt Dateien dieser Art nicht.',
    ESTALE: 'Die Freigabe im Netz hat es verloren. Hängen Sie die Freigabe neu ein.',
    ETIMEDOUT: 'Die Freigabe im Netz antwortete nicht rechtzeitig. Prüfen Sie die Verbindung.',
    CHANGED:
      'Sie wurde geändert, während sie gelesen wurde. Im Schnappschuss steht, was gelesen wurde; die nächste Sicherung nimmt sie noch einmal.',
    TOO_DEEP: 'Seine Verzeichnisse sind zu tief geschachtelt. Legen Sie es weiter nach oben.',
    IN_THE_WAY:
      'Etwas anderes steht an seiner Stelle und sollte nicht ersetzt werden. Wählen Sie ein anderes Verzeichnis, oder erlauben Sie das Ersetzen.',
    IMPOSSIBLE_NAME:
      'Dieses System kann keine Datei mit diesem Namen haben. Stellen Sie sie auf dem System wieder her, von dem sie kommt.',
    LINK_FAILED:
      'Es ist ein weiterer Name einer Datei, die nicht zurückkam. Beheben Sie, was mit dieser ist.',
    OTHER_FILE_SYSTEM:
      'Darunter ist eine andere Platte eingehängt; deshalb blieb es unberührt. Hängen Sie diese erst aus.',
    LIMIT_EXCEEDED:
      'Es hat mehr Teile, als eine Datei oder ein Verzeichnis haben darf. Bitte melden Sie das.',
    DIFFERENT:
      'Nach dem Wiederherstellen war sie nicht, was im Schnappschuss steht. Prüfen Sie mit allen Daten.',
    ERROR:
      'Etwas, das Schnappschüsse brauchen, ist beschädigt. Sichern Sie neu, und sehen Sie nach der Platte.',
    WARNING: 'Etwas ist nicht, wie es sein sollte, aber keinem Schnappschuss fehlt deshalb etwas.',
    'restore.CHANGED':
      'Etwas anderes änderte sie während der Wiederherstellung. Stellen Sie sie noch einmal wieder her, wenn dort nichts schreibt.',
    'restore.CORRUPT_DATA':
      'Ihr gespeicherter Inhalt ist beschädigt. Versuchen Sie einen Schnappschuss von vorher oder einen an einem anderen Ziel.',
    'restore.EACCES':
      'Der Agent darf dort nicht schreiben. Wählen Sie ein Ziel, das Ihnen gehört, oder stellen Sie als root wieder her.',
    'restore.EPERM':
      'Das System erlaubt es dort nicht. Wählen Sie ein anderes Ziel, oder stellen Sie als root wieder her.',
    'drill.ENOENT': 'Nach dem Wiederherstellen war sie nicht da. Prüfen Sie mit allen Daten.',
    'drill.CORRUPT_DATA':
      'Ihr gespeicherter Inhalt ist beschädigt. Prüfen Sie mit allen Daten, und sichern Sie neu.',
  },
};

/** `3 Tage`, nach „seit“: `3 Tagen`. */
function dative(span: string): string {
  return span.replace(/(?:Tage|Monate|Jahre)$/, '$&n');
}
