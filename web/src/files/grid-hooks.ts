import { useLayoutEffect, useRef, useState } from 'react'
import type { CurrentFolder } from './current-folder.ts'
import { itemId } from './entry-row.tsx'
import { lastVisit, leave, takeFocus } from './folder-visits.ts'

const TILE_LEAST_PIXELS = 168

/** Number of tiles in a row. */
export function useColumns(scroller: { current: HTMLElement | null }, asTiles: boolean): number {
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null || !asTiles) return
    const observer = new ResizeObserver(() => setWidth(element.clientWidth))
    observer.observe(element)
    setWidth(element.clientWidth)
    return () => observer.disconnect()
  }, [scroller, asTiles])
  return asTiles ? Math.max(2, Math.floor(width / TILE_LEAST_PIXELS)) : 1
}

/** Restores the scroll position of the last visit and stores it on leaving. */
export function useVisit(
  { libraryId, path }: CurrentFolder,
  scroller: { current: HTMLElement | null },
  active: string | undefined,
  /** Read from the virtual list, because the element is gone by then. */
  scrollTop: () => number,
  showActive: () => void,
): void {
  const latest = useRef({ active, scrollTop })
  useLayoutEffect(() => {
    latest.current = { active, scrollTop }
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, as the list appears; a folder has a list of its own.
  useLayoutEffect(() => {
    const element = scroller.current
    if (element === null) return
    const visit = lastVisit(libraryId, path)
    element.scrollTop = visit?.scrollTop ?? 0
    if (visit?.reveal) showActive()
    if (takeFocus(libraryId, path)) element.focus({ preventScroll: true })
    return () => {
      leave(libraryId, path, { scrollTop: latest.current.scrollTop(), active: latest.current.active })
    }
  }, [])
}

/** Opens the context menu at an entry, as a right click would. */
export function openMenuAt(scroller: HTMLElement | null, place: number, beside?: Element): void {
  const item = scroller?.querySelector(`#${itemId(place)}`)
  if (!item) return
  const box = (beside ?? item).getBoundingClientRect()
  const [clientX, clientY] = beside ? [box.left, box.bottom] : [box.left + 60, box.bottom - 8]
  item.dispatchEvent(
    new window.MouseEvent('contextmenu', { bubbles: true, cancelable: true, clientX, clientY }),
  )
}
