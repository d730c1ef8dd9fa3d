import { commandOf, type KeyPress } from '../shortcuts.ts'

/** What a key does while the list of a folder has the focus. `none` stands for a key that is handled but has no effect here. */
export type GridCommand =
  | {
      readonly kind: 'move'
      readonly by: number | 'first' | 'last'
      /** `extend` selects the range from the anchor; `focus` moves the focus and leaves the selection alone. */
      readonly mode: 'select' | 'extend' | 'focus'
    }
  | { readonly kind: 'type'; readonly letter: string }
  | {
      readonly kind:
        | 'toggle'
        | 'open'
        | 'rename'
        | 'delete'
        | 'up'
        | 'escape'
        | 'find'
        | 'menu'
        | 'all'
        | 'none'
    }

/** The command of a key press, or undefined for a key that the browser or the page should handle. A list has one column. */
export function gridCommand(
  press: KeyPress,
  columns: number,
  pageRows: () => number,
): GridCommand | undefined {
  const { key } = press
  const kind = commandOf('list', press)
  if (kind !== undefined) return { kind }
  // Browsers would open their own menu bar.
  if (key === 'F10') return { kind: 'none' }
  const hasModifier = press.ctrlKey || press.metaKey
  const by = stepOf(press, columns, pageRows)
  if (by === 0) return { kind: 'none' }
  if (by !== undefined) {
    return { kind: 'move', by, mode: press.shiftKey ? 'extend' : hasModifier ? 'focus' : 'select' }
  }
  if (commandOf('everywhere', press) !== undefined) return undefined
  return key.length === 1 && !hasModifier && !press.altKey ? { kind: 'type', letter: key } : undefined
}

function stepOf(
  { key }: KeyPress,
  columns: number,
  pageRows: () => number,
): number | 'first' | 'last' | undefined {
  const move = commandOf('moves', { key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false })
  switch (move) {
    case 'next':
      return columns
    case 'previous':
      return -columns
    case 'right':
      return columns > 1 ? 1 : 0
    case 'left':
      return columns > 1 ? -1 : 0
    case 'first':
    case 'last':
      return move
    case 'pageDown':
      return pageRows() * columns
    case 'pageUp':
      return -pageRows() * columns
    case undefined:
      return undefined
  }
}

/** Letters typed within this time form one text to search for. */
const TYPING_MS = 800

/** Text typed so far, extended by a letter at a time in milliseconds. */
interface Typed {
  readonly text: string
  readonly at: number
}

export function typedSoFar(before: Typed, letter: string, now: number): Typed {
  return { text: now - before.at < TYPING_MS ? before.text + letter : letter, at: now }
}
