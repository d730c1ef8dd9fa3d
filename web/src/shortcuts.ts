/**
 * The keys of the app by area. Handlers look their keys up here, and the sheet of shortcuts shows the same list, so that it cannot
 * differ from what the keys do. `Mod` is Ctrl, or Command on a Mac.
 */
export const shortcuts = {
  everywhere: {
    palette: ['Mod+K'],
    search: ['/'],
    undo: ['Mod+Z'],
    help: ['?'],
  },
  /** While the list of a folder has the focus. */
  list: {
    open: ['Enter'],
    up: ['Backspace', 'Alt+ArrowUp'],
    toggle: ['Space'],
    all: ['Mod+A'],
    rename: ['F2'],
    delete: ['Delete'],
    find: ['/', 'Mod+F'],
    menu: ['ContextMenu', 'Shift+F10'],
    escape: ['Escape'],
  },
  /** Events of the browser, which has the keys itself. */
  clipboard: {
    copy: ['Mod+C'],
    cut: ['Mod+X'],
    paste: ['Mod+V'],
  },
  /** In the list; with Shift the selection grows, with `Mod` it stays. */
  moves: {
    previous: ['ArrowUp'],
    next: ['ArrowDown'],
    left: ['ArrowLeft'],
    right: ['ArrowRight'],
    first: ['Home'],
    last: ['End'],
    pageUp: ['PageUp'],
    pageDown: ['PageDown'],
  },
  viewer: {
    previousFile: ['ArrowLeft'],
    nextFile: ['ArrowRight'],
    save: ['Mod+S'],
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>

export type Area = keyof typeof shortcuts
export type CommandOf<A extends Area> = keyof (typeof shortcuts)[A] & string

export interface KeyPress {
  readonly key: string
  readonly shiftKey: boolean
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
}

/** The command of an area that a key press stands for. */
export function commandOf<A extends Area>(area: A, press: KeyPress): CommandOf<A> | undefined {
  const commands = Object.entries(shortcuts[area]) as [CommandOf<A>, readonly string[]][]
  return commands.find(([, keys]) => keys.some((key) => isPressed(key, press)))?.[0]
}

function isPressed(shortcut: string, { key, shiftKey, ctrlKey, metaKey, altKey }: KeyPress): boolean {
  const parts = shortcut.split('+')
  const wanted = parts.pop() ?? ''
  const pressed = key === ' ' ? 'Space' : key
  if (pressed.toLowerCase() !== wanted.toLowerCase()) return false
  // Which characters need Shift depends on the keyboard.
  const isCharacter = key.length === 1 && !/[a-z]/i.test(key)
  if (!isCharacter && shiftKey !== parts.includes('Shift')) return false
  return (ctrlKey || metaKey) === parts.includes('Mod') && altKey === parts.includes('Alt')
}
