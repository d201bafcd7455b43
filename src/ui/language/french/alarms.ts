import type { Texts } from '../english/english.ts';

export const alarms: Texts['alarms'] = {
  title: 'Alertes',
  what: 'Quelque chose paraît anormal. Tant qu’une alerte sur une source n’est pas levée, ou que ce qui manquait n’est pas revenu, aucun instantané antérieur de cette source n’est supprimé.',
  none: 'Aucune alerte en cours. Si une source se retrouve soudain vide ou illisible, perd la plupart de ses fichiers ou est entièrement réécrite, vous le verrez ici.',
  kinds: {
    empty: {
      title: 'Vide',
      means:
        'Il ne reste pas un seul fichier là où il y en avait. Le plus souvent, un disque ou un partage réseau n’est pas monté. Aucune sauvegarde n’est faite, pour que les bonnes restent les plus récentes.',
      todo: 'Montez le disque ou le partage : la prochaine sauvegarde se fera alors, et l’alerte prendra fin d’elle-même. Si la source est vide à dessein, levez l’alerte. Si elle a été supprimée exprès, retirez-la des sources.',
    },
    unreadable: {
      title: 'Devenue illisible',
      means:
        'La dernière sauvegarde n’a pas pu lire un seul fichier, là où il y en avait. Le plus souvent, le propriétaire ou les droits ont changé. Cet instantané n’en contient donc aucun.',
      todo: 'La tâche indique ce qui n’a pas pu être lu. Donnez à l’agent le droit de le lire : l’alerte prendra fin avec la prochaine sauvegarde.',
    },
    left_out: {
      title: 'Écartée par les règles',
      means:
        'Les règles d’exclusion écartent tout le contenu, là où des fichiers étaient sauvegardés. Souvent, un programme a déposé dans le dossier un fichier qui le marque comme cache, ou comme à ne pas sauvegarder.',
      todo: 'La tâche indique la règle en cause. Supprimez ce fichier, ou retirez la règle : l’alerte prendra fin avec la prochaine sauvegarde. Si c’est voulu, supprimez la source.',
    },
    shrunk: {
      title: 'La plupart des fichiers ont disparu',
      means:
        'Plus de la moitié des fichiers de la source, ou d’un de ses dossiers, ont disparu en une heure. Cela arrive quand un dossier est déplacé ou supprimé par erreur, ou quand une partie de la source n’est pas montée.',
      todo: 'Comparez avec un instantané antérieur. Restaurez ce qui manque : l’alerte prendra fin avec la prochaine sauvegarde. Si c’est voulu, levez l’alerte.',
    },
    rewritten: {
      title: 'Fichiers réécrits d’un coup',
      means:
        'De nombreux fichiers ont été modifiés en une heure, et leur contenu semble maintenant chiffré, ou leur nom a une nouvelle extension. C’est ce que fait un rançongiciel ; c’est aussi ce qui se passe quand on chiffre ou compresse des fichiers exprès.',
      todo: 'Ouvrez-en quelques-uns. S’ils sont illisibles, déconnectez l’ordinateur du réseau, cherchez ce qui les a écrits, et seulement ensuite restaurez un instantané antérieur. S’ils sont intacts, levez l’alerte.',
    },
    burst: {
      title: 'Modifications inhabituellement nombreuses',
      means:
        'Bien plus de fichiers que jamais sont apparus, ont changé ou ont disparu en une heure. Une grosse mise à jour ou le rangement d’une archive ressemble à cela ; des dégâts aussi.',
      todo: 'Comparez avec un instantané antérieur. Si vous savez d’où viennent ces modifications, levez l’alerte.',
    },
    claimed: {
      title: 'Sauvegarde au nom d’une autre machine',
      means:
        'Une clé en écriture seule a enregistré une sauvegarde sous le nom d’une machine que d’autres utilisent aussi. Quiconque a pris le contrôle de la machine de cette clé peut le faire. Cette sauvegarde ne compte pas pour l’autre machine, et rien n’en est restauré à moins que vous ne la choisissiez.',
      todo: 'Si la machine est passée à cette clé, levez l’alerte : elle ne se répétera pas pour ce nom. Sinon, retirez la clé, coupez-lui l’accès au stockage, et regardez ce qu’elle a enregistré.',
    },
  },
  at: 'Remarqué',
  facts: {
    folder: 'Dossier',
    files_before: 'Fichiers avant',
    files: 'Fichiers maintenant',
    unread: 'Illisibles',
    rewritten: 'Réécrits',
    extension: 'Nouvelle extension des noms',
    renamed: 'Fichiers qui la portent',
    touched: 'Fichiers apparus, modifiés ou disparus',
    usual: 'Maximum jusqu’ici',
    host: 'Nom de la machine',
    write_only_key: 'Clé en écriture seule',
    label: 'Libellé',
  },
  filled: 'Elle contient de nouveau des fichiers.',
  todo: 'Que faire',
  details: 'Dans les termes de l’agent',
  stored: 'Ce que cette clé a enregistré sous ce nom',
  storedNone: 'Ce n’est plus là.',
  before: 'Instantanés antérieurs',
  beforeHint: 'Le plus récent d’abord. Comparez-les pour trouver le dernier sans les dégâts.',
  beforeMarked: 'Le plus récent d’abord. Celui qui est marqué est le dernier d’avant les dégâts.',
  lastBefore: 'Le dernier d’avant les dégâts',
  beforeNone: 'Aucun instantané de cette source n’est connu d’avant l’alerte.',
  time: 'Date',
  files: 'Fichiers',
  size: 'Taille',
  actions: 'Actions',
  look: 'Regarder dedans',
  acknowledge: (count) => (count === 1 ? 'Lever l’alerte…' : `Lever les ${count} alertes…`),
  acknowledgeQuestion:
    'Vous indiquez ainsi que tout est comme il faut. Les instantanés antérieurs pourront de nouveau être supprimés selon les règles de rétention.',
  acknowledgeEmpty:
    'Une source vide peut le rester : sa prochaine sauvegarde la prendra telle quelle, jusqu’à ce qu’elle contienne de nouveau des fichiers.',
  acknowledgeDo: 'C’est bien ce que je voulais',
  acknowledged: 'Alerte levée. La rétention reprend comme d’habitude.',
};
