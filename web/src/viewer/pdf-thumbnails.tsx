import { useVirtualizer } from '@tanstack/react-virtual'
import type { PDFDocumentProxy } from 'pdfjs-dist'
import { useEffect, useRef } from 'react'
import { useTexts } from '../texts/index.ts'
import { rotated } from './pdf-rotation.ts'

const ROW_PX = 184
/** The size of a thumbnail, in CSS pixels. */
const BOX = { width: 120, height: 148 }

/** Small pictures of all pages, drawn as they are scrolled into view. */
export function PdfThumbnails(props: {
  pdf: PDFDocumentProxy
  current: number
  rotation: number
  onGo: (page: number) => void
}) {
  const { pdf, current, rotation, onGo } = props
  const texts = useTexts('viewer')
  const scroller = useRef<HTMLElement>(null)
  const rows = useVirtualizer({
    count: pdf.numPages,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: 2,
  })
  useEffect(() => rows.scrollToIndex(current - 1), [rows, current])
  return (
    <nav ref={scroller} className="pdf-thumbnails" aria-label={texts.pdfThumbnails}>
      <ol style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map(({ index, start }) => (
          <li
            key={index}
            style={{ transform: `translateY(${start}px)` }}
            aria-setsize={pdf.numPages}
            aria-posinset={index + 1}
          >
            <button
              type="button"
              aria-label={texts.toPage(index + 1)}
              aria-current={current === index + 1 ? 'page' : undefined}
              onClick={() => onGo(index + 1)}
            >
              <Thumbnail pdf={pdf} number={index + 1} rotation={rotation} />
              <span>{index + 1}</span>
            </button>
          </li>
        ))}
      </ol>
    </nav>
  )
}

function Thumbnail({ pdf, number, rotation }: { pdf: PDFDocumentProxy; number: number; rotation: number }) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const drawing = canvas.current
    if (drawing === null) return
    const stopping = new AbortController()
    const { signal } = stopping
    const draw = async () => {
      const page = await pdf.getPage(number)
      if (signal.aborted) return
      const whole = page.getViewport({ scale: 1, rotation: rotated(page, rotation) })
      const scale = Math.min(BOX.width / whole.width, BOX.height / whole.height)
      const density = Math.min(devicePixelRatio, 2)
      const viewport = whole.clone({ scale: scale * density })
      drawing.width = Math.max(1, Math.floor(viewport.width))
      drawing.height = Math.max(1, Math.floor(viewport.height))
      drawing.style.width = `${Math.floor(whole.width * scale)}px`
      const task = page.render({ canvas: drawing, viewport })
      signal.addEventListener('abort', () => task.cancel(), { once: true })
      await task.promise
    }
    // A page that fails to render stays blank.
    draw().catch(() => undefined)
    return () => {
      stopping.abort()
      drawing.width = 0
      drawing.height = 0
    }
  }, [pdf, number, rotation])
  return <canvas ref={canvas} role="presentation" />
}
