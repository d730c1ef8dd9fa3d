import { type PDFDocumentProxy, type PDFPageProxy, TextLayer } from 'pdfjs-dist'
import { useEffect, useRef, useState } from 'react'
import { useTexts } from '../texts/index.ts'
import { highlightMatches } from './pdf-highlights.ts'
import { linksOf, type PdfLink } from './pdf-links.ts'
import { rotated } from './pdf-rotation.ts'
import type { PdfMatch } from './pdf-text.ts'
import type { PageSize } from './use-pdf-places.ts'

const MAX_PIXELS = 2 ** 24

/** One page: a canvas while it is near, with a text layer for selection, search and screen readers. */
export function PdfPage(props: {
  pdf: PDFDocumentProxy
  number: number
  /** After rotation. */
  size: PageSize
  scale: number
  /** Rotation of the view in degrees. */
  rotation: number
  isNear: boolean
  /** Matches of the search on this page. */
  matches: readonly PdfMatch[] | undefined
  activeMatch: PdfMatch | undefined
  onMeasured: (number: number, size: PageSize) => void
  onGo: (page: number) => void
}) {
  const { pdf, number, size, scale, rotation, isNear, matches, activeMatch, onMeasured } = props
  /** The elements of the text layer, once it is complete. */
  const [written, setWritten] = useState<readonly HTMLElement[]>()
  const [links, setLinks] = useState<readonly PdfLink[]>([])
  const texts = useTexts('viewer')
  const canvas = useRef<HTMLCanvasElement>(null)
  const layer = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const [drawing, text] = [canvas.current, layer.current]
    if (!isNear || drawing === null || text === null) return
    const stopping = new AbortController()
    const { signal } = stopping
    const show = async () => {
      const page = await pdf.getPage(number)
      if (signal.aborted) return
      const { width, height } = page.getViewport({ scale: 1 })
      onMeasured(number, { width, height })
      const elements = await draw(page, { drawing, text, scale, rotation, signal })
      if (signal.aborted) return
      setWritten(elements)
      const found = await linksOf(pdf, page, rotation)
      if (!signal.aborted) setLinks(found)
    }
    // A page that fails to render stays blank.
    show().catch(() => undefined)
    return () => {
      stopping.abort()
      setWritten(undefined)
      // Frees the memory of the canvas.
      drawing.width = 0
      drawing.height = 0
      text.replaceChildren()
    }
  }, [pdf, number, scale, rotation, isNear, onMeasured])
  useEffect(() => {
    if (written !== undefined && matches !== undefined) return highlightMatches(written, matches, activeMatch)
    return undefined
  }, [written, matches, activeMatch])
  const shown = useRef<PdfMatch>(undefined)
  useEffect(() => {
    if (activeMatch === undefined || activeMatch === shown.current) return
    const element = written?.[activeMatch.from.item]
    if (element === undefined) return
    // Only once, so that a later zoom does not scroll back to it.
    shown.current = activeMatch
    element.scrollIntoView({ block: 'center', inline: 'nearest' })
  }, [written, activeMatch])
  return (
    <section
      className="pdf-page"
      data-page={number}
      aria-label={texts.pageNumber(number)}
      style={{
        width: `${Math.floor(size.width * scale)}px`,
        height: `${Math.floor(size.height * scale)}px`,
        ['--total-scale-factor' as string]: scale,
        ['--rotated-width' as string]: `${size.width * scale}px`,
        ['--rotated-height' as string]: `${size.height * scale}px`,
      }}
    >
      {isNear && (
        <>
          <canvas ref={canvas} role="presentation" />
          <div ref={layer} className="pdf-text" />
          {links.map((link) => (
            <LinkOver key={`${link.left} ${link.top} ${link.width}`} link={link} onGo={props.onGo} />
          ))}
        </>
      )}
    </section>
  )
}

function LinkOver({ link, onGo }: { link: PdfLink; onGo: (page: number) => void }) {
  const texts = useTexts('viewer')
  const { to } = link
  const percent = (part: number) => `${part * 100}%`
  const style = {
    left: percent(link.left),
    top: percent(link.top),
    width: percent(link.width),
    height: percent(link.height),
  }
  if ('page' in to) {
    const label = texts.toPage(to.page)
    return (
      <button
        type="button"
        className="pdf-link"
        style={style}
        title={label}
        aria-label={label}
        onClick={() => onGo(to.page)}
      />
    )
  }
  return (
    <a
      className="pdf-link"
      style={style}
      href={to.href}
      title={to.href}
      aria-label={to.href}
      target="_blank"
      rel="noopener noreferrer nofollow"
    />
  )
}

/** Draws a page and returns the elements of its text items. */
async function draw(
  page: PDFPageProxy,
  on: {
    drawing: HTMLCanvasElement
    text: HTMLDivElement
    scale: number
    rotation: number
    signal: AbortSignal
  },
): Promise<readonly HTMLElement[]> {
  const { drawing, text, scale, signal } = on
  const viewport = page.getViewport({ scale, rotation: rotated(page, on.rotation) })
  const finest = Math.sqrt(MAX_PIXELS / (viewport.width * viewport.height))
  const density = Math.min(devicePixelRatio, 3, finest)
  drawing.width = Math.floor(viewport.width * density)
  drawing.height = Math.floor(viewport.height * density)
  const task = page.render({ canvas: drawing, viewport: viewport.clone({ scale: scale * density }) })
  signal.addEventListener('abort', () => task.cancel(), { once: true })
  await task.promise
  if (signal.aborted) return []
  const layer = new TextLayer({ textContentSource: page.streamTextContent(), container: text, viewport })
  signal.addEventListener('abort', () => layer.cancel(), { once: true })
  await layer.render()
  return layer.textDivs
}
