import { GlobalWorkerOptions, getDocument, type PDFDocumentProxy, version } from 'pdfjs-dist'
import { siteUrl } from '../site-url.ts'

/** Build output with the PDF worker, encodings, fonts and decoders. */
const PARTS = siteUrl(`web/assets/pdf-${version}/`)
const partsAt = (folder: string) => new URL(`${folder}/`, PARTS).href

// The content security policy allows only workers of our own origin.
GlobalWorkerOptions.workerSrc = `${partsAt('build')}pdf.worker.min.mjs`

/** Asks for the password of the document. */
type AskPassword = (answer: (password: string) => void, wasWrong: boolean) => void

/** Opens a document with range requests, so that pages are loaded on demand. */
export function openPdf(
  link: string,
  ask: AskPassword,
): { document: Promise<PDFDocumentProxy>; close: () => void } {
  const task = getDocument({
    url: link,
    withCredentials: false,
    disableAutoFetch: true,
    disableWorkerRendering: true,
    enableXfa: false,
    cMapUrl: partsAt('cmaps'),
    cMapPacked: true,
    standardFontDataUrl: partsAt('standard_fonts'),
    wasmUrl: partsAt('wasm'),
    iccUrl: partsAt('iccs'),
    // By the page, because the service worker does not see what the worker of the library requests.
    useWorkerFetch: false,
    // Larger images are skipped, because they could exhaust the memory of the tab.
    maxImageSize: 2 ** 27,
    verbosity: 0,
  })
  task.onPassword = (answer: (password: string) => void, reason: number) => ask(answer, reason === 2)
  return { document: task.promise, close: () => void task.destroy() }
}
