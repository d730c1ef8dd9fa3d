import { lazy } from 'react'

/** Menus, dialogs and popovers are loaded on demand: the first list does not need their library. */
const load = () => import('./overlay-parts.ts')

export const MenuPanel = lazy(async () => ({ default: (await load()).MenuPanel }))
export const DialogPanel = lazy(async () => ({ default: (await load()).DialogPanel }))
export const PopoverPanel = lazy(async () => ({ default: (await load()).PopoverPanel }))

const FIRST_ACTIONS = ['pointermove', 'pointerdown', 'keydown'] as const

/** Loads them when the user first does something, so that they are there before the first click. */
export function preloadOverlays(): void {
  const start = () => {
    for (const name of FIRST_ACTIONS) removeEventListener(name, start)
    // The error is shown when one is opened.
    load().catch(() => undefined)
  }
  for (const name of FIRST_ACTIONS) addEventListener(name, start)
}
