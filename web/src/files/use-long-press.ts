import { type MouseEvent, type PointerEvent, useEffect, useRef } from 'react'

const LONG_PRESS_MS = 450
/** A finger that moves further scrolls. */
const SLOP_PIXELS = 10

/** Calls `onPress` when a finger rests on an element. The context menu of the browser and of the list stay closed. */
export function useLongPress(onPress: (target: EventTarget) => void) {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const start = useRef({ x: 0, y: 0 })
  const pressed = useRef(false)
  const latest = useRef(onPress)
  useEffect(() => {
    latest.current = onPress
  })
  const cancel = () => clearTimeout(timer.current)
  useEffect(() => () => clearTimeout(timer.current), [])
  return {
    cancel,
    onPointerDown(event: PointerEvent) {
      pressed.current = false
      cancel()
      if (event.pointerType !== 'touch') return
      // The context menu would open after a longer press.
      event.preventDefault()
      const { target } = event
      start.current = { x: event.clientX, y: event.clientY }
      timer.current = setTimeout(() => {
        pressed.current = true
        latest.current(target)
      }, LONG_PRESS_MS)
    },
    onPointerMove: ({ clientX, clientY }: PointerEvent) => {
      if (Math.hypot(clientX - start.current.x, clientY - start.current.y) > SLOP_PIXELS) cancel()
    },
    /** The event of a long press is suppressed. One of a button of the list, or of a mouse, passes. */
    onContextMenu(event: MouseEvent) {
      const { nativeEvent } = event
      if (nativeEvent instanceof globalThis.PointerEvent && nativeEvent.pointerType === 'touch')
        event.preventDefault()
    },
    /** Whether a click belongs to a long press, which has already been handled. */
    takeClick(): boolean {
      const taken = pressed.current
      pressed.current = false
      return taken
    },
  }
}
