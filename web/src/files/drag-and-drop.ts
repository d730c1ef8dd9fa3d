import { type DragEvent, useState } from 'react'
import type { Selected } from '../api/index.ts'
import { canContain } from './can-contain.ts'

/** Marks a drag of entries, to distinguish it from files of the desktop. */
const TYPE = 'application/x-carrel-entries'

/** The entries being dragged. The data of a drag event cannot be read before the drop. */
let dragged: Selected | undefined

export function beginDrag({ dataTransfer }: DragEvent, selected: Selected, label: string): void {
  dragged = selected
  dataTransfer.effectAllowed = 'copyMove'
  dataTransfer.setData(TYPE, String(selected.names.length))
  const sign = document.createElement('div')
  sign.className = 'files-drag-sign'
  sign.textContent = label
  document.body.append(sign)
  dataTransfer.setDragImage(sign, -12, -8)
  // The browser has taken its snapshot after this task.
  setTimeout(() => sign.remove())
}

export function endDrag(): void {
  dragged = undefined
}

export const mayDrop = (libraryId: string, folder: string) =>
  dragged !== undefined && canContain({ libraryId, path: folder }, dragged)

/** Sets the drop effect: a copy with Ctrl or Alt, else a move. */
export function acceptDrag(event: DragEvent): void {
  event.preventDefault()
  event.dataTransfer.dropEffect = operationOf(event)
}

/** The dropped entries and the operation. */
export function takeDrop(event: DragEvent): { selected: Selected; operation: 'copy' | 'move' } | undefined {
  if (dragged === undefined) return undefined
  event.preventDefault()
  event.stopPropagation()
  const selected = dragged
  endDrag()
  return { selected, operation: operationOf(event) }
}

function operationOf({ ctrlKey, altKey }: DragEvent): 'copy' | 'move' {
  return ctrlKey || altKey ? 'copy' : 'move'
}

export type OnDropped = (
  operation: 'copy' | 'move',
  selected: Selected,
  to: { libraryId: string; path: string },
) => void

/** Handlers of a drop target for entries. `over` is true while entries are dragged over it. */
export function useDropPlace(libraryId: string, path: string, onDropped: OnDropped | undefined) {
  const [over, setOver] = useState(false)
  return {
    over,
    handlers: {
      onDragOver(event: DragEvent) {
        if (onDropped === undefined || !mayDrop(libraryId, path)) return
        acceptDrag(event)
        setOver(true)
      },
      onDragLeave: () => setOver(false),
      onDrop(event: DragEvent) {
        setOver(false)
        if (onDropped === undefined || !mayDrop(libraryId, path)) return
        const drop = takeDrop(event)
        if (drop !== undefined) onDropped(drop.operation, drop.selected, { libraryId, path })
      },
    },
  }
}

type DropHandlers = ReturnType<typeof useDropPlace>['handlers']

/** Handlers for dragged entries and for files of the desktop. Each ignores the drags of the other. */
export function bothHandlers(some: DropHandlers, others: DropHandlers): DropHandlers {
  return {
    onDragOver(event) {
      some.onDragOver(event)
      others.onDragOver(event)
    },
    onDragLeave() {
      some.onDragLeave()
      others.onDragLeave()
    },
    onDrop(event) {
      some.onDrop(event)
      others.onDrop(event)
    },
  }
}
