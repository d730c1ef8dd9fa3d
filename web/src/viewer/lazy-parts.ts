import { lazy } from 'react'
import { type Kind, kindOf } from '../file-kinds.ts'
import { preloadable } from '../ui/index.ts'
import { visitedLink } from '../visited-link.ts'

/** The large parts of the viewer, loaded on demand. */
export const viewerParts = {
  page: () => import('./file-page.tsx'),
  visitedPage: () => import('./visited-file.tsx'),
  editor: () => import('./code-editor.tsx'),
  markdown: () => import('./markdown.tsx'),
  pdf: () => import('./pdf-view.tsx'),
  table: () => import('./table-view.tsx'),
  archive: () => import('./archive-view.tsx'),
  spreadsheet: () => import('./spreadsheet-view.tsx'),
  word: () => import('./word-view.tsx'),
}

export const FilePage = lazy(viewerParts.page)
export const DraftSaver = lazy(() => import('./draft-saver.tsx'))
export const VisitedFilePage = preloadable(viewerParts.visitedPage)

const partOf: Partial<Record<Kind, keyof typeof viewerParts>> = {
  text: 'editor',
  code: 'editor',
  markdown: 'markdown',
  pdf: 'pdf',
  archive: 'archive',
}

/** Preloads the parts needed to show a file of this name. */
export function preloadViewer(name: string): void {
  const page = visitedLink === undefined ? 'page' : 'visitedPage'
  for (const part of [page, partOf[kindOf(name)]] as const) {
    // Opening the file loads it again and reports the error.
    if (part !== undefined) viewerParts[part]().catch(() => undefined)
  }
}
