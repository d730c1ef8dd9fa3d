import { lazy } from 'react'
import { type Kind, kindOf } from '../file-kinds.ts'

/** The heavy parts of the viewer, each fetched once. */
export const viewerParts = {
  page: () => import('./file-page.tsx'),
  editor: () => import('./code-editor.tsx'),
  markdown: () => import('./markdown.tsx'),
  pdf: () => import('./pdf-view.tsx'),
}

export const FilePage = lazy(viewerParts.page)

const partOf: Partial<Record<Kind, keyof typeof viewerParts>> = {
  text: 'editor',
  code: 'editor',
  markdown: 'markdown',
  pdf: 'pdf',
}

/** Fetches what it takes to show a file of this name, before it is opened. */
export function preloadViewer(name: string): void {
  for (const part of ['page', partOf[kindOf(name)]] as const) {
    // Whoever opens the file asks again, and is told of a failure.
    if (part !== undefined) viewerParts[part]().catch(() => undefined)
  }
}
