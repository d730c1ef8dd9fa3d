import {
  Camera,
  ClipboardPaste,
  Download,
  FileText,
  FolderPlus,
  FolderUp,
  History,
  Link,
  ListChecks,
  Rows3,
  Rows4,
  Scale,
  Share2,
  Tags,
  Trash2,
  Upload,
} from 'lucide-react'
import { useLocation } from 'wouter'
import type { Entry } from '../api/index.ts'
import { useKeyLabel } from '../commands/index.ts'
import { historyUrl, tagsUrl, trashUrl } from '../navigation/index.ts'
import { nameOf } from '../paths.ts'
import { shortcuts } from '../shortcuts.ts'
import { useTexts } from '../texts/index.ts'
import { COARSE, type MenuEntry, useMedia } from '../ui/index.ts'
import type { CurrentFolder } from './current-folder.ts'
import type { OpenDialog } from './dialogs.tsx'
import { downloadFolder } from './download-entries.ts'
import type { Preferences } from './preferences.ts'
import { upload } from './upload-files.ts'
import { useCopyLink } from './use-copy-link.ts'
import type { EntryClipboard } from './use-entry-clipboard.ts'

/** Menu to create files and folders. */
export function useNewMenu(setDialog: (dialog: OpenDialog) => void): readonly MenuEntry[] {
  const texts = useTexts('files')
  return [
    { label: texts.newFolder, icon: FolderPlus, onSelect: () => setDialog({ kind: 'new-folder' }) },
    {
      label: texts.newMarkdown,
      icon: FileText,
      onSelect: () => setDialog({ kind: 'new-file', ending: '.md' }),
    },
    { label: texts.newText, icon: FileText, onSelect: () => setDialog({ kind: 'new-file', ending: '.txt' }) },
  ]
}

export function useUploadMenu(here: CurrentFolder): readonly MenuEntry[] {
  const texts = useTexts('files')
  const uploads = useTexts('uploads')
  const hasCamera = useMedia(COARSE)
  return [
    hasCamera && {
      label: uploads.takePhoto,
      icon: Camera,
      onSelect: () => void upload(here, { camera: true }),
    },
    { label: texts.uploadFiles, icon: Upload, onSelect: () => void upload(here) },
    { label: texts.uploadFolder, icon: FolderUp, onSelect: () => void upload(here, { folder: true }) },
  ]
}

/** Actions on the current folder. */
export function useFolderMenu(page: {
  here: CurrentFolder
  all: readonly Entry[]
  clipboard: EntryClipboard
  preferences: Preferences
  prefer: (changes: Partial<Preferences>) => void
  setDialog: (dialog: OpenDialog) => void
  onSelectAll: () => void
}): readonly MenuEntry[] {
  const { here, all, clipboard, preferences, prefer, setDialog } = page
  const { libraryId, libraryName, path } = here
  const texts = useTexts('files')
  const annotations = useTexts('annotations')
  const copyLink = useCopyLink(libraryId, setDialog)
  const [, go] = useLocation()
  const keyLabel = useKeyLabel()
  const atRoot = path === '/'
  const name = atRoot ? libraryName : nameOf(path)
  return [
    {
      label: atRoot ? texts.shareLibrary : texts.shareFolder,
      icon: Share2,
      onSelect: () => setDialog({ kind: 'share', path, name, isDir: true }),
    },
    { label: texts.copyLink, icon: Link, onSelect: () => void copyLink(path, true) },
    {
      label: texts.downloadFolder,
      icon: Download,
      disabled: all.length === 0,
      onSelect: () => downloadFolder(here, all),
    },
    'line',
    here.editable && {
      label: texts.paste,
      icon: ClipboardPaste,
      disabled: !clipboard.canPaste,
      shortcut: keyLabel(shortcuts.clipboard.paste[0]),
      onSelect: () => clipboard.pasteInto(path),
    },
    {
      label: texts.selectAll,
      icon: ListChecks,
      disabled: all.length === 0,
      shortcut: keyLabel(shortcuts.list.all[0]),
      onSelect: page.onSelectAll,
    },
    {
      label: preferences.folderSizes ? texts.hideFolderSizes : texts.showFolderSizes,
      icon: Scale,
      onSelect: () => prefer({ folderSizes: !preferences.folderSizes }),
    },
    preferences.view === 'list' && {
      label: preferences.density === 'compact' ? texts.regularRows : texts.compactRows,
      icon: preferences.density === 'compact' ? Rows3 : Rows4,
      onSelect: () => prefer({ density: preferences.density === 'compact' ? 'regular' : 'compact' }),
    },
    'line',
    { label: annotations.tags, icon: Tags, onSelect: () => go(tagsUrl(libraryId)) },
    { label: texts.libraryHistory, icon: History, onSelect: () => go(historyUrl(libraryId)) },
    { label: texts.trash, icon: Trash2, onSelect: () => go(trashUrl(libraryId, path)) },
  ]
}
