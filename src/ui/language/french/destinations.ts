import type { Texts } from '../english/english.ts';

export const destinations: Texts['destinations'] = {
  about:
    'Là où vont les sauvegardes. Deux destinations sont plus sûres qu’une seule ; l’une d’elles devrait être ailleurs.',
  here: 'Sur cet ordinateur',
  commandName: 'Dans les commandes, son nom est « embedded ».',
  usedBy: 'Utilisée par',
  space: 'Espace',
  used: (bytes) => `${bytes} occupés`,
  free: (bytes) => `${bytes} libres`,
  unknown: 'inconnu',
  lastCheck: 'Dernière vérification',
  checkGood: 'tout est bon',
  checkWarns: 'avec des avertissements',
  checkFailed: 'en échec',
  reachable: 'joignable',
  unreachable: 'injoignable',
  lost: { emptied: 'plus de sauvegardes', other_repository: 'autre dépôt' },
  whyAway: {
    not_mounted:
      'Aucun disque ni partage réseau n’y est monté. Branchez-le ; les sauvegardes reprendront toutes seules.',
    not_there: 'Le dossier n’est pas là. Branchez son disque, ou voyez s’il a été déplacé.',
    no_answer:
      'La dernière sauvegarde n’a pas obtenu de réponse. Vérifiez que la destination est allumée et connectée.',
  },
  notTried: 'pas encore utilisée',
  untested: 'pas encore testée',
  untestedHint:
    'Elle a été ajoutée sans test. Testez-la dès qu’elle est accessible : d’ici là, aucune sauvegarde n’y va.',
  earlier: 'sauvegardes précédentes',
  earlierHint:
    'Vos sauvegardes précédentes sont ici et peuvent être restaurées. Les nouvelles vont ailleurs, à moins que vous n’en refassiez la destination par défaut.',
  test: 'Tester',
  testing: 'Test en cours…',
  makeDefault: 'Utiliser par défaut',
  removeQuestion: 'Plus rien n’y sera envoyé. Ce qui y est enregistré reste.',
  removeInUse:
    'Ces dossiers y sont sauvegardés. Donnez-leur d’abord une autre destination, sous « Sources et exclusions » :',
  removeDefault: (next) =>
    `C’est la destination par défaut. Une fois retirée, ce qui y allait ira vers ${next}.`,
  onThisComputer: 'le dépôt de cet ordinateur',
  removeYes: 'Retirer des paramètres',
  addTitle: 'Ajouter une destination',
  name: 'Nom',
  nameHint: 'Lettres, chiffres, - et _.',
  nameWrong: 'Lettres, chiffres, - et _, en commençant par une lettre.',
  nameTaken: 'Ce nom est déjà pris.',
  use: 'À quoi sert-elle ?',
  uses: {
    as_well: 'Les nouvelles sauvegardes vont ici en plus de : {}',
    instead: 'Les nouvelles sauvegardes vont ici à la place de : {}',
    later: 'Pas encore utilisée',
  },
  useNotes: {
    as_well: 'Deux copies : chacune permet de restaurer.',
    instead: 'Les sauvegardes antérieures restent où elles sont, d’où l’on peut les restaurer.',
    later: 'Vous choisirez plus tard quels dossiers y vont.',
  },
  take: 'Utiliser',
  takeAnyway: 'Utiliser quand même',
  more: 'Autres paramètres',
  commandHint: 'Détermine ce qui est exécuté : cette commande le modifie, sur l’ordinateur lui-même.',
  machineKey: 'Celle du kit de récupération de cet ordinateur.',
  passphraseAbout:
    'La page ne doit pas changer son emplacement. Cette commande le fait, sur l’ordinateur lui-même :',
  onlyByCommand: 'Cette adresse en dit plus que le formulaire ne peut montrer. Une commande la modifie :',
};

