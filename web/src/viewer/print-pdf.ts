import type { PDFDocumentProxy } from 'pdfjs-dist'
import { rotated } from './pdf-rotation.ts'

/** Printed pages are images, so that more of them would exhaust the memory of the tab. */
export const MAX_PRINTED_PAGES = 400
const PRINTED_DPI = 150
const PDF_DPI = 72
const MAX_PIXELS = 2 ** 23

/**
 * Prints all pages through the print dialog of the browser. The pages are drawn by the library and not by the browser's own viewer,
 * which our content security policy does not allow in the app.
 */
export async function printPdf(
  pdf: PDFDocumentProxy,
  options: { rotation: number; signal: AbortSignal; onPage: (printed: number) => void },
): Promise<void> {
  const { rotation, signal, onPage } = options
  const sheet = document.createElement('div')
  sheet.className = 'pdf-print'
  const urls: string[] = []
  const style = new CSSStyleSheet()
  const remove = () => {
    sheet.remove()
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== style)
    for (const url of urls) URL.revokeObjectURL(url)
  }
  try {
    for (let number = 1; number <= pdf.numPages; number += 1) {
      const { blob, width, height } = await drawPage(pdf, number, rotation)
      signal.throwIfAborted()
      if (number === 1) style.replaceSync(`@page { size: ${width}pt ${height}pt; margin: 0 }`)
      const image = new Image()
      image.src = URL.createObjectURL(blob)
      urls.push(image.src)
      image.alt = ''
      await image.decode()
      sheet.append(image)
      onPage(number)
    }
    signal.throwIfAborted()
  } catch (error) {
    remove()
    throw error
  }
  document.body.append(sheet)
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, style]
  // Phones return from `print` before the dialog is closed.
  addEventListener('afterprint', remove, { once: true })
  print()
}

async function drawPage(pdf: PDFDocumentProxy, number: number, rotation: number) {
  const page = await pdf.getPage(number)
  const whole = page.getViewport({ scale: 1, rotation: rotated(page, rotation) })
  const { width, height } = whole
  const scale = Math.min(PRINTED_DPI / PDF_DPI, Math.sqrt(MAX_PIXELS / (width * height)))
  const viewport = whole.clone({ scale })
  const canvas = document.createElement('canvas')
  canvas.width = Math.max(1, Math.floor(viewport.width))
  canvas.height = Math.max(1, Math.floor(viewport.height))
  await page.render({ canvas, viewport, intent: 'print' }).promise
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
  // Frees the memory of the canvas.
  canvas.width = 0
  if (blob === null) throw new Error('The page could not be drawn')
  return { blob, width, height }
}
