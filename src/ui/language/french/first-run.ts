import type { Texts } from '../english/english.ts';

export const firstRun: Texts['firstRun'] = {
  title: 'Protéger cet ordinateur',
  notNow: 'Pas maintenant',
  stepsLabel: 'Étapes',
  steps: { what: 'Quoi', where: 'Où', kit: 'Kit de récupération', run: 'Première sauvegarde' },
  what: {
    title: 'Que faut-il protéger ?',
    lead: 'Tout ce que contiennent les dossiers choisis est sauvegardé, sauf les caches et la corbeille, puis tout ce qui y change.',
    legend: 'Dossiers',
    kinds: {
      home: 'Votre dossier personnel',
      documents: 'Documents',
      pictures: 'Images',
      desktop: 'Bureau',
      music: 'Musique',
      videos: 'Vidéos',
      etc: 'Configuration du système',
      srv: 'Données des services',
      www: 'Sites web',
      own: 'Choisi par vous',
    },
    isWithin: 'déjà compris',
    isProtected: 'déjà protégé',
    counting: 'calcul en cours…',
    waiting: 'bientôt calculé',
    size: (size, count, shown) =>
      count === 1 ? `${size} dans un fichier` : `${size} dans ${shown} ${count < 2 ? 'fichier' : 'fichiers'}`,
    atLeast: (size) => `au moins ${size}`,
    unreadable: (count, shown) =>
      count === 1 ? 'un élément y est illisible' : `${shown} éléments y sont illisibles`,
    uncounted: 'calcul impossible',
    total: (size, isComplete) => (isComplete ? `Total : ${size}.` : `Total : au moins ${size}.`),
    add: 'Un autre dossier…',
    addTitle: 'Quel dossier faut-il protéger ?',
    nothing: 'Choisissez au moins un dossier.',
    leftOut: 'Ce qui est exclu, et pourquoi',
    leftOutLead:
      'Les caches, la corbeille et d’autres fichiers qui ne vous manqueraient pas. Tout cela peut se changer dans les paramètres.',
    rules: {
      caches: [
        'Caches',
        'les programmes les recréent : .cache, Library/Caches, __pycache__, les paquets téléchargés comme dans .npm et .cargo/registry, et les dossiers contenant un CACHEDIR.TAG',
      ],
      trash: ['Corbeille', 'ce que vous avez jeté : .Trash, .local/share/Trash, $RECYCLE.BIN'],
      system: ['Restes du système', 'ils ne servent à personne : .DS_Store, Thumbs.db, lost+found'],
      marked: [
        'Ce que vous marquez',
        'les dossiers contenant un fichier .nobackup, et ce que désigne un fichier .holdfastignore',
      ],
    },
    found: (count, shown) =>
      count === 1
        ? 'Sur cet ordinateur, cela fait un fichier :'
        : `Sur cet ordinateur, cela fait ${shown} fichiers, entre autres :`,
    reasons: {
      pattern: 'règle',
      ignore_file: 'fichier d’exclusion',
      cache: 'cache',
      if_present: 'marqué',
      larger_than: 'trop gros',
      other_file_system: 'autre système de fichiers',
      never: 'propre à Holdfast',
    },
  },
  where: {
    title: 'Où mettre les sauvegardes ?',
    lead: 'Choisissez un endroit qui survivrait à un incendie, à un vol ou à une panne de cet ordinateur.',
    legend: 'Destination',
    here: 'Sur cet ordinateur',
    hereNote: 'Prêt tout de suite. Permet de retrouver ce qui a été supprimé ou écrasé.',
    present: 'La destination actuelle des sauvegardes',
    elsewhere: 'Ailleurs',
    elsewhereNote:
      'Un autre disque, un serveur ou un cloud : un endroit qui survivrait à la perte de cet ordinateur.',
    hereWarning:
      'Vos sauvegardes seront sur le même disque que vos fichiers. Si le disque tombe en panne, vous perdez les deux. Ajoutez plus tard une deuxième destination.',
  },
  kit: {
    title: 'Mettre à l’abri le kit de récupération',
    lead: 'Les sauvegardes sont chiffrées. Si cet ordinateur est perdu, seul ce kit permet de les ouvrir. Gardez-le ailleurs que sur l’ordinateur : sur papier, ou dans un gestionnaire de mots de passe.',
    leadOther:
      'Les sauvegardes sont chiffrées. Ce kit ouvre ce que cet ordinateur enregistre à de nouveaux endroits. Gardez-le ailleurs que sur l’ordinateur : sur papier, ou dans un gestionnaire de mots de passe.',
    download: 'Le télécharger',
    print: 'L’imprimer',
    confirm: 'Je l’ai mis à l’abri ailleurs',
    confirmHint:
      'La page est alors supprimée de cet ordinateur. L’agent garde ce qu’il lui faut pour sauvegarder ; quelqu’un qui accéderait à votre compte ici pourrait donc toujours lire les sauvegardes.',
    later: 'Plus tard, rappelez-le-moi',
    saved: (when) =>
      when === null
        ? 'Le kit est à l’abri ailleurs.'
        : `Vous avez indiqué le ${when} que le kit est à l’abri ailleurs.`,
    none: 'Il n’y a pas de kit sur cet ordinateur : le dépôt a été créé avec votre propre phrase de passe.',
  },
  run: {
    title: 'La première sauvegarde',
    lead: 'Elle lit tout une fois et peut durer un moment ; les suivantes prennent quelques secondes.',
    protects: 'Protège',
    to: 'Vers',
    when: 'Quand',
    whenText: 'Toutes les 4 heures, et en quelques minutes après chaque modification',
    here: 'Sur cet ordinateur',
    start: 'Lancer la première sauvegarde',
    saving: 'Enregistrement des paramètres…',
    under: 'La première sauvegarde est en cours. Vous pouvez fermer cette page : elle continue toute seule.',
    stuck:
      'Elle n’a pas encore abouti. Corrigez ce qui est indiqué ici, puis réessayez ; ou choisissez une autre destination.',
    otherPlace: 'Destinations',
    waits: 'attend son tour',
    done: 'terminé',
    failed: 'n’a pas abouti',
    why: 'Voir pourquoi',
    again: 'Réessayer',
    ok: 'La première sauvegarde est faite. Les suivantes se feront toutes seules.',
    kitLeft: 'Il reste une chose à faire : le kit de récupération n’existe encore que sur cet ordinateur.',
    kitNow: 'Le mettre à l’abri maintenant',
    toOverview: 'Aller à la vue d’ensemble',
    toRestore: 'Voir ce qui a été sauvegardé',
    toDestinations: 'Ajouter une deuxième destination',
  },
};
