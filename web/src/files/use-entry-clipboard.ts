import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import { fetchFolder, type Selected } from '../api/index.ts'
import type { Target } from '../tasks/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { copyText, useToast } from '../ui/index.ts'
import { uploadPasted } from '../uploads/index.ts'
import { canContain } from './can-contain.ts'
import type { CurrentFolder } from './current-folder.ts'
import {
  CLIPPED_TYPE,
  type ClippedEntries,
  clippedEntries,
  onClipped,
  setClipped,
} from './entry-clipboard.ts'

const NONE: ReadonlySet<string> = new Set()

/** The clipboard of entries, for menus. */
export interface EntryClipboard {
  /** Names that were cut in this folder. */
  readonly cut: ReadonlySet<string>
  readonly canPaste: boolean
  /** Copies or cuts entries of this folder. */
  readonly take: (operation: 'copy' | 'move', names: readonly string[]) => void
  /** Pastes the entries copied or cut last, whatever is on the system clipboard by now: only a key press may read that. */
  readonly pasteInto: (path: string) => void
}

/**
 * Copying, cutting and pasting entries. For keys it handles the clipboard events of the browser, so that the menus of the browser
 * work, too, and text in fields or selected on the page stays with the browser.
 */
export function useEntryClipboard(page: {
  here: CurrentFolder
  names: readonly string[]
  transfer: (operation: 'copy' | 'move', selected: Selected, to: Target) => void
}): EntryClipboard {
  const { libraryId, path } = page.here
  const texts = useTexts('files')
  const formats = useFormats()
  const toast = useToast()
  const queries = useQueryClient()
  const clipped = useSyncExternalStore(onClipped, clippedEntries)

  /** Returns the id of what was taken; undefined if that is not allowed. */
  function take(operation: 'copy' | 'move', names: readonly string[]): string | undefined {
    const isCut = operation === 'move'
    if (isCut && !page.here.editable) {
      toast({ text: texts.cutReadOnly, bad: true })
      return undefined
    }
    // Without HTTPS there is no randomUUID.
    const id = crypto.getRandomValues(new Uint32Array(4)).join('-')
    setClipped({ id, operation, selected: { libraryId, folder: path, names } })
    const count = formats.number(names.length)
    toast({ text: (isCut ? texts.cutReady : texts.copyReady)(names.length, names[0] ?? '', count) })
    return id
  }

  function clip(event: ClipboardEvent): void {
    const { names } = page
    if (names.length === 0 || belongsToBrowser(event)) return
    event.preventDefault()
    const id = take(event.type === 'cut' ? 'move' : 'copy', names)
    if (id === undefined) return
    event.clipboardData?.setData(CLIPPED_TYPE, id)
    event.clipboardData?.setData('text/plain', textOf(names))
  }

  async function paste(event: ClipboardEvent): Promise<void> {
    const { here } = page
    const data = event.clipboardData
    if (data === null || belongsToBrowser(event)) return
    const found = clippedEntries()
    // Without a clipboard event only the text can be set, see `takeFromMenu`.
    const isOurs =
      found !== undefined &&
      (data.getData(CLIPPED_TYPE) === found.id || data.getData('text/plain') === textOf(found.selected.names))
    const brings = data.types.includes('Files')
    if (!isOurs && !brings) return
    event.preventDefault()
    if (!here.editable) return toast({ text: texts.pasteReadOnly, bad: true })
    if (!isOurs) return uploadPasted(here, data)
    await pasteEntries(found, path)
  }

  async function pasteEntries({ operation, selected }: ClippedEntries, into: string): Promise<void> {
    const isSameFolder = selected.libraryId === libraryId && selected.folder === into
    if (!isSameFolder && !canContain({ libraryId, path: into }, selected)) {
      return toast({ text: texts.intoItself, bad: true })
    }
    if (operation === 'move') setClipped(undefined)
    if (isSameFolder && operation === 'move') return
    // Undoing a move needs the entries as they were, which another tab may not have loaded.
    await queries
      .ensureQueryData({
        queryKey: ['dir', selected.libraryId, selected.folder],
        queryFn: ({ signal }) => fetchFolder(selected.libraryId, selected.folder, signal),
      })
      .catch(() => undefined)
    page.transfer(operation, selected, { libraryId, path: into })
  }

  /** The names replace what is on the system clipboard, so that a key press pastes these entries, too. */
  function takeFromMenu(operation: 'copy' | 'move', names: readonly string[]): void {
    if (take(operation, names) !== undefined) copyText(textOf(names)).catch(() => undefined)
  }

  const latest = useRef({ clip, paste })
  useEffect(() => {
    latest.current = { clip, paste }
  })
  useEffect(() => {
    const onClip = (event: ClipboardEvent) => latest.current.clip(event)
    const onPaste = (event: ClipboardEvent) => void latest.current.paste(event)
    document.addEventListener('copy', onClip)
    document.addEventListener('cut', onClip)
    document.addEventListener('paste', onPaste)
    return () => {
      document.removeEventListener('copy', onClip)
      document.removeEventListener('cut', onClip)
      document.removeEventListener('paste', onPaste)
    }
  }, [])

  const cut = useMemo(() => {
    if (clipped?.operation !== 'move') return NONE
    const { selected } = clipped
    return selected.libraryId === libraryId && selected.folder === path ? new Set(selected.names) : NONE
  }, [clipped, libraryId, path])
  return {
    cut,
    canPaste: clipped !== undefined && page.here.editable,
    take: takeFromMenu,
    pasteInto: (into) => {
      if (clipped !== undefined) void pasteEntries(clipped, into)
    },
  }
}

const textOf = (names: readonly string[]) => names.join('\n')

/** Whether an event is about text: in a field, in a dialog, or selected on the page. */
function belongsToBrowser(event: ClipboardEvent): boolean {
  const target = event.target instanceof Element ? event.target : document.body
  if (target.closest('input, textarea, select, [contenteditable], [role=dialog], [role=menu]')) return true
  if (document.querySelector('[role=dialog]') !== null) return true
  return event.type !== 'paste' && getSelection()?.isCollapsed === false
}
