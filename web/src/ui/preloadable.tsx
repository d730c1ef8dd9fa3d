import { type ComponentType, createElement, lazy, useState } from 'react'

/** A page that is loaded on demand, and can be loaded before it is rendered. */
type Preloadable = ComponentType & { preload(): Promise<void> }

/**
 * Like `lazy()`, but a page whose `preload()` has finished is rendered at once. `lazy()` suspends even if its file is there already, and
 * React then shows the fallback for at least 300 ms.
 */
export function preloadable(load: () => Promise<{ default: ComponentType }>): Preloadable {
  const Lazy = lazy(load)
  let loaded: ComponentType | undefined
  function Page() {
    // One of the two while it is mounted: another component would lose the state of the page.
    const [shown] = useState<ComponentType>(() => loaded ?? Lazy)
    return createElement(shown)
  }
  return Object.assign(Page, {
    async preload() {
      loaded = (await load()).default
    },
  })
}
