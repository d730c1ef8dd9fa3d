import { type DragEvent, useState } from 'react'
import type { Selected } from '../api/index.ts'
import { canContain } from './can-contain.ts'

/** Marks a drag as ours, so that nobody takes it for files from the desktop. */
const TYPE = 'application/x-carrel-entries'

/** What is being dragged within this page; what a drag carries cannot be read before it is dropped. */
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
  // The browser has its picture of it once this turn is over.
  setTimeout(() => sign.remove())
}

export function endDrag(): void {
  dragged = undefined
}

export const mayDrop = (libraryId: string, folder: string) =>
  dragged !== undefined && canContain({ libraryId, path: folder }, dragged)

/** Says what a drop here would do: a copy with Ctrl or Alt, else a move. */
export function acceptDrag(event: DragEvent): void {
  event.preventDefault()
  event.dataTransfer.dropEffect = operationOf(event)
}

/** What was dropped, and what is to be done with it. */
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

/** Makes something a place to drop entries on; `over` while they are held above it. */
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
