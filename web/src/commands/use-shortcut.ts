import { useEffect, useRef } from 'react'
import { type CommandOf, commandOf } from '../shortcuts.ts'

/** Runs `run` at the keys of a command, anywhere on the page: not while text is typed, and not while a dialog is open. */
export function useShortcut(command: CommandOf<'everywhere'>, run: () => void): void {
  const latest = useRef(run)
  useEffect(() => {
    latest.current = run
  })
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || event.repeat || commandOf('everywhere', event) !== command) return
      if (isTyping(event.target, command) || document.querySelector('[role="dialog"]') !== null) return
      event.preventDefault()
      latest.current()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [command])
}

/** Fields need their keys themselves. Only the palette opens from a one-line field, where its key means nothing. */
function isTyping(target: EventTarget | null, command: CommandOf<'everywhere'>): boolean {
  if (!(target instanceof HTMLElement)) return false
  if (target.isContentEditable || /^(?:TEXTAREA|SELECT)$/.test(target.tagName)) return true
  return target.tagName === 'INPUT' && command !== 'palette'
}
