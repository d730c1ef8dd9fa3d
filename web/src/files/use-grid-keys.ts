import { type KeyboardEvent, useRef } from 'react'
import type { EntryGridProps } from './entry-grid.tsx'
import { all, only, rangeTo, type Selection, stepped, toggled, typedAhead } from './selection.ts'

/** Letters typed within this time belong together. */
const TYPING_MS = 800

interface Keyboard {
  readonly columns: number
  readonly pageRows: () => number
  /** Selects and brings into view. */
  readonly select: (selection: Selection) => void
  readonly onMenu: () => void
  readonly grid: EntryGridProps
}

/** What the keys do while the list has the keyboard. */
export function useGridKeys({ columns, pageRows, select, onMenu, grid }: Keyboard) {
  const typed = useRef({ text: '', at: 0 })
  const { entries, shown, selection } = grid

  function step(event: KeyboardEvent, by: number | 'first' | 'last'): void {
    const name = stepped(selection, shown, by)
    if (name === undefined) return
    if (event.shiftKey) select(rangeTo(selection, shown, name))
    else if (event.ctrlKey || event.metaKey) select({ ...selection, active: name })
    else select(only(name))
  }

  function typeAhead(letter: string): void {
    const now = Date.now()
    const text = now - typed.current.at < TYPING_MS ? typed.current.text + letter : letter
    typed.current = { text, at: now }
    const name = typedAhead(selection, shown, text.toLowerCase())
    if (name !== undefined) select(only(name))
  }

  const active = () => entries[shown.places.get(selection.active ?? '') ?? -1]

  const keys: Readonly<Record<string, (event: KeyboardEvent) => void>> = {
    ArrowDown: (event) => step(event, columns),
    ArrowUp: (event) => (event.altKey ? grid.onUp() : step(event, -columns)),
    ArrowRight: (event) => columns > 1 && step(event, 1),
    ArrowLeft: (event) => columns > 1 && step(event, -1),
    Home: (event) => step(event, 'first'),
    End: (event) => step(event, 'last'),
    PageDown: (event) => step(event, pageRows() * columns),
    PageUp: (event) => step(event, -pageRows() * columns),
    ' ': () => selection.active !== undefined && select(toggled(selection, selection.active)),
    Enter() {
      const entry = active()
      if (entry !== undefined) grid.onOpen(entry)
    },
    F2: grid.onStartRename,
    Delete: grid.onDelete,
    Backspace: grid.onUp,
    Escape: grid.onEscape,
    '/': grid.onFind,
    ContextMenu: onMenu,
    F10: (event) => event.shiftKey && onMenu(),
  }

  return (event: KeyboardEvent<HTMLElement>): void => {
    if (event.target !== event.currentTarget) return
    const { key } = event
    const commanding = event.ctrlKey || event.metaKey
    if (commanding && key.toLowerCase() === 'a') grid.onSelect(all(selection, shown))
    else if (commanding && key.toLowerCase() === 'f') grid.onFind()
    else if (Object.hasOwn(keys, key)) keys[key]?.(event)
    else if (key.length === 1 && !commanding && !event.altKey) typeAhead(key)
    else return
    event.preventDefault()
    // What the page does with the same key is not meant here.
    event.stopPropagation()
  }
}
