import { useEffect } from 'react'
import type { MenuEntry } from '../ui/index.ts'

type Action = Extract<MenuEntry, { readonly label: string }>

/** Actions of the current page, and what they apply to. */
export interface ProvidedActions {
  readonly title: string
  readonly entries: readonly MenuEntry[]
}

let provided: readonly ProvidedActions[] = []

/** Offers actions of a page in the palette while the page is shown. */
export function useProvidedActions(groups: readonly ProvidedActions[]): void {
  useEffect(() => {
    provided = groups
    return () => {
      if (provided === groups) provided = []
    }
  })
}

export const providedActions = () => provided

export function actionsIn(entries: readonly MenuEntry[]): Action[] {
  return entries.filter(
    (entry): entry is Action => typeof entry === 'object' && 'label' in entry && !entry.disabled,
  )
}
