import {
  ClipboardPaste,
  Copy,
  Download,
  FolderInput,
  FolderOpen,
  FolderSymlink,
  History,
  Info,
  Link,
  Lock,
  LockOpen,
  Pencil,
  Scissors,
  Share2,
  Star,
  StarOff,
  Tags,
  Trash2,
} from 'lucide-react'
import { useLocation } from 'wouter'
import type { Entry } from '../api/index.ts'
import { useKeyLabel } from '../commands/index.ts'
import { historyUrl } from '../navigation/index.ts'
import { shortcuts } from '../shortcuts.ts'
import { useTexts } from '../texts/index.ts'
import type { MenuEntry } from '../ui/index.ts'
import { useFailureToast } from '../ui/index.ts'
import { type CurrentFolder, canShareMany, canTag, entryPath } from './current-folder.ts'
import type { OpenDialog } from './dialogs.tsx'
import { download } from './download-entries.ts'
import { useCopyLink } from './use-copy-link.ts'
import type { Changes } from './use-entry-changes.ts'
import type { EntryClipboard } from './use-entry-clipboard.ts'

// Each entry gets its link by a call of its own.
const MAX_LINKED = 200
// The server takes as many in one call.
const MAX_RENAMED = 5000

/** Actions on entries, shared by the context menu, the menu button and the selection bar. */
export function useEntryMenu(page: {
  here: CurrentFolder
  changes: Changes
  clipboard: EntryClipboard
  open: (entry: Entry) => void
  remove: (entries: readonly Entry[]) => void
  setRenaming: (name: string) => void
  setDialog: (dialog: OpenDialog) => void
  showDetails: () => void
}): (entries: readonly Entry[]) => readonly MenuEntry[] {
  const { here, changes, clipboard, setDialog } = page
  const texts = useTexts('files')
  const common = useTexts('common')
  const annotations = useTexts('annotations')
  const failed = useFailureToast()
  const copyLink = useCopyLink(here.libraryId, setDialog)
  const [, go] = useLocation()
  const keyLabel = useKeyLabel()

  const forOne = (entry: Entry) => ({
    open: { label: common.open, icon: FolderOpen, shortcut: '↵', onSelect: () => page.open(entry) },
    share: {
      label: common.share,
      icon: Share2,
      onSelect: () =>
        setDialog({
          kind: 'share',
          path: entryPath(here, entry),
          name: entry.name,
          isDir: entry.type === 'dir',
        }),
    },
    link: {
      label: texts.copyLink,
      icon: Link,
      onSelect: () => void copyLink(entryPath(here, entry), entry.type === 'dir'),
    },
    rename: here.editable && {
      label: common.rename,
      icon: Pencil,
      shortcut: 'F2',
      onSelect: () => page.setRenaming(entry.name),
    },
    pasteInto: entry.type === 'dir' &&
      clipboard.canPaste && {
        label: texts.pasteInto,
        icon: ClipboardPaste,
        onSelect: () => clipboard.pasteInto(entryPath(here, entry)),
      },
    history: entry.type === 'file' && {
      label: texts.history,
      icon: History,
      onSelect: () => go(historyUrl(here.libraryId, entryPath(here, entry))),
    },
  })

  return (entries) => {
    const [entry] = entries
    if (entry === undefined) return []
    const names = entries.map(({ name }) => name)
    const one = entries.length === 1 ? forOne(entry) : undefined
    const starred = entries.every((each) => each.starred)
    const move = (operation: 'move' | 'copy') => () => setDialog({ kind: operation, names })
    return [
      one?.open,
      { label: common.download, icon: Download, onSelect: () => void download(here, entries).catch(failed) },
      one?.share,
      one === undefined &&
        canShareMany(here) && {
          label: common.share,
          icon: Share2,
          onSelect: () => setDialog({ kind: 'share-many', entries }),
        },
      one?.link,
      one === undefined &&
        !here.encrypted &&
        entries.length <= MAX_LINKED && {
          label: texts.createLinks,
          icon: Link,
          onSelect: () => setDialog({ kind: 'link-many', entries }),
        },
      'line',
      here.editable && {
        label: texts.cut,
        icon: Scissors,
        shortcut: keyLabel(shortcuts.clipboard.cut[0]),
        onSelect: () => clipboard.take('move', names),
      },
      {
        label: common.copy,
        icon: Copy,
        shortcut: keyLabel(shortcuts.clipboard.copy[0]),
        onSelect: () => clipboard.take('copy', names),
      },
      one?.pasteInto,
      'line',
      one?.rename,
      one === undefined &&
        here.editable &&
        entries.length <= MAX_RENAMED && {
          label: texts.renameMany,
          icon: Pencil,
          shortcut: 'F2',
          onSelect: () => setDialog({ kind: 'rename-many', entries }),
        },
      here.editable && { label: texts.moveTo, icon: FolderInput, onSelect: move('move') },
      { label: texts.copyTo, icon: FolderSymlink, onSelect: move('copy') },
      {
        label: starred ? texts.unstar : texts.star,
        icon: starred ? StarOff : Star,
        onSelect: () => void changes.star(entries, !starred),
      },
      canTag(here, entries) && {
        label: annotations.manageTags,
        icon: Tags,
        onSelect: () => setDialog({ kind: 'tags', entries }),
      },
      lockEntry(),
      one?.history,
      { label: texts.details, icon: Info, onSelect: page.showDetails },
      here.editable && 'line',
      here.editable && {
        label: common.delete,
        icon: Trash2,
        danger: true,
        shortcut: 'Del',
        onSelect: () => page.remove(entries),
      },
    ]

    /** Only files can be locked. Only the owner of the library may remove the lock of another user. */
    function lockEntry(): MenuEntry {
      if (!here.editable || entries.some(({ type }) => type === 'dir')) return undefined
      const locked = entries.every(({ is_locked }) => is_locked)
      if (!locked && entries.some(({ is_locked }) => is_locked)) return undefined
      const mine = entries.every(({ locked_by_me }) => locked_by_me)
      if (locked && !mine && !here.owned) return undefined
      return {
        label: locked ? texts.unlock : texts.lock,
        icon: locked ? LockOpen : Lock,
        onSelect: () => void changes.lock(entries, !locked),
      }
    }
  }
}
