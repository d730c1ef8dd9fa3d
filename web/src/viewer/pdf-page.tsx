import { type PDFDocumentProxy, type PDFPageProxy, TextLayer } from 'pdfjs-dist'
import { useEffect, useRef } from 'react'
import { useTexts } from '../texts/texts.tsx'
import type { PageSize } from './use-pdf-places.ts'

const MOST_PIXELS = 2 ** 24

/** One page: a drawing while it is near, with its text over it to be selected, found and read aloud. */
export function PdfPage(props: {
  pdf: PDFDocumentProxy
  number: number
  size: PageSize
  scale: number
  isNear: boolean
  onMeasured: (number: number, size: PageSize) => void
}) {
  const { pdf, number, size, scale, isNear, onMeasured } = props
  const texts = useTexts('viewer')
  const canvas = useRef<HTMLCanvasElement>(null)
  const layer = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const [drawing, text] = [canvas.current, layer.current]
    if (!isNear || drawing === null || text === null) return
    const stopping = new AbortController()
    void pdf
      .getPage(number)
      .then(async (page) => {
        if (stopping.signal.aborted) return
        const { width, height } = page.getViewport({ scale: 1 })
        onMeasured(number, { width, height })
        await draw(page, { drawing, text, scale, signal: stopping.signal })
      })
      // A page that cannot be drawn stays blank, and the others are there.
      .catch(() => undefined)
    return () => {
      stopping.abort()
      // Gives its memory back.
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
        </>
      )}
    </section>
  )
}

async function draw(
  page: PDFPageProxy,
  on: { drawing: HTMLCanvasElement; text: HTMLDivElement; scale: number; signal: AbortSignal },
): Promise<void> {
  const { drawing, text, scale, signal } = on
  const viewport = page.getViewport({ scale })
  const finest = Math.sqrt(MOST_PIXELS / (viewport.width * viewport.height))
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
