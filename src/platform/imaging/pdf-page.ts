import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Pixels } from './image-formats.ts'

/** Maximum length of a page compared with its width, or the reverse. Longer ones would be a thin line. */
const MAX_RATIO = 20

let wasm: Buffer | undefined

/** Loads the renderer, without compiling it: most images are of another format. */
export async function loadPdf(): Promise<void> {
  await import('@hyzyla/pdfium')
  wasm = await readFile(fileURLToPath(import.meta.resolve('@hyzyla/pdfium/pdfium.wasm')))
}

/** Draws the first page of a PDF with a longer side of `side` pixels. Undefined if it has none. Scripts do not run, forms stay empty. */
export async function drawPdfPage(bytes: Buffer, side: number): Promise<Pixels | undefined> {
  if (wasm === undefined) return undefined
  const { PDFiumLibrary } = await import('@hyzyla/pdfium')
  const library = await PDFiumLibrary.init({ wasmBinary: wasm.buffer as ArrayBuffer })
  try {
    const document = await library.loadDocument(bytes)
    if (document.getPageCount() < 1) return undefined
    const page = document.getPage(0)
    const { originalWidth, originalHeight } = page.getOriginalSize()
    const [shorter, longer] = [originalWidth, originalHeight].toSorted((a, b) => a - b)
    if (shorter === undefined || longer === undefined || !(shorter > 0) || longer / shorter > MAX_RATIO)
      return undefined
    const scale = side / longer
    const [width, height] = [originalWidth, originalHeight].map((points) =>
      Math.max(1, Math.round(points * scale)),
    )
    const { data, ...size } = await page.render({
      width: width ?? 1,
      height: height ?? 1,
      render: ({ data }) => Promise.resolve(data),
    })
    return { data: Buffer.from(data), width: size.width, height: size.height }
  } finally {
    library.destroy()
  }
}
