import type { Statement } from '../../../api/schemas/page/overview.ts';
import { holdfast } from '../../agent/program.ts';
import type { Texts } from '../english/english.ts';
import type { Said } from '../english/overview.ts';

export const overview: Texts['overview'] = {
  justNow: 'à l’instant',
  never: 'jamais',
  home: 'Dossier personnel',
  quoted: (name) => `« ${name} »`,
  more: (count) => (count === 1 ? 'et encore un point à voir' : `et encore ${count} points à voir`),
  moreFiles: (shown) => `${shown} de plus`,
  prefaces: [
    'Protégé, mais attention : ',
    'Protégé, mais ',
    'Protégé, sauf ',
    'Protégé par vos sauvegardes antérieures ; ',
    'Pas encore protégé : ',
    'Non protégé : ',
  ],
  headline: {
    protected: ({ ago }) => `Protégé : dernière sauvegarde réussie ${ago}`,
    no_source: () => 'Non protégé : vous n’avez encore rien choisi à sauvegarder',
    check_failed: ({ what }) => `Non protégé : ${what}`,
    check_warns: ({ what }) => `Protégé, mais attention : ${what}`,
    files_rewritten: ({ count, names }) =>
      `${count('rewritten')} fichiers sur ${count('files_before')} ont été réécrits d’un coup dans ${names}, comme le fait un rançongiciel`,
    source_unreadable: ({ count, names }) =>
      `Sur les ${count('files_before')} fichiers de ${names}, aucun n’a pu être lu lors de la dernière sauvegarde`,
    source_left_out: ({ names }) =>
      `Non protégé : les règles d’exclusion écartent tout ce que contient ${names}`,
    source_empty: ({ number, count, names, reason }) =>
      `${names} ${reason === 'source_missing' ? 'a disparu' : 'est vide'} : à la dernière sauvegarde, il y avait ${count('files_before')} ${number('files_before') < 2 ? 'fichier' : 'fichiers'}`,
    files_disappeared: ({ count, names }) =>
      `${count('files_gone')} fichiers sur ${count('files_before')} ont disparu de ${names}`,
    files_burst: ({ count, names }) =>
      `${count('touched')} fichiers de ${names} sont apparus, ont changé ou ont disparu d’un coup`,
    name_claimed: ({ number, names }) =>
      `La clé en écriture seule ${number('write_only_key')} a enregistré une sauvegarde au nom de ${names}, que d’autres utilisent aussi`,
    destination_gone: ({ to, names, number }) =>
      number('empty') === 1
        ? `Non protégé : les sauvegardes de ${names} ne sont pas dans ${to} : le dossier est vide`
        : `Non protégé : le dossier de ${to} a disparu, et les sauvegardes avec lui`,
    damaged: ({ to }) => `Non protégé : la dernière vérification de ${to} a trouvé des données endommagées`,
    drill_failed: ({ to }) =>
      `Non protégé : des fichiers de ${to} n’ont pas pu être restaurés lors du dernier test`,
    never_backed_up: ({ sources, to, reason }) =>
      `Non protégé : ${
        sources === 1
          ? '{} n’a encore jamais été sauvegardé'
          : `${sources} sources n’ont encore jamais été sauvegardées`
      }${toWords(to)}${because(reason)}`,
    overdue: ({ sources, to, age, reason }) =>
      `Non protégé : ${sources === 1 ? '{} n’a pas été sauvegardé' : `${sources} sources n’ont pas été sauvegardées`}` +
      `${toWords(to)}${age === '' ? ' à temps' : ` depuis ${age}`}${because(reason)}`,
    first_backup_runs: (said) =>
      `${first(said)} ${said.number('waits') === 1 ? 'attend de commencer' : 'est en cours'}`,
    first_backup_paused: (said) => `${first(said)} attend la fin de la pause`,
    last_failed: ({ names, to, ago, reason }) =>
      `Protégé, mais la dernière sauvegarde de ${names}${toWords(to)} a échoué${reason === 'other' ? '' : because(reason)} ; dernière réussite ${ago}`,
    command_failed: ({ names, to }) =>
      `Protégé, mais une commande avant ou après la dernière sauvegarde de ${names}${toWords(to)} a échoué`,
    files_unread: ({ number, count, files }) =>
      `Protégé, sauf ${unread(number, count)}${files === '' ? '' : ` : ${files}`}`,
    clock_behind: ({ span }) =>
      `Protégé, mais l’horloge de cet ordinateur est ou était déréglée : la dernière sauvegarde porte une date en avance de ${span('ahead_ms')}`,
    same_place: ({ to, names }) =>
      `Protégé, mais par moins de copies qu’il n’y paraît : ${to} sont un seul et même endroit, les sauvegardes de ${names} n’y sont qu’une fois`,
    state_nearly_full: ({ size }) =>
      `Protégé, mais il ne reste que ${size('free_bytes')} sur le disque où Holdfast garde son état`,
    check_undone: ({ to }) => `Protégé, mais la vérification de ${to} n’a pas pu avoir lieu`,
    drill_undone: ({ to }) => `Protégé, mais le dernier test de restauration de ${to} n’a pas pu avoir lieu`,
    prune_failed: ({ to }) => `Protégé, mais d’anciens instantanés de ${to} n’ont pas pu être supprimés`,
    paused: ({ ago }) => `En pause : dernière sauvegarde réussie ${ago}, et aucune n’a lieu pour le moment`,
    not_watched: ({ names }) =>
      `Protégé, mais les modifications dans ${names} ne sont pas remarquées tout de suite`,
    destination_away: ({ to, age, number }) =>
      number('far') === 1
        ? `${to} est injoignable ; la dernière sauvegarde y remonte à ${age}`
        : `Le disque ${to} est débranché ; la dernière sauvegarde y remonte à ${age}`,
    same_disk: ({ ago }) =>
      `Protégé contre les erreurs, pas contre une panne de disque : dernière sauvegarde réussie ${ago}`,
    untested: ({ to, span }) =>
      `Protégé, mais aucune restauration de ${to} n’a été essayée depuis ${span('untested_ms')}`,
  },
  todo: {
    files_rewritten: 'Les instantanés plus anciens sont conservés. Regardez d’abord l’alerte.',
    source_unreadable:
      'Les instantanés plus anciens sont conservés. Donnez à Holdfast le droit de lire ces fichiers.',
    source_left_out:
      'Les instantanés plus anciens sont conservés. La tâche indique les règles en cause. Retirez-les, ou supprimez la source. La prochaine sauvegarde lève cet avertissement.',
    source_left_out_before:
      'La tâche indique les règles en cause. Retirez-les, ou supprimez la source. La prochaine sauvegarde lève cet avertissement.',
    source_empty:
      'Les instantanés plus anciens sont conservés. Si c’est un disque, montez-le ; si c’est vide à dessein, dites-le dans l’alerte.',
    source_gone:
      'Les instantanés plus anciens sont conservés. Si c’est un disque, montez-le. Si elle a été effacée, restaurez-la, ou supprimez la source.',
    files_disappeared:
      'Les instantanés plus anciens sont conservés. Restaurez ce qui manque, ou dites dans l’alerte que c’est voulu.',
    files_burst:
      'Les instantanés plus anciens sont conservés. Regardez l’alerte, ou dites-y que c’est voulu.',
    name_claimed:
      'Elle ne compte pas comme sauvegarde de cette machine. Regardez l’alerte : la machine est-elle passée à cette clé, ou la clé est-elle en de mauvaises mains ?',
    destination_gone: 'Remettez le dossier en place, ou choisissez une autre destination.',
    destination_empty:
      'Si c’est un autre disque, branchez le bon. Si les sauvegardes ont été effacées, ajoutez un autre dossier comme destination, et recommencez-y.',
    damaged:
      'Les sauvegardes qui s’y trouvent pourraient ne pas revenir intactes. Contrôlez le disque, sauvegardez de nouveau, puis relancez une vérification. S’il reste des dégâts, supprimez les instantanés qu’elle nomme.',
    drill_failed:
      'Lancez une vérification de toutes les données, sauvegardez de nouveau, puis refaites le test.',
    command_failed:
      'Ce qu’elle prépare, par exemple l’export d’une base de données, peut manquer à cette sauvegarde ou être ancien. Ce qu’elle relance est peut-être encore arrêté. La tâche contient ce qu’elle a affiché.',
    files_unread:
      'Donnez-vous le droit de lire ce qui manque, excluez-le, ou acceptez qu’il manque. La prochaine sauvegarde remettra les choses en ordre.',
    clock_behind:
      'Vérifiez l’horloge, et réglez-la si elle est fausse. La prochaine sauvegarde remettra les choses en ordre.',
    same_place: 'Donnez à chaque destination son propre emplacement, ou n’en gardez qu’une.',
    state_nearly_full: 'Libérez de la place : une fois ce disque plein, les sauvegardes s’arrêtent.',
    check_undone: 'On ne sait pas si les sauvegardes y sont intactes. La tâche dit pourquoi.',
    drill_undone: 'On ne sait pas si les sauvegardes peuvent en être restaurées. La tâche dit pourquoi.',
    prune_failed: 'Ce qui n’y sert plus reste en place. La tâche dit pourquoi.',
    not_watched: `Elles attendent la prochaine sauvegarde planifiée. Pour savoir quoi faire : ${holdfast`doctor`}`,
    same_disk:
      'Vos sauvegardes sont sur le même disque que vos fichiers. S’il tombe en panne, vous perdez les deux.',
    untested: 'Restaurez un fichier que vous connaissez bien, et ouvrez-le.',
  },
  remedies: {
    away: 'Branchez le disque.',
    full: 'Libérez-y de la place, ou conservez moins d’anciens instantanés.',
    other_repository:
      'Branchez le bon disque. Pour utiliser l’autre dépôt, déplacez-le dans un autre dossier, et ajoutez celui-ci comme destination.',
    emptied:
      'Si c’est un disque, montez-le. Si les sauvegardes ont été effacées, ajoutez un autre dossier comme destination, et recommencez-y.',
    locked_out:
      'Indiquez la bonne phrase de passe dans les paramètres de la destination. Elle figure dans le kit de récupération de l’ordinateur qui y a fait les sauvegardes.',
    no_secret: 'La tâche dit lequel, et que faire.',
    denied: 'Vérifiez les identifiants enregistrés pour cette destination.',
    unreachable:
      'Vérifiez que la destination est allumée et branchée, et que le réseau fonctionne. Un nouvel essai se fera tout seul.',
    source_missing: 'Vérifiez le chemin, ou supprimez la source.',
    source_unreadable: 'Autorisez Holdfast à la lire, ou supprimez la source.',
    source_silent: 'Vérifiez que son serveur ou son programme fonctionne, ou démontez-la.',
    source_own: 'Choisissez une autre source, et supprimez celle-ci.',
    source_unfit: 'Choisissez un dossier ou un fichier, et supprimez cette source.',
    source_empty: 'Si c’est un disque, montez-le. Si c’est vide à dessein, dites-le dans l’alerte.',
    read_only:
      'Montez-la en écriture. Si cela s’est produit tout seul, le disque est peut-être en fin de vie.',
    no_permission: 'Vérifiez à qui appartient le dossier de la destination, et ses permissions.',
    foreign:
      'Déplacez ces fichiers, ou choisissez un dossier vide comme destination, par exemple un nouveau dossier en dessous.',
    command: 'Le journal de la tâche contient ce que la commande a affiché. Corrigez la commande.',
    unscheduled:
      'Pour sauvegarder maintenant, choisissez « Sauvegarder maintenant ». Pour le faire régulièrement, donnez une planification à la source dans les paramètres.',
    other: 'La tâche dit ce qui n’a pas marché.',
    none: 'Les tâches disent ce qui s’est passé. Pour réessayer, lancez une sauvegarde.',
    paused: 'Les sauvegardes sont en pause. Reprenez-les.',
  },
  unread: {
    leaveOut: 'Exclure',
    leaveOutOf: (file) => `Exclure : ${file}`,
    accept: 'Accepter',
    acceptOf: (file) => `Accepter que ce soit illisible : ${file}`,
    hint: 'Ce que vous excluez n’est plus sauvegardé. Ce que vous acceptez est réessayé à chaque fois, sans nouvel avertissement.',
    done: 'Enregistré. Une sauvegarde va commencer.',
  },
  unanswered: {
    title: 'Inconnu : l’agent ne répond pas',
    what: (time) =>
      `Ce que vous voyez ci-dessous date du ${time}. Tant que l’agent est arrêté, rien n’est sauvegardé automatiquement. Pour le démarrer : ${holdfast`start`}`,
  },
  nextRun: (when) => `Prochaine sauvegarde prévue ${when}.`,
  nextDue: 'La prochaine sauvegarde est prévue maintenant.',
  watched: 'Les modifications sont sauvegardées en quelques minutes.',
  checksTitle: 'À regarder',
  checks: {
    configuration: {
      short: 'le fichier de configuration est inutilisable',
      todo: `La dernière version valable reste en vigueur. Pour savoir pourquoi : ${holdfast`config validate`}`,
    },
    notices: {
      short: 'les notifications n’arrivent pas',
      todo: 'Envoyez un test depuis les paramètres : il dira ce qui ne va pas.',
    },
    state_full: {
      short: 'le disque où Holdfast garde son état est plein : aucune sauvegarde n’a lieu',
      todo: 'Libérez-y de la place.',
    },
    state_gone: {
      short: 'le dossier où Holdfast garde son état a disparu',
      todo: 'Remettez-le en place, ou montez son disque. D’ici là, aucune sauvegarde n’a lieu.',
    },
    state_lost: {
      short: 'une base de données d’état endommagée a dû être remplacée',
      todo: `Vos sauvegardes sont intactes. Des tâches, des alertes, une pause ou des accès à l’API peuvent manquer : vérifiez, puis confirmez en ligne de commande : ${holdfast`alarms --acknowledge`}`,
    },
    state: {
      short: 'l’agent ne peut pas consigner ce qu’il fait',
      todo: 'Les sauvegardes n’ont pas lieu, ou leur fin n’est pas notée. Libérez de la place sur le disque de son répertoire d’état.',
    },
    catalog: {
      short: 'certains instantanés ne peuvent pas être parcourus en entier',
      todo: 'Un nouvel essai se fera tout seul. Si cela persiste, lancez une vérification : elle dira ce qui est endommagé.',
    },
    device_removed: {
      short: 'votre partenaire ne suit plus cet ordinateur',
      todo: 'Il l’a retiré de sa liste. Les sauvegardes et les restaurations continuent. Pour ne plus rien lui transmettre, quittez le service partenaire.',
    },
    repository_contradicted: {
      short:
        'un dépôt a été remplacé par une copie plus ancienne, ou deux ordinateurs y écrivent comme s’ils n’étaient qu’un',
      todo: `Le service partenaire en connaît plus que ce qui s’y trouve. Pour savoir ce qui manque : ${holdfast`check`}`,
    },
    account_suspended: {
      short: 'votre compte chez votre partenaire est suspendu',
      todo: 'Les sauvegardes et les restaurations continuent. Si vous ne vous y attendiez pas, demandez à votre partenaire.',
    },
    account_suspended_waiting: {
      short:
        'votre compte chez votre partenaire est suspendu : seul ce que vous lancez vous-même est sauvegardé',
      todo: 'Demandez à votre partenaire. Avec le paramètre partner.whileSuspended, les autres sauvegardes attendent que le compte soit de nouveau actif.',
    },
    trial_ended: {
      short: 'votre essai chez votre partenaire est terminé',
      todo: 'Les sauvegardes et les restaurations continuent. Demandez un forfait à votre partenaire.',
    },
    trial_ended_stopping: {
      short: 'votre essai chez votre partenaire est terminé',
      todo: 'Une semaine après la fin, seul ce que vous lancez vous-même sera sauvegardé. Demandez un forfait à votre partenaire.',
    },
    trial_ended_waiting: {
      short:
        'votre essai chez votre partenaire est terminé : seul ce que vous lancez vous-même est sauvegardé',
      todo: 'Demandez un forfait à votre partenaire. Avec le paramètre partner.afterTrial, les autres sauvegardes attendent jusque-là.',
    },
    no_plan: {
      short: 'aucun forfait de votre partenaire n’est en vigueur',
      todo: 'Les sauvegardes et les restaurations continuent, et les programmes ont la limite de l’essai gratuit. Si cela persiste, dites-le à votre partenaire.',
    },
    enrollment_unreadable: {
      short: 'ce qu’il faut à cet ordinateur pour informer votre partenaire est illisible',
      todo: `Les sauvegardes et les restaurations continuent, mais votre partenaire n’en apprend rien. Exécutez ceci, puis inscrivez de nouveau l’ordinateur : ${holdfast`enroll --leave`}`,
    },
  },
  toJobs: 'Voir les tâches',
  toAdvanced: 'Voir les paramètres',
  getBack: 'Récupérer un fichier',
  holdings: {
    files: (count, shown, size) =>
      `${count === 1 ? 'Un fichier est protégé' : `${shown} ${count < 2 ? 'fichier est protégé' : 'fichiers sont protégés'}`} (${size}).`,
    lastFiles: (count, shown, size) =>
      `Les dernières sauvegardes réussies contiennent ${count === 1 ? 'un fichier' : `${shown} ${count < 2 ? 'fichier' : 'fichiers'}`} (${size}).`,
    afterDamage: (count, shown, size) =>
      `Les dernières sauvegardes datent d’après ce que signale l’alerte et contiennent ${count === 1 ? 'un fichier' : `${shown} ${count < 2 ? 'fichier' : 'fichiers'}`} (${size}). Les précédentes sont conservées.`,
    snapshots: (count, shown, size, places) =>
      `${count === 1 ? 'Une sauvegarde occupe' : `${shown} ${count < 2 ? 'sauvegarde occupe' : 'sauvegardes occupent'}`} ${size}${places}.`,
    places: (count) => ` dans ${count} emplacements`,
    share: (share) => `C’est environ ${share} de moins que de simples copies.`,
  },
  timeline: {
    title: 'Les six dernières semaines',
    today: 'Aujourd’hui',
    backup: 'Sauvegardé',
    incomplete: 'Des fichiers manquent',
    failed: 'Échec',
    drill: 'Restauration testée',
    alarm: 'Alerte',
    backups: (count, shown, size) =>
      `${count === 1 ? 'une sauvegarde' : `${shown} ${count < 2 ? 'sauvegarde' : 'sauvegardes'}`}, ${size} enregistrés`,
    ofThemIncomplete: (count) => `${count} ${count < 2 ? 'incomplète' : 'incomplètes'}`,
    ofThemFailed: (count) => `${count} en échec`,
    drilled: 'restauration testée',
    drillFailed: 'test de restauration en échec',
    alarmed: 'alerte',
    nothing: 'aucune sauvegarde',
    summary: (count, shown, size) =>
      `${count === 1 ? 'Une sauvegarde' : `${shown} ${count < 2 ? 'sauvegarde' : 'sauvegardes'}`}, ${size} enregistrés.`,
    summaryFailed: (count) => (count === 1 ? 'Une a échoué.' : `${count} ont échoué.`),
  },
  backUpAll: 'Sauvegarder maintenant',
  started: (count) => (count === 1 ? 'La sauvegarde va commencer.' : `${count} sauvegardes vont commencer.`),
  pause: 'Pause…',
  pauseQuestion: 'Aucune sauvegarde ne commencera pendant ce temps. Ce qui est en cours ira jusqu’au bout.',
  pauseHour: 'Pendant une heure',
  pauseTomorrow: 'Jusqu’à demain matin',
  pauseOpen: 'Jusqu’à ce que je reprenne',
  activeTitle: 'En cours',
  sourcesTitle: 'Ce qui est protégé',
  sources: {
    destination: 'Vers',
    lastGood: 'Dernière sauvegarde réussie',
    last: 'Dernière sauvegarde',
    next: 'Prochaine sauvegarde',
    size: 'Taille',
    history: 'Dernières sauvegardes',
    overdue: 'en retard',
    damaged: 'semble endommagé',
    watching: 'surveillé',
    notWatching: 'seulement selon la planification',
    savedAgo: (ago) => `sauvegardé ${ago}`,
    notYet: 'pas encore sauvegardé',
    earlierAgo: (ago) => `sauvegarde antérieure ${ago}`,
    noSchedule: 'non planifiée',
    files: (count, shown) => (count === 1 ? 'un fichier' : `${shown} ${count < 2 ? 'fichier' : 'fichiers'}`),
    backUp: 'Sauvegarder maintenant',
    backUpOf: (path) => `Sauvegarder maintenant : ${path}`,
    dryRun: 'Simulation',
    dryRunOf: (path) => `Simulation : ${path}`,
    dryRunning: 'Recherche de ce que ferait une sauvegarde…',
    wouldDo: (changed, shown, size, all) =>
      changed === 0
        ? `Une sauvegarde ne trouverait rien de nouveau dans ${all} fichiers.`
        : `Une sauvegarde enregistrerait ${changed === 1 ? 'un fichier nouveau ou modifié' : `${shown} fichiers nouveaux ou modifiés`} sur ${all} : ${size} au plus.`,
    dryRunFailed: 'La simulation s’est mal terminée.',
    toJob: 'Voir la tâche',
    restore: 'Restaurer…',
    restoreOf: (path) => `Restaurer depuis ${path}`,
  },
  history: {
    none: 'Aucune sauvegarde pour l’instant',
    summary: (all, good, warned, failed, canceled) =>
      `${all === 1 ? 'Une sauvegarde' : `${all} sauvegardes`} : ${[
        `${good + warned} ${good + warned < 2 ? 'réussie' : 'réussies'}`,
        ...(warned === 0 ? [] : [`dont ${warned} ${warned < 2 ? 'incomplète' : 'incomplètes'}`]),
        ...(failed === 0 ? [] : [`${failed} en échec`]),
        ...(canceled === 0 ? [] : [`${canceled} ${canceled < 2 ? 'annulée' : 'annulées'}`]),
      ].join(', ')}`,
    run: (when, outcome, files, size) =>
      `${when} : ${outcome}, fichiers modifiés : ${files}, ${size} enregistrés`,
  },
  outcomes: {
    queued: 'en attente',
    running: 'en cours',
    completed: 'succès',
    warning: 'avec avertissements',
    failed: 'échec',
    canceled: 'annulation',
  },
  destinationsTitle: 'Où c’est enregistré',
  destinations: {
    isDefault: 'par défaut',
    reachable: 'joignable',
    away: 'injoignable',
    unknown: 'pas encore utilisée',
    used: (used) => `${used} de sauvegardes`,
    free: (free) => `${free} libres`,
    meter: (name) => `Espace sur ${name}`,
    lastCheck: 'Dernière vérification',
    lastDrill: 'Dernier test de restauration',
    checkNever: 'pas encore vérifié',
    drillNever: 'pas encore testé',
    good: (ago) => `succès, ${ago}`,
    notGood: (outcome, ago) => `${outcome}, ${ago}`,
    chart: (name) => `Espace occupé sur ${name} au fil du temps`,
    change: (from, to, since) => `De ${from} à ${to} depuis le ${since}.`,
    sameDisk: 'sur le même disque que vos fichiers',
    addSecond: 'Ajouter une destination ailleurs',
  },
  allJobs: 'Toutes les tâches',
  emptyTitle: 'Rien n’est encore protégé',
  empty: 'Choisissez ce qu’il faut protéger, et où : cela prend environ trois minutes.',
  emptyStart: 'Commencer',
  noSourceTitle: 'Aucun dossier n’est sauvegardé automatiquement',
  noSource:
    'Des tâches ont eu lieu, mais aucune source n’est définie. Choisissez ce qui doit être sauvegardé désormais.',
};

