import { type DragEvent, useState } from 'react'
import type { Entry } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { type CurrentFolder, entryPath } from './current-folder.ts'
import { acceptDrag, beginDrag, endDrag, mayDrop, type OnDropped, takeDrop } from './drag-and-drop.ts'
import { only, type Selection } from './selection.ts'

/** Dragging entries onto folders of the list. `over` is the folder under the pointer. */
export function useEntryDrag(grid: {
  here: CurrentFolder
  selection: Selection
  onSelect: (selection: Selection) => void
  onDropped: OnDropped | undefined
  entryAt: (target: EventTarget) => Entry | undefined
}) {
  const { here, selection, onSelect, onDropped, entryAt } = grid
  const texts = useTexts('files')
  const formats = useFormats()
  const [over, setOver] = useState<string>()

  function folderAt(target: EventTarget): Entry | undefined {
    const entry = entryAt(target)
    const fits =
      onDropped !== undefined && entry?.type === 'dir' && mayDrop(here.libraryId, entryPath(here, entry))
    return fits ? entry : undefined
  }

  const handlers = {
    onDragStart(event: DragEvent) {
      const entry = entryAt(event.target)
      if (entry === undefined) return
      const among = selection.chosen.has(entry.name)
      if (!among) onSelect(only(entry.name))
      const names = among ? [...selection.chosen] : [entry.name]
      const label = names.length === 1 ? entry.name : texts.items(names.length, formats.number(names.length))
      beginDrag(event, { libraryId: here.libraryId, folder: here.path, names }, label)
    },
    onDragOver(event: DragEvent) {
      if (event.dataTransfer.types.includes('Files')) {
        // Marks the folder; the drop zone around the list accepts the files.
        const entry = here.editable ? entryAt(event.target) : undefined
        setOver(entry?.type === 'dir' ? entry.name : undefined)
        return
      }
      const folder = folderAt(event.target)
      setOver(folder?.name)
      if (folder !== undefined) acceptDrag(event)
    },
    onDragLeave: () => setOver(undefined),
    onDragEnd() {
      setOver(undefined)
      endDrag()
    },
    onDrop(event: DragEvent) {
      const folder = folderAt(event.target)
      setOver(undefined)
      const drop = folder && takeDrop(event)
      if (folder === undefined || drop === undefined) return
      const to = { libraryId: here.libraryId, path: entryPath(here, folder) }
      onDropped?.(drop.operation, drop.selected, to)
    },
  }
  return { over, handlers }
}
