import { type KeyboardEvent, useRef } from 'react'
import { forwardPress } from '../ui/index.ts'
import type { EntryGridProps } from './entry-grid.tsx'
import { type GridCommand, gridCommand, typedSoFar } from './grid-keys.ts'
import { all, entryAt, only, type Selection, selectRange, toggleEntry, typeAheadMatch } from './selection.ts'

interface Keyboard {
  readonly columns: number
  readonly pageRows: () => number
  /** Selects and scrolls into view. */
  readonly select: (selection: Selection) => void
  readonly onMenu: () => void
  readonly grid: EntryGridProps
}

/** Handles the keyboard while the list of a folder has the focus. */
export function useGridKeys({ columns, pageRows, select, onMenu, grid }: Keyboard) {
  const typed = useRef({ text: '', at: 0 })
  const { entries, shown, selection } = grid

  function move({ by, mode }: Extract<GridCommand, { kind: 'move' }>): void {
    const name = entryAt(selection, shown, by)
    if (name === undefined) return
    if (mode === 'extend') select(selectRange(selection, shown, name))
    else if (mode === 'focus') select({ ...selection, active: name })
    else select(only(name))
  }

  function typeAhead(letter: string): void {
    typed.current = typedSoFar(typed.current, letter, Date.now())
    const name = typeAheadMatch(selection, shown, typed.current.text.toLowerCase())
    if (name !== undefined) select(only(name))
  }

  function open(): void {
    const entry = entries[shown.places.get(selection.active ?? '') ?? -1]
    if (entry !== undefined) grid.onOpen(entry)
  }

  function run(command: GridCommand): void {
    if (command.kind === 'move') move(command)
    else if (command.kind === 'type') typeAhead(command.letter)
    else {
      const actions = {
        toggle: () => selection.active !== undefined && select(toggleEntry(selection, selection.active)),
        open,
        rename: grid.onStartRename,
        delete: grid.onDelete,
        up: grid.onUp,
        escape: grid.onEscape,
        find: grid.onFind,
        menu: onMenu,
        all: () => grid.onSelect(all(selection, shown)),
        none: () => undefined,
      }
      actions[command.kind]()
    }
  }

  return (event: KeyboardEvent<HTMLElement>): void => {
    if (event.target !== event.currentTarget) return
    const command = gridCommand(forwardPress(event), columns, pageRows)
    if (command === undefined) return
    run(command)
    event.preventDefault()
    // The page has other handlers for some of these keys.
    event.stopPropagation()
  }
}
