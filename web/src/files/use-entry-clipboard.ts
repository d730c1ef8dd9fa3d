import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import { fetchFolder, type Selected } from '../api/index.ts'
import type { Target } from '../tasks/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { useToast } from '../ui/index.ts'
import { uploadPasted } from '../uploads/index.ts'
import { canContain } from './can-contain.ts'
import type { CurrentFolder } from './current-folder.ts'
import { CLIPPED_TYPE, clippedEntries, onClipped, setClipped } from './entry-clipboard.ts'

const NONE: ReadonlySet<string> = new Set()

/**
 * Copying, cutting and pasting entries. It handles the clipboard events of the browser instead of keys, so that its menus
 * work, too, and text in fields or selected on the page stays with the browser. Returns the names that were cut in this folder.
 */
export function useEntryClipboard(page: {
  here: CurrentFolder
  names: readonly string[]
  transfer: (operation: 'copy' | 'move', selected: Selected, to: Target) => void
}): ReadonlySet<string> {
  const { libraryId, path } = page.here
  const texts = useTexts('files')
  const formats = useFormats()
  const toast = useToast()
  const queries = useQueryClient()
  const clipped = useSyncExternalStore(onClipped, clippedEntries)

  function clip(event: ClipboardEvent): void {
    const { here, names } = page
    if (names.length === 0 || belongsToBrowser(event)) return
    event.preventDefault()
    const isCut = event.type === 'cut'
    if (isCut && !here.editable) return toast({ text: texts.cutReadOnly, bad: true })
    // Without HTTPS there is no randomUUID.
    const id = crypto.getRandomValues(new Uint32Array(4)).join('-')
    setClipped({
      id,
      operation: isCut ? 'move' : 'copy',
      selected: { libraryId, folder: path, names },
    })
    event.clipboardData?.setData(CLIPPED_TYPE, id)
    event.clipboardData?.setData('text/plain', names.join('\n'))
    const count = formats.number(names.length)
    toast({ text: (isCut ? texts.cutReady : texts.copyReady)(names.length, names[0] ?? '', count) })
  }

  async function paste(event: ClipboardEvent): Promise<void> {
    const { here } = page
    const data = event.clipboardData
    if (data === null || belongsToBrowser(event)) return
    const found = clippedEntries()
    const isOurs = found !== undefined && data.getData(CLIPPED_TYPE) === found.id
    const brings = data.types.includes('Files')
    if (!isOurs && !brings) return
    event.preventDefault()
    if (!here.editable) return toast({ text: texts.pasteReadOnly, bad: true })
    if (!isOurs) return uploadPasted(here, data)
    const { operation, selected } = found
    const isSameFolder = selected.libraryId === libraryId && selected.folder === path
    if (!isSameFolder && !canContain({ libraryId, path }, selected)) {
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
    page.transfer(operation, selected, { libraryId, path })
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

  return useMemo(() => {
    if (clipped?.operation !== 'move') return NONE
    const { selected } = clipped
    return selected.libraryId === libraryId && selected.folder === path ? new Set(selected.names) : NONE
  }, [clipped, libraryId, path])
}

/** Whether an event is about text: in a field, in a dialog, or selected on the page. */
function belongsToBrowser(event: ClipboardEvent): boolean {
  const target = event.target instanceof Element ? event.target : document.body
  if (target.closest('input, textarea, select, [contenteditable], [role=dialog], [role=menu]')) return true
  if (document.querySelector('[role=dialog]') !== null) return true
  return event.type !== 'paste' && getSelection()?.isCollapsed === false
}