export const encryption: Texts['encryption'] = {
  kit: 'Kit de récupération',
  kitWhat:
    'Une page avec une phrase de passe et un code de récupération. Chacun des deux ouvre, sur n’importe quelle machine, les sauvegardes de cet ordinateur et de chaque destination qui n’a pas reçu sa propre phrase de passe. Qui les détient peut les lire ; sans eux, personne ne le peut une fois cet ordinateur perdu.',
  kitNone: 'Il n’y en a pas : aucun dépôt propre n’a été créé sur cet ordinateur.',
  kitSaved: 'À l’abri ailleurs',
  kitSavedAt: (time) =>
    `Vous l’avez indiqué le ${time}. L’agent garde ce qu’il lui faut pour sauvegarder ; la page elle-même n’est plus sur cet ordinateur.`,
  kitLost:
    'Si vous l’avez perdu, créez un nouveau code de récupération tant que cet ordinateur ouvre encore les sauvegardes :',
  kitUnsaved: 'Seulement sur cet ordinateur',
  kitMadeAt: (time) => `Créé le ${time}.`,
  kitDownload: 'Télécharger',
  kitPrint: 'Imprimer',
  kitShow: 'Afficher',
  kitHide: 'Masquer',
  kitConfirm: 'Je l’ai mis ailleurs…',
  kitConfirmQuestion:
    'Il sera alors supprimé de cet ordinateur et ne pourra plus être affiché ; l’agent garde ce qu’il lui faut pour sauvegarder. Est-il sur papier, dans un gestionnaire de mots de passe ou sur un support rangé ailleurs ?',
  kitConfirmDo: 'Il est ailleurs : le supprimer ici',
  keys: 'Ce qui ouvre chaque destination',
  keysWhat: 'La clé d’une destination s’y trouve, verrouillée. Voici ce qui l’ouvre depuis cet ordinateur :',
  destination: 'Destination',
  openedBy: 'Ouverte par',
  byMachineKey: 'La clé de cet ordinateur, dans son répertoire d’état ; et le kit de récupération.',
  byKit: 'La phrase de passe du kit de récupération, que l’agent conserve.',
  by: {
    file: 'Une phrase de passe dans un fichier :',
    env: 'Une phrase de passe dans une variable de l’agent :',
    command: 'Une phrase de passe que donne une commande :',
    credential: 'Une phrase de passe dans un credential de systemd :',
  },
  check: 'Essayer une phrase de passe',
  checkWhat:
    'La phrase de passe ou le code de récupération que vous gardez ouvre-t-il une destination ? L’essai se fait sur cet ordinateur, et rien n’est conservé.',
  secret: 'Phrase de passe ou code de récupération',
  secretMissing: 'Saisissez ce qu’il faut essayer.',
  checkDo: 'Essayer',
  checking: 'Essai en cours…',
  opens: 'Cela ouvre bien',
  opensNot: 'Cela n’ouvre pas',
  how: 'Comment les sauvegardes sont protégées',
  sealed: 'Chiffré',
  sealedWhat:
    'Le contenu, les noms, les tailles et les dates des fichiers, ainsi que toutes leurs listes, avant de quitter cet ordinateur.',
  seen: 'Visible par le stockage',
  seenWhat: 'La quantité enregistrée, et quand. Aucun nom, aucun contenu, la taille d’aucun fichier.',
  cipher: 'Avec',
  cipherWhat:
    'AES-256-GCM ; chaque objet a sa propre clé. Une phrase de passe est renforcée par Argon2id (256 Mio), pour que la deviner prenne très longtemps. Chaque morceau est vérifié à la lecture.',
  required: 'Sauvegardes non chiffrées',
  requiredYes: 'Refusées.',
  requiredNo: 'Seulement si quelqu’un le demande expressément.',
  changed: 'Clés changées',
  changedWhat:
    'Une phrase de passe ou une clé remplacée ou retirée n’ouvre rien de ce qui est enregistré ensuite. Qui en a gardé une copie peut encore lire ce qui l’était avant, jusqu’à ce que « keys rekey » le chiffre à nouveau. Ce qui a été copié reste lisible ; si les clés elles-mêmes peuvent être connues, copiez vers un nouveau dépôt.',
  commands: 'Les clés en ligne de commande',
};
