import { type PointerEvent, useEffect, useRef, useState } from 'react'
import { type Box, boxBetween, type GridLayout, placesWithin, scrollStep } from './rubber-band.ts'
import type { Selection, Shown } from './selection.ts'

/** A pointer that moves less clicks. */
const SLOP_PIXELS = 5

/** Parts of an entry that are clicked or dragged. A band starts anywhere else. */
const PARTS =
  '[data-part], a, button, input, .files-cell-name, .files-tile, .files-chosen, [role=columnheader]'

interface Grid {
  readonly scroller: { readonly current: HTMLElement | null }
  readonly layout: Omit<GridLayout, 'columns' | 'gapPixels'>
  readonly selection: Selection
  readonly shown: Shown
  readonly onSelect: (selection: Selection) => void
}

/**
 * Selecting entries by drawing a rectangle with the mouse, which scrolls the list at its edges. With Ctrl or Shift the entries are added to the
 * selection. Entries count by their position, because most of a long list is not rendered.
 */
export function useRubberBand(grid: Grid) {
  const [box, setBox] = useState<Box>()
  const latest = useRef(grid)
  const isPressed = useRef(false)
  const hasDrawn = useRef(false)
  const stop = useRef<() => void>(undefined)
  useEffect(() => {
    latest.current = grid
  })
  useEffect(() => () => stop.current?.(), [])

  function onPointerDown(event: PointerEvent): void {
    const scroller = latest.current.scroller.current
    hasDrawn.current = false
    if (event.pointerType !== 'mouse' || event.button !== 0 || scroller === null) return
    if ((event.target as Element).closest(PARTS) !== null) return
    const frame = scroller.getBoundingClientRect()
    // The scroll bar belongs to the list, too.
    if (event.clientX >= frame.left + scroller.clientLeft + scroller.clientWidth) return
    isPressed.current = true
    stop.current = drawBand(scroller, event, latest.current.selection)
  }

  function drawBand(scroller: HTMLElement, from: PointerEvent, base: Selection): () => void {
    const frame = scroller.getBoundingClientRect()
    const isAdding = from.ctrlKey || from.metaKey || from.shiftKey
    const place = ({ clientX, clientY }: { clientX: number; clientY: number }) => ({
      x: Math.min(Math.max(clientX - frame.left, 0), scroller.clientWidth),
      y: Math.min(Math.max(clientY - frame.top + scroller.scrollTop, 0), scroller.scrollHeight),
    })
    const start = place(from)
    let pointer = { clientX: from.clientX, clientY: from.clientY }
    let ticking: number | undefined
    let chosen = ''

    const tick = () => {
      scroller.scrollTop += scrollStep(pointer.clientY, frame.top, frame.bottom)
      const now = place(pointer)
      const drawn = boxBetween(start.x, start.y, now.x, now.y)
      setBox(drawn)
      const { layout, shown, onSelect } = latest.current
      const places = placesWithin(drawn, { ...layout, ...measureColumns(scroller, layout.rowPixels) })
      const key = `${places[0]} ${places.at(-1)} ${places.length}`
      if (key !== chosen) {
        chosen = key
        const names = places.flatMap((at) => shown.names[at] ?? [])
        onSelect({
          chosen: new Set(isAdding ? [...base.chosen, ...names] : names),
          active: names.at(-1) ?? base.active,
          anchor: names[0] ?? base.anchor,
        })
      }
      ticking = requestAnimationFrame(tick)
    }
    const onMove = (event: globalThis.PointerEvent) => {
      pointer = event
      if (ticking !== undefined) return
      if (Math.hypot(event.clientX - from.clientX, event.clientY - from.clientY) < SLOP_PIXELS) return
      hasDrawn.current = true
      scroller.focus({ preventScroll: true })
      tick()
    }
    const end = () => {
      isPressed.current = false
      if (ticking !== undefined) cancelAnimationFrame(ticking)
      setBox(undefined)
      removeEventListener('pointermove', onMove)
      removeEventListener('pointerup', end)
      removeEventListener('pointercancel', end)
    }
    addEventListener('pointermove', onMove)
    addEventListener('pointerup', end)
    addEventListener('pointercancel', end)
    return end
  }

  return {
    box,
    onPointerDown,
    /** Whether a drag of an entry has to give way to the band. */
    isPressed: () => isPressed.current,
    /** Whether a click is the end of a band, which has already been handled. */
    takeClick(): boolean {
      const taken = hasDrawn.current
      hasDrawn.current = false
      return taken
    },
  }
}

/** Columns of the tiles, from a rendered row. A list has one column. */
function measureColumns(scroller: HTMLElement, rowPixels: number): Pick<GridLayout, 'columns' | 'gapPixels'> {
  // The last row may be shorter than the others.
  const rows = [...scroller.querySelectorAll('.files-tiles')].map(({ children }) => [...children])
  const tiles = rows.find(({ length }) => rows.every((row) => row.length <= length)) ?? []
  if (tiles.length === 0) return { columns: [{ left: 0, right: Number.POSITIVE_INFINITY }], gapPixels: 0 }
  const { left: origin } = scroller.getBoundingClientRect()
  const boxes = tiles.map((tile) => tile.getBoundingClientRect())
  const columns = boxes.map(({ left, right }) => ({ left: left - origin, right: right - origin }))
  return { columns, gapPixels: Math.max(0, rowPixels - (boxes[0]?.height ?? rowPixels)) }
}
