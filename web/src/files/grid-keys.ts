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

interface KeyPress {
  readonly key: string
  readonly shiftKey: boolean
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
}

const PLAIN: Readonly<Record<string, Exclude<GridCommand['kind'], 'move' | 'type'>>> = {
  ' ': 'toggle',
  Enter: 'open',
  F2: 'rename',
  Delete: 'delete',
  Backspace: 'up',
  Escape: 'escape',
  '/': 'find',
  ContextMenu: 'menu',
}

/** The command of a key press, or undefined for a key that the browser should handle. A list has one column. */
export function gridCommand(
  press: KeyPress,
  columns: number,
  pageRows: () => number,
): GridCommand | undefined {
  const { key } = press
  const hasModifier = press.ctrlKey || press.metaKey
  if (hasModifier && key.toLowerCase() === 'a') return { kind: 'all' }
  if (hasModifier && key.toLowerCase() === 'f') return { kind: 'find' }
  if (key === 'ArrowUp' && press.altKey) return { kind: 'up' }
  if (key === 'F10') return { kind: press.shiftKey ? 'menu' : 'none' }
  const by = stepOf(key, columns, pageRows)
  if (by === 0) return { kind: 'none' }
  if (by !== undefined) {
    return { kind: 'move', by, mode: press.shiftKey ? 'extend' : hasModifier ? 'focus' : 'select' }
  }
  const plain = Object.hasOwn(PLAIN, key) ? PLAIN[key] : undefined
  if (plain !== undefined) return { kind: plain }
  return key.length === 1 && !hasModifier && !press.altKey ? { kind: 'type', letter: key } : undefined
}

function stepOf(key: string, columns: number, pageRows: () => number): number | 'first' | 'last' | undefined {
  switch (key) {
    case 'ArrowDown':
      return columns
    case 'ArrowUp':
      return -columns
    case 'ArrowRight':
      return columns > 1 ? 1 : 0
    case 'ArrowLeft':
      return columns > 1 ? -1 : 0
    case 'Home':
      return 'first'
    case 'End':
      return 'last'
    case 'PageDown':
      return pageRows() * columns
    case 'PageUp':
      return -pageRows() * columns
    default:
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
