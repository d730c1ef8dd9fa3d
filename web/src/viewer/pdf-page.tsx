import { type PDFDocumentProxy, type PDFPageProxy, TextLayer } from 'pdfjs-dist'
import { useEffect, useRef, useState } from 'react'
import { useTexts } from '../texts/index.ts'
import { linksOf, type PdfLink } from './pdf-links.ts'
import type { PageSize } from './use-pdf-places.ts'

const MAX_PIXELS = 2 ** 24

/** One page: a canvas while it is near, with a text layer for selection, search and screen readers. */
export function PdfPage(props: {
  pdf: PDFDocumentProxy
  number: number
  size: PageSize
  scale: number
  isNear: boolean
  onMeasured: (number: number, size: PageSize) => void
  onGo: (page: number) => void
}) {
  const { pdf, number, size, scale, isNear, onMeasured } = props
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
      await draw(page, { drawing, text, scale, signal })
      const found = await linksOf(pdf, page)
      if (!signal.aborted) setLinks(found)
    }
    // A page that fails to render stays blank.
    show().catch(() => undefined)
    return () => {
      stopping.abort()
      // Frees the memory of the canvas.
      drawing.width = 0
      drawing.height = 0
      text.replaceChildren()
    }
  }, [pdf, number, scale, isNear, onMeasured])
  return (
    <section
      className="pdf-page"
      data-page={number}
      aria-label={texts.pageNumber(number)}
      style={{
        width: `${Math.floor(size.width * scale)}px`,
        height: `${Math.floor(size.height * scale)}px`,
        ['--total-scale-factor' as string]: scale,
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

async function draw(
  page: PDFPageProxy,
  on: { drawing: HTMLCanvasElement; text: HTMLDivElement; scale: number; signal: AbortSignal },
): Promise<void> {
  const { drawing, text, scale, signal } = on
  const viewport = page.getViewport({ scale })
  const finest = Math.sqrt(MAX_PIXELS / (viewport.width * viewport.height))
  const density = Math.min(devicePixelRatio, 3, finest)
  drawing.width = Math.floor(viewport.width * density)
  drawing.height = Math.floor(viewport.height * density)
  const task = page.render({ canvas: drawing, viewport: page.getViewport({ scale: scale * density }) })
  signal.addEventListener('abort', () => task.cancel(), { once: true })
  await task.promise
  if (signal.aborted) return
  const written = new TextLayer({ textContentSource: page.streamTextContent(), container: text, viewport })
  signal.addEventListener('abort', () => written.cancel(), { once: true })
  await written.render()
}
