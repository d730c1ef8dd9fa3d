import {
  ArrowRightLeft,
  Bell,
  BellOff,
  Download,
  FolderOpen,
  History,
  LogOut,
  PencilLine,
  Settings2,
  Share2,
  Trash,
  Trash2,
  Users,
} from 'lucide-react'
import { useLocation } from 'wouter'
import { canDownload, fetchFolder, fetchLibrary, type LibraryItem } from '../api/index.ts'
import { startArchive } from '../archives/index.ts'
import { folderUrl, historyUrl, trashUrl } from '../navigation/index.ts'
import { useTexts } from '../texts/index.ts'
import type { MenuEntry } from '../ui/index.ts'
import { useFailureToast, useToast } from '../ui/index.ts'
import type { DialogKind, OpenDialog } from './library-dialogs.tsx'
import { useLibraryToggles } from './use-library-toggles.ts'

/** Actions on a library that the user is allowed to do. */
export function useLibraryMenu(
  library: LibraryItem,
  onOpenDialog: (dialog: OpenDialog) => void,
): readonly MenuEntry[] {
  const texts = useTexts('libraries')
  const common = useTexts('common')
  const sharing = useTexts('sharing')
  const [, go] = useLocation()
  const { watch } = useLibraryToggles()
  const { repo_id: id, type, monitored } = library
  const isMine = type === 'mine'
  const download = useDownload()
  const dialog = (kind: DialogKind) => () => onOpenDialog({ kind, library })
  return [
    { label: common.open, icon: FolderOpen, onSelect: () => go(folderUrl(id)) },
    canDownload(library) && {
      label: common.download,
      icon: Download,
      onSelect: () => void download(library),
    },
    (isMine || library.is_admin) && { label: common.share, icon: Share2, onSelect: dialog('share') },
    (isMine || library.is_admin) && { label: sharing.whoHasAccess, icon: Users, onSelect: dialog('access') },
    isMine && { label: common.rename, icon: PencilLine, onSelect: dialog('rename') },
    isMine && { label: texts.settings, icon: Settings2, onSelect: dialog('settings') },
    monitored !== undefined && {
      label: monitored ? texts.unwatch : texts.watch,
      icon: monitored ? BellOff : Bell,
      onSelect: () => void watch(library, !monitored),
    },
    'line',
    { label: texts.history, icon: History, onSelect: () => go(historyUrl(id)) },
    { label: texts.trash, icon: Trash, onSelect: () => go(trashUrl(id)) },
    (isMine || type === 'shared') && 'line',
    isMine && { label: texts.transfer, icon: ArrowRightLeft, onSelect: dialog('transfer') },
    isMine && { label: common.delete, icon: Trash2, danger: true, onSelect: dialog('delete') },
    type === 'shared' && { label: texts.leave, icon: LogOut, danger: true, onSelect: dialog('leave') },
  ]
}

/** Downloads the whole library as an archive. */
function useDownload(): (library: LibraryItem) => Promise<void> {
  const texts = useTexts('libraries')
  const toast = useToast()
  const failed = useFailureToast()
  const [, go] = useLocation()
  return async ({ repo_id: libraryId, repo_name: name, encrypted }) => {
    try {
      // The folder page asks for the password.
      if (encrypted && (await fetchLibrary(libraryId)).lib_need_decrypt) return go(folderUrl(libraryId))
      const { dirent_list: entries } = await fetchFolder(libraryId, '/')
      if (entries.length === 0) return toast({ text: texts.nothingToDownload(name) })
      startArchive({
        libraryId,
        parent: '/',
        names: entries.map((entry) => entry.name),
        title: `${name}.zip`,
      })
    } catch (error) {
      failed(error)
    }
  }
}
