import { Suspense, useSyncExternalStore } from 'react'
import { LazyPalette, LazyShortcutSheet } from './lazy.ts'
import { useShortcut } from './use-shortcut.ts'

type Overlay = 'palette' | 'help'

const listeners = new Set<() => void>()
let shown: Overlay | undefined

/** Opens the palette or the sheet of shortcuts. */
export function showCommands(overlay: Overlay | undefined): void {
  shown = overlay
  for (const listener of listeners) listener()
}

function onShown(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The command palette and the sheet of shortcuts, with their keys. */
export function Commands() {
  const overlay = useSyncExternalStore(onShown, () => shown)
  useShortcut('palette', () => showCommands('palette'))
  useShortcut('help', () => showCommands('help'))
  const close = () => showCommands(undefined)
  return (
    <Suspense>
      {overlay === 'palette' && <LazyPalette onClose={close} />}
      {overlay === 'help' && <LazyShortcutSheet onClose={close} />}
    </Suspense>
  )
}
