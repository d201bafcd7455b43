import { holdfast } from '../../agent/program.ts';
import type { Texts } from '../english/english.ts';

export const problems: Texts['problems'] = {
  OFFLINE: 'L’agent ne répond pas.',
  INTERNAL_ERROR: 'Quelque chose s’est mal passé dans l’agent. Son journal donne les détails.',
  RATE_LIMIT_EXCEEDED: 'Cette demande a été faite trop souvent. Attendez une minute, puis réessayez.',
  REVISION_MISMATCH:
    'Les paramètres ont été modifiés ailleurs entre-temps. Rechargez la page, puis refaites votre modification.',
  CONFIG_INVALID:
    'Le fichier de configuration contient une erreur. Corrigez-la d’abord sur l’ordinateur lui-même.',

  // Why a job failed.
  INVALID_SOURCE:
    'La source ne peut pas être sauvegardée. Vérifiez qu’elle existe et que l’agent a le droit de la lire.',
  'INVALID_SOURCE.unsupported_type':
    'C’est un tube ou un périphérique, qui ne contient rien à sauvegarder. Choisissez un dossier ou un fichier.',
  'INVALID_SOURCE.inside_repository':
    'Des sauvegardes sont stockées dans ce dossier, il n’est donc pas sauvegardé. Choisissez-en un autre.',
  'INVALID_SOURCE.inside_state_directory':
    'Holdfast garde son propre état dans ce dossier, il n’est donc pas sauvegardé. Choisissez-en un autre.',
  'INVALID_SOURCE.not_answering':
    'Le serveur ou le disque de la source ne répond pas. Vérifiez qu’il fonctionne, ou démontez-la.',
  'INVALID_SOURCE.not_readable':
    'Holdfast n’a pas le droit de lire la source. Donnez-lui ce droit, ou choisissez-en une autre.',
  'INVALID_SOURCE.not_found':
    'La source n’est pas là. Vérifiez le chemin, et montez son disque si elle est sur un disque.',
  INVALID_DESTINATION: 'La destination est inconnue ou inutilisable. Regardez-la dans les paramètres.',
  INVALID_TARGET: 'Rien ne peut être restauré à cet endroit. Choisissez un autre dossier.',
  SECRET_IN_URL:
    'Une adresse contient un mot de passe. Mettez-le plutôt dans les paramètres de la destination.',
  UNSUPPORTED_COMPRESSION: 'Cette compression est inconnue. Choisissez zstd, auto ou none.',
  SNAPSHOT_NOT_FOUND: 'Cet instantané n’existe plus. Choisissez-en un autre.',
  PATH_NOT_IN_SNAPSHOT:
    'Ce fichier ou ce dossier n’est pas dans l’instantané. Cherchez-le par son nom : les résultats indiquent les instantanés qui le contiennent.',
  QUOTA_EXCEEDED: 'Le forfait n’a plus de place pour cela.',
  ENCRYPTION_REQUIRED:
    'Les paramètres n’autorisent que les sauvegardes chiffrées. Relancez-la avec le chiffrement.',
  REPOSITORY_LOCKED:
    'Le dépôt est verrouillé : un autre programme y travaille, ou l’un d’eux a été interrompu il y a moins de cinq minutes. Attendez un peu, puis relancez la tâche.',
  DESTINATION_ERROR:
    'La destination n’est pas utilisable telle quelle. La tâche dit pourquoi ; vous pouvez aussi tester la destination dans les paramètres.',
  'DESTINATION_ERROR.missing':
    'Le dépôt n’est plus là. Branchez ou montez le disque. S’il a été effacé, ajoutez un autre dossier comme destination.',
  'DESTINATION_ERROR.empty':
    'Le dossier de la destination est vide. Si c’est un disque, montez-le. Si les sauvegardes ont été effacées, ajoutez un autre dossier comme destination.',
  'DESTINATION_ERROR.different':
    'La destination contient un autre dépôt qu’avant. Branchez le bon disque, ou cherchez qui l’a remplacé.',
  'DESTINATION_ERROR.foreign':
    'Le dossier de la destination contient des fichiers d’un autre programme. Déplacez-les, ou choisissez un dossier vide, par exemple un nouveau dossier en dessous.',
  'DESTINATION_ERROR.EROFS':
    'La destination est en lecture seule. Montez-la en écriture. Si cela s’est produit tout seul, le disque est peut-être en fin de vie.',
  'DESTINATION_ERROR.EACCES':
    'Holdfast n’a pas le droit d’écrire à la destination. Vérifiez à qui appartient le dossier, et ses permissions.',
  DESTINATION_UNREACHABLE:
    'Le stockage est injoignable. Vérifiez qu’il est allumé, branché et monté, et que le réseau fonctionne.',
  DESTINATION_AUTH_FAILED:
    'Le stockage refuse le nom, le mot de passe ou la clé. Corrigez-les dans les paramètres de la destination.',
  INSUFFICIENT_STORAGE:
    'Un disque est plein. Libérez de la place à la destination ou sur cet ordinateur, puis relancez la tâche.',
  JOB_INTERRUPTED:
    'La tâche s’est interrompue trois fois sans avancer. Lisez son journal, puis relancez-la ; souvent, c’est la mémoire qui a manqué.',
  HOOK_FAILED:
    'Une commande à exécuter avant ou après la tâche a échoué. Il manque peut-être à la sauvegarde ce qu’elle devait produire, ou ce qu’elle relance est encore arrêté. Corrigez la commande.',
  'failed.HOOK_FAILED':
    'La commande à exécuter avant la tâche a échoué, et la tâche n’a pas commencé. Le journal contient ce qu’elle a affiché. Corrigez la commande.',
  SECRET_UNAVAILABLE:
    'Le secret de la destination n’est pas là où les paramètres l’indiquent. Remettez-le en place, ou indiquez un autre endroit.',
  SECRET_UNSAFE:
    'D’autres personnes peuvent lire ou modifier le fichier qui contient le secret de la destination ; il n’est donc pas utilisé. Réservez-vous-en l’accès (chmod 600).',
  STATE_NOT_PRIVATE: `D’autres personnes peuvent lire ou modifier des fichiers de l’agent qui contiennent des clés ; ils ne sont donc pas utilisés. « ${holdfast`doctor`} » dit comment y remédier.`,
  STATE_DAMAGED: `Un fichier de l’agent ne contient pas ce qu’il devrait. « ${holdfast`doctor`} » dit lequel.`,
  DECRYPTION_FAILED:
    'Les données enregistrées ne s’ouvrent pas avec la clé du dépôt. Vérifiez la destination, et que c’est bien la bonne.',
  CORRUPT_DATA:
    'Des données enregistrées sont endommagées. Vérifiez toutes les données, contrôlez le disque, puis sauvegardez de nouveau : ce qui manque sera enregistré une nouvelle fois.',
  WRONG_PASSPHRASE:
    'La phrase de passe n’ouvre pas le dépôt. Indiquez la bonne dans les paramètres de la destination.',
  READ_ERROR: 'Une lecture a échoué. Contrôlez le disque, et vérifiez que l’agent a le droit d’y lire.',
  WRITE_ERROR:
    'Une écriture a échoué. Contrôlez le disque et son espace libre, et vérifiez que l’agent a le droit d’y écrire.',
  SOURCE_SUSPICIOUSLY_EMPTY:
    'La source est vide, alors qu’elle ne l’était pas à la dernière sauvegarde. Si c’est un disque ou un partage réseau, montez-le ; si c’est voulu, levez l’alerte.',
  'SOURCE_SUSPICIOUSLY_EMPTY.gone':
    'La source a disparu, alors qu’elle contenait des fichiers à la dernière sauvegarde. Si c’est un disque ou un partage réseau, montez-le. Si elle a été effacée, restaurez-la, ou supprimez la source.',

  // Why one file of a job was left out, or has a warning.
  EACCES:
    'L’agent n’a pas le droit de le lire ou d’y écrire. Accordez ce droit à son utilisateur, ou excluez l’élément par une règle.',
  EPERM:
    'Le système ne le permet pas. Sur un Mac, donnez à l’agent l’accès complet au disque (Réglages Système, Confidentialité et sécurité). Ailleurs, donnez-lui plus de droits, ou excluez l’élément par une règle.',
  ENOENT:
    'Il a disparu pendant la tâche. C’est courant pour des fichiers temporaires ; la prochaine tâche regardera de nouveau.',
  ENOTDIR: 'À la place d’un dossier se trouve autre chose. Regardez ce qu’il y a à cet endroit.',
  EISDIR: 'À la place d’un fichier se trouve un dossier. Regardez ce qu’il y a à cet endroit.',
  EEXIST: 'Entre-temps, quelque chose du même nom est apparu. Relancez la tâche.',
  ENOTEMPTY:
    'Un dossier qui n’est pas vide occupe sa place. Choisissez un autre endroit, ou déplacez ce dossier.',
  ELOOP: 'Des liens tournent en rond, ou se trouvent là où aucun ne doit être suivi. Regardez où ils mènent.',
  ENAMETOOLONG:
    'Son chemin est plus long que ce que le système accepte. Choisissez-en un plus court, ou un endroit plus haut dans l’arborescence.',
  EIO: 'Le disque signale une erreur. Contrôlez-le rapidement, et gardez les instantanés existants.',
  ENXIO: 'L’appareil correspondant n’est pas là. Branchez-le, ou excluez le fichier par une règle.',
  ENODEV: 'L’appareil correspondant n’est pas là. Branchez-le, ou excluez le fichier par une règle.',
  EBUSY: 'Un autre programme l’utilise. Fermez ce programme ; la prochaine tâche regardera de nouveau.',
  ETXTBSY:
    'Un programme s’exécute depuis ce fichier, qui ne peut donc pas être remplacé. Fermez ce programme, puis restaurez de nouveau.',
  EROFS:
    'Le système de fichiers est en lecture seule. Montez-le en écriture, ou choisissez un autre endroit.',
  ENOSPC: 'Le disque est plein. Libérez de la place, puis relancez la tâche.',
  EDQUOT: 'Votre quota sur ce disque est épuisé. Libérez de la place, puis relancez la tâche.',
  EFBIG:
    'Le fichier est trop gros pour cet endroit. Choisissez-en un autre, avec un autre système de fichiers.',
  EMFILE: 'Trop de fichiers sont ouverts. Relancez la tâche à un moment plus calme.',
  EMLINK:
    'À cet endroit, un fichier ne peut pas avoir plus de noms. Choisissez-en un autre, avec un autre système de fichiers.',
  EXDEV: 'Ses noms se trouvent sur des systèmes de fichiers différents. Restaurez à un autre endroit.',
  EINVAL:
    'Le système le refuse ; son système de fichiers ne connaît peut-être pas ce genre de noms ou de propriétés.',
  ENOTSUP: 'Le système de fichiers de cet endroit ne connaît pas ce genre de fichiers.',
  EOPNOTSUPP: 'Le système de fichiers de cet endroit ne connaît pas ce genre de fichiers.',
  ESTALE: 'Le partage réseau ne le retrouve plus. Montez de nouveau le partage.',
  ETIMEDOUT: 'Le partage réseau n’a pas répondu à temps. Vérifiez la connexion.',
  CHANGED:
    'Il a été modifié pendant la lecture. L’instantané contient ce qui a été lu ; la prochaine sauvegarde le reprendra.',
  TOO_DEEP: 'Ses dossiers sont imbriqués trop profondément. Déplacez-le plus haut.',
  IN_THE_WAY:
    'Autre chose se trouve à sa place, et la restauration ne devait rien remplacer. Restaurez dans un autre dossier, ou autorisez le remplacement.',
  SAME_NAME:
    'À cet endroit, son nom ne se distingue pas de celui d’un fichier voisin. Restaurez-le ailleurs, avec un autre système de fichiers.',
  IMPOSSIBLE_NAME:
    'Ce système ne peut pas avoir de fichier portant ce nom. Restaurez-le sur le système d’où il vient.',
  LINK_FAILED:
    'C’est un autre nom d’un fichier qui n’a pas pu être restauré. Réglez d’abord le problème de ce fichier.',
  OTHER_FILE_SYSTEM:
    'Un autre disque est monté à l’intérieur, il n’a donc pas été touché. Démontez d’abord ce disque.',
  LIMIT_EXCEEDED:
    'Il comporte plus de parties qu’un fichier ou un dossier ne peut en avoir. Merci de nous le signaler.',
  DIFFERENT:
    'Après la restauration, il n’était pas identique à ce que contient l’instantané. Vérifiez toutes les données.',
  ERROR:
    'Quelque chose dont des instantanés ont besoin est endommagé. Sauvegardez de nouveau, et contrôlez le disque.',
  WARNING: 'Quelque chose n’est pas comme il faudrait, mais il ne manque rien à aucun instantané.',
  'restore.CHANGED':
    'Autre chose l’a modifié pendant la restauration. Restaurez-le encore une fois, quand plus rien n’écrit à cet endroit.',
  'restore.CORRUPT_DATA':
    'Son contenu enregistré est endommagé. Essayez un instantané plus ancien, ou un autre sur une autre destination.',
  'restore.EACCES':
    'L’agent n’a pas le droit d’écrire à cet endroit. Choisissez un dossier qui vous appartient, ou restaurez en tant que root.',
  'restore.EPERM':
    'Le système ne le permet pas à cet endroit. Choisissez-en un autre, ou restaurez en tant que root.',
  'drill.ENOENT': 'Il n’était pas là après la restauration. Vérifiez toutes les données.',
  'drill.CORRUPT_DATA':
    'Son contenu enregistré est endommagé. Vérifiez toutes les données, et sauvegardez de nouveau.',
};
