import type { Texts } from '../english/english.ts';

export const common: Texts['common'] = {
  now: 'à l’instant',
  never: 'jamais',
  none: 'aucun',
  colon: ' :',
  optional: 'facultatif',
  back: 'Retour',
  cancel: 'Annuler',
  close: 'Fermer',
  save: 'Enregistrer',
  next: 'Suivant',
  copy: 'Copier',
  copied: 'Copié',
  notCopied: 'La copie n’a pas fonctionné. Sélectionnez le texte et copiez-le vous-même.',
  retry: 'Réessayer',
  loading: 'Chargement…',
  details: 'Détails',
  default: 'par défaut',
  yes: 'Oui',
  no: 'Non',
  commandLine: 'La même chose en ligne de commande',
  file: 'Fichier',
  files: (count, shown) => (count === 1 ? 'un fichier' : `${shown} ${count < 2 ? 'fichier' : 'fichiers'}`),
};

export const app: Texts['app'] = {
  skip: 'Aller au contenu',
  navigation: 'Pages',
  overview: 'Vue d’ensemble',
  restore: 'Restaurer',
  jobs: 'Tâches',
  settings: 'Paramètres',
  signOut: 'Déconnexion',
  language: 'Langue',
  api: 'API Desktop',
  otherVersion: (running, installed) =>
    `La version ${installed} est installée, mais la version ${running} tourne encore. Redémarrez l’agent pour passer à la nouvelle ; les tâches reprendront ensuite.`,
  closedTitle: 'Aucune session n’est ouverte sur cette page',
  closedHow: 'Ouvrez-la depuis la ligne de commande, avec le compte qui fait les sauvegardes :',
  closedOnce: 'L’adresse affichée ne sert qu’une fois, pendant une minute.',
  offline:
    'L’agent ne répond pas. Il est peut-être arrêté, ou en train de démarrer ; cette page réessaie d’elle-même.',
  noSuchPage: 'Cette page n’existe pas',
  toOverview: 'Aller à la vue d’ensemble',
  alarmsOpen: (count) =>
    count === 1 ? 'Une alerte attend votre réponse.' : `${count} alertes attendent votre réponse.`,
  alarmsLook: 'Voir',
  kitUnsaved:
    'Le kit de récupération n’existe que sur cet ordinateur. Sans lui, personne ne pourra lire les sauvegardes si l’ordinateur est perdu.',
  kitUnsavedPartly: 'Le kit de récupération n’existe que sur cet ordinateur. Gardez-en une copie ailleurs.',
  notByKit:
    'Il n’ouvre pas {}. Gardez aussi ce qui ouvre les sauvegardes à cet endroit : le kit de récupération de l’ordinateur qui les a faites, ou la phrase de passe que vous avez choisie pour elles.',
  kitSave: 'Le mettre à l’abri maintenant',
  paused: (until) =>
    until === null
      ? 'Les sauvegardes sont en pause jusqu’à ce que vous les repreniez.'
      : `Les sauvegardes sont en pause jusqu’au ${until}.`,
  resume: 'Reprendre',
};
