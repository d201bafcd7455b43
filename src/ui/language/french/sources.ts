import type { Texts } from '../english/english.ts';

export const sources: Texts['sources'] = {
  about: 'Ce qui est sauvegardé, à quelle fréquence, et ce qui en est exclu.',
  none: 'Rien n’est encore sauvegardé.',
  state: 'Dernière sauvegarde réussie',
  neverBackedUp: 'Pas encore',
  backedUp: (age) => age,
  watched: 'quelques minutes après une modification',
  polled: 'recherche les modifications',
  removeQuestion: 'Elle ne sera plus sauvegardée. Ses instantanés restent, et peuvent être restaurés.',
  removeYes: 'Ne plus la sauvegarder',
  addTitle: 'Ajouter une source',
  pathHint: 'Par exemple /home/moi/Images, ou ~/Images.',
  isThere: 'C’est déjà une source.',
  choose: 'Choisir…',
  chooseTitle: 'Que faut-il sauvegarder ?',
  whereTo: 'Où',
  defaultDestination: 'La destination par défaut',
  severalHint: 'Elle est lue une fois, puis enregistrée dans chacune d’elles, à son rythme.',
  when: 'Quand',
  watchHint: 'Sans planification : ce qui change est sauvegardé peu après.',
  pollHint: 'Pour les lecteurs réseau, qui ne signalent pas les modifications.',
  leftOut: 'Ce qui est exclu',
  patternsHint:
    'Une par ligne, comme dans .gitignore : *.tmp, build/, /cache/ ; et !keep.tmp réintègre. Votre propre liste remplace celle par défaut.',
  ignoreFilesHint: 'Leurs lignes sont de telles règles pour le dossier où ils se trouvent.',
  acceptHint: 'Chemins complets, un par ligne. Ils sont réessayés à chaque sauvegarde, sans avertissement.',
  ifPresentHint: 'Le contenu des dossiers où se trouve un tel fichier est exclu.',
  largerHint: 'Par exemple 4 GiB ou 500M. Vide : aucune limite.',
  cachesHint: 'Les dossiers que des programmes marquent par un fichier CACHEDIR.TAG.',
  oneFileSystemHint: 'Les autres disques qui y sont montés sont exclus.',
  stored: 'Comment c’est enregistré',
  tagsHint: 'Des mots qui marquent ses instantanés, un par ligne.',
  encryptionRequired: 'Les paramètres refusent les sauvegardes sans chiffrement.',
  deduplicationHint: 'Y compris ce que contiennent déjà d’autres instantanés.',
  hooks: 'Commandes avant et après',
  hooksAbout:
    'Ces commandes s’exécutent avec les droits de l’agent. La page ne doit pas les modifier ; les commandes ci-dessous le font, sur l’ordinateur lui-même.',
  hookExample: { before: 'pg_dump shop > ~/shop.sql', after: 'rm -f ~/shop.sql' },
  count: 'Voir ce que cela représente',
  countAgain: 'Recalculer',
  counting: 'Calcul en cours…',
  outdated: 'Les règles ont été modifiées depuis. Recalculez pour voir leur effet.',
  estimated: (files, bytes, isComplete) =>
    isComplete ? `${files}, ${bytes}.` : `Au moins ${files}, ${bytes} : le calcul prenait trop de temps.`,
  excludedCount: (count, shown) =>
    count === 0
      ? 'Rien n’est exclu.'
      : count === 1
        ? 'Un élément est exclu.'
        : `${shown} éléments sont exclus.`,
  unreadable: (count, shown) =>
    count === 1 ? 'Un élément est illisible.' : `${shown} éléments sont illisibles.`,
  excludedTitle: 'Ce qui est exclu, et pourquoi',
  largestTitle: 'Les plus gros dossiers',
  path: 'Chemin',
  why: 'Pourquoi',
  reasons: {
    pattern: 'règle',
    ignore_file: 'règle dans la source',
    cache: 'marqué comme cache',
    if_present: 'fichier marqueur',
    larger_than: 'plus gros que',
    other_file_system: 'autre système de fichiers',
    never: 'jamais sauvegardé',
  },
};
