import type { Statement } from '../../../api/schemas/page/overview.ts';
import { holdfast } from '../../agent/program.ts';
import type { Texts } from '../english/english.ts';
import type { Said } from '../english/overview.ts';

export const overview: Texts['overview'] = {
  justNow: 'gerade eben',
  never: 'nie',
  home: 'Persönlicher Ordner',
  quoted: (name) => `„${name}“`,
  more: (count) => (count === 1 ? 'und noch etwas' : `und ${count} weitere Dinge`),
  moreFiles: (shown) => `${shown} weitere`,
  prefaces: [
    'Geschützt, aber: ',
    'Geschützt, aber ',
    'Geschützt, außer ',
    'Geschützt durch Ihre früheren Sicherungen; ',
    'Noch nicht geschützt: ',
    'Nicht geschützt: ',
  ],
  headline: {
    protected: ({ ago }) => `Geschützt: letzte gute Sicherung ${ago}`,
    no_source: () => 'Nicht geschützt: noch ist nichts zum Sichern ausgewählt',
    check_failed: ({ what }) => `Nicht geschützt: ${what}`,
    check_warns: ({ what }) => `Geschützt, aber: ${what}`,
    files_rewritten: ({ count, names }) =>
      `${count('rewritten')} von ${count('files_before')} Dateien in ${names} wurden auf einmal neu geschrieben, wie Erpressungsprogramme es tun`,
    source_unreadable: ({ count, names }) =>
      `Von ${count('files_before')} Dateien in ${names} war bei der letzten Sicherung keine lesbar`,
    source_left_out: ({ names }) => `Nicht geschützt: die Ausschlussregeln lassen alles in ${names} weg`,
    source_empty: ({ number, count, names, reason }) =>
      `${names} ${reason === 'source_missing' ? 'ist verschwunden' : 'ist leer'}: bei der letzten Sicherung ${number('files_before') === 1 ? 'war es 1 Datei' : `waren es ${count('files_before')} Dateien`}`,
    files_disappeared: ({ count, names }) =>
      `${count('files_gone')} von ${count('files_before')} Dateien sind aus ${names} verschwunden`,
    files_burst: ({ count, names }) =>
      `${count('touched')} Dateien in ${names} kamen, gingen oder änderten sich auf einmal`,
    name_claimed: ({ number, names }) =>
      `Der Nur-schreiben-Schlüssel ${number('write_only_key')} hat eine Sicherung im Namen von ${names} gespeichert, für den auch andere speichern`,
    destination_gone: ({ to, names, number }) =>
      number('empty') === 1
        ? `Nicht geschützt: die Sicherungen von ${names} liegen nicht in ${to}: der Ordner ist leer`
        : `Nicht geschützt: der Ordner von ${to} ist weg, und mit ihm die Sicherungen`,
    damaged: ({ to }) => `Nicht geschützt: die letzte Prüfung von ${to} fand Schäden`,
    drill_failed: ({ to }) =>
      `Nicht geschützt: Dateien ließen sich bei der letzten Probe nicht aus ${to} wiederherstellen`,
    never_backed_up: ({ sources, to, reason }) =>
      `Nicht geschützt: ${sources === 1 ? '{} wurde' : `${sources} Quellen wurden`} noch nie` +
      `${toWords(to)} gesichert${because(reason)}`,
    overdue: ({ sources, to, age, reason }) =>
      `Nicht geschützt: ${sources === 1 ? '{} wurde' : `${sources} Quellen wurden`} ` +
      `${age === '' ? 'nicht rechtzeitig' : `seit ${dative(age)} nicht`}${toWords(to)} gesichert${because(reason)}`,
    first_backup_runs: (said) => `${first(said)} ${said.number('waits') === 1 ? 'wartet noch' : 'läuft'}`,
    first_backup_paused: (said) => `${first(said)} wartet auf das Ende der Pause`,
    last_failed: ({ names, to, ago, reason }) =>
      `Geschützt, aber die letzte Sicherung von ${names}${toWords(to)} ist gescheitert${reason === 'other' ? '' : because(reason)}; die letzte gute war ${ago}`,
    command_failed: ({ names, to }) =>
      `Geschützt, aber ein Befehl vor oder nach der letzten Sicherung von ${names}${toWords(to)} ist gescheitert`,
    files_unread: ({ number, count, files }) =>
      `Geschützt, außer ${unread(number, count)}${files === '' ? '' : `: ${files}`}`,
    clock_behind: ({ span }) =>
      `Geschützt, aber die Uhr dieses Rechners geht oder ging falsch: die letzte Sicherung trägt eine Zeit in ${dative(span('ahead_ms'))}`,
    same_place: ({ to, names }) =>
      `Geschützt, aber durch weniger Kopien, als es aussieht: ${to} sind derselbe Ort, die Sicherungen von ${names} liegen dort einmal`,
    state_nearly_full: ({ size }) =>
      `Geschützt, aber auf der Platte mit dem Zustand von Holdfast sind nur noch ${size('free_bytes')} frei`,
    check_undone: ({ to }) => `Geschützt, aber ${to} konnte nicht geprüft werden`,
    drill_undone: ({ to }) =>
      `Geschützt, aber die letzte Probe-Wiederherstellung aus ${to} konnte nicht stattfinden`,
    prune_failed: ({ to }) => `Geschützt, aber alte Stände in ${to} ließen sich nicht entfernen`,
    paused: ({ ago }) => `Pause: die letzte gute Sicherung war ${ago}, und zurzeit läuft keine`,
    not_watched: ({ names }) => `Geschützt, aber Änderungen in ${names} werden nicht sofort bemerkt`,
    destination_away: ({ to, age, number }) =>
      number('far') === 1
        ? `${to} ist nicht erreichbar; die letzte Sicherung dorthin ist ${age} alt`
        : `Die Platte ${to} ist nicht angeschlossen; die letzte Sicherung dorthin ist ${age} alt`,
    same_disk: ({ ago }) =>
      `Geschützt vor Versehen, nicht vor einer kaputten Platte: letzte gute Sicherung ${ago}`,
    untested: ({ to, span }) =>
      `Geschützt, aber seit ${dative(span('untested_ms'))} wurde nichts aus ${to} zur Probe wiederhergestellt`,
  },
  todo: {
    files_rewritten: 'Ältere Stände bleiben. Sehen Sie zuerst den Alarm an.',
    source_unreadable: 'Ältere Stände bleiben. Sorgen Sie dafür, dass Holdfast sie lesen darf.',
    source_left_out:
      'Ältere Stände bleiben. Der Auftrag sagt, welche Regeln es sind. Nehmen Sie sie zurück, oder entfernen Sie die Quelle. Die nächste Sicherung hebt die Warnung auf.',
    source_left_out_before:
      'Der Auftrag sagt, welche Regeln es sind. Nehmen Sie sie zurück, oder entfernen Sie die Quelle. Die nächste Sicherung hebt die Warnung auf.',
    source_empty:
      'Ältere Stände bleiben. Ist es eine Platte, hängen Sie sie ein; soll es leer sein, bestätigen Sie das beim Alarm.',
    source_gone:
      'Ältere Stände bleiben. Ist es eine Platte, hängen Sie sie ein. Wurde es gelöscht, stellen Sie es wieder her, oder entfernen Sie die Quelle.',
    files_disappeared:
      'Ältere Stände bleiben. Holen Sie zurück, was fehlt, oder bestätigen Sie beim Alarm, dass das so gewollt ist.',
    files_burst:
      'Ältere Stände bleiben. Sehen Sie den Alarm an, oder bestätigen Sie dort, dass das so gewollt ist.',
    name_claimed:
      'Sie gilt nicht als Sicherung dieses Rechners. Sehen Sie den Alarm an: Ist der Rechner zu diesem Schlüssel gewechselt, oder ist der Schlüssel in falschen Händen?',
    destination_gone: 'Legen Sie den Ordner zurück, oder wählen Sie ein anderes Ziel.',
    destination_empty:
      'Ist es eine andere Platte, schließen Sie die richtige an. Wurden die Sicherungen gelöscht, richten Sie einen anderen Ordner als Ziel ein und fangen dort neu an.',
    damaged:
      'Sicherungen dort kommen vielleicht nicht heil zurück. Prüfen Sie die Platte, sichern Sie erneut, und prüfen Sie dann noch einmal. Bleiben Schäden, entfernen Sie die Stände, die die Prüfung nennt.',
    drill_failed: 'Prüfen Sie alle Daten, sichern Sie erneut, und proben Sie dann noch einmal.',
    command_failed:
      'Was er vorbereitet, etwa der Auszug einer Datenbank, kann in dieser Sicherung fehlen oder veraltet sein. Was er wieder startet, steht vielleicht noch. Beim Auftrag steht, was er ausgegeben hat.',
    files_unread:
      'Geben Sie sich das Recht, das Fehlende zu lesen, lassen Sie es weg, oder nehmen Sie es hin. Die nächste Sicherung bringt das in Ordnung.',
    clock_behind:
      'Prüfen Sie die Uhr, und stellen Sie sie, wenn sie falsch geht. Die nächste Sicherung bringt das in Ordnung.',
    same_place: 'Geben Sie jedem Ziel einen eigenen Ort, oder behalten Sie eines davon.',
    state_nearly_full: 'Schaffen Sie dort Platz: Ist sie voll, enden die Sicherungen.',
    check_undone: 'Ob die Sicherungen dort heil sind, ist nicht bekannt. Der Auftrag sagt, warum.',
    drill_undone:
      'Ob sich die Sicherungen dort wiederherstellen lassen, ist nicht bekannt. Der Auftrag sagt, warum.',
    prune_failed: 'Was dort nicht mehr gebraucht wird, bleibt. Der Auftrag sagt, warum.',
    not_watched: `Sie warten auf die nächste Sicherung nach Zeitplan. Was zu tun ist, sagt: ${holdfast`doctor`}`,
    same_disk:
      'Ihre Sicherungen liegen auf derselben Platte wie Ihre Dateien. Geht sie kaputt, ist beides verloren.',
    untested: 'Stellen Sie eine Datei wieder her, die Sie kennen, und sehen Sie sie an.',
  },
  remedies: {
    away: 'Schließen Sie die Platte an.',
    full: 'Schaffen Sie dort Platz, oder behalten Sie weniger alte Stände.',
    other_repository:
      'Schließen Sie die richtige Platte an. Soll das andere Repository dienen, verschieben Sie es in einen anderen Ordner, und richten Sie diesen als Ziel ein.',
    emptied:
      'Ist es eine Platte, hängen Sie sie ein. Wurden die Sicherungen gelöscht, richten Sie einen anderen Ordner als Ziel ein und fangen dort neu an.',
    locked_out:
      'Tragen Sie in den Einstellungen des Ziels die richtige Passphrase ein. Sie steht im Notfallblatt des Rechners, der die Sicherungen dort gemacht hat.',
    no_secret: 'Der Auftrag sagt, welches, und was zu tun ist.',
    denied: 'Sehen Sie nach, womit die Einstellungen sich dort anmelden.',
    unreachable:
      'Sehen Sie nach, ob es an und angeschlossen ist und das Netz geht. Holdfast versucht es weiter.',
    source_missing: 'Prüfen Sie den Pfad, oder entfernen Sie die Quelle.',
    source_unreadable: 'Erlauben Sie Holdfast, sie zu lesen, oder entfernen Sie die Quelle.',
    source_silent: 'Prüfen Sie, ob ihr Server oder Programm läuft, oder hängen Sie sie aus.',
    source_own: 'Wählen Sie eine andere Quelle, und entfernen Sie diese.',
    source_unfit: 'Wählen Sie einen Ordner oder eine Datei, und entfernen Sie diese Quelle.',
    source_empty: 'Ist es eine Platte, hängen Sie sie ein. Soll es leer sein, bestätigen Sie das beim Alarm.',
    read_only: 'Hängen Sie es zum Schreiben ein. Kam das von selbst, ist die Platte vielleicht am Ende.',
    no_permission: 'Sehen Sie nach, wem der Ordner des Ziels gehört, und welche Rechte er hat.',
    foreign:
      'Verschieben Sie diese Dateien, oder wählen Sie einen leeren Ordner als Ziel, etwa einen neuen darunter.',
    command: 'Was der Befehl ausgab, steht im Protokoll des Auftrags. Berichtigen Sie den Befehl.',
    unscheduled:
      '„Jetzt sichern“ sichert einmal. Damit es regelmäßig geschieht, geben Sie der Quelle in den Einstellungen einen Zeitplan.',
    other: 'Der Auftrag sagt, was schiefging.',
    none: 'Die Aufträge sagen, was geschah. „Jetzt sichern“ versucht es noch einmal.',
    paused: 'Die Sicherungen sind angehalten. Setzen Sie sie fort.',
  },
  unread: {
    leaveOut: 'Weglassen',
    leaveOutOf: (file) => `Weglassen: ${file}`,
    accept: 'Hinnehmen',
    acceptOf: (file) => `Hinnehmen, dass es nicht lesbar ist: ${file}`,
    hint: 'Weggelassenes wird nicht gesichert. Hingenommenes versucht Holdfast jedes Mal und warnt nicht mehr davor.',
    done: 'Gespeichert. Eine Sicherung läuft an.',
  },
  unanswered: {
    title: 'Nicht bekannt: der Agent antwortet nicht',
    what: (time) =>
      `Was Sie unten sehen, ist vom Stand ${time}. Solange der Agent nicht läuft, wird nichts automatisch gesichert. So starten Sie ihn: ${holdfast`start`}`,
  },
  nextRun: (when) => `Die nächste Sicherung ist ${when} fällig.`,
  nextDue: 'Die nächste Sicherung ist jetzt fällig.',
  watched: 'Änderungen werden innerhalb von Minuten gesichert.',
  checksTitle: 'Bitte ansehen',
  checks: {
    configuration: {
      short: 'die Konfigurationsdatei ist nicht zu gebrauchen',
      todo: `Die letzte gültige bleibt in Kraft. Warum, sagt: ${holdfast`config validate`}`,
    },
    notices: {
      short: 'Nachrichten kommen nicht an',
      todo: 'Senden Sie aus den Einstellungen eine Probe: Sie sagt, woran es liegt.',
    },
    state_full: {
      short: 'die Platte mit dem Zustand von Holdfast ist voll, daher entstehen keine Sicherungen',
      todo: 'Schaffen Sie dort Platz.',
    },
    state_gone: {
      short: 'der Ordner, in dem Holdfast seinen Zustand hält, ist weg',
      todo: 'Legen Sie ihn zurück, oder hängen Sie seine Platte ein. Bis dahin entstehen keine Sicherungen.',
    },
    state_lost: {
      short: 'eine beschädigte Zustandsdatenbank musste ersetzt werden',
      todo: `Ihre Sicherungen sind heil. Frühere Aufträge, Alarme, eine Pause und API-Zugänge fehlen vielleicht: Sehen Sie nach, und bestätigen Sie dies auf der Befehlszeile: ${holdfast`alarms --acknowledge`}`,
    },
    state: {
      short: 'der Agent kann nicht festhalten, was er tut',
      todo: 'Sicherungen unterbleiben, oder ihr Ende wird nicht vermerkt. Schaffen Sie Platz auf der Platte seines Zustandsverzeichnisses.',
    },
    catalog: {
      short: 'manche Stände lassen sich nicht ganz durchsehen',
      todo: 'Das wird von selbst wieder versucht. Bleibt es dabei, prüfen Sie die Daten: Das sagt, was beschädigt ist.',
    },
    device_removed: {
      short: 'Ihr Partner kümmert sich nicht mehr um diesen Rechner',
      todo: 'Er hat ihn entfernt. Sicherungen und Wiederherstellungen laufen weiter. Damit ihm nichts mehr berichtet wird, melden Sie den Rechner vom Partnerdienst ab.',
    },
    repository_contradicted: {
      short:
        'ein Repository wurde durch eine ältere Kopie ersetzt, oder zwei Rechner schreiben hinein, als wären sie einer',
      todo: `Der Partnerdienst kennt mehr davon, als da ist. Was fehlt, sagt: ${holdfast`check`}`,
    },
    account_suspended: {
      short: 'Ihr Konto beim Partner ist gesperrt',
      todo: 'Sicherungen und Wiederherstellungen laufen weiter. Kommt das unerwartet, fragen Sie Ihren Partner.',
    },
    account_suspended_waiting: {
      short: 'Ihr Konto beim Partner ist gesperrt, gesichert wird nur, was Sie selbst anstoßen',
      todo: 'Fragen Sie Ihren Partner. Wegen der Einstellung partner.whileSuspended warten die übrigen Sicherungen, bis das Konto wieder aktiv ist.',
    },
    trial_ended: {
      short: 'Ihre Probe beim Partner ist vorbei',
      todo: 'Sicherungen und Wiederherstellungen laufen weiter. Bitten Sie Ihren Partner um einen Tarif.',
    },
    trial_ended_stopping: {
      short: 'Ihre Probe beim Partner ist vorbei',
      todo: 'Eine Woche nach ihrem Ende wird nur noch gesichert, was Sie selbst anstoßen. Bitten Sie Ihren Partner um einen Tarif.',
    },
    trial_ended_waiting: {
      short: 'Ihre Probe beim Partner ist vorbei, gesichert wird nur, was Sie selbst anstoßen',
      todo: 'Bitten Sie Ihren Partner um einen Tarif. Wegen der Einstellung partner.afterTrial warten die übrigen Sicherungen bis dahin.',
    },
    no_plan: {
      short: 'es gilt kein Tarif Ihres Partners',
      todo: 'Sicherungen und Wiederherstellungen laufen weiter; für Programme gilt die Grenze der kostenlosen Probe. Bleibt es dabei, sagen Sie es Ihrem Partner.',
    },
    enrollment_unreadable: {
      short: 'was dieser Rechner für Berichte an Ihren Partner braucht, ist nicht lesbar',
      todo: `Sicherungen und Wiederherstellungen laufen weiter, aber Ihr Partner erfährt nichts davon. Führen Sie dies aus, und melden Sie den Rechner dann neu an: ${holdfast`enroll --leave`}`,
    },
  },
  toJobs: 'Zu den Aufträgen',
  toAdvanced: 'Zu den Einstellungen',
  getBack: 'Datei zurückholen',
  holdings: {
    files: (count, shown, size) =>
      `${count === 1 ? 'Eine Datei ist' : `${shown} Dateien sind`} geschützt (${size}).`,
    lastFiles: (count, shown, size) =>
      `Die letzten guten Sicherungen haben ${count === 1 ? 'eine Datei' : `${shown} Dateien`} (${size}).`,
    afterDamage: (count, shown, size) =>
      `Die neuesten Sicherungen sind nach dem entstanden, was der Alarm meldet, und haben ${count === 1 ? 'eine Datei' : `${shown} Dateien`} (${size}). Frühere bleiben erhalten.`,
    snapshots: (count, shown, size, places) =>
      `${count === 1 ? 'Eine Sicherung belegt' : `${shown} Sicherungen belegen`}${places} ${size}.`,
    places: (count) => ` an ${count} Orten`,
    share: (share) => `Das sind etwa ${share} weniger als einfache Kopien.`,
  },
  timeline: {
    title: 'Die letzten sechs Wochen',
    today: 'Heute',
    backup: 'Gesichert',
    incomplete: 'Einige Dateien fehlen',
    failed: 'Gescheitert',
    drill: 'Wiederherstellung geprobt',
    alarm: 'Alarm',
    backups: (count, shown, size) =>
      `${count === 1 ? 'eine Sicherung' : `${shown} Sicherungen`}, ${size} gespeichert`,
    ofThemIncomplete: (count) => `${count} ohne einige Dateien`,
    ofThemFailed: (count) => `${count} gescheitert`,
    drilled: 'Wiederherstellung geprobt',
    drillFailed: 'Probe gescheitert',
    alarmed: 'Alarm',
    nothing: 'keine Sicherung',
    summary: (count, shown, size) =>
      `${count === 1 ? 'Eine Sicherung' : `${shown} Sicherungen`}, ${size} gespeichert.`,
    summaryFailed: (count) => `${count === 1 ? 'Eine ist' : `${count} sind`} gescheitert.`,
  },
  backUpAll: 'Jetzt sichern',
  started: (count) => (count === 1 ? 'Die Sicherung läuft an.' : `${count} Sicherungen laufen an.`),
  pause: 'Pause …',
  pauseQuestion: 'Wie lange sollen Sicherungen ruhen? Was gerade läuft, wird noch fertig.',
  pauseHour: 'Eine Stunde',
  pauseTomorrow: 'Bis morgen früh',
  pauseOpen: 'Bis ich sie fortsetze',
  activeTitle: 'Läuft gerade',
  sourcesTitle: 'Was geschützt ist',
  sources: {
    destination: 'Nach',
    lastGood: 'Letzte gute Sicherung',
    last: 'Letzte Sicherung',
    next: 'Nächster Lauf',
    size: 'Größe',
    history: 'Letzte Läufe',
    overdue: 'überfällig',
    damaged: 'sieht beschädigt aus',
    watching: 'beobachtet',
    notWatching: 'nur nach Zeitplan',
    savedAgo: (ago) => `gesichert ${ago}`,
    notYet: 'noch nicht gesichert',
    earlierAgo: (ago) => `frühere Sicherung ${ago}`,
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
    dryRunFailed: 'Der Probelauf kam nicht zu Ende.',
    toJob: 'Auftrag ansehen',
    restore: 'Wiederherstellen …',
    restoreOf: (path) => `Wiederherstellen aus ${path}`,
  },
  history: {
    none: 'Noch kein Lauf',
    summary: (all, good, warned, failed, canceled) =>
      `${all === 1 ? 'Ein Lauf' : `${all} Läufe`}: ${[
        `${good + warned} gut`,
        ...(warned === 0 ? [] : [`${warned} davon ohne einige Dateien`]),
        ...(failed === 0 ? [] : [`${failed} gescheitert`]),
        ...(canceled === 0 ? [] : [`${canceled} abgebrochen`]),
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
  destinationsTitle: 'Wo Ihre Sicherungen liegen',
  destinations: {
    isDefault: 'Standardziel',
    reachable: 'erreichbar',
    away: 'nicht erreichbar',
    unknown: 'noch nicht benutzt',
    used: (used) => `${used} von Sicherungen belegt`,
    free: (free) => `${free} frei`,
    meter: (name) => `Platz bei ${name}`,
    lastCheck: 'Letzte Prüfung',
    lastDrill: 'Letzte Probe-Wiederherstellung',
    checkNever: 'noch nicht geprüft',
    drillNever: 'Wiederherstellung noch nicht geprobt',
    good: (ago) => `gut, ${ago}`,
    notGood: (outcome, ago) => `${outcome}, ${ago}`,
    chart: (name) => `Gespeichert bei ${name} im Lauf der Zeit`,
    change: (from, to, since) => `Von ${from} auf ${to} seit ${since}.`,
    sameDisk: 'auf derselben Platte wie Ihre Dateien',
    addSecond: 'Ein Ziel an einem anderen Ort einrichten',
  },
  allJobs: 'Alle Aufträge',
  emptyTitle: 'Noch ist nichts geschützt',
  empty:
    'Wählen Sie aus, was geschützt werden soll und wohin die Sicherungen sollen. Das dauert etwa drei Minuten.',
  emptyStart: 'Anfangen',
  noSourceTitle: 'Kein Ordner wird automatisch gesichert',
  noSource:
    'Es liefen Aufträge, aber keine Quelle ist eingerichtet. Wählen Sie, was von nun an gesichert wird.',
};

/** `3 Tage` as it is written after „seit“: `3 Tagen`. */
function dative(span: string): string {
  return span.replace(/(?:Tage|Monate|Jahre)$/, '$&n');
}

const BECAUSE: Readonly<Record<NonNullable<Statement['reason']>, string>> = {
  away: ', denn die Platte für die Sicherungen ist nicht angeschlossen',
  full: ', denn das Ziel ist voll',
  other_repository: ', denn am Ziel liegt ein anderes Repository als zuvor',
  emptied: ', denn das Repository am Ziel ist nicht mehr da',
  locked_out: ', denn die Passphrase des Ziels passt nicht oder fehlt',
  no_secret: ', denn ein Passwort oder Schlüssel für das Ziel ist nicht zu lesen',
  denied: ', denn das Ziel hat die Anmeldung abgelehnt',
  unreachable: ', denn das Ziel war nicht erreichbar',
  source_missing: ', denn die Quelle ist nicht da',
  source_unreadable: ', denn die Quelle ist nicht lesbar',
  source_silent: ', denn das Dateisystem der Quelle antwortet nicht',
  source_own: ', denn Ordner, in denen Holdfast speichert, sichert es nicht',
  source_unfit: ', denn eine solche Quelle lässt sich nicht sichern',
  source_empty: ', denn die Quelle ist leer',
  read_only: ', denn am Ziel darf nur gelesen werden',
  no_permission: ', denn Holdfast hat am Ziel nicht die nötigen Rechte',
  foreign: ', denn am Ziel liegen Dateien eines anderen Programms',
  command: ', denn der Befehl davor ist gescheitert',
  unscheduled: ', denn nichts beginnt ihre Sicherungen: ihr Zeitplan ist aus',
  other: '; der letzte Versuch ist gescheitert',
};

function because(reason: Statement['reason']): string {
  return reason === null ? '' : BECAUSE[reason];
}

/** Of a first backup to a new place, others may be there to restore from. */
function first({ number, to }: Said): string {
  return number('earlier') === 1
    ? `Geschützt durch Ihre früheren Sicherungen; die erste Sicherung${toWords(to)}`
    : 'Noch nicht geschützt: die erste Sicherung';
}

function toWords(to: string | null): string {
  return to === null ? '' : ` nach ${to}`;
}

function unread(number: Said['number'], count: Said['count']): string {
  const [files, folders] = [number('files'), number('folders')];
  const ofFiles =
    files === 1 ? '1 Datei, die nicht lesbar war' : `${count('files')} Dateien, die nicht lesbar waren`;
  const ofFolders =
    folders === 1
      ? 'dem Inhalt eines Ordners, der nicht lesbar war'
      : `dem Inhalt von ${count('folders')} Ordnern, die nicht lesbar waren`;
  return folders === 0 ? ofFiles : files === 0 ? ofFolders : `${ofFiles}, und ${ofFolders}`;
}
