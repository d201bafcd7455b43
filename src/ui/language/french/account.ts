import { holdfast } from '../../agent/program.ts';
import type { Texts } from '../english/english.ts';

export const account: Texts['account'] = {
  plan: 'Forfait',
  planName: 'Forfait',
  plans: { free_trial: 'Essai gratuit', pro: 'Pro', business: 'Business' },
  planLimit: 'Limite pour les programmes',
  perSpan: (count, span) => `${count} requêtes en ${span}`,
  limitNote: 'Les sauvegardes ne sont pas limitées. Les clés des programmes se trouvent sur la page',
  partner: 'Service partenaire',
  partnerWhat:
    'Quelqu’un peut veiller pour vous sur les sauvegardes de cet ordinateur : voir si elles réussissent, et en demander une. Il ne peut rien lire, restaurer ni supprimer.',
  enroll: 'Inscrire cet ordinateur…',
  service: 'Adresse du service',
  token: 'Jeton',
  tokenHint: 'Fourni par votre partenaire. Il ne sert qu’une fois, pendant peu de temps.',
  deviceName: 'Nom de cet ordinateur',
  deviceNameHint: 'Ce que voit votre partenaire. Vide : le nom d’hôte.',
  missing: 'Votre partenaire vous le fournit.',
  enrollDo: 'Inscrire',
  enrolling: 'Inscription en cours…',
  enrollFailed: 'L’ordinateur n’est pas inscrit.',
  enrollProblems: {
    address:
      'L’adresse du service doit être une adresse web qui commence par https://, sans nom d’utilisateur, mot de passe ni requête.',
    token:
      'Le jeton est inconnu, déjà utilisé ou expiré. Demandez-en un nouveau à votre partenaire : chacun ne sert qu’une fois, pendant 15 minutes.',
    customer_suspended:
      'Votre compte chez votre partenaire est suspendu. Demandez-lui de le réactiver ; le jeton pourra alors servir, dans ses 15 minutes.',
    partner_suspended:
      'Le compte de votre partenaire auprès du service est suspendu. Demandez à votre partenaire.',
    plan_full:
      'Votre forfait n’a pas de place pour un appareil de plus. Demandez à votre partenaire un forfait plus grand, ou de retirer un appareil. Le jeton pourra encore servir.',
    unreachable:
      'Le service est injoignable. Vérifiez l’adresse et le réseau, puis réessayez. Si le jeton est alors refusé, demandez-en un nouveau.',
    refused: 'Le service a refusé la demande. Vérifiez l’adresse, ou réessayez plus tard.',
    reply_invalid: 'Il n’y a pas de service partenaire à cette adresse.',
  },
  standing: 'Situation',
  standings: { active: 'Actif', suspended: 'Suspendu', trial_expired: 'L’essai est terminé' },
  enrolledAt: 'Inscrit',
  lastReport: 'Dernier rapport',
  waiting: 'Résultats pas encore transmis',
  planUntil: 'Forfait valable jusqu’au',
  graceUntil: 'Valable sans le service jusqu’au',
  device: 'Appareil',
  customer: 'Client',
  reportProblems: {
    device_removed:
      'Votre partenaire a retiré cet ordinateur de sa liste ; plus rien ne lui est transmis. Pour mettre fin à l’inscription ici aussi, quittez le service partenaire.',
    partner_suspended:
      'Le compte de votre partenaire auprès du service est suspendu. Les rapports attendent qu’il soit de nouveau actif.',
    unreachable: `Le service est injoignable. Les rapports attendent qu’il réponde. Pour savoir pourquoi : ${holdfast`enroll --status`}`,
    refused: `Le service n’accepte pas les rapports. De nouveaux essais se font tout seuls. Pour savoir pourquoi : ${holdfast`enroll --status`}`,
    reply_invalid: `Les réponses du service n’ont pas de sens. De nouveaux essais se font tout seuls. Pour en savoir plus : ${holdfast`enroll --status`}`,
  },
  leave: 'Quitter…',
  leaveQuestion:
    'Plus rien ne sera transmis, les résultats en attente seront oubliés, et le forfait des paramètres s’appliquera. Vos sauvegardes restent telles quelles. Votre partenaire verra encore l’ordinateur dans sa liste jusqu’à ce qu’il l’en retire.',
  leaveDo: 'Quitter le service partenaire',
  learns: 'Ce qu’apprend votre partenaire',
  learnsWhat: 'Rien, tant que l’ordinateur n’est pas inscrit. Ensuite :',
  learnsList: [
    'une fois : le nom de l’ordinateur, son système d’exploitation, son processeur et la version de Holdfast ;',
    'de chaque sauvegarde et restauration : son issue, sa date, sa durée, des nombres de fichiers et d’octets, un code d’erreur ;',
    'la fréquence attendue des sauvegardes, la quantité enregistrée, et des identifiants aléatoires des dépôts et de leurs derniers instantanés.',
  ],
  learnsNot:
    'Aucun chemin, aucun nom de fichier, de source ou de destination, aucun texte d’erreur, aucune phrase de passe et aucune clé.',
};

