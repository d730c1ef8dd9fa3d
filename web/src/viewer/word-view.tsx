import { useQuery } from '@tanstack/react-query'
import { parseAsync, renderDocument } from 'docx-preview'
import { useEffect, useRef } from 'react'
import { fetchBytes, openFile } from '../api/index.ts'
import { nonce } from '../site-url.ts'
import { useTexts } from '../texts/index.ts'
import { LoadError, Waiting } from '../ui/index.ts'
import { visitedLink } from '../visited-link.ts'
import { DocumentView } from './document-view.tsx'
import { InfoCard } from './info-card.tsx'
import type { OpenedFile } from './opened-file.ts'
import { elementsIn, sanitize } from './word-elements.ts'

/** A Word document with its layout. If it cannot be parsed, its text is shown. */
export default function WordView({ file }: { file: OpenedFile }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['word', file.libraryId, file.path, file.id, file.commitId ?? ''],
    queryFn: async ({ signal }) => {
      const { link } = await openFile(file, signal)
      return render(await fetchBytes(link, file.size, signal)).catch(() => [])
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    // The nodes are moved into the page, so they can be used once.
    structuralSharing: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  if (error) return <LoadError error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Waiting />
  if (data.length === 0)
    return visitedLink === undefined ? <DocumentView file={file} /> : <InfoCard file={file} />
  return <Paper nodes={data} />
}

async function render(bytes: Uint8Array<ArrayBuffer>): Promise<readonly Node[]> {
  const inert = document.implementation.createHTMLDocument('')
  const options = {
    // The content security policy allows no fonts from files.
    ignoreFonts: true,
    // Embedded web pages.
    renderAltChunks: false,
    useBase64URL: true,
    h: elementsIn(inert) as (order: unknown) => Node,
  }
  const nodes = await renderDocument(await parseAsync(bytes, options), options)
  const root = inert.createElement('div')
  root.append(...nodes)
  sanitize(root)
  return [...root.childNodes]
}

/** Links, the color around the paper, and the margins of a document that has no page size. The paper is white in both themes. */
function paperStyle(page: Document, around: string): HTMLStyleElement {
  const style = page.createElement('style')
  style.nonce = nonce
  style.textContent = `
    .docx a[href], .docx a[href] span { color: #0b5fb0; text-decoration: underline }
    body, .docx-wrapper { background: ${around} !important }
    @media (max-width: 860px) { .docx-wrapper { padding: 0 !important } }
    .docx-wrapper > section.docx:not([style*='padding']) { padding: 2.5cm !important; width: min(21cm, 100%); box-sizing: border-box }`
  return style
}

/** Makes the paper as small as the frame demands: a page is wider than a phone, and what is left of a centered page cannot be scrolled to. */
function fitWidth(frame: HTMLIFrameElement): void {
  const body = frame.contentDocument?.body
  if (body === undefined || body === null) return
  body.style.zoom = '1'
  const papers = [...body.querySelectorAll<HTMLElement>('section.docx')]
  const widest = Math.max(0, ...papers.map(({ offsetWidth }) => offsetWidth))
  const room = frame.clientWidth
  if (widest > room && room > 0) body.style.zoom = String(room / widest)
}

/**
 * The document in a frame of its own. The sandbox runs no scripts, and the frame inherits the content security policy of the app, which
 * lets nothing be loaded from elsewhere.
 */
function Paper({ nodes }: { nodes: readonly Node[] }) {
  const texts = useTexts('viewer')
  const frame = useRef<HTMLIFrameElement>(null)
  useEffect(() => {
    const element = frame.current
    if (element === null) return
    const fill = () => {
      const page = element.contentDocument
      if (page === null) return
      for (const node of nodes) {
        if (node instanceof HTMLStyleElement) {
          node.nonce = nonce
          page.head.append(node)
        } else page.body.append(node)
      }
      page.head.append(paperStyle(page, getComputedStyle(element).getPropertyValue('--wash')))
      page.body.style.margin = '0'
    }
    const fit = () => fitWidth(element)
    // Some browsers replace the empty document of a new frame a moment later.
    const refill = () => {
      fill()
      fit()
    }
    element.addEventListener('load', refill)
    refill()
    const resized = new ResizeObserver(fit)
    resized.observe(element)
    return () => {
      resized.disconnect()
      element.removeEventListener('load', refill)
    }
  }, [nodes])
  return (
    <div className="viewer-body viewer-word">
      <iframe
        ref={frame}
        title={texts.documentText}
        sandbox="allow-same-origin allow-popups allow-popups-to-escape-sandbox"
      />
    </div>
  )
}
