import { lazy, Suspense } from 'react'
import { extensionOf, kindOf } from '../file-kinds.ts'
import { Waiting } from '../ui/index.ts'
import { visitedLink } from '../visited-link.ts'
import { DocumentView } from './document-view.tsx'
import { ImageView } from './image-view.tsx'
import { InfoCard } from './info-card.tsx'
import { viewerParts } from './lazy-parts.ts'
import { MediaView } from './media-view.tsx'
import type { OpenedFile } from './opened-file.ts'
import type { SiblingNavigation } from './sibling-files.ts'
import { TextView } from './text-view.tsx'

const PdfView = lazy(viewerParts.pdf)
const ArchiveView = lazy(viewerParts.archive)
const SpreadsheetView = lazy(viewerParts.spreadsheet)
const WordView = lazy(viewerParts.word)

/** Larger files are shown as text, because the page would have to parse them whole. */
const MAX_PARSED_BYTES = 20 * 2 ** 20

const NO_TEXT_INSIDE = new Set(['doc', 'xls', 'ppt', 'pages', 'numbers', 'key'])

/** Selects the view for the kind of a file. */
export function FileBody(props: { file: OpenedFile; stepping: SiblingNavigation; isGone: boolean }) {
  const { file, stepping, isGone } = props
  // The file is gone, so other views could not load it. An open editor stays.
  const kind = kindOf(file.name)
  const extension = extensionOf(file.name)
  if (kind === 'markdown' || kind === 'text' || kind === 'code')
    return <TextView file={file} isGone={isGone} />
  if (isGone) return <InfoCard file={file} />
  if (kind === 'image') return <ImageView file={file} stepping={stepping} />
  if (kind === 'video' || kind === 'audio') return <MediaView file={file} kind={kind} />
  if (kind === 'pdf') {
    return (
      <Suspense fallback={<Waiting />}>
        <PdfView file={file} />
      </Suspense>
    )
  }
  const Part = partFor(extension, file.size)
  if (Part !== undefined) {
    return (
      <Suspense fallback={<Waiting />}>
        <Part file={file} />
      </Suspense>
    )
  }
  const isDocument = kind === 'document' || kind === 'spreadsheet' || kind === 'presentation'
  // The server sends visitors no extracted texts.
  if (visitedLink !== undefined) return <InfoCard file={file} />
  if (isDocument && !NO_TEXT_INSIDE.has(extension)) return <DocumentView file={file} />
  return <InfoCard file={file} />
}

/** The view for a format of its own. */
function partFor(extension: string, size: number): typeof ArchiveView | undefined {
  // The server lists archives for members only.
  if (extension === 'zip') return visitedLink === undefined ? ArchiveView : undefined
  if (size === 0 || size > MAX_PARSED_BYTES) return undefined
  if (extension === 'xlsx' || extension === 'xlsm') return SpreadsheetView
  return extension === 'docx' || extension === 'docm' ? WordView : undefined
}
