import { GlobalWorkerOptions, getDocument, type PDFDocumentProxy, version } from 'pdfjs-dist'
import { siteUrl } from '../site-url.ts'

/** Where the build leaves the worker, and what some documents need: encodings, fonts and decoders. */
const PARTS = siteUrl(`web/assets/pdf-${version}/`)
const partsAt = (folder: string) => new URL(`${folder}/`, PARTS).href

// The worker comes from us like all scripts; nothing else may run one here.
GlobalWorkerOptions.workerSrc = `${partsAt('build')}pdf.worker.min.mjs`

/** A password the document asks for; the answer is tried at once. */
type AskPassword = (answer: (password: string) => void, wasWrong: boolean) => void

/** Opens a document by ranges: pages far down a long file come when they are looked at. */
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
    // A picture of more pixels than this is left out rather than have the tab killed.
    maxImageSize: 2 ** 27,
    verbosity: 0,
  })
  task.onPassword = (answer: (password: string) => void, reason: number) => ask(answer, reason === 2)
  return { document: task.promise, close: () => void task.destroy() }
}
