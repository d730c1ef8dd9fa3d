import { type RefObject, useEffect } from 'react'
import type { PdfActions } from './pdf-toolbar.tsx'

/**
 * Keys of the document view. Ctrl+F searches, Ctrl+P prints and F3 goes to the next match wherever the focus is. Single characters
 * count only while the focus is on the pages, so that they never get in the way of typing.
 */
export function usePdfKeys(
  pages: RefObject<HTMLElement | null>,
  actions: PdfActions,
  search: { isSearchOpen: boolean; step: (by: 1 | -1) => void; resetZoom: () => void },
): void {
  // Scrolling by keyboard works without a click first. Nobody moved the focus there, so its ring is hidden until a key is pressed.
  useEffect(() => {
    const element = pages.current
    if (element === null || document.activeElement !== document.body) return
    element.dataset['focusRing'] = 'hidden'
    element.focus({ preventScroll: true })
    const show = () => delete element.dataset['focusRing']
    for (const type of ['keydown', 'blur']) element.addEventListener(type, show, { once: true })
  }, [pages])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.defaultPrevented || document.querySelector('[role="dialog"]') !== null) return
      const run = actionOf(event, pages.current, actions, search)
      if (run === undefined) return
      event.preventDefault()
      run()
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  })
}

function actionOf(
  event: KeyboardEvent,
  pages: HTMLElement | null,
  actions: PdfActions,
  search: { isSearchOpen: boolean; step: (by: 1 | -1) => void; resetZoom: () => void },
): (() => void) | undefined {
  const { key, shiftKey, altKey } = event
  if (altKey) return undefined
  if (event.ctrlKey || event.metaKey) {
    if (key === 'p') return actions.print
    // Pressed again in our field, the browser searches itself.
    return key === 'f' && !search.isSearchOpen ? actions.search : undefined
  }
  if (key === 'F3') return search.isSearchOpen ? () => search.step(shiftKey ? -1 : 1) : actions.search
  if (event.target !== pages) return undefined
  const plain: Record<string, (() => void) | undefined> = {
    '+': actions.zoomIn,
    '=': actions.zoomIn,
    '-': actions.zoomOut,
    '0': search.resetZoom,
    r: actions.rotate,
    '/': search.isSearchOpen ? undefined : actions.search,
  }
  return plain[key]
}
