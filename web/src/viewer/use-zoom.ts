import { type KeyboardEvent, type MouseEvent, type PointerEvent, useEffect, useRef, useState } from 'react'
import { isRightToLeft } from '../ui/index.ts'

const NEAREST = 12
const STEP = 1.4
const KEY_PIXELS = 60
const SWIPE_PIXELS = 60

/** Scale of an image, and its offset from the center of the stage in pixels. */
interface View {
  readonly scale: number
  readonly x: number
  readonly y: number
}

interface Point {
  readonly x: number
  readonly y: number
}

const WHOLE: View = { scale: 1, x: 0, y: 0 }

/**
 * Zooming by wheel, pinch, double click and keys, and panning an image larger than its stage. A smaller one is swiped
 * to the next file.
 */
export function useZoom(onSwipe: (isForward: boolean) => void) {
  const stage = useRef<HTMLDivElement>(null)
  const [view, setView] = useState(WHOLE)
  const pointers = useRef(new Map<number, Point>())
  const swipe = useRef<Point | undefined>(undefined)

  /** Zooms around the point `at`, by default the center. */
  function zoomBy(factor: number, at?: Point): void {
    setView((from) => kept(stage.current, zoomed(from, factor, at && fromMiddle(stage.current, at))))
  }
  function moveBy(x: number, y: number): void {
    setView((from) => kept(stage.current, { ...from, x: from.x + x, y: from.y + y }))
  }

  useEffect(() => {
    const element = stage.current
    if (element === null) return
    // React's wheel listener is passive and could not prevent scrolling.
    const onWheel = (event: WheelEvent) => {
      event.preventDefault()
      zoomBy(1.0015 ** -event.deltaY, { x: event.clientX, y: event.clientY })
    }
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => element.removeEventListener('wheel', onWheel)
  })

  const handlers = {
    onPointerDown(event: PointerEvent) {
      if (event.button !== 0) return
      event.currentTarget.setPointerCapture(event.pointerId)
      pointers.current.set(event.pointerId, { x: event.clientX, y: event.clientY })
      const isSwipe = event.pointerType === 'touch' && pointers.current.size === 1 && view.scale === 1
      swipe.current = isSwipe ? { x: event.clientX, y: event.clientY } : undefined
    },
    onPointerMove(event: PointerEvent) {
      const before = pointers.current.get(event.pointerId)
      if (before === undefined) return
      const now = { x: event.clientX, y: event.clientY }
      const other = [...pointers.current].find(([id]) => id !== event.pointerId)?.[1]
      pointers.current.set(event.pointerId, now)
      if (other === undefined) moveBy(now.x - before.x, now.y - before.y)
      else zoomBy(distance(now, other) / Math.max(1, distance(before, other)), middle(now, other))
    },
    onPointerUp(event: PointerEvent) {
      pointers.current.delete(event.pointerId)
      const from = swipe.current
      swipe.current = undefined
      if (from === undefined) return
      const [x, y] = [event.clientX - from.x, event.clientY - from.y]
      if (Math.abs(x) > SWIPE_PIXELS && Math.abs(x) > 2 * Math.abs(y))
        onSwipe(isRightToLeft() ? x > 0 : x < 0)
    },
    onPointerCancel: (event: PointerEvent) => void pointers.current.delete(event.pointerId),
    onDoubleClick(event: MouseEvent) {
      if (view.scale > 1) setView(WHOLE)
      else zoomBy(2.5, { x: event.clientX, y: event.clientY })
    },
    onKeyDown(event: KeyboardEvent) {
      if (event.ctrlKey || event.metaKey || event.altKey) return
      const moves: Record<string, [number, number]> = {
        ArrowLeft: [KEY_PIXELS, 0],
        ArrowRight: [-KEY_PIXELS, 0],
        ArrowUp: [0, KEY_PIXELS],
        ArrowDown: [0, -KEY_PIXELS],
      }
      const move = moves[event.key]
      if (event.key === '+' || event.key === '=') zoomBy(STEP)
      else if (event.key === '-') zoomBy(1 / STEP)
      else if (event.key === '0') setView(WHOLE)
      else if (move !== undefined && view.scale > 1) moveBy(...move)
      else return
      event.preventDefault()
    },
  }
  return {
    stage,
    view,
    handlers,
    in: () => zoomBy(STEP),
    out: () => zoomBy(1 / STEP),
    reset: () => setView(WHOLE),
    isNearest: view.scale >= NEAREST,
  }
}

function zoomed({ scale, x, y }: View, factor: number, at: Point = { x: 0, y: 0 }): View {
  const next = Math.min(NEAREST, Math.max(1, scale * factor))
  const by = next / scale
  return { scale: next, x: at.x - (at.x - x) * by, y: at.y - (at.y - y) * by }
}

/** Clamps the offset so that part of the image stays visible. */
function kept(stage: HTMLElement | null, view: View): View {
  if (view.scale <= 1 || stage === null) return WHOLE
  const [x, y] = [stage.clientWidth, stage.clientHeight].map((side) => (side * (view.scale - 1)) / 2)
  return { scale: view.scale, x: within(view.x, x ?? 0), y: within(view.y, y ?? 0) }
}

const within = (value: number, most: number) => Math.min(most, Math.max(-most, value))

function fromMiddle(stage: HTMLElement | null, at: Point): Point {
  const box = stage?.getBoundingClientRect()
  if (box === undefined) return { x: 0, y: 0 }
  return { x: at.x - box.x - box.width / 2, y: at.y - box.y - box.height / 2 }
}

const distance = (a: Point, b: Point) => Math.hypot(a.x - b.x, a.y - b.y)
const middle = (a: Point, b: Point): Point => ({ x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 })
