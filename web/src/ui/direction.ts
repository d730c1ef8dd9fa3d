/** Whether the page is in a language that is written from right to left. */
export const isRightToLeft = (): boolean => document.documentElement.dir === 'rtl'

const MIRRORED: Readonly<Record<string, string>> = { ArrowLeft: 'ArrowRight', ArrowRight: 'ArrowLeft' }

/** A key as it is in a page from left to right: there the right arrow goes forward, and in the other direction the left one. */
export const forwardKey = (key: string): string => (isRightToLeft() ? (MIRRORED[key] ?? key) : key)

interface KeyPress {
  readonly key: string
  readonly shiftKey: boolean
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
}

/** The same for a key press. */
export function forwardPress(press: KeyPress): KeyPress {
  const { shiftKey, ctrlKey, metaKey, altKey } = press
  return { key: forwardKey(press.key), shiftKey, ctrlKey, metaKey, altKey }
}