const BECAUSE: Readonly<Record<NonNullable<Statement['reason']>, string>> = {
  away: ', car le disque de sauvegarde n’est pas branché',
  full: ', car la destination est pleine',
  other_repository: ', car la destination contient un autre dépôt qu’avant',
  emptied: ', car le dépôt n’est plus à la destination',
  locked_out: ', car la phrase de passe de la destination manque ou n’est pas la bonne',
  no_secret: ', car un mot de passe ou une clé de la destination est illisible',
  denied: ', car la destination a refusé la connexion',
  unreachable: ', car la destination était injoignable',
  source_missing: ', car la source est introuvable',
  source_unreadable: ', car la source est illisible',
  source_silent: ', car le système de fichiers de la source ne répond pas',
  source_own: ', car Holdfast ne sauvegarde pas les dossiers où il stocke',
  source_unfit: ', car une source de ce genre ne se sauvegarde pas',
  source_empty: ', car la source est vide',
  read_only: ', car la destination est en lecture seule',
  no_permission: ', car Holdfast n’a pas les droits nécessaires à la destination',
  foreign: ', car la destination contient des fichiers d’un autre programme',
  command: ', car la commande qui la précède a échoué',
  unscheduled: ', car rien ne lance ses sauvegardes : sa planification est désactivée',
  other: ' ; la dernière tentative a échoué',
};

function because(reason: Statement['reason']): string {
  return reason === null ? '' : BECAUSE[reason];
}

/** Of a first backup to a new place, others may be there to restore from. */
function first({ number, to }: Said): string {
  return number('earlier') === 1
    ? `Protégé par vos sauvegardes antérieures ; la première sauvegarde${toWords(to)}`
    : 'Pas encore protégé : la première sauvegarde';
}

function toWords(to: string | null): string {
  return to === null ? '' : ` vers ${to}`;
}

function unread(number: Said['number'], count: Said['count']): string {
  const [files, folders] = [number('files'), number('folders')];
  const ofFiles = files === 1 ? '1 fichier illisible' : `${count('files')} fichiers illisibles`;
  const ofFolders =
    folders === 1
      ? 'le contenu d’un dossier illisible'
      : `le contenu de ${count('folders')} dossiers illisibles`;
  return folders === 0 ? ofFiles : files === 0 ? ofFolders : `${ofFiles} et ${ofFolders}`;
}
