import { createContext } from 'react'

/** The place in the header of the viewer where a view puts its own buttons, so that there is one toolbar. */
export const ToolbarSlot = createContext<HTMLElement | null>(null)
