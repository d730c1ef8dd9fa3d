import type { PDFDocumentProxy, PDFPageProxy } from 'pdfjs-dist'
import { rotated } from './pdf-rotation.ts'

/** A link on a page. Its position is relative to the page size, from the top left. */
export interface PdfLink {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
  readonly to: { readonly href: string } | { readonly page: number }
}

interface LinkAnnotation {
  readonly subtype?: string
  readonly rect?: readonly [number, number, number, number]
  readonly url?: string
  readonly dest?: unknown
}

const MAX_LINKS = 500

/** Links to web sites and to pages of the document. Other actions are ignored. */
export async function linksOf(
  pdf: PDFDocumentProxy,
  page: PDFPageProxy,
  rotation: number,
): Promise<PdfLink[]> {
  const annotations: LinkAnnotation[] = await page.getAnnotations()
  const viewport = page.getViewport({ scale: 1, rotation: rotated(page, rotation) })
  const links: PdfLink[] = []
  for (const { subtype, rect, url, dest } of annotations.slice(0, MAX_LINKS)) {
    if (subtype !== 'Link' || rect === undefined) continue
    const to = url === undefined ? await pageAt(pdf, dest) : awayTo(url)
    if (to === undefined) continue
    const [x1 = 0, y1 = 0] = viewport.convertToViewportPoint(rect[0], rect[1])
    const [x2 = 0, y2 = 0] = viewport.convertToViewportPoint(rect[2], rect[3])
    links.push({
      left: Math.min(x1, x2) / viewport.width,
      top: Math.min(y1, y2) / viewport.height,
      width: Math.abs(x2 - x1) / viewport.width,
      height: Math.abs(y2 - y1) / viewport.height,
      to,
    })
  }
  return links
}

function awayTo(url: string): { href: string } | undefined {
  const parsed = URL.parse(url)
  return parsed !== null && /^(?:https?|mailto):$/.test(parsed.protocol) ? { href: parsed.href } : undefined
}

async function pageAt(pdf: PDFDocumentProxy, dest: unknown): Promise<{ page: number } | undefined> {
  const found: unknown = typeof dest === 'string' ? await pdf.getDestination(dest) : dest
  if (!Array.isArray(found)) return undefined
  const [target] = found as unknown[]
  if (typeof target === 'number') return { page: target + 1 }
  if (typeof target !== 'object' || target === null) return undefined
  try {
    return { page: (await pdf.getPageIndex(target as Parameters<typeof pdf.getPageIndex>[0])) + 1 }
  } catch {
    return undefined
  }
}