export const access: Texts['access'] = {
  what: 'Les programmes utilisent l’API Desktop avec une clé et un secret qui leur sont propres.',
  docs: 'Lire comment cela fonctionne',
  credentials: 'Clés',
  noneYet: 'Aucun programme n’a accès. Créez une clé pour chacun de ceux qui en ont besoin.',
  neverUsed: 'jamais utilisée',
  used: (age) => `dernière utilisation ${age}`,
  madeAt: (day) => `créée le ${day}`,
  create: 'Créer une clé',
  createDo: 'Créer',
  name: 'À quoi elle sert',
  nameHint: 'Par exemple le nom du programme : une clé pour chacun.',
  nameMissing: 'Indiquez à quoi elle sert.',
  made: 'Nouveaux identifiants',
  madeFor: 'Identifiants pour',
  once: 'Le secret n’est affiché que maintenant.',
  onceWhere:
    'Mettez-le là où le programme le cherchera. Une fois cette page quittée, il ne pourra plus être affiché.',
  key: 'Clé',
  secret: 'Secret',
  tryIt: 'Essayer',
  tryItWhat: 'Obtient un jeton, valable une heure, et demande l’état avec lui.',
  kept: 'Je l’ai conservé',
  rotate: 'Nouveau secret…',
  rotateQuestion:
    'Le secret actuel et tous ses jetons cessent aussitôt de fonctionner. Le programme aura besoin du nouveau.',
  rotateDo: 'Donner un nouveau secret',
  revoke: 'Révoquer…',
  revokeQuestion: 'La clé et tous ses jetons cessent aussitôt de fonctionner, définitivement.',
  revokeDo: 'Révoquer la clé',
  limit: 'Requêtes des programmes',
  limitWhat:
    'Le forfait limite la fréquence des requêtes des programmes. Cette page et la ligne de commande ne comptent pas.',
  limitUsed: (used, limit, span) => `${used} sur ${limit} utilisées, comptées sur ${span}.`,
  limitFree: (age) => `La prochaine sera de nouveau possible ${age}.`,
};

export const notifications: Texts['notifications'] = {
  about: 'Qui est prévenu des échecs, des alertes et des sauvegardes qui n’ont pas eu lieu.',
  whenTitle: 'Quand rien ne se passe',
  whenAbout:
    'Pas de nouvelles n’est pas bon signe : après autant de jours sans sauvegarde réussie d’une source, une notification est envoyée.',
  quietTitle: 'Heures calmes',
  quietAbout:
    'Pour les notifications qui ne sont pas urgentes : une sauvegarde qui réussit de nouveau ou à qui il manque des fichiers, une restauration terminée. Les échecs et les alertes sont toujours envoyés tout de suite.',
  quietHint: 'S’applique à ntfy, à l’e-mail et au bureau. Ce qui attend est envoyé en une fois à la fin.',
  held: (count, shown, until) =>
    count < 2
      ? `${shown} notification est retenue jusqu’à ${until}.`
      : `${shown} notifications sont retenues jusqu’à ${until}.`,
  channels: {
    desktop: {
      title: 'Bureau',
      about: 'Sur le bureau de la personne pour qui Holdfast fonctionne, même quand cette page est fermée.',
      use: 'Afficher les notifications sur le bureau',
    },
    ntfy: {
      title: 'ntfy',
      about: 'Sur votre téléphone, par ntfy.sh ou par votre propre serveur.',
      use: 'Envoyer les notifications par ntfy',
    },
    healthchecks: {
      title: 'healthchecks',
      about:
        'Un autre service remarque quand cet ordinateur se tait : healthchecks.io ou un service du même genre.',
      use: 'Signaler le début et la fin de chaque sauvegarde, et les autres échecs',
    },
    email: {
      title: 'E-mail',
      about: 'Par votre serveur de messagerie.',
      use: 'Envoyer les notifications par e-mail',
    },
    webhook: {
      title: 'Webhook',
      about: 'Appelle une URL à chaque notification, en JSON, avec une signature si un secret est défini.',
      use: 'Appeler une URL',
    },
  },
  desktopStates: {
    service:
      'Holdfast fonctionne ici comme service de l’ordinateur et n’a pas de bureau. Activez plutôt les notifications dans ce navigateur.',
    away: 'Aucun bureau n’est ouvert à votre nom en ce moment. Les notifications s’affichent à la prochaine ouverture de session.',
    no_program:
      'Holdfast ne trouve aucun programme pour afficher des notifications sur le bureau. Installez notify-send, ou activez les notifications dans ce navigateur.',
  },
  browser: {
    title: 'Navigateur',
    about:
      'Tant que cette page est ouverte. Le menu du navigateur permet de l’installer comme application : elle a alors sa propre fenêtre, et son icône signale quand quelque chose ne va pas.',
    use: 'Afficher les notifications dans ce navigateur',
    hint: 'S’applique tout de suite, et à ce navigateur seulement.',
    denied:
      'Ce navigateur bloque les notifications de cette page. Autorisez-les dans ses paramètres pour cette page, puis rechargez-la.',
    unsupported: 'Ce navigateur ne peut pas afficher de notifications de cette page.',
    firstTitle: 'Les notifications sont activées',
    firstBody:
      'Ce navigateur vous prévient quand quelque chose ne va pas, et quand les sauvegardes fonctionnent de nouveau.',
    closed: 'Tant que vous n’êtes pas de nouveau identifié, ce navigateur ne dit rien de vos sauvegardes.',
  },
  tokenHint: 'Seulement pour les sujets qui en demandent un.',
  portHint: '465 : TLS dès le début ; sinon STARTTLS.',
  userHint: 'Vide : sans identification.',
  toHint: 'Un par ligne.',
  secretHint: 'Il permet au destinataire de reconnaître qu’un appel vient d’ici.',
  test: 'Envoyer un test',
  testing: 'Envoi en cours…',
  saveAndTest: 'Enregistrer, puis envoyer un test',
  savedOnly: 'Un test utilise ce qui est enregistré.',
  sent: 'Envoyé. Regardez s’il est bien arrivé.',
  notSent: 'L’envoi n’a pas fonctionné.',
};
